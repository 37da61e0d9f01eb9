"""Links: copied, pasted, and those from outside, which are asked about before anything is read."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from refbrowser.app.widgets.dropped_items import read_drop
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.engine.links import Link
from refbrowser.errors import RefbrowserError
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace

#: Links from outside that wait for an answer; a page can send any number.
_WAITING = 5


class LinkCommands(CommandGroup):
    """Copies a link to what is shown, and opens those that come."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._navigation = workspace.navigation
        #: Links from outside, the one that is asked about first.
        self._waiting: list[Link] = []

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.copy_link, self.paste)

    # Copied

    def copy_link(self) -> None:
        """Copy a link to what is shown: the document, the selected node, and the slice that is in sight.

        Programs that take more than plain text get it to be clicked, too.
        """
        document = self._current
        if document is None:
            return
        if document.is_new:
            self._workspace.say("Save the document first: a link leads to a file")
            return
        link = self._link_to(document).without_secrets()
        data = QMimeData()
        data.setText(str(link))
        data.setHtml(f'<a href="{escape(link.url)}">{escape(str(link))}</a>')
        QGuiApplication.clipboard().setMimeData(data)
        left_out = f", without {' and '.join(link.left_out)}" if link.left_out else ""
        self._workspace.say(one_line(f"Copied{left_out}: {link}"))

    def _link_to(self, document: OpenDocument) -> Link:
        item, plot = self._navigation.item(), self._workspace.centre.plot
        if item is None or item.kind not in (ItemKind.ARRAY, ItemKind.GROUP):
            return Link(document.path)
        shown = None if plot is None else plot.array()
        is_plotted = self._navigation.plotted_document() is document and (
            self._navigation.plotted() == item.place
        )
        if plot is None or shown is None or item.kind is ItemKind.GROUP or not is_plotted:
            return Link(document.path, str(item.place))
        # Of an image in several resolutions it is the level that is shown.
        return Link(document.path, shown.path, plot.selection_text())

    # Pasted

    def paste(self) -> None:
        """Open what the clipboard holds: links, paths, URLs or files."""
        found = read_drop(QGuiApplication.clipboard().mimeData())
        if found.is_accepted:
            self._workspace.open_all(found.targets)
        else:
            self._workspace.say("The clipboard holds no link, path or URL that can be opened")

    # From outside

    def open_from_outside(self, text: str) -> None:
        """Ask whether to open what a link names that another program handed over; nothing is read before."""
        try:
            link = Link.from_url(text)
        except RefbrowserError as error:
            self._workspace.show_error("A link from outside was not opened", error)
            return
        if link in self._waiting:
            return
        if len(self._waiting) >= _WAITING:
            self._workspace.say(f"Further links from outside were dropped: {_WAITING} wait for an answer")
            return
        self._waiting.append(link)
        if len(self._waiting) == 1:
            self._ask()

    def _ask(self) -> None:
        """Ask about the link that came first."""

        def answered(is_wanted: bool) -> None:
            link = self._waiting.pop(0)
            if is_wanted:
                self._workspace.open_link(link)
            if self._waiting:
                self._ask()

        self._workspace.questions.link(self._waiting[0], answered)
