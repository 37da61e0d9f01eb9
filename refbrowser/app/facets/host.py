"""What the window gives to what formats add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from refbrowser.app.shell.frame import Frame

if TYPE_CHECKING:
    from refbrowser.app.panes.hierarchy_pane import HierarchyPane
    from refbrowser.app.shell.centre import Centre
    from refbrowser.app.shell.layout_kept import LayoutKept
    from refbrowser.app.shell.navigation import Navigation
    from refbrowser.app.shell.settings import Settings


class Host(Frame, Protocol):
    """The window with its centre, in which pages and bars are placed."""

    @property
    def centre(self) -> Centre:
        """The tabs and the bars over them."""

    @property
    def hierarchy(self) -> HierarchyPane:
        """The tree."""

    @property
    def navigation(self) -> Navigation:
        """What is selected."""

    @property
    def settings(self) -> Settings:
        """What is kept between runs."""

    @property
    def layout_kept(self) -> LayoutKept:
        """What panes look like between runs."""

    def review_trust(self) -> None:
        """Show what the current document wants to read."""
