"""The table of tools, and what follows from a row: a verb, a Python function, a line of the help."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from pkgutil import resolve_name

import fixture_tool
import pytest

import refbrowser
from refbrowser.cli import main, window
from refbrowser.cli.options import add_further
from refbrowser.cli.program import parser_of
from refbrowser.formats.option_fields import declared
from refbrowser.tools.registry import BUILT_IN, foreign, tool_named
from refbrowser.tools.tool import Tool

MANUAL = Path(__file__).resolve().parents[2] / "resources" / "manual"


def _name(tool: Tool) -> str:
    return tool.name


@pytest.fixture
def sample(tmp_path: Path) -> str:
    """The sample's document."""
    return refbrowser.sample(tmp_path)


@pytest.fixture
def lat(sample: str) -> tuple[float, float]:
    """The lowest and the highest latitude of the sample."""
    with refbrowser.open(sample) as dataset:
        values = dataset.array("/ocean/lat")[...]
    return float(values.min()), float(values.max())


def test_each_tool_is_named_once_and_leads_to_what_is_there() -> None:
    assert len({tool.name for tool in BUILT_IN}) == len(BUILT_IN)
    for tool in BUILT_IN:
        assert tool.words
        assert tool.words[0].islower()
        if tool.verb:
            module = import_module(tool.verb)
            assert callable(module.add_arguments)
            assert callable(module.run)
            assert module.__doc__
        if tool.public:
            assert resolve_name(tool.public).__name__ == tool.name
            assert getattr(refbrowser, tool.name) is resolve_name(tool.public)
            assert tool.name in refbrowser.__all__


#: Functions beside that of the table: a document of each file, or one of all.
MORE = {"make": "refbrowser.tools.make.public:combine"}
#: Fields that are no keywords yet: costs, files that are looked at, and streams.
OF_VERBS_ALONE = {
    "plan": {"cost", "chunks"},
    "move": {"is_tested"},
    "append": {"overwrite", "level"},
}


@pytest.mark.parametrize("tool", [tool for tool in BUILT_IN if tool.public and tool.request], ids=_name)
def test_keywords_of_a_function_are_fields_of_its_request(tool: Tool) -> None:
    request = resolve_name(tool.request)
    options, parameters = declared(request), inspect.signature(request).parameters
    lacking = set(options)
    for function in filter(None, (tool.public, MORE.get(tool.name))):
        keywords = inspect.signature(resolve_name(function)).parameters
        lacking -= set(keywords)
        for name in keywords.keys() & options.keys():
            default, usual = keywords[name].default, parameters[name].default
            # A path that is not given is None in Python, and no text in a request.
            is_none = default is None and usual in ("", Parameter.empty)
            assert default == usual or is_none or (default is Parameter.empty and options[name].needed), name
    assert lacking == OF_VERBS_ALONE.get(tool.name, set())


#: What the manual says of options that have another name now, and of other programs.
OF_OTHERS = {"--no-index"}


def test_the_manual_has_every_option_and_no_other() -> None:
    text = "".join(page.read_text("utf-8") for page in MANUAL.glob("*.md"))
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))
    asked = [resolve_name(tool.request) for tool in BUILT_IN if tool.request]
    assert {option.flag for request in asked for option in declared(request).values()} - told == set()
    parsers = [parser_of(tool) for tool in BUILT_IN]
    window.add_arguments(parser := argparse.ArgumentParser())
    for each in (*parsers, parser):
        add_further(each)
    known = {
        flag for each in (*parsers, parser) for action in each._actions for flag in action.option_strings
    }
    assert told - known == OF_OTHERS


def test_a_foreign_tool_has_a_verb(
    sample: str,
    lat: tuple[float, float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with fixture_tool.found(monkeypatch):
        assert main(["span", sample, "--array", "/ocean/lat", "--decimals", "1", "--wide"]) == 0
        low, high = lat
        assert capsys.readouterr().out == f"/ocean/lat: {low:.1f} to {high:.1f}, {high - low:.1f} in all\n"
        assert main(["--json", "span", sample, "--array", "/ocean/lat"]) == 0
        assert json.loads(capsys.readouterr().out) == {"spans": {"/ocean/lat": list(lat)}}
        assert main(["span", sample]) == 2
        assert main(["span", sample, "--decimals", "16"]) == 2
        assert "--decimals" in capsys.readouterr().err
    assert main(["span", sample]) == 2
    assert "there is no verb 'span'" in capsys.readouterr().err


def test_a_foreign_tool_stands_in_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with fixture_tool.found(monkeypatch):
        assert main(["help"]) == 0
        assert f"  span       {fixture_tool.SPAN.words}\n" in capsys.readouterr().out
        assert main(["help", "span"]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith("usage: refbrowser span")
        assert "--decimals NUMBER" in shown
        assert fixture_tool.SPAN.examples[0] in shown
        assert main(["extent", "x.json"]) == 2
        assert "did you mean span?" in capsys.readouterr().err


def test_a_file_is_before_a_foreign_verb(
    sample: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import refbrowser.cli.window as window

    monkeypatch.setattr(window, "run", lambda *_: 99)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "span").write_text("{}")
    with fixture_tool.found(monkeypatch):
        assert main(["span"]) == 99


def test_a_foreign_tool_has_a_function(
    sample: str, lat: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(refbrowser.__dict__, "span", raising=False)
    with fixture_tool.found(monkeypatch):
        function = refbrowser.span
        told: list[tuple[int, int | None]] = []
        spans = function(
            sample, array=("/ocean/lat",), progress=lambda done, total, **_: told.append((done, total))
        )
        assert spans.values == {"/ocean/lat": lat}
        assert told == [(0, 1)]
        with refbrowser.open(sample) as dataset:
            assert function(dataset, array=("/ocean/lat",)).values == spans.values
        names = inspect.signature(function).parameters
        assert list(names) == [
            "dataset", "allow", "storage_options", "templates", "progress", "array", "decimals", "is_wide",
        ]  # fmt: skip
        assert names["decimals"].default == 2
        assert "    Of the values.\n" in f"{function.__doc__}\n"
        with pytest.raises(TypeError, match="unexpected keyword argument 'digits'"):
            function(sample, digits=3)
    monkeypatch.delitem(refbrowser.__dict__, "span")
    with pytest.raises(AttributeError, match="no attribute 'span'"):
        _ = refbrowser.span


def test_what_is_no_tool_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    values = ("fixture_tool:NO_TOOL", "fixture_tool:TAKEN", "fixture_tool:SPAN")
    with fixture_tool.found(monkeypatch, *values):
        assert [tool.name for tool in foreign().values] == ["span"]
        tool = tool_named("audit")
        assert tool is not None
        assert tool.verb == "refbrowser.tools.audit.verb"
        assert main(["help"]) == 0
        shown = capsys.readouterr().out
        assert "the tool 'fixture_tool:NO_TOOL' of another package cannot be used: it is not a Tool" in shown
        assert "a tool audit exists already" in shown
