"""The actions of the menu Tools."""

from __future__ import annotations

from refbrowser.app.actions.spec import ActionSpec

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
        "&Look for problems again",
        shortcut="F7",
        when="has_document",
        tip="Look for faults and warnings of all documents; nothing is read for it",
    ),
    ActionSpec("next_problem", "Ne&xt problem", shortcut="F8", when="has_problems"),
    ActionSpec("previous_problem", "Pre&vious problem", shortcut="Shift+F8", when="has_problems"),
    None,
    ActionSpec("show_history", "Show &history"),
)
