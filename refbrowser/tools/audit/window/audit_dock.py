"""The page Audit in its dock: made when what it needs is loaded; it is about the current document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.tools.audit.window.audit_pane import AuditPane

_DOCK = "auditDock"
#: Height in pixels that the page wants when it is asked for: choices, some lines, and all about one of them.
_HEIGHT = 330


class AuditDock(QObject):
    """Keeps the page of one window.

    Signals
    -------
    made(object)
        The page is there.
    """

    made = Signal(object)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._documents, self._centre = workspace.documents, workspace.centre
        self._docks, self._hierarchy = workspace.docks, workspace.hierarchy
        self.pane: AuditPane | None = None
        #: The height before the page was given room, and that which was asked for; and the one that it got.
        self._heights: tuple[int, int] | None = None
        self._given = 0
        # Once it, or another page, is laid out.
        self._laid_out = one_shot(self, 0, self._measure)
        self._left = one_shot(self, 0, self._give_back)
        # Once the plot is there: most of what the page needs is loaded then.
        modules = ["refbrowser.tools.audit.window.audit_pane"]
        tasks = workspace.tasks
        self._centre.tableMade.connect(lambda _table: tasks.load("prepare audit", modules, self._make))

    def show(self) -> None:
        """Bring the page to the front, with room while it is there, and the keyboard in it."""
        heights = self._docks.raise_with_height(_DOCK, _HEIGHT)
        if heights is not None:
            self._heights = heights
            self._laid_out.start()
        if self.pane is not None:
            self.pane.setFocus()

    def _make(self) -> None:
        from refbrowser.tools.audit.window.audit_pane import AuditPane

        if self.pane is not None:
            return
        pane = self.pane = AuditPane(self._documents)
        self._docks.fill({_DOCK: pane})
        self._docks.follow_sight(_DOCK, self._seen)
        self.made.emit(pane)
        self._centre.restyled.connect(pane.restyle)
        self._hierarchy.selected.connect(lambda _item: self._follow())
        pane.set_document(self._documents.current)
        self._follow()

    def _seen(self, is_seen: bool) -> None:
        if self.pane is not None:
            self.pane.set_seen(is_seen)
        if is_seen:
            self._left.stop()
        elif self._heights is not None:
            self._left.start()

    def _measure(self) -> None:
        self._given = self._docks[_DOCK].height()

    def _give_back(self) -> None:
        """Leave the layout as the user made it once another page is in front."""
        heights, self._heights = self._heights, None
        if heights is not None:
            self._docks.give_back(_DOCK, heights, self._given)

    def _follow(self) -> None:
        """Offer to look at the array that is selected alone."""
        item, pane = self._hierarchy.current_item(), self.pane
        if pane is not None:
            is_array = item is not None and item.kind is ItemKind.ARRAY and item.document is pane.document()
            pane.set_array(str(item.place) if item is not None and is_array else None)
