"""Python's cyclic garbage is collected on the GUI thread alone.

A Qt object in a cycle dies in the thread that collects it. On a worker thread its timers stay behind, and the
program crashes when one of them is due.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

#: Milliseconds between two looks.
PAUSE = 500
#: What must have been made, or survived, before a generation is looked through. The last takes long (100 ms
#: once a large document is open), so that it is looked through seldom.
COLLECT_AFTER = (5_000, 20, 50)


class GarbageCollector(QObject):
    """Collects while it exists; Python's own collecting, on any thread, is off for good."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        # What was made so far stays: modules, classes, and the window's first parts.
        gc.freeze()
        self._timer = QTimer(self)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(collect_due)
        self._timer.start()


def collect_due() -> int | None:
    """Collect the oldest generation that is due; return which, None where none is."""
    counts = gc.get_count()
    due = [number for number, limit in enumerate(COLLECT_AFTER) if counts[number] > limit]
    if not due:
        return None
    gc.collect(due[-1])
    return due[-1]
