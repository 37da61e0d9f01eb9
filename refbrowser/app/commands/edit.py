"""Changing a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.shell.docks import Docks
    from refbrowser.app.shell.editor_stack import EditorStack
    from refbrowser.app.shell.frame import Frame


class EditCommands(CommandGroup):
    """Undo and redo, and what is added."""

    def __init__(
        self,
        frame: Frame,
        *,
        docks: Docks,
        editors: EditorStack,
    ) -> None:
        super().__init__(frame)
        self._docks = docks
        self._editors = editors

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        added = (self.add_template, self.add_rule, self.add_reference, self.template_values)
        return by_name(self.undo, self.redo, *added)

    def conditions(self) -> dict[str, bool]:
        """Return which steps of the history there are."""
        document = self._current
        return {
            "can_undo": document is not None and document.can_undo,
            "can_redo": document is not None and document.can_redo,
        }

    def undo(self) -> None:
        """Take back the last edit."""
        if self._current is not None:
            self._current.undo()

    def redo(self) -> None:
        """Make the last undone edit again."""
        if self._current is not None:
            self._current.redo()

    def add_template(self) -> None:
        """Edit templates; the editor adds one."""
        if self._current is not None:
            self._editors.add_template(self._current)
            self._docks.raise_("editorDock")

    def add_rule(self) -> None:
        """Begin a gen rule after the last one."""
        document = self._current
        if document is not None and document.document is not None:
            self._editors.add_rule(document, len(document.document.rules) - 1)
            self._docks.raise_("editorDock")
            self._docks.raise_("previewDock")

    def add_reference(self) -> None:
        """Begin a reference."""
        if self._current is not None:
            self._editors.add_reference(self._current)
            self._docks.raise_("editorDock")

    def template_values(self) -> None:
        """Ask for values of templates."""
        document = self._current
        if document is not None:
            self._frame.questions.template_values(document, document.set_template_values)
