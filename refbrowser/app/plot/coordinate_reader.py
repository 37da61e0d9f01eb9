"""The coordinates of the array that is plotted: read beside the picture, which waits for them a moment."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot import background
from refbrowser.app.plot.source import PlotSource
from refbrowser.app.widgets.parts import one_shot
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import Coordinate, plain_coordinate
from refbrowser.views.plot.reading import CoordinateSet, coordinate_nodes
from refbrowser.views.plot.slicing import dimension_names

#: The first picture waits so long for its coordinates, in milliseconds, so that it does not turn over.
COORDINATES_WAIT = 300


class CoordinateReader(QObject):
    """Holds one coordinate per dimension: indices at first, then what was read.

    Signals
    -------
    came(bool)
        Coordinates are there, or are waited for no longer; True: the first that have values.
    """

    came = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.coordinates: tuple[Coordinate, ...] = ()
        #: Why some dimensions show indices.
        self.errors: tuple[str, ...] = ()
        #: Whether a picture should not be shown yet.
        self.waits = False
        self._timer = one_shot(self, COORDINATES_WAIT, self._waited)

    def clear(self) -> None:
        """Let go of everything."""
        self._timer.stop()
        self.coordinates, self.errors, self.waits = (), (), False

    def begin(self, node: ArrayNode) -> None:
        """Let the dimensions of another array stand for themselves."""
        names = dimension_names(node)
        self.coordinates = tuple(
            plain_coordinate(name, size) for name, size in zip(names, node.shape, strict=True)
        )

    def read(self, document: PlotSource, node: ArrayNode) -> None:
        """Read the coordinates, again after an edit."""
        assert document.hierarchy is not None
        arrays = coordinate_nodes(document.hierarchy, node)
        if any(arrays):
            self.waits = not self._has_values()
            self._timer.start()
            background.read_coordinates(document, node, arrays, self._came)

    def _has_values(self) -> bool:
        return any(coordinate.values is not None for coordinate in self.coordinates)

    def _came(self, found: CoordinateSet | None) -> None:
        first = False
        if found is not None:
            first = not self._has_values()
            self.coordinates = found.coordinates
            self.errors = tuple(
                f"{name} shows indices: {getattr(error, 'message', error)}"
                for name, error in found.errors.items()
            )
        self._timer.stop()
        self.waits = False
        self.came.emit(first)

    def _waited(self) -> None:
        self.waits = False
        self.came.emit(False)
