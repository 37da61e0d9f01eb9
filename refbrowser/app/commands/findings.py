"""The findings of all documents: shown, looked for, gone to, repaired; and the list of edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.commands.references import PrefixCommands
from refbrowser.app.commands.source import SourceCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import REFERENCES, SOURCE
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.engine.findings.listed_finding import ListedFinding
    from refbrowser.errors import Place
    from refbrowser.views.editing.typed_input import Typed


class FindingCommands(CommandGroup):
    """What the panes Problems and History are asked for from the menus."""

    follows = Changed.FINDINGS

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._docks = workspace.docks
        self._hierarchy = workspace.hierarchy
        self._attributes = workspace.attributes
        self._editors = workspace.editors
        self._findings = workspace.findings
        self._history = workspace.history
        self._permissions = workspace.groups[PermissionCommands]
        self._prefixes = workspace.groups[PrefixCommands]
        self._source = workspace.groups[SourceCommands]

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        shown = (self.show_problems, self.show_history)
        return by_name(*shown, self.look_again, self.next_problem, self.previous_problem)

    def conditions(self) -> dict[str, bool]:
        """Return whether there are findings."""
        return {"has_problems": self._findings.model.rowCount() > 0}

    def show_problems(self) -> None:
        """Bring the list of findings to the front and put the keyboard in it."""
        self._docks.raise_("problemsDock")
        self._findings.setFocus()

    def show_history(self) -> None:
        """Bring the list of edits to the front and put the keyboard in it."""
        self._docks.raise_("historyDock")
        self._history.setFocus()

    def look_again(self) -> None:
        """Look for the findings of all documents again."""
        self._docks.raise_("problemsDock")
        self._findings.look_again()

    def next_problem(self) -> None:
        """Go to the next finding."""
        self._findings.step(1)

    def previous_problem(self) -> None:
        """Go to the finding before."""
        self._findings.step(-1)

    def go_to(self, document: OpenDocument, finding: ListedFinding) -> None:
        """Show the place of a finding in the panes that it belongs to; the keyboard stays where it is."""
        self._workspace.documents.set_current(document)
        place, (kind, name) = finding.place, finding.spot
        source = self._source
        if source.is_in_front and source.can_show(document) and (place.key or place.pointer):
            source.show_place(place)
        elif kind == ItemKind.RULE:
            self._select(document, kind, name)
            self._docks.raise_("editorDock")
            self._editors.show_rule_place(place.field, place.row)
        elif kind == ItemKind.TEMPLATE:
            self._select(document, kind, name)
            self._docks.raise_("editorDock")
        elif place.key is not None and document.is_open:
            self._centre.tabs.setCurrentIndex(REFERENCES)
            self._centre.references.go_to_key(place.key, focus=False)
        elif kind in (ItemKind.ARRAY, ItemKind.GROUP):
            self._hierarchy.select_node(document, str(name))
        else:
            self._select(document, ItemKind.DOCUMENT, "")
            if source.can_show(document) and place.pointer is not None:
                source.show_place(place)

    def go_to_typed(self, document: OpenDocument, typed: Typed, place: Place) -> None:
        """Bring what is typed to the front, with the keyboard in its field, where it is wrong."""
        from refbrowser.views.editing.typed_input import DraftKind

        self._workspace.documents.set_current(document)
        kind, at = typed.kind, typed.at
        if kind is DraftKind.KEY:
            self._centre.show_tab(REFERENCES)
            self._centre.references.show_typed_key(at)
        elif kind is DraftKind.TEXT:
            # It goes on with what is typed.
            self._centre.show_tab(SOURCE)
        elif kind is DraftKind.ATTRIBUTE:
            self._hierarchy.select_node(document, at[0])
            self._docks.raise_("attributesDock")
            self._attributes.go_on_typing(typed, place)
        elif kind is DraftKind.METADATA:
            node = _node_of_metadata(document, at)
            if node is not None:
                self._hierarchy.select_node(document, node)
            self._docks.raise_("attributesDock")
            self._attributes.go_on_typing(typed, place)
        else:
            if kind is DraftKind.RULE:
                self._select(document, ItemKind.RULE, at)
            elif kind is DraftKind.TEMPLATE:
                self._select(document, ItemKind.TEMPLATE, at)
            self._docks.raise_("editorDock")
            self._editors.show_typed(document, typed, place)

    def _select(self, document: OpenDocument, kind: str, name: str | int) -> None:
        self._hierarchy.select_index(self._hierarchy.model.find_identity((document.number, kind, name)))

    def fix(self, document: OpenDocument, finding: ListedFinding) -> None:
        """Repair a finding: make its edit, or begin the dialog that it needs."""
        from refbrowser.findings.finding import Remedy

        fix = finding.fix
        if fix is None:
            return
        self._workspace.documents.set_current(document)
        if fix.remedy is Remedy.PERMISSIONS:
            self._permissions.review_trust()
        elif fix.remedy is Remedy.ACCEPT:
            self._workspace.accept_stale(document, fix.text)
        elif fix.remedy is Remedy.MEND:
            what = f"{document.title} cannot be mended by itself"
            document.open_mended(lambda error: self._workspace.show_error(what, error))
        elif fix.remedy is Remedy.PREFIX:
            self._prefixes.lead_elsewhere(document, fix.text)
        elif document.findings.fix(finding):
            self._workspace.say(f"{fix.title}: Undo takes it back")


def _node_of_metadata(document: OpenDocument, key: str) -> str | None:
    """Return the path of the group or array that a metadata document belongs to."""
    hierarchy = document.hierarchy
    found = () if hierarchy is None else hierarchy.walk()
    folder = f"/{key.rpartition('/')[0]}"
    exact = next((node.path for node in found if key in node.metadata_keys), None)
    return folder if exact is None and hierarchy is not None and hierarchy.find(folder) is not None else exact
