"""Files that are kept between runs in the user's folder for caches; any of them may be gone at any time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

from refbrowser.io.access.local_files import open_regular
from refbrowser.io.files.atomic import write_own
from refbrowser.io.files.hidden_siblings import is_leftover
from refbrowser.io.identity import FileIdentity, ObjectIdentity


def cache_folder(name: str) -> Path:
    """Return a folder of the program for caches, which may not be there."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "refbrowser" / name


def kept_name(url: str, suffix: str) -> str:
    """Return the name of the file that is kept of what lies at a URL or path."""
    return hashlib.sha256(os.fsencode(url)).hexdigest()[:40] + suffix


def state_of(identity: FileIdentity | ObjectIdentity | None) -> list[Any] | None:
    """Return what tells one state of a file or object from another; None where nothing does."""
    if identity is None:
        return None
    if isinstance(identity, ObjectIdentity) and identity.etag is None and identity.modified is None:
        return None
    return [getattr(identity, each.name) for each in fields(identity) if each.compare]


def write_kept(path: Path, mark: bytes, body: bytes, most: int) -> None:
    """Write a file of a folder, and remove those that were not used for longest.

    Parameters
    ----------
    mark
        What files of this kind begin with.
    most
        Bytes of all files of its suffix together.

    Raises
    ------
    OSError, RefbrowserError
        It cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_symlink():
        # What it leads to is not ours, and would be replaced.
        path.unlink()
    write_own(path, [mark, b"%08x\n" % zlib.crc32(body), body])
    found = []
    for entry in os.scandir(path.parent):
        if entry.name.endswith(path.suffix) and not is_leftover(entry.name):
            status = entry.stat(follow_symlinks=False)
            found.append((status.st_mtime_ns, status.st_size, entry.path))
    total = 0
    for _, size, each in sorted(found, reverse=True):
        total += size
        if total > most:
            os.unlink(each)


def read_kept(path: Path, mark: bytes, largest: int) -> bytes:
    """Return the body of a file; links are not followed.

    Raises
    ------
    ValueError
        It is none of this kind, damaged, or larger than `largest`.
    OSError, RefbrowserError
        It cannot be read.
    """
    with open_regular(os.fspath(path)) as (descriptor, identity):
        if identity.size > largest:
            raise ValueError("it is too large")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(largest)
    checksum, _, body = data.removeprefix(mark).partition(b"\n")
    if not data.startswith(mark) or int(checksum, 16) != zlib.crc32(body):
        raise ValueError("it is damaged")
    return body


def was_used(path: Path) -> None:
    """Note that a file was used: the time of last use decides which ones are kept."""
    with contextlib.suppress(OSError):
        os.utime(path)
