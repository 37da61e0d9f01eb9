"""Pages for man: made of the help, and sound by those that read them."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import fixture_tool
import pytest

from refbrowser.cli import main
from refbrowser.cli.settings import SETTINGS
from refbrowser.errors import EXIT_CODES
from refbrowser.tools.man.man_pages import verb_page
from refbrowser.tools.registry import BUILT_IN, tool_named


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "man1"
    assert main(["man", "-o", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_each_verb_has_one_and_the_program(pages: Path) -> None:
    names = {path.name for path in pages.iterdir()}
    assert names == {"refbrowser.1", *(f"refbrowser-{tool.name}.1" for tool in BUILT_IN)}
    whole = (pages / "refbrowser.1").read_text()
    for tool in BUILT_IN:
        assert f"refbrowser\\-{tool.name}\\fR(1)" in whole
    for name, setting in SETTINGS.items():
        assert setting.variable(name) in whole
    for code in EXIT_CODES.values():
        assert f"\\fB{code}\\fR" in whole
    assert "\\-\\-new\\-window" in whole
    read = (pages / "refbrowser-read.1").read_text()
    # Of formats, too.
    for flag in ("--select", "--allow", "--branch", "-o"):
        assert f"\\fB{flag.replace('-', chr(92) + '-')}\\fR" in read


@pytest.mark.slow
def test_they_are_sound(pages: Path) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("there is no mandoc")
    command = ["mandoc", "-T", "lint", "-W", "warning", *map(str, sorted(pages.iterdir()))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # They have no date: the same version gives the same page.
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


def test_one_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "limits"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith('.TH REFBROWSER\\-LIMITS 1 "" "refbrowser ')
    assert "Print the limits in force" in shown
    assert main(["man", "none"]) == 2
    assert main(["man", "limits", "-o", "x"]) == 2


def test_texts_are_no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = argparse.ArgumentParser(
        description=".so /etc/passwd\n\n'x \\fB - \u00e9\n\n  set  out\n  in lines"
    )
    parser.add_argument("--odd", help="\n.br 100%% \\(x")
    tool = tool_named("limits")
    assert tool is not None
    page = verb_page(tool, parser, ())
    assert (
        "\n\\&.so /etc/passwd\n.PP\n\\&'x \\efB \\- \\[u00E9]\n.PP\n.nf\n  set  out\n  in lines\n.fi\n"
        in page
    )
    assert "\n .br 100% \\e(x\n" in page


def test_foreign_tools_have_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with fixture_tool.found(monkeypatch):
        assert main(["man", "span"]) == 0
        assert "decimals" in capsys.readouterr().out
