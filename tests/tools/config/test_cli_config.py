"""Settings of the command line: a file, the environment, and what is given; what is no setting is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from refbrowser.cli import main

ALLOW = "REFBROWSER_ALLOW"


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of settings, in a folder of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("REFBROWSER_CONFIG", raising=False)
    return tmp_path / "config" / "refbrowser" / "config.toml"


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> object:
    assert main(["config", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_setting_is_set_shown_and_taken_out(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(["path"], capsys) == str(settings)
    assert told([], capsys) == {}
    assert main(["config", "set", "allow", "https://a.example", '/data/ü "x"']) == 0
    assert main(["config", "add", "allow", "s3://b", "https://a.example"]) == 0
    allowed = ["https://a.example", '/data/ü "x"', "s3://b"]
    assert told(["get", "allow"], capsys) == allowed
    assert told(["show"], capsys) == {"allow": {"value": allowed, "from": "file"}}
    assert main(["config", "set", "stale", "allow"]) == 0
    assert main(["config", "unset", "allow"]) == 0
    assert told(["show"], capsys) == {"stale": {"value": "allow", "from": "file"}}
    if os.name == "posix":
        assert settings.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "arguments",
    [
        ["set", "colour", "red"],
        ["get", "colour"],
        ["unset", "colour"],
        ["set", "stale", "perhaps"],
        ["set", "stale", "allow", "refuse"],
        ["add", "stale", "allow"],
        ["set", "allow", "https://user:secret@host"],
        ["set", "allow", "*"],
        ["set", "storage-option", "s3://b:secret_key=x"],
        ["set", "allow-codec", ""],
        ["add", "allow-codec", "imagecodecs", "*"],
        ["set", "allow-codec", "a\nb"],
        ["set", "allow"],
        ["get"],
        ["show", "allow"],
        ["frobnicate"],
    ],
)
def test_what_is_no_setting_changes_nothing(arguments: list[str], settings: Path) -> None:
    if arguments[1:] == ["allow", "*"]:
        pytest.skip("a folder may be called so")
    assert main(["config", *arguments]) == 2
    assert not settings.exists()


@pytest.fixture
def elsewhere(tmp_path: Path) -> tuple[str, str]:
    """A document whose bytes lie in a folder that it may not read, and that folder."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "x").write_bytes(b"bytes")
    document = tmp_path / "document" / "d.json"
    document.parent.mkdir()
    document.write_text(json.dumps({"b": [str(data / "x"), 0, 5]}))
    return str(document), str(data)


def test_origins_are_trusted_by_file_and_environment(
    elsewhere: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    document, data = elsewhere
    assert main(["cat", document, "b"]) == 3
    monkeypatch.setenv(ALLOW, f"https://a.example '{data}'")
    assert main(["cat", document, "b"]) == 0
    monkeypatch.setenv(ALLOW, "https://a.example")
    assert main(["cat", document, "b"]) == 3
    assert main(["config", "set", "allow", data]) == 0
    # The environment takes the place of the file.
    assert main(["cat", document, "b"]) == 3
    monkeypatch.delenv(ALLOW)
    assert main(["cat", document, "b", "-v"]) == 0
    assert b"refbrowser: setting allow = " in capfdbinary.readouterr().err
    monkeypatch.setenv("REFBROWSER_CONFIG", "")
    assert main(["cat", document, "b"]) == 3
    # What is given counts beside a variable.
    monkeypatch.setenv(ALLOW, "https://a.example")
    assert main(["cat", document, "b", "--allow", data]) == 0


def test_each_value_is_shown_with_where_it_comes_from(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "set", "allow", "s3://a", "s3://b"]) == 0
    assert main(["config", "set", "stale", "refuse"]) == 0
    monkeypatch.setenv("REFBROWSER_STALE", "allow")
    capsys.readouterr()
    assert main(["config"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"allow = s3://a  (of {settings})",
        f"allow = s3://b  (of {settings})",
        "stale = allow  (of REFBROWSER_STALE)",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n# stale\nstale = 'maybe'\n", 3),
        ("allow = [\n  's3://a',\n  'ftp://x',\n]", 1),
        ("stale = 'allow'\n[colour]\nx = 'y'\n", 2),
        ("stale = 'allow'\n'odd name' = 1\n", 2),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_line(
    text: str, line: int, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text(text)
    assert main(["config", "--json"]) == 2
    place = json.loads(capsys.readouterr().err)["error"]["place"]
    assert place == {"path": str(settings), "line": line}


def test_a_variable_of_no_sense_is_named(
    elsewhere: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REFBROWSER_STALE", "maybe")
    assert main(["info", elsewhere[0]]) == 2
    assert "REFBROWSER_STALE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["allow = [", "allow = [1]", "colour = 'red'", "allow = ['ftp://x']", "\xff"]
)
def test_a_broken_file_stops_verbs_and_is_named(
    text: str, settings: Path, elsewhere: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_bytes(text.encode("latin-1"))
    assert main(["info", elsewhere[0]]) == 2
    shown = capsys.readouterr().err
    assert "config.toml" in shown
    assert "E_INTERNAL" not in shown


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_that_others_may_change_is_not_read(
    settings: Path, elsewhere: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    document, data = elsewhere
    assert main(["config", "set", "allow", data]) == 0
    settings.chmod(0o666)
    assert main(["cat", document, "b"]) == 2
    assert "E_UNSAFE" in capsys.readouterr().err


def test_settings_beside_a_document_are_none(
    elsewhere: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    document, data = elsewhere
    folder = Path(document).parent
    for name in (
        "config.toml",
        ".refbrowser.toml",
        "refbrowser/config.toml",
        ".config/refbrowser/config.toml",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"allow = [{json.dumps(data)}]\n")
    monkeypatch.chdir(folder)
    assert main(["cat", document, "b"]) == 3
