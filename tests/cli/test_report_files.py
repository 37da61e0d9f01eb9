"""Files of reports beside what a verb prints: declared in the row of its tool, the same for every verb."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fixture_tool
import pytest
from damaged_sets import DAMAGES, sound
from html_read import Read

import refbrowser
from refbrowser.cli import main
from refbrowser.cli.program import parser_of
from refbrowser.loading import load
from refbrowser.tools.registry import BUILT_IN

#: Files that look like reports in part.
ALIKE = (
    "use std::fs;\n",
    "<!DOCTYPE html>\n<html lang=en><body>mine</body></html>",
    '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="pytest tests"/>',
)
SECRET = "https://example.org/d.bin?X-Amz-Signature=abcdef"


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The sample, where commands run."""
    monkeypatch.chdir(tmp_path)
    return refbrowser.sample()


def said(path: str) -> str:
    """Return the text of a page that loads nothing, and leads to no server."""
    seen = Read(Path(path).read_text("utf-8"))
    assert not {"script", "img", "link", "iframe"} & set(seen.elements)
    assert all(str(value).startswith("refbrowser:") for name, value in seen.attributes if name == "href")
    return seen.said


def cases(path: str) -> dict[str, str]:
    """Return how each case of a file ended."""
    found = ElementTree.parse(path).getroot()
    return {
        case.attrib["name"]: next((child.tag for child in case if child.tag != "system-out"), "passed")
        for case in found.iter("testcase")
    }


