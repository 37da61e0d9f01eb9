"""What a window shows is kept while it is open: offered after a crash, and after the window was closed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.commands.sessions import SessionCommands
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.window_states import kept_window
from refbrowser.app.window_states.kept_window import KeptWindow
from refbrowser.io.files.window_files import WindowFile, last_window, lost_windows, window_folder
from refbrowser.views.window_states.session_file import session_text
from refbrowser.views.window_states.window_state import DocumentState, WindowState

Settle = Callable[[], None]


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of states of this test alone."""
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    monkeypatch.setattr(kept_window, "WITHIN", 10)
    return home


def offer(window: MainWindow) -> QPushButton | None:
    return window.centre.start.findChild(QPushButton, "restoreSessionButton")


def kept(path: Path) -> list[str]:
    """Return the names of the documents that a file of a window names."""
    return [Path(each["path"]).name for each in json.loads(path.read_text()).get("documents", [])]


def lost(*paths: str) -> Path:
    """Write what a window showed whose process is gone."""
    path = window_folder() / "window-4194303-1-00000000.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(session_text(WindowState(tuple(map(DocumentState, paths)), current=0), "")[0])
    return path


def test_what_killed_processes_left_half_written_is_removed() -> None:
    file = WindowFile()
    file.write(b"{}")
    gone = window_folder() / f".{file.path.name}.refbrowser-{1 << 30}-0123abcd"
    kept_one = window_folder() / f".{file.path.name}.refbrowser-{os.getpid()}-0123abcd"
    gone.touch()
    kept_one.touch()
    assert lost_windows() == []
    assert sorted(window_folder().iterdir()) == sorted([kept_one, file.path])


@pytest.mark.slow
def test_a_window_is_kept_after_each_change_and_is_the_last_one_when_it_is_closed(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    keeper = KeptWindow(window)
    opened(small)
    qtbot.waitUntil(lambda: bool(list(window_folder().glob("window-*.json"))))
    (path,) = window_folder().iterdir()
    assert kept(path) == ["small.json"]
    assert path.stat().st_mode & 0o777 == 0o600
    # It is no lost one: this process runs.
    assert lost_windows() == []
    other = small.with_name("other.json")
    other.write_text(small.read_text())
    opened(other)
    qtbot.waitUntil(lambda: kept(path) == ["small.json", "other.json"])
    keeper.hold()
    # A window that closes may have closed documents on the way.
    for document in window.documents.all():
        window.documents.close(document)
    keeper.end()
    last = last_window()
    assert last is not None
    assert kept(last) == ["small.json", "other.json"]
    assert list(window_folder().iterdir()) == [last]
    keeper.deleteLater()


@pytest.mark.slow
def test_the_last_window_is_offered_restored_at_once_or_neither(
    window: MainWindow, small: Path, settle: Settle
) -> None:
    group = window.groups[SessionCommands]
    file = WindowFile()
    file.write(session_text(WindowState((DocumentState(str(small)),), current=0), "")[0])
    file.end()
    window.preferences.set("restore", "never")
    group.look_for_kept()
    settle()
    assert offer(window) is None
    window.preferences.set("restore", "ask")
    group.look_for_kept()
    settle()
    button = offer(window)
    assert button is not None
    assert button.text().startswith("Restore the last session  (1 document, 20")
    assert window.documents.all() == []
    button.click()
    settle()
    assert [document.path for document in window.documents.all()] == [str(small)]
    window.documents.close(window.documents.all()[0])
    window.preferences.set("restore", "always")
    group.look_for_kept()
    settle()
    assert [document.path for document in window.documents.all()] == [str(small)]
    assert offer(window) is None


def test_a_lost_window_is_offered_whatever_is_preferred_and_never_restored_by_itself(
    window: MainWindow, small: Path, settle: Settle
) -> None:
    group = window.groups[SessionCommands]
    path = lost(str(small))
    for wish in ("never", "always"):
        window.preferences.set("restore", wish)
        group.look_for_kept()
        settle()
        assert window.documents.all() == []
        button = offer(window)
        assert button is not None
        assert "ended unexpectedly" in button.text()
    button.click()
    settle()
    assert [document.path for document in window.documents.all()] == [str(small)]
    assert not path.exists()


def test_the_newest_of_what_is_kept_is_offered(window: MainWindow, small: Path, settle: Settle) -> None:
    group = window.groups[SessionCommands]
    os.utime(lost(str(small)), (1_000_000, 1_000_000))
    file = WindowFile()
    file.write(session_text(WindowState((DocumentState(str(small)),), current=0), "")[0])
    file.end()
    for wish, words in (("ask", "last session"), ("never", "ended unexpectedly")):
        window.preferences.set("restore", wish)
        group.look_for_kept()
        settle()
        button = offer(window)
        assert button is not None
        assert words in button.text()
    window.centre.start.set_session("")


def test_damaged_files_of_windows_are_passed_over(window: MainWindow, settle: Settle) -> None:
    lost().write_text('{"refbrowser": "session", "version": 1, "documents": [{"path": "/dev/zero"}]}')
    window.groups[SessionCommands].look_for_kept()
    settle()
    assert offer(window) is None


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_what_it_showed(
    window: MainWindow, small: Path, settle: Settle, tmp_path: Path, state_home: Path
) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    environment |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "refbrowser", "--new-window", f"{small}::/temp"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = list(window_folder().glob("window-*.json"))
            if found and json.loads(found[0].read_text()).get("plots"):
                break
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (path,) = lost_windows()
    assert kept(path) == ["small.json"]
    window.groups[SessionCommands].look_for_kept()
    settle()
    button = offer(window)
    assert button is not None
    button.click()
    settle()
    (plot,) = window.centre.plots()
    state = plot.state()
    assert state is not None
    assert (state.path, state.node) == (str(small), "/temp")
