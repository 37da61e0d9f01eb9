"""The plotted slice by the messages that supplied it: picture, legend, sliders, what is under the pointer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.facets.stream.supply_legend import SupplyLegend
from refbrowser.app.facets.stream.supply_view import SupplyView
from refbrowser.app.facets.stream.supply_words import supplied_words
from refbrowser.app.plot.sliders import DimensionSliders
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import hint_label, one_shot
from refbrowser.exporting.streams.sections import section_of, supplied_sections
from refbrowser.exporting.streams.supply import is_cut_off, is_lost, messages_of_element, supply_of, taken_for
from refbrowser.exporting.streams.supply_classes import ColouredSupply, Label, coloured, labels
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.readout import readout
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.pane import PlotPane
    from refbrowser.app.shell.tasks import TaskControl
    from refbrowser.formats.ncstream.messages import StreamIndex
    from refbrowser.formats.ncstream.sections import Sections
    from refbrowser.views.plot.slicing import SliceState

NOTHING = "Select an array in the hierarchy: which message supplied each of its elements appears here."
NO_AXES = "A single value has no picture."
#: An element of more messages than these is not looked for while the pointer moves.
_MESSAGES_MOST = 500_000


@dataclass(frozen=True, slots=True)
class Supplied:
    """What was found out about one slice; without a picture where the array has no axes."""

    path: str
    state: SliceState
    sections: Sections
    shown: ColouredSupply | None
    labels: tuple[Label, ...]


class SupplyPane(QWidget):
    """Follows a plot: the same array and slice.

    Signals
    -------
    messageWanted(int)
        The message that supplied an element, or of an entry of the legend, is wanted.
    changed()
        Another slice is shown, or other messages.
    """

    messageWanted = Signal(int)
    changed = Signal()

    def __init__(self, plot: PlotPane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messagesPicturePane")
        self._plot = plot
        self._document: OpenDocument | None = None
        self._index: StreamIndex | None = None
        self._until: int | None = None
        self._stale = True
        self._message: int | None = None
        self.found: Supplied | None = None
        self.view = SupplyView()
        self.legend = SupplyLegend()
        self.sliders = DimensionSliders("messages_")
        self.status = ElidedLabel("messagesStatus", role="muted")
        self.status.setFont(theme.mono_font(-0.5))
        self._hint = hint_label(NOTHING)
        self._hint.setObjectName("messagesHint")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self.view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._pages, 1)
        for widget in (self.legend, self.sliders, self.status):
            layout.addWidget(widget)
        self._soon = one_shot(self, 0, self._follow)
        plot.viewChanged.connect(self._plot_changed)
        self.sliders.indexChanged.connect(plot.set_index)
        self.legend.wanted.connect(self.messageWanted)
        self.view.pointed.connect(self._pointed)
        self.view.chosen.connect(self._chosen)

    # What is shown

    def set_stream(self, document: OpenDocument | None, index: StreamIndex | None, until: int | None) -> None:
        """Show another stream, or as it was after another message."""
        if (document, index, until) != (self._document, self._index, self._until):
            if self._document is not None:
                # What was looked for before would be taken for what the new stream has.
                self._document.tasks.cancel_owner(self._document.owner("supply"))
            self._document, self._index, self._until = document, index, until
            self.found = None
            if document is None:
                # What was shown may be large.
                self._show(None)
            self._plot_changed()

    def frame(self, message: int | None) -> None:
        """Frame what a message gave of the array that is shown."""
        self._message = message
        self._place_frame()

    def path(self) -> str | None:
        """Return the array whose messages are known, or None."""
        return None if self.found is None else self.found.path

    def section(self, message: int) -> tuple[range, ...] | None:
        """Return what a message gave of the array that is shown; None where it is of another one."""
        return None if self.found is None else section_of(self.found.sections, message)

    def words_at(self, index: Sequence[int]) -> str:
        """Return which messages gave an element of the array that is shown, the one that counts first."""
        found = self.found
        if found is None or len(found.sections) > _MESSAGES_MOST or len(index) != len(found.state.shape):
            return ""
        messages = messages_of_element(found.sections, index)
        if not messages and is_cut_off(found.sections, index):
            return f"message {int(found.sections.numbers[-1])} was cut off before it"
        if not messages and is_lost(found.sections, index):
            return "lost: the message with it is damaged"
        return supplied_words(messages)

    # Following the plot

    def _plot_changed(self) -> None:
        self._stale = True
        node = self._plot.array()
        # Which messages an array has is of use in the plot too, the picture only where it is seen.
        if self.isVisible() or self.path() != (None if node is None else node.path):
            self._soon.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._soon.start()

    def _follow(self) -> None:
        """Find out about the slice of the plot, off the GUI thread."""
        document, index, until = self._document, self._index, self._until
        node, state = self._plot.array(), self._plot.slice_state()
        if document is None or index is None or node is None or state is None:
            self._stale = False
            self._show(None)
            self._say_hint(NOTHING)
            return
        tasks, owner = document.tasks, document.owner("supply")
        if self._plot.source() is not document:
            return
        known = self.found
        sections = known.sections if known is not None and known.path == node.path else None
        path, shape, is_seen = node.path, node.shape, self.isVisible()

        self._stale = not is_seen

        def find(control: TaskControl) -> Supplied:
            given = supplied_sections(index, path, shape, until) if sections is None else sections
            if not state.axes or 0 in shape or not is_seen:
                return Supplied(path, state, given, None, ())
            taken = taken_for([state.shape[axis] for axis in state.axes])
            supply = supply_of(given, state.indices, state.axes, taken, control.token)
            return Supplied(path, state, given, coloured(supply), labels(supply))

        title = f"Look for the messages of {one_line(path)}"
        tasks.run(owner, title, find, self._found)

    def _found(self, found: Supplied) -> None:
        self._show(found)
        if found.shown is None and not self._stale:
            self._say_hint(NO_AXES)

    def _show(self, found: Supplied | None) -> None:
        self.found = found
        shown = None if found is None else found.shown
        if found is not None and shown is not None:
            self._pages.setCurrentWidget(self.view)
            self.view.set_slice(found.state, self._plot.coordinates())
            self.view.set_supply(shown, found.labels)
        else:
            self.view.set_slice(None, ())
        self.legend.set_supply(shown)
        self.sliders.set_slice(None if found is None else found.state, self._plot.coordinates())
        self._place_frame()
        self._pointed(self.view.element)
        self.changed.emit()

    def _say_hint(self, text: str) -> None:
        self._hint.setText(text)
        self._pages.setCurrentWidget(self._hint)

    def _place_frame(self) -> None:
        section = None if self._message is None else self.section(self._message)
        self.view.frame(section)

    # The element under the pointer

    def _pointed(self, element: tuple[int, ...] | None) -> None:
        element = self.view.element if element is None else element
        text = "" if element is None else self._words(element)
        self.status.set_text(text)
        self.view.say(text)

    def _chosen(self, element: tuple[int, ...]) -> None:
        found = self.found
        if found is not None and found.shown is not None:
            given = messages_of_element(found.sections, self._full(found, element))
            if given:
                self.messageWanted.emit(given[-1])
        self._pointed(element)

    def _words(self, element: tuple[int, ...]) -> str:
        """Return where an element is, its value where it was read, and its messages."""
        found = self.found
        if found is None:
            return ""
        messages = self.words_at(self._full(found, element))
        picture, node = self._plot.picture(), self._plot.array()
        where = ""
        if picture is not None and node is not None and picture.plan.slice == found.state:
            shown = Interpretation(node, self._plot.is_decoded())
            where = readout(picture, shown, self._plot.coordinates(), element)
        if not where:
            names = [found.state.names[axis] for axis in found.state.axes]
            where = "   ".join(f"{name} [{at}]" for name, at in zip(names, element, strict=True))
        return f"{messages}   {where}"

    @staticmethod
    def _full(found: Supplied, element: tuple[int, ...]) -> tuple[int, ...]:
        """Return the index of an element along every dimension."""
        full = list(found.state.indices)
        for axis, at in zip(found.state.axes, element, strict=True):
            full[axis] = at
        return tuple(full)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "view"):
            self.view.restyle()
            self.legend.restyle()