def test_options_follow_from_the_rows() -> None:
    for tool in BUILT_IN:
        flags = {flag for action in parser_of(tool)._actions for flag in action.option_strings}
        assert ("--html" in flags, "--junit" in flags) == (bool(tool.page), bool(tool.cases)), tool.name
        for named in (tool.page, tool.cases):
            assert not named or callable(load(named))
    assert {tool.name for tool in BUILT_IN if tool.page} >= {"info", "explain", "check", "diff", "audit"}
    assert {tool.name for tool in BUILT_IN if tool.cases} >= {"check", "diff", "audit"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["info"],
            ["Contents of sea_surface.json", "4 groups, 13 arrays, 2 problems", "/ocean/sst", "units"],
        ),
        (["explain", "ocean/sst/0.0.0"], ["Readable", "The stored bytes", "ocean/sst/0.0.0"]),
        (
            ["check"],
            ["Check of sea_surface.json", "0 faults, 2 warnings", "[4 times]", "Give them references"],
        ),
        (["audit"], ["Audit of sea_surface.json", "0 faults, 5 warnings", "missing-chunks"]),
        (["diff", "sea_surface.json"], ["Comparison of", "Equal: the same references"]),
    ],
    ids=lambda each: each[0],
)
@pytest.mark.slow
def test_a_page_says_what_the_verb_says(
    arguments: list[str], told: list[str], sample: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *rest = arguments
    assert main([verb, sample, *rest, "--html", "page.html"]) == 0
    printed = capsys.readouterr().out
    text = said("page.html")
    command = " ".join(["refbrowser", verb, sample, *rest, "--html", "page.html"])
    for words in (*told, command, sample, f"by refbrowser {refbrowser.__version__}"):
        assert words in text
    # What is printed stays as it was.
    assert main([verb, sample, *rest]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.slow
def test_names_of_files_are_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "<script>&\x1b[31m\u202e\"'.json"
    hostile = "<img src=x onerror=alert(1)>"
    attributes = json.dumps({hostile: hostile})
    Path(name).write_text(json.dumps({".zgroup": '{"zarr_format": 2}', ".zattrs": attributes, "k": hostile}))
    for verb, more in (("info", []), ("explain", ["k"]), ("audit", []), ("diff", [name])):
        assert main([verb, name, *more, "--html", "page.html"]) == 0
        text = said("page.html")
        assert "<script>&\ufffd[31m\ufffd\"'.json" in text or "script" in text
        assert not {"\x1b", "\u202e"} & set(text)
    for verb, more in (("check", []), ("audit", []), ("diff", [name])):
        main([verb, name, *more, "--junit", "cases.xml"])
        (suite, *_) = ElementTree.parse("cases.xml").getroot()
        assert suite.attrib["name"].startswith("<script>&\ufffd[31m\ufffd\"'.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_cases_fail_just_where_the_exit_code_does(name: str, tmp_path: Path) -> None:
    """Of every damage, checked, audited as deep as finds it, and with every warning."""
    made = sound(tmp_path)
    DAMAGES[name].make(made)
    path, report = str(made.write()), str(tmp_path / "cases.xml")
    for verb in (["check"], ["audit"], ["audit", "--level", "stat"], ["audit", "--fail-on", "warning"]):
        code = main([verb[0], path, *verb[1:], "--junit", report])
        assert (set(cases(report).values()) == {"passed"}) is (code == 0), verb


@pytest.mark.slow
def test_cases_of_a_comparison(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    refs = json.loads(json.dumps(refbrowser.expand(sample)))
    text = refs["ocean/sst/.zattrs"].replace("degree_Celsius", "K")
    Path("other.json").write_text(json.dumps({**refs, "ocean/sst/.zattrs": text}))
    assert main(["diff", sample, "other.json", "--junit", "cases.xml"]) == 2
    found = cases("cases.xml")
    assert found["attributes: /ocean/sst attribute units"] == "failure"
    assert found["array: /ocean/sst"] == "passed"
    assert sum(each == "failure" for each in found.values()) == 1
    # Where nothing tells, it is an error, as the exit code says.
    for name in ("one", "two"):
        refbrowser.export(sample, f"{name}.zarr", format="zarr-v3", arrays=["/ocean/lat"])
    assert main(["diff", "one.zarr", "two.zarr", "--values", "none", "--junit", "cases.xml"]) == 5
    assert cases("cases.xml") == {"array: /ocean/lat": "error"}


def test_what_cannot_be_opened_is_an_error_beside_the_others(
    sample: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("text.json").write_text("no JSON")
    assert main(["check", "gone.json", "text.json", "--junit", "cases.xml"]) == 6
    assert main(["check", "gone.json", "text.json", sample, "--html", "page.html"]) == 6
    told = said("page.html")
    for words in ("Check of 3 documents", "1 fault, 2 warnings, 1 document not looked at", "no such file"):
        assert words in told
    first, second = ElementTree.parse("cases.xml").getroot()
    assert [each.tag for each in first.iter() if each.tag in ("failure", "error")] == ["error"]
    assert [each.tag for each in second.iter() if each.tag in ("failure", "error")] == ["failure"]
    # So it is where there is one dataset, and its report is none.
    for verb in (["audit", "gone.json"], ["diff", sample, "gone.json"]):
        assert main([*verb, "--junit", "one.xml", "--html", "one.html"]) == 6
        assert cases("one.xml") == {"open": "error"}
        assert not os.path.exists("one.html")
        os.unlink("one.xml")
    assert main(["audit", sample, "--fail-on", "nothing", "--junit", "one.xml"]) == 2
    assert not os.path.exists("one.xml")


def test_a_report_replaces_nothing_that_is_opened(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(sample).read_bytes()
    os.link(sample, "same.json")
    for option in ("--html", "--junit"):
        for name in (sample, f"./{sample}", "same.json"):
            assert main(["audit", sample, option, name]) == 2
            assert f"{option} would replace 'sea_surface.json', which is opened" in capsys.readouterr().err
            assert main(["diff", "x.json", f"{sample}::/ocean", option, name]) == 2
    assert main(["audit", sample, "--html", "x", "--junit", "./x"]) == 2
    assert "the same file" in capsys.readouterr().err
    assert main(["audit", sample, "--html", "gone/x.html"]) == 4
    assert "the folder of --html is not there (path 'gone/x.html')" in capsys.readouterr().err
    assert main(["info", sample, "--html", "data"]) == 4
    assert "(path '" in capsys.readouterr().err
    assert Path(sample).read_bytes() == before


def test_a_report_replaces_earlier_ones_alone(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"--html": "info", "--junit": "check", "--annotations": "check"}
    for option, verb in options.items():
        # Where its name was forgotten, the first document stands in its place.
        Path("other.json").write_text("{}")
        assert main([verb, option, "other.json", sample]) == 2
        assert f"{option} would replace 'other.json', which is no such report" in capsys.readouterr().err
        assert Path("other.json").read_text() == "{}"
        # What others write of the same kind, and sources that only look alike.
        for text in (*ALIKE, "// ::error title=x::x\n"):
            Path("other").write_text(text)
            assert main([verb, sample, f"{option}=other"]) == 2
            assert Path("other").read_text() == text
        name = f"report{option}"
        for _ in range(2):
            assert main([verb, sample, f"{option}={name}"]) == 0
        Path("empty").touch()
        assert main([verb, sample, f"{option}=empty"]) == 0
        assert Path("empty").read_bytes()
        os.unlink("empty")
    assert main(["audit", sample, "--report", sample]) == 2
    assert "--report would replace" in capsys.readouterr().err


def test_reports_can_be_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "anna"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    path = folder / "d.json"
    path.write_text(json.dumps({".zgroup": '{"zarr_format": 2}', "k": [SECRET]}))
    page, report = str(folder / "p.html"), str(folder / "c.xml")
    for verb in (["audit"], ["info"], ["explain", "k"], ["diff", str(path)]):
        main([verb[0], str(path), *verb[1:], "--html", page])
        text = said(page)
        assert str(folder) not in text
        assert "~" in text
        assert "abcdef" not in text
    assert main(["check", str(path), "--template", "token=abcdef", "--junit", report]) == 2
    assert str(folder) not in Path(report).read_text("utf-8")
    assert "abcdef" not in Path(report).read_text("utf-8")


def test_a_tool_of_another_package_has_a_page(
    sample: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with fixture_tool.found(monkeypatch):
        arguments: list[Any] = [
            "span",
            sample,
            "--array",
            "/ocean/lat",
            "--html",
            "p.html",
            "--junit",
            "c.xml",
        ]
        assert main(arguments) == 0
        assert "/ocean/lat: -89.50 to 89.50" in said("p.html")
        assert cases("c.xml") == {"/ocean/lat": "passed"}
