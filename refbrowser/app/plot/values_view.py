"""Values as text: scalars large and alone, strings and structures as rows; and the cards in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.plot.header import PlotHeader
from refbrowser.app.plot.reader import PlotSource
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import plain_label
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.model.data_type import RowType, names_of
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.interpretation import NUMBER_KINDS, Interpretation
from refbrowser.views.plot.picture import STALE_NAME, ChunkState, Picture
from refbrowser.views.plot.table import ROW_COLUMNS, named_text
from refbrowser.views.rows import Column, NoRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refbrowser.app.plot.nested_charts import ChartsPane
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.plot.coordinates import Coordinate
    from refbrowser.views.plot.picture import Picture

if TYPE_CHECKING:
    from refbrowser.app.plot.axes.row_charts import RowCharts


_STATE_TEXTS = {
    ChunkState.PENDING: "…",
    ChunkState.MISSING: "(missing chunk)",
    ChunkState.FAILED: "(could not be read)",
}


class PictureRows:
    """The values of a line as rows: index, coordinate, value."""

    def __init__(self, picture: Picture, coordinate: Coordinate, shown: Interpretation) -> None:
        self._named = coordinate.values is not None or coordinate.texts is not None
        middle = (Column(coordinate.name, 160),) if self._named else ()
        self.columns: Sequence[Column] = (Column("Index", 80, right=True), *middle, *_columns(picture.node))
        self.picture, self.shown, self._coordinate = picture, shown, coordinate

    def row_count(self) -> int:
        """Return how many values there are."""
        return len(self.picture.values)

    def widest(self) -> dict[int, str]:
        """Return the last index."""
        indices = self.picture.plan.ranges[0]
        return {0: str(max(indices[0], indices[-1]))} if len(indices) else {}

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows `start` to `stop`."""
        return [self._row(row) for row in range(start, stop)]

    def _row(self, row: int) -> list[str]:
        index = self.picture.plan.ranges[0][row]
        middle = [self._coordinate.text(index)] if self._named else []
        return [str(index), *middle, *self._values(row)]

    def _values(self, row: int) -> list[str]:
        state, node = self.picture.state_at((row,)), self.picture.node
        if state in _STATE_TEXTS:
            return [""] * (len(_columns(node)) - 1) + [_STATE_TEXTS[state]]
        texts = self._texts(self.picture.values[row], node)
        if self.picture.is_stale_at((row,)):
            texts[-1] = f"{texts[-1]} ({STALE_NAME})"
        return texts

    def _texts(self, value: Any, node: ArrayNode) -> list[str]:
        if isinstance(node.type, RowType):
            return [f"{len(value):,}", value_text(value)]
        if node.dtype is None or node.dtype.names is None:
            return [self.shown.text(value)]
        fields = ((value[name], names_of(node.dtype[name])) for name in node.dtype.names)
        return [named_text(item, names) if names else value_text(item) for item, names in fields]


def _columns(node: ArrayNode) -> tuple[Column, ...]:
    """Return the columns of one value: itself, the fields of a structure, or length and values of a row."""
    if isinstance(node.type, RowType):
        length, values = ROW_COLUMNS
        return Column(length.capitalize(), 80, right=True), Column(values.capitalize(), 240, stretch=1)
    if node.dtype is None or node.dtype.names is None:
        return (Column("Value", 400),)
    fields = ((name, node.dtype[name]) for name in node.dtype.names)
    return tuple(Column(name, 104, right=kind.kind in NUMBER_KINDS) for name, kind in fields)


