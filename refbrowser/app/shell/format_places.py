"""What formats add to a window: commands, and pages and bars that are shown for their documents.

What fails costs itself alone, and is told: it may be of another package.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.actions.menus import tab_actions
from refbrowser.app.frame.kept_layout import WindowLook
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.app.workspace.command_group import CommandGroup
from refbrowser.app.workspace.format_page import FormatPage
from refbrowser.formats.registry import BUILT_IN, format_of, title_of
from refbrowser.loading import load

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.formats.format import Format, Page


@dataclass(slots=True)
class _Placed:
    """A page that was made, and the number of its tab; None where it has none."""

    format: Format
    page: FormatPage
    tab: int | None
    #: Whether it was given a document.
    is_shown: bool = False


class FormatPlaces(CommandGroup):
    """Asks formats what they add to one window, and places that.

    Our formats have their commands in the menus from the start, those of other packages from their first
    document on. Pages are made with the first document of their format, and kept.
    """

    follows = Changed.FORMAT | Changed.OTHER

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._actions, self._layout_kept = workspace.actions_, workspace.layout_kept
        self._groups: dict[str, CommandGroup] = {}
        self._tabs: dict[str, str] = {}
        self._placed: dict[str, _Placed] = {}
        self._known: set[str] = set()
        self._failed: set[str] = set()
        #: The conditions that the commands of each format told last.
        self._told: dict[str, dict[str, bool]] = {}
        self._loaded: deque[tuple[Format, Page]] = deque()
        self._soon = one_shot(self, 0, self._update)
        self._next = one_shot(self, 0, self._make_next)
        for format in BUILT_IN:
            if format.is_installed:
                self._take(format)
        workspace.documents.currentChanged.connect(lambda _document: self._soon.start())
        workspace.documents.added.connect(self._added)
        workspace.centre.tableMade.connect(lambda _table: self._soon.start())

    def read_again(self) -> None:
        """Read again what pages show."""
        for name, placed in list(self._placed.items()):
            self._guarded(name, placed.page.read_again)

    # Commands

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action does that formats add."""
        found: dict[str, Callable[[], object]] = {
            f"show_{name}": partial(self._show_tab, name) for name in self._tabs
        }
        for group in self._groups.values():
            found |= group.table()
        return found

    def conditions(self) -> dict[str, bool]:
        """Return which tabs are offered, and what the commands of formats tell."""
        found = {f"has_{name}": self.is_offered(name) for name in self._tabs}
        for name in self._groups.keys() - self._failed:
            try:
                self._told[name] = self._groups[name].conditions()
            except Exception as error:  # noqa: BLE001 - it may not be ours: what it raises is told
                # Its actions cannot be used any more.
                self._failed.add(name)
                self._told[name] = dict.fromkeys(self._told.get(name, ()), False)
                self._tell(title_of(name), error)
        for told in self._told.values():
            found |= told
        return found

    def _show_tab(self, name: str) -> None:
        tab = self._placed[name].tab if name in self._placed else None
        if tab is not None:
            self._workspace.centre.show_tab(tab)

    def is_offered(self, name: str) -> bool:
        """Whether the tab of a page is there."""
        tab = self._placed[name].tab if name in self._placed else None
        return tab is not None and self._workspace.centre.tabs.isTabVisible(tab)

    def _take(self, format: Format) -> None:
        """Take the commands of a format, and the names of its tabs."""
        commands = format.facets.get("commands")
        if commands is not None:
            self._groups[format.name] = load(commands)(self._workspace)
        self._tabs |= {page.name: format.name for page in format.pages if page.title}

    def _learn(self, format: Format) -> None:
        """Take what a format of another package adds, with its first document."""
        try:
            self._take(format)
            group = self._groups.get(format.name)
            commands = () if group is None else group.actions
            self._actions.add([*tab_actions(format), *commands], self.table())
        except Exception as error:  # noqa: BLE001 - it is not ours: what it raises is told
            self._tell(format.title, error)

    # Pages

    def _added(self, document: OpenDocument) -> None:
        for changed in (
            document.documentChanged,
            document.hierarchyChanged,
            document.partChanged,
        ):
            changed.connect(lambda: self._changed(document))
        document.partFailed.connect(lambda what, error: self._part_failed(document, what, error))

    def _changed(self, document: OpenDocument) -> None:
        if document is self._current:
            self._soon.start()

    def _part_failed(self, document: OpenDocument, what: str, error: BaseException) -> None:
        self._workspace.show_error(what, error)
        self._changed(document)

    def _update(self) -> None:
        """Show what the format of the current document adds, and nothing of the others."""
        document = self._current
        if document is not None and not document.is_open and document.error is None:
            # Whether tabs stay is known when the document is read.
            return
        state = None if document is None else document.document
        format = None if state is None else format_of(state)
        for name, placed in list(self._placed.items()):
            shown = document if format is placed.format else None
            if shown is not None or placed.is_shown:
                placed.is_shown = shown is not None
                self._guarded(name, partial(placed.page.set_document, shown))
            self._offer(name)
        if format is not None and self._workspace.centre.plot is not None and format.name not in self._known:
            self._known.add(format.name)
            if format not in BUILT_IN:
                self._learn(format)
            if format.pages:
                self._load(format)
        self._workspace.update_actions(Changed.FORMAT)

    def _offer(self, name: str) -> None:
        """Offer the tab of a page, or do not."""
        placed = self._placed.get(name)
        if placed is not None and placed.tab is not None:
            is_offered = placed.is_shown and bool(self._guarded(name, placed.page.is_offered))
            self._workspace.centre.offer_tab(placed.tab, is_offered)

    def _load(self, format: Format) -> None:
        """Load what pages need; they are made then."""

        def loaded() -> None:
            self._loaded.extend((format, page) for page in format.pages)
            self._next.start()

        self._workspace.tasks.load(
            f"pages of {format.name}",
            (page.made.partition(":")[0] for page in format.pages),
            loaded,
            lambda error: self._tell(format.title, error),
        )

    def _make_next(self) -> None:
        """Make one page that is loaded, and the next one when the window has seen to other things."""
        format, page = self._loaded.popleft()
        try:
            self._place(format, page)
        except Exception as error:  # noqa: BLE001 - it may not be ours: what it raises is told
            self._tell(format.title, error)
        if self._loaded:
            self._next.start()
        self._update()

    def _place(self, format: Format, page: Page) -> None:
        made = load(page.made)(self._workspace)
        if not isinstance(made, FormatPage):
            raise TypeError(f"{page.made} made no page")
        centre, tab = self._workspace.centre, made.tab
        number = None if tab is None else centre.add_page(page.title.replace("&", ""), tab)
        centre.add_bars(made.bars)
        looking: object = tab
        if isinstance(looking, WindowLook):
            self._layout_kept.restore_look(f"{page.name}Look", looking)
        if tab is not None:
            self._layout_kept.restore_columns(tab)
        self._placed[page.name] = _Placed(format, made, number)
        self._workspace.pages[page.name] = made
        made.changed.connect(lambda: self._page_changed(page.name))

    def _page_changed(self, name: str) -> None:
        was_offered = self.is_offered(name)
        self._offer(name)
        if self.is_offered(name) != was_offered:
            self._workspace.update_actions(Changed.FORMAT)

    # What fails

    def _guarded(self, name: str, work: Callable[[], Any]) -> Any:
        """Let a page do something; one that cannot is taken away, and told."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - it may not be ours: what it raises is told
            placed = self._placed.pop(name)
            del self._workspace.pages[name]
            if placed.tab is not None:
                self._workspace.centre.offer_tab(placed.tab, False)
            for bar in placed.page.bars:
                bar.hide()
            self._tell(placed.format.title, error)
            return None

    def _tell(self, title: str, error: BaseException) -> None:
        self._workspace.show_error(f"What {title} adds to the window failed", error)
