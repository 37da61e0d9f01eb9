"""Writing locks, as the verb `lock` and the option ``--lock`` of others do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import StageBar, plain, tell_warning, write_json, write_line
from refbrowser.cli.options import job_control
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.locking import LockRequest
    from refbrowser.engine.opening import OpenRequest
    from refbrowser.io.locks.lock_made import LockWritten

#: What a lock is made in, with what is counted.
_STAGES = {"opening": "", "locking": "files"}
#: Files that could not be looked at that are told one by one.
_SHOWN = 20


def lock_made(paths: Sequence[str], arguments: argparse.Namespace, token: CancelToken) -> int:
    """Write the locks of documents that were made just now; return the exit code."""
    from refbrowser.engine.locking import LockRequest
    from refbrowser.engine.opening import OpenRequest

    told = []
    for path in paths:
        opening = OpenRequest(
            path, allow=tuple(arguments.allow), storage_options=tuple(arguments.storage_option)
        )
        told.append(write_lock(opening, LockRequest(), token))
    return tell_locks(told, arguments, is_quiet=arguments.json)


def add_lock(parser: argparse.ArgumentParser) -> None:
    """Add that the lock of what is made is written, too."""
    parser.add_argument(
        "--lock", action="store_true", help="then write the lock of each document (DOC.lock.json)"
    )


def write_lock(opening: OpenRequest, request: LockRequest, token: CancelToken) -> LockWritten:
    """Open a document and write its lock."""
    import refbrowser

    with StageBar(_STAGES) as bar:
        return refbrowser.lock(
            opening,
            request.target or None,
            update=request.update,
            whole=request.whole,
            skip_bad=request.skip_bad,
            progress=job_control(token, bar),
        )


def tell_locks(told: Sequence[LockWritten], arguments: argparse.Namespace, *, is_quiet: bool = False) -> int:
    """Tell what was written, and return the exit code: that of what could not be looked at."""
    kinds: set[ErrorKind] = set()
    for written in told:
        errors = written.made.errors
        for error in errors[:_SHOWN]:
            tell_warning(error)
        if len(errors) > _SHOWN:
            more = f"{len(errors) - _SHOWN} more files could not be looked at"
            tell_warning(RefbrowserError(errors[0].kind, more))
        if written.lock is None:
            message = "the lock was not written, as files could not be looked at"
            place = Place(document=written.path)
            tell_warning(RefbrowserError(errors[0].kind, message, place, _ALL_THE_SAME))
        if arguments.json and not is_quiet:
            write_json(_as_json(written))
        elif written.lock is not None and not is_quiet:
            write_line(_line(written))
        kinds.update(error.kind for error in errors)
    if ErrorKind.BLOCKED in kinds:
        return ErrorKind.BLOCKED.exit_code
    return max((kind.exit_code for kind in kinds), default=0)


_ALL_THE_SAME = "--skip-bad replaces a lock that is there all the same"


def _line(written: LockWritten) -> str:
    made, lock = written.made, written.lock
    assert lock is not None
    files = f"{counted_plain(len(made.lock.entries), 'file')} looked at"
    not_locked = f", {len(lock.not_locked)} not locked" if lock.not_locked else ""
    return f"{plain(written.path)}: {files}{not_locked}; {len(lock.entries)} in the lock"


def _as_json(written: LockWritten) -> dict[str, Any]:
    made, lock = written.made, written.lock
    return {
        "lock": written.path,
        "written": lock is not None,
        "files": 0 if lock is None else len(lock.entries),
        "looked_at": len(made.lock.entries),
        "requests": made.requests,
        "not_locked": [
            {"url": error.place.url, "kind": str(error.kind), "message": error.message}
            for error in made.errors
        ],
    }
