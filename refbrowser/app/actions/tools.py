"""The actions of the menu Tools."""

from __future__ import annotations

from refbrowser.app.actions.spec import ActionSpec

#: In the order of the menu; None is a separator.
TOOLS: tuple[ActionSpec | None, ...] = (
    ActionSpec("cancel_newest", "Cancel the &newest job", shortcut="Esc", when="is_busy"),
    ActionSpec("show_jobs", "Show &jobs"),
)
