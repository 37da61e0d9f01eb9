"""The plan of reading as a function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.reading.reader import ReadPlan


@native_errors()
def plan(dataset: Dataset | Path, array: str, index: Any = ..., *, allow: Iterable[str] = ()) -> ReadPlan:
    """Return which requests reading part of an array needs; nothing is read.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array
        Path of the array.
    index
        Integers, slices and ``...`` as in ``array[index]``, or text as ``--select`` takes it.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    ReadPlan
        `requests`, `useful_bytes`, `wasted_bytes`, `chunks`; its text sums them up.

    Examples
    --------
    >>> import refbrowser
    >>> print(refbrowser.plan("sea_surface.json", "/ocean/sst", 0).chunks)
    2
    """
    with dataset_of(dataset, allow) as opened:
        found = opened.array(array)
        is_text = isinstance(index, str)
        return found.plan(found.selection(index) if is_text else Selection.from_index(index, found.shape))
