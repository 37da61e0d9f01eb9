"""Starts while a window is open: what they name is opened there, whatever else comes to its socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from refbrowser.app.dialogs.questions import QMessageBox
from refbrowser.app.shell import launch, second_starts
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.shell.second_starts import SecondStarts
from refbrowser.cli import main
from refbrowser.io import running_window
from refbrowser.io.running_window import MESSAGE_SIZE, TAKEN, Start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such sockets")
Settle = Callable[[], None]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    return folder / "window"


@pytest.fixture
def starts(window: MainWindow, place: Path) -> Iterator[SecondStarts]:
    (made,) = launch.listen(window, place)
    yield made
    made.close()


def connected(place: Path) -> socket.socket:
    end = socket.socket(socket.AF_UNIX)
    end.connect(str(place))
    end.setblocking(False)
    return end


def answer(end: socket.socket, qtbot: QtBot) -> bytes:
    """Return what comes until the connection is closed; the window goes on meanwhile."""
    found = bytearray()

    def is_closed() -> bool:
        try:
            portion = end.recv(64)
        except BlockingIOError:
            return False
        found.extend(portion)
        return not portion

    qtbot.waitUntil(is_closed)
    end.close()
    return bytes(found)


def told(place: Path, data: bytes, qtbot: QtBot) -> bytes:
    end = connected(place)
    end.sendall(data)
    end.shutdown(socket.SHUT_WR)
    return answer(end, qtbot)


def test_what_a_start_names_is_opened_here(
    window: MainWindow, starts: SecondStarts, place: Path, small: Path, qtbot: QtBot, settle: Settle
) -> None:
    assert told(place, Start((str(small), f"{small}::/temp")).to_bytes(), qtbot) == TAKEN
    settle()
    assert [each.path for each in window.documents.all()] == [str(small)]
    assert window.navigation.item().place == "/temp"
    assert told(place, Start().to_bytes(), qtbot) == TAKEN
    assert len(window.documents.all()) == 1


def test_a_link_from_outside_is_asked_about_here(
    window: MainWindow, starts: SecondStarts, place: Path, qtbot: QtBot
) -> None:
    assert told(place, Start(("refbrowser:/nowhere/a.json",)).to_bytes(), qtbot) == TAKEN
    (box,) = window.findChildren(QMessageBox, "linkQuestion")
    assert not window.documents.all()
    box.reject()


@pytest.mark.parametrize("data", [b"", b"hello", b"{}", b"x" * (MESSAGE_SIZE + 1), Start().to_bytes()[:-1]])
def test_anything_else_gets_no_answer_and_opens_nothing(
    window: MainWindow, starts: SecondStarts, place: Path, data: bytes, qtbot: QtBot
) -> None:
    end = connected(place)
    end.setblocking(True)
    try:
        end.sendall(data)
        end.shutdown(socket.SHUT_WR)
        end.setblocking(False)
        assert answer(end, qtbot) == b""
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert not window.documents.all()
    assert told(place, Start().to_bytes(), qtbot) == TAKEN


def test_one_that_has_gone_opened_a_window_of_its_own(
    window: MainWindow, starts: SecondStarts, place: Path, small: Path, qtbot: QtBot
) -> None:
    end = connected(place)
    end.sendall(Start((str(small),)).to_bytes())
    end.close()
    assert told(place, Start().to_bytes(), qtbot) == TAKEN
    assert not window.documents.all()


def test_those_who_say_nothing_are_given_up_and_keep_nobody_waiting(
    window: MainWindow, place: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made,) = launch.listen(window, place)
    silent = [connected(place) for _ in range(3)]
    assert told(place, Start().to_bytes(), qtbot) == TAKEN
    made.close()
    for end in silent:
        assert answer(end, qtbot) == b""
    monkeypatch.setattr(second_starts, "PATIENCE", 0.02)
    (made,) = launch.listen(window, place)
    assert answer(connected(place), qtbot) == b""
    made.close()
    assert not place.exists()


def test_another_window_listens_already(window: MainWindow, starts: SecondStarts, place: Path) -> None:
    assert launch.listen(window, place) == []


class TestCommand:
    @pytest.fixture
    def handed(self, monkeypatch: pytest.MonkeyPatch, place: Path) -> list[Start]:
        found: list[Start] = []

        def take(start: Start, path: Path | None) -> bool:
            assert path == place
            found.append(start)
            return True

        monkeypatch.setattr(running_window, "address", lambda: place)
        monkeypatch.setattr(running_window, "hand_over", take)
        return found

    def test_paths_are_whole(self, handed: list[Start], small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(small.parent)
        monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "token")
        targets = ["small.json", "./small.json::/temp[0]", "https://x.org/a.json::/b", "refbrowser:a%20b"]
        assert main([*targets, "--array", "/x"]) == 0
        whole = (str(small), f"{small}::/temp[0]", *targets[2:])
        assert handed == [Start(whole, "/x", "token")]

    @pytest.mark.parametrize(
        "options",
        [
            ["--new-window"],
            ["--allow", "https://x.org"],
            ["--storage-option", "s3://b:anonymous=true"],
            ["--allow-codec", "x"],
            ["--stale", "allow"],
            ["--template", "u=x"],
            ["--theme", "dark"],
            ["--size", "800x600"],
            ["--byte-order", "big"],
            ["--screenshot", "x.png"],
        ],
    )
    def test_what_holds_for_one_process_has_a_window_of_its_own(
        self, handed: list[Start], small: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ran: list[object] = []
        monkeypatch.setattr(launch, "run", lambda *_, **how: ran.append(how["shared"]) or 0)
        assert main([str(small), *options]) == 0
        assert not handed
        # Nor does it take what others name: permissions and settings hold for all that is in it.
        assert ran == [None]


@pytest.mark.slow
def test_a_second_start_loads_nothing_of_the_window(
    window: MainWindow, starts: SecondStarts, place: Path, small: Path, qtbot: QtBot, settle: Settle
) -> None:
    code = (
        "import sys; from pathlib import Path; from refbrowser.cli import main;"
        "from refbrowser.io import running_window;"
        f"running_window.address = lambda: Path({str(place)!r}); code = main(sys.argv[1:]);"
        "sys.exit(code or any(each in sys.modules for each in ('PySide6', 'numpy')))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(small)])
    qtbot.waitUntil(lambda: process.poll() is not None, timeout=60_000)
    assert process.returncode == 0
    settle()
    assert [each.path for each in window.documents.all()] == [str(small)]
