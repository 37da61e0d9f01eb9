"""The actions of the menu Tools."""

from __future__ import annotations

from refbrowser.app.commands.group import ActionSpec

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
    ActionSpec(
        "append_stream",
        "&Append…",
        submenu="&Stream",
        when="is_stream",
        tip="Write further values, or edits of attributes, behind the last message of the stream",
    ),
    ActionSpec(
        "compact_stream",
        "&Compact…",
        submenu="&Stream",
        when="is_stream_read",
        tip="Write the stream anew, without messages that later ones overwrote",
    ),
    ActionSpec(
        "repair_stream",
        "&Repair…",
        submenu="&Stream",
        when="is_stream_read",
        tip="Write what is sound of a damaged stream, and tell what is lost",
    ),
    ActionSpec(
        "follow_stream",
        "&Follow",
        submenu="&Stream",
        when="is_stream",
        check="is_following",
        tip="Read the stream again whenever it grows; slice and zoom stay",
    ),
    ActionSpec(
        "safety_report",
        "&Safety report…",
        submenu="Aw&kward 0",
        when="is_awkward",
        tip="List the functions, pickles and outside targets that the file names, and what was refused",
    ),
    ActionSpec(
        "allow_function",
        "&Allow function…",
        submenu="Aw&kward 0",
        when="is_awkward",
        tip="Open further entries of the product's own table of functions for this file; never Python",
    ),
    ActionSpec(
        "serve",
        "&Serve this dataset",
        submenu="CDM &Remote",
        when="can_serve",
        check="is_served",
        tip="Offer the dataset as CDM Remote to programs of this machine, or stop that",
    ),
    ActionSpec(
        "copy_service",
        "&Copy its address",
        submenu="CDM &Remote",
        when="is_served",
        tip="Copy the URL at which the dataset is offered",
    ),
)
