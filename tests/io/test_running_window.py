"""The window that is open: who reaches it, what is handed over, and what a lost process leaves."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from refbrowser.io import running_window
from refbrowser.io.running_window import MESSAGE_SIZE, TAKEN, TARGETS, Listening, Start, address, hand_over
from refbrowser.version import __version__

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such sockets")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder with a short name: that of a socket has about a hundred letters at most."""
    with TemporaryDirectory(prefix="rb-") as folder:
        yield Path(folder).resolve()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":7", "HOME": "/home/me"}


@pytest.fixture
def listening(environment: dict[str, str]) -> Iterator[Listening]:
    made = Listening(here(environment))
    yield made
    made.close()


def here(environment: dict[str, str]) -> Path:
    found = address(environment)
    assert found is not None
    return found


def answering(listening: Listening, answer: Callable[[bytes], bytes]) -> threading.Thread:
    """Answer the next start on another thread."""

    def run() -> None:
        listening.socket.setblocking(True)
        guest = listening.accept()
        assert guest is not None
        with guest:
            guest.setblocking(True)
            data = b"".join(iter(lambda: guest.recv(1 << 16), b""))
            guest.sendall(answer(data))

    thread = threading.Thread(target=run)
    thread.start()
    return thread


class TestWhatIsHandedOver:
    def test_it_comes_as_it_was(self) -> None:
        start = Start(("/a b.json::/x[0]", "s3://b/k", "/\udcff.json"), "/x", "token-1")
        assert Start.from_bytes(start.to_bytes()) == start

    @pytest.mark.parametrize(
        "change",
        [
            {"version": "0.0.1"},
            {"targets": "/a.json"},
            {"targets": [1]},
            {"targets": ["/a\0b"]},
            {"targets": ["/a.json"] * (TARGETS + 1)},
            {"array": None},
            {"allow": ["https://x.org"]},
        ],
    )
    def test_anything_else_is_refused(self, change: dict[str, object]) -> None:
        right = {"version": __version__, "targets": ["/a.json"] * TARGETS, "array": "", "token": ""}
        assert Start.from_bytes(json.dumps(right).encode()).targets
        with pytest.raises(ValueError, match="it "):
            Start.from_bytes(json.dumps(right | change).encode())

    @pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff", b"[" * 60_000, b'{"version": NaN}'])
    def test_so_is_what_is_no_start(self, data: bytes) -> None:
        with pytest.raises(ValueError, match=r"\S"):
            Start.from_bytes(data)

    def test_it_has_a_longest_length(self) -> None:
        room = MESSAGE_SIZE - len(Start(("",)).to_bytes())
        longest = Start(("a" * room,)).to_bytes()
        assert len(longest) == MESSAGE_SIZE
        assert Start.from_bytes(longest).targets == ("a" * room,)
        with pytest.raises(ValueError, match="too long"):
            Start.from_bytes(longest + b" ")

    def test_what_asks_the_desktop_is_a_word(self) -> None:
        assert Start.from_bytes(Start(token="a\nb").to_bytes()).token == ""


class TestAddress:
    def test_displays_settings_and_programs_have_windows_of_their_own(
        self, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = {here(environment | {"DISPLAY": ":8"}), here(environment | {"WAYLAND_DISPLAY": "wayland-0"})}
        found |= {here(environment | {"HOME": "/home/you"}), here(environment | {"XDG_CONFIG_HOME": "/c"})}
        found |= {here(environment)}
        monkeypatch.setattr(running_window, "__version__", "9.9")
        assert len(found | {here(environment)}) == 6

    @pytest.mark.parametrize("platform", ["offscreen", "offscreen:size=1x1", "minimal", "vnc"])
    def test_what_nobody_sees_is_no_window(self, environment: dict[str, str], platform: str) -> None:
        assert address(environment | {"QT_QPA_PLATFORM": platform}) is None

    def test_the_folder_is_this_users_alone(self, environment: dict[str, str]) -> None:
        folder = here(environment).parent
        assert folder.stat().st_mode & 0o777 == 0o700
        folder.chmod(0o710)
        assert address(environment) is None

    def test_a_folder_that_somebody_planted_is_not_entered(
        self, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        (tmp_path / "refbrowser").symlink_to(elsewhere)
        assert address(environment) is None
        (tmp_path / "refbrowser").unlink()
        assert here(environment)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert address(environment) is None

    def test_without_a_folder_of_the_session_it_is_one_of_temporary_files(
        self, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        for runtime in ("", "relative"):
            found = here(environment | {"XDG_RUNTIME_DIR": runtime})
            assert found.parent == tmp_path / f"refbrowser-{os.geteuid()}"

    def test_a_path_too_long_for_a_socket_is_none(self, environment: dict[str, str], tmp_path: Path) -> None:
        deep = tmp_path / ("d" * 100)
        deep.mkdir()
        assert address(environment | {"XDG_RUNTIME_DIR": str(deep)}) is None


class TestHandingOver:
    def test_it_is_taken(self, environment: dict[str, str], listening: Listening) -> None:
        seen: list[bytes] = []
        thread = answering(listening, lambda data: seen.append(data) or TAKEN)
        assert hand_over(Start(("/a.json",)), here(environment))
        thread.join()
        assert Start.from_bytes(seen[0]).targets == ("/a.json",)

    @pytest.mark.parametrize("answer", [b"", b"no", b"takes"])
    def test_another_answer_is_none(
        self, environment: dict[str, str], listening: Listening, answer: bytes
    ) -> None:
        thread = answering(listening, lambda _data: answer)
        assert not hand_over(Start(("/a.json",)), here(environment))
        thread.join()

    def test_a_window_that_does_not_answer_is_not_waited_for(
        self, environment: dict[str, str], listening: Listening
    ) -> None:
        assert not hand_over(Start(("/a.json",)), here(environment), patience=0.05)

    def test_without_a_window_there_is_nobody(self, environment: dict[str, str]) -> None:
        assert not hand_over(Start(("/a.json",)), None)
        assert not hand_over(Start(("/a.json",)), here(environment))
        assert not hand_over(Start(("/a.json",) * (TARGETS + 1)), here(environment))

    def test_another_users_process_is_told_nothing(
        self, environment: dict[str, str], listening: Listening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = here(environment)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert not hand_over(Start(("/a.json",)), path)
        assert listening.accept() is None

    def test_another_user_is_not_listened_to(
        self, environment: dict[str, str], listening: Listening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(str(here(environment)))
            monkeypatch.setattr(os, "geteuid", lambda: 12345)
            assert listening.accept() is None


class TestListening:
    def test_one_at_a_time(self, environment: dict[str, str], listening: Listening) -> None:
        with pytest.raises(OSError):
            Listening(here(environment))
        # The first one still does.
        thread = answering(listening, lambda _data: TAKEN)
        assert hand_over(Start(), here(environment))
        thread.join()

    def test_the_next_one_after_it_ended(self, environment: dict[str, str]) -> None:
        first = Listening(here(environment))
        first.close()
        assert not here(environment).exists()
        again = Listening(here(environment))
        again.close()

    @pytest.mark.slow
    def test_a_socket_of_a_lost_process_is_taken_over(self, environment: dict[str, str]) -> None:
        path = here(environment)
        code = (
            "import os, sys; from pathlib import Path; from refbrowser.io.running_window import Listening;"
            "Listening(Path(sys.argv[1])); os._exit(1)"
        )
        subprocess.run([sys.executable, "-c", code, str(path)], check=False)
        assert path.is_socket()
        assert not hand_over(Start(), path)
        again = Listening(path)
        thread = answering(again, lambda _data: TAKEN)
        assert hand_over(Start(), path)
        thread.join()
        again.close()

    def test_nobody_else_may_use_the_socket(self, environment: dict[str, str], listening: Listening) -> None:
        assert here(environment).stat().st_mode & 0o777 == 0o600

    def test_what_was_planted_is_not_followed(self, environment: dict[str, str], tmp_path: Path) -> None:
        path = here(environment)
        target = tmp_path / "target"
        target.write_text("mine")
        Path(f"{path}.lock").symlink_to(target)
        with pytest.raises(OSError):
            Listening(path)
        assert target.read_text() == "mine"
