"""What the plot reads of an opened document: the picture, coordinates, frames ahead, and series of values."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.bands import Bands
from refbrowser.views.plot.coordinates import Coordinate, plain_coordinate
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plan import ViewPlan, plan_view
from refbrowser.views.plot.reading import (
    AuxiliaryNode,
    AuxiliarySet,
    CoordinateSet,
    ElementCoordinate,
    auxiliary_nodes,
    coordinate_nodes,
)
from refbrowser.views.plot.slicing import SliceState, dimension_names

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobHandle
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.views.plot.resolution import LevelView
    from refbrowser.views.plot.series import SeriesCost


class PlotSource(Protocol):
    """An opened document whose arrays can be plotted.

    Attributes
    ----------
    tasks
        Runs reads off the GUI thread.
    dataset
        What reads; another one after an edit or a permission, None once the document is closed.
    hierarchyChanged
        Signal: `dataset` and `hierarchy` are others.
    """

    tasks: Tasks
    dataset: Dataset | None
    hierarchyChanged: Any

    @property
    def hierarchy(self) -> Hierarchy | None:
        """Groups and arrays."""
        ...

    def owner(self, what: str) -> str:
        """Return the owner name for tasks of this document."""
        ...


_COORDINATES, _AUXILIARY = "plot-coordinates", "plot-auxiliary"
NEIGHBOURS, AHEAD_OF_FRAME = "plot-neighbours", "plot-ahead"
#: Neighbouring slices are read ahead when they are at most this large.
AHEAD_CHUNKS, AHEAD_BYTES = 64, 64 << 20


def read_coordinates(
    latest: Latest,
    document: PlotSource,
    node: ArrayNode,
    arrays: tuple[ArrayNode | None, ...],
    told: Callable[[], Sequence[Coordinate | None]],
    done: Callable[[CoordinateSet | None], None],
) -> None:
    """Read the coordinates of an array's dimensions; `done` gets None when none could be read.

    `told` makes those that attributes tell, for dimensions without an array of coordinates.
    """
    dataset = document.dataset
    if dataset is None:
        return

    def read(control: TaskControl) -> CoordinateSet:
        from refbrowser.views.plot import reading

        return reading.read_coordinates(
            dataset.session, dataset.access.at_once(), node, arrays, control.token, told()
        )

    title = f"Read the coordinates of {node.path}"
    latest.run(document, title, read, done, lambda _error: done(None))


def read_auxiliary(
    latest: Latest,
    document: PlotSource,
    nodes: tuple[AuxiliaryNode, ...],
    plan: ViewPlan,
    done: Callable[[AuxiliarySet], None],
) -> None:
    """Read the auxiliary coordinates of what a plan reads."""
    dataset = document.dataset
    if dataset is None:
        return
    from refbrowser.engine.jobs import Priority

    def read(control: TaskControl) -> AuxiliarySet:
        from refbrowser.views.plot import reading as auxiliary

        return auxiliary.read_auxiliary(dataset.session, dataset.access.at_once(), nodes, plan, control.token)

    latest.run(
        document,
        f"Read the coordinates {', '.join(each.node.name for each in nodes)}",
        read,
        done,
        failed=_ignore,
        priority=Priority.NEIGHBOUR,
    )


def read_neighbours(
    latest: Latest, document: PlotSource, node: ArrayNode, state: SliceState, dimension: int
) -> None:
    """Read the slices before and after along a dimension into the cache, where they are in other chunks."""
    dataset = document.dataset
    plans = neighbour_plans(node, state, dimension)
    if dataset is None or not plans:
        return
    from refbrowser.engine.jobs import Priority

    def read(control: TaskControl) -> None:
        for plan in plans:
            dataset.session.read(
                node,
                dataset.access.at_once(),
                plan.selection,
                cancel=control.token,
                priority=Priority.NEIGHBOUR,
            )

    latest.run(
        document,
        f"Read ahead in {node.path}",
        read,
        failed=_ignore,
        priority=Priority.NEIGHBOUR,
    )


def neighbour_plans(node: ArrayNode, state: SliceState, dimension: int) -> list[ViewPlan]:
    """Return the reads of the slices beside `state` that need other chunks and are small enough."""
    index, axis = state.indices[dimension], node.grid.dimensions[dimension]
    plans = []
    for other in (index + 1, index - 1):
        if 0 <= other < state.shape[dimension] and axis.chunk_of(other) != axis.chunk_of(index):
            plan = plan_view(node, state.with_index(dimension, other))
            if plan.chunks <= AHEAD_CHUNKS and plan.decoded <= AHEAD_BYTES:
                plans.append(plan)
    return plans


def read_ahead(
    latest: Latest,
    document: PlotSource,
    node: ArrayNode,
    plans: Sequence[tuple[int, ViewPlan]],
    came: Callable[[int], None],
    ended: Callable[[], None],
) -> None:
    """Read numbered plans into the cache, in their order; `came` is told each number that is there."""
    dataset = document.dataset
    if dataset is None:
        return
    from refbrowser.engine.jobs import Priority

    def read(control: TaskControl) -> None:
        for number, plan in plans:
            dataset.session.read(
                node,
                dataset.access.at_once(),
                plan.selection,
                cancel=control.token,
                priority=Priority.NEIGHBOUR,
            )
            control.send(number)

    latest.run(
        document,
        f"Read ahead in {node.path}",
        read,
        lambda _none: ended(),
        lambda _error: ended(),
        received=came,
        priority=Priority.NEIGHBOUR,
    )


def _ignore(_error: BaseException) -> None:
    """Leave a slice that cannot be read ahead: its error is shown when it is asked for."""


#: A new picture takes the place of the old one when it is complete, or after this long, in seconds.
HOLD = 0.12
#: News are looked for this often at first, and at most this seldom, in milliseconds.
QUICKEST, SLOWEST = 5, 250
#: Between two looks at a picture that fills, in milliseconds; longer where drawing it takes long.
PACE = 33
#: The part of the time that drawing may take.
DRAWING_SHARE = 0.3


class PictureLoader(QObject):
    """Holds the picture on the screen and the one that is to replace it.

    Parameters
    ----------
    what
        Names the owner of the reads.
    verb
        Begins their title in the list of jobs.

    Signals
    -------
    shown(object)
        Another `Picture` is on the screen.
    filled()
        More of the picture on the screen has come.
    ended(object)
        The `Picture` on the screen is read, failed or cancelled (its `finished` is set).
    """

    shown = Signal(object)
    filled = Signal()
    ended = Signal(object)

    def __init__(self, what: str, parent: QObject | None = None, verb: str = "Plot") -> None:
        super().__init__(parent)
        self._latest, self._verb = Latest(self, what), verb
        self._incoming: Picture | None = None
        self._handle: JobHandle | None = None
        self._since = 0.0
        self._seen = 0
        self._told_end = True
        self.current: Picture | None = None
        #: How long the old picture stays while the new one is not complete, in seconds.
        self.hold = HOLD
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._look)

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come, or to be told."""
        return self._incoming is not None or not self._told_end

    def request(
        self, document: PlotSource, node: ArrayNode, plan: ViewPlan, *, at_once: bool = False
    ) -> None:
        """Read a plan; what was being read before is given up.

        With `at_once` the picture is shown while it is still empty, else the old one stays for a moment.
        """
        dataset = document.dataset
        if dataset is None:
            return
        picture = Picture(node, plan)
        session, access = dataset.session, dataset.access.at_once()

        def read(control: TaskControl) -> None:
            from refbrowser.views.plot.reading import read_picture

            read_picture(session, access, picture, control.token, control.progress)

        def done(_result: None) -> None:
            picture.finished = True
            self._look_soon()

        def failed(error: BaseException) -> None:
            picture.error = error
            picture.finished = True
            self._look_soon()

        self._incoming = picture
        self._since = time.monotonic() - (self.hold if at_once else 0.0)
        self._handle = self._latest.run(document, f"{self._verb} {node.path}", read, done, failed)
        self._timer.start(0 if at_once else QUICKEST)

    def stop(self) -> None:
        """Give up reading; what has come stays."""
        self._latest.cancel()
        self._timer.stop()
        self._incoming = self._handle = None
        self._told_end = True
        if self.current is not None:
            self.current.finished = True

    def clear(self) -> None:
        """Give up reading and let go of the picture."""
        self.stop()
        self.current = None

    def _look_soon(self) -> None:
        self._timer.start(0)

    def _look(self) -> None:
        started = time.monotonic()
        self._note_ends()
        incoming = self._incoming
        if incoming is not None and (incoming.finished or started - self._since >= self.hold):
            self.current, self._incoming = incoming, None
            self._seen, self._told_end = incoming.arrived, False
            self.shown.emit(incoming)
        elif self.current is not None and self.current.arrived != self._seen:
            self._seen = self.current.arrived
            self.filled.emit()
        current = self.current
        if current is not None and current.finished and not self._told_end and current.arrived == self._seen:
            self._told_end = True
            self.ended.emit(current)
        if self.is_reading:
            cost = (time.monotonic() - started) * 1000
            pace = QUICKEST if self._incoming is not None else PACE
            self._timer.start(int(min(SLOWEST, max(pace, cost * (1 / DRAWING_SHARE - 1)))))

    def _note_ends(self) -> None:
        """End a picture whose chunks are all there, and that of a job that the user cancelled.

        The first would else wait for the job's call; the second gets none.
        """
        for picture in (self._incoming, self.current):
            if picture is not None and picture.arrived >= picture.plan.chunks:
                picture.finished = True
        status = self._handle.status if self._handle is not None else None
        if status is not None and status.state == "cancelled":
            from refbrowser.io.cancel import Cancelled

            picture = self._incoming or self.current
            self._handle = None
            if picture is not None and not picture.finished:
                picture.error, picture.finished = Cancelled(), True


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
        self._latest = Latest(self, _COORDINATES)
        self.coordinates: tuple[Coordinate, ...] = ()
        self._bands: Bands | None = None
        #: Why some dimensions show indices.
        self.errors: tuple[str, ...] = ()
        self._waits_for_first = self._waits_for_places = False
        self._timer = one_shot(self, COORDINATES_WAIT, self._waited)

    @property
    def is_reading(self) -> bool:
        """Whether they are still to come."""
        return self._latest.is_running

    @property
    def waits(self) -> bool:
        """Whether a picture should not be shown yet."""
        return self._waits_for_first or self._waits_for_places

    def wait_for_places(self) -> None:
        """Let pictures wait a moment for the places of single elements, too."""
        self._waits_for_places = True
        self._timer.start()

    def places_came(self) -> None:
        """Let no picture wait for them any longer."""
        if self._waits_for_places:
            self._waits_for_places = False
            if not self.waits:
                self.came.emit(False)

    def clear(self) -> None:
        """Let go of everything."""
        self._timer.stop()
        self._latest.cancel()
        self.coordinates, self.errors = (), ()
        self._waits_for_first = self._waits_for_places = False

    def begin(self, node: ArrayNode, bands: Bands | None) -> None:
        """Let the dimensions of another array stand for themselves, its bands for colours."""
        names = dimension_names(node)
        self._bands = bands
        self._take(tuple(plain_coordinate(name, size) for name, size in zip(names, node.shape, strict=True)))

    def _take(self, coordinates: tuple[Coordinate, ...]) -> None:
        self.coordinates = coordinates if self._bands is None else self._bands.name_in(coordinates)

    def read(self, document: PlotSource, node: ArrayNode, level: LevelView | None = None) -> None:
        """Read the coordinates, again after an edit; of a level of an image those that attributes tell."""
        assert document.hierarchy is not None
        arrays = coordinate_nodes(document.hierarchy, node)
        if any(arrays) or level is not None:
            self._waits_for_first = not self._has_values()
            self._timer.start()
            told = tuple if level is None else level.coordinates
            read_coordinates(self._latest, document, node, arrays, told, self._came)
        else:
            self._latest.cancel()
            self.begin(node, self._bands)

    def _has_values(self) -> bool:
        return any(coordinate.values is not None for coordinate in self.coordinates)

    def _came(self, found: CoordinateSet | None) -> None:
        first = False
        if found is not None:
            first = not self._has_values()
            self._take(found.coordinates)
            self.errors = tuple(
                f"{name} shows indices: {getattr(error, 'message', error)}"
                for name, error in found.errors.items()
            )
        self._waits_for_first = False
        if not self.waits:
            self._timer.stop()
        self.came.emit(first)

    def _waited(self) -> None:
        self._waits_for_first = self._waits_for_places = False
        self.came.emit(False)


