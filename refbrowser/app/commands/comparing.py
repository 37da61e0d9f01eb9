"""Comparing what is open with something else, both ways of taking over, and merging."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refbrowser.app.frame.centre import PLOT
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.views.hierarchy import takes_rules
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.comparing.compare_window import CompareWindow
    from refbrowser.app.comparing.compare_work import ListedMerge
    from refbrowser.app.comparing.compared_side import ComparedSide
    from refbrowser.app.comparing.merge_sides import MergeSides
    from refbrowser.app.comparing.source_field import Source
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace


class CompareCommands(CommandGroup):
    """The commands of the menu File that compare and merge."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre, self._navigation = workspace.centre, workspace.navigation
        self._reading = Latest(workspace.centre, "conflicts")
        workspace.compare = self.show
        workspace.documents.added.connect(self._follow)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.compare_with, self.merge)

    def conditions(self) -> dict[str, bool]:
        """Return whether the current document can be merged into."""
        document = self._current
        is_written = document is not None and document.is_open and takes_rules(document)
        return {"can_merge": is_written and not document.document.from_parquet}  # type: ignore[union-attr]

    # Comparing

    def compare_with(self) -> None:
        """Ask with what the current document is compared."""
        from refbrowser.app.comparing.source_field import CompareWithDialog

        document = self._current
        if document is None:
            return
        choices = [*self._others(document), *self._saved(document)]
        dialog = CompareWithDialog(
            document.title, choices, lambda source: self.compare(document, source), self._workspace.window()
        )
        dialog.open()

    def compare(self, document: OpenDocument, source: Source) -> CompareWindow:
        """Compare a document with something that is open, or with a path or URL, which is opened."""
        from refbrowser.app.comparing.compared_side import ComparedSide

        there = source
        if isinstance(there, str):
            there = ComparedSide(self._workspace.open_path(there))
            self._workspace.documents.set_current(document)
        return self.show(ComparedSide(document), there)

    def show(self, here: ComparedSide, there: ComparedSide) -> CompareWindow:
        """Show what differs between two sides."""
        from refbrowser.app.comparing.compare_window import CompareWindow

        window = CompareWindow(here, there, self._workspace.tasks, self._workspace.window())
        window.elementWanted.connect(self.show_element)
        window.show()
        window.raise_()
        window.activateWindow()
        return window

    def compare_paths(self, paths: Sequence[str]) -> None:
        """Compare what was dropped: two with each other, one with what is shown."""
        if len(paths) == 2:
            self.compare(self._workspace.open_path(paths[0]), paths[1])
        elif len(paths) == 1 and self._current is not None:
            self.compare(self._current, paths[0])

    def _others(self, document: OpenDocument) -> list[ComparedSide]:
        from refbrowser.app.comparing.compared_side import ComparedSide

        return [ComparedSide(each) for each in self._workspace.documents.all() if each is not document]

    @staticmethod
    def _saved(document: OpenDocument) -> list[ComparedSide]:
        from refbrowser.app.comparing.compared_side import SavedSide

        return [SavedSide(document)] if document.is_dirty else []

    def show_element(self, document: OpenDocument, path: str, index: tuple[int, ...]) -> None:
        """Select an array, and put the cursor of the plot on one of its elements."""
        self._navigation.go_to_node(document, path)
        self._navigation.plot_current()
        self._centre.show_tab(PLOT)
        plot = self._centre.plot
        if plot is None:
            return

        def place() -> None:
            node, state = plot.array(), plot.slice_state()
            if node is None or state is None or node.path != path or plot.source() is not document:
                return
            for axis in state.sliders:
                if state.indices[axis] != index[axis]:
                    plot.set_index(axis, index[axis])
            plot.point_at(tuple(index[axis] for axis in state.axes))

        def settled() -> None:
            plot.settled.disconnect(settled)
            place()

        place()
        if not plot.is_settled():
            plot.settled.connect(settled)
        self._workspace.window().activateWindow()

    # Merging

    def merge(self) -> None:
        """Show the sheet that merges another document into the current one."""
        from refbrowser.app.comparing.merge_sides import TwoDocuments

        document = self._current
        if document is not None and document.document is not None:
            others = self._others(document)
            self._show_sheet(document, TwoDocuments([*self._saved(document), *others], others))

    def _follow(self, document: OpenDocument) -> None:
        document.openFailed.connect(lambda error: self._not_opened(document, error))

    def _not_opened(self, document: OpenDocument, error: BaseException) -> None:
        """Show what is to be settled where a list of conflicts was opened, in the place of what failed."""
        from refbrowser.formats.sniffing import ConflictListError

        if not isinstance(error, ConflictListError):
            return
        path, known = document.path, [each.path for each in self._workspace.documents.all()]

        def read(_control: TaskControl) -> ListedMerge:
            from refbrowser.app.comparing.compare_work import listed_merge

            return listed_merge(path, known)

        def done(found: ListedMerge) -> None:
            if document in self._workspace.documents.all():
                self._workspace.documents.close(document)
            self._settle(found)

        def failed(why: BaseException) -> None:
            self._workspace.show_error("The conflicts cannot be settled", why)

        self._reading.run(document, f"Read {one_line(path)}", read, done, failed)

    def _settle(self, found: ListedMerge) -> None:
        """Show the merged document, and what is at odds in it."""
        from refbrowser.app.comparing.merge_sides import ListedConflicts

        if not found.may_open:
            message, place = "the merged document is in another place", Place(document=found.path)
            advice = "open that document first, and then the list of conflicts again"
            error = RefbrowserError(ErrorKind.USAGE, message, place, advice)
            self._workspace.show_error("The conflicts cannot be settled", error)
            return
        document = self._workspace.open_path(found.path)

        def show() -> None:
            document.documentChanged.disconnect(show)
            self._show_sheet(document, ListedConflicts(found.name, found.listed))

        document.documentChanged.connect(show)
        if document.document is not None:
            show()

    def _show_sheet(self, document: OpenDocument, sides: MergeSides) -> None:
        from refbrowser.app.comparing.merge_sheet import MergeSheet

        sheet = MergeSheet(document, self._workspace.documents, sides, self._workspace.window())
        sheet.told.connect(self._workspace.say)
        sheet.show()
        sheet.raise_()
        sheet.activateWindow()
