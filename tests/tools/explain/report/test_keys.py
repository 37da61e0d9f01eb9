"""Keys: where they stand, what they are, which entry counts; rules with dimensions and templates."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_files import write_events
from explained import ZARRAY, dataset, document, faults, line, of_element, of_key
from streams_made import write_ocean

from refbrowser.errors import RefbrowserError
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.tools.explain.report.explanation import HexBlock, LinkKind, StepState, VerdictKind

RULE = {
    "key": "a/{{i}}.{{j}}",
    "url": "{{u(n=i)}}",
    "offset": "{{(i * 2 + j) * 12}}",
    "length": "12",
    "dimensions": {"i": {"stop": 2}, "j": {"stop": 2}},
}
TEMPLATES = {"u": "data{{n}}.bin", "unused": "x"}


@pytest.fixture
def ruled(tmp_path: Path) -> Path:
    for number in range(2):
        data = np.arange(24, dtype="<i2") + 100 * number
        (tmp_path / f"data{number}.bin").write_bytes(data.tobytes())
    return document(tmp_path, {}, gen=[RULE], templates=TEMPLATES)


def write_store(folder: Path) -> Path:
    """Write a Zarr store of four chunks: the document made for it has a template and a rule."""
    root = folder / "sea.zarr"
    (root / "a").mkdir(parents=True)
    metadata = {**ZARRAY, "fill_value": 0}
    (root / ".zgroup").write_text('{"zarr_format": 2}')
    (root / "a" / ".zarray").write_text(json.dumps(metadata))
    for chunk in ("0.0", "0.1", "1.0", "1.1"):
        (root / "a" / chunk).write_bytes(np.arange(6, dtype="<i2").tobytes())
    return root


@pytest.mark.parametrize("write", [write_store, write_ocean, write_events])
def test_rules_that_nobody_wrote_are_told_of_no_key(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    with dataset(write(tmp_path)) as opened:
        assert opened.document.rules_are_made
        rows = opened.document.expansion.rows
        keys = [opened.document.expansion.item(row)[0] for row in range(min(rows, 40))]
        assert keys
        told = [of_key(opened, str(key)).text() for key in [*keys, "no/such/key"]]
    for words in ("en rule", "rule 0", "emplate", "refs, row", "JSON pointer"):
        assert [text for text in told if words in text] == []


class TestRules:
    def test_row_dimensions_and_templates(self, ruled: Path) -> None:
        with dataset(ruled) as opened:
            explanation = of_element(opened, 2, 3)
        assert explanation.verdict == "This element is 118"
        entry = explanation.step("entry")
        assert entry.title == "Gen rule 0"
        assert entry.facts["rule"] == 0
        assert entry.facts["row"] == 3
        assert entry.facts["version0_row"] == 6
        assert entry.facts["dimensions"] == {"i": 1, "j": 1}
        assert entry.facts["templates"] == ["u"]
        assert line(entry, "url") == "{{u(n=i)}} = data1.bin"
        assert line(entry, "offset") == "{{(i * 2 + j) * 12}} = 36"
        assert line(entry, "length") == "12"
        assert line(entry, "Template u") == '"data{{n}}.bin"'
        kinds = [(link.kind, link.target) for link in entry.links]
        assert kinds == [(LinkKind.RULE, 0), (LinkKind.TEMPLATE, "u")]

    def test_values_that_the_user_gave_are_told(self, ruled: Path) -> None:
        import refbrowser

        with refbrowser.open(ruled, templates={"u": "data0.bin"}) as opened:
            entry = of_key(opened, "a/1.1").step("entry")
        assert "a value that you gave" in line(entry, "Template u")

    def test_a_rule_wins_over_refs(self, tmp_path: Path, ruled: Path) -> None:
        path = document(tmp_path, {"a/0.0": ["old.bin", 0, 12]}, gen=[RULE], templates=TEMPLATES)
        with dataset(path) as opened:
            explanation = of_key(opened, "a/0.0")
        entry = explanation.step("entry")
        assert entry.state is StepState.WARNING
        assert entry.facts["shadowed"] == [
            {"origin": "refs", "row": 3, "reference": "range", "url": "old.bin", "offset": 0, "length": 12}
        ]
        assert line(entry, "Shadowed").startswith("refs, row 3: 12 bytes from byte 0 of old.bin")

    def test_a_later_rule_wins(self, tmp_path: Path) -> None:
        later = {**RULE, "url": "later.bin"}
        path = document(tmp_path, {}, gen=[RULE, later], templates=TEMPLATES)
        with dataset(path) as opened:
            entry = of_key(opened, "a/0.1").step("entry")
        assert entry.facts["rule"] == 1
        assert [other["rule"] for other in entry.facts["shadowed"]] == [0]

    def test_rows_of_one_rule_with_the_same_key(self, tmp_path: Path) -> None:
        dimensions = {"i": {"stop": 2}, "j": {"stop": 2}, "k": {"stop": 5}}
        rule = {**RULE, "offset": "{{k}}", "url": "x", "dimensions": dimensions}
        with dataset(document(tmp_path, {}, gen=[rule])) as opened:
            entry = of_key(opened, "a/0.0").step("entry")
        assert entry.facts["row"] == 4
        assert line(entry, "Repeated").startswith("5 rows of this rule have the key")
        assert entry.state is StepState.WARNING

    def test_a_faulty_row(self, tmp_path: Path) -> None:
        rule = {**RULE, "url": "x", "offset": "{{ 1 // j }}"}
        with dataset(document(tmp_path, {}, gen=[rule])) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAULTY
        assert explanation.verdict.startswith("This element cannot be read because its reference is faulty: ")
        assert faults(explanation) == ["entry"]
        assert explanation.links[0].kind is LinkKind.RULE
        assert "faulty" in line(explanation.step("entry"), "offset")

    def test_not_decided(self, tmp_path: Path) -> None:
        big = {"stop": 10**9}
        rule = {
            **RULE,
            "key": "a/{{ (i * i * 7 + j * j * j) % 1000003 }}.{{ (i * j) % 1000033 }}",
            "url": "x",
            "dimensions": {"i": big, "j": big},
        }
        array = {"shape": [10**7, 10**7], "chunks": [1, 1]}
        with dataset(document(tmp_path, {}, array=array, gen=[rule])) as opened:
            explanation = of_key(opened, "a/999999.999999")
        assert explanation.kind is VerdictKind.UNDECIDED
        assert "gen rule 0" in explanation.verdict
        assert faults(explanation) == ["entry"]


class TestRefs:
    def test_pointer_and_text(self, tmp_path: Path) -> None:
        path = document(tmp_path, {"a/0.0": ["{{u}}", 4, 12]}, templates={"u": "x.bin"})
        with dataset(path) as opened:
            entry = of_key(opened, "a/0.0").step("entry")
        assert line(entry, "JSON pointer") == "/refs/a~10.0"
        assert line(entry, "Written as") == '["{{u}}", 4, 12]'
        assert line(entry, "Template u") == '"x.bin"'
        assert line(entry, "Refers to") == "12 bytes from byte 4 of x.bin"
        assert [link.kind for link in entry.links] == [LinkKind.REFERENCE, LinkKind.TEMPLATE]

    def test_a_key_twice(self, tmp_path: Path) -> None:
        path = document(tmp_path, {"a/0.0": ["one.bin"]})
        path.write_text(path.read_text().replace('"a/0.0"', '"a/0.0": ["zero.bin"], "a/0.0"'))
        with dataset(path) as opened:
            entry = of_key(opened, "a/0.0").step("entry")
        assert line(entry, "Refers to") == "all of one.bin"
        assert line(entry, "Shadowed").startswith("refs, row 3: all of zero.bin")

    @pytest.mark.parametrize("value", [7, ["{{nothing}}"], ["x", -1, 5], ["x", 1]])
    def test_faulty_entries(self, tmp_path: Path, value: Any) -> None:
        with dataset(document(tmp_path, {"a/0.0": value})) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAULTY
        assert explanation.links[0].kind is LinkKind.REFERENCE

    def test_version_0(self, tmp_path: Path) -> None:
        path = document(tmp_path, {"a/0.0": ["{{literal}}.bin", 0, 12]})
        path.write_text(json.dumps(json.loads(path.read_text())["refs"]))
        (tmp_path / "{{literal}}.bin").write_bytes(np.arange(6, dtype="<i2").tobytes())
        with dataset(path) as opened:
            explanation = of_element(opened, 0, 1)
        assert explanation.verdict == "This element is 1"
        assert line(explanation.step("entry"), "JSON pointer") == "/a~10.0"


class TestWhatAKeyIs:
    def test_metadata(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {})) as opened:
            explanation = of_key(opened, "a/.zarray")
            assert explanation.kind is VerdictKind.METADATA
            assert explanation.verdict == "a/.zarray is metadata of the array /a, not a chunk"
            assert "shape, chunks" in line(explanation.step("document"), "Members").replace(
                "zarr_format, ", ""
            )
            assert of_key(opened, ".zgroup").verdict == ".zgroup is metadata of the group /, not a chunk"

    def test_broken_metadata(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"a/.zarray": "not JSON"})) as opened:
            explanation = of_key(opened, "a/.zarray")
            assert explanation.kind is VerdictKind.METADATA
            assert "not JSON" in explanation.verdict
            assert explanation.state is StepState.FAULT
            element = of_element(opened, 0, 0)
            assert element.kind is VerdictKind.UNREADABLE
            assert element.links[0].kind is LinkKind.ATTRIBUTES

    def test_metadata_that_cannot_be_used(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {}, array={"shape": "wide"})) as opened:
            explanation = of_key(opened, "a/.zarray")
        assert "which cannot be used: " in explanation.verdict

    def test_outside_of_the_grid(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"a/7.0": ["x.bin"]})) as opened:
            explanation = of_key(opened, "a/7.0")
            assert explanation.kind is VerdictKind.STRAY
            assert "chunk [7, 0] is outside the grid of /a, which is 2 × 2 chunks" in explanation.verdict
            absent = of_key(opened, "a/8.0")
        assert absent.kind is VerdictKind.NO_KEY
        assert "chunk [8, 0] is outside" in absent.verdict

    def test_another_way_to_write_chunks(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"a/0/0": ["x.bin"]})) as opened:
            explanation = of_key(opened, "a/0/0")
        assert "whose keys look like 0.0" in explanation.verdict

    def test_stray_and_absent_keys(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"readme": "hello"})) as opened:
            stray = of_key(opened, "readme")
            assert stray.kind is VerdictKind.STRAY
            assert stray.verdict == "readme is never read: it belongs to no array"
            assert stray.step("bytes").facts["size"] == 5
            absent = of_key(opened, "nothing")
        assert absent.kind is VerdictKind.NO_KEY
        assert absent.verdict == "There is no key nothing"

    def test_foreign_text_stays_plain(self, tmp_path: Path) -> None:
        key = "odd\x1b[31m\n<b>key</b>"
        with dataset(document(tmp_path, {key: ["<i>\x07.bin"]})) as opened:
            explanation = of_key(opened, key)
        assert "\x1b" not in explanation.text()
        assert "odd\\x1b[31m\\n<b>key</b>" in explanation.verdict


class TestElements:
    @pytest.mark.parametrize("index", [(9, 0), (0,), (-1, 0), (0, 0, 0)])
    def test_no_such_element(self, tmp_path: Path, index: tuple[int, ...]) -> None:
        with dataset(document(tmp_path, {})) as opened, pytest.raises(RefbrowserError, match="no element"):
            explain(opened, Question(array="/a", index=index))

    def test_no_such_array(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {})) as opened, pytest.raises(RefbrowserError, match="no array"):
            explain(opened, Question(array="/b", index=()))

    def test_places_are_told(self, tmp_path: Path) -> None:
        attributes = {"_ARRAY_DIMENSIONS": ["lat", "time"]}
        with dataset(document(tmp_path, {}, attributes=attributes)) as opened:
            explanation = of_element(opened, 1, 2, places=("45°N", "2020-01-01"))
        assert line(explanation.step("element"), "lat") == "1 of 4 (45°N)"
        assert line(explanation.step("element"), "time") == "2 of 6 (2020-01-01)"


def test_real_file_tells_why_a_pixel_is_empty(shared_data: Path) -> None:
    with dataset(shared_data / "real" / "cth.refs.json") as opened:
        values = opened["/HT"][...]
        row, column = np.argwhere(values == -1)[0].tolist()
        empty = of_element(opened, row, column, array="/HT")
        row, column = np.argwhere(values != -1)[0].tolist()
        full = of_element(opened, row, column, array="/HT")
    assert empty.kind is VerdictKind.FILL
    assert "65535, is the fill value of the array, which means no data" in empty.verdict
    assert line(empty.step("value"), "Stored value") == "65535 (-1 without _Unsigned)"
    assert full.kind is VerdictKind.VALUE
    assert full.verdict.endswith(" m")


def test_marked_bytes_are_in_brackets_in_each_row() -> None:
    block = HexBlock("", bytes(range(6)), 0, range(1, 5))
    assert block.rows(3) == ["00000000  00[01 02] ...", "00000003 [03 04]05  ..."]
    assert HexBlock("", b"ab").rows(4) == ["00000000  61 62        ab"]
