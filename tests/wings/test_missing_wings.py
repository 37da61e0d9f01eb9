"""The program without one of its wings: all else works, and what needs the wing says that it is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import h5py
import pytest
from servers.http_server import HttpServer
from source import PACKAGE

import refbrowser
from refbrowser.exporting.option_fields import groups
from refbrowser.formats.format import Format, Written
from refbrowser.formats.option_fields import declared
from refbrowser.formats.registry import BUILT_IN as FORMATS
from refbrowser.formats.store_rules import RULES
from refbrowser.limits import Limits, LimitTable
from refbrowser.loading import load
from refbrowser.tools.registry import BUILT_IN as TOOLS

WINGS = sorted(path.parent.name for path in (PACKAGE / "wings").glob("*/__init__.py"))
SAMPLE = PACKAGE.parent / "resources" / "sample" / "sea_surface.json"
#: What a format is asked for by that is not written.
ELSEWHERE = {"cdmremote": "cdmremote:http://127.0.0.1:1/data"}

COMMANDS = """
import contextlib, io, json, sys
from refbrowser.cli import main
said = []
for command in json.load(sys.stdin):
    out, error = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(command)
    said.append((code, *(each.buffer.getvalue().decode(errors="replace") for each in (out, error))))
json.dump(said, sys.stdout)
"""
NAMES = """
import json, sys
import refbrowser
missing = {}
for name in refbrowser.__all__:
    try:
        getattr(refbrowser, name)
    except refbrowser.RefbrowserError as error:
        missing[name] = [type(error).__name__, str(error)]
for path in json.load(sys.stdin):
    try:
        refbrowser.open(path)
    except refbrowser.RefbrowserError as error:
        missing[path] = [type(error).__name__, str(error)]
json.dump(missing, sys.stdout)
"""
WINDOW = """
import json, sys
from PySide6.QtWidgets import QApplication
application = QApplication([])
from refbrowser.app.shell.main_window import MainWindow
window = MainWindow()
window.show()
window.complete()

def wait(settled):
    while not settled():
        application.processEvents()

def ended(document):
    return document.is_open or document.error is not None

sample, *others = [window.open_path(path) for path in json.load(sys.stdin)]
wait(lambda: all(map(ended, [sample, *others])))
window.documents.set_current(sample)
wait(lambda: window.centre.plot is not None and not window.tasks.busy())
actions = [spec.name for spec, _ in window.actions_.all()]
errors = [str(each.error) for each in others]
window.actions_["export"].trigger()
application.processEvents()
dialogs = [type(each).__name__ for each in application.topLevelWidgets() if each.isVisible()]
said = [window.centre.error_bar.isHidden(), str(sample.error), errors, actions, dialogs]
sys.stdout.write(json.dumps(said))
sys.stdout.flush()
import os
os._exit(0)
"""


def texts_of(value: Any) -> Iterator[str]:
    """Yield all texts of a row."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for part in value.values() for text in texts_of(part))
    elif isinstance(value, tuple):
        yield from (text for part in value for text in texts_of(part))
    elif is_dataclass(value):
        yield from (text for each in fields(value) for text in texts_of(getattr(value, each.name)))


