"""The actions of the menu File, declared once, in its order."""

from __future__ import annotations

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.formats.store_rules import flavours

#: In the order of the menu; None is a separator.
FILE: tuple[ActionSpec | None, ...] = (
    ActionSpec("open_files", "&Open…", shortcut="Ctrl+O", icon="open", toolbar="Open", tip="Open documents"),
    ActionSpec(
        "open_url",
        "Open &URL…",
        shortcut="Ctrl+Shift+O",
        icon="url",
        toolbar="URL",
        tip="Open a document by URL",
    ),
    ActionSpec(
        "open_store",
        "Open s&tore…",
        tip="Open a folder that is a Zarr or NCZarr store, or holds the blobs of Awkward 0 arrays",
    ),
    ActionSpec(
        "open_as_found",
        "As &found",
        submenu="Open store &as",
        when="can_open_as",
        check="is_as_found",
        tip="Read the store by the rules that its metadata shows",
    ),
    *(
        ActionSpec(
            f"open_as_{flavour.replace('-', '_')}",
            flavour.menu_name,
            submenu="Open store &as",
            when="can_open_as",
            check=f"is_as_{flavour.replace('-', '_')}",
            tip=f"Read the store by the rules of {flavour.label}",
        )
        for flavour in flavours()
    ),
    ActionSpec(
        "pin_document",
        "&Keep this document at the top",
        submenu="Open &recent",
        when="can_pin",
        check="is_pinned",
        tip="Keep the current document at the top of the list",
    ),
    ActionSpec("clear_recent", "&Clear the list", submenu="Open &recent", when="has_recent"),
    ActionSpec("open_sample", "Sea surface (the sample)", submenu="E&xamples"),
    ActionSpec(
        "open_session",
        "&Open session…",
        submenu="Sess&ion",
        tip="Open what a saved session holds: documents, views and how they are arranged",
    ),
    ActionSpec(
        "save_session",
        "&Save session…",
        submenu="Sess&ion",
        when="has_session",
        tip="Write the open documents, their views and the layout to a file that others can open",
    ),
    ActionSpec(
        "open_set",
        "Open all &files of the set",
        submenu="Set o&f files",
        when="has_set",
        tip="Open the files of the selected set that are not open yet",
    ),
    ActionSpec(
        "close_set",
        "&Close the set",
        submenu="Set o&f files",
        when="has_set",
        tip="Close the selected set with those of its files that are open; unsaved edits are asked about",
    ),
    None,
    ActionSpec(
        "save",
        "&Save",
        shortcut="Ctrl+S",
        when="can_save",
        icon="save",
        toolbar="Save",
        tip="Write the unsaved edits to the document",
    ),
    ActionSpec(
        "save_as",
        "Save &as…",
        shortcut="Ctrl+Shift+S",
        when="can_save_as",
        tip="Write the references to another file, in the form that you choose, and continue with that file",
    ),
    ActionSpec(
        "save_copy", "Save a cop&y…", when="can_save_as", tip="Write a copy; this document stays open"
    ),
    ActionSpec(
        "revert",
        "&Revert",
        when="can_revert",
        icon="revert",
        toolbar="Revert",
        tip="Go back to the state that was last saved",
    ),
    ActionSpec(
        "reload",
        "Re&load",
        shortcut="F5",
        when="can_reload",
        tip="Read the document again; unsaved edits are asked about",
    ),
    ActionSpec(
        "compare",
        "Compare &with the file…",
        when="can_compare",
        tip="Show what differs between the document and its file",
    ),
    None,
    ActionSpec(
        "export",
        "&Export…",
        shortcut="Ctrl+E",
        when="has_hierarchy",
        icon="export",
        toolbar="Export",
        tip="Write the data in another format",
    ),
    ActionSpec(
        "export_view",
        "Export &values…",
        shortcut="Ctrl+Alt+E",
        when="has_slice",
        tip="Write the values on the screen as CSV, .npy or .npz, or the screen as it is as PNG, SVG or PDF",
        submenu="Export &view",
    ),
    ActionSpec(
        "save_cdl",
        "Save as C&DL…",
        when="has_hierarchy",
        tip="Write dimensions, types, variables and attributes as ncdump -h does, for ncgen",
        submenu="Export &view",
    ),
    None,
    ActionSpec("close_document", "&Close document", shortcut="Ctrl+W", when="has_document"),
    ActionSpec(
        "close_others",
        "Close other &documents",
        when="has_others",
        tip="Close all documents but this one; unsaved edits are asked about",
    ),
    ActionSpec(
        "close_all",
        "Close all documen&ts",
        shortcut="Ctrl+Shift+W",
        when="has_document",
        tip="Close all documents; unsaved edits are asked about",
    ),
    ActionSpec("quit", "&Quit", shortcut="Ctrl+Q"),
)
