"""Which readers read a dataset, as a function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, control_of, dataset_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.readers.matrix import Matrix


@native_errors()
def readers(
    dataset: Dataset | Path,
    *,
    arrays: Iterable[str] = (),
    readers: Iterable[str] = (),
    tries: bool = False,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
) -> Matrix:
    """Tell which other software reads a dataset, and what is the cause where it does not.

    Nothing is read of the values unless readers are tried: what an array needs follows from its metadata, and
    what readers have of that is known from rules, each with its source.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    arrays
        Paths of arrays; all when empty.
    readers
        Names, or ``NAME=VERSION``: ``zarr-python=3.1``, ``gdal``; all that are known when empty.
    tries
        Run those that are installed on a sample of the data, in processes that write nothing and have no
        network, and compare the values with ours.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total, ...)` while readers are tried.

    Returns
    -------
    Matrix
        `columns` (versions of readers), `groups` (arrays of which the same becomes, with a `Cell` for each
        column: its `verdict`, `causes` and `remedy`), and `tried`.

    Raises
    ------
    RefbrowserError
        The dataset cannot be opened; there is no such array, or reader.

    Examples
    --------
    >>> import refbrowser
    >>> matrix = refbrowser.readers("sea_surface.json", readers=["gdal"])
    >>> cell = matrix.groups[0].cells[0]
    >>> print(cell.verdict, "|", cell.causes[0].reason)
    refuses | refuses a document that has the member gen
    """
    from refbrowser.engine.readers.matrix import reader_matrix

    control = control_of(progress)
    with dataset_of(dataset, allow) as opened:
        matrix = reader_matrix(opened, texts_of(arrays), texts_of(readers), control)
        if not tries:
            return matrix
        from refbrowser.tools.readers.tried import tried_readers

        return replace(matrix, tried=tried_readers(opened, matrix, control))
