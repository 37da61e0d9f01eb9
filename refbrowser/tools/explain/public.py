"""Explanations as a function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import index as integer
from typing import TYPE_CHECKING, SupportsIndex

from refbrowser.api import Path, Progress, control_of, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors

if TYPE_CHECKING:
    from refbrowser.tools.explain.report.explanation import Explanation


@native_errors()
def explain(
    dataset: Dataset | Path,
    array: str = "",
    index: SupportsIndex | Iterable[SupportsIndex] = (),
    *,
    key: str | None = None,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
) -> Explanation:
    """Explain why an element has the value that it has, step by step; its one chunk is read.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array, index
        Path of the array, and the index of the element along each dimension; a negative one counts from the
        end.
    key
        A key of the document, in place of an element.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    Explanation
        `verdict`, `steps` and `to_json()`; its text says all.

    Raises
    ------
    RefbrowserError
        There is no such array, element or key; for an element it is an `IndexError`, too.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.explain("sea_surface.json", "/ocean/sst", (0, 90, 180)).verdict
    'This element is 27.658 degree_Celsius'
    """
    from refbrowser.tools.explain.report.explain import Question
    from refbrowser.tools.explain.report.explain import explain as answer

    if (key is None) != bool(array):
        raise RefbrowserError(ErrorKind.USAGE, "an explanation is of an array and an index, or of a key")
    with dataset_of(dataset, allow) as opened:
        if key is not None:
            question = Question(key=key)
        else:
            found = opened.array(array)
            question = Question(array=found.path, index=_counted(index, found.shape))
        explanation = answer(opened, question, control_of(progress).token)
        array, at = question.array, question.index
        return replace(explanation, document=opened.path, array=array, index=at)


def _counted(index: SupportsIndex | Iterable[SupportsIndex], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return an index that counts from the beginning, where it has as many dimensions as the array."""
    places = (index,) if isinstance(index, SupportsIndex) else index
    at = tuple(map(integer, places))
    if len(at) != len(shape):
        return at
    return tuple(each + size if each < 0 else each for each, size in zip(at, shape, strict=True))
