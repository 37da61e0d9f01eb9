"""Locks as files: JSON beside the document, read as what anybody may have written (manual, *Locks*)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.access.local_files import open_regular, read_exactly
from refbrowser.io.access.segment import room_for
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.atomic import write_own
from refbrowser.io.identity import FileIdentity
from refbrowser.io.locks.lock import Lock, LockEntry, parse_time
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import depth_of

VERSION = 1
_DIGEST = "sha256:"
_LARGEST = 2**63 - 1
#: Of texts that are not URLs.
_TEXT = 1024
#: Lines that are written together.
_TOGETHER = 4096


def parse_lock(data: bytes | memoryview) -> Lock:
    """Return the lock that a text says.

    Members that are not known are kept. What is known must be of its type: a lock that is half understood
    would let files pass that it tells from others.

    Raises
    ------
    RefbrowserError
        `E_JSON`, `E_ENCODING`, `E_SCHEMA`, `E_BUDGET`: it is no lock, or of another version.
    """
    try:
        text = str(data, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefbrowserError(ErrorKind.ENCODING, f"byte {error.start} is not UTF-8") from None
    _check_counts(text)
    try:
        said = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError:
        raise RefbrowserError(ErrorKind.BUDGET, "its values are nested too deep") from None
    except ValueError as error:
        raise RefbrowserError(ErrorKind.JSON, f"it is not JSON:  {quoted(error)}") from None
    if not isinstance(said, dict):
        _refuse("it is not a JSON object")
    version = said.pop("lock", None)
    if version != VERSION or isinstance(version, bool):
        shown = "none" if version is None else quoted(version)
        _refuse(f"its version, the member 'lock', is {shown}: {VERSION} is understood")
    files, not_locked = said.pop("files", None), said.pop("not_locked", {})
    if not isinstance(files, dict):
        _refuse("it has no object 'files'")
    if not isinstance(not_locked, dict):
        _refuse("its member 'not_locked' is not an object")
    count = len(files) + len(not_locked)
    if count > LIMITS.lock_files:
        message = f"it lists {count} files, more than {LIMITS.lock_files} (lock_files)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    at, by = _made(said, "the lock")
    _check_depth(said)
    entries: dict[str, LockEntry] = {}
    for url in [*files]:
        # Taken out one by one: both forms of a large lock are not held at once.
        entries[_checked_url(url)] = _entry(url, files.pop(url))
    for url, why in not_locked.items():
        _checked_url(url)
        if not isinstance(why, str):
            _refuse(f"the reason why {quoted(url)} is not locked is not text")
    return Lock(entries, {url: why[:_TEXT] for url, why in not_locked.items()}, at, by, said)


def _check_counts(text: str) -> None:
    """Raise where a text may hold more values than any lock: each takes ten times its room once it is parsed.

    Each value but the first few has a comma before it, each list and object a bracket; those within texts are
    counted, too, but URLs have few.
    """
    for kind, count, most in (
        ("values", text.count(","), LIMITS.lock_values),
        ("lists and objects", text.count("[") + text.count("{"), LIMITS.lock_objects),
    ):
        if count > most:
            message = f"it has {count} {kind}, more than {most} (lock_{kind.rpartition(' ')[2]})"
            raise RefbrowserError(ErrorKind.BUDGET, message)


def read_lock(path: str | os.PathLike[str]) -> tuple[Lock, FileIdentity]:
    """Read the lock in a local file, and the identity of that.

    Raises
    ------
    RefbrowserError
        `AbsentError`: there is no such file; `E_IO`, `E_UNSAFE`: it cannot be read; as `parse_lock`.
    """
    named = os.path.realpath(path)
    try:
        with open_regular(named) as (descriptor, identity):
            if identity.size > LIMITS.lock_size:
                message = f"it has {identity.size} bytes, more than {LIMITS.lock_size} (lock_size)"
                raise RefbrowserError(ErrorKind.BUDGET, message)
            data = room_for(identity.size)
            if read_exactly(descriptor, [data], 0) != identity.size:
                raise RefbrowserError(ErrorKind.SOURCE, "the file changed while it was read")
            return parse_lock(data), identity
    except RefbrowserError as error:
        raise error.at(Place(document=named)) from None


def write_lock(
    path: str | os.PathLike[str],
    lock: Lock,
    *,
    expected: FileIdentity | None = None,
    cancel: CancelToken | None = None,
) -> FileIdentity:
    """Write a lock under its name in one step; one that is there is replaced whole, a link is not followed.

    Raises
    ------
    RefbrowserError
        As `write_own` does.
    """
    return write_own(path, lock_text(lock), expected=expected, cancel=cancel)


def lock_text(lock: Lock) -> Iterator[bytes]:
    """Yield the text of a lock: a line for each file, by URL, so that two locks are compared line by line."""
    members = [f'"lock": {VERSION}']
    made = _made_text(lock.at, lock.by)
    if made:
        members.append(f'"made": {_json(made)}')
    members += [f"{_json(name)}: {_json(value)}" for name, value in lock.others.items()]
    yield ("{\n" + "".join(f"  {member},\n" for member in members)).encode()
    entries = ((url, _json(_entry_text(lock.entries[url]))) for url in sorted(lock.entries))
    yield from _listed("files", entries)
    if lock.not_locked:
        yield b",\n"
        yield from _listed("not_locked", ((url, _json(why)) for url, why in sorted(lock.not_locked.items())))
    yield b"\n}\n"


def _listed(name: str, members: Iterator[tuple[str, str]]) -> Iterator[bytes]:
    yield f'  "{name}": {{'.encode()
    lines: list[str] = []
    begin = "\n"
    for url, text in members:
        lines.append(f"{begin}    {_json(url)}: {text}")
        begin = ",\n"
        if len(lines) == _TOGETHER:
            yield "".join(lines).encode()
            lines.clear()
    yield ("".join(lines) + ("}" if begin == "\n" else "\n  }")).encode()


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _entry_text(entry: LockEntry) -> dict[str, Any]:
    said: dict[str, Any] = {"size": entry.size}
    for name, value in (("etag", entry.etag), ("modified", entry.modified)):
        if value is not None:
            said[name] = value
    for name, sum_ in (("head", entry.head), ("tail", entry.tail), ("whole", entry.whole)):
        if sum_ is not None:
            said[name] = _DIGEST + sum_.hex()
    made = _made_text(entry.at, entry.by)
    if made:
        said["made"] = made
    return {**said, **(entry.others or {})}


def _made_text(at: str, by: str) -> dict[str, str]:
    return {name: value for name, value in (("at", at), ("by", by)) if value}


# Reading


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        _refuse(f"the member {quoted(twice)} occurs twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse(message: str) -> NoReturn:
    raise RefbrowserError(ErrorKind.SCHEMA, message)


def _check_depth(others: dict[str, Any]) -> None:
    """Look how deep members are nested that are not known, and are written again."""
    if depth_of(others) > LIMITS.json_nesting:
        message = f"its values are nested more than {LIMITS.json_nesting} levels deep (json_nesting)"
        raise RefbrowserError(ErrorKind.BUDGET, message)


def _checked_url(url: str) -> str:
    if len(url) > LIMITS.url_length:
        message = f"a URL has {len(url)} characters, more than {LIMITS.url_length} (url_length)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    if not url.strip():
        _refuse("a URL is empty")
    if not url.isascii():
        try:
            url.encode()
        except UnicodeEncodeError:
            _refuse(f"the URL {quoted(url)} is not text")
    return url


def _entry(url: str, said: Any) -> LockEntry:
    if not isinstance(said, dict):
        _refuse(f"the entry of {quoted(url)} is not an object")
    size = said.pop("size", None)
    if type(size) is not int or not 0 <= size <= _LARGEST:
        _refuse(f"the size of {quoted(url)} is not a number of bytes")
    texts = {name: _text(url, name, said.pop(name, None)) for name in ("etag", "modified")}
    if texts["modified"] is not None and parse_time(texts["modified"]) is None:
        _refuse(f"the time {quoted(texts['modified'])} of {quoted(url)} does not follow RFC 3339")
    sums = {name: _sum(url, name, said.pop(name, None)) for name in ("head", "tail", "whole")}
    at, by = _made(said, quoted(url))
    if said:
        _check_depth(said)
    return LockEntry(
        size,
        texts["etag"],
        texts["modified"],
        sums["head"],
        sums["tail"],
        at,
        by,
        said or None,
        sums["whole"],
    )


def _text(url: str, name: str, value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value) > _TEXT):
        _refuse(f"the member {quoted(name)} of {quoted(url)} is not text of at most {_TEXT} characters")
    return value


def _sum(url: str, name: str, value: Any) -> bytes | None:
    """Return a digest; None of one of another kind, which is as if there were none."""
    text = _text(url, name, value)
    if text is None or not text.startswith(_DIGEST):
        return None
    try:
        found = bytes.fromhex(text[len(_DIGEST) :])
    except ValueError:
        found = b""
    if len(found) != 32 or len(text) != len(_DIGEST) + 64:
        _refuse(f"the digest {quoted(name)} of {quoted(url)} is not a SHA-256")
    return found


def _made(said: dict[str, Any], whose: str) -> tuple[str, str]:
    made = said.pop("made", None)
    if made is None:
        return "", ""
    if not isinstance(made, Mapping):
        _refuse(f"the member 'made' of {whose} is not an object")
    at, by = made.get("at", ""), made.get("by", "")
    for each in (at, by):
        if not isinstance(each, str) or len(each) > _TEXT:
            _refuse(f"when and by what {whose} was made is not text of at most {_TEXT} characters")
    return at, by
