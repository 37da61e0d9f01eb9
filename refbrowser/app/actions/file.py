"""The actions of the menu File."""

from __future__ import annotations

from refbrowser.app.commands.group import ActionSpec
from refbrowser.views.words import FLAVOURS

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
        "open_remote",
        "Open CDM Re&mote…",
        tip="Open a dataset that a server offers as CDM Remote; only what is shown is asked for",
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
            f"open_as_{name.replace('-', '_')}",
            title,
            submenu="Open store &as",
            when="can_open_as",
            check=f"is_as_{name.replace('-', '_')}",
            tip=f"Read the store by the rules of {title.replace('&', '')}",
        )
        for name, title in FLAVOURS
    ),
    ActionSpec("clear_recent", "&Clear the list", submenu="Open &recent", when="has_recent"),
    ActionSpec("open_sample", "Sea surface (the sample)", submenu="E&xamples"),
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
        tip="Write the references to another file, in the form that you choose, and go on with that",
    ),
    ActionSpec(
        "save_copy", "Save a cop&y…", when="can_save_as", tip="Write a copy; the document stays what it is"
    ),
    ActionSpec(
        "revert",
        "&Revert",
        when="is_dirty",
        icon="revert",
        toolbar="Revert",
        tip="Go back to the state that was last saved",
    ),
    ActionSpec(
        "reload",
        "Re&load",
        shortcut="F5",
        when="has_document",
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
        "Export &view…",
        shortcut="Ctrl+Shift+E",
        when="has_slice",
        tip="Write what is on the screen as PNG, SVG, CSV or .npy",
    ),
    ActionSpec(
        "save_cdl",
        "Save as C&DL…",
        when="has_hierarchy",
        tip="Write dimensions, types, variables and attributes as ncdump -h does, for ncgen",
    ),
    None,
    ActionSpec("close_document", "&Close document", shortcut="Ctrl+W", when="has_document"),
    ActionSpec("quit", "&Quit", shortcut="Ctrl+Q"),
)
