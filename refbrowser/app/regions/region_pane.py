"""The pane of regions below the picture: what they are, a table of their statistics, and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QStackedWidget,
    QTableView,
    QToolButton,
    QWidget,
)

from refbrowser.app.plot.axes.chart import ChartPane
from refbrowser.app.plot.series import Mark, mark_pixmap
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.read_question import ReadQuestion
from refbrowser.app.widgets.small_widgets import combo_box, hint_label, plain_label, push_button
from refbrowser.app.widgets.table_models import LEFT, RIGHT
from refbrowser.views.numbers import value_text
from refbrowser.views.regions.region_statistics import Value, exact_text
from refbrowser.words import count_text

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
#: The part of the pane's width that the table takes, at least and at most so many pixels.
_SHARE, _LEAST, _MOST = 0.46, 190, 620
#: A narrower pane has the chart alone, or the table alone where that is asked for.
_ROOMY = 330
#: A pane at least so wide, in pixels, has a field for quantiles, which is so wide.
_WIDE, _QUANTILES = 640, 118
#: Columns of names and of values, in pixels.
_NAME, _VALUE = 128, 100


@dataclass(frozen=True, slots=True)
class RegionColumn:
    """What the table says of one region.

    Attributes
    ----------
    rows
        Name, value and what else there is to it.
    """

    mark: Mark
    title: str
    rows: tuple[tuple[str, Value, str], ...]


class RegionTable(QAbstractTableModel):
    """The statistics of regions: a row for each, its name and a column for each region."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._columns: Sequence[RegionColumn] = ()
        self._names: list[str] = []

    def set_columns(self, columns: Sequence[RegionColumn]) -> None:
        """Show other regions, or more of the same."""
        if list(columns) == list(self._columns):
            return
        names = list(dict.fromkeys(name for column in columns for name, _value, _more in column.rows))
        is_alike = names == self._names and len(columns) == len(self._columns)
        if is_alike:
            self._columns = columns
            self.dataChanged.emit(self.index(0, 1), self.index(len(names) - 1, len(columns)))
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(columns))
            return
        self.beginResetModel()
        self._columns, self._names = columns, names
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return len(self._names)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return len(self._columns) + 1

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation == Qt.Orientation.Vertical or not 0 < section <= len(self._columns):
            return None
        column = self._columns[section - 1]
        if role == Qt.ItemDataRole.DecorationRole:
            return mark_pixmap(column.mark)
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(column.title)
        return str(section) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = 0) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return LEFT if index.column() == 0 else RIGHT
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        name = self._names[index.row()]
        if index.column() == 0:
            return name
        rows = self._columns[index.column() - 1].rows
        found = next(((value, more) for each, value, more in rows if each == name), None)
        if found is None:
            return None
        value, more = found
        if role == Qt.ItemDataRole.DisplayRole:
            return count_text(value) if isinstance(value, int) else value_text(value)
        return theme.plain_tooltip(f"{name}: {exact_text(value)}{f', {more}' if more else ''}")


