"""A window that runs in a process of its own, as the program that opened it sees it."""

from __future__ import annotations

import subprocess

from refbrowser.errors import quoted

#: Seconds after which a process that was asked to end is ended.
_PATIENCE = 5.0


class WindowProcess:
    """A window in a process of its own; it stays open when this program ends.

    Attributes
    ----------
    path
        What it shows.
    pid
        The number of its process.
    """

    def __init__(self, path: str, process: subprocess.Popen[bytes]) -> None:
        self.path = path
        self.pid = process.pid
        self._process = process

    def __repr__(self) -> str:
        state = "open" if self.is_open else "closed"
        return f"<refbrowser window on {quoted(self.path)}: {state}, process {self.pid}>"

    @property
    def is_open(self) -> bool:
        """Whether its process runs."""
        return self._process.poll() is None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it is closed, and return the exit code of its process.

        Raises
        ------
        TimeoutError
            It is still open after `timeout` seconds.
        """
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the window is still open after {timeout} s") from None

    def close(self) -> None:
        """Close it at once; edits that were not saved are offered again by the next window."""
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
