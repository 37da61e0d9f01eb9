"""Finds where the elements of a slice are on the Earth, off the window's thread where that takes a while."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.tasks.latest import Latest
from refbrowser.errors import RefbrowserError
from refbrowser.views.maps.earth_grids import EarthGrid, earth_grid, is_quick, key_of

if TYPE_CHECKING:
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.views.plot.drawn_slice import DrawnSlice

#: Grids that are remembered.
_REMEMBERED = 8


class GridMaker(QObject):
    """Makes the grid of a slice, once for the same coordinates.

    Signals
    -------
    came()
        The grid that was asked for last is there.
    """

    came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(self, "plot-places")
        self._made: OrderedDict[object, EarthGrid | None] = OrderedDict()
        self._asked: object = None
        #: Why there is none.
        self.error = ""

    @property
    def is_busy(self) -> bool:
        """Whether a grid is being made."""
        return self._latest.is_running

    def grid(self, source: PlotSource | None, drawn: DrawnSlice) -> EarthGrid | None:
        """Return where the elements of a slice are; None where they are not on Earth, or not yet.

        Parameters
        ----------
        source
            Whose work it is to find that.
        """
        key = key_of(drawn)
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        if is_quick(drawn) and ("pyproj" in sys.modules or not drawn.mapping):
            self._keep(key, self._found(drawn))
            return self._made[key]
        if source is not None and key != self._asked:
            self._asked = key

            def make(_control: TaskControl) -> EarthGrid | None:
                return self._found(drawn)

            def done(grid: EarthGrid | None) -> None:
                self._keep(key, grid)
                self.came.emit()

            def failed(error: BaseException) -> None:
                self.error = str(error)
                done(None)

            self._latest.run(source, "Find where the array lies on the Earth", make, done, failed)
        return None

    def _found(self, drawn: DrawnSlice) -> EarthGrid | None:
        self.error = ""
        try:
            return earth_grid(drawn)
        except RefbrowserError as error:
            self.error = error.message
            return None

    def _keep(self, key: object, grid: EarthGrid | None) -> None:
        self._asked = None
        self._made[key] = grid
        while len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)
