"""The page Audit in its dock: made when what it needs is loaded; it is about the current document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.auditing.audit_pane import AuditPane
    from refbrowser.app.panes.hierarchy_pane import HierarchyPane
    from refbrowser.app.shell.centre import Centre
    from refbrowser.app.shell.docks import Docks
    from refbrowser.app.shell.frame import Frame

_DOCK = "auditDock"


class AuditDock(QObject):
    """Keeps the page of one window.

    Signals
    -------
    made(object)
        The page is there.
    """

    made = Signal(object)

    def __init__(self, frame: Frame, *, centre: Centre, docks: Docks, hierarchy: HierarchyPane) -> None:
        super().__init__(frame.window())
        self._frame, self._centre = frame, centre
        self._docks, self._hierarchy = docks, hierarchy
        self.pane: AuditPane | None = None
        # Once the plot is there: most of what the page needs is loaded then.
        modules = ["refbrowser.app.auditing.audit_pane"]
        centre.plotMade.connect(lambda _plot: frame.tasks.load("prepare audit", modules, self._make))

    def show(self) -> None:
        """Bring the page to the front, and put the keyboard in it; the layout stays as the user made it."""
        self._docks.raise_(_DOCK)
        if self.pane is not None:
            self.pane.setFocus()

    def _make(self) -> None:
        from refbrowser.app.auditing.audit_pane import AuditPane

        if self.pane is not None:
            return
        pane = self.pane = AuditPane(self._frame.documents)
        self._docks.fill({_DOCK: pane})
        self._docks.follow_sight(_DOCK, pane.set_seen)
        self.made.emit(pane)
        self._centre.restyled.connect(pane.restyle)
        self._hierarchy.selected.connect(lambda _item: self._follow())
        pane.set_document(self._frame.documents.current)
        self._follow()

    def _follow(self) -> None:
        """Offer to look at the array that is selected alone."""
        item, pane = self._hierarchy.current_item(), self.pane
        if pane is not None:
            is_array = item is not None and item.kind is ItemKind.ARRAY and item.document is pane.document()
            pane.set_array(str(item.place) if item is not None and is_array else None)
