"""Devices, and what the kernel tells as files: they are never read."""

from __future__ import annotations

from refbrowser.io.origins import is_below

#: Folders of them.
NEVER_READ = ("/proc", "/sys", "/dev")
#: Below one of those, and a disk like others, in memory.
_MEMORY = "/dev/shm"


def is_never_read(path: str) -> bool:
    """Tell whether a path, absolute and with links resolved, is a device or what the kernel tells."""
    return any(is_below(path, folder) for folder in NEVER_READ) and not is_below(path, _MEMORY)
