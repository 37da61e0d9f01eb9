"""Hidden siblings: what is made lies beside its final name, under one that tells which process makes it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from refbrowser.io.files.own_names import remove

_MARK = ".refbrowser-"
_SIBLING = re.compile(r"\..*\.refbrowser-(\d{1,10})-[0-9a-f]{8}", re.DOTALL)


def sibling_of(path: str | os.PathLike[str]) -> str:
    """Return a new name beside `path`, for what is to become it."""
    folder, name = os.path.split(os.fspath(path))
    return os.path.join(folder, f"{_begin(name)}{os.getpid()}-{os.urandom(4).hex()}")


@contextlib.contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Give a folder beside `path` for a while; those that killed processes left are removed."""
    remove_leftovers(path)
    folder = Path(sibling_of(path))
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        remove(folder)


def is_leftover(name: str) -> bool:
    """Whether a file of this name is one that is being written, or that a killed process left."""
    return _SIBLING.fullmatch(name) is not None


def remove_leftovers(path: str | os.PathLike[str]) -> list[str]:
    """Remove what killed processes left beside `path`; return the names removed."""
    folder, name = os.path.split(os.path.realpath(path))
    return remove_leftovers_of(folder, [name])


def remove_leftovers_of(folder: str, names: Iterable[str]) -> list[str]:
    """Remove what killed processes left in a folder beside some names; return the names removed."""
    from refbrowser.io.processes import is_running  # What only reads files asks after no process.

    begins = {_begin(name) for name in names}
    removed = []
    with contextlib.suppress(OSError):
        for other in os.listdir(folder or "."):
            # Most others are none, and there may be thousands.
            match = _SIBLING.fullmatch(other) if _MARK in other else None
            if match and other[: match.start(1)] in begins and not is_running(int(match[1])):
                with contextlib.suppress(OSError):
                    remove(Path(folder, other))
                    removed.append(other)
    return removed


def remove_all_leftovers(folder: Path) -> list[str]:
    """Remove what killed processes left in a folder of our own, beside any name; return the names removed."""
    with contextlib.suppress(OSError):
        left = [name for name in os.listdir(folder) if is_leftover(name)]
        return remove_leftovers_of(str(folder), {name[1 : name.rindex(_MARK)] for name in left})
    return []


def _begin(name: str) -> str:
    """Return how the names of hidden siblings begin: file systems have no room for more than 255 bytes."""
    return f".{os.fsdecode(os.fsencode(name)[:180])}{_MARK}"
