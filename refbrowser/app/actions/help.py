"""The actions of the menu Help."""

from __future__ import annotations

from refbrowser.app.commands.group import ActionSpec

#: In the order of the menu; None is a separator.
HELP: tuple[ActionSpec | None, ...] = (
    ActionSpec("manual", "&Manual", shortcut="Shift+F1"),
    ActionSpec("shortcuts", "&Keyboard shortcuts", shortcut="F1"),
    None,
    ActionSpec("about", "&About refbrowser", tip="Versions, for a report of a fault"),
)
