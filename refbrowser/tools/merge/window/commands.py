"""Merging another document into the one that is shown, and settling listed conflicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.controller.compared_side import other_sides, saved_sides
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.views.hierarchy import takes_rules
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.tools.merge.merging import ListedMerge
    from refbrowser.tools.merge.window.merge_sides import MergeSides


class MergeCommands(CommandGroup):
    """The command of the menu File that merges."""

    actions = (
        ActionSpec(
            "merge",
            "Mer&ge…",
            when="can_merge",
            tip="Merge the changes that another document made since the common base, and resolve conflicts",
            menu="&File",
            after="compare_with",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._reading = Latest(workspace.centre, "conflicts")
        workspace.documents.added.connect(self._follow)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.merge)

    def conditions(self) -> dict[str, bool]:
        """Return whether the current document can be merged into."""
        document = self._current
        is_written = document is not None and document.is_open and takes_rules(document)
        return {"can_merge": is_written and not document.document.from_parquet}  # type: ignore[union-attr]

    def merge(self) -> None:
        """Show the sheet that merges another document into the current one."""
        from refbrowser.tools.merge.window.merge_sides import TwoDocuments

        document = self._current
        if document is not None and document.document is not None:
            others = other_sides(document, self._workspace.documents)
            self._show_sheet(document, TwoDocuments([*saved_sides(document), *others], others))

    def _follow(self, document: OpenDocument) -> None:
        document.openFailed.connect(lambda error: self._not_opened(document, error))

    def _not_opened(self, document: OpenDocument, error: BaseException) -> None:
        """Show what is to be settled where a list of conflicts was opened, in the place of what failed."""
        from refbrowser.formats.sniffing import ConflictListError

        if not isinstance(error, ConflictListError):
            return
        path, known = document.path, [each.path for each in self._workspace.documents.all()]

        def read(_control: TaskControl) -> ListedMerge:
            from refbrowser.tools.merge.merging import listed_merge

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
        from refbrowser.tools.merge.window.merge_sides import ListedConflicts

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
        from refbrowser.tools.merge.window.merge_sheet import MergeSheet

        sheet = MergeSheet(document, self._workspace.documents, sides, self._workspace.window())
        sheet.told.connect(self._workspace.say)
        bring_up(sheet)
