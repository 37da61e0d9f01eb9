"""The table of values: the slice that the plot shows, as a grid; what is seen is read when it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeySequence, QPainter, QPixmap, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.plot.plot_cards import PlotCards
from refbrowser.app.plot.reader import PictureLoader
from refbrowser.app.plot.sliders import DimensionSliders
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, tool_button
from refbrowser.app.widgets.table_cells import NoCells, SliceCells
from refbrowser.app.widgets.table_grid import GridView, paint_stale_corner
from refbrowser.errors import RefbrowserError
from refbrowser.views.plot.coordinates import attribute_text
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import STALE_NAME, ChunkState, Picture
from refbrowser.views.plot.table import TableLayout, has_cells
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.plot.plan import ViewPlan

#: While scrolling, cells are asked for this often, in milliseconds.
PACE = 30
#: Cells that one Copy puts on the clipboard at most.
COPY_CELLS = 1_000_000
NOTHING = "Select an array in the hierarchy to see its values."
NESTED = "The rows of {} are nested: the tab Values (Ctrl+7) unfolds them."


class StaleNote(QWidget):
    """Says what the marked corners of cells mean, and how many of those that are seen have one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sample = QLabel()
        self._text = plain_label("", role="warning", wrap=False)
        self._text.setObjectName("tableStale")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._sample)
        layout.addWidget(self._text)
        self.restyle()
        self.set_count(0)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        scheme = theme.colors()
        sample = QPixmap(22, 14)
        sample.fill(QColor(scheme.stale_soft))
        painter = QPainter(sample)
        paint_stale_corner(painter, sample.rect())
        painter.end()
        self._sample.setPixmap(sample)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self.restyle()
        super().changeEvent(event)

    def set_count(self, count: int) -> None:
        """Count the cells; for none it is hidden."""
        self._text.setText(f"{STALE_NAME} ({counted_spaced(count, 'cell')} here)")
        self.setVisible(count > 0)


