"""Starts of the program while a window is open: what they name is opened in it."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier, Qt
from PySide6.QtWidgets import QApplication, QWidget

from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.io.running_window import MESSAGE_SIZE, PATIENCE, TAKEN, Listening, Start

logger = logging.getLogger(__name__)
#: Starts that are listened to at a time.
_AT_ONCE = 8


class SecondStarts(QObject):
    """Listens for other starts, and never waits for one.

    Parameters
    ----------
    take
        Opens what a start names.
    """

    def __init__(self, listening: Listening, take: Callable[[Start], object], parent: QObject) -> None:
        super().__init__(parent)
        self._listening, self._take = listening, take
        self._guests: set[_Guest] = set()
        self._notifier = QSocketNotifier(listening.socket.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._accept)

    def close(self) -> None:
        """Listen no more."""
        self._notifier.setEnabled(False)
        for guest in list(self._guests):
            guest.end()
        self._listening.close()

    def _accept(self) -> None:
        end = self._listening.accept()
        if end is None:
            return
        if len(self._guests) >= _AT_ONCE:
            end.close()
            return
        guest = _Guest(end, self._handed_over, self)
        self._guests.add(guest)
        guest.ended.append(lambda: self._guests.discard(guest))

    def _handed_over(self, end: socket.socket, data: bytes) -> None:
        try:
            start = Start.from_bytes(data)
            # Whoever has gone already has a window of its own.
            end.send(TAKEN)
        except (ValueError, OSError) as error:
            logger.info("a second start is not taken: %s", error)
            return
        self._take(start)


class _Guest(QObject):
    """One start, until it has said all, too much, or nothing for too long."""

    def __init__(
        self, end: socket.socket, done: Callable[[socket.socket, bytes], object], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._end, self._done = end, done
        self._data = bytearray()
        #: Called once nothing more comes.
        self.ended: list[Callable[[], object]] = []
        self._notifier = QSocketNotifier(end.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)
        self._deadline = one_shot(self, round(PATIENCE * 1000), self.end)
        self._deadline.start()

    def _read(self) -> None:
        try:
            portion = self._end.recv(MESSAGE_SIZE + 1 - len(self._data))
        except BlockingIOError:
            return
        except OSError:
            self.end()
            return
        self._data += portion
        if len(self._data) > MESSAGE_SIZE:
            self.end()
        elif not portion:
            self._notifier.setEnabled(False)
            try:
                self._done(self._end, bytes(self._data))
            finally:
                self.end()

    def end(self) -> None:
        """Close the connection."""
        self._deadline.stop()
        self._notifier.setEnabled(False)
        self._end.close()
        while self.ended:
            self.ended.pop()()
        self.deleteLater()


def bring_forward(window: QWidget, token: str) -> None:
    """Show a window before others; `token` is what the desktop gave the start for it."""
    if token:
        # Qt gives it to the desktop with what is asked below.
        os.environ["XDG_ACTIVATION_TOKEN"] = token
    if window.isMinimized():
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.raise_()
    window.activateWindow()
    # What asks for an answer stays before its window.
    question = QApplication.activeModalWidget()
    if question is not None:
        question.raise_()
        question.activateWindow()
    os.environ.pop("XDG_ACTIVATION_TOKEN", None)
