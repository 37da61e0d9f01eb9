"""The actions of the menu Data."""

from __future__ import annotations

from refbrowser.app.actions.spec import ActionSpec

#: In the order of the menu; None is a separator.
DATA: tuple[ActionSpec | None, ...] = ()
