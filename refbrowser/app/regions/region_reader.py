"""Reads the values of regions, one after the other; what is costly is asked about first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot.reader import PlotSource
from refbrowser.app.plot.series import Mark
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.regions.region import Region

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobHandle
    from refbrowser.views.plot.series import SeriesCost
    from refbrowser.views.regions.region_grid import RegionGrid
    from refbrowser.views.regions.region_statistics import RegionStatistics

#: Elements of a picture along each of its axes that are looked at to shade what is outside.
_SHADED = 720


class Placed(NamedTuple):
    """Where a region is: the grid that it is on, and which elements it has of the picture of a slice."""

    grid: RegionGrid
    state: SliceState
    inside: npt.NDArray[np.bool_]
    ranges: tuple[range, range]


@dataclass(slots=True, eq=False)
class ShownRegion:
    """A region whose statistics are shown, as far as they have come.

    Attributes
    ----------
    is_current
        Whether what is known is of what is shown, or is being read.
    """

    mark: Mark
    region: Region
    placed: Placed | None = None
    found: RegionStatistics | None = None
    error: BaseException | None = None
    cost: SeriesCost | None = None
    is_current: bool = False
    is_allowed: bool = False
    part: float = 0.0

    @property
    def is_asked(self) -> bool:
        """Whether it waits for an answer."""
        return self.cost is not None and not self.is_allowed

    def forget(self) -> None:
        """Have it read again; what is known stays until there is more."""
        self.error = self.cost = None
        self.is_current = False
        self.part = 0.0


class Asked(NamedTuple):
    """What is asked of the array: the same of all regions."""

    document: PlotSource
    node: ArrayNode
    decoded: bool
    selection: Selection
    along: int | None
    quantiles: tuple[float, ...]
    picture: Picture | None


class RegionReader(QObject):
    """Reads one region at a time, the newest question counts.

    Signals
    -------
    changed()
        More is known of a region, or something is asked.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._latest = Latest(self, "plot-region")
        self._asked: Asked | None = None
        self._waiting: list[ShownRegion] = []
        self._handle: JobHandle | None = None
        self.current: ShownRegion | None = None

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come."""
        return self.current is not None

    def read(self, asked: Asked, regions: list[ShownRegion]) -> None:
        """Read what is not current of some regions, in place of what was being read."""
        if self.current is not None and not self.current.is_allowed:
            self.current.is_current = False
        self._latest.cancel()
        self._asked, self.current = asked, None
        self._waiting = [each for each in regions if not each.is_current and not each.is_asked]
        self._next()

    def stop(self) -> None:
        """Give up reading; what has come stays."""
        from refbrowser.io.cancel import Cancelled

        self._latest.cancel()
        for each in (self.current, *self._waiting):
            if each is not None:
                each.error, each.is_current = Cancelled(), True
        self._waiting, self.current = [], None
        self.changed.emit()

    def _next(self) -> None:
        asked, self.current = self._asked, None
        dataset = None if asked is None else asked.document.dataset
        if asked is None or dataset is None or not self._waiting:
            self.changed.emit()
            return
        shown = self.current = self._waiting.pop(0)
        shown.is_current = True
        opened, allowed = dataset.with_access(dataset.access.at_once()), shown.is_allowed

        def work(control: TaskControl) -> SeriesCost | RegionStatistics:
            from refbrowser.views.plot.series import cost_of_selections
            from refbrowser.views.regions.region_reading import inside_picture, region_of_array
            from refbrowser.views.regions.region_statistics import statistics_of

            ready = region_of_array(
                opened, asked.node, shown.region, asked.selection, control.token, decoded=asked.decoded
            )
            if asked.picture is not None:
                state = asked.picture.plan.slice
                control.send(Placed(ready.cells.grid, state, *inside_picture(ready, asked.picture, _SHADED)))
            selections = [Selection(box) for box in ready.boxes]
            if not allowed and selections:
                cost = cost_of_selections(opened.session, opened.access, asked.node, selections)
                if cost.asks:
                    return cost
            return statistics_of(
                ready, control.token, asked.quantiles, asked.along, control.progress, control.send
            )

        def came(value: Any) -> None:
            if isinstance(value, Placed):
                shown.placed = value
            else:
                shown.found = value
            self.changed.emit()

        def done(value: Any) -> None:
            from refbrowser.views.regions.region_statistics import RegionStatistics

            if isinstance(value, RegionStatistics):
                shown.found, shown.error = value, None
            else:
                shown.cost, shown.is_current = value, False
            self._next()

        def failed(error: BaseException) -> None:
            shown.found, shown.error = None, error
            self._next()

        title = f"Statistics of {asked.node.path}"
        self._handle = self._latest.run(
            asked.document, title, work, done, failed, received=came, followed=self._followed
        )
        self.changed.emit()

    def _followed(self, status: Any) -> None:
        shown = self.current
        if shown is None:
            return
        if status.state == "cancelled":
            self.stop()
            return
        if status.total:
            shown.part = status.done / status.total
        self.changed.emit()
