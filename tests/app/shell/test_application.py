"""Files that macOS says are opened with the program, by the event that it sends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

#: There is one application in a process, and it is made once.
SCRIPT = """
from PySide6.QtCore import QCoreApplication, QEvent, QUrl
from PySide6.QtGui import QFileOpenEvent
from refbrowser.app.shell.application import FileOpenApplication

application = FileOpenApplication(["refbrowser"])
for early in ("/data/a b.json", "/data/%41.json"):
    QCoreApplication.sendEvent(application, QFileOpenEvent(early))
opened = []
application.open_by(opened.append)
print(opened)
QCoreApplication.sendEvent(application, QFileOpenEvent("/data/later.nc"))
QCoreApplication.sendEvent(application, QFileOpenEvent(QUrl("refbrowser:open?url=https://example.org/a.json")))
QCoreApplication.sendEvent(application, QEvent(QEvent.Type.User))
print(opened[2:])
"""


@pytest.mark.slow
def test_what_is_opened_with_it_waits_until_there_is_a_window() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.stdout.splitlines() == [
        "['/data/a b.json', '/data/%41.json']",
        "['/data/later.nc', 'refbrowser:open?url=https://example.org/a.json']",
    ], done.stderr
