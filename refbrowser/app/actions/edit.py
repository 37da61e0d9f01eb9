"""The actions of the menu Edit."""

from __future__ import annotations

from refbrowser.app.commands.group import ActionSpec

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
    ActionSpec(
        "copy_python",
        "Copy as P&ython",
        shortcut="Ctrl+Shift+C",
        when="has_slice",
        tip="Copy lines of Python that open the document and read the slice on the screen with zarr",
    ),
    ActionSpec(
        "copy_xarray",
        "Copy as Python with &xarray",
        when="has_slice",
        tip="Copy lines of Python that open the document and read the slice on the screen with xarray",
    ),
    ActionSpec(
        "copy_values",
        "Copy v&alues of the view",
        when="has_slice",
        tip="Copy the values of the slice on the screen with their coordinates",
    ),
    ActionSpec(
        "copy_picture",
        "Copy pic&ture of the view",
        when="has_slice",
        tip="Copy the view as a picture",
    ),
    ActionSpec(
        "copy_path",
        "Copy &path",
        when="has_document",
        tip="Copy the document's path and the node, as the command line takes them",
    ),
    ActionSpec(
        "copy_key",
        "Copy &key",
        when="is_open",
        tip="Copy the selected key, or that of the chunk under the plot's cursor",
    ),
    ActionSpec(
        "copy_url",
        "Copy UR&L",
        when="is_open",
        tip="Copy the URL that the selected key, or the chunk under the plot's cursor, points to",
    ),
    ActionSpec(
        "copy_value",
        "Copy &value",
        when="is_open",
        tip="Copy the value under the plot's cursor, the selected cells, or what the selected key refers to",
    ),
    None,
    ActionSpec(
        "rename_reference",
        "Re&name key",
        shortcut="F2",
        when="is_open",
        tip="Give the key that is selected in References another name",
    ),
    ActionSpec(
        "duplicate_references",
        "&Duplicate keys",
        shortcut="Ctrl+D",
        when="is_open",
        tip="Add copies of the keys that are selected in References",
    ),
    ActionSpec(
        "delete_references",
        "D&elete keys",
        shortcut="Del",
        when="is_open",
        tip="Delete the keys that are selected in References, as one step",
    ),
    ActionSpec(
        "replace_prefix",
        "Replace URL prefi&x…",
        shortcut="Ctrl+H",
        when="is_open",
        tip="Replace the prefix of URLs: of all keys, or of what is selected",
    ),
    ActionSpec(
        "changed_only",
        "Chan&ged keys only",
        when="is_open",
        check="shows_changed_only",
        tip="Show in References only the keys that differ from the saved state",
    ),
    None,
    ActionSpec("preferences", "Pre&ferences…", shortcut="Ctrl+,", icon="settings"),
)
