"""Every action of the window, declared once, in the order of the menus; and the toolbar."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import OF_FORMATS, ActionSpec
from refbrowser.app.actions.data_menu import DATA
from refbrowser.app.actions.file_menu import FILE
from refbrowser.loading import load

if TYPE_CHECKING:
    from refbrowser.formats.format import Format

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
        tip="Redo the edit that was undone",
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
        "copy_link",
        "Copy lin&k",
        shortcut="Ctrl+Shift+L",
        when="has_document",
        tip="Copy a link to what is shown: document, node, and the slice in sight; Paste opens it again",
    ),
    ActionSpec(
        "show_in_folder",
        "Sho&w in folder",
        when="is_in_folder",
        tip="Open the folder of the document in the desktop's file manager",
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
    ActionSpec(
        "paste",
        "&Paste and open",
        shortcut="Ctrl+V",
        tip="Open the link, path, URL or files that the clipboard holds",
    ),
    None,
    ActionSpec(
        "rename_reference",
        "Re&name key",
        shortcut="F2",
        when="is_open",
        tip="Rename the key that is selected in References",
    ),
    ActionSpec(
        "duplicate_references",
        "&Duplicate keys",
        shortcut="Ctrl+D",
        when="is_open",
        tip="Add copies of the keys that are selected in References",
    ),
    ActionSpec(
        "change_references",
        "Change to&gether…",
        shortcut="Shift+F2",
        when="is_open",
        tip="Change URL, offset and length of the references that are selected in References, as one step",
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
        tip="Replace the prefix of URLs, of all keys or of the selected ones",
    ),
    ActionSpec(
        "pack_otherwise",
        "Packing as co&decs…",
        when="is_open",
        tip="Make scale_factor and add_offset of the selected array codecs of Zarr v3, or codecs attributes",
    ),
    ActionSpec(
        "changed_only",
        "Chan&ged keys only",
        when="is_open",
        check="shows_changed_only",
        tip="Show in References only the keys that differ from the saved state",
    ),
    ActionSpec(
        "search_texts",
        "Searc&h in all texts…",
        shortcut="Ctrl+Shift+F",
        tip="Find words in keys, URLs, attributes, values, names, templates and gen rules",
    ),
    None,
    ActionSpec("preferences", "Pre&ferences…", shortcut="Ctrl+,", icon="settings"),
)


#: In the order of the menu; None is a separator.
VIEW: tuple[ActionSpec | None, ...] = (
    ActionSpec("find_node", "&Find in the hierarchy", shortcut="Ctrl+F"),
    None,
    ActionSpec("show_plot", "&Plot", shortcut="Ctrl+1"),
    ActionSpec("show_table", "&Table", shortcut="Ctrl+2"),
    ActionSpec("show_references", "&References", shortcut="Ctrl+3"),
    ActionSpec("show_raw", "Ra&w value", shortcut="Ctrl+4"),
    ActionSpec("show_cdl", "CD&L", shortcut="Ctrl+5"),
    ActionSpec("show_source", "&Source", shortcut="Ctrl+9", tip="Show the text of the document"),
    ActionSpec(
        "show_in_source",
        "Show &in source",
        shortcut="Ctrl+Shift+I",
        when="is_open",
        tip="Show the selected key, or what is selected in the hierarchy, in the text of the document",
    ),
    OF_FORMATS,
    None,
    ActionSpec(
        "plot_alone",
        "Plot al&one",
        shortcut="F11",
        check="is_plot_alone",
        tip="Show only the plot; F11 or Esc brings the rest back",
    ),
    ActionSpec(
        "fold_bottom",
        "Fol&d the lower panes",
        shortcut="Ctrl+J",
        check="is_bottom_folded",
        tip="Show only the tabs of the panes below the plot; a click on one of them unfolds it",
    ),
    None,
    ActionSpec(
        "toggle_internal",
        "Format &attributes",
        check="is_internal",
        tip="Show attributes that formats use internally (_nczarr_array, _ARRAY_DIMENSIONS) too",
    ),
    None,
    ActionSpec("next_pane", "&Next pane", shortcut="F6", tip="Move the keyboard focus to the next pane"),
    ActionSpec(
        "previous_pane",
        "Pre&vious pane",
        shortcut="Shift+F6",
        tip="Move the keyboard focus to the previous pane",
    ),
    None,
    ActionSpec("theme_system", "As the des&ktop", submenu="The&me", check="is_system_theme"),
    ActionSpec("theme_light", "&Light", submenu="The&me", check="is_light_theme"),
    ActionSpec("theme_dark", "&Dark", submenu="The&me", check="is_dark_theme"),
    ActionSpec(
        "theme_contrast_light",
        "High contrast, l&ight",
        submenu="The&me",
        check="is_contrast_light_theme",
    ),
    ActionSpec(
        "theme_contrast_dark",
        "High contrast, d&ark",
        submenu="The&me",
        check="is_contrast_dark_theme",
    ),
    None,
    ActionSpec(
        "reset_layout",
        "Reset la&yout",
        shortcut="Ctrl+0",
        tip="Reset docks and columns to their first places",
    ),
)


#: In the order of the menu; None is a separator.
REFERENCES: tuple[ActionSpec | None, ...] = (
    ActionSpec("add_template", "Add a &template", when="takes_rules"),
    ActionSpec("add_rule", "Add a &gen rule", when="takes_rules"),
    ActionSpec("add_reference", "Add a re&ference", when="is_open"),
    None,
    ActionSpec(
        "rename_node",
        "Rena&me in the hierarchy…",
        shortcut="F2",
        when="can_change_nodes",
        tip="Rename the array, group or dimension that is selected in the tree, with all its references",
    ),
    ActionSpec(
        "delete_node",
        "&Delete from the hierarchy",
        shortcut="Del",
        when="can_change_nodes",
        tip="Delete the array or group that is selected in the tree, with all its references",
    ),
    None,
    ActionSpec(
        "go_to_rule",
        "Go to the &rule of the key",
        when="takes_rules",
        tip="Show the gen rule that gives the selected key in its editor",
    ),
    ActionSpec(
        "override_key",
        "&Override the key",
        when="takes_rules",
        tip="Override the selected key of a gen rule with a later rule of one row",
    ),
    None,
    ActionSpec("template_values", "Template &values…", when="takes_rules"),
    ActionSpec("review_trust", "&Permissions…", when="is_open", icon="lock"),
    None,
    ActionSpec("go_to_key", "Go to &key", shortcut="Ctrl+P", when="is_open"),
)


#: In the order of the menu; None is a separator.
TOOLS: tuple[ActionSpec | None, ...] = (
    ActionSpec(
        "command_palette",
        "Command &palette…",
        shortcut="Ctrl+Shift+P",
        tip="Find an action by a few letters",
    ),
    None,
    ActionSpec("cancel_newest", "Cancel the &newest job", shortcut="Esc", when="is_busy"),
    ActionSpec("show_jobs", "Show &jobs"),
    None,
    ActionSpec("show_problems", "Show &problems"),
    ActionSpec(
        "look_again",
        "Chec&k for problems",
        shortcut="F7",
        when="has_document",
        tip="Look for faults and warnings of all documents; nothing is read for it",
    ),
    ActionSpec("next_problem", "Ne&xt problem", shortcut="F8", when="has_problems"),
    ActionSpec("previous_problem", "Pre&vious problem", shortcut="Shift+F8", when="has_problems"),
    None,
    ActionSpec("show_history", "Show &history"),
    None,
    OF_FORMATS,
)


#: In the order of the menu; None is a separator.
WINDOW: tuple[ActionSpec | None, ...] = (
    ActionSpec(
        "new_view",
        "&New view in a tab",
        shortcut="Ctrl+T",
        when="can_add_view",
        tip="Show the same array in another tab; then select another array for it",
    ),
    ActionSpec(
        "split_right",
        "Split &right",
        shortcut="Ctrl+\\",
        when="can_add_view",
        tip="Show the same array in a second view beside this one; then select another array for it",
    ),
    ActionSpec(
        "split_down",
        "Split &down",
        shortcut="Ctrl+Shift+\\",
        when="can_add_view",
        tip="Show the same array in a second view below this one; then select another array for it",
    ),
    ActionSpec(
        "open_in_view",
        "Open in a ne&w view",
        shortcut="Shift+Return",
        when="can_add_view",
        tip="Show the array that is selected in the hierarchy in another tab (or click it with the middle "
        "button)",
    ),
    ActionSpec(
        "open_beside",
        "Open &beside",
        shortcut="Ctrl+Return",
        when="can_add_view",
        tip="Show the array that is selected in the hierarchy beside the active view",
    ),
    ActionSpec(
        "three_slices",
        "T&hree orthogonal slices",
        shortcut="Ctrl+Shift+K",
        when="can_cross",
        check="are_slices_crossing",
        tip="Show the slices across this one too, with crossing lines that move them",
    ),
    None,
    ActionSpec("next_view", "Ne&xt view", shortcut="Ctrl+PgDown", when="has_views"),
    ActionSpec("previous_view", "&Previous view", shortcut="Ctrl+PgUp", when="has_views"),
    ActionSpec(
        "move_view_on",
        "&Move the view on",
        shortcut="Ctrl+Shift+PgDown",
        when="has_views",
        tip="Move the active view to the next place, or beside its own",
    ),
    ActionSpec(
        "move_view_back",
        "Move the view bac&k",
        shortcut="Ctrl+Shift+PgUp",
        when="has_views",
        tip="Move the active view to the place before, or beside its own",
    ),
    ActionSpec(
        "view_apart",
        "View in a window of its &own",
        shortcut="Ctrl+F11",
        when="has_views",
        check="is_view_apart",
        tip="Take the active view out of this window, or put it back",
    ),
    None,
    ActionSpec(
        "link_views",
        "&Link the views",
        shortcut="Ctrl+L",
        when="has_views",
        check="are_views_linked",
        tip="Let all views follow each other: by coordinate, or by index where there is none",
    ),
    *(
        ActionSpec(
            f"link_{name}",
            title,
            submenu="Wha&t is linked",
            when="has_views",
            check=f"is_link_{name}",
            tip=tip,
        )
        for name, title, tip in (
            ("selection", "&Slices", "Move the sliders of the same dimensions together"),
            ("levels", "&Levels", "Give quantities of the same kind and units the levels of the active view"),
            ("zoom", "&Zoom", "Show the same part, of maps in the same projection"),
            ("cursor", "&Cursor", "Show the cursor, and the value there, in all views"),
            ("map", "Colour &map", "Give quantities of the same kind the colour map of the active view"),
        )
    ),
    None,
    ActionSpec("close_view", "&Close view", shortcut="Ctrl+F4", when="has_views"),
    ActionSpec("close_other_views", "Close other &views", when="has_views"),
)


#: In the order of the menu; None is a separator.
HELP: tuple[ActionSpec | None, ...] = (
    ActionSpec("manual", "&Manual", shortcut="Shift+F1"),
    ActionSpec("shortcuts", "&Keyboard shortcuts", shortcut="F1"),
    ActionSpec("tour", "&Tour over the sample", tip="Four cards: see, ask why, edit, export"),
    None,
    ActionSpec("about", "&About refbrowser", tip="Versions, for a bug report"),
)


_MENUS = {
    "&File": FILE,
    "&Edit": EDIT,
    "&View": VIEW,
    "&Data": DATA,
    "&References": REFERENCES,
    "&Tools": TOOLS,
    "&Window": WINDOW,
    "&Help": HELP,
}
TITLES = tuple(_MENUS)
#: Every action but those of formats.
WINDOW_ACTIONS = tuple(spec for menu in _MENUS.values() for spec in menu if spec not in (None, OF_FORMATS))


@cache
def menus() -> dict[str, tuple[ActionSpec | None, ...]]:
    """Return the menus by their titles, with what our formats and tools add; None is a separator."""
    # Not before the first paint.
    from refbrowser.formats.registry import BUILT_IN as FORMATS
    from refbrowser.tools.registry import BUILT_IN

    formats = [format for format in FORMATS if format.is_installed]
    added = [spec for format in formats for spec in tab_actions(format)]
    commands = (
        *(format.facets.get("commands") for format in formats),
        *(tool.commands for tool in BUILT_IN if tool.is_installed),
    )
    added += [spec for name in commands if name for spec in load(name).actions]
    return {
        title: _with(specs, [spec for spec in added if spec.menu == title]) for title, specs in _MENUS.items()
    }


def _with(specs: Sequence[ActionSpec | None], added: Sequence[ActionSpec]) -> tuple[ActionSpec | None, ...]:
    """Return the actions of a menu with those that are added, each in its place."""
    found = list(specs)
    for spec in added:
        if spec.after:
            place = 1 + next(at for at, each in enumerate(found) if each and each.name == spec.after)
        else:
            place = found.index(OF_FORMATS) if OF_FORMATS in found else len(found)
        found[place:place] = [None, spec] if spec.apart else [spec]
    return tuple(spec for spec in found if spec != OF_FORMATS)


def actions() -> tuple[ActionSpec, ...]:
    """Return every action of the menus, in their order."""
    return tuple(spec for menu in menus().values() for spec in menu if spec is not None)


def tab_actions(format: Format) -> list[ActionSpec]:
    """Return the actions that show the tabs which a format adds."""
    return [
        ActionSpec(
            f"show_{page.name}", page.title, page.shortcut, f"has_{page.name}", tip=page.tip, menu="&View"
        )
        for page in format.pages
        if page.title
    ]


#: The actions of the toolbar in their order; None is a separator.
TOOLBAR = ("open_files", "open_url", None, "save", "revert", None, "undo", "redo", None, "export")
