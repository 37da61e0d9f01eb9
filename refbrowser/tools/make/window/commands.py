"""Making references of files of data, and combining files into one dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.files import FileCommands
from refbrowser.app.commands.view import PreferenceCommands
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.app.workspace.workspace import Workspace

if TYPE_CHECKING:
    from refbrowser.formats.lead import Lead
    from refbrowser.tools.make.window.combine_sheet import CombineSheet


class MakeCommands(CommandGroup):
    """The commands of the menu File that make references; bars, cards and drops ask for them, too."""

    actions = (
        ActionSpec(
            "make_references",
            "Ma&ke references…",
            tip="Make reference documents of netCDF, HDF5 and other files of data, and compare them with "
            "these",
            menu="&File",
            after="export",
        ),
        ActionSpec(
            "combine_files",
            "Com&bine files…",
            tip="Combine many files into one dataset along a dimension; their differences are shown first",
            menu="&File",
            after="make_references",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._close_failed = workspace.groups[FileCommands].close_failed
        self._change_compute = workspace.groups[PreferenceCommands].compute
        workspace.make_of, workspace.combine_of = self.make_of, self.combine_of
        workspace.centre.make_bar.wanted.connect(self.make_references)
        workspace.centre.makeWanted.connect(self.make_instead)
        workspace.centre.combineWanted.connect(self.combine_instead)
        workspace.centre.leadWanted.connect(self.combine_lead)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.make_references, self.combine_files)

    def make_references(self) -> None:
        """Show the sheet that makes references, with the selected set, or the current document of data."""
        document, files = self._current, self._workspace.hierarchy.current_files()
        if files is not None:
            self.make_of(files.files.paths)
            return
        self.make_of([document.path] if document is not None and document.is_data else [])

    def make_of(self, paths: Sequence[str]) -> None:
        """Show the sheet that makes references, with some files in it beside those that are there."""
        from refbrowser.tools.make.window.make_sheet import MakeSheet

        sheet = self._workspace.window().findChild(MakeSheet)
        if sheet is None:
            sheet = MakeSheet(self._workspace.documents, self._workspace.tasks, self._workspace.window())
            sheet.openPaths.connect(self._workspace.open_all)
            sheet.changeCompute.connect(self._change_compute)
            sheet.combineWanted.connect(self.combine_of)
        if paths:
            sheet.add(paths)
        bring_up(sheet)

    def combine_files(self) -> None:
        """Show the sheet that combines files, with those of the selected set, or of data that are open."""
        files = self._workspace.hierarchy.current_files()
        if files is not None:
            self.combine_of(files.files.paths)
            return
        several = [document.path for document in self._workspace.documents.all() if document.is_data]
        self.combine_of(several if len(several) > 1 else [])

    def combine_of(self, paths: Sequence[str]) -> None:
        """Show the sheet that combines files, with some files in it beside those that are there."""
        sheet = self._combine_sheet()
        if paths:
            sheet.add(paths)
        bring_up(sheet)

    def combine_lead(self, lead: Lead) -> None:
        """Show the sheet that combines files, with those that one names and what it says of them."""

        def go_on() -> None:
            self._close_failed()
            sheet = self._combine_sheet()
            sheet.take_lead(lead)
            bring_up(sheet)

        urls = [each.url for each in lead.sources]
        self._workspace.questions.private_addresses(urls, self._current, go_on)

    def _combine_sheet(self) -> CombineSheet:
        from refbrowser.tools.make.window.combine_sheet import CombineSheet

        sheet = self._workspace.window().findChild(CombineSheet)
        if sheet is None:
            sheet = CombineSheet(self._workspace.documents, self._workspace.tasks, self._workspace.window())
            sheet.openPaths.connect(self._workspace.open_all)
            sheet.told.connect(self._workspace.say)
            sheet.changeCompute.connect(self._change_compute)
        return sheet

    def combine_instead(self, paths: list[str]) -> None:
        """Show the sheet that combines the files of a folder; the folder itself is nothing to be opened."""
        self._close_failed()
        self.combine_of(paths)

    def make_instead(self, paths: list[str]) -> None:
        """Show the sheet that makes references of the files of a folder."""
        self._close_failed()
        self.make_of(paths)
