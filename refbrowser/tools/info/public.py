"""What a dataset holds, as a function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refbrowser.api import Path, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.views.description import Description


@native_errors()
def info(dataset: Dataset | Path, *, allow: Iterable[str] = ()) -> Description:
    """Return what is in a dataset: groups, dimensions, arrays with all that is known of them, and problems.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    Description
        Its text is what ``refbrowser info`` prints; `to_json()`, of which ``info(...)["arrays"]`` is part, is
        what ``--json`` prints; `findings` are findings.

    Raises
    ------
    RefbrowserError
        It cannot be opened.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.info("sea_surface.json")["arrays"]["/ocean/sst"]["shape"]
    [12, 180, 360]
    """
    from refbrowser.engine.store_listing import list_store
    from refbrowser.io.cancel import CancelToken
    from refbrowser.views.description import Description

    with dataset_of(dataset, allow) as opened:
        list_store(opened)
        return Description(opened, CancelToken()).kept()
