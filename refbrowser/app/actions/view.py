"""The actions of the menu View."""

from __future__ import annotations

from refbrowser.app.commands.group import ActionSpec

#: In the order of the menu; None is a separator.
VIEW: tuple[ActionSpec | None, ...] = (
    ActionSpec("find_node", "&Find in the hierarchy", shortcut="Ctrl+F"),
    None,
    ActionSpec("show_plot", "&Plot", shortcut="Ctrl+1"),
    ActionSpec("show_table", "&Table", shortcut="Ctrl+2"),
    ActionSpec("show_references", "&References", shortcut="Ctrl+3"),
    ActionSpec("show_raw", "Ra&w value", shortcut="Ctrl+4"),
    ActionSpec("show_cdl", "CD&L", shortcut="Ctrl+5"),
    ActionSpec(
        "show_messages",
        "&Messages",
        shortcut="Ctrl+6",
        when="has_messages",
        tip="Show the messages of the stream, and which of them supplied each element",
    ),
    ActionSpec(
        "show_values",
        "&Values",
        shortcut="Ctrl+7",
        when="has_nested",
        tip="Show the lists and records of the array, row by row",
    ),
    ActionSpec(
        "show_expressions",
        "E&xpressions",
        shortcut="Ctrl+8",
        when="has_expressions",
        tip="Show what the arrays of an Awkward 0 file are made of: functions, references, blobs",
    ),
    None,
    ActionSpec(
        "plot_alone",
        "Plot al&one",
        shortcut="F11",
        check="is_plot_alone",
        tip="Show nothing but the plot; F11 or Esc brings the rest back",
    ),
    None,
    ActionSpec(
        "toggle_internal",
        "Attributes of the &format",
        check="is_internal",
        tip="Show the attributes that formats keep for themselves (_nczarr_array, _ARRAY_DIMENSIONS) too",
    ),
    None,
    ActionSpec("next_pane", "&Next pane", shortcut="F6", tip="Put the keyboard in the next pane"),
    ActionSpec(
        "previous_pane", "Pre&vious pane", shortcut="Shift+F6", tip="Put the keyboard in the pane before"
    ),
    None,
    ActionSpec("theme_system", "As the &desktop", submenu="&Theme", check="is_system_theme"),
    ActionSpec("theme_light", "&Light", submenu="&Theme", check="is_light_theme"),
    ActionSpec("theme_dark", "&Dark", submenu="&Theme", check="is_dark_theme"),
    None,
    ActionSpec(
        "reset_layout",
        "Reset &layout",
        shortcut="Ctrl+0",
        tip="Put docks and columns where they began",
    ),
)
