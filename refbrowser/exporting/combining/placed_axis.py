"""A dimension along which files lie: one after another, or within a document that they are added to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refbrowser.exporting.combining.properties import Values, digest_of
from refbrowser.model.time_axis import TimeAxis


@dataclass(slots=True, eq=False)
class PlacedAxis:
    """A dimension along which files lie.

    Attributes
    ----------
    path
        Of its coordinate; empty where there is none.
    lengths
        Of each part, in the order in which they lie.
    of_file
        Number of the part in which each file lies; -1 of one without the dimension.
    values
        Coordinates of each part; None where there are none.
    is_new
        Whether files do not have it.
    attributes
        Of the coordinate of a new one.
    regular
        The times where it is a regular axis: parts in which no file lies are holes.
    is_moved
        Times of files were put on those of the axis, which are other ones.
    begins
        Where each part begins, if the first is all of a document and the others lie within it; None where
        parts lie one after another.
    """

    name: str
    path: str
    lengths: list[int]
    of_file: list[int]
    values: list[Values] | None = None
    is_new: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)
    regular: TimeAxis | None = None
    is_moved: bool = False
    begins: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Where each part begins."""
        if self.begins is not None:
            return self.begins
        return [0, *np.cumsum(self.lengths).tolist()][:-1]

    @property
    def size(self) -> int:
        """Its length."""
        return sum(self.lengths) if self.begins is None else self.lengths[0]


def axis_within(name: str, path: str, values: Sequence[Values | None]) -> PlacedAxis | None:
    """Return the dimension of a document that has the coordinates of all files; None where it has not.

    Parameters
    ----------
    path
        Of the coordinate.
    values
        Coordinates of the document, and of each file; None of one without the dimension.
    """
    whole, *others = values
    if whole is None or whole.dtype.kind not in "iuf":
        return None
    parts: dict[bytes, int] = {}
    of_file, found, begins = [0], [whole], [0]
    for each in others:
        if each is None:
            of_file.append(-1)
            continue
        part = parts.setdefault(digest_of(each), len(found))
        of_file.append(part)
        if part < len(found):
            continue
        begin = int(np.argmax(whole == each[0])) if len(each) else 0
        if not len(each) or not np.array_equal(whole[begin : begin + len(each)], each):
            return None
        found.append(each)
        begins.append(begin)
    return PlacedAxis(name, path, [len(each) for each in found], of_file, found, begins=begins)
