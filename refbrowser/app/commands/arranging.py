"""Several views: opened, split, moved and closed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget

from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.limits import LIMITS
from refbrowser.views.arrangement.arrangement import Side
from refbrowser.views.arrangement.linking import Link
from refbrowser.views.arrangement.orthogonal import can_be_crossed
from refbrowser.views.hierarchy import ItemKind
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.arrangement.view_area import ViewArea
    from refbrowser.app.panes.tree_items import Item
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace

#: Names of the actions in the menu of a view's tab; None is a separator.
TAB_MENU = (
    "split_right",
    "split_down",
    None,
    "link_views",
    "view_apart",
    None,
    "close_view",
    "close_other_views",
)


class ArrangingCommands(CommandGroup):
    """The commands of the menu Window that arrange views, and those that open an array in a new one."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._navigation = workspace.navigation
        self._hierarchy = workspace.hierarchy
        self._centre.tableMade.connect(lambda _table: self._connect())

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        made = (self.new_view, self.split_right, self.split_down, self.open_in_view, self.open_beside)
        moved = (self.next_view, self.previous_view, self.move_view_on, self.move_view_back, self.view_apart)
        links = {f"link_{link}": partial(self._turn_link, link) for link in Link}
        others = (self.close_view, self.close_other_views, self.link_views, self.three_slices)
        return {**by_name(*made, *moved, *others), **links}

    def conditions(self) -> dict[str, bool]:
        """Return whether views can be made, and whether there are several."""
        views = self._centre.views
        is_several = views is not None and len(views.views()) > 1
        chosen = frozenset() if views is None else views.links.chosen
        return {
            **{f"is_link_{link}": link in chosen for link in Link},
            "can_cross": views is not None
            and (views.crossing.is_on or can_be_crossed(views.active.slice_state())),
            "are_slices_crossing": views is not None and views.crossing.is_on,
            "are_views_linked": views is not None and views.links.is_on,
            "can_add_view": views is not None and not views.is_full,
            "has_views": is_several,
            "is_view_apart": views is not None and views.is_apart(views.active),
        }

    # New ones

    def new_view(self) -> None:
        """Show the same array in another tab."""
        self._copy(Side.TAB)

    def split_right(self) -> None:
        """Show the same array beside the active view."""
        self._copy(Side.RIGHT)

    def split_down(self) -> None:
        """Show the same array below the active view."""
        self._copy(Side.BELOW)

    def open_in_view(self) -> None:
        """Show what is selected in the tree in another tab."""
        self._open(self._hierarchy.current_item(), Side.TAB)

    def open_beside(self) -> None:
        """Show what is selected in the tree beside the active view."""
        self._open(self._hierarchy.current_item(), Side.RIGHT)

    def _copy(self, side: Side) -> None:
        views = self._views_with_room()
        if views is not None:
            before = views.active
            views.open(side).show_as(before)

    def _open(self, item: Item | None, side: Side) -> None:
        if item is None or item.kind is not ItemKind.ARRAY:
            self._workspace.say("Select an array in the tree first")
            return
        if self._views_with_room() is not None:
            self._navigation.open_view(item, side)

    def _views_with_room(self) -> ViewArea | None:
        """Return the views where there may be one more; say so where there may not."""
        views = self._centre.views
        if views is not None and views.is_full:
            self._workspace.say(f"There are {count_text(LIMITS.views)} views already; close some first")
            return None
        return views

    def three_slices(self) -> None:
        """Show three orthogonal slices of the array, or one again."""
        views = self._centre.views
        if views is None:
            return
        if views.crossing.is_on:
            views.end_three()
        elif can_be_crossed(views.active.slice_state()) and self._views_with_room() is not None:
            views.show_three()

    # Those that are there

    def next_view(self) -> None:
        """Put the keyboard in the next view."""
        self._use(lambda views: views.step(1))

    def previous_view(self) -> None:
        """Put the keyboard in the view before."""
        self._use(lambda views: views.step(-1))

    def move_view_on(self) -> None:
        """Move the active view to the next place."""
        self._use(lambda views: views.move_on(1))

    def move_view_back(self) -> None:
        """Move the active view to the place before."""
        self._use(lambda views: views.move_on(-1))

    def view_apart(self) -> None:
        """Put the active view into a window of its own, or back."""

        def turn(views: ViewArea) -> None:
            if views.is_apart(views.active):
                views.put_back(views.active)
            elif views.can_go_apart(views.active):
                views.set_apart(views.active)
            self._workspace.update_actions()

        self._use(turn)

    def close_view(self) -> None:
        """Close the active view."""
        self._use(lambda views: views.close_view(views.active))

    def close_other_views(self) -> None:
        """Close all views but the active one."""
        self._use(lambda views: views.close_others(views.active))

    def _use(self, use: Callable[[ViewArea], object]) -> None:
        if self._centre.views is not None:
            use(self._centre.views)

    # Links

    def link_views(self) -> None:
        """Link the views, or no longer."""
        self._use(lambda views: views.links.set_on(not views.links.is_on))

    def _turn_link(self, link: Link) -> None:
        """Link something more, or something less."""
        self._use(lambda views: views.links.choose(link, link not in views.links.chosen))

    # What the views offer

    def _connect(self) -> None:
        views = self._centre.views
        assert views is not None
        views.menuWanted.connect(self._pop_up)
        views.apartMade.connect(self._take_keys)
        self._hierarchy.openedAside.connect(lambda item: self._open(item, Side.TAB))

    def _pop_up(self, _view: PlotPane, place: QPoint) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtWidgets import QMenu

        menu = QMenu(self._workspace.window())
        menu.setObjectName("contextMenu")
        for name in TAB_MENU:
            if name is None:
                menu.addSeparator()
            else:
                menu.addAction(self._workspace.actions_[name])
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def _take_keys(self, window: QWidget) -> None:
        """Let the keys of all actions work in a further window, too."""
        window.addActions([action for _spec, action in self._workspace.actions_.all()])
