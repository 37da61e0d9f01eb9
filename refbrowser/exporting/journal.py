"""Which objects of an export are written: one checked line each, so that an interrupted export can go on."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.own_names import open_own
from refbrowser.io.processes import is_running, start_mark
from refbrowser.limits import LIMITS

NAME = ".refbrowser-export.jsonl"
VERSION = 1
_FIELDS = ("key", "size", "sha256", "values", "array", "place")
#: Seconds between copies, and for the last one.
_BETWEEN, _LAST = 30.0, 5.0
#: Lines that are written together: a killed process has written so many objects for nothing, at most.
_TOGETHER = 8
#: What tells where an object is: nothing of a file in a folder.
_IN_ZIP: list[type] = [int, int]
_IN_BUCKET: list[type] = [int, str, bool]
_PLACES: list[list[type]] = [[], _IN_ZIP, _IN_BUCKET]
#: Bytes of a line, at most.
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """One object in the target.

    Attributes
    ----------
    size, sha256
        Of the bytes as stored.
    values
        SHA-256 of the elements that must come out when they are decoded; None for copied bytes.
    array
        Path of the array that it belongs to, in the target.
    place
        Where it is, as what it is written into tells.
    """

    key: str
    size: int
    sha256: str
    values: str | None
    array: str
    place: Any = None


class Journal:
    """The manifest of an export; safe to use from any thread.

    Parameters
    ----------
    folder
        Of the target while it is incomplete.
    fingerprint
        What the export depends on: another one cannot be continued.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.path = folder / NAME
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._written = {entry.key: entry for entry in _read(self.path, fingerprint)}
        self._descriptor = open_own(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        # Whatever a killed process left torn ends here.
        os.write(self._descriptor, b"\n")
        own = os.getpid()
        head = {
            "refbrowser_export": VERSION,
            "fingerprint": fingerprint,
            "pid": own,
            "start": start_mark(own),
        }
        self._append(head)

    def __contains__(self, key: str) -> bool:
        return key in self._written

    def __len__(self) -> int:
        return len(self._written)

    def entries(self) -> list[Written]:
        """Return every object that is written."""
        with self._lock:
            return list(self._written.values())

    def add(self, entry: Written) -> None:
        """Note an object; it is complete in the target."""
        line = json.dumps({name: getattr(entry, name) for name in _FIELDS}).encode()
        with self._lock:
            self._written[entry.key] = entry
            self._waiting.append(line)
            if len(self._waiting) >= _TOGETHER:
                self._flush()

    def _flush(self) -> None:
        # One call for whole lines: a killed process leaves at most the last line torn.
        if self._waiting:
            os.write(self._descriptor, b"\n".join(self._waiting) + b"\n")
            self._waiting.clear()

    def drop(self, key: str) -> None:
        """Note that an object is not good, so that the next run writes it again."""
        with self._lock:
            self._written.pop(key, None)
        self._append({"dropped": key})

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._flush()
        os.close(self._descriptor)

    def _append(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._waiting.append(json.dumps(line).encode())
            self._flush()


class JournalCopies:
    """Copies what a journal gains to another place, from time to time, so that another computer can go on.

    Parameters
    ----------
    folder
        Of the journal.
    put
        Keeps a part of it: given its number, higher than those before, and its lines.
    number
        Of the first part.
    token
        Ends `put`.
    """

    def __init__(
        self, folder: Path, put: Callable[[int, bytes], object], number: int, token: CancelToken
    ) -> None:
        self._token = token
        self._path = folder / NAME
        self._put = put
        self.number = number
        self._copied = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self) -> None:
        """Copy what is there already, and from now on what is added."""
        self.copy()
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(_BETWEEN):
            # What cannot be kept now is kept with what follows.
            with suppress(Exception):
                self.copy()

    def copy(self) -> None:
        """Copy what was added.

        Raises
        ------
        RefbrowserError
            It cannot be kept.
        """
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._copied)
                lines = stream.read()
        except FileNotFoundError:
            return
        whole = lines[: lines.rfind(b"\n") + 1]
        if whole.strip():
            self._put(self.number, whole)
            self.number += 1
            self._copied += len(whole)

    def stop(self) -> None:
        """Copy nothing any more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def end(self) -> None:
        """Copy what is left, where that does not take long, and nothing any more."""
        timer = threading.Timer(_LAST, self._token.cancel)
        timer.start()
        try:
            self.stop()
            with suppress(Exception):
                self.copy()
        finally:
            timer.cancel()


def checked_lines(data: bytes) -> bytes:
    """Return what can be gone on with of a journal that came from elsewhere: lines of its form.

    Where its beginning was lost nothing tells what it is of, up to the next line that does.
    """
    values = (value for line in data.split(b"\n") if (value := _value(line)) is not None)
    good = [line for value in values if (line := _checked(value)) is not None and _is_of_bucket(line)]
    good = list(dropwhile(lambda line: "fingerprint" not in line, good))
    return b"\n".join(json.dumps(line).encode() for line in good) + b"\n"


def _is_of_bucket(line: dict[str, Any]) -> bool:
    return "key" not in line or [*map(type, line["place"] or ())] == _IN_BUCKET


def _checked(line: dict[str, Any]) -> dict[str, Any] | None:
    """Return what is known of a line that is of one of the forms; its process may be of another computer."""
    if isinstance(line.get("fingerprint"), str):
        return {"fingerprint": line["fingerprint"]}
    if isinstance(line.get("dropped"), str):
        return {"dropped": line["dropped"]}
    texts = all(isinstance(line.get(name), str) for name in ("key", "sha256", "array"))
    size, place = line.get("size"), line.get("place")
    is_sized = type(size) is int and size >= 0 and isinstance(line.get("values"), str | None)
    is_placed = place is None or (isinstance(place, list) and [*map(type, place)] in _PLACES)
    return {name: line.get(name) for name in _FIELDS} if texts and is_sized and is_placed else None


def is_written(folder: Path) -> bool:
    """Tell whether another process writes to an incomplete target; nothing where its journal does not tell.

    A number alone names any process that has come since: it counts with the mark of the start of its process,
    wherever processes have such marks.
    """
    process, mark = None, ""
    with suppress(RefbrowserError):
        for line in _lines(folder / NAME, b'"pid"'):
            process, mark = line.get("pid"), line.get("start", "")
    own = os.getpid()
    if type(process) is not int or process == own or not isinstance(mark, str):
        return False
    return (bool(mark) or not start_mark(own)) and is_running(process, mark)


def fingerprint_of(folder: Path) -> str | None:
    """Return what the export depends on that an incomplete target is of, None where nothing tells."""
    with suppress(RefbrowserError):
        return next((line["fingerprint"] for line in _heads(folder / NAME)), None)
    return None


def _heads(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines with which runs of an export began."""
    lines = _lines(path, b'"fingerprint"')
    return (line for line in lines if isinstance(line.get("fingerprint"), str))