class AuxiliaryReader(QObject):
    """Holds what was read last.

    Signals
    -------
    came()
        `found` is another one.
    """

    came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(self, _AUXILIARY)
        self.found: tuple[ElementCoordinate, ...] = ()
        #: Whether those that are read may tell where elements are.
        self.tells_places = False
        #: Why others are not there.
        self.lost: tuple[str, ...] = ()
        self._told: tuple[ElementCoordinate, ...] = ()
        self._read_for: object = None

    @property
    def is_reading(self) -> bool:
        """Whether they are still to come."""
        return self._latest.is_running

    def clear(self) -> None:
        """Let go of everything."""
        self._latest.cancel()
        self.found, self.lost, self._told, self._read_for = (), (), (), None

    def read(
        self,
        document: PlotSource,
        node: ArrayNode,
        plan: ViewPlan,
        told: tuple[ElementCoordinate, ...] = (),
    ) -> None:
        """Read the auxiliary coordinates of what a plan reads, unless they are here.

        Parameters
        ----------
        told
            Those that need no reading.
        """
        assert document.hierarchy is not None
        nodes = auxiliary_nodes(document.hierarchy, node)
        wanted = (node.path, nodes, plan.ranges, plan.slice.axes, _other_indices(nodes, plan), bool(told))
        if wanted == self._read_for:
            return
        self._read_for, self._told = wanted, told
        self.tells_places = any(len(each.dimensions) > 1 for each in nodes)
        if nodes:
            read_auxiliary(self._latest, document, nodes, plan, self._came)
        elif self.found or told:
            self._came(AuxiliarySet())

    def _came(self, read: AuxiliarySet) -> None:
        self.found, self.lost = (*read.found, *self._told), read.lost
        self.came.emit()


