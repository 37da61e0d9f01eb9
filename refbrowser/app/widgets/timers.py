"""Timers that fire once: for what is done after a pause, or at most once in a while."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def one_shot(owner: QObject, milliseconds: int, work: Callable[[], object]) -> QTimer:
    """Return a timer, not yet started, that does `work` once after each start; it ends with its owner."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(work)
    return timer
