"""Series: the values of elements that were clicked, along the dimension of a slider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
from pyqtgraph import ScatterPlotItem, mkBrush, mkPen
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from refbrowser.app.plot.axes.chart import ChartLine, ChartPane, chart_line, ringed_text
from refbrowser.app.plot.reader import SeriesRead, SeriesReader
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.read_question import ReadQuestion
from refbrowser.app.widgets.small_widgets import hint_label, plain_label, push_button
from refbrowser.io.cancel import Cancelled
from refbrowser.model.multiscales.axis_transform import element_at
from refbrowser.views.plot.coordinates import AxisScale, line_scale
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import STALE_NAME, ChunkState
from refbrowser.views.plot.reading import reads_the_same
from refbrowser.views.plot.series import (
    MOST,
    SeriesCost,
    choices,
    plan_series,
    point_text,
    series_of,
    series_rows,
)
from refbrowser.words import count_text, size_text

if TYPE_CHECKING:
    from refbrowser.app.plot.presenter import Presenter


class Mark(NamedTuple):
    """The look of one line; the symbol is one of the plotting library."""

    name: str
    symbol: str
    light: str
    dark: str

    @property
    def color(self) -> str:
        """The colour on the ground in force."""
        return self.dark if theme.colors().dark else self.light


#: Colours that are told apart with any kind of colour vision, too.
MARKS = (
    Mark("circle", "o", "#0b62a8", "#69b1f5"),
    Mark("square", "s", "#b84a00", "#ff9d5c"),
    Mark("triangle", "t1", "#00734f", "#4fd6a5"),
    Mark("diamond", "d", "#9a3587", "#ec9bdc"),
    Mark("star", "star", "#7a5c00", "#f0d264"),
    Mark("cross", "+", "#50555f", "#c9d0db"),
)


def mark_pixmap(mark: Mark, size: int = 16, ratio: float = 2.0) -> QPixmap:
    """Return a mark as a picture of `size` device independent pixels, with a piece of its line."""
    picture = QPixmap(round(size * ratio * 1.5), round(size * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = size / 2
    painter.setPen(mkPen(mark.color, width=1.6))
    painter.drawLine(QPointF(0, middle), QPointF(size * 1.5, middle))
    painter.translate(size * 0.75, middle)
    drawSymbol(painter, mark.symbol, size * 0.55, mkPen(mark.color), mkBrush(mark.color))
    painter.end()
    return picture


#: Width of the list: a part of the pane's, at least and at most; with the values from `_ROOMY` on.
_LIST_SHARE, _LIST_LEAST, _LIST_MOST, _ROOMY = 0.42, 130, 300, 200
_VALUE_WIDTH = 84


@dataclass(frozen=True, slots=True)
class PointRow:
    """What the list says of one point."""

    mark: Mark
    place: str
    value: str
    details: str


class SeriesPane(ChartPane):
    """The chart of series with the points that they belong to.

    Signals
    -------
    dimensionChosen(int)
        The series are to run along another dimension.
    removeAsked(int)
        A point is to go.
    clearAsked(), cancelAsked()
        All points are to go; reading is to end.
    """

    dimensionChosen = Signal(int)
    removeAsked = Signal(int)
    clearAsked = Signal()
    cancelAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("series", "Series", parent)
        self.along = QComboBox()
        self.along.setObjectName("seriesAxisCombo")
        self.along.setAccessibleName("Dimension that the series run along")
        self.along.setToolTip("Dimension that the series run along")
        self.along.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.cancel = push_button("Cancel", "seriesCancelButton", self.cancelAsked.emit)
        self.cancel.hide()
        self.clear = self.tool_button("Clear", "Remove all points")
        self.clear.setText("Clear")
        self.controls.addWidget(self.along)
        self.controls.addWidget(self.cancel)
        self.controls.addWidget(self.clear)
        self._dimensions: tuple[int, ...] = ()
        self._rows: list[tuple[QLabel, ElidedLabel, QLabel, QToolButton]] = []
        self._shown: list[PointRow] = []
        self.question = ReadQuestion("series")
        self.strips.addWidget(self.question)
        self._list = self._make_list()
        self.body.addWidget(self._list)
        self.hint = hint_label("")
        self.hint.setObjectName("seriesHint")
        self._pages = QStackedWidget()
        self.body.removeWidget(self.chart)
        self._pages.addWidget(self.hint)
        self._pages.addWidget(self.chart)
        self.body.insertWidget(0, self._pages, 1)
        self.along.activated.connect(lambda row: self.dimensionChosen.emit(self._dimensions[row]))
        self.clear.clicked.connect(lambda _checked=False: self.clearAsked.emit())

    def restyle(self) -> None:
        super().restyle()
        # The base class restyles once before there are any rows.
        for widgets, row in zip(getattr(self, "_rows", ()), getattr(self, "_shown", ()), strict=False):
            widgets[0].setPixmap(mark_pixmap(row.mark))
            widgets[3].setIcon(icons.icon("cancel"))

    def line_names(self) -> list[str]:
        return [row.place for row in self._shown]

    def show_hint(self, text: str) -> None:
        """Say in the place of the chart what goes there; nothing: show the chart."""
        self.hint.setText(text)
        self._pages.setCurrentWidget(self.hint if text else self.chart)
        self._list.setVisible(not text)
        for button in (self.copy, self.export, self.clear):
            button.setEnabled(not text)

    def set_dimensions(self, names: Sequence[str], dimensions: tuple[int, ...], chosen: int | None) -> None:
        """Offer dimensions; there is a choice only where there are several."""
        if dimensions != self._dimensions or list(names) != [
            self.along.itemText(row) for row in range(self.along.count())
        ]:
            self._dimensions = dimensions
            self.along.clear()
            self.along.addItems(list(names))
        if chosen in dimensions:
            self.along.setCurrentIndex(dimensions.index(chosen))
        several = len(dimensions) > 1
        self.along.setVisible(several)
        self.title.setText("Series along" if several else f"Series along {names[0]}" if names else "Series")

    def set_points(self, points: Sequence[PointRow]) -> None:
        """List the points."""
        while len(self._rows) < len(points):
            self._add_row(len(self._rows))
        for number, widgets in enumerate(self._rows):
            for widget in widgets:
                widget.setVisible(number < len(points))
        self._fit_list(len(points))
        for number, point in enumerate(points):
            swatch, place, value, remove = self._rows[number]
            if number >= len(self._shown) or self._shown[number].mark != point.mark:
                swatch.setPixmap(mark_pixmap(point.mark))
            swatch.setAccessibleName(point.mark.name)
            place.set_text(point.place)
            value.setText(
                value.fontMetrics().elidedText(point.value, Qt.TextElideMode.ElideRight, _VALUE_WIDTH)
            )
            value.setToolTip(theme.plain_tooltip(point.details))
            remove.setAccessibleName(f"Take away {point.place}")
        self._shown = list(points)

    def _fit_list(self, count: int) -> None:
        width = round(max(_LIST_LEAST, min(_LIST_MOST, self.width() * _LIST_SHARE)))
        self._list.setFixedWidth(width)
        for number, (_swatch, _place, value, _remove) in enumerate(self._rows):
            value.setVisible(number < count and width >= _ROOMY)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_list(len(self._shown))

    def _make_list(self) -> QScrollArea:
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, theme.SMALL, 0, 0)
        self._grid.setHorizontalSpacing(theme.SMALL)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(99, 1)
        area = QScrollArea()
        area.setObjectName("seriesPoints")
        area.setAccessibleName("Points whose series are shown")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        area.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        return area

    def _add_row(self, number: int) -> None:
        swatch, place = QLabel(), ElidedLabel(f"seriesPlace{number}")
        value = plain_label("", role="muted", wrap=False)
        value.setObjectName(f"seriesValue{number}")
        value.setFixedWidth(_VALUE_WIDTH)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        remove = QToolButton()
        remove.setObjectName(f"seriesRemove{number}")
        remove.setToolTip("Remove this point")
        remove.setIcon(icons.icon("cancel"))
        remove.setIconSize(QSize(11, 11))
        remove.setStyleSheet("padding: 2px")
        remove.clicked.connect(lambda _checked=False: self.removeAsked.emit(number))
        for column, widget in enumerate((swatch, place, value, remove)):
            self._grid.addWidget(widget, number, column)
        self._rows.append((swatch, place, value, remove))


_CLICK = "Click an element of the picture, or press S at its cursor, to see its values along {}.\n" + (
    "Shift+click keeps earlier points."
)


@dataclass(slots=True, eq=False)
class Point:
    """An element whose series is shown."""

    index: tuple[int, ...]
    mark: Mark
    read: SeriesRead
    #: The index as positions: levels of an image have elements of other sizes.
    place: tuple[float, ...]
    _line: ChartLine | None = None
    _drawn: tuple[object, ...] = ()

    def line(self, shown: Interpretation, scale: AxisScale) -> ChartLine:
        """Return what the chart draws; the same object as long as nothing is new."""
        picture, color = self.read.picture, self.mark.color
        wanted = (picture, picture.arrived, picture.stale_turns, shown, scale, color)
        if self._line is None or wanted != self._drawn:
            series = series_of(picture, shown)
            places = scale.positions(series.indices)
            self._line = chart_line(
                places, series.numbers, series.states, color, self.mark.symbol, series.stale
            )
            self._drawn = wanted
        return self._line


class SeriesTool(QObject):
    """Keeps points, chart and slider of one plot in agreement.

    Signals
    -------
    toggled()
        It is shown from now on, or no longer.
    """

    toggled = Signal()

    def __init__(self, presenter: Presenter, pane: SeriesPane, parent: QObject) -> None:
        super().__init__(parent)
        self._presenter, self.pane = presenter, pane
        self._subject, self._drawing = presenter.subject, presenter.stage.drawing
        self.is_on = False
        self.dimension: int | None = None
        self.points: list[Point] = []
        self._place: float | None = None
        self._followed: tuple[object, ...] = ()
        self.reader = SeriesReader(self)
        self.spots = ScatterPlotItem(pxMode=True, size=13)
        self.spots.setZValue(18)
        self._drawing.canvas.box.addItem(self.spots, ignoreBounds=True)
        self.reader.changed.connect(self.refresh)
        presenter.changed.connect(self._follow)
        presenter.moved.connect(self._follow)
        presenter.turned.connect(self._turn)
        pane.closeRequested.connect(lambda: self.set_on(False))
        pane.dimensionChosen.connect(self.set_dimension)
        pane.removeAsked.connect(self.remove)
        pane.clearAsked.connect(self.clear)
        pane.cancelAsked.connect(self.reader.stop)
        pane.question.answered.connect(self._answered)
        pane.chart.lineDragged.connect(self._line_dragged)
        pane.chart.pointed.connect(self._pointed)

    def set_on(self, on: bool) -> None:
        """Show the series, or take them away and stop reading."""
        if on == self.is_on:
            return
        self.is_on = on
        if not on:
            self.reader.stop()
        self.pane.setVisible(on)
        self._follow()
        self.refresh()
        self.toggled.emit()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.pane.restyle()
        self.refresh()

    # Points

    def add(self, index: tuple[int, ...], *, extend: bool) -> None:
        """Show the series of an element, beside those that are there or in their place."""
        document, node, state = self._subject.document, self._subject.node, self._subject.slice
        if not self.is_on or document is None or node is None or state is None or self.dimension is None:
            return
        if not extend:
            self.reader.stop()
            self.points = []
        plan = plan_series(node, state, self.dimension, index)
        same = [point for point in self.points if self._same(point.index, index)]
        for point in same:
            self.points.remove(point)
        if len(self.points) >= MOST:
            self.points.pop(0)
        taken = {point.mark for point in self.points}
        mark = same[0].mark if same else next(mark for mark in MARKS if mark not in taken)
        self.points.append(Point(index, mark, self.reader.request(document, node, plan), index))
        self.refresh()

    def remove(self, number: int) -> None:
        """Take one point away."""
        if number < len(self.points):
            gone = self.points.pop(number)
            if self.reader.current is gone.read or not self.points:
                self.reader.stop()
                self._read_unread()
            self.refresh()

    def clear(self) -> None:
        """Take all points away."""
        self.points = []
        self.reader.stop()

    def set_dimension(self, dimension: int) -> None:
        """Let the series run along another dimension."""
        if dimension == self.dimension:
            return
        self.dimension = dimension
        self.reader.forget()
        self._read_again(lambda _point: True)
        self.refresh()

    def _same(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return all(
            a == b for axis, (a, b) in enumerate(zip(one, other, strict=True)) if axis != self.dimension
        )

    # Following the plot

    def _follow(self) -> None:
        """Follow array, slice and coding; other axes or another array have no use for the points."""
        subject = self._subject
        document, node, state = subject.document, subject.node, subject.slice
        if document is None or node is None or state is None or not subject.is_drawn:
            self._begin((), None)
            return
        if not self._is_current():
            first = self._presenter.first_slider(state)
            self._begin((document, node.path, state.x, state.y, state.shape), first)
        if self.dimension not in choices(state):
            self.dimension = next(iter(choices(state)), None)
        if self.is_on:
            self._read_again(lambda point: point.read.node is not node and not self._still_holds(point))
            self.refresh()

    def _turn(self, moved: Callable[[Sequence[float]], tuple[float, ...]]) -> None:
        """Show the series of the same places on another level of the image."""
        subject = self._subject
        node, state = subject.node, subject.slice
        if node is None or state is None or not self._followed:
            return
        self._followed = (subject.document, node.path, state.x, state.y, state.shape)
        for point in self.points:
            point.place = moved(point.place)
            point.index = tuple(map(element_at, point.place, state.shape))

    def _is_current(self) -> bool:
        """Whether the points are of the array and axes that are shown; while these change they are not."""
        subject = self._subject
        node, state = subject.node, subject.slice
        if node is None or state is None:
            return False
        return self._followed == (subject.document, node.path, state.x, state.y, state.shape)

    def _begin(self, followed: tuple[object, ...], dimension: int | None) -> None:
        if followed == self._followed:
            return
        self._followed, self.dimension, self.points = followed, dimension, []
        self.reader.forget()

    def _still_holds(self, point: Point) -> bool:
        """Whether what was read is what the array of a changed document holds, and all of it came."""
        node, read = self._subject.node, point.read
        if node is None or not read.picture.all_ended:
            return False
        if not reads_the_same(read.node, node, read.plan.selection):
            return False
        read.node = node
        return True

    def _read_again(self, wanted: Callable[[Point], bool]) -> None:
        document, node, state = self._subject.document, self._subject.node, self._subject.slice
        if document is None or node is None or state is None or self.dimension is None:
            return
        again = [point for point in self.points if wanted(point)]
        if again:
            self.reader.forget()
        for point in again:
            plan = plan_series(node, state, self.dimension, point.index)
            point.read = self.reader.request(document, node, plan)

    def _read_unread(self) -> None:
        """Read what waited behind a series that was given up."""
        self._read_again(lambda point: not point.read.picture.all_ended and not point.read.is_asked)

    def _answered(self, yes: bool) -> None:
        asked = [point for point in self.points if point.read.is_asked]
        if yes:
            self.reader.allow([point.read for point in asked])
        else:
            self.points = [point for point in self.points if not point.read.is_asked]
        self.refresh()

    # What is shown

    def refresh(self) -> None:
        """Bring chart, list and marks up to date."""
        pane, state = self.pane, self._subject.slice
        self._mark_points()
        if not self.is_on:
            return
        dimensions = () if state is None else choices(state)
        names = [] if state is None else [state.names[axis] for axis in dimensions]
        pane.set_dimensions(names, dimensions, self.dimension)
        pane.cancel.setVisible(self.reader.is_reading)
        if self.dimension is None or state is None:
            pane.show_hint("A series runs along the dimension of a slider: this view has no slider.")
            pane.chart.set_lines(())
            pane.question.ask("")
        elif not self.points or not self._is_current():
            pane.show_hint(_CLICK.format(state.names[self.dimension]))
            pane.chart.set_lines(())
            pane.question.ask("")
        else:
            pane.show_hint("")
            self._draw(self.dimension)
        self._say()

    def _scale(self, dimension: int) -> AxisScale:
        return line_scale(self._presenter.coordinates.coordinates[dimension])

    def _draw(self, dimension: int) -> None:
        subject, chart, scale = self._subject, self.pane.chart, self._scale(dimension)
        assert subject.slice is not None
        chart.set_axis(scale, scale.coordinate.axis_label, subject.shown.dates, subject.shown.units)
        chart.set_lines([point.line(subject.shown, scale) for point in self.points])
        here = subject.slice.indices[dimension]
        chart.set_line(float(scale.positions(range(here, here + 1))[0]))
        self.pane.set_points([self._row(point) for point in self.points])
        self.pane.question.ask(
            question_text([point.read.cost for point in self.points if point.read.is_asked])
        )

    def _place_text(self, point: Point) -> str:
        """Return where the element of a point is."""
        assert self.dimension is not None
        assert self._subject.slice is not None
        coordinates = self._presenter.coordinates.coordinates
        indices = point.read.plan.slice.indices
        return point_text(coordinates, self._subject.slice.axes, self.dimension, indices)

    def _index_shown(self) -> int:
        """Return the index along the series that values are told of: under the cursor, or of the slider."""
        assert self.dimension is not None
        assert self._subject.slice is not None
        if self._place is None:
            return self._subject.slice.indices[self.dimension]
        found = self._scale(self.dimension).index_at(self._place)
        return self._subject.slice.indices[self.dimension] if found is None else found

    def _row(self, point: Point) -> PointRow:
        read, shown = point.read, self._subject.shown
        picture = read.picture
        place = self._place_text(point)
        counts = {state: picture.count(state) for state in _STATES}
        details = [f"{picture.arrived} of {picture.plan.chunks} chunks"]
        details += [f"{count} {_STATES[state]}" for state, count in counts.items() if count]
        error = next(iter(picture.errors.values()), None) or read.error
        if error is not None:
            details.append(str(error))
        if stale := int(np.count_nonzero(picture.stale_done)):
            details.append(f"{count_text(stale)} {STALE_NAME}")
        position = picture.position((self._index_shown(),))
        state = ChunkState.PENDING if position is None else picture.state_at(position)
        if read.is_asked:
            value = "not read"
        elif state is ChunkState.PENDING:
            part = 100 * picture.arrived // max(1, picture.plan.chunks)
            value = "not read" if picture.finished else f"{part} %"
        elif position is not None and picture.has_value_at(position):
            raw = picture.values[position]
            value = "no value" if shown.is_missing(raw) else _text(shown, raw)
            if picture.is_stale_at(position):
                value, details = f"≠ {value}", [f"this value: {STALE_NAME}", *details]
        else:
            value = {ChunkState.MISSING: "missing", ChunkState.FAILED: "failed"}[state]
        return PointRow(point.mark, place, value, ", ".join(details))

    def _say(self) -> None:
        if self.dimension is None or not self.points or not self._is_current():
            self.pane.said.set_text("")
            return
        if self.reader.current is not None:
            picture = self.reader.current.picture
            done, whole = count_text(picture.arrived), count_text(picture.plan.chunks)
            self.pane.said.set_text(f"reading: {done} of {whole} chunks")
            return
        index = self._index_shown()
        coordinate = self._presenter.coordinates.coordinates[self.dimension]
        words = [coordinate.text(index) or f"{coordinate.name} {index}"]
        if self._subject.shown.units:
            words.append(f"values in {self._subject.shown.units}")
        for state in _STATES:
            # Points in the same chunks share what became of these.
            counts = {point.read.column: point.read.picture.count(state) for point in self.points}
            if count := sum(counts.values()):
                words.append(f"{count_text(count)} chunk{'s' * (count != 1)} {_STATES[state]}")
        stale = {
            point.read.column: int(np.count_nonzero(point.read.picture.stale_done)) for point in self.points
        }
        if count := sum(stale.values()):
            # First, as there is not always room for all.
            words.insert(0, ringed_text(count, "chunk"))
        errors = {str(point.read.error): point.read.error for point in self.points}
        words += [error_text(error) for error in errors.values() if _is_news(error)]
        if any(point.read.plan.is_sampled for point in self.points):
            words.append("not every value is shown")
        self.pane.said.set_text(", ".join(words))

    def _mark_points(self) -> None:
        """Mark the points on the picture, where it shows them."""
        state, spots = self._subject.slice, []
        if self.is_on and state is not None and state.y is not None and self._is_current():
            for point in self.points:
                others = [axis for axis in state.sliders if axis != self.dimension]
                if all(point.index[axis] == state.indices[axis] for axis in others):
                    spots.append(
                        {
                            "pos": (point.index[state.x], point.index[state.y]),
                            "symbol": point.mark.symbol,
                            "brush": mkBrush(point.mark.light),
                            "pen": mkPen("w", width=1.6),
                        }
                    )
        self.spots.setData(spots)

    def _pointed(self, place: float | None) -> None:
        self._place = place
        if self.points and self.dimension is not None and self._is_current():
            self.pane.set_points([self._row(point) for point in self.points])
            self._say()

    def _line_dragged(self, place: float) -> None:
        if self.dimension is None or self._subject.slice is None or not self._is_current():
            return
        index = self._scale(self.dimension).index_at(place)
        if index is not None and index != self._subject.slice.indices[self.dimension]:
            self._presenter.set_index(self.dimension, index)

    def rows(self) -> Iterator[list[str]] | None:
        """Return the values as rows of text with their coordinate, or None where there is nothing."""
        if self.dimension is None or not self.points or not self._is_current():
            return None
        coordinates, node = self._presenter.coordinates.coordinates, self._subject.node
        assert node is not None
        name = node.name or node.path
        titles = [f"{name} at {self._place_text(point)}" for point in self.points]
        pictures = [point.read.picture for point in self.points]
        return series_rows(pictures, self._subject.shown, coordinates[self.dimension], titles)


def question_text(costs: list[SeriesCost | None]) -> str:
    """Return what reading series would take as a sentence; empty without any."""
    known = [cost for cost in costs if cost is not None]
    if not known:
        return ""
    chunks = count_text(sum(cost.chunks if cost.stored is None else cost.stored for cost in known))
    sizes = [cost.size for cost in known]
    size = None if None in sizes else sum(each or 0 for each in sizes)
    words = f"Reads {chunks} chunks" + ("" if size is None else f", {size_text(size)}")
    if any(cost.remote for cost in known):
        words += ", over the network"
    return f"{words}."


def _is_news(error: BaseException | None) -> TypeGuard[BaseException]:
    return error is not None and not isinstance(error, Cancelled)


def _text(shown: Interpretation, raw: Any) -> str:
    """Return one element as text; units stand above the list, once."""
    return shown.text(raw) if shown.units else shown.text_with_units(raw)


_STATES = {
    ChunkState.MISSING: "missing",
    ChunkState.FILLED: "not stored: fill value",
    ChunkState.FAILED: "could not be read",
}
