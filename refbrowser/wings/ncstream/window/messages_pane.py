"""The messages of a stream: a list or a picture of them, up to which it is shown, and the fields of one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QSlider,
    QSpinBox,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.fields_view import FieldsPane
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, push_button, tool_button
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.views.rows import NoRows
from refbrowser.wings.ncstream.window.message_rows import (
    COLUMNS,
    Faults,
    MessageFilter,
    MessageRows,
    name_of,
    section_words,
)
from refbrowser.wings.ncstream.window.supply_pane import SupplyPane
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.wings.ncstream.reading.messages import StreamIndex


class Page(NamedTuple):
    """The button of one page: its object name, its text, and what it does."""

    name: str
    text: str
    tip: str


class PageSwitch(QWidget):
    """One button for each page; the first one is down.

    Signals
    -------
    changed(int)
        The page of that number is wanted.
    """

    changed = Signal(int)

    def __init__(self, pages: Sequence[Page], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for number, page in enumerate(pages):
            button = QPushButton(page.text)
            button.setObjectName(page.name)
            button.setProperty("segment", "last" if number else "first")
            button.setToolTip(page.tip)
            button.setAccessibleName(page.tip)
            button.setCheckable(True)
            button.setAutoDefault(False)
            self._group.addButton(button, number)
            layout.addWidget(button)
        self._group.button(0).setChecked(True)
        self._group.idToggled.connect(self._toggled)

    def page(self) -> int:
        """Return what is wanted."""
        return self._group.checkedId()

    def set_page(self, page: int) -> None:
        """Press the button of a page."""
        self._group.button(page).setChecked(True)

    def buttons(self) -> list[QAbstractButton]:
        """Return the buttons, left to right."""
        return self._group.buttons()

    def _toggled(self, page: int, down: bool) -> None:
        if down:
            self.changed.emit(page)


LIST, PICTURE = range(2)
PAGES = (
    Page("messagesListButton", "List", "List the messages of the stream"),
    Page("messagesPictureButton", "Picture", "Show which message supplied each element of the array"),
)


#: A slider that rests so long, in milliseconds, is taken at its word.
REST = 160
_LARGEST = 2**31 - 1


class AsOfStrip(QWidget):
    """A slider and a number field over the messages, and the way back to all of them.

    Signals
    -------
    wanted(object)
        The number of the last message that is to count; None for all of them.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messagesAsOf")
        self._count = 0
        self._quiet = False
        label = plain_label("As it was after message", wrap=False)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("messagesAsOfSlider")
        self.slider.setAccessibleName("Last message to use")
        self.field = QSpinBox()
        self.field.setObjectName("messagesAsOfField")
        self.field.setAccessibleName("Number of the last message to use")
        self.field.setKeyboardTracking(False)
        label.setBuddy(self.field)
        self._of = plain_label("", role="muted", wrap=False)
        self.all = push_button("All", "messagesAsOfAllButton", self._show_all)
        self.all.setAccessibleName("Show the stream with all its messages")
        self.all.setToolTip("Show the stream with all its messages")
        self._rest = one_shot(self, REST, self._tell)
        self.slider.valueChanged.connect(self._slid)
        self.field.valueChanged.connect(self._typed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(label)
        layout.addWidget(self.slider, 1)
        for widget in (self.field, self._of, self.all):
            layout.addWidget(widget)

    def set_stream(self, count: int, last: int | None, why_fixed: str) -> None:
        """Show how many messages there are and which is the last that counts (None: all).

        `why_fixed` tells why that cannot be changed now; empty where it can.
        """
        self._rest.stop()
        self._quiet = True
        self._count = count
        most = max(0, min(count - 1, _LARGEST))
        for control in (self.slider, self.field):
            control.setRange(0, most)
            control.setValue(most if last is None else min(last, most))
            control.setEnabled(count > 1 and not why_fixed)
        self.slider.setPageStep(max(1, count // 10))
        self._of.setText(f"of {count_text(most)}" if count else "")
        self.all.setEnabled(last is not None and not why_fixed)
        self.setToolTip(why_fixed or "Show the data as they were before later messages")
        self._quiet = False

    def _slid(self, value: int) -> None:
        if not self._quiet:
            self._take(value)
            self._rest.start()

    def _typed(self, value: int) -> None:
        if not self._quiet:
            self._take(value)
            self._tell()

    def _take(self, value: int) -> None:
        self._quiet = True
        self.slider.setValue(value)
        self.field.setValue(value)
        self._quiet = False

    def _tell(self) -> None:
        self._rest.stop()
        value = self.slider.value()
        self.wanted.emit(None if value >= self._count - 1 else value)

    def _show_all(self) -> None:
        self._take(self._count - 1)
        self._tell()


#: The other parts follow the current message when it rests so long, in milliseconds.
TELL_PAUSE = 60
NOTHING = "No message fits the filter."
NO_ARRAY = "No array is selected"


class MessagesPane(QWidget):
    """List and picture in step: what is chosen in one is shown in the other.

    Signals
    -------
    chosen(object)
        The number of the message that is current after it rested, or None.
    activated(int)
        A message was double-clicked, or Return was pressed on it.
    """

    chosen = Signal(object)
    activated = Signal(int)

    def __init__(self, plot: PlotPane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messagesPane")
        self._message_read = Latest(self, "message")
        self._plot = plot
        self._document: OpenDocument | None = None
        self._index: StreamIndex | None = None
        self._last: int | None = None
        self._faults = Faults(())
        self._quiet = False
        self.filter = MessageFilter()
        self.table = VirtualTable()
        self.table.setObjectName("messagesTable")
        self.table.setAccessibleName("Messages")
        self.table.set_model(NoRows(COLUMNS))
        self.table.set_placeholder(NOTHING)
        self.beside = FieldsPane()
        self.fields = self.beside.view
        self.fields_button = tool_button(
            "messageFieldsButton", "Show the fields of the chosen message", "Fields"
        )
        self.fields_button.setCheckable(True)
        self.fields_button.setChecked(True)
        self.picture = SupplyPane(plot)
        self.caption = ElidedLabel("messagesCaption", role="muted")
        self.as_of = AsOfStrip()
        self.switch = PageSwitch(PAGES)
        self._told = one_shot(self, TELL_PAUSE, self._tell)
        self._lay_out()
        self.filter.changed.connect(self._show_rows)
        self.filter.wanted.connect(lambda number: self.show_message(number, focus=True))
        self.table.currentChanged.connect(self._row_chosen)
        self.table.activated.connect(self._row_activated)
        self.picture.messageWanted.connect(self.show_message)
        self.picture.changed.connect(self._say_caption)
        self.switch.changed.connect(self._show_page)
        self.fields_button.toggled.connect(lambda _on: self._show_fields())
        self.beside.closed.connect(self._close_fields)
        plot.viewChanged.connect(self._plot_changed)
        self._plotted: str | None = None

    def set_plot(self, plot: PlotPane) -> None:
        """Follow another plot from now on."""
        self._plot.viewChanged.disconnect(self._plot_changed)
        self._plot = plot
        plot.viewChanged.connect(self._plot_changed)
        self.picture.set_plot(plot)
        self._plot_changed()

    # What is shown

    def set_stream(
        self, document: OpenDocument | None, index: StreamIndex | None, last: int | None, why_fixed: str
    ) -> None:
        """Show the messages of a stream, of which those up to `last` count (all where None)."""
        other = document is not self._document
        self.picture.set_stream(document, index, last)
        self.as_of.set_stream(0 if index is None else len(index.table), last, why_fixed)
        if index is self._index and not other and last == self._last:
            return
        changed = index is not self._index
        self._document, self._index, self._last = document, index, last
        if not changed:
            self.table.refresh()
            return
        if other:
            # Messages of another stream have nothing but their numbers in common.
            self.table.set_model(NoRows(COLUMNS))
            self._told.stop()
            self.picture.frame(None)
            self._show_fields()
            self._say_caption()
        self._faults = Faults(() if index is None else index.faults)
        self.filter.set_index(index)
        self._show_rows(keep=not other)

    def message(self) -> int | None:
        """Return the number of the current message."""
        row, model = self.table.current(), self.table.model()
        return None if row is None or not isinstance(model, MessageRows) else model.message(row)

    def path_of(self, message: int) -> str:
        """Return the path of the variable that a message is of; empty where it is of none."""
        return "" if self._index is None else name_of(self._index.table, message)

    def show_message(self, number: int, *, focus: bool = False) -> None:
        """Make a message current; all messages are listed where it is not among those that are."""
        model = self.table.model()
        if self._index is None or not isinstance(model, MessageRows):
            return
        number = max(0, min(number, len(self._index.table) - 1))
        row = model.row_of(number)
        if row is None:
            self.filter.show_all()
            row = number
        self.table.set_current(row)
        if focus and self.switch.page() == LIST:
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def look(self) -> list[int]:
        """Return what is in front and whether fields are shown, to be kept."""
        return [self.switch.page(), int(self.fields_button.isChecked())]

    def set_look(self, look: Sequence[int]) -> None:
        """Show what was in front; the list with fields where nothing was kept."""
        page, has_fields = look if len(look) == 2 else (LIST, 1)
        self.switch.set_page(PICTURE if page == PICTURE else LIST)
        self.fields_button.setChecked(bool(has_fields))

    # Reactions

    def _show_rows(self, keep: bool = False) -> None:
        index = self._index
        if index is None:
            self.table.set_model(NoRows(COLUMNS))
            self.filter.say_count(0, 0)
            return
        current, top = self.message(), self.table.top_row()
        numbers = self.filter.numbers(index, self._faults, self._plotted)
        model = MessageRows(index, numbers, self._faults, lambda: self._last)
        self._quiet = True
        self.table.set_model(model)
        if keep:
            self.table.set_top_row(top)
        row = None if current is None else model.row_of(current)
        if row is not None:
            self.table.set_current(row)
        self._quiet = False
        self.filter.say_count(model.row_count(), len(index.table))

    def _plot_changed(self) -> None:
        node = self._plot.array()
        plotted = None if node is None else node.path
        if plotted != self._plotted:
            self._plotted = plotted
            if self.filter.follows_plot:
                self._show_rows()

    def _row_chosen(self, _row: int | None) -> None:
        if not self._quiet:
            self._told.start()

    def _row_activated(self, _row: int) -> None:
        self._told.stop()
        self._tell()
        message = self.message()
        if message is None:
            return
        if self.path_of(message):
            self.activated.emit(message)
        else:
            # It gave no values: what is to be seen of it are its fields.
            self.fields_button.setChecked(True)

    def _tell(self) -> None:
        message = self.message()
        self.picture.frame(message)
        self._show_fields()
        self._say_caption()
        self.chosen.emit(message)

    def _show_page(self, page: int) -> None:
        self._pages.setCurrentIndex(page)
        self._tools.setCurrentIndex(page)
        self.setFocusProxy(self.table if page == LIST else self.picture.view)

    def _close_fields(self) -> None:
        self.fields_button.setChecked(False)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say_caption(self) -> None:
        """Say over the picture which array it is of, and what the chosen message gave of it."""
        path, message = self.picture.path(), self.message()
        section = None if message is None else self.picture.section(message)
        if path is None:
            self.caption.set_text(NO_ARRAY)
        elif message is None or section is None:
            self.caption.set_text(f"{path}: which message supplied each element")
        else:
            self.caption.set_text(f"{path}: message {count_text(message)} gave {section_words(section)}")

    def _show_fields(self) -> None:
        """Show the fields of the chosen message, where they are wanted."""
        message = self.message()
        shown = self.fields_button.isChecked() and message is not None
        self.beside.setVisible(shown)
        self._message_read.cancel()
        if message is not None and shown:
            self.beside.set_message(message, self._faults.words(message))
            self._read_fields(message)

    def _read_fields(self, message: int) -> None:
        """Show the fields of a message; its bytes are read off the GUI thread."""
        document, index = self._document, self._index
        dataset = None if document is None else document.dataset
        if document is None or index is None or dataset is None:
            return

        def read(control: TaskControl) -> Any:
            from refbrowser.wings.ncstream.views.fields import fields_of

            return fields_of(dataset, index, message, control.token)

        def failed(error: BaseException) -> None:
            from refbrowser.app.widgets.cards import error_text

            self.fields.say(error_text(error))

        title = f"Read message {message}"
        self._message_read.run(document, title, read, self.fields.show_fields, failed)

    # Assembly

    def _lay_out(self) -> None:
        """Place the switch, what belongs to the page that is in front, and the page itself."""
        listed = QWidget()
        line = QHBoxLayout(listed)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self.filter, 1)
        line.addWidget(self.fields_button)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("messagesSplitter")
        split.setChildrenCollapsible(False)
        for widget in (self.table, self.beside):
            split.addWidget(widget)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([380, 252])
        self.beside.hide()
        self._tools, self._pages = QStackedWidget(), QStackedWidget()
        for stack, pages in (
            (self._tools, (listed, self.caption)),
            (self._pages, (split, self.picture)),
        ):
            for page in pages:
                stack.addWidget(page)
        head = QHBoxLayout()
        head.setSpacing(theme.MEDIUM)
        head.addWidget(self.switch)
        head.addWidget(self._tools, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(head)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.as_of)
        self._show_page(LIST)
        self._order_keys()

    def _order_keys(self) -> None:
        """Let Tab go through the pane as it is read."""
        strip = self.as_of
        order = [*self.switch.buttons(), self.filter.choice, self.filter.go, self.fields_button, self.table]
        order += [
            self.beside.close_button,
            self.fields,
            self.picture.view,
            self.picture.sliders,
            strip.slider,
        ]
        order += [strip.field, strip.all]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)
