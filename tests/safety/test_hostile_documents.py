"""Documents that want to take for ever, or to write to the terminal of who looks at them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from refbrowser.cli import main
from refbrowser.errors import ErrorKind
from refbrowser.formats.references import open_references
from refbrowser.references.content.chunk_codes import split_key
from refbrowser.references.findings import rule_findings
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.templates import TemplateSet

ESCAPES = (
    "\x1b]0;title\x07\x1b[31m\u202egnp.exe\u2028\u2029\x85\n\rrefbrowser: error[E_IO]: fake\x9b\u200b\ufeff"
)
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@contextmanager
def bounded_work(seconds: float) -> Iterator[None]:
    """Hold this thread's processor time against a bound far above what bounded work takes."""
    start = time.thread_time()
    yield
    assert time.thread_time() - start < seconds


def document(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    return open_references(path)


@pytest.mark.slow
def test_a_key_written_very_often_is_looked_up_once(tmp_path: Path) -> None:
    entries = ",".join(['"a/0.0":["u",1,2]'] * 8000)
    found = document(tmp_path, f'{{"version":1,"refs":{{{entries}}}}}')
    with bounded_work(20):
        assert sum("occurs 8,000 times" in finding.message for finding in found.findings) == 1


def test_long_keys_of_numbers_take_no_time() -> None:
    with bounded_work(2):
        for number in range(100):
            assert split_key("0/" * 2040 + f"x{number}") is None
    group, coords = split_key("a/" + "/".join("1" * 15)) or (None, ())
    assert group == ("a/", "/")
    assert len(coords) == 15


def test_rules_that_collide_are_compared_within_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_findings.Steps, "__init__", lambda steps: setattr(steps, "left", 2000))
    rules = [{"key": "k{{ i }}", "url": "u", "dimensions": {"i": {"stop": 2}}}] * 60
    found = document(tmp_path, json.dumps({"version": 1, "refs": {}, "gen": rules}))
    findings = rule_findings.all_findings(found)
    assert any("not decided" in finding.message for finding in findings)
    assert len(findings) < 60 * 59 / 2
    assert any("replaces 2 rows of rule 0" in finding.message for finding in findings)


@pytest.mark.parametrize(
    "text", ["k\ud800", "{{ '\\ud800' }}", "{{ '%c' % 55296 }}", "{{ '{:c}'.format(56000) }}"]
)
def test_templates_make_no_half_surrogates(text: str) -> None:
    for field in ("key", "url"):
        members = {"key": "k{{ i }}", "url": "u", "dimensions": {"i": {"stop": 2}}} | {
            field: text + "{{ i }}"
        }
        error = GenRule(members, TemplateSet(), 0).row(1).error
        assert error is not None
        assert error.kind is ErrorKind.TEMPLATE


@pytest.mark.parametrize(
    "command", [["info"], ["check"], ["expand"], ["expand", "--skip-bad"], ["plan", "NAME"], ["read", "NAME"]]
)
def test_text_of_a_document_cannot_steer_the_terminal(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    array = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "order": "C", "fill_value": 0,
        "filters": None, "compressor": None,
    }  # fmt: skip
    name = f"a{ESCAPES}"
    refs = {
        ".zgroup": '{"zarr_format":2}',
        ".zattrs": json.dumps({f"title{ESCAPES}": ESCAPES}),
        f"{name}/.zarray": json.dumps(array),
        f"{name}/.zattrs": json.dumps({"units": ESCAPES, "_ARRAY_DIMENSIONS": [f"x{ESCAPES}"]}),
        f"{name}/0": [f"http://e{ESCAPES}/", 0, 8],
        f"b{ESCAPES}/.zarray": json.dumps(array | {"dtype": ESCAPES, "compressor": {"id": ESCAPES}}),
        f"c{ESCAPES}": ["{{ " + ESCAPES, 1, 2],
        "d": [ESCAPES, -1, 2],
    }
    rule = {"key": f"k{ESCAPES}{{{{", "url": ESCAPES, "dimensions": {f"i{ESCAPES}": {"stop": 3}}, ESCAPES: 1}
    content = {"version": 1, "templates": {f"t{ESCAPES}": "{{ " + ESCAPES}, "refs": refs, "gen": [rule]}
    path.write_text(json.dumps(content | {f"z{ESCAPES}": 1}))
    verb, *rest = command
    main([verb, str(path), *[f"/{name}" if part == "NAME" else part for part in rest]])
    written = capsys.readouterr()
    for text in (written.out, written.err):
        assert not CONTROLS.search(text)
        assert not any(line.startswith("refbrowser: error[E_IO]") for line in text.splitlines())
    assert written.out or written.err
