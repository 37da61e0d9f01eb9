"""Keys as paths below a folder (safety design, section 8): nothing a key says can lead out of it."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote_to_bytes

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.files.hidden_siblings import remove_leftovers, sibling_of
from refbrowser.io.files.own_names import create_own
from refbrowser.io.origins import is_below

#: Longest part of a path, in bytes of UTF-8.
PART_LIMIT = 200
#: A part that was too long goes on in the part below it; no escaped part ends like this otherwise.
CONTINUED = "%~"

#: Names that stand for devices on some systems, with any extension.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?\Z", re.IGNORECASE)
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f/:\\%\ud800-\udfff]")


def escaped_key(key: str) -> str:
    """Return `key` with every part fit for a file name; `unescaped_key` gives it back.

    Empty parts, ``.`` and ``..``, drive, stream and device names, control characters, trailing dots, blanks
    and parts over `PART_LIMIT` bytes are written with ``%`` and hexadecimal digits.
    """
    return "/".join(map(escaped_part, key.split("/")))


def unescaped_key(path: str) -> str:
    """Return the key that `escaped_key` made `path` from."""
    joined = path.replace(CONTINUED + "/", "")
    return "/".join("" if part == "%" else _unescaped_part(part) for part in joined.split("/"))


def escaped_part(part: str) -> str:
    """Return one part of a key as `escaped_key` does; a ``/`` is no end of it. Long ones become several."""
    if part == "":
        return "%"
    text = _UNFIT.sub(lambda match: _hex(match[0]), part)
    if part in (".", "..") or _DEVICES.match(part):
        text = _hex(part[0]) + text[1:]
    if text[-1] in ". ":
        text = text[:-1] + _hex(text[-1])
    return _shortened(text)


def _shortened(text: str) -> str:
    if len(text.encode("utf-8")) <= PART_LIMIT:
        return text
    names, name, size = [], "", 0
    for token in re.findall(r"%[0-9A-F]{2}|.", text, re.DOTALL):
        length = len(token.encode("utf-8"))
        if size + length > PART_LIMIT - len(CONTINUED):
            names.append(name + CONTINUED)
            name, size = "", 0
        name += token
        size += length
    if _DEVICES.match(name):
        name = _hex(name[0]) + name[1:]
    return "/".join([*names, name])


def _hex(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _unescaped_part(part: str) -> str:
    return unquote_to_bytes(part).decode("utf-8", "surrogatepass")


def checked_parts(path: str) -> list[str]:
    """Return the parts of a path that `escaped_key` made.

    Raises
    ------
    RefbrowserError
        `E_UNSAFE`: the path is not escaped.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\\" in part or ":" in part for part in parts):
        raise RefbrowserError(ErrorKind.UNSAFE, "the path points outside the target", Place(path=path))
    return parts


def path_below(folder: Path, path: str) -> Path:
    """Return where an object is written below `folder`; it is checked to lie there.

    Parameters
    ----------
    path
        As `escaped_key` makes it.

    Raises
    ------
    RefbrowserError
        `E_UNSAFE`: the path is not escaped, or a link below the folder leads out of it.
    """
    written = folder.joinpath(*checked_parts(path))
    parent = written.parent
    while parent != folder and not parent.exists():
        parent = parent.parent
    if not is_below(os.path.realpath(parent), os.path.realpath(folder)):
        raise RefbrowserError(
            ErrorKind.UNSAFE, "a link below the target points elsewhere", Place(path=str(parent))
        )
    return written


def check_collisions(paths: Iterable[str], *, ignore_case: bool) -> None:
    """Make sure that no two nodes need the same path, nor one a folder where another needs a file.

    Parameters
    ----------
    paths
        As `escaped_key` makes them; one that ends in ``/`` is a folder.
    ignore_case
        The target's file system does not tell upper from lower case, nor normal forms of letters.

    Raises
    ------
    RefbrowserError
        `E_UNSAFE`: two keys collide; it names both.
    """
    seen: dict[str, str] = {}
    for key in paths:
        path = key.rstrip("/")
        folded = unicodedata.normalize("NFC", path).casefold() if ignore_case else path
        other = seen.setdefault(folded, key)
        if other is not key and other != key:
            raise RefbrowserError(
                ErrorKind.UNSAFE,
                f"{quoted(other)} and {quoted(key)} would be written to the same path",
                advice="export one of them under another name, or to another file system",
            )


def ignores_case(folder: Path) -> bool:
    """Tell whether names in `folder` that differ in case only are the same file."""
    remove_leftovers(folder / "case")
    probe = Path(sibling_of(folder / "case"))
    try:
        os.close(create_own(probe, 0o600))
        return probe.with_name(probe.name.upper()).exists()
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.unlink()