@dataclass(frozen=True)
class Wing:
    """What is of a wing, and a program without it."""

    name: str
    #: The folder of a package that has all but the wing.
    without: Path

    @property
    def package(self) -> str:
        return f"refbrowser.wings.{self.name}"

    def has(self, *values: Any) -> bool:
        return any(text.startswith(f"{self.package}.") for value in values for text in texts_of(value))

    def forms(self) -> list[Written]:
        return [form for format in FORMATS for form in format.writes if self.has(form.target, form.layout)]

    def formats(self) -> list[Format]:
        return [format for format in FORMATS if self.has(format.opener)]

    def run(self, code: str, asked: Any) -> Any:
        """Return what a program without the wing prints as JSON."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
            cwd=self.without,
            env={**os.environ, "PYTHONPATH": str(self.without), "QT_QPA_PLATFORM": "offscreen"},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def commands(self, *commands: list[str]) -> list[tuple[int, str, str]]:
        """Return exit code, output and errors of each command."""
        return [tuple(said) for said in self.run(COMMANDS, commands)]

    def refuses(self, command: list[str]) -> None:
        """A command says in one error, in words and as JSON, that the wing is not installed."""
        in_words, as_json = self.commands(command, [*command, "--json"])
        said = f"this needs {self.package}, which is not installed"
        assert in_words[:2] == (2, "")
        assert in_words[2].count("error") == 1
        assert said in in_words[2]
        assert "pip install" in in_words[2]
        error = json.loads(as_json[1] or as_json[2])["error"]
        assert (as_json[0], error["word"], error["kind"], error["message"]) == (
            2,
            "not-installed",
            "E_USAGE",
            said,
        )


@pytest.fixture(scope="module", params=WINGS)
def wing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Wing:
    """Each wing, with a package that is the same but for its folder."""
    root = tmp_path_factory.mktemp(f"without_{request.param}")
    wings = root / "refbrowser" / "wings"
    wings.mkdir(parents=True)
    (root / "resources").symlink_to(PACKAGE.parent / "resources")
    for folder, below in ((PACKAGE, wings.parent), (PACKAGE / "wings", wings)):
        for path in folder.iterdir():
            if path.name not in ("__pycache__", "wings", request.param):
                (below / path.name).symlink_to(path)
    return Wing(request.param, root)


@pytest.fixture(scope="module")
def made(wing: Wing, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What can be opened with the wing alone, by the name of its form or format."""
    folder = tmp_path_factory.mktemp("made")
    found = {form.name: str(folder / f"{form.name}{form.suffix}") for form in wing.forms()}
    for name, path in found.items():
        refbrowser.export(SAMPLE, path, format=name, arrays=["/ocean/lat"])
    written = {format.name for format in wing.formats() if format.writes}
    return found | {
        format.name: ELSEWHERE[format.name] for format in wing.formats() if format.name not in written
    }


def test_each_wing_stands_in_a_table(wing: Wing) -> None:
    assert wing.has(*FORMATS, *TOOLS, *RULES.values())


@pytest.mark.slow
def test_all_else_works(wing: Wing, tmp_path: Path) -> None:
    target = tmp_path / "lat.zarr"
    sample, made = str(SAMPLE), str(target)
    said = wing.commands(
        ["--help"],
        ["completion", "bash"],
        ["info", sample],
        ["info", "--help"],
        ["export", "--help"],
        ["export", sample, made, "--to", "zarr-v3", "--array", "/ocean/lat"],
        ["info", made],
        ["read", made, "/ocean/lat", "--select", "0"],
        ["check", made],
    )
    assert [code for code, _, _ in said] == [0] * len(said)
    assert "internal" not in "".join(error for _, _, error in said)


def limits_of(*tables: type[LimitTable]) -> set[str]:
    return {each.name for table in tables for each in fields(table)}


@pytest.mark.slow
def test_limits_of_a_wing_go_with_it(wing: Wing) -> None:
    tables = {each.limits: type(load(each.limits)) for each in FORMATS if each.limits}
    own = {text for text in tables if wing.has(text)}
    assert bool(own) == (wing.name in ("awkward0", "icechunk", "ncstream"))
    ((code, out, _),) = wing.commands(["limits", "--json"])
    assert code == 0
    others = limits_of(Limits, *(table for text, table in tables.items() if text not in own))
    assert set(json.loads(out)) - {"library_processes"} == others


def names_of(wing: Wing) -> set[str]:
    """Return what formats, forms, flavours and tools of a wing are called where programs list them."""
    names = {name for each in (*wing.formats(), *wing.forms()) for name in (each.name, each.title)}
    names |= {format.brief for format in wing.formats()}
    names |= {name for each in RULES if wing.has(RULES[each]) for name in (str(each), each.label)}
    return names | {tool.words for tool in TOOLS if wing.has(tool.verb)}


