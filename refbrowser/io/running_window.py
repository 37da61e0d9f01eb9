"""The window that is open already: a socket of this user's alone, by which a second start reaches it.

The socket lies in a folder that nobody else can enter, both sides ask the system who is at the other end, and
what is handed over is short, and checked: what to open, and nothing that gives a permission or a setting.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from refbrowser.version import __version__

#: Bytes that are handed over at most, and what they name at most.
MESSAGE_SIZE = 1 << 16
TARGETS = 50
#: A window that has not answered after so many seconds is taken for none.
PATIENCE = 2.0
#: What it answers.
TAKEN = b"taken\n"
#: Paths of sockets are short on every system.
_LONGEST_PATH = 100
#: Where windows are drawn that nobody sees.
_UNSEEN = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")


@dataclass(frozen=True, slots=True)
class Start:
    """What a second start hands over.

    Attributes
    ----------
    targets
        Absolute paths, URLs and links, as the command line takes them.
    array
        The array to select in the last of them; empty for no certain one.
    token
        By which the desktop lets the window come to the front; empty where it gave none.
    """

    targets: tuple[str, ...] = ()
    array: str = ""
    token: str = ""

    def to_bytes(self) -> bytes:
        """Return it as it is handed over."""
        return json.dumps({"version": __version__, **asdict(self)}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what was handed over.

        Raises
        ------
        ValueError
            It is too long, or not what a start of this version hands over.
        """
        if len(data) > MESSAGE_SIZE:
            raise ValueError("it is too long")
        try:
            found = json.loads(data)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(found, dict) or set(found) != {"version", "targets", "array", "token"}:
            raise ValueError("it is no start")
        targets, texts = found["targets"], [found["version"], found["array"], found["token"]]
        if not isinstance(targets, list) or len(targets) > TARGETS:
            raise ValueError("it names too much")
        if not all(isinstance(text, str) and "\0" not in text for text in (*targets, *texts)):
            raise ValueError("it is no text")
        if found["version"] != __version__:
            raise ValueError("it is of another version")
        # What asks a desktop is a word.
        token = found["token"] if found["token"].isascii() and found["token"].isprintable() else ""
        return cls(tuple(targets), found["array"], token)


def address(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return where the window of this user, this display and this program listens; None where none does.

    None where windows are drawn off screen, on systems without such sockets, and where the folder could be
    another user's.
    """
    platform = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if os.name != "posix" or not hasattr(socket, "AF_UNIX") or platform in _UNSEEN:
        return None
    folder = _own_folder(environment.get("XDG_RUNTIME_DIR", ""))
    if folder is None:
        return None
    display = environment.get("WAYLAND_DISPLAY") or environment.get("DISPLAY", "")
    # With its settings in another place it is a trial; so it is where the program itself is another one.
    settings = (environment.get("XDG_CONFIG_HOME", ""), environment.get("HOME", ""))
    about = os.fsencode("\n".join((__version__, __file__, display, *settings)))
    # It keeps apart what this user alone has: no digest whose library a start would wait for.
    path = folder / f"window-{zlib.crc32(about):08x}{zlib.adler32(about):08x}"
    return path if len(os.fsencode(path)) <= _LONGEST_PATH else None


def _own_folder(runtime: str) -> Path | None:
    """Return a folder that this user alone can enter, made where there is none; None where it is no such."""
    if os.path.isabs(runtime):
        folder = Path(runtime, "refbrowser")
    else:
        import tempfile  # A start does not wait for it where there is the other.

        folder = Path(tempfile.gettempdir(), f"refbrowser-{os.geteuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return None
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return folder if is_own else None


def is_own_peer(end: socket.socket) -> bool:
    """Tell whether the process at the other end is this user's; where no system tells, the folder says so."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    try:
        _process, user, _group = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, option, 12))
    except (OSError, struct.error):
        return False
    return bool(user == os.geteuid())


def hand_over(start: Start, path: Path | None, patience: float = PATIENCE) -> bool:
    """Let the window that is open take a start; whether it did, within `patience` at each step."""
    message = start.to_bytes()
    if path is None or len(message) > MESSAGE_SIZE or len(start.targets) > TARGETS:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.settimeout(patience)
        try:
            end.connect(os.fspath(path))
            if not is_own_peer(end):
                return False
            end.sendall(message)
            end.shutdown(socket.SHUT_WR)
            return end.recv(len(TAKEN)) == TAKEN
        except OSError:
            return False


class Listening:
    """A socket at which the window listens; one at a time at each address.

    Parameters
    ----------
    path
        The address.

    Raises
    ------
    OSError
        Another window listens there, or no socket can be made.
    """

    def __init__(self, path: Path) -> None:
        import fcntl

        self._path = path
        # Held as long as the process lives: a socket that a lost process left is nobody's.
        self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
            self.socket.setblocking(False)
            self.socket.bind(os.fspath(path))
            path.chmod(0o600)
            self.socket.listen(8)
        except BaseException:
            self.socket.close()
            os.close(self._lock)
            raise

    def accept(self) -> socket.socket | None:
        """Return the next that wants to hand something over, and is this user's; None for none."""
        try:
            guest, _ = self.socket.accept()
        except OSError:
            return None
        if not is_own_peer(guest):
            guest.close()
            return None
        guest.setblocking(False)
        return guest

    def close(self) -> None:
        """Listen no more."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self.socket.close()
        os.close(self._lock)
