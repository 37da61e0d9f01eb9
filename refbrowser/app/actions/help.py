"""The actions of the menu Help."""

from __future__ import annotations

from refbrowser.app.actions.spec import ActionSpec

#: In the order of the menu; None is a separator.
HELP: tuple[ActionSpec | None, ...] = (ActionSpec("about", "&About refbrowser"),)
