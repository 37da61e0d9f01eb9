"""What leaves for a terminal: nothing of a file, a library or a server acts on it."""

from __future__ import annotations

import io
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from refbrowser.cli import console, main
from refbrowser.cli.console import (
    PlainStream,
    ProgressBar,
    StageBar,
    tell,
    tell_warning,
    without_controls,
    write_line,
)
from refbrowser.errors import ErrorKind, RefbrowserError

#: The title of the window, the clipboard, colours, eight-bit controls, and text that is turned around.
ATTACKS = (
    "\x1b]0;PWNED\x07",
    "\x1b]52;c;cHduZWQ=\x07",
    "\x1b[31;1m",
    "\x9b31m\x9d0;x\x9c",
    "\u202egpj.exe",
)


def acts(text: str) -> bool:
    return without_controls(text) != text


@pytest.mark.parametrize("attack", ATTACKS)
def test_lines_do_not_act(attack: str, capsys: pytest.CaptureFixture[str]) -> None:
    tell(f"note {attack}")
    tell_warning(RefbrowserError(ErrorKind.FORMAT, f"its values are in other files: {attack}"))
    write_line(f"a\tb \N{MICRO SIGN} {attack}")
    out, err = capsys.readouterr()
    assert out.startswith("a\tb \N{MICRO SIGN} ")
    assert not acts(out + err)
    assert (out + err).count("\\x" if attack[0] != "\u202e" else "\\u202e") >= 3


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_progress_bar_acts_by_itself_alone(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal: Any = Terminal()
    monkeypatch.setattr(sys, "stderr", PlainStream(terminal))
    monkeypatch.setattr(console, "PATIENCE", -1)
    monkeypatch.setattr(console, "INTERVAL", -1)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressBar("comparing") as bar:
        bar.update({"note": f"/a{attack}", "done": 1, "total": 2})
    drawn = terminal.getvalue()
    assert "comparing [" in drawn
    assert not acts(drawn.replace("\r\x1b[K", ""))
    # One that cannot draw a line anew gets none.
    terminal.truncate(0)
    monkeypatch.setenv("TERM", "dumb")
    with ProgressBar("comparing") as bar:
        bar.update({"note": f"/a{attack}", "done": 1, "total": 2})
    assert not terminal.getvalue()


def test_each_stage_has_a_bar_of_its_title(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.engine.jobs import JobControl

    monkeypatch.setattr(console.MANNER, "is_verbose", True)
    with StageBar({"opening": "", "testing": "files"}) as bar:
        control = JobControl(publish=bar.update)
        for stage in ("opening", "rendering rules", "testing"):
            control.stage(stage)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rsplit(" ", 2)[0] for line in lines] == ["refbrowser: opening:", "refbrowser: testing:"]


def test_what_libraries_write_does_not_act(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refbrowser.tools.limits import verb

    def run(*_: Any) -> int:
        for attack in ATTACKS:
            sys.stderr.write(f"a library: {attack}\n")
            handler = logging.StreamHandler()
            handler.emit(logging.makeLogRecord({"msg": f"its log: {attack}"}))
        return 0

    monkeypatch.setattr(verb, "run", run)
    before = sys.stderr
    assert main(["limits"]) == 0
    assert sys.stderr is before
    told = capsys.readouterr().err
    assert told.count("a library: ") == told.count("its log: ") == len(ATTACKS)
    assert not acts(told)


def test_names_in_a_file_do_not_act(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        name = ATTACKS[0] + ATTACKS[2]
        file.create_dataset("outside", shape=(2,), dtype="u1", external=[(f"{name}.bin", 0, 2)])
        file.create_group("group")
        file[name] = h5py.SoftLink("/group")
        file[f"x{name}"] = h5py.ExternalLink(f"{name}.h5", "/y")
    for verb in ("info", "check", "expand", "cdl"):
        main([verb, str(path)])
    out, err = capsys.readouterr()
    assert "PWNED" in out
    assert not acts(out + err)


def test_cards_that_a_library_warns_of_do_not_act(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("astropy")
    values = {"SIMPLE": "T", "BITPIX": "8", "NAXIS": "0"}
    cards = [*(f"{name:8}= {value:>20}" for name, value in values.items())]
    cards += [f"{ATTACKS[0]} no card {ATTACKS[2]}", "END"]
    path = tmp_path / "a.fits"
    path.write_bytes("".join(f"{card:80}" for card in cards).ljust(2880).encode("latin-1"))
    for verb in ("info", "check"):
        main([verb, str(path)])
    out, err = capfd.readouterr()
    assert not acts(out + err)