@pytest.mark.slow
def test_lists_name_nothing_of_a_wing_that_is_missing(wing: Wing) -> None:
    lists = (["--help"], ["export", "--help"], ["read", "--help"], ["completion", "bash"], ["limits"])
    # Help breaks lines anywhere between words.
    whole, left = (
        ["".join(said[1].split()) for said in program.commands(*lists)]
        for program in (Wing("", PACKAGE.parent), wing)
    )
    names = {"".join(name.split()) for name in names_of(wing)}
    assert {name for name in names if any(name in text for text in left)} == set()
    named = {name for name in names if any(name in text for text in whole)}
    assert named >= {form.name for form in wing.forms()}
    assert named >= {"".join(format.brief.split()) for format in wing.formats()}


@pytest.mark.slow
def test_what_is_missing_is_said_where_it_is_opened(wing: Wing, made: dict[str, str]) -> None:
    assert made
    for path in made.values():
        wing.refuses(["info", path])


@pytest.mark.slow
def test_what_may_be_of_any_format_is_opened_by_the_others(wing: Wing, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "numbers.h5", "w") as file:
        file["numbers"] = [1, 2, 3]
    (tmp_path / "numbers").write_bytes((tmp_path / "numbers.h5").read_bytes())
    (tmp_path / "none").write_text("no dataset")
    with HttpServer(root=tmp_path) as server:
        numbers, url, none = wing.commands(
            ["info", str(tmp_path / "numbers.h5")],
            ["info", server.url("/numbers")],
            ["info", server.url("/none"), "--json"],
        )
    assert (numbers[0], url[0], none[0]) == (0, 0, 2)
    assert all("/numbers" in said[1] for said in (numbers, url))
    assert json.loads(none[1] or none[2])["error"]["kind"] == "E_JSON"


def own_flags(form: Written) -> list[str]:
    """Return an option of a form that no other has, where there is one."""
    own = load(form.options)
    others = {each.flag for group in groups() if group is not own for each in declared(group).values()}
    return [each.flag for each in declared(own).values() if each.flag not in others][:1]


@pytest.mark.slow
def test_what_is_missing_is_said_where_it_is_written(wing: Wing, tmp_path: Path) -> None:
    for form in wing.forms():
        target = tmp_path / f"target{form.suffix}"
        wing.refuses(["export", str(SAMPLE), str(target), "--to", form.name])
        for flag in own_flags(form) if wing.has(form.options) else ():
            wing.refuses(["export", str(SAMPLE), str(target), "--to", form.name, f"{flag}=1"])
        assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_verbs_of_a_wing_say_what_is_missing(wing: Wing, made: dict[str, str]) -> None:
    for tool in (tool for tool in TOOLS if wing.has(tool.verb)):
        wing.refuses([tool.name, str(SAMPLE)])
    for format in (format for format in wing.formats() if "append" in format.facets):
        wing.refuses(["append", made[format.name], str(SAMPLE)])


@pytest.mark.slow
def test_programs_are_told_what_is_missing(wing: Wing, made: dict[str, str]) -> None:
    told = wing.run(NAMES, list(made.values()))
    options = {form.options.rpartition(":")[2] for form in wing.forms() if wing.has(form.options)}
    functions = {tool.name for tool in TOOLS if tool.public.startswith(f"refbrowser.wings.{wing.name}.")}
    names = {wing.name, *functions} & set(refbrowser.__all__)
    assert told.keys() == {*made.values(), *options, *names}
    said = ["NotInstalledError", f"this needs {wing.package}, which is not installed"]
    assert list(told.values()) == [said] * len(told)


@pytest.mark.slow
def test_the_window_does_without(wing: Wing, made: dict[str, str]) -> None:
    is_quiet, error, errors, actions, dialogs = wing.run(WINDOW, [str(SAMPLE), *made.values()])
    assert (is_quiet, error) == (True, "None")
    assert errors == [f"this needs {wing.package}, which is not installed"] * len(made)
    assert "ExportDialog" in dialogs
    named = [*(format.facets.get("commands", "") for format in FORMATS), *(tool.commands for tool in TOOLS)]
    groups = [load(name) for name in named if wing.has(name)]
    own = {action.name for group in groups for action in group.actions}
    own |= {f"show_{page.name}" for format in wing.formats() for page in format.pages}
    assert own.isdisjoint(actions)
    assert "export" in actions
