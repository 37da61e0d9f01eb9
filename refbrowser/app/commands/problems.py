"""The problems of all documents: shown, looked for, gone through, repaired; and the list of edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.controller.open_document import OpenDocument

if TYPE_CHECKING:
    from refbrowser.engine.problems.problem import Problem


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
        from refbrowser.app.panes.problems.going import go_to_problem

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
