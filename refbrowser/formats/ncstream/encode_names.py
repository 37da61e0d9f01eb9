r"""Names as they stand in messages: without a leading ``/``, with a backslash before ``.`` and ``\``."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"[.\\]")


def full_name(path: str) -> str:
    r"""Return the full name of a variable by its absolute path (wire notes, section 3).

    Known writers put no ``/`` before it, and known readers take it with and without.

    >>> full_name("/ocean/t.mean")
    'ocean/t\\.mean'
    """
    return _ESCAPED.sub(lambda found: f"\\{found[0]}", path.removeprefix("/"))