def _other_indices(nodes: tuple[AuxiliaryNode, ...], plan: ViewPlan) -> dict[int, int]:
    """Return the place of the slice along the dimensions of the coordinates that are on no axis."""
    used = {dimension for each in nodes for dimension in each.dimensions}
    return {dimension: plan.slice.indices[dimension] for dimension in used - set(plan.slice.axes)}


#: News of a series are looked for this often, in milliseconds.
SERIES_PACE = 50


@dataclass(slots=True, eq=False)
class SeriesRead:
    """One series that is read, was read, or waits.

    Attributes
    ----------
    picture
        Its values; empty before they come.
    cost
        What it takes, where that is asked about.
    is_asked
        Whether it waits for an answer.
    error
        Why nothing of it could be read.
    """

    node: ArrayNode
    plan: ViewPlan
    picture: Picture
    is_allowed: bool = False
    cost: SeriesCost | None = None
    is_asked: bool = False
    error: BaseException | None = field(default=None)

    @property
    def column(self) -> tuple[int, ...]:
        """The column of chunks that it is in."""
        from refbrowser.views.plot.series import column_of

        return column_of(self.plan, self.node)


class SeriesReader(QObject):
    """Reads series one after the other; a costly one is asked about first.

    One job at a time, so that series in the same chunks share them.

    Signals
    -------
    changed()
        More has come, or something has ended, or is asked.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(self, "plot-series")
        self._document: PlotSource | None = None
        self._waiting: deque[SeriesRead] = deque()
        self._handle: JobHandle | None = None
        self._seen = -1
        #: Columns of chunks that were read or allowed: they are in the cache, or were paid for.
        self._known: set[tuple[int, ...]] = set()
        self.current: SeriesRead | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(SERIES_PACE)
        self._timer.timeout.connect(self._look)

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come."""
        return self.current is not None or bool(self._waiting)

    def request(
        self, document: PlotSource, node: ArrayNode, plan: ViewPlan, *, allowed: bool = False
    ) -> SeriesRead:
        """Read a series after those that wait; `allowed`: without a question."""
        read = SeriesRead(node, plan, Picture(node, plan), is_allowed=allowed)
        self._document = document
        self._put(read)
        return read

    def allow(self, reads: list[SeriesRead]) -> None:
        """Read what was asked about."""
        for read in reads:
            read.is_allowed, read.is_asked = True, False
            self._put(read)

    def stop(self) -> None:
        """Give up reading; what has come stays."""
        from refbrowser.io.cancel import Cancelled

        self._latest.cancel()
        self._timer.stop()
        for read in (self.current, *self._waiting):
            if read is not None:
                read.picture.finished, read.error = True, Cancelled()
        self._waiting.clear()
        self.current = self._handle = None
        self.changed.emit()

    def forget(self) -> None:
        """Give up reading, and ask again about everything."""
        self.stop()
        self._known.clear()
        self._document = None

    def _put(self, read: SeriesRead) -> None:
        self._waiting.append(read)
        if self.current is None:
            self._next()

    def _next(self) -> None:
        self.current = self._handle = None
        document = self._document
        dataset = None if document is None else document.dataset
        if document is None or dataset is None or not self._waiting:
            self._timer.stop()
            self.changed.emit()
            return
        read = self.current = self._waiting.popleft()
        if read.column in self._known:
            read.is_allowed = True
        session, access = dataset.session, dataset.access.at_once()

        allowed = read.is_allowed

        def work(control: TaskControl) -> SeriesCost | None:
            from refbrowser.views.plot.reading import read_picture
            from refbrowser.views.plot.series import cost_of

            cost = None if allowed else cost_of(session, access, read.node, read.plan)
            if cost is not None and cost.asks:
                return cost
            read_picture(session, access, read.picture, control.token, control.progress)
            return None

        def done(cost: SeriesCost | None) -> None:
            if cost is not None:
                read.cost, read.is_asked = cost, True
            else:
                self._known.add(read.column)
                read.picture.finished = True
            self._next()

        def failed(error: BaseException) -> None:
            read.error, read.picture.finished = error, True
            self._next()

        self._seen = -1
        title = f"Series of {read.node.path}"
        self._handle = self._latest.run(document, title, work, done, failed)
        self._timer.start()
        self.changed.emit()

    def _look(self) -> None:
        read = self.current
        status = None if self._handle is None else self._handle.status
        if status is not None and status.state == "cancelled":
            # In the list of jobs: nobody is called then.
            self.stop()
        elif read is not None and read.picture.arrived != self._seen:
            self._seen = read.picture.arrived
            started = time.monotonic()
            self.changed.emit()
            # Drawing takes a part of the time only, however long a series is.
            self._timer.setInterval(max(SERIES_PACE, round((time.monotonic() - started) * 3000)))