def _read(path: Path, fingerprint: str) -> Iterator[Written]:
    found: dict[str, Written] = {}
    for line in _lines(path):
        if "fingerprint" in line and line["fingerprint"] != fingerprint:
            raise RefbrowserError(
                ErrorKind.USAGE,
                "the interrupted export was a different one",
                Place(path=str(path.parent)),
                _BEGIN,
            )
        if "dropped" in line:
            found.pop(str(line["dropped"]), None)
        elif (entry := _checked(line)) is not None and "key" in entry:
            written = Written(**entry)
            found[written.key] = written
    yield from found.values()


_BEGIN = "omit --resume to start over"


def _lines(path: Path, holding: bytes = b"") -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal, which may be anybody's; those only that hold some text.

    Raises
    ------
    RefbrowserError
        `E_UNSAFE`: it is no file of this user; `E_BUDGET`: it is too large.
    """
    try:
        descriptor = open_own(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    except OSError as error:
        message = f"the journal of the interrupted export cannot be used: {error.strerror or error}"
        raise RefbrowserError(ErrorKind.UNSAFE, message, Place(path=str(path)), _BEGIN) from error
    with open(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if size > LIMITS.json_size:
            message = f"the journal has {size} bytes, more than {LIMITS.json_size} (json_size)"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=str(path)), _BEGIN)
        while line := file.readline(_LONGEST):
            # What is torn by the end of a process, or none of ours, is passed over.
            if holding in line and (value := _value(line)) is not None:
                yield value


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
