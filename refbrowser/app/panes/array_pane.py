"""What panes about the plotted array share: document, plot, and words where nothing is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.widgets.small_widgets import hint_label
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.references.document.extent import Extent

#: The least size, in pixels. Low docks stay low: what has no room is left out.
_LEAST = 140, 70


class ArrayPane(QWidget):
    """A pane about one array of a document, that of the plot; what it shows is laid out in `_inner`.

    Parameters
    ----------
    nothing
        The words in place of all that where there is no array.
    """

    def __init__(self, name: str, nothing: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._document: OpenDocument | None = None
        self._node: ArrayNode | None = None
        self._plot: PlotPane | None = None
        self._nothing = nothing
        self._hint = hint_label(nothing)
        self._inner = QWidget()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self._inner)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._pages)
        self.setMinimumSize(*_LEAST)

    # What each pane says of itself

    def set_array(self, document: OpenDocument, node: ArrayNode) -> None:
        """Be about an array."""
        raise NotImplementedError

    def set_seen(self, is_seen: bool) -> None:
        """Take note whether the pane is in sight: nothing is computed for one that is not."""
        raise NotImplementedError

    def is_settled(self) -> bool:
        """Whether nothing is still to be computed."""
        raise NotImplementedError

    def _follow_document(self) -> None:
        """Show the document as it is now, after an edit or a permission."""
        raise NotImplementedError

    def _follow_edit(self, extent: Extent) -> None:
        """Show the document as it is now, where an edit or a permission concerns what is shown."""
        self._follow_document()

    def _follow_saved(self, extent: Extent) -> None:
        """Show what differs from the saved state, which is another one."""

    def _follow_plot(self) -> None:
        """Follow the axes and the slice of the plot."""
        raise NotImplementedError

    def _restyle(self) -> None:
        """Take the colours of the theme, where they are kept."""

    # What is shown

    def array(self) -> ArrayNode | None:
        """Return the array that the pane is about."""
        return self._node

    def shows(self, document: OpenDocument, path: str) -> bool:
        """Tell whether the pane is about an array."""
        return document is self._document and self._node is not None and self._node.path == path

    def set_plot(self, plot: PlotPane) -> None:
        """Follow the axes and the slice that a plot shows, and no longer those of the one before."""
        if self._plot is not None:
            self._leave_plot(self._plot)
        self._plot = plot
        plot.viewChanged.connect(self._follow_plot)

    def _leave_plot(self, plot: PlotPane) -> None:
        """Follow a plot no longer."""
        plot.viewChanged.disconnect(self._follow_plot)

    def clear(self) -> None:
        """Show nothing."""
        if self._document is not None:
            self._document.hierarchyChanged.disconnect(self._follow_edit)
            self._document.differenceChanged.disconnect(self._follow_saved)
        self._document = self._node = None
        self._show_hint(self._nothing)

    def leave(self, document: OpenDocument | None) -> None:
        """Show nothing of documents other than the current one."""
        if self._document is not None and document is not self._document:
            self.clear()

    def _turn_to(self, document: OpenDocument) -> bool:
        """Be about a document; whether it is another one than before."""
        if document is self._document:
            return False
        self.clear()
        self._document = document
        document.hierarchyChanged.connect(self._follow_edit)
        document.differenceChanged.connect(self._follow_saved)
        return True

    def _array_now(self) -> ArrayNode | None:
        """Return the array as the document has it now; None where it is gone."""
        hierarchy = None if self._document is None else self._document.hierarchy
        found = None if hierarchy is None or self._node is None else hierarchy.find(self._node.path)
        return found if isinstance(found, ArrayNode) else None

    def _show_hint(self, text: str) -> None:
        self._hint.setText(text)
        self._pages.setCurrentWidget(self._hint)

    # Events

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_pages"):
            # Once, after the style sheet has reached every child.
            QTimer.singleShot(0, self, self._restyle)
