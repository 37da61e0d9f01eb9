"""A dataset as CDL, for the command line and the window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from refbrowser.formats.cdl.writer import cdl_lines
from refbrowser.io.cancel import CancelToken
from refbrowser.model.netcdf.dataset import netcdf_view

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.model.netcdf.values import NetcdfDataset


def dataset_cdl(dataset: Dataset, limit: int | None = None, token: CancelToken | None = None) -> str:
    """Return a dataset in the notation of ``ncdump -h``; no data is read.

    Parameters
    ----------
    limit
        Of the characters; a longer text is cut at a line's end, and a comment says so.

    Raises
    ------
    Cancelled
        `token` was cancelled.
    """
    lines: list[str] = []
    size = 0
    for line in lines_of(dataset, netcdf_view(dataset.hierarchy)):
        if token is not None:
            token.check()
        size += len(line)
        if limit is not None and size > limit:
            lines.append(f"// cut here: there is more than {limit} characters\n")
            break
        lines.append(line)
    return "".join(lines)


def lines_of(dataset: Dataset, view: NetcdfDataset) -> Iterator[str]:
    """Yield the lines of the CDL of a dataset that is seen as `view`."""
    # A URL may end with what is nobody's business.
    return cdl_lines(view, PurePosixPath(re.split("[?#]", dataset.path)[0]).stem)
