"""The window on a dataset: which command opens it, what is refused, and that nothing waits for it."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

import refbrowser
from refbrowser.cli import window
from refbrowser.cli.options import add_further, said_of_opening, template_values
from refbrowser.cli.program import parsed
from refbrowser.engine import window_command
from refbrowser.engine.window_command import arguments_of, setting_texts
from refbrowser.engine.window_process import WindowProcess
from refbrowser.errors import NoDisplayError, NotInstalledError, RefbrowserError
from refbrowser.io.origins import Origin, parse_storage_options


class Started(subprocess.Popen[bytes]):
    """A process that is not started."""

    made: ClassVar[list[tuple[list[str], dict[str, Any]]]] = []

    def __init__(self, command: list[str], **how: Any) -> None:
        self.made.append((command, how))
        self.pid, self.returncode = 42, None

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            raise subprocess.TimeoutExpired("refbrowser", timeout or 0)
        return self.returncode

    def terminate(self) -> None:
        self.returncode = -15

    def __del__(self, *_: Any) -> None:
        pass


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, Any]]]:
    """Commands that were started."""
    monkeypatch.setattr(Started, "made", [])
    monkeypatch.setattr(subprocess, "Popen", Started)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    return Started.made


@pytest.fixture
def sample(tmp_path: Path) -> str:
    return refbrowser.sample(tmp_path)


def understood(arguments: list[str]) -> argparse.Namespace:
    """Return what the command line makes of arguments."""
    parser = argparse.ArgumentParser()
    window.add_arguments(parser)
    add_further(parser)
    return parsed(parser, arguments)  # type: ignore[arg-type]


def test_the_window_opens_in_a_process_of_its_own(sample: str, started: list[Any]) -> None:
    with refbrowser.open(sample) as dataset:
        shown = dataset.show("ocean/sst")
    ((command, how),) = started
    assert command[:5] == [sys.executable, "-P", "-m", "refbrowser", "--new-window"]
    assert command[5:] == [str(Path(sample).resolve()), "--array=/ocean/sst"]
    assert how["start_new_session"]
    assert how["stdin"] == how["stdout"] == subprocess.DEVNULL
    assert (shown.is_open, shown.pid) == (True, 42)
    assert repr(shown) == f"<refbrowser window on {sample!r}: open, process 42>"
    with pytest.raises(TimeoutError, match="the window is still open"):
        shown.wait(0.1)
    shown.close()
    assert (shown.is_open, shown.wait()) == (False, -15)
    assert ": closed," in repr(shown)


def test_a_window_that_does_not_close_is_ended() -> None:
    class Stubborn(Started):
        def terminate(self) -> None:
            pass

        def kill(self) -> None:
            self.returncode = -9

    shown = WindowProcess("a.json", Stubborn([]))
    shown.close()
    assert shown.wait() == -9


def test_permissions_and_values_go_with_it_and_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_MINE", "a-secret")
    document = {"version": 1, "templates": {"u": "data"}, "refs": {".zgroup": '{"zarr_format": 2}'}}
    path = tmp_path / "-odd name.json"
    path.write_text(json.dumps(document))
    settings = [
        "https://data.example.org:token=TOKEN_OF_MINE",
        "https://data.example.org:header.X-Key=TOKEN_OF_MINE",
        "https://data.example.org:netrc=true",
        "s3://bucket:profile=work",
        "s3://bucket:requester_pays=true",
    ]
    with refbrowser.open(
        path,
        allow=["https://data.example.org", str(tmp_path.parent)],
        storage_options=settings,
        templates={"u": "other=1 2"},
    ) as dataset:
        arguments = arguments_of(dataset)
        assert "a-secret" not in " ".join(arguments)
        found = understood(arguments)
        assert found.paths == [str(path)]
        assert set(found.allow) == {"https://data.example.org", str(tmp_path.parent)}
        assert template_values(found) == {"u": "other=1 2"}
        wider = dataset.with_access(dataset.access.allow([Origin.parse("https://not-private.example.org")]))
        assert arguments_of(wider) == arguments
        assert parse_storage_options(found.storage_option) == dataset.access.settings
        assert set(setting_texts(dataset.access.settings)) >= set(settings)


def test_options_of_opening_go_with_it(tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    store.mkdir()
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    with refbrowser.open(store, flavour="nczarr") as dataset:
        found = understood(arguments_of(dataset))
        assert said_of_opening(found)["flavour"] == "nczarr"
        assert dataset.document.opens_again["flavour"]
    with refbrowser.open(store) as dataset:
        assert said_of_opening(understood(arguments_of(dataset))) == {}


def test_an_edited_dataset_says_that_the_saved_one_is_shown(sample: str, started: list[Any]) -> None:
    with refbrowser.open(sample) as dataset:
        edited = refbrowser.with_attributes(dataset, "/ocean/sst", {"units": "K"})
        with pytest.warns(UserWarning, match="as it is saved, without the edits") as told:
            edited.show()
    assert told[0].filename == __file__
    assert len(started) == 1


def test_what_has_no_path_is_refused(sample: str, started: list[Any]) -> None:
    references = {"version": 1, "refs": {".zgroup": '{"zarr_format": 2}'}}
    with refbrowser.open(references) as dataset, pytest.raises(RefbrowserError, match="in memory") as caught:
        dataset.show()
    assert "refbrowser.export" in caught.value.advice
    stream = io.BytesIO(Path(sample).read_bytes())
    with refbrowser.open(stream) as dataset, pytest.raises(RefbrowserError, match="file object"):
        dataset.show()
    with refbrowser.open(sample) as dataset, pytest.raises(KeyError, match="did you mean /ocean/sst"):
        dataset.show("ocean/sstt")
    with refbrowser.open(sample) as dataset:
        Path(sample).unlink()
        with pytest.raises(FileNotFoundError, match="nothing at its path"):
            dataset.show()
    assert started == []


def test_without_qt_the_line_is_told_that_installs_it(
    sample: str, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_command, "find_spec", lambda name: None)
    with refbrowser.open(sample) as dataset, pytest.raises(NotInstalledError) as caught:
        dataset.show()
    assert caught.value.advice == "pip install 'refbrowser[gui]'"
    assert started == []


def test_without_a_display_that_is_told(
    sample: str, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    with refbrowser.open(sample) as dataset, pytest.raises(NoDisplayError, match="no display"):
        dataset.show()
    assert started == []


@pytest.mark.slow
def test_a_window_really_opens_and_closes(
    sample: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    # Nothing that lies in the current folder runs.
    sample = os.path.abspath(sample)
    (tmp_path / "signal.py").write_text("open('pwned', 'w').close()")
    monkeypatch.chdir(tmp_path)
    with refbrowser.open(sample) as dataset:
        shown = dataset.show("/ocean/sst")
        try:
            # Reading goes on meanwhile.
            assert -90 <= dataset.array("ocean/lat")[0] <= 90
            with suppress(TimeoutError):
                assert shown.wait(2) is None, "the window has ended by itself"
            assert shown.is_open
        finally:
            shown.close()
        assert not shown.is_open
    assert not Path("pwned").exists()
