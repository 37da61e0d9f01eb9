"""What the window gives to what formats add to it, and what a page of a format is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from refbrowser.app.workspace.frame import Frame

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.panes.hierarchy_pane import HierarchyPane
    from refbrowser.app.settings.settings import Settings
    from refbrowser.app.workspace.centre import Centre
    from refbrowser.app.workspace.navigation import Navigation


class Host(Frame, Protocol):
    """The window with its centre, in which pages and bars are placed."""

    @property
    def centre(self) -> Centre:
        """The tabs and the bars over them; its plot is there before any page."""

    @property
    def hierarchy(self) -> HierarchyPane:
        """The tree."""

    @property
    def navigation(self) -> Navigation:
        """What is selected."""

    @property
    def settings(self) -> Settings:
        """What is kept between runs."""

    def review_trust(self) -> None:
        """Show what the current document wants to read."""

    def page(self, name: str) -> FormatPage | None:
        """Return a page by the name that its format gives it; None where it is not made yet."""


class FormatPage(QObject):
    """What a format shows in a window: a pane in a tab, bars over the tabs, or both.

    Signals
    -------
    changed()
        `is_offered` may be another one.

    Parameters
    ----------
    tab
        The pane in its tab; None where there is none.
    bars
        From the top down, hidden.
    """

    changed = Signal()

    def __init__(self, host: Host, tab: QWidget | None = None, bars: Sequence[QWidget] = ()) -> None:
        super().__init__(host.window())
        self.tab, self.bars = tab, tuple(bars)

    def set_document(self, document: OpenDocument | None) -> None:
        """Show a document of the format that is current, or may have changed; None hides the bars."""
        raise NotImplementedError

    def is_offered(self) -> bool:
        """Whether its tab is there for the document that it was given."""
        return True

    def read_again(self) -> None:
        """Read again what is shown: some of it proved to be damaged."""
