"""All commands of one window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from refbrowser.app.commands.auditing import AuditCommands
from refbrowser.app.commands.comparing import CompareCommands
from refbrowser.app.commands.copying import CopyCommands
from refbrowser.app.commands.explain import ExplainCommands
from refbrowser.app.commands.files import CdlCommands, FileCommands, PermissionCommands
from refbrowser.app.commands.plotting import DataCommands, ExploreCommands
from refbrowser.app.commands.problems import ProblemCommands
from refbrowser.app.commands.references import EditCommands, PrefixCommands, ReferenceCommands
from refbrowser.app.commands.saving import LockCommands, SaveCommands
from refbrowser.app.commands.serving import ServiceCommands
from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.commands.view import FindCommands, HelpCommands, PreferenceCommands, ViewCommands
from refbrowser.app.shell.format_places import FormatPlaces
from refbrowser.app.workspace.command_group import CommandGroup


@dataclass(frozen=True, kw_only=True)
class Commands:
    """The groups of commands of one window, and all of them as one table."""

    #: First: what formats tell does not take the place of what the others do.
    formats: FormatPlaces
    files: FileCommands
    saving: SaveCommands
    comparing: CompareCommands
    problems: ProblemCommands
    locks: LockCommands
    auditing: AuditCommands
    edit: EditCommands
    references: ReferenceCommands
    prefixes: PrefixCommands
    data: DataCommands
    permissions: PermissionCommands
    view: ViewCommands
    find: FindCommands
    preferences: PreferenceCommands
    values: ValueCommands
    copying: CopyCommands
    explain: ExplainCommands
    cdl: CdlCommands
    exploring: ExploreCommands
    help: HelpCommands
    services: ServiceCommands

    def groups(self) -> list[CommandGroup]:
        """Return all of them."""
        return [getattr(self, each.name) for each in fields(self)]

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action does, by its name."""
        return {name: command for group in self.groups() for name, command in group.table().items()}

    def conditions(self) -> dict[str, bool]:
        """Return when actions can be used, by the names that they give in `when`."""
        return {name: holds for group in self.groups() for name, holds in group.conditions().items()}
