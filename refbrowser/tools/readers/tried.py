"""Installed readers, tried on a sample of the arrays that the matrix is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.readers.matrix import Matrix
from refbrowser.engine.readers.outcome import Trial
from refbrowser.tools.readers.probes.installed import available
from refbrowser.tools.readers.probes.trying import try_reader

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Rows of the matrix of which an array is tried.
_MOST = 20


def tried_readers(dataset: Dataset, matrix: Matrix, control: JobControl) -> tuple[Trial, ...]:
    """Return what the installed ones of the readers make of the first array of each row.

    Raises
    ------
    RefbrowserError
        As `try_reader`: the dataset is not on this machine, or refers to what it may not read.
    Cancelled
        The control was cancelled.
    """
    arrays = [group.arrays[0] for group in matrix.groups[:_MOST]]
    wanted = {column.reader.name for column in matrix.columns}
    found: list[Trial] = []
    chosen = [reader for reader in available() if reader.name in wanted] if arrays else []
    for number, reader in enumerate(chosen):
        control.progress(number, len(chosen), note=reader.name)
        found += try_reader(reader, dataset, arrays, control)
    return tuple(found)
