"""Whether two datasets are files with the same bytes: then nothing in them has to be compared."""

from __future__ import annotations

import os

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.io.local import open_regular, read_bytes
from refbrowser.io.origins import local_path

#: Files that are larger are not read for that.
LARGEST = 1 << 30
#: Bytes that are read of each at a time.
_PORTION = 1 << 22


def are_copies(here: Dataset, there: Dataset, control: JobControl) -> bool:
    """Tell whether both are local files with the same bytes, as far as these are not too large to be read.

    Raises
    ------
    Cancelled
        The control's token was cancelled.
    """
    paths = _file_of(here), _file_of(there)
    if paths[0] is None or paths[1] is None:
        return False
    try:
        with open_regular(paths[0]) as (mine, one), open_regular(paths[1]) as (theirs, other):
            if one.size != other.size or one.size > LARGEST:
                return False
            for start in range(0, one.size, _PORTION):
                control.check()
                control.progress(start, one.size, note=here.path)
                size = min(_PORTION, one.size - start)
                portion = read_bytes(mine, size, start)
                if len(portion) < size or portion != read_bytes(theirs, size, start):
                    return False
    except (OSError, RefbrowserError):
        # What reads their values tells why they cannot be read.
        return False
    return True


def _file_of(dataset: Dataset) -> str | None:
    """Return the local file that a dataset is; None of documents, stores and what lies elsewhere."""
    if not dataset.document.rules_are_made:
        return None
    (place,) = dataset.document.places.values()
    path = local_path(place)
    return os.path.realpath(path) if path is not None and os.path.isfile(path) else None
