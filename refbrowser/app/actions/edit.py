"""The actions of the menu Edit."""

from __future__ import annotations

from refbrowser.app.actions.spec import ActionSpec

#: In the order of the menu; None is a separator.
EDIT: tuple[ActionSpec | None, ...] = (
    ActionSpec(
        "undo",
        "&Undo",
        shortcut="Ctrl+Z",
        when="can_undo",
        icon="undo",
        toolbar="Undo",
        tip="Take back the last edit",
    ),
    ActionSpec(
        "redo",
        "&Redo",
        shortcut="Ctrl+Shift+Z",
        when="can_redo",
        icon="redo",
        toolbar="Redo",
        tip="Make the edit again",
    ),
    None,
    ActionSpec("copy_path", "&Copy path", when="has_document", tip="Copy the document's path and the node"),
    None,
    ActionSpec("preferences", "Pre&ferences…", shortcut="Ctrl+,", icon="settings"),
)
