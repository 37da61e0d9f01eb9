"""What Linux holds a process to that reads foreign bytes with a library: it imports nothing of ours.

A fault in a library of C may run whatever a file says. So such a process has no network and starts no program
(a filter of system calls), and opens nothing but what it was given and what Python and its libraries are made
of (Landlock, https://docs.kernel.org/userspace-api/landlock.html). What a system does not have is left out:
`in_force` tells.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable
from typing import Any

#: Variables that a library may need, by name or by how the name begins. Credentials have other names.
_VARIABLES = {
    "PATH", "HOME", "USERPROFILE", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT",
    "SYSTEMDRIVE", "WINDIR", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "VIRTUAL_ENV", "CONDA_PREFIX",
}  # fmt: skip
_PREFIXES = ("LC_", "LD_", "DYLD_", "PYTHON", "ECCODES_", "GRIB_", "HDF5_", "BLOSC_", "OMP_")
#: Variables of folders that libraries load from.
_FOLDERS = (
    "LD_LIBRARY_PATH", "HDF5_PLUGIN_PATH", "ECCODES_DEFINITION_PATH", "ECCODES_SAMPLES_PATH",
    "GRIB_DEFINITION_PATH",
)  # fmt: skip
#: What belongs to the system, and tells nothing of a user.
_SYSTEM = (
    "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/zero", "/dev/urandom",
    "/dev/random", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu",
)  # fmt: skip

_LIBC: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
# prctl(2)
_PDEATHSIG, _SECCOMP, _NO_NEW_PRIVS = 1, 22, 38
# landlock(7): system calls, which have the same numbers everywhere, and rights
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR, _WRITE_FILE = 1 << 2, 1 << 3, 1 << 1
_REMOVE_FILE, _MAKE_FILE, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
#: Rights over files and folders that a version knows: all of them are taken away.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
#: By machine: its number, kill(2), and calls that fail: networks, programs, other processes, ways around.
_DENIED = {
    "x86_64": (
        0xC000003E,
        62,
        (41, 42, 43, 49, 50, 59, 101, 155, 161, 165, 166, 175, 246, 248, 249, 250, 272, 288, 298, 304, 308,
         310, 311, 313, 321, 322, 323, 424, 425, 434, 438),
    ),
    "aarch64": (
        0xC00000B7,
        129,
        (39, 40, 41, 51, 97, 104, 105, 117, 198, 200, 201, 202, 203, 217, 218, 219, 221, 241, 242, 265, 268,
         270, 271, 273, 280, 281, 282, 424, 425, 434, 438),
    ),
}  # fmt: skip
#: Numbers from here on are another way to call the same, on x86.
_X32 = 0x40000000


def clean_environment() -> dict[str, str]:
    """Return the variables of this process that a library may need: no keys, tokens or addresses."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _VARIABLES or name.upper().startswith(_PREFIXES)
    }


def end_with_parent() -> None:
    """Have this process killed when the thread ends that started it, however it ends."""
    if _LIBC is not None:
        _LIBC.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def in_force() -> dict[str, str]:
    """Return what this system holds such processes to, in words, by what it is about."""
    files, calls = _landlock(), _filter()
    return {
        "files": f"only those given and the libraries' own (Landlock {files})" if files else "not held back",
        "network": "none (seccomp)" if calls is not None else "not held back",
        "programs": "none (seccomp)" if calls is not None else "not held back",
        "environment": "without keys and tokens",
    }


def libraries() -> list[int]:
    """Return what Python and its libraries are made of, opened as places, for `confine`."""
    if not _landlock():
        return []
    folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, *_SYSTEM}
    for name in _FOLDERS:
        folders.update(os.environ.get(name, "").split(os.pathsep))
    # Libraries may lie anywhere; those that are loaded show where.
    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        folders.update(os.path.dirname(each.split()[-1]) for each in maps if ".so" in each and "/" in each)
    folders.update(
        os.path.dirname(path)
        for module in list(sys.modules.values())
        if (path := getattr(module, "__file__", None))
    )
    return _places(sorted(each for each in folders if os.path.isabs(each) and each != "/"))


def confine(places: Iterable[int], given: Iterable[str], writable: Iterable[str] = ()) -> None:
    """Hold this thread, and what it starts, to places and files from now on, without network and programs.

    Parameters
    ----------
    places
        What `libraries` returned.
    given
        Files and folders that are read.
    writable
        Folders in which files are made, changed and removed.
    """
    if _LIBC is None:
        return
    if _LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
        return
    if version := _landlock():
        _close_files(version, places, ("/proc/self", *given), writable)
    if (program := _filter()) is not None:
        _LIBC.prctl(_SECCOMP, 2, ctypes.byref(program), 0, 0)


def _landlock() -> int:
    """Return the version of Landlock; 0 where there is none."""
    return 0 if _LIBC is None else max(int(_LIBC.syscall(_CREATE, None, 0, 1)), 0)


def _close_files(version: int, places: Iterable[int], given: Iterable[str], writable: Iterable[str]) -> None:
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    # Networks, from version 4 on; signals and sockets that lead out, from version 6 on.
    told = struct.pack("=QQQ", rights, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _LIBC.syscall(_CREATE, ctypes.create_string_buffer(told, len(told)), len(told), 0)
    if rules < 0:
        return
    read, written = _places(given), _places(writable)
    try:
        for place in (*places, *read):
            _allow(rules, place, _reading(place))
        for place in written:
            more = _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE | _TRUNCATE
            _allow(rules, place, (_reading(place) | more) & rights)
        _LIBC.syscall(_RESTRICT, rules, 0)
    finally:
        for each in (rules, *read, *written):
            os.close(each)


def _places(paths: Iterable[str]) -> list[int]:
    return [each for each in map(_place, paths) if each is not None]


def _place(path: str) -> int | None:
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None


def _reading(place: int) -> int:
    """Return the rights that reading a place needs."""
    import stat

    mode = os.fstat(place).st_mode
    if stat.S_ISDIR(mode):
        return _READ_FILE | _READ_DIR
    return _READ_FILE | _WRITE_FILE if stat.S_ISCHR(mode) else _READ_FILE


def _allow(rules: int, place: int, rights: int) -> None:
    rule = struct.pack("=Qi", rights, place)
    _LIBC.syscall(_ADD, rules, 1, ctypes.create_string_buffer(rule, len(rule)), 0)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def _filter() -> _Program | None:
    """Return a filter of system calls for this machine; None where there is none."""
    found = _DENIED.get(platform.machine()) if _LIBC is not None and sys.maxsize > 2**32 else None
    if found is None or _LIBC.prctl(21, 0, 0, 0, 0) < 0:
        return None
    machine, kill, denied = found
    load, equal, above, answer = 0x20, 0x15, 0x35, 0x06
    fail = (answer, 0, 0, 0x00050000 | 1)  # EPERM
    count = len(denied)
    steps = [
        (load, 0, 0, 4),
        (equal, 1, 0, machine),
        fail,
        (load, 0, 0, 0),
        (above, count + 4, 0, _X32),
        *((equal, count + 3 - at, 0, number) for at, number in enumerate(denied)),
        # A process may end itself, as C does after a fault.
        (equal, 0, 2, kill),
        (load, 0, 0, 16),
        (equal, 0, 1, os.getpid()),
        (answer, 0, 0, 0x7FFF0000),
        fail,
    ]
    return _Program(len(steps), b"".join(struct.pack("=HBBI", *each) for each in steps))
