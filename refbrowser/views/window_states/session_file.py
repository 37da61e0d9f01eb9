"""The file of a session: what a window shows, with paths that hold wherever the file is taken.

Anybody may have written it. It names what to open and how it looked, and nothing else: no permission, no
setting of a connection, nothing that lets whoever has it read.
"""

from __future__ import annotations

import json
import os
import posixpath
from dataclasses import dataclass

from refbrowser.engine.links import Link
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import JsonError, read_value
from refbrowser.version import __version__
from refbrowser.views.window_states.window_state import WindowState

#: What such files are called.
SUFFIX = ".refbrowser"
#: The version of the file that is understood and written.
VERSION = 1
#: Links that are followed one after the other.
_LINKS = 40
_KIND, _WHAT = "refbrowser", "session"


@dataclass(frozen=True, slots=True)
class SessionFile:
    """What such a file says.

    Attributes
    ----------
    state
        What to show; its paths are whole.
    left_out
        What was not written, or not taken, because it lets whoever has it read; in words.
    """

    state: WindowState
    left_out: tuple[str, ...] = ()


def is_session(path: str) -> bool:
    """Tell whether a path is that of a session, by its name."""
    return path.lower().endswith(SUFFIX)


def session_text(state: WindowState, folder: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the text of a file in a folder, and what it leaves out, in words.

    Paths below the folder are written from there, so that both can be taken elsewhere.
    """
    left_out: dict[str, None] = {}
    moved = state.moved(lambda path: _written(path, folder, left_out))
    said = {_KIND: _WHAT, "version": VERSION, "program": __version__, **moved.to_json()}
    # A member of a later version must not take the place of what this one says of the file.
    text = json.dumps({**said, _KIND: _WHAT, "version": VERSION}, indent=1, allow_nan=False)
    return f"{text}\n".encode(), tuple(left_out)


def parse_session(data: bytes, folder: str) -> SessionFile:
    """Return what the text of a file in a folder says; no file or server is looked at.

    Raises
    ------
    RefbrowserError
        `E_ENCODING`, `E_JSON`, `E_SCHEMA`, `E_BUDGET`: it is no session, or one of a later version.
        `E_UNSAFE`: it names a place that no link may lead to.
    """
    if len(data) > LIMITS.session_size:
        message = f"it has {len(data)} bytes, more than {LIMITS.session_size} (session_size)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    try:
        said, is_finite = read_value(data.removeprefix(b"\xef\xbb\xbf"))
    except JsonError as error:
        raise RefbrowserError(error.kind, f"byte {error.position}: {error.message}") from None
    if not isinstance(said, dict) or said.pop(_KIND, None) != _WHAT or not is_finite:
        raise RefbrowserError(ErrorKind.SCHEMA, "it is not a session that refbrowser saved")
    version = said.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        raise RefbrowserError(ErrorKind.SCHEMA, f"its version is {quoted(version)}: {VERSION} is understood")
    said.pop("program", None)
    left_out: dict[str, None] = {}
    state = WindowState.from_json(said).moved(lambda path: _whole(path, folder, left_out))
    return SessionFile(state, tuple(left_out))


def places_outside(state: WindowState, folder: str) -> list[str]:
    """Return from where a session reads beside its own folder and what is below it, in words.

    What links lead out of the folder to is not below it; nothing but links in it is looked at.
    """
    places: dict[str, None] = {}
    for path in dict.fromkeys(state.paths()):
        outside = path if scheme_of(path) is not None else _outside(path, folder)
        if outside is not None:
            places[Link(outside).where] = None
    return list(places)


def _outside(path: str, folder: str) -> str | None:
    """Return where a path leads out of a folder, by links in it as well; None where it does not."""
    for _ in range(_LINKS):
        below = _below(path, folder)
        if below is None:
            return path
        parts = below.split(os.sep)
        for number in range(len(parts)):
            at = os.path.join(folder, *parts[: number + 1])
            try:
                target = os.readlink(at)
            except (OSError, ValueError):
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(at), target, *parts[number + 1 :]))
            break
        else:
            return None
    return path


def _written(path: str, folder: str, left_out: dict[str, None]) -> str:
    """Return a path as it is written: from the folder where it is below that, a URL without secrets."""
    if scheme_of(path) is not None:
        return _bare(path, left_out)
    below = _below(path, folder)
    if below is None:
        return path
    named = below.replace(os.sep, "/")
    return named if scheme_of(named) is None else f"./{named}"


def _whole(path: str, folder: str, left_out: dict[str, None]) -> str:
    """Return a path that is written in a file as a whole one."""
    from refbrowser.engine.links import check_path

    if not path:
        raise RefbrowserError(ErrorKind.SCHEMA, "it names a document without a path")
    if scheme_of(path) is not None:
        bare = _bare(path, left_out)
        check_path(bare)
        return bare
    whole = path if os.path.isabs(path) else os.path.join(folder, *posixpath.normpath(path).split("/"))
    whole = os.path.normpath(whole)
    check_path(whole)
    return whole


def _bare(url: str, left_out: dict[str, None]) -> str:
    link = Link(url).without_secrets()
    left_out |= dict.fromkeys(link.left_out)
    return link.path


def _below(path: str, folder: str) -> str | None:
    """Return a path as it is seen from a folder that it is below; None where it is not."""
    path, folder = os.path.normpath(path), os.path.normpath(folder)
    inside = path.removeprefix(folder.rstrip(os.sep) + os.sep)
    return inside if inside != path else None
