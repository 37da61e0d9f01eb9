"""The JSON Schemas of what verbs print with ``--json``: files among the resources, one for each verb."""

from __future__ import annotations

from pathlib import Path

from refbrowser.bundled import resource
from refbrowser.errors import ErrorKind, RefbrowserError, quoted

#: That of what every verb prints where it fails, and of the file of a session, which the window writes.
ERROR, SESSION = "error", "session"
_FOLDER = "schemas"


def schema_names() -> tuple[str, ...]:
    """Return the verbs that have one, `ERROR` and `SESSION`."""
    return tuple(sorted(path.stem for path in _path(ERROR).parent.glob("*.json")))


def schema_text(name: str) -> str:
    """Return a schema as its file holds it.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none of that name.
    """
    known = schema_names()
    if name not in known:
        message = f"there is no schema {quoted(name)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(known)}")
    return _path(name).read_text("utf-8")


def _path(name: str) -> Path:
    return resource(f"{_FOLDER}/{name}.json")
