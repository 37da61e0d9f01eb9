"""What commands and pages of one window work with: its parts, and what it does for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from refbrowser.app.actions.action_spec import Changed
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from PySide6.QtWidgets import QToolBar, QWidget

    from refbrowser.app.actions.actions import Actions
    from refbrowser.app.controller.compared_side import ComparedSide
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.dialogs.questions import Questions
    from refbrowser.app.docks.chunk_map_dock import ChunkMapDock
    from refbrowser.app.frame.centre import Centre
    from refbrowser.app.frame.editor_stack import EditorStack
    from refbrowser.app.frame.kept_layout import LayoutKept, PlotAlone
    from refbrowser.app.frame.navigation import Navigation
    from refbrowser.app.frame.status_line import StatusLine
    from refbrowser.app.panes.attributes_pane import AttributesPane
    from refbrowser.app.panes.findings_pane import FindingsPane
    from refbrowser.app.panes.hierarchy_pane import HierarchyPane
    from refbrowser.app.panes.history_pane import HistoryPane
    from refbrowser.app.panes.jobs_pane import JobsPane
    from refbrowser.app.panes.search_pane import SearchPane
    from refbrowser.app.settings.preferences import Preferences
    from refbrowser.app.settings.settings import Settings
    from refbrowser.app.tasks.tasks import Tasks
    from refbrowser.app.widgets.docks import Docks
    from refbrowser.app.widgets.elided_label import ElidedLabel
    from refbrowser.app.workspace.format_page import FormatPage
    from refbrowser.engine.links import Link


G = TypeVar("G")


class Groups(Protocol):
    """The groups of commands of one window."""

    def __getitem__(self, kind: type[G]) -> G:
        """Return the group of a class; it is made when it is first asked for."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action does, by its name."""

    def conditions(self, changed: Changed) -> dict[str, bool]:
        """Return when actions can be used, by the names that they give in `when`: what may be other now."""

    def offer_actions(self) -> None:
        """Put actions into the menus of panes, once all actions are there."""


class Workspace:
    """The window, as what works in it knows it.

    Attributes
    ----------
    groups
        The groups of commands, by their classes.
    pages
        What formats add, by name; those that are made.
    compare
        Shows what differs between two sides, in a window of its own.
    compare_paths
        Compares what was dropped: two with each other, one with what is shown.
    review_trust
        Shows what the current document wants to read.
    accept_stale
        Shows the files of a document that are not those of its lock, one of them ticked.
    export_as
        Shows the export dialog for the current document with a format chosen, by its name; the first one when
        empty.
    make_of, combine_of
        Show the sheets that make references, and combine files, with some files in them.
    open_session
        Opens the session that a file holds, in place of what is open.
    show_places
        Shows where the files of a document lie, with what some of their URLs begin with chosen.
    """

    settings: Settings
    preferences: Preferences
    tasks: Tasks
    documents: Documents
    questions: Questions
    actions_: Actions
    docks: Docks
    tool_bar: QToolBar
    summary: ElidedLabel
    status: StatusLine
    centre: Centre
    hierarchy: HierarchyPane
    attributes: AttributesPane
    editors: EditorStack
    jobs: JobsPane
    findings: FindingsPane
    search: SearchPane
    history: HistoryPane
    navigation: Navigation
    chunk_map: ChunkMapDock
    plot_alone: PlotAlone
    layout_kept: LayoutKept
    groups: Groups
    pages: dict[str, FormatPage]
    compare: Callable[[ComparedSide, ComparedSide], object]
    compare_paths: Callable[[Sequence[str]], object]
    review_trust: Callable[[], object]
    accept_stale: Callable[[OpenDocument, str], object]
    export_as: Callable[[str], object]
    make_of: Callable[[Sequence[str]], object]
    combine_of: Callable[[Sequence[str]], object]
    show_places: Callable[[OpenDocument, str], object]
    open_session: Callable[[str], object]

    def window(self) -> QWidget:
        """Return the window itself: parent of dialogs."""
        raise NotImplementedError

    def update_actions(self, changed: Changed = Changed.ALL) -> None:
        """Enable each action that can be used now, of those that depend on what changed."""
        raise NotImplementedError

    def prepare_plot(self) -> None:
        """Load the plotting library, once; the plot pane is made when it is there."""
        raise NotImplementedError

    # Opening

    def open_path(
        self,
        path: str,
        array: str | None = None,
        values: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
        *,
        selection: str = "",
    ) -> OpenDocument:
        """Open a document or a store, and select one of its arrays when it is read.

        `selection` is what of the array is to be seen, as ``--select`` takes it.
        """
        document = self.documents.open(path, values, allow, options)
        if array is not None:
            self.navigation.select_when_read(document, array, selection)
        return document

    def open_text(self, text: str, options: Mapping[str, Any] | None = None) -> None:
        """Open what somebody typed or pasted: a path, a URL, or a link; of a link without what is secret."""
        from refbrowser.engine.links import Link
        from refbrowser.errors import RefbrowserError
        from refbrowser.views.window_states.session_file import is_session

        try:
            link = Link.parse(text)
        except RefbrowserError as error:
            self.show_error("The link was not opened", error)
            return
        if is_session(link.path) and "://" not in link.path:
            self.open_session(link.path)
        else:
            self.open_link(link.without_secrets() if link.node else link, options)

    def open_link(self, link: Link, options: Mapping[str, Any] | None = None) -> OpenDocument:
        """Open what a link names, and show what it leads to; what it had and may not have is told."""
        for words in link.left_out:
            self.say(one_line(f"Left out of the link: {words}"))
        return self.open_path(link.path, link.node or None, options=options, selection=link.selection)

    def open_recent(self, path: str) -> None:
        """Open what was opened lately, as it was opened then: a document, those opened with it, a session."""
        from refbrowser.views.window_states.session_file import is_session

        if is_session(path):
            self.open_session(path)
            return
        together = self.settings.together(path)
        if len(together) > 1:
            self.open_all(together)
        flavour = self.settings.flavour(path)
        self.open_path(path, options={"flavour": flavour} if flavour else None)

    def open_all(self, paths: Sequence[str]) -> None:
        """Open several documents; the last one is shown, and all are one entry of those opened lately.

        Many files are one set, of which the first is opened and shown.
        """
        from refbrowser.app.widgets.dropped_items import ONE_BY_ONE
        from refbrowser.engine.links import Link

        self.settings.keep_together(paths)
        is_link = any("::/" in path or Link.is_from_outside(path) for path in paths)
        is_set = len(paths) > ONE_BY_ONE and not is_link
        if is_set:
            self.documents.add_set(paths)
        for path in paths[:1] if is_set else paths:
            self.open_text(path)

    # Telling

    def say(self, words: str) -> None:
        """Show words in the status line for a while."""
        self.status.say(words)

    def show_error(self, title: str, error: BaseException, again: Callable[[], object] | None = None) -> None:
        """Show an error over the tabs; `again` tries what failed once more."""
        self.centre.error_bar.show_error(title, error, again)
