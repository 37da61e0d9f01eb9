"""The actions of the menu Data."""

from __future__ import annotations

from refbrowser.app.actions.spec import ActionSpec

#: In the order of the menu; None is a separator.
DATA: tuple[ActionSpec | None, ...] = (
    ActionSpec(
        "explain",
        "E&xplain",
        shortcut="Ctrl+I",
        when="is_open",
        tip="Say why the element under the cursor (E in the plot), or the selected key, shows as it does",
    ),
)
