"""Why an edit that was made off the window's thread cannot be taken over."""

from __future__ import annotations

from typing import Any


def moved_on(edit: Any) -> Exception:
    """Return the error for an edit that was made of a state that is not the document's any more."""
    from refbrowser.errors import ErrorKind, RefbrowserError

    message = f"the document changed while this was done: {edit.title}"
    return RefbrowserError(ErrorKind.USAGE, message, advice="Nothing was changed by it; do it again.")
