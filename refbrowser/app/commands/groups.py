"""Which groups of commands a window has, in the order in which they are made."""

from __future__ import annotations

from refbrowser.app.commands.arranging import ArrangingCommands
from refbrowser.app.commands.colours import ColourCommands
from refbrowser.app.commands.copying import CopyCommands
from refbrowser.app.commands.files import CdlCommands, FileCommands, PermissionCommands
from refbrowser.app.commands.findings import FindingCommands
from refbrowser.app.commands.links import LinkCommands
from refbrowser.app.commands.nodes import NodeCommands
from refbrowser.app.commands.plotting import DataCommands, ExploreCommands, MarkCommands
from refbrowser.app.commands.references import (
    EditCommands,
    PackingCommands,
    PrefixCommands,
    ReferenceCommands,
)
from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.commands.sessions import SessionCommands
from refbrowser.app.commands.source import SearchCommands, SourceCommands
from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.commands.view import FindCommands, HelpCommands, PreferenceCommands, ViewCommands
from refbrowser.app.workspace.command_group import CommandGroup

#: A group asks for those that it needs, too.
GROUPS: tuple[type[CommandGroup], ...] = (
    PermissionCommands,
    PreferenceCommands,
    CopyCommands,
    LinkCommands,
    PrefixCommands,
    SourceCommands,
    SearchCommands,
    FindingCommands,
    FileCommands,
    SaveCommands,
    SessionCommands,
    EditCommands,
    ReferenceCommands,
    PackingCommands,
    NodeCommands,
    DataCommands,
    ColourCommands,
    MarkCommands,
    ViewCommands,
    ArrangingCommands,
    FindCommands,
    ValueCommands,
    CdlCommands,
    ExploreCommands,
    HelpCommands,
)
