"""All menus in their order, and the toolbar."""

from __future__ import annotations

from refbrowser.app.actions.data import DATA
from refbrowser.app.actions.edit import EDIT
from refbrowser.app.actions.file import FILE
from refbrowser.app.actions.help import HELP
from refbrowser.app.actions.references import REFERENCES
from refbrowser.app.actions.tools import TOOLS
from refbrowser.app.actions.view import VIEW
from refbrowser.app.commands.group import ActionSpec

#: Titles of the menus, and their actions; None is a separator.
MENUS: dict[str, tuple[ActionSpec | None, ...]] = {
    "&File": FILE,
    "&Edit": EDIT,
    "&View": VIEW,
    "&Data": DATA,
    "&References": REFERENCES,
    "&Tools": TOOLS,
    "&Help": HELP,
}
#: Every action.
ACTIONS = tuple(spec for menu in MENUS.values() for spec in menu if spec is not None)
#: The actions of the toolbar in their order; None is a separator.
TOOLBAR = ("open_files", "open_url", None, "save", "revert", None, "undo", "redo", None, "export")
