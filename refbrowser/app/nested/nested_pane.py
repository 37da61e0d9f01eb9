"""Nested values as a table, with its menu; read page by page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.nested.nested_table import UNFOLD_MOST, NestedModel, NestedTable, RowPages
from refbrowser.app.plot.plot_cards import PlotCards
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import one_shot, pop_up, separator, tool_button
from refbrowser.app.workspace.format_page import FormatPage
from refbrowser.engine.nested.python_values import python_values
from refbrowser.engine.nested.rows import read_rows, unread_error
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.json_values import json_ready
from refbrowser.model.nested import NestedRows
from refbrowser.views.hierarchy import nested_text
from refbrowser.views.nested.nested_lines import LineMaker, NestedPath
from refbrowser.views.nested.nested_values import NestedColumn, NestedValue, ValueKind, exact_text, fault_of
from refbrowser.views.rows import NoRows
from refbrowser.words import count_text, plural

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.nodes import ArrayNode


#: Characters that one copy holds at most.
TEXT_MOST = 64_000_000


if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.model.nodes import ArrayNode


def add_menu(table: NestedTable, copy: Callable[[], object]) -> None:
    """Give a table its menu; `copy` puts the selected values on the clipboard."""
    _add(table, "nestedCopyAction", "&Copy as JSON", copy)
    separator(table)
    _add(table, "nestedUnfoldAction", "&Unfold one level more", table.unfold_current)
    _add(table, "nestedFoldAction", "&Fold all rows", table.fold_all)

    def show(place: QPoint) -> None:
        if table.current() is not None:
            pop_up(table, table.viewport().mapToGlobal(place))

    table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    table.customContextMenuRequested.connect(show)


def _add(table: NestedTable, name: str, text: str, work: Callable[[], object]) -> None:
    action = QAction(text, table)
    action.setObjectName(name)
    action.triggered.connect(lambda _checked=False: work())
    table.addAction(action)


NOTHING = "Select an array of lists or records in the hierarchy."
NO_ROWS = "The array has no rows."


class NestedPane(QWidget):
    """Follows a plot: the array that is selected.

    Signals
    -------
    said(str)
        What is to be told in the status line.
    failed(str, object)
        What could not be done, and the error.
    trustReviewRequested()
        The user wants to review what the document may read.
    """

    said = Signal(str)
    failed = Signal(str, object)
    trustReviewRequested = Signal()

    def __init__(self, plot: PlotPane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("nestedPane")
        self._plot = plot
        self._source: PlotSource | None = None
        self._node: ArrayNode | None = None
        self._stale = True
        self._copying = Latest(self, "copy")
        self.pages = RowPages(self)
        self.table = NestedTable()
        self.table.setObjectName("nestedTable")
        self.table.setAccessibleName("Rows of nested values")
        self.cards = PlotCards("nested")
        self.type = ElidedLabel("nestedType")
        self.type.setFont(theme.mono_font())
        self.type.setMargin(theme.SMALL)
        self.go_to = self._make_go_to()
        self.unfold = tool_button(
            "nestedUnfoldButton", "Unfold the chosen row, one more level each time (+)", "Unfold"
        )
        self.fold = tool_button("nestedFoldButton", "Fold all rows", "Fold all")
        self.status = ElidedLabel("nestedStatus", role="muted")
        self.status.setFont(theme.mono_font(-0.5))
        self._follow_soon = one_shot(self, 0, self._follow)
        add_menu(self.table, self.copy_selected)
        self._lay_out()
        self._connect()
        self._show_nothing()

    def _make_go_to(self) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName("nestedGoTo")
        field.setAccessibleName("Go to a row")
        field.setPlaceholderText("Row")
        field.setToolTip("Type the number of a row; negative ones count from the end (Ctrl+G)")
        field.setFixedWidth(field.fontMetrics().horizontalAdvance("1 000 000") + 24)
        return field

    # What is shown

    def node(self) -> ArrayNode | None:
        """Return the array that is shown."""
        return self._node

    def is_settled(self) -> bool:
        """Whether all that is seen is read."""
        return not self._follow_soon.isActive() and self.pages.is_settled()

    def set_plot(self, plot: PlotPane) -> None:
        """Follow another plot from now on."""
        self._plot.viewChanged.disconnect(self._plot_changed)
        self._plot = plot
        plot.viewChanged.connect(self._plot_changed)
        self._plot_changed()

    def _plot_changed(self) -> None:
        self._stale = True
        if self.isVisible():
            self._follow_soon.start()
        elif self._plot.whole() is None:
            self._show_nothing()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._follow_soon.start()

    def _follow(self) -> None:
        node, source = self._plot.whole(), self._plot.source()
        self._stale = False
        if node is None or source is None or node.nested is None:
            self._show_nothing()
            return
        if node is self._node and source is self._source:
            return
        before, model = self._node, self.table.nested()
        same = source is self._source and before is not None and before.path == node.path
        same = same and model is not None and model.length == node.nested.length
        self._source, self._node = source, node
        self.pages.set_array(source, node)
        self.type.set_text(nested_text(node))
        if node.error is not None:
            self.cards.show_failure(node.path, node.error)
            self._rows_page.setCurrentWidget(self.cards)
            return
        self._rows_page.setCurrentWidget(self.table)
        if same and model is not None:
            model.forget_lines()
            self.table.refresh()
        else:
            self.table.set_model(NestedModel(node, self.pages))
            self.table.set_placeholder(NO_ROWS)
        self._enable()

    def _show_nothing(self) -> None:
        self._source = self._node = None
        self.pages.set_array(None, None)
        self.table.set_model(NoRows())
        self.table.set_placeholder(NOTHING)
        self.type.set_text("")
        self.status.set_text("")
        self._rows_page.setCurrentWidget(self.table)
        self._enable()

    def _enable(self) -> None:
        model, line = self.table.nested(), self.table.current_line()
        self.unfold.setEnabled(line is not None and line.below > 0)
        self.fold.setEnabled(model is not None and model.folds.unfolded > 0)
        self.go_to.setEnabled(model is not None and model.length > 0)

    # Reading

    def _rows_came(self) -> None:
        model, error = self.table.nested(), self.pages.first_error()
        if model is not None:
            model.forget_lines()
        if error is not None and self._node is not None:
            self.cards.show_failure(self._node.path, error)
        self._rows_page.setCurrentWidget(self.table if error is None else self.cards)
        self.table.refresh()
        self._say_line()

    def read_again(self) -> None:
        """Read again what is seen."""
        self.pages.forget()
        self._rows_page.setCurrentWidget(self.table)
        self._rows_came()

    # The current line

    def _say_line(self) -> None:
        self._enable()
        model, line = self.table.nested(), self.table.current_line()
        if model is None or line is None:
            self.status.set_text("")
            return
        value, error = model.value(line.path), model.error_at(line.path)
        words = (
            f"cannot be read: {error}" if error is not None else "" if value is None else exact_text(value)
        )
        self.status.set_text(f"{line.where}   {words}")

    def _go(self) -> None:
        model, text = self.table.nested(), self.go_to.text().replace("\N{NARROW NO-BREAK SPACE}", "").strip()
        if model is None or not text:
            return
        try:
            row = int(text)
        except ValueError:
            self.said.emit("Not found: a row is a whole number")
            self.go_to.selectAll()
            return
        if not -model.length <= row < model.length:
            self.said.emit(f"Not found: the rows are 0 to {count_text(model.length - 1)}")
            self.go_to.selectAll()
            return
        self.go_to.clear()
        self.table.go_to(row % model.length)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_go_to(self) -> None:
        """Put the cursor in the field for a row."""
        self.go_to.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.go_to.selectAll()

    # Copying

    def copy_selected(self) -> None:
        """Put the selected values on the clipboard, as JSON, a line each; they are read where needed."""
        source, node, model = self._source, self._node, self.table.nested()
        dataset = None if source is None else source.dataset
        if source is None or node is None or dataset is None or model is None:
            return
        paths = [model.folds.path(line) for line in self.table.selected()[:UNFOLD_MOST]]
        columns = model.fields

        def read(control: TaskControl) -> str:
            return copied(dataset, node, columns, paths, control)

        def done(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            count = plural(len(paths), "1 value", f"{count_text(len(paths))} values")
            self.said.emit(f"{count} copied as JSON")

        def failed(error: BaseException) -> None:
            self.failed.emit("The values were not copied", error)

        self._copying.run(source, f"Copy values of {node.path}", read, done, failed)

    # Assembly

    def _lay_out(self) -> None:
        self._rows_page = QStackedWidget()
        for page in (self.table, self.cards):
            self._rows_page.addWidget(page)
        self.cards.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        head = QHBoxLayout()
        head.setSpacing(theme.SMALL)
        head.addWidget(self.type, 1)
        for widget in (self.go_to, self.unfold, self.fold):
            head.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(head)
        layout.addWidget(self._rows_page, 1)
        layout.addWidget(self.status)
        self.setFocusProxy(self.table)

    def _connect(self) -> None:
        self._plot.viewChanged.connect(self._plot_changed)
        self.pages.changed.connect(self._rows_came)
        self.table.currentChanged.connect(lambda _row: self._say_line())
        self.table.folded.connect(self._say_line)
        self.table.cut.connect(self._say_cut)
        self.table.copyWanted.connect(self.copy_selected)
        self.unfold.clicked.connect(lambda _on=False: self.table.unfold_current())
        self.fold.clicked.connect(lambda _on=False: self.table.fold_all())
        self.go_to.returnPressed.connect(self._go)
        self.cards.retryRequested.connect(self.read_again)
        self.cards.trustReviewRequested.connect(self.trustReviewRequested)
        inside = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence("Ctrl+G"), self, context=inside).activated.connect(self.focus_go_to)

    def _say_cut(self) -> None:
        self.said.emit(f"At most {count_text(UNFOLD_MOST)} lines are unfolded at once")


def copied(
    dataset: Dataset,
    node: ArrayNode,
    columns: Sequence[NestedColumn],
    paths: Sequence[NestedPath],
    control: JobControl,
) -> str:
    """Return the values of some lines as JSON, a line each.

    Raises
    ------
    RefbrowserError
        They cannot be read, or are too many.
    """
    maker, texts, size = LineMaker(columns), [], 0
    for row, of_row in groupby(paths, key=lambda path: path[0]):
        control.check()
        rows = read_rows(dataset.session, node, dataset.access, row, row + 1, control.token)
        for path in of_row:
            plain = json_ready(_plain(maker.value(rows, row, path), node))
            texts.append(json.dumps(plain, ensure_ascii=False))
            size += len(texts[-1])
            if size > TEXT_MOST:
                message = f"the selection is longer than {TEXT_MOST:,} characters"
                raise RefbrowserError(ErrorKind.BUDGET, message, advice="select less, or export the array")
        control.progress(len(texts), len(paths))
    return "\n".join(texts)


def _plain(value: NestedValue, node: ArrayNode) -> Any:
    if value.kind is ValueKind.UNREADABLE:
        error = fault_of(value.rows, value.path)
        raise error or RefbrowserError(ErrorKind.SOURCE, f"a value of {node.path} cannot be read")
    if value.content is None:
        return None
    content = value.content[value.at : value.at + 1]
    unread = unread_error(NestedRows(content, value.rows.faults), node)
    if unread is not None:
        raise unread
    return python_values(content)[0]


class NestedPage(FormatPage):
    """The nested values of what is plotted; without a tab where that is no array of them.

    A group or a buffer of the array leaves the tab as it is: what is plotted stays, too.
    """

    def __init__(self, workspace: Workspace) -> None:
        assert workspace.centre.plot is not None
        self._plot, self.pane = workspace.centre.plot, NestedPane(workspace.centre.plot)
        super().__init__(workspace, self.pane)
        self._plot.arrayChanged.connect(self.changed)
        workspace.centre.plotChosen.connect(self._take_plot)
        self.pane.said.connect(workspace.say)
        self.pane.failed.connect(workspace.show_error)
        self.pane.trustReviewRequested.connect(workspace.review_trust)

    def _take_plot(self, plot: PlotPane) -> None:
        """Follow the plot that other panes are about, too."""
        self._plot.arrayChanged.disconnect(self.changed)
        self._plot = plot
        plot.arrayChanged.connect(self.changed)
        self.pane.set_plot(plot)
        self.changed.emit()

    def set_document(self, document: OpenDocument | None) -> None:
        """Follow the plot, whatever the document is."""

    def is_offered(self) -> bool:
        """Whether what is plotted is nested."""
        node = self._plot.whole()
        return node is not None and node.nested is not None

    def read_again(self) -> None:
        """Read again what is shown."""
        self.pane.read_again()
