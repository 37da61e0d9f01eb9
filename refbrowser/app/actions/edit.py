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
    ActionSpec(
        "copy_python",
        "As P&ython",
        shortcut="Ctrl+Shift+C",
        when="has_slice",
        tip="Copy lines of Python that open the document and read the slice on the screen with zarr",
        submenu="&Copy",
    ),
    ActionSpec(
        "copy_xarray",
        "As Python with &xarray",
        when="has_slice",
        tip="Copy lines of Python that open the document and read the slice on the screen with xarray",
        submenu="&Copy",
    ),
    ActionSpec(
        "copy_values",
        "V&alues of the view",
        when="has_slice",
        tip="Copy the values of the slice on the screen with their coordinates",
        submenu="&Copy",
    ),
    ActionSpec(
        "copy_picture",
        "Pic&ture of the view",
        when="has_slice",
        tip="Copy the view as a picture",
        submenu="&Copy",
    ),
    ActionSpec(
        "copy_path",
        "&Path",
        when="has_document",
        tip="Copy the document's path and the node, as the command line takes them",
        submenu="&Copy",
    ),
    ActionSpec(
        "copy_key",
        "&Key",
        when="is_open",
        tip="Copy the selected key, or that of the chunk under the plot's cursor",
        submenu="&Copy",
    ),
    ActionSpec(
        "copy_url",
        "&URL",
        when="is_open",
        tip="Copy the URL that the selected key, or the chunk under the plot's cursor, points to",
        submenu="&Copy",
    ),
    ActionSpec(
        "copy_value",
        "Single &value",
        when="is_open",
        tip="Copy the value under the plot's cursor, or the reference of the selected key",
        submenu="&Copy",
    ),
    None,
    ActionSpec("preferences", "Pre&ferences…", shortcut="Ctrl+,", icon="settings"),
)
