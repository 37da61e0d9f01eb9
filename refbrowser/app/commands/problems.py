"""The problems of all documents: shown, looked for, gone to, repaired; and the list of edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.centre import RAW, REFERENCES
from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.editors.typed import Typed
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.engine.problems.problem import Problem
    from refbrowser.errors import Place


def go_to_problem(window: MainWindow, document: OpenDocument, problem: Problem) -> None:
    """Show the place of a problem in the panes that it belongs to; the keyboard stays where it is."""
    window.documents.set_current(document)
    place, (kind, name) = problem.place, problem.spot
    if kind == ItemKind.RULE:
        _select(window, document, kind, name)
        window.docks.raise_("editorDock")
        window.editors.show_rule_place(place.field, place.row)
    elif kind == ItemKind.TEMPLATE:
        _select(window, document, kind, name)
        window.docks.raise_("editorDock")
    elif place.key is not None and document.is_open:
        window.centre.tabs.setCurrentIndex(REFERENCES)
        window.centre.references.go_to_key(place.key, focus=False)
    elif kind in (ItemKind.ARRAY, ItemKind.GROUP):
        window.hierarchy.select_node(document, str(name))
    else:
        _select(window, document, ItemKind.DOCUMENT, "")
        if problem.line is not None and place.column is not None and document.is_open:
            window.centre.tabs.setCurrentIndex(RAW)
            window.centre.raw.set_place(document, problem.line, place.column)


def go_to_typed(window: MainWindow, document: OpenDocument, typed: Typed, place: Place) -> None:
    """Bring what is typed to the front, with the keyboard in its field, where it is wrong."""
    from refbrowser.app.editors.typed import DraftKind

    window.documents.set_current(document)
    kind, at = typed.kind, typed.at
    if kind is DraftKind.KEY:
        window.centre.show_tab(REFERENCES)
        window.centre.references.show_typed_key(at)
    elif kind is DraftKind.ATTRIBUTE:
        window.hierarchy.select_node(document, at[0])
        window.docks.raise_("attributesDock")
        window.attributes.go_on_typing(typed, place)
    elif kind is DraftKind.METADATA:
        node = _node_of_metadata(document, at)
        if node is not None:
            window.hierarchy.select_node(document, node)
        window.docks.raise_("attributesDock")
        window.attributes.go_on_typing(typed, place)
    else:
        if kind is DraftKind.RULE:
            _select(window, document, ItemKind.RULE, at)
        elif kind is DraftKind.TEMPLATE:
            _select(window, document, ItemKind.TEMPLATE, at)
        window.docks.raise_("editorDock")
        window.editors.show_typed(document, typed, place)


def _node_of_metadata(document: OpenDocument, key: str) -> str | None:
    """Return the path of the group or array that a metadata document belongs to."""
    hierarchy = document.hierarchy
    found = () if hierarchy is None else hierarchy.walk()
    folder = f"/{key.rpartition('/')[0]}"
    exact = next((node.path for node in found if key in node.metadata_keys), None)
    return folder if exact is None and hierarchy is not None and hierarchy.find(folder) is not None else exact


def _select(window: MainWindow, document: OpenDocument, kind: str, name: str | int) -> None:
    window.hierarchy.select_index(window.hierarchy.model.find_identity((document.number, kind, name)))


class ProblemCommands(CommandGroup):
    """What the panes Problems and History are asked for from the menus."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        shown = (self.show_problems, self.show_history)
        return by_name(*shown, self.look_again, self.next_problem, self.previous_problem)

    def conditions(self) -> dict[str, bool]:
        """Return whether there are problems."""
        return {"has_problems": self._window.problems.model.rowCount() > 0}

    def show_problems(self) -> None:
        """Bring the list of problems to the front and put the keyboard in it."""
        self._window.docks.raise_("problemsDock")
        self._window.problems.setFocus()

    def show_history(self) -> None:
        """Bring the list of edits to the front and put the keyboard in it."""
        self._window.docks.raise_("historyDock")
        self._window.history.setFocus()

    def look_again(self) -> None:
        """Look for the problems of all documents again."""
        self._window.docks.raise_("problemsDock")
        self._window.problems.look_again()

    def next_problem(self) -> None:
        """Go to the next problem."""
        self._window.problems.step(1)

    def previous_problem(self) -> None:
        """Go to the problem before."""
        self._window.problems.step(-1)

    def go_to(self, document: OpenDocument, problem: Problem) -> None:
        """Show the place of a problem."""
        go_to_problem(self._window, document, problem)

    def fix(self, document: OpenDocument, problem: Problem) -> None:
        """Repair a problem: make its edit, or begin the dialog that it needs."""
        from refbrowser.engine.problems.problem import Remedy

        fix = problem.fix
        if fix is None:
            return
        self._window.documents.set_current(document)
        if fix.remedy is Remedy.PERMISSIONS:
            self._window.commands.permissions.review_trust()
        elif fix.remedy is Remedy.PREFIX:
            self._window.commands.prefixes.begin(document, fix.text)
        elif document.problems.fix(problem):
            self._window.status.say(f"{fix.title}: Undo takes it back")