class RegionPane(ChartPane):
    """The chart of regions, with what they are and the table of their statistics.

    Signals
    -------
    drawAsked(str)
        ``rectangle`` or ``polygon`` is to be drawn; empty: no more.
    textEntered(str)
        The region that is chosen is to be another one.
    chosen(int), addAsked(), removeAsked()
        Another region is the one that is typed and dragged; one more; the chosen one is to go.
    overChosen(object)
        The dimension over all of which values are looked at; None: the slice alone.
    measureChosen(str)
        What the chart shows; empty for the histogram.
    quantilesEntered(str)
        Other quantiles are to be told.
    pythonAsked(), cancelAsked()
        Lines of Python are to be copied; reading is to end.
    """

    drawAsked = Signal(str)
    textEntered = Signal(str)
    chosen = Signal(int)
    addAsked = Signal()
    removeAsked = Signal()
    overChosen = Signal(object)
    measureChosen = Signal(str)
    quantilesEntered = Signal(str)
    pythonAsked = Signal()
    cancelAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("region", "Region", parent)
        self.rectangle = self._drawer("Rectangle", "Draw a rectangle: drag, or click two corners")
        self.polygon = self._drawer("Polygon", "Draw a polygon: click its corners, Enter ends it")
        self.over = self._choice("regionOver", "What is looked at: this slice, or all of a dimension")
        self.measure = self._choice("regionMeasure", "What the chart shows")
        self.cancel = push_button("Cancel", "regionCancelButton", self.cancelAsked.emit)
        self.cancel.hide()
        self.python = self.tool_button("Python", "Copy as Python, for xarray")
        self.python.setText("Py")
        self.python.clicked.connect(lambda _checked=False: self.pythonAsked.emit())
        for widget in (self.rectangle, self.polygon, self.over, self.measure, self.cancel):
            self.controls.addWidget(widget)
        self.strips.addLayout(self._make_entry())
        self.question = ReadQuestion("region")
        self.strips.addWidget(self.question)
        self.model = RegionTable(self)
        self.table = self._make_table()
        self.hint = hint_label("")
        self.hint.setObjectName("regionHint")
        self._pages = QStackedWidget()
        self.body.removeWidget(self.chart)
        self._pages.addWidget(self.hint)
        self._pages.addWidget(self.chart)
        self.body.addWidget(self.table)
        self.body.addWidget(self._pages, 1)
        head = (self.rectangle, self.polygon, self.over, self.measure, self.cancel)
        entry = (self.which, self.text, self.add, self.remove, self.quantiles, self.python)
        order = (*head, self.copy, self.export, self.close_, *entry, self.table)
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)
        self._offered: object = None
        self._overs: tuple[int | None, ...] = ()
        self._measures: tuple[str, ...] = ()
        self.over.activated.connect(lambda row: self.overChosen.emit(self._overs[row]))
        self.measure.activated.connect(lambda row: self.measureChosen.emit(self._measures[row]))
        self.restyle()

    def restyle(self) -> None:
        super().restyle()
        if hasattr(self, "remove"):
            self.rectangle.setIcon(icons.icon("rectangle"))
            self.polygon.setIcon(icons.icon("polygon"))
            self.add.setIcon(icons.icon("add"))
            self.remove.setIcon(icons.icon("cancel"))

    # What is shown

    def set_regions(self, marks: Sequence[Mark], texts: Sequence[str], chosen: int) -> None:
        """Offer regions, and show what the chosen one is."""
        offered = (tuple(marks), tuple(texts), chosen, theme.colors().dark)
        if offered == self._offered and not self.text.isModified():
            return
        self._offered = offered
        self.which.setVisible(len(marks) > 1)
        self.which.clear()
        for number, (mark, text) in enumerate(zip(marks, texts, strict=True)):
            self.which.addItem(mark_pixmap(mark), str(number + 1))
            self.which.setItemData(number, theme.plain_tooltip(text), Qt.ItemDataRole.ToolTipRole)
        self.which.setCurrentIndex(chosen)
        text = texts[chosen] if texts else ""
        if not self.text.hasFocus() or not self.text.isModified():
            self.text.setText(text)
            self.text.setCursorPosition(0)
        self.remove.setEnabled(bool(texts))

    def begin_entry(self) -> None:
        """Let another region be typed."""
        self.text.clear()
        self.text.setModified(True)
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_fault(self, text: str) -> None:
        """Say below the field why its text is no region; nothing: it is one."""
        self._fault.setText(text)
        self._fault.setVisible(bool(text))

    def set_choices(
        self,
        overs: Sequence[tuple[int | None, str]],
        over: int | None,
        measures: Sequence[tuple[str, str]],
        measure: str,
    ) -> None:
        """Offer what can be looked at, and what can be shown."""
        self._overs = tuple(each for each, _text in overs)
        self._measures = tuple(each for each, _text in measures)
        for combo, texts, chosen in (
            (self.over, [text for _each, text in overs], self._overs.index(over)),
            (self.measure, [text for _each, text in measures], self._measures.index(measure)),
        ):
            if [combo.itemText(row) for row in range(combo.count())] != texts:
                combo.clear()
                combo.addItems(texts)
            combo.setCurrentIndex(chosen)
        self.over.setVisible(len(overs) > 1)

    def show_hint(self, text: str) -> None:
        """Say in the place of the chart why there is none; nothing: show the chart."""
        self.hint.setText(text)
        self._pages.setCurrentWidget(self.hint if text else self.chart)

    def show_drawn(self, what: str) -> None:
        """Show what is being drawn: ``rectangle``, ``polygon`` or nothing."""
        self.rectangle.setChecked(what == "rectangle")
        self.polygon.setChecked(what == "polygon")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = round(max(_LEAST, min(_MOST, self.width() * _SHARE)))
        self.table.setFixedWidth(min(width, self.width()) if self.width() >= _ROOMY else self.width())
        # Without a chart there is nothing to choose for it.
        for widget in (self._pages, self.measure, self.title):
            widget.setVisible(self.width() >= _ROOMY)
        self.quantiles.setVisible(self.width() >= _WIDE)

    # Assembly

    def _drawer(self, name: str, tip: str) -> QToolButton:
        button = self.tool_button(name, tip)
        button.setCheckable(True)
        button.clicked.connect(lambda on: self.drawAsked.emit(name.lower() if on else ""))
        return button

    def _choice(self, name: str, title: str) -> QComboBox:
        combo = combo_box(name, title)
        combo.setMaximumWidth(150)
        combo.setMinimumWidth(56)
        return combo

    def _make_entry(self) -> QHBoxLayout:
        self.which = self._choice("regionWhich", "Region that is typed and dragged")
        self.which.setIconSize(QSize(24, 16))
        self.text = _RegionField()
        self.add = self.tool_button("Add", "Add a region, to compare")
        self.remove = self.tool_button("Remove", "Remove this region")
        self.quantiles = QLineEdit()
        self.quantiles.setObjectName("regionQuantiles")
        self.quantiles.setAccessibleName("Quantiles that are shown, as percentages")
        self.quantiles.setToolTip("Quantiles, as percentages: 5, 25, 50, 75, 95. Enter takes them.")
        self.quantiles.setPlaceholderText("quantiles %")
        self.quantiles.setMaximumWidth(_QUANTILES)
        self.quantiles.setMaxLength(1_000)
        self.quantiles.returnPressed.connect(lambda: self.quantilesEntered.emit(self.quantiles.text()))
        self.which.activated.connect(self.chosen)
        self.text.returnPressed.connect(lambda: self.textEntered.emit(self.text.text()))
        self.add.clicked.connect(lambda _checked=False: self.addAsked.emit())
        self.remove.clicked.connect(lambda _checked=False: self.removeAsked.emit())
        self._fault = plain_label("", role="fault")
        self._fault.setObjectName("regionFault")
        self._fault.hide()
        row = QHBoxLayout()
        row.setSpacing(theme.SMALL)
        for widget in (self.which, self.text, self.add, self.remove, self.quantiles, self.python):
            row.addWidget(widget, 1 if widget is self.text else 0)
        self.strips.addWidget(self._fault)
        return row

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("regionTable")
        table.setAccessibleName("Statistics of the regions")
        table.setModel(self.model)
        table.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setShowGrid(False)
        # Tab leaves it: the arrow keys are for its cells.
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + 3)
        table.verticalHeader().hide()
        table.horizontalHeader().setMinimumSectionSize(60)
        self.model.modelReset.connect(self._fit_columns)
        return table

    def _fit_columns(self) -> None:
        """Let the names have what the values leave, and these what they need."""
        header, count = self.table.horizontalHeader(), self.model.columnCount()
        header.setVisible(count > 2)
        for column in range(count):
            alone = QHeaderView.ResizeMode.Stretch if column else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, alone if count < 3 else QHeaderView.ResizeMode.Interactive)
            if count > 2:
                header.resizeSection(column, _NAME if column == 0 else _VALUE)


class _RegionField(QLineEdit):
    """Where a region is typed; Escape brings back what is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("regionText")
        self.setAccessibleName("Region: bounds, corners or conditions")
        self.setPlaceholderText("everywhere: type lat 30..60, lon -10..30 or > 273.15")
        self.setToolTip(
            theme.plain_tooltip(
                "lat 30..60, lon -10..30\npolygon(-10 30, 30 30, 10 60)\n> 273.15\n/lsm > 0.5\n"
                "joined by and, or, not. Enter takes it."
            )
        )
        self.setMaxLength(64 * 1024)
        self._shown = ""

    def setText(self, text: str | None) -> None:
        self._shown = text or ""
        super().setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            super().setText(self._shown)
            return
        super().keyPressEvent(event)
