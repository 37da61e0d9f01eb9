"""Messages of the current stream in the window: what the pane shows, where it leads, and the bars above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtWidgets import QFrame, QWidget

from refbrowser.app.frame.bars import NoteBar, fill_bar
from refbrowser.app.frame.centre import PLOT
from refbrowser.app.widgets.small_widgets import IconLabel, push_button
from refbrowser.app.workspace.format_page import FormatPage
from refbrowser.views.plot.coordinates import line_scale
from refbrowser.wings.ncstream.views.byte_order_readings import doubtful_arrays, ordered_arrays
from refbrowser.wings.ncstream.window.document_stream import stream_of
from refbrowser.wings.ncstream.window.messages_pane import MessagesPane
from refbrowser.wings.ncstream.window.supply_pane import SectionMark, section_rect
from refbrowser.words import count_text, plural

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.wings.ncstream.reading.messages import StreamIndex
    from refbrowser.wings.ncstream.reading.reading_options import Order


class AsOfBar(QFrame):
    """Says that later messages do not count, while that is so.

    Signals
    -------
    allWanted()
        All messages are to count again.
    """

    allWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("asOfBar")
        self.setProperty("role", "trustStrip")
        button = push_button("Show all messages", "asOfAllButton", self.allWanted.emit)
        self._text = fill_bar(self, "asOfText", IconLabel("warning", "warning"), (button,))
        self.hide()

    def set_last(self, last: int | None, count: int) -> None:
        """Say which message is the last that counts; None hides the bar."""
        self.setVisible(last is not None)
        if last is not None:
            later = count_text(count - 1 - last)
            self._text.setText(
                f"The stream as it was after message {count_text(last)}: "
                f"the {later} later {plural(count - 1 - last, 'message is', 'messages are')} left out."
            )

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()


_RULE = "The messages say little endian, as servers of this kind wrongly do; they are read as big endian."
_CHOSEN = {
    "big": "All numbers are read as big endian, as you chose for this file.",
    "little": "All numbers are read as little endian, as you chose for this file.",
    "flag": "Numbers are read as each message says, as you chose for this file.",
}


class MessagesLink(FormatPage):
    """The messages of the current stream: between one window and its pane of them."""

    def __init__(self, workspace: Workspace) -> None:
        assert workspace.centre.plot is not None
        self._window, self._plot = workspace, workspace.centre.plot
        self.pane, self.as_of_bar = MessagesPane(self._plot), AsOfBar()
        self.order_bar = NoteBar("byteOrder", ("info", "accent"), "noteStrip", "Compare", "Compare…")
        super().__init__(workspace, self.pane, (self.as_of_bar, self.order_bar))
        self.mark = SectionMark(self._plot.canvas.box)
        self._wanted: int | None = None
        #: The array to go back to, where it was not there yet after an earlier message.
        self._left: str | None = None
        self._doubt: tuple[StreamIndex, bool] | None = None
        self.pane.chosen.connect(self._chosen)
        self.pane.activated.connect(self._activated)
        self.pane.picture.changed.connect(self._picture_changed)
        self.pane.as_of.wanted.connect(self._show_until)
        self.as_of_bar.allWanted.connect(lambda: self._show_until(None))
        self.order_bar.wanted.connect(self.compare_orders)
        self._follow_plot()
        workspace.centre.plotChosen.connect(self._take_plot)

    def _take_plot(self, plot: PlotPane) -> None:
        """Be about another plot, in which the section of the chosen message is framed then."""
        self._plot.viewChanged.disconnect(self._view_changed)
        self._plot.settled.disconnect(self._view_changed)
        self._plot.restyled.disconnect(self.mark.restyle)
        self._plot.set_note(lambda _index: "")
        self._plot = plot
        self.mark.move_to(plot.canvas.box)
        self.pane.set_plot(plot)
        self._follow_plot()
        self._view_changed()

    def _follow_plot(self) -> None:
        self._plot.viewChanged.connect(self._view_changed)
        self._plot.settled.connect(self._view_changed)
        self._plot.restyled.connect(self.mark.restyle)
        self._plot.set_note(self._words_at)

    # The stream that is shown

    def set_document(self, document: OpenDocument | None) -> None:
        """Show the messages of a stream; nothing of None."""
        stream = stream_of(document)
        index = None if stream is None else stream.index
        last = None if stream is None or index is None else stream.last
        shown = document if index is not None else None
        why_fixed = "" if stream is None else stream.why_fixed
        self.pane.set_stream(shown, index, last, why_fixed)
        self.as_of_bar.set_last(last, 0 if index is None else len(index.table))
        self._show_order(shown)
        if shown is None:
            self.mark.show_at(None)
        else:
            self._go_back(shown)

    def _show_order(self, document: OpenDocument | None) -> None:
        stream = stream_of(document)
        origin = None if stream is None else stream.origin
        if origin is None:
            self._doubt = None
            self.order_bar.show_for(None, "")
            return
        if self._doubt is None or self._doubt[0] is not origin.index:
            self._doubt = origin.index, bool(doubtful_arrays(origin.index))
        chosen = origin.options.byte_order
        rule = _RULE if self._doubt[1] else ""
        self.order_bar.show_for(origin.index, rule if chosen is None else _CHOSEN[chosen])

    def _show_until(self, last: int | None) -> None:
        stream = stream_of(self._window.documents.current)
        if stream is not None:
            self._left = self._plotted() or self._left
            stream.show_until(last)

    def _go_back(self, document: OpenDocument) -> None:
        """Plot the array again that was not there after an earlier message."""
        hierarchy, path = document.hierarchy, self._left
        if path is None or hierarchy is None or document is not self._window.documents.current:
            return
        if self._plotted() is None and hierarchy.find(path) is not None:
            self._left = None
            self._window.hierarchy.select_node(document, path)

    # The message that is chosen

    def _chosen(self, message: int | None) -> None:
        """Select the array of a message, and show its section in the plot."""
        document = self._window.documents.current
        self._wanted = message
        path = "" if message is None else self.pane.path_of(message)
        node = self._plot.array()
        if document is not None and path and (node is None or node.path != path):
            self._window.hierarchy.select_node(document, path)
            # Its section is known when the messages of that array were looked at.
            self.mark.show_at(None)
            return
        self._show_section()

    def _picture_changed(self) -> None:
        if self._wanted is not None:
            self._show_section()
        else:
            self._view_changed()

    def _show_section(self) -> None:
        """Move the plot into the section of the message that was chosen, and light it up."""
        message, self._wanted = self._wanted, None
        section = None if message is None else self.pane.picture.section(message)
        state = self._plot.slice_state()
        if section is not None and state is not None:
            for axis in state.sliders:
                if state.indices[axis] not in section[axis]:
                    self._plot.set_index(axis, section[axis][0])
        self.pane.picture.frame(message)
        self._view_changed()
        self.mark.flash()
        self.pane.picture.view.mark.flash()

    def _view_changed(self) -> None:
        """Frame what the current message gave of the slice that is plotted."""
        self.mark.show_at(self._part())

    def _part(self) -> QRectF | None:
        message, state = self.pane.message(), self._plot.slice_state()
        section = None if message is None else self.pane.picture.section(message)
        if section is None or state is None or self.pane.picture.path() != self._plotted():
            return None
        return self._on_line(section[state.x], state.x) if state.y is None else section_rect(state, section)

    def _on_line(self, across: range, dimension: int) -> QRectF:
        """Return what a section covers of a line, over all values that are in view."""
        scale = line_scale(self._plot.coordinates()[dimension])
        ends = [float(scale.positions(range(at, at + 1))[0]) for at in (across[0], across[-1])]
        (left, right), (low, high), _pixels = self._plot.canvas.view()
        if scale.is_upright:
            return QRectF(QPointF(left, min(ends)), QPointF(right, max(ends)))
        return QRectF(QPointF(min(ends), low), QPointF(max(ends), high))

    def _plotted(self) -> str | None:
        node = self._plot.array()
        return None if node is None else node.path

    def _activated(self, _message: int) -> None:
        self._window.centre.show_tab(PLOT)
        self.mark.flash()

    def _words_at(self, index: tuple[int, ...]) -> str:
        """Return which messages gave an element of the plot; empty where that is not known."""
        picture = self.pane.picture
        if picture.path() is None or picture.path() != self._plotted():
            return ""
        return picture.words_at(index)

    # Byte order

    def compare_orders(self) -> None:
        """Show both byte orders of the current stream side by side."""
        from refbrowser.wings.ncstream.window.byte_order_dialog import ByteOrderDialog

        document = self._window.documents.current
        stream = stream_of(document)
        origin = None if stream is None else stream.origin
        if document is None or origin is None:
            return
        doubtful = doubtful_arrays(origin.index)
        paths = (*doubtful, *(path for path in ordered_arrays(origin.index) if path not in set(doubtful)))
        plotted = self._plotted()
        dialog = ByteOrderDialog(
            document, paths, plotted if plotted in paths else None, self._window.window()
        )
        dialog.chosen.connect(lambda order: self._read_in(document, order))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _read_in(self, document: OpenDocument, order: Order | None) -> None:
        stream = stream_of(document)
        if stream is not None and not stream.why_fixed:
            self._window.settings.set_byte_order(document.path, order or "")
            stream.read_in(order)
