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

NAME = ".refbrowser-export.jsonl"
VERSION = 1
_FIELDS = ("key", "size", "sha256", "values", "array", "place")
#: Seconds between copies, and for the last one.
_BETWEEN, _LAST = 30.0, 5.0
#: Lines that are written together: a killed process has written so many objects for nothing, at most.
_TOGETHER = 8


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
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        # Whatever a killed process left torn ends here.
        os.write(self._descriptor, b"\n")
        self._append({"refbrowser_export": VERSION, "fingerprint": fingerprint, "pid": os.getpid()})

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
        Cancelled
            The token was cancelled.
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
    good = [line for line in map(_checked, data.split(b"\n")) if line]
    good = list(dropwhile(lambda line: "fingerprint" not in line, good))
    return b"\n".join(json.dumps(line).encode() for line in good) + b"\n"


def _checked(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict):
        return None
    if isinstance(line.get("fingerprint"), str):
        # Its process is of another computer.
        return {"fingerprint": line["fingerprint"]}
    if isinstance(line.get("dropped"), str):
        return {"dropped": line["dropped"]}
    texts = all(isinstance(line.get(name), str) for name in ("key", "sha256", "array"))
    is_sized = isinstance(line.get("size"), int) and isinstance(line.get("values"), str | None)
    place = line.get("place")
    is_placed = isinstance(place, list) and [*map(type, place)] == [int, str, bool]
    return {name: line[name] for name in _FIELDS} if texts and is_sized and is_placed else None


def owner_of(folder: Path) -> int | None:
    """Return the process that writes to an incomplete target, None where nothing tells."""
    owner = None
    for line in _lines(folder / NAME):
        if isinstance(line.get("pid"), int):
            owner = line["pid"]
    return owner


def fingerprint_of(folder: Path) -> str | None:
    """Return what the export depends on that an incomplete target is of, None where nothing tells."""
    return next((line["fingerprint"] for line in _lines(folder / NAME) if "fingerprint" in line), None)


def _read(path: Path, fingerprint: str) -> Iterator[Written]:
    found: dict[str, Written] = {}
    for line in _lines(path):
        if "fingerprint" in line and line["fingerprint"] != fingerprint:
            raise RefbrowserError(
                ErrorKind.USAGE,
                "the interrupted export was of something else",
                Place(path=str(path.parent)),
                "leave out --resume to begin anew",
            )
        if "dropped" in line:
            found.pop(line["dropped"], None)
        elif "key" in line:
            entry = Written(*(line.get(name) for name in _FIELDS))  # type: ignore[arg-type]
            found[entry.key] = entry
    yield from found.values()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue  # torn by the end of a process, or the empty last one
        if isinstance(value, dict):
            yield value
