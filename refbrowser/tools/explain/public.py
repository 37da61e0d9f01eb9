"""Explanations as a function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refbrowser.api import Path, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors
from refbrowser.model.selection import Selection, SelectionError

if TYPE_CHECKING:
    from refbrowser.tools.explain.report.explanation import Explanation


@native_errors()
def explain(
    dataset: Dataset | Path,
    array: str = "",
    index: int | Iterable[int] = (),
    *,
    key: str | None = None,
    allow: Iterable[str] = (),
) -> Explanation:
    """Explain why an element has the value that it has, step by step; its one chunk is read.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array, index
        Path of the array, and the index of the element along each dimension.
    key
        A key of the document, in place of an element.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    Explanation
        `verdict`, `steps` and `to_json()`; its text says all.

    Raises
    ------
    RefbrowserError
        There is no such array, element or key.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.explain("sea_surface.json", "/ocean/sst", (0, 90, 180)).verdict
    'This element is 27.658 degree_Celsius'
    """
    from refbrowser.io.cancel import CancelToken
    from refbrowser.tools.explain.report.explain import Question
    from refbrowser.tools.explain.report.explain import explain as answer

    if (key is None) != bool(array):
        raise RefbrowserError(ErrorKind.USAGE, "an explanation is of an array and an index, or of a key")
    with dataset_of(dataset, allow) as opened:
        if key is not None:
            return answer(opened, Question(key=key), CancelToken())
        found = opened.array(array)
        at = (index,) if isinstance(index, int) else tuple(index)
        chosen = Selection.from_index(at, found.shape)
        if len(chosen.dropped) != found.ndim:
            message = f"the array has {found.ndim} dimensions, the index {len(at)}"
            raise SelectionError(ErrorKind.USAGE, message)
        place = tuple(each.start for each in chosen.axes)
        return answer(opened, Question(array=found.path, index=place), CancelToken())
