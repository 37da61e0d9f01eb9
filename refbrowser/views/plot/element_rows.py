"""The elements of a selection one a row, with their coordinates: text for spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.views.plot.interpretation import Interpretation, exact_texts
from refbrowser.views.plot.slicing import dimension_names

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array
    from refbrowser.io.cancel import CancelToken
    from refbrowser.model.selection import Selection
    from refbrowser.views.plot.coordinates import Coordinate

#: Rows that are made text together.
_TOGETHER = 16_384


class ElementRows:
    """Rows of an array: one coordinate for each dimension, then the decoded value, empty where it is missing.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: an element is more than one value.
    """

    def __init__(self, array: Array, token: CancelToken) -> None:
        from refbrowser.views.plot.reading import coordinate_nodes, read_coordinates, told_coordinates
        from refbrowser.views.plot.resolution import named_node

        node = named_node(array.dataset.hierarchy, array.node)
        if node.nested is not None or node.dtype is None or node.dtype.names is not None:
            message = "elements that are more than one value have no column"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(path=array.path), "use --json")
        dataset = array.dataset
        nodes = coordinate_nodes(dataset.hierarchy, node)
        told = told_coordinates(dataset.hierarchy, node)
        read = read_coordinates(dataset.session, dataset.access, node, nodes, token, told)
        for error in read.errors.values():
            # Where a coordinate cannot be read its column would be numbers that mean something else.
            raise error
        self._coordinates: tuple[Coordinate, ...] = tuple(read.coordinates)
        self._names = dimension_names(node)
        self._shown = Interpretation(node, decoded=True)
        self._name = node.name or node.path

    @property
    def titles(self) -> list[str]:
        """The titles of the columns, without units: names that a data frame can have."""
        return [*self._names, self._name]

    def of(self, selection: Selection, values: Any) -> Iterator[list[str]]:
        """Yield the rows of what was read of a selection, in the order of the values."""
        axes = [
            taken[::-1] if axis in selection.backwards else taken for axis, taken in enumerate(selection.axes)
        ]
        columns = [self._texts(axis, taken) for axis, taken in enumerate(axes)]
        sides = tuple(map(len, axes))
        flat = np.asanyarray(values).reshape(-1)
        for start in range(0, len(flat), _TOGETHER):
            part = flat[start : start + _TOGETHER]
            places = np.unravel_index(np.arange(start, start + len(part)), sides) if sides else ()
            heads = [
                [column[place] for place in places_of]
                for column, places_of in zip(columns, places, strict=True)
            ]
            (texts,) = zip(*exact_texts(self._shown, part[:, np.newaxis]), strict=True)
            yield from (list(row) for row in zip(*heads, texts, strict=True))

    def _texts(self, axis: int, taken: range) -> list[str]:
        """Return what is in the column of a dimension for its indices: numbers as they are, dates, texts."""
        coordinate = self._coordinates[axis]
        if coordinate.texts is not None:
            return [coordinate.texts[index] for index in taken]
        if coordinate.values is None:
            return [str(index) for index in taken]
        if coordinate.dates is not None:
            return [coordinate.dates.text(float(coordinate.values[index])) for index in taken]
        return [f"{coordinate.values[index]:.9g}" for index in taken]
