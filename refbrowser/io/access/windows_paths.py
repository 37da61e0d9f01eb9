"""What Windows takes for more than a file: devices, streams, and shares of other machines.

Only texts are looked at, so that nothing of it is asked for: a path of a share makes Windows call that
machine, and tell it who the user is.
"""

from __future__ import annotations

import ntpath
import os
import re

#: Whether paths are those of Windows here.
HERE = os.name == "nt"
#: Names of devices, in any folder and with any suffix.
_DEVICE = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ .]*([.:].*)?", re.IGNORECASE | re.DOTALL
)
#: Beginnings that are no drive and no share: what follows goes to the kernel as it is.
_NAMESPACE = re.compile(r"[\\/]{2}[?.][\\/]|[\\/]\?\?[\\/]")


def fault_of(path: str) -> str | None:
    """Return why a path that a document names is never read, as a sentence; None where it may be."""
    if _NAMESPACE.match(path):
        return "paths of devices are never read"
    drive, rest = ntpath.splitdrive(path)
    if drive[1:2] == ":" and rest[:1] not in ("/", "\\") and rest:
        return "the path is relative to the current folder of a drive"
    if any(_DEVICE.fullmatch(name) for name in re.split(r"[\\/]", rest)):
        return "the path names a device"
    if ":" in rest:
        return "the path names a stream of a file"
    return None


def share_of(path: str) -> str | None:
    r"""Return the share a path is on, ``\\server\share`` in small letters; None for one of this machine."""
    drive = ntpath.normcase(ntpath.splitdrive(path)[0])
    return drive if drive.startswith("\\\\") else None


def is_elsewhere(path: str, base: str) -> bool:
    """Whether a path is on a share that the document in the folder `base` is not on."""
    share = share_of(path)
    return share is not None and share != share_of(base)


def unresolved(path: str) -> str:
    """Return a path without dots and with one kind of separator; links in it are not looked for."""
    return ntpath.normpath(path)
