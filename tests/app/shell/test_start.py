"""Starting: what is loaded before the first paint, and without a display."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refbrowser.app.shell import launch
from refbrowser.app.shell.housekeeping import send_exceptions_to
from refbrowser.app.shell.main_window import MainWindow

HEAVY = "numpy pyqtgraph jinja2 fsspec zarr numcodecs pandas xarray pyarrow h5py concurrent.futures asyncio"

FIRST_PAINT = f"""
import os, sys
from PySide6.QtWidgets import QApplication
from refbrowser.app.shell import launch
from refbrowser.app.widgets import theme
from refbrowser.app.shell.main_window import MainWindow
application = QApplication([])
theme.follow_system(application)
window = MainWindow()
def painted():
    print([name for name in {HEAVY!r}.split() if name in sys.modules])
    sys.stdout.flush()
    os._exit(0)
window.firstPainted.connect(painted)
window.show()
application.exec()
"""

#: What documents mean, how they are edited and saved, and what reads their datasets.
LATER = (
    "document.document rules.gen edits.edits content.expansion findings.text_findings document.history "
    "templates.templates content.writer"
)
FIRST_ROWS = f"""
import os, sys
from refbrowser.app.shell import launch
from refbrowser.app.shell.main_window import MainWindow
show = MainWindow.show
def shown(window):
    def told(rows):
        later = ["refbrowser.references." + name for name in {LATER!r}.split()]
        later += ["refbrowser.engine.opening", "refbrowser.io.files.permissions", "refbrowser.io.access.task"]
        later += ["refbrowser.codecs.table", "google.protobuf", "hashlib", "jinja2", "pyqtgraph"]
        print(rows.row_count() > 1000, [name for name in later if name in sys.modules], flush=True)
        os._exit(0)
    # After the program's own reaction, which opens the document.
    window.ready.connect(lambda: window.documents.all()[0].firstRows.connect(told))
    show(window)
MainWindow.show = shown
launch.run([sys.argv[1]])
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **environment},
    )


@pytest.mark.slow
def test_nothing_heavy_is_loaded_at_the_first_paint() -> None:
    result = run("-c", FIRST_PAINT)
    assert result.stdout.strip() == "[]", result.stderr


@pytest.mark.slow
def test_first_rows_are_shown_before_what_they_do_not_need_is_loaded(tmp_path: Path) -> None:
    refs = {f"a/{row}": ["s3://bucket/file.nc", row, 1] for row in range(50_000)}
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    # On a busy machine the worker may have gone on before the window's thread had its turn: not each time.
    for _ in range(3):
        result = run("-c", FIRST_ROWS, str(path), XDG_CONFIG_HOME=str(tmp_path), XDG_STATE_HOME=str(tmp_path))
        if result.stdout.strip() == "True []":
            return
    pytest.fail(result.stdout + result.stderr)


@pytest.mark.slow
def test_exception_in_the_window_is_logged_and_shown(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    send_exceptions_to(window.show_unexpected)
    error = RuntimeError("the reason")
    sys.excepthook(RuntimeError, error, None)
    assert "the reason" in window.centre.error_bar.text()
    assert "Incident" in window.centre.error_bar.text()


def test_no_display_is_said_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    from refbrowser.errors import RefbrowserError

    with pytest.raises(RefbrowserError) as told:
        launch.run([])
    assert told.value.kind == "E_IO"
    assert "--screenshot" in told.value.advice
    monkeypatch.setenv("DISPLAY", ":9876")
    assert not launch.has_display()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert launch.has_display()


@pytest.mark.slow
def test_qt_names_are_made_by_the_thread_that_is_asked() -> None:
    """Two threads that make classes of PySide6 at once crash the program."""
    code = """
import sys, threading
from refbrowser.app.shell.housekeeping import QtNames
from PySide6 import QtWidgets
names, asked, made = QtNames(), [], []
main = threading.get_ident()
worker = threading.Thread(target=lambda: (names.wait(asked.append, lambda: None), made.append(True)))
worker.start()
while worker.is_alive():
    if asked:
        asked.pop()
        assert not made
        names.make_some()
worker.join()
print(len(made), not names._left)
"""
    result = run("-c", code)
    assert result.stdout.split() == ["1", "True"], result.stderr
