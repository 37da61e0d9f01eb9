"""Folds the current document."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name


class FoldCommands(CommandGroup):
    """Shows the sheet that folds."""

    actions = (
        ActionSpec(
            "fold_references",
            "Fo&ld into rules…",
            when="can_fold",
            tip="Replace references by templates and gen rules where that is shorter",
            menu="&References",
            after="override_key",
            apart=True,
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.fold_references)

    def conditions(self) -> dict[str, bool]:
        """Return whether the document can be folded."""
        state = None if self._current is None else self._current.document
        # Of a store or a file nobody wrote the references, and the parquet form has no rules.
        return {"can_fold": state is not None and not state.is_made}

    def fold_references(self) -> None:
        """Show what folding the document comes to."""
        from refbrowser.tools.fold.window.fold_sheet import FoldSheet

        if self._current is not None:
            FoldSheet(self._current, self._workspace.window()).open()
