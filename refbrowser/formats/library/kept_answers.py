"""What a library told of a file, kept between runs where it takes long to find out, as of remote files."""

from __future__ import annotations

import contextlib
import json
import time
import zlib
from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.formats.library.process import LibraryFile, Take
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.kept import cache_folder, kept_name, read_kept, state_of, was_used, write_kept
from refbrowser.limits import LIMITS

_SUFFIX = ".answers"
#: Counted up where libraries are asked for something else.
_MARK = b"refbrowser answers 1\n"
#: Looks into files that take less are done again, in seconds.
_WORTH = 1.0
_WRONG = (OSError, ValueError, KeyError, TypeError, IndexError, zlib.error, RefbrowserError)


def ask_once(
    file: LibraryFile,
    operation: str,
    request: dict[str, Any],
    take: Take,
    identity: FileIdentity | ObjectIdentity | None,
    token: CancelToken | None = None,
) -> None:
    """Have a question answered as `LibraryFile.ask` does, or by what was answered in another run.

    Parameters
    ----------
    identity
        State of the file; where it tells nothing, nothing is kept.
    """
    path = cache_folder("files") / kept_name(file.url, _SUFFIX)
    state = state_of(identity)
    known = None if state is None else _loaded(path, [file.url, state, operation, request])
    if known is not None:
        for answer, data in known:
            take(answer, data)
        return
    answers: list[tuple[dict[str, Any], memoryview]] = []

    def gather(answer: dict[str, Any], data: memoryview) -> None:
        answers.append((answer, data))
        take(answer, data)

    start = time.monotonic()
    file.ask(operation, request, gather, token)
    if state is not None and (not file.is_here or time.monotonic() - start >= _WORTH):
        with contextlib.suppress(*_WRONG):
            _keep(path, [file.url, state, operation, request], answers)


def _keep(path: Any, asked: list[Any], answers: list[tuple[dict[str, Any], memoryview]]) -> None:
    line = json.dumps([asked, [[answer, len(data)] for answer, data in answers]]).encode()
    if len(line) + sum(len(data) for _, data in answers) > LIMITS.library_kept:
        return
    packed = zlib.compress(line + b"\n" + b"".join(data for _, data in answers), 1)
    write_kept(path, _MARK, packed, LIMITS.library_cache)


def _loaded(path: Any, asked: list[Any]) -> list[tuple[dict[str, Any], memoryview]] | None:
    """Return what was answered to the same question of the same file; None where nothing is kept."""
    try:
        unpacker = zlib.decompressobj()
        body = read_kept(path, _MARK, LIMITS.library_kept)
        data = unpacker.decompress(body, 2 * LIMITS.library_kept)
        at = data.index(b"\n") + 1
        known, told = json.loads(data[:at])
        if known != json.loads(json.dumps(asked)) or not unpacker.eof:
            return None
        room, answers = memoryview(data), []
        for answer, size in told:
            answers.append((answer, room[at : at + size]))
            at += size
        if at != len(data):
            return None
    except _WRONG:
        return None
    was_used(path)
    return answers
