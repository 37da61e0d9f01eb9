"""What must not reach the terminal: Qt's messages and tracebacks go to the log."""

from __future__ import annotations

import itertools
import logging
import sys
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

logger = logging.getLogger(__name__)
_incidents = itertools.count(1)


def send_qt_messages_to_log() -> None:
    """Log what Qt would write to standard error."""
    levels = {QtMsgType.QtWarningMsg: logging.INFO, QtMsgType.QtCriticalMsg: logging.ERROR}

    def log(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
        logger.log(levels.get(kind, logging.DEBUG), "%s", message)

    qInstallMessageHandler(log)


def send_exceptions_to(show: Callable[[BaseException], object]) -> None:
    """Log an exception that nobody caught in the window's thread, and show it; the window stays."""

    def caught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        number = next(_incidents)
        logger.error("incident %d", number, exc_info=(kind, error, trace))
        error.add_note(f"Incident {number}; details are in the log")
        show(error)

    sys.excepthook = caught
