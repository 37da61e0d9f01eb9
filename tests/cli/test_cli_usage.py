"""What users of other programs type first: help, version, mistyped verbs; errors as advice and words."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from refbrowser import __version__, sample
from refbrowser.cli import main
from refbrowser.cli.missing import not_installed
from refbrowser.errors import EXIT_CODES, Outcome, RefbrowserError, TargetExistsError
from refbrowser.tools.registry import BUILT_IN
from refbrowser.tools.tool import Heading

PAGE = Path(__file__).resolve().parents[2] / "resources" / "manual" / "command_line.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the sample, where commands run."""
    monkeypatch.chdir(tmp_path)
    sample()
    return tmp_path


@pytest.fixture(autouse=True)
def no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whatever would open a window fail."""
    import refbrowser.cli.window as window

    def opened(*_: object) -> int:
        raise AssertionError("a window was opened")

    monkeypatch.setattr(window, "run", opened)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("inof", "info"), ("exprot", "export"), ("ls", "info"), ("validate", "check"), ("combine", "make")],
)
def test_a_mistyped_verb_names_the_one_that_was_meant(
    word: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word, "x.json"]) == 2
    assert f"there is no verb '{word}'; did you mean {meant}?" in capsys.readouterr().err


def test_a_word_like_nothing_and_a_missing_file_open_no_window(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xyzzy"]) == 2
    assert "did you mean" not in capsys.readouterr().err
    assert main(["--json", "inof"]) == 2
    assert main(["none.json::/a"]) == 6
    assert "(path 'none.json')" in capsys.readouterr().err


def test_a_file_that_is_called_like_a_word_is_opened(folder: Path) -> None:
    (folder / "xyzzy").write_text("{}")
    (folder / "version").write_text("{}")
    for arguments in (["xyzzy"], ["xyzzy::/a"], ["version"], ["https://example.org/x.json"], []):
        assert main(arguments) == 1  # the window


@pytest.mark.parametrize("arguments", [["-V"], ["version"], ["--version"]])
def test_version(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"refbrowser {__version__}\n"


def test_help_of_all_and_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for arguments in (["help"], ["--help"], ["help", "read"], ["read", "help"], ["read", "--help"]):
        assert main(arguments) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert shown[2] == shown[3] == shown[4]
    assert "--select" in shown[2]
    # Verbs come before the options of the window, below their headings.
    places = [shown[0].index(f"\n{title}:\n") for title in Heading]
    assert places == sorted(places)
    assert places[-1] < shown[0].index("--screenshot")
    assert main(["help", "raed"]) == 2
    assert "did you mean read?" in capsys.readouterr().err


def test_each_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for tool in BUILT_IN:
        assert main([tool.name, "--help"]) == 0
        shown = capsys.readouterr().out
        assert all(f"\n  {example}\n" in shown for example in tool.examples)
        assert any(shlex.split(example)[1] == tool.name for example in tool.examples)


def test_options_of_all_verbs_may_stand_before_the_verb(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", "sea_surface.json", "--json"]) == 0
    after = capsys.readouterr().out
    assert main(["--json", "-q", "info", "sea_surface.json"]) == 0
    assert capsys.readouterr().out == after
    json.loads(after)


def test_quiet_and_verbose(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export = ["export", "sea_surface.json", "x.zarr", "--to", "zarr-v3", "--array", "/ocean/lat"]
    assert main(export) == 0
    assert "refbrowser: " in capsys.readouterr().err
    assert main([*export, "--force", "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert main([*export, "--force", "-v"]) == 0
    assert re.search(r"refbrowser: exporting: \d+\.\d\d s", capsys.readouterr().err)
    assert main([*export, "-q"]) == 7
    assert "error[E_IO]" in capsys.readouterr().err


def test_the_manual_has_the_table_of_codes() -> None:
    rows = re.findall(r"^\| (\d+) \| `([a-z-]+)` \|", PAGE.read_text("utf-8"), re.M)
    assert [(int(code), word) for code, word in rows] == [
        (code, str(outcome)) for outcome, code in EXIT_CODES.items()
    ]
    assert set(EXIT_CODES) == set(Outcome)


def ends(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run a command that fails; return its code and the word of its JSON, the last line of standard error."""
    code = main(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    error = json.loads(captured.err.splitlines()[-1])["error"]
    assert error["exit_code"] == code == Outcome(error["word"]).exit_code
    assert error["message"]
    return code, error["word"]


def test_errors_have_words_and_codes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ["export", "sea_surface.json", "rows.json", "--to", "refs-v0", "--json"]
    assert main(export) == 0
    capsys.readouterr()
    assert ends(export, capsys) == (7, "exists")
    fold = ["fold", "sea_surface.json", "-o", "rows.json"]
    assert ends(["--json", *fold], capsys) == (7, "exists")
    for verb in ("info", "check", "cdl", "expand", "audit", "lock"):
        assert ends([verb, "none.json", "--json"], capsys) == (6, "not-found")
    assert ends(["read", "sea_surface.json", "--json"], capsys) == (2, "usage")
    Path("broken.json").write_text("[")
    assert ends(["info", "broken.json", "--json"], capsys) == (2, "input")
    Path("far.json").write_text(json.dumps({"a/.zgroup": '{"zarr_format":2}', "b": ["s3://x/y", 0, 1]}))
    assert ends(["cat", "far.json", "b", "--json"], capsys) == (3, "permission")


def test_no_display_has_its_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from refbrowser.app.shell import launch
    from refbrowser.cli import window

    monkeypatch.setattr(launch, "has_display", lambda: False)
    monkeypatch.setattr(window, "run", lambda *_: launch.run([]))
    assert main([]) == 8
    assert "--screenshot" in capsys.readouterr().err


def test_an_internal_error_is_json_with_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refbrowser.tools.limits import verb

    monkeypatch.setattr(verb, "run", lambda *_: 1 // 0)
    assert ends(["limits", "--json"], capsys) == (1, "internal")


def test_a_package_that_is_missing_is_advice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    export = ["export", "sea_surface.json", "rows.parquet", "--to", "refs-parquet"]
    assert main(export) == 2
    shown = capsys.readouterr().err
    assert "E_INTERNAL" not in shown
    assert "pyarrow" in shown
    assert "pip install 'refbrowser[parquet]'" in shown
    assert ends([*export, "--json"], capsys) == (2, "not-installed")


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ImportError("libEGL.so.1: cannot open shared object file", path="/x/PySide6/QtGui.so"), "libegl1"),
        (ImportError("libfoo.so.2: cannot open shared object file", path="/x/y.so"), "package manager"),
        (ModuleNotFoundError("No module named 'PySide6'", name="PySide6.QtGui"), "refbrowser[gui]"),
        (ModuleNotFoundError("No module named 'h5py'", name="h5py"), "refbrowser[hdf5]"),
        (ModuleNotFoundError("No module named 'google'", name="google"), "refbrowser[ncstream]"),
        (ModuleNotFoundError("No module named 'cftime'", name="cftime"), "refbrowser[calendars]"),
        (ModuleNotFoundError("No module named 'zfpy'", name="zfpy"), "pip install zfpy"),
    ],
)
def test_what_is_missing_says_what_to_install(
    error: ImportError, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((PAGE.parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    required = [
        f"{each.partition(';')[0]}; extra == '{extra}'" for extra, needed in extras for each in needed
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: required)
    missing = not_installed(error)
    assert missing is not None
    assert advice in missing.advice


def test_a_module_of_ours_that_is_missing_is_our_fault() -> None:
    assert not_installed(ModuleNotFoundError("no", name="refbrowser.engine.nothing")) is None
    assert not_installed(ImportError("cannot import name 'x'", name="numpy")) is None


def test_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "a" / "b"
    assert main(["sample", str(target)]) == 0
    assert (target / "sea_surface.json").is_file()
    assert sum(1 for _ in (target / "data").iterdir()) == 17
    assert main(["check", str(target / "sea_surface.json")]) == 0
    assert main(["sample", str(target)]) == 7
    (target / "sea_surface.json").write_text("mine")
    with pytest.raises(TargetExistsError):
        sample(target)
    assert sample(target, force=True) == os.fspath(target / "sea_surface.json")
    assert (target / "sea_surface.json").read_text() != "mine"
    with pytest.raises(RefbrowserError, match="the folder cannot be made"):
        sample(target / "sea_surface.json" / "x")
