"""What it costs to read an array: a map, a series, a profile, all of it; as it is chunked, and otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.panes.array_pane import ArrayPane
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, push_button
from refbrowser.errors import RefbrowserError
from refbrowser.tools.bytes.report.cost_words import (
    cell_tip,
    cell_words,
    chunking_words,
    factor_words,
    row_words,
)
from refbrowser.tools.bytes.report.reading_costs import (
    Chunking,
    CostTable,
    cost_table,
    own_chunking,
    reaches_of,
)
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.model.nodes import ArrayNode

_NOTHING = "What it costs to read the plotted array appears here: a map, a series, a profile, and all of it."
_WORK = "reading-cost"
_REST = 120


class CostPane(ArrayPane):
    """The table for one array; nothing is read for it.

    Signals
    -------
    exportWanted(str, str)
        The array of this path is to be exported with chunks of this shape.
    """

    exportWanted = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("costPane", _NOTHING, parent)
        self._is_awake = False
        self._latest = Latest(self, _WORK)
        self._soon = one_shot(self, _REST, self._compute)
        self.table: CostTable | None = None
        self.grid = QTableWidget()
        self.grid.setCornerButtonEnabled(False)
        self._lay_out()
        self.clear()

    def _lay_out(self) -> None:
        grid = self.grid
        grid.setObjectName("costTable")
        grid.setAccessibleName("What it costs to read the array")
        grid.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        grid.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        grid.setTabKeyNavigation(False)
        grid.setShowGrid(False)
        grid.setAlternatingRowColors(True)
        grid.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        grid.verticalHeader().setDefaultSectionSize(36)
        grid.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        grid.horizontalHeader().setMinimumSectionSize(90)
        grid.horizontalHeader().setHighlightSections(False)
        grid.verticalHeader().setHighlightSections(False)
        grid.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        grid.currentCellChanged.connect(lambda *_: self._tell_cell())
        self.own = QLineEdit()
        self.own.setObjectName("costOwn")
        self.own.setAccessibleName("Chunks of your own")
        self.own.setPlaceholderText("your own chunks: 1,180,360")
        self.own.setToolTip("A side for each dimension; : is a whole axis. Their cost gets a column.")
        self.own.setFixedWidth(190)
        self.own.textChanged.connect(lambda _text: self._soon.start())
        self.export = push_button("Export with these chunks…", "costExport", self._export)
        self.export.setToolTip("Open the export with the chunks of the selected column filled in")
        self.detail = ElidedLabel("costDetail", role="muted")
        self.footing = plain_label("", role="muted", wrap=False)
        self.footing.setObjectName("costFooting")
        inside = QVBoxLayout(self._inner)
        inside.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, 0)
        inside.setSpacing(theme.SMALL)
        inside.addWidget(grid, 1)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self.own)
        line.addWidget(self.export)
        line.addWidget(self.detail, 1)
        inside.addLayout(line)
        inside.addWidget(self.footing)

    # What is shown

    def set_array(self, document: OpenDocument, node: ArrayNode) -> None:
        """Show what it costs to read an array."""
        self._turn_to(document)
        if self._node is None or self._node.path != node.path:
            self.own.clear()
        self._node = node
        self._soon.start()

    def clear(self) -> None:
        super().clear()
        self.table = None
        self.own.clear()
        self._latest.cancel()
        self._soon.stop()

    def set_seen(self, is_seen: bool) -> None:
        self._is_awake = is_seen
        if is_seen:
            self._soon.start()
        else:
            self._latest.cancel()

    def is_settled(self) -> bool:
        return not (self._latest.is_running or self._soon.isActive())

    def chunking(self) -> Chunking | None:
        """Return the chunks of the selected column; None of those there are, and of none."""
        table, column = self.table, self.grid.currentColumn()
        if table is None or not 0 < column < len(table.chunkings):
            return None
        return table.chunkings[column]

    def _follow_document(self) -> None:
        found = self._array_now()
        if found is not None:
            self._node = found
            self._soon.start()

    def _follow_plot(self) -> None:
        self._soon.start()

    def _compute(self) -> None:
        document, node, plot = self._document, self._node, self._plot
        dataset = None if document is None else document.dataset
        if not self._is_awake or document is None or node is None or dataset is None:
            return
        why = node.error or node.unreadable
        if why is not None or not node.has_manifest or node.nested is not None or not node.shape:
            self._show_hint(f"{node.path} has no chunks, so there is no cost to show.")
            return
        own, state = [], None if plot is None else plot.slice_state()
        text, complaint = self.own.text().strip(), ""
        if text:
            try:
                own = [own_chunking(text, node.shape)]
            except RefbrowserError as error:
                complaint = one_line(error.message)
        hierarchy = dataset.hierarchy

        def work(_control: TaskControl) -> CostTable:
            reaches = reaches_of(hierarchy, node, state)
            return cost_table(dataset.session, dataset.access, node, reaches, own)

        def failed(error: BaseException) -> None:
            self._show_hint(f"What it costs to read {node.path} is not known: {one_line(str(error))}")

        def done(found: CostTable) -> None:
            self._show(found)
            if complaint:
                self.detail.set_text(complaint)

        self._latest.run(document, f"Work out the cost of reading {node.path}", work, done, failed)

    def _show(self, table: CostTable) -> None:
        before = self.grid.currentRow(), self.grid.currentColumn()
        had_own = self.table is not None and self.table.chunkings[-1].name == "own"
        same = self.table is not None and self.table.path == table.path
        self.table = table
        grid = self.grid
        grid.blockSignals(True)
        grid.setColumnCount(len(table.chunkings))
        grid.setRowCount(len(table.reaches))
        grid.setHorizontalHeaderLabels([chunking_words(each) for each in table.chunkings])
        grid.setVerticalHeaderLabels([row_words(each) for each in table.reaches])
        for row, reach in enumerate(table.reaches):
            best = table.best(reach)
            for column, chunking in enumerate(table.chunkings):
                grid.setItem(row, column, self._item(table, row, column, is_best=best == chunking.name))
        column = before[1] if same else 1
        if table.chunkings[-1].name == "own" and not had_own:
            column = len(table.chunkings) - 1
        grid.setCurrentCell(max(before[0], 0), min(max(column, 0), len(table.chunkings) - 1))
        grid.blockSignals(False)
        self.footing.setText(table.footing)
        self._pages.setCurrentWidget(self._inner)
        self._share_out()
        self._tell_cell()

    def _item(self, table: CostTable, row: int, column: int, *, is_best: bool) -> QTableWidgetItem:
        reach, chunking = table.reaches[row], table.chunkings[column]
        cost = table.cost(chunking, reach)
        head, more = cell_words(cost)
        factor = "" if not column else factor_words(cost, table.cost(table.chunkings[0], reach))
        mark = "★ " if is_best else ""
        item = QTableWidgetItem(f"{mark}{head}{f'   {factor}' if factor else ''}\n{more}")
        item.setToolTip(theme.plain_tooltip(cell_tip(table, chunking, reach)))
        item.setData(
            Qt.ItemDataRole.AccessibleTextRole, f"{row_words(reach)}, {chunking_words(chunking)}: {head}"
        )
        if is_best:
            font = item.font()
            font.setBold(True)
            item.setFont(font)
        if isinstance(cost, RefbrowserError):
            item.setForeground(QBrush(QColor(theme.colors().fault)))
        return item

    def _tell_cell(self) -> None:
        """Tell the whole of the current cell, and what the button would do."""
        table, row, column = self.table, self.grid.currentRow(), self.grid.currentColumn()
        chunking = self.chunking()
        self.export.setEnabled(chunking is not None)
        if table is None or not (0 <= row < len(table.reaches) and 0 <= column < len(table.chunkings)):
            self.detail.set_text("")
            return
        words = cell_tip(table, table.chunkings[column], table.reaches[row])
        self.detail.set_text(words.replace("\n", "   "))

    def _export(self) -> None:
        chunking = self.chunking()
        if chunking is not None and self.table is not None:
            self.exportWanted.emit(self.table.path, chunking.text)

    def _share_out(self) -> None:
        """Give the columns the room there is."""
        grid = self.grid
        if not grid.columnCount():
            return
        room = grid.viewport().width() // grid.columnCount()
        needed = max((grid.sizeHintForColumn(column) for column in range(grid.columnCount())), default=0)
        for column in range(grid.columnCount()):
            grid.setColumnWidth(column, max(room, needed + theme.MEDIUM, 120))

    # Events

    def sizeHint(self) -> QSize:
        return QSize(600, 240)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.footing.setVisible(self.height() >= 190)
        self._share_out()