class ValuesView(QStackedWidget):
    """Either one value, or a table of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plotValues")
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setSpacing(theme.MEDIUM)
        self.value = plain_label("")
        self.value.setObjectName("scalarValue")
        self.value.setAccessibleName("Value")
        self.value.setFont(theme.heading_font(12))
        self.detail = plain_label("", role="muted")
        for widget in (self.value, self.detail):
            widget.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        layout.addWidget(self.value)
        layout.addWidget(self.detail)
        layout.addStretch(2)
        self.table = VirtualTable()
        self.table.setObjectName("plotValuesTable")
        self.table.setAccessibleName("Values")
        self._rows = QSplitter(Qt.Orientation.Vertical)
        self._rows.setObjectName("plotValuesSplitter")
        self._rows.setChildrenCollapsible(False)
        self._rows.addWidget(self.table)
        self.charts: RowCharts | None = None
        self.addWidget(page)
        self.addWidget(self._rows)

    def show_scalar(self, text: str, detail: str) -> None:
        """Show one value and a line about it."""
        self.table.set_model(NoRows())
        self.value.setText(text)
        self.detail.setText(detail)
        self.setCurrentIndex(0)

    def show_rows(self, rows: PictureRows) -> None:
        """Show the values of a picture."""
        self.table.set_model(rows)
        self.setCurrentIndex(1)
        is_ragged = isinstance(rows.picture.node.type, RowType)
        if is_ragged:
            self._made_charts().set_picture(rows.picture, rows.shown.decoded)
        if self.charts is not None:
            self.charts.setVisible(is_ragged)

    def _made_charts(self) -> RowCharts:
        from refbrowser.app.plot.axes.row_charts import RowCharts

        if self.charts is None:
            self.charts = RowCharts()
            self._rows.insertWidget(0, self.charts)
            self._rows.setStretchFactor(0, 1)
            self._rows.setStretchFactor(1, 1)
            self._rows.setSizes([200, 160])
            self.table.currentChanged.connect(self.charts.set_row)
        return self.charts

    def refresh(self) -> None:
        """More values have come."""
        self.table.refresh()
        if self.charts is not None and self.charts.isVisibleTo(self):
            self.charts.refresh()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        if self.charts is not None:
            self.charts.restyle()

    def clear(self) -> None:
        """Let go of everything."""
        self.table.set_model(NoRows())
        self.value.clear()
        self.detail.clear()
        if self.charts is not None:
            self.charts.clear()


class ChartsPage(QWidget):
    """Charts, whose controls stand in the header.

    Signals
    -------
    said(str)
        What is under the pointer.
    settled()
        Nothing is being read any more.
    trustReviewRequested()
        The user wants to review what the document may read.
    """

    said = Signal(str)
    settled = Signal()
    trustReviewRequested = Signal()

    def __init__(self, header: PlotHeader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._header = header
        self._of: tuple[PlotSource, ArrayNode] | None = None
        self.pane: ChartsPane | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    def set_array(self, source: PlotSource, node: ArrayNode) -> None:
        """Show the charts of an array; nothing is read again for the same one."""
        if self._of is None or self._of[0] is not source or self._of[1] is not node:
            self._of = source, node
            self._made().set_array(source, node)

    def clear(self) -> None:
        """Show nothing, and stop reading."""
        self._of = None
        if self.pane is not None:
            self.pane.set_array(None, None)

    def is_settled(self) -> bool:
        """Whether all that is to be plotted is read."""
        return self.pane is None or self.pane.is_settled()

    def drawn_part(self) -> QWidget:
        """Return what a picture of the charts is made of."""
        chart = None if self.pane is None else self.pane.stage.currentWidget()
        return self if chart is None else chart

    def restyle(self) -> None:
        """Take the colours of the theme."""
        if self.pane is not None:
            self.pane.restyle()

    def read_again(self) -> None:
        """Read again what the charts are of."""
        if self.pane is not None:
            self.pane.read_again()

    def _made(self) -> ChartsPane:
        from refbrowser.app.plot.nested_charts import ChartsPane

        if self.pane is None:
            self.pane = ChartsPane()
            self._layout.addWidget(self.pane)
            self._header.add_tools(self.pane.tools)
            self.pane.said.connect(self.said)
            self.pane.settled.connect(self.settled)
            self.pane.trustReviewRequested.connect(self.trustReviewRequested)
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self.setFocusProxy(self.pane.focus_target())
            self._tell_shown()
        return self.pane

    def _tell_shown(self) -> None:
        if self.pane is not None:
            self.pane.set_shown(self.isVisible())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tell_shown()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tell_shown()
