"""Journals on disk: one checked line for each value, so that they outlive the process (safety, section 8)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.files.own_names import open_own
from refbrowser.io.files.permissions import document_name, state_folder
from refbrowser.io.processes import is_running, start_mark
from refbrowser.limits import LIMITS

#: Journals of processes that are gone; the oldest of more than these are given up.
KEPT = 500
#: The first line of a journal is no longer.
_HEAD = 65_536

_NAME = re.compile(r"[0-9a-f]{32}-(\d{1,10})-(\d*)-[0-9a-f]{8}\.jsonl")
_CHECKED = re.compile(rb"([0-9a-f]{8}) (.*)", re.DOTALL)


def journal_folder() -> Path:
    """Return the folder of all journals."""
    return state_folder() / "journals"


class JournalFile:
    """A journal that this process writes, under a name that no other process and no other document has.

    The file is made by the first `append`. Not safe to share across threads.

    Parameters
    ----------
    document
        Path or URL of the document; the file's name holds a hash of it.
    """

    def __init__(self, document: str) -> None:
        own = os.getpid()
        self.path = (
            journal_folder() / f"{_stem(document)}-{own}-{start_mark(own)}-{secrets.token_hex(4)}.jsonl"
        )
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes that were written."""
        return self._size

    def append(self, values: Iterable[Any]) -> None:
        """Write values of JSON's types, a line each, and have them on the disk.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: the journal is too large for them; none is written.
        OSError
            It cannot be written.
        """
        data = b"".join(map(_line, values))
        if self._size + len(data) > LIMITS.journal_size:
            message = f"the journal would have more than {LIMITS.journal_size} bytes"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=os.fspath(self.path)))
        if not self._size:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _give_up_oldest(self.path.parent)
        descriptor = open_own(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._size += len(data)

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self._size = 0
        remove_journal(self.path)


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What could be read of a journal.

    Attributes
    ----------
    values
        Of all lines before the first that is not whole.
    is_damaged
        Whether more lines come after that one, as no sudden end leaves them.
    modified
        Time of the last change, in seconds since 1970.
    """

    values: list[Any]
    is_damaged: bool
    modified: float


def read_journal(path: Path) -> JournalContent:
    """Read a journal up to the first line that is torn or damaged.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: it is too large.
    OSError
        It cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(LIMITS.journal_size + 1)
        modified = os.fstat(file.fileno()).st_mtime
    if len(data) > LIMITS.journal_size:
        message = f"the journal has more than {LIMITS.journal_size} bytes"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=os.fspath(path)))
    *lines, rest = data.split(b"\n")
    values: list[Any] = []
    for line in lines:
        value = _checked(line)
        if value is None:
            break
        values.append(value[0])
    return JournalContent(
        values, len(values) < len(lines) and bool(lines[len(values) + 1 :] or rest), modified
    )


def read_head(path: Path) -> tuple[Any, float] | None:
    """Return the first value of a journal and the time of its last change; None where no line is whole."""
    try:
        with path.open("rb") as file:
            line, modified = file.readline(_HEAD), os.fstat(file.fileno()).st_mtime
    except OSError:
        return None
    value = _checked(line[:-1]) if line.endswith(b"\n") else None
    return None if value is None else (value[0], modified)


def abandoned_journals(document: str | None = None) -> list[Path]:
    """Return the journals (of a document, or all) whose processes are gone, the newest first."""
    stem = "" if document is None else _stem(document)
    found = [path for path in _all(journal_folder()) if path.name.startswith(stem) and not _is_owned(path)]
    return sorted(found, key=modified, reverse=True)


def remove_journal(path: Path) -> None:
    """Remove a journal; nothing happens where it is gone or cannot be removed."""
    with contextlib.suppress(OSError):
        path.unlink()


def _stem(document: str) -> str:
    return hashlib.sha256(document_name(document).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _line(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _checked(line: bytes) -> tuple[Any] | None:
    """Return the value of a line, None where it is not whole."""
    match = _CHECKED.fullmatch(line)
    if match is None or int(match[1], 16) != zlib.crc32(match[2]):
        return None
    try:
        return (json.loads(match[2]),)
    except (ValueError, RecursionError):
        return None


def _all(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    except OSError:
        return []


def _is_owned(path: Path) -> bool:
    match = _NAME.fullmatch(path.name)
    return match is not None and is_running(int(match[1]), match[2])


def modified(path: Path) -> float:
    """Return when a file was last written, to sort by; 0 of one that is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _give_up_oldest(folder: Path) -> None:
    paths = _all(folder)
    if len(paths) > KEPT:
        left = sorted((path for path in paths if not _is_owned(path)), key=modified)
        for path in left[: len(paths) - KEPT]:
            remove_journal(path)