class TablePane(QWidget):
    """Follows a plot: the same array, slice and coding; moving the current cell moves the plot's cursor.

    Signals
    -------
    said(str)
        What is to be told in the status line.
    failed(str, object)
        What could not be done, and the error.
    cellActivated()
        The user wants to see the current cell in the plot.
    exportRequested()
        The user wants to write the values to a file.
    trustReviewRequested()
        The user wants to review what the document may read.
    settled()
        What is seen is read.
    """

    said = Signal(str)
    failed = Signal(str, object)
    cellActivated = Signal()
    exportRequested = Signal()
    trustReviewRequested = Signal()
    settled = Signal()

    def __init__(self, plot: PlotPane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tablePane")
        self._plot = plot
        self._document: PlotSource | None = None
        self._node: ArrayNode | None = None
        self._cells: SliceCells | None = None
        self._asked: ViewPlan | None = None
        self._stale, self._is_following = True, False
        self._copying = Latest(self, "copy")
        self.grid = GridView()
        self.grid.setObjectName("tableView")
        self.grid.setAccessibleName("Table of values")
        self.cards = PlotCards("table")
        self.sliders = DimensionSliders("table_")
        self.title = ElidedLabel("tableTitle")
        self.title.setFont(theme.heading_font(2))
        self.slice_label = plain_label("", role="muted", wrap=False)
        self.slice_label.setObjectName("tableSlice")
        self.slice_label.setFont(theme.mono_font())
        self.coding = tool_button(
            "tableCodingButton", "Apply scale, offset and fill value (CF conventions)", "CF"
        )
        self.coding.setCheckable(True)
        self.go_to = QLineEdit()
        self.go_to.setObjectName("tableGoTo")
        self.go_to.setAccessibleName("Go to a row and column")
        self.go_to.setPlaceholderText("Row, column")
        self.go_to.setToolTip(
            "Type a row, or a row and a column: 12, 40; negative ones count from the end (Ctrl+G)"
        )
        self.go_to.setFixedWidth(self.go_to.fontMetrics().horizontalAdvance("Row, column") + 30)
        self.export = tool_button("tableExportButton", "Write the values to a file", "Export values…")
        self.status = ElidedLabel("tableStatus", role="muted")
        self.status.setFont(theme.mono_font(-0.5))
        self.status.setMinimumHeight(self.status.fontMetrics().height() + 2)
        self.stale = StaleNote()
        self.loader = PictureLoader("table", self, "Read values of")
        self._follow_timer = one_shot(self, 0, self._follow)
        self._read_timer = one_shot(self, PACE, self._ensure)
        self._lay_out()
        self._connect()
        self.show_nothing()

    # What is shown

    def layout_shown(self) -> TableLayout | None:
        """Return the rows and columns that are shown."""
        return None if self._cells is None else self._cells.layout

    def is_settled(self) -> bool:
        """Whether all that is seen is read."""
        waits = self._follow_timer.isActive() or self._read_timer.isActive()
        return not (waits or self.loader.is_reading or (self._stale and self.isVisible()))

    def show_nothing(self, text: str = NOTHING) -> None:
        """Show a sentence, and stop reading."""
        self.loader.clear()
        self._cells = self._asked = self._node = self._document = None
        self.grid.set_placeholder(text)
        self.grid.set_model(NoCells())
        self.title.set_text("")
        self.status.set_text("")
        self.stale.set_count(0)
        self.slice_label.setText("")
        self.sliders.set_slice(None, ())
        for widget in (self.coding, self.go_to, self.export):
            widget.hide()
        self._pages.setCurrentWidget(self.grid)

    # Following the plot

    def _plot_changed(self) -> None:
        self._stale = True
        if self.isVisible():
            self._follow_timer.start()
        else:
            # It is behind, and follows no further until it is seen.
            self._is_following = False
            self._plot.viewChanged.disconnect(self._plot_changed)

    def _array_changed(self) -> None:
        if self._plot.whole() is None and not self.isVisible():
            self.show_nothing()

    def set_plot(self, plot: PlotPane) -> None:
        """Follow another plot from now on."""
        if self._is_following:
            self._plot.viewChanged.disconnect(self._plot_changed)
        self._plot.arrayChanged.disconnect(self._array_changed)
        self.sliders.indexChanged.disconnect(self._plot.set_index)
        self.coding.clicked.disconnect(self._plot.set_decoded)
        self._plot, self._is_following = plot, True
        plot.viewChanged.connect(self._plot_changed)
        self._follow_controls()
        self._plot_changed()

    def _follow_controls(self) -> None:
        self._plot.arrayChanged.connect(self._array_changed)
        self.sliders.indexChanged.connect(self._plot.set_index)
        self.coding.clicked.connect(self._plot.set_decoded)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._is_following:
            self._is_following = True
            self._plot.viewChanged.connect(self._plot_changed)
        if self._stale:
            self._follow_timer.start()

    def _follow(self) -> None:
        plot, node, state = self._plot, self._plot.tabled(), self._plot.slice_state()
        self._stale = False
        if node is None:
            self.show_nothing()
            self.settled.emit()
            return
        if state is None:
            problem = node.error or node.unreadable
            reason = (
                f"{node.path} cannot be read: {problem.message}" if problem else f"{node.path} has no values."
            )
            self.show_nothing(reason)
            self.settled.emit()
            return
        if not has_cells(node):
            self.show_nothing(NESTED.format(node.path))
            self.settled.emit()
            return
        coordinates = plot.coordinates()
        layout = TableLayout(node, state, coordinates, Interpretation(node, plot.is_decoded()))
        before = self._cells
        same_array = before is not None and before.layout.node.path == node.path
        same = (
            same_array and before is not None and before.layout.node is node and before.layout.slice == state
        )
        same = same and self._document is plot.source()
        if not same_array or self._document is not plot.source():
            self.loader.clear()
        self._document, self._node = plot.source(), node
        self._cells = SliceCells(layout, self.loader.current)
        if not same:
            self._asked = None
        self._show_header(layout)
        self.grid.set_model(self._cells)
        self._ensure()

    def _show_header(self, layout: TableLayout) -> None:
        node, units = layout.node, layout.shown.units
        name = attribute_text(node.attributes, "long_name") or node.name or node.path
        self.title.set_text(f"{name} [{units}]" if units else name)
        state = layout.slice
        self.slice_label.setText(f"[{state.text().replace(',', ', ')}]" if state.shape else "")
        self.slice_label.setToolTip(theme.plain_tooltip(node.path))
        self.coding.setVisible(layout.shown.has_coding)
        self.coding.setChecked(layout.shown.decoded)
        self.go_to.show()
        self.export.show()
        self.sliders.set_slice(state, layout.coordinates)

    # Reading what is seen

    def _window_changed(self) -> None:
        self._count_stale()
        if self.isVisible() and not self._read_timer.isActive():
            self._read_timer.start()

    def _ensure(self) -> None:
        """Read what is seen unless it is read or being read."""
        document, cells = self._document, self._cells
        if document is None or document.dataset is None or cells is None:
            return
        rows, columns = self.grid.seen()
        if not rows or not columns:
            return
        asked = self._asked
        if asked is not None and asked.covers(cells.layout.elements(rows, columns)):
            return
        self._asked = cells.layout.block_plan(rows, columns)
        self.loader.request(document, cells.layout.node, self._asked)

    def _shown(self, picture: Picture) -> None:
        if self._cells is not None:
            self._cells.take(picture)
            self._pages.setCurrentWidget(self.grid)
            self._refresh()

    def _refresh(self) -> None:
        self.grid.refresh()
        self._say_cell()
        self._count_stale()

    def _count_stale(self) -> None:
        self.stale.set_count(int(np.count_nonzero(self.grid.cells_seen().stale)))

    def look_at_lock(self) -> None:
        """Mark what is of files that are not those of the lock, which others are now."""
        self._refresh()

    def _ended(self, picture: Picture) -> None:
        nothing = not picture.has_data and not picture.count(ChunkState.MISSING)
        error = next(iter(picture.errors.values()), None) or picture.error
        if nothing and error is not None:
            self.cards.show_failure(picture.node.path, error)
            self._pages.setCurrentWidget(self.cards)
        self._refresh()
        self.settled.emit()

    def read_again(self) -> None:
        """Read again what is seen."""
        self._asked = None
        self._ensure()

    # The current cell

    def _cell_chosen(self, cell: tuple[int, int] | None) -> None:
        self._say_cell()
        if cell is not None and self._cells is not None:
            self._plot.point_at(self._cells.layout.element(*cell))

    def _cell_activated(self, cell: tuple[int, int]) -> None:
        """Plot the column of the cell where elements have several, and go there."""
        layout = self.layout_shown()
        names, fields = self._plot.part_names(), () if layout is None else layout.fields
        name = fields[cell[1] % len(fields)] if fields else ""
        if name in names:
            self._plot.choose_part(name)
        self.cellActivated.emit()

    def _go(self) -> None:
        """Go to the cell that was typed; say why where there is none such."""
        layout = self.layout_shown()
        if layout is None or not self.go_to.text().strip():
            return
        from refbrowser.views.plot.table import cell_from_text

        try:
            found = cell_from_text(layout, self.go_to.text(), self.grid.current() or (0, 0))
        except RefbrowserError as error:
            self.said.emit(f"Not found: {error.message}; {error.advice}")
            self.go_to.selectAll()
            return
        for axis in layout.slice.sliders if found.held is not None else ():
            self._plot.set_index(axis, (found.held or ())[axis])
        self.go_to.clear()
        self.grid.set_current(found.cell)
        self.grid.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_go_to(self) -> None:
        """Put the cursor in the field for a cell."""
        self.go_to.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.go_to.selectAll()

    def _say_cell(self) -> None:
        current, chosen = self.grid.current(), self.grid.selection()
        text = "" if current is None or self._cells is None else self._cells.describe(*current)
        if chosen is not None and chosen.size > 1:
            count = f"{count_text(len(chosen.rows))} × {count_text(len(chosen.columns))} cells"
            text = f"{count} selected   {text}"
        self.status.set_text(text)

    # Copying

    def copy_selected(self) -> None:
        """Put the selected cells on the clipboard, cells separated by tabs; they are read where needed."""
        document, layout, chosen = self._document, self.layout_shown(), self.grid.selection()
        if document is None or document.dataset is None or layout is None or chosen is None:
            return
        if chosen.size > COPY_CELLS:
            most = count_text(COPY_CELLS)
            self.said.emit(f"At most {most} cells can be copied; Export values writes more to a file")
            return
        dataset = document.dataset
        rows, columns = chosen.rows, chosen.columns

        def read(control: TaskControl) -> tuple[str, str]:
            from refbrowser.views.plot.slice_files import cells_as_tsv

            return cells_as_tsv(
                dataset.session, dataset.access, layout, rows, columns, control.token, control.progress
            )

        def copied(answer: tuple[str, str]) -> None:
            text, reserve = answer
            QGuiApplication.clipboard().setText(text)
            size = f"{count_text(len(rows))} × {count_text(len(columns))}"
            self.said.emit(f"{size} values copied{reserve}")

        def failed(error: BaseException) -> None:
            self.failed.emit("The cells were not copied", error)

        self._copying.run(document, f"Copy values of {layout.node.path}", read, copied, failed)

    # Assembly

    def _lay_out(self) -> None:
        self._pages = QStackedWidget()
        self._pages.addWidget(self.grid)
        self._pages.addWidget(self.cards)
        head = QHBoxLayout()
        head.setSpacing(theme.MEDIUM)
        head.addWidget(self.title, 1)
        for widget in (self.slice_label, self.go_to, self.coding, self.export):
            head.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(head)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.sliders)
        foot = QHBoxLayout()
        foot.setSpacing(theme.MEDIUM)
        foot.addWidget(self.status, 1)
        foot.addWidget(self.stale)
        layout.addLayout(foot)
        self.setFocusProxy(self.grid)

    def _connect(self) -> None:
        self._follow_controls()
        self.export.clicked.connect(lambda _checked=False: self.exportRequested.emit())
        self.go_to.returnPressed.connect(self._go)
        inside = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence("Ctrl+G"), self, context=inside).activated.connect(self.focus_go_to)
        self.grid.windowChanged.connect(self._window_changed)
        self.grid.currentChanged.connect(self._cell_chosen)
        self.grid.copyRequested.connect(self.copy_selected)
        self.grid.activated.connect(self._cell_activated)
        self.loader.shown.connect(self._shown)
        self.loader.filled.connect(self._refresh)
        self.loader.ended.connect(self._ended)
        self.cards.retryRequested.connect(self.read_again)
        self.cards.trustReviewRequested.connect(self.trustReviewRequested)
