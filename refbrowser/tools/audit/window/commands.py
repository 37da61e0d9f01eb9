"""Audits of the current document: shown, gone through, repaired, written as reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.commands.findings import FindingCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.tools.audit.window.audit_dock import AuditDock
from refbrowser.tools.expect.window.commands import ExpectationCommands
from refbrowser.tools.explain.window.commands import ExplainCommands
from refbrowser.views.words import one_line
from refbrowser.words import counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.findings.finding import Finding
    from refbrowser.tools.audit.window.audit_pane import AuditPane

#: What is told of a file in which nothing was found.
_SOUND = "sound"
_FILTERS = ("Page (*.html)", "JSON (*.json)", "Table (*.csv)")


class AuditCommands(CommandGroup):
    """What the page Audit is asked for, and asks for."""

    actions = (
        ActionSpec(
            "show_audit",
            "&Audit…",
            shortcut="Shift+F7",
            when="has_document",
            tip="Check files and chunks too, as far as you choose: what is dead, cut short, shifted or "
            "missing",
            menu="&Tools",
            after="look_again",
        ),
        ActionSpec(
            "audit_set",
            "A&udit all files of the set",
            when="has_set",
            tip="Check which files of the selected set have references to what is gone, cut short or changed",
            menu="&Tools",
            after="show_audit",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.dock = AuditDock(workspace)
        self.dock.made.connect(self._connect_pane)
        self._chunk_map = workspace.chunk_map
        self._docks = workspace.docks
        self._findings = workspace.groups[FindingCommands]
        self._explain = workspace.groups[ExplainCommands]
        self._permissions = workspace.groups[PermissionCommands]
        self._navigation = workspace.navigation
        workspace.documents.added.connect(self._added)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.show_audit, self.audit_set)

    def _connect_pane(self, pane: AuditPane) -> None:
        """Do what the page asks for."""
        pane.placeWanted.connect(self._go)
        pane.mapWanted.connect(self._show_on_map)
        pane.explainWanted.connect(self._explain_finding)
        pane.fixWanted.connect(self._fix)
        pane.fixAllWanted.connect(lambda document, code: document.audit.fix_all(code))
        pane.reportWanted.connect(self._ask_report)
        pane.permissionsWanted.connect(self._permissions.review_trust)
        pane.expectationWanted.connect(self._show_expectation)

    def show_audit(self) -> None:
        """Bring the page to the front and put the keyboard in it."""
        self.dock.show()

    def audit_set(self) -> None:
        """Audit each file of the selected set: what is found is told beside its name as it comes."""
        files, workspace = self._workspace.hierarchy.chosen_set(), self._workspace
        if files is None:
            return

        def audit_all(control: TaskControl) -> int:
            faulty = 0
            for path in files.paths:
                control.check()
                words = _audited(path)
                faulty += words != _SOUND
                control.send((path, words))
            return faulty

        def received(found: tuple[str, str]) -> None:
            path, words = found
            files.marks[path] = words
            workspace.hierarchy.update_titles()

        def done(faulty: int) -> None:
            count = counted_spaced(len(files.paths), "file")
            found = f"{counted_spaced(faulty, 'file')} with findings" if faulty else "nothing found"
            workspace.say(f"Audited {count}: {found}")

        title = f"Audit {files.title}"
        workspace.tasks.run(f"audit set {files.number}", title, audit_all, done, received=received)

    def _show_expectation(self) -> None:
        self._workspace.groups[ExpectationCommands].show_expectation()

    def _added(self, document: OpenDocument) -> None:
        document.audit.fixed.connect(self._say_fixed)

    def _say_fixed(self, count: int) -> None:
        self._workspace.say(f"Repaired {counted_spaced(count, 'place')} in one step: Undo takes it back")

    def _go(self, document: OpenDocument, finding: Finding) -> None:
        from refbrowser.tools.audit.window.audit_pane import audited_finding

        self._findings.go_to(document, audited_finding(document, finding))
        self._place_cursor(document, finding)

    def _place_cursor(self, document: OpenDocument, finding: Finding) -> None:
        """Put the cursor of the chunk map on the chunk of a finding, once its array is mapped."""
        pane, key = self._chunk_map.pane, finding.place.key
        node = None if pane is None else pane.array()
        if pane is None or node is None or key is None or not key.startswith(node.key_prefix):
            return
        if not pane.shows(document, node.path) or not node.has_manifest:
            return
        grid = node.manifest.grid_shape
        coords = node.chunk_keys.decode(key[len(node.key_prefix) :], len(grid))
        if coords is not None and all(at < size for at, size in zip(coords, grid, strict=True)):
            pane.show_chunk(coords)

    def _show_on_map(self, document: OpenDocument, finding: Finding) -> None:
        """Bring the chunk map to the front, coloured by the audit, with the cursor on the chunk."""
        from refbrowser.views.chunks.chunk_colouring import ColourBy

        self._go(document, finding)
        self._docks.raise_("chunkMapDock")
        pane = self._chunk_map.pane
        if pane is not None:
            pane.colour_by(ColourBy.AUDIT)
            pane.view.setFocus()

    def _explain_finding(self, document: OpenDocument, finding: Finding) -> None:
        from refbrowser.tools.audit.window.audit_pane import audited_finding

        self._explain.explain_found(document, audited_finding(document, finding))

    def _fix(self, document: OpenDocument, finding: Finding) -> None:
        from refbrowser.tools.audit.window.audit_pane import audited_finding

        self._findings.fix(document, audited_finding(document, finding))

    # Reports

    def _ask_report(self, document: OpenDocument) -> None:
        """Ask where to write the report."""
        folder = str(Path(document.path).parent) if "://" not in document.path else ""
        dialog = QFileDialog(self._workspace.window(), "Save the report", folder, ";;".join(_FILTERS))
        dialog.setObjectName("saveReportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("html")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix(chosen.split("*.")[1].rstrip(")"))
        )
        dialog.selectFile(f"{document.name.split('.')[0] or 'dataset'}-audit.html")
        dialog.fileSelected.connect(lambda path: self.write_report(document, path))
        dialog.open()

    def write_report(self, document: OpenDocument, path: str) -> None:
        """Write what was found to a file, in the form that its name ends with."""
        result, cost, name = document.audit.result, document.audit.cost, document.path
        if result is None or cost is None:
            return

        def write(control: TaskControl) -> None:
            from refbrowser.io.files.atomic import write_atomically
            from refbrowser.tools.audit.report.audit_report import AuditReport
            from refbrowser.tools.audit.report.audit_reports import report_bytes

            report = report_bytes(path, AuditReport(name, result, cost))
            write_atomically(path, [report], cancel=control.token)

        def failed(error: BaseException) -> None:
            self._workspace.show_error("The report was not written", error)

        document.tasks.run(
            document.owner("save report"),
            f"Write {one_line(Path(path).name)}",
            write,
            lambda _none: self._workspace.say(f"Written: {one_line(path)}"),
            failed,
        )


def _audited(path: str) -> str:
    """Return what an audit of one file finds, in a few words; only its own folder is read."""
    from refbrowser.errors import RefbrowserError
    from refbrowser.tools.audit.public import audit

    try:
        result = audit(path, level="stat")
    except (OSError, RefbrowserError):
        return "not opened"
    if result.faults:
        return counted_spaced(result.faults, "fault")
    if result.warnings:
        return counted_spaced(result.warnings, "warning")
    return "not allowed" if result.blocked else _SOUND
