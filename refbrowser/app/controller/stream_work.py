"""How streams are opened in the window. Imported inside tasks."""

from __future__ import annotations

from typing import Any

from refbrowser.app.tasks import TaskControl
from refbrowser.engine.jobs import JobControl
from refbrowser.formats.ncstream.byte_order import ORDERS, StreamOptions


def options_of(byte_order: str) -> StreamOptions:
    """Return how a stream is read for which the user chose a byte order; empty for the rule."""
    return StreamOptions(byte_order=next((order for order in ORDERS if order == byte_order), None))


class StreamControl(JobControl):
    """Tells how far the walk through a file is, in the list of jobs and where the document will be."""

    def __init__(self, control: TaskControl) -> None:
        super().__init__(control.token)
        self._control = control

    def progress(self, done: int, total: int | None = None, **facts: Any) -> None:
        # Members that were looked into are no bytes that were read.
        if facts.get("note") != "members":
            self._control.send((done, total))
        self._control.progress(done, total, **facts)
