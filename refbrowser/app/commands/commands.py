"""All commands of one window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.commands.awkward import AwkwardCommands
from refbrowser.app.commands.copying import CopyCommands
from refbrowser.app.commands.edit import EditCommands
from refbrowser.app.commands.explain import ExplainCommands
from refbrowser.app.commands.files import CdlCommands, FileCommands, PermissionCommands
from refbrowser.app.commands.group import CommandGroup
from refbrowser.app.commands.messages import MessageCommands
from refbrowser.app.commands.plotting import DataCommands, ExploreCommands
from refbrowser.app.commands.problems import ProblemCommands
from refbrowser.app.commands.references import PrefixCommands, ReferenceCommands
from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.commands.streams import StreamCommands
from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.commands.view import FindCommands, HelpCommands, PreferenceCommands, ViewCommands

if TYPE_CHECKING:
    from refbrowser.app.shell.main_window import MainWindow


class Commands(QObject):
    """The groups of commands, and all of them as one table."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.files = FileCommands(window)
        self.saving = SaveCommands(window)
        self.problems = ProblemCommands(window)
        self.edit = EditCommands(window)
        self.references = ReferenceCommands(window)
        self.prefixes = PrefixCommands(window)
        self.data = DataCommands(window)
        self.permissions = PermissionCommands(window)
        self.view = ViewCommands(window)
        self.find = FindCommands(window)
        self.preferences = PreferenceCommands(window)
        self.values = ValueCommands(window)
        self.messages = MessageCommands(window)
        self.copying = CopyCommands(window)
        self.explain = ExplainCommands(window)
        self.cdl = CdlCommands(window)
        self.exploring = ExploreCommands(window)
        self.help = HelpCommands(window)
        self.streams = StreamCommands(window)
        self.awkward = AwkwardCommands(window)
        self._groups: tuple[CommandGroup, ...] = (
            self.files,
            self.saving,
            self.problems,
            self.edit,
            self.references,
            self.prefixes,
            self.data,
            self.permissions,
            self.view,
            self.find,
            self.preferences,
            self.values,
            self.messages,
            self.copying,
            self.explain,
            self.cdl,
            self.exploring,
            self.help,
            self.streams,
            self.awkward,
        )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action does, by its name."""
        return {name: command for group in self._groups for name, command in group.table().items()}

    def conditions(self) -> dict[str, bool]:
        """Return when actions can be used, by the names that they give in `when`."""
        return {name: holds for group in self._groups for name, holds in group.conditions().items()}
