"""Rules whose offsets count from the next chunk: the edit that takes the shift back, where it is certain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.engine.findings.dataset_findings import dataset_findings
from refbrowser.findings.finding import Finding

#: Chunks, bytes of each, and bytes before them in the file.
COUNT, SIZE, HEAD = 5, 400, 64
FIRST = HEAD + SIZE


def array(chunks: int = COUNT) -> str:
    return json.dumps(
        {
            "zarr_format": 2, "shape": [chunks * 100], "chunks": [100], "dtype": "<f4", "compressor": None,
            "filters": None, "fill_value": 0, "order": "C",
        }
    )  # fmt: skip


def document(
    folder: Path, offset: str, *rules: dict[str, Any], size: int = HEAD + COUNT * SIZE, **refs: Any
) -> Path:
    """Write a document of an array `/a` by a rule with these offsets, and its file."""
    (folder / "rows.bin").write_bytes(bytes(size))
    path = folder / "d.json"
    every = {".zgroup": '{"zarr_format": 2}', "a/.zarray": array()}
    every |= {name.replace("_", "/"): value for name, value in refs.items()}
    gen = [rule("a", offset), *rules]
    path.write_text(json.dumps({"version": 1, "gen": gen, "refs": every}, indent=1))
    return path


def rule(name: str, offset: str, **more: Any) -> dict[str, Any]:
    given = {"key": f"{name}/{{{{i}}}}", "url": "rows.bin", "offset": offset, "length": str(SIZE)}
    return given | {"dimensions": {"i": {"stop": COUNT}}} | more


def shift_of(path: Path) -> Finding:
    """Return what is told of the rule of `/a`."""
    with refbrowser.open(path) as dataset:
        found = dataset_findings(dataset.document, dataset.hierarchy, dataset.access).all
    (finding,) = (each for each in found if each.code == "range-past-end" and each.place.rule == 0)
    return finding


TEXTS = {
    f"{{{{{HEAD} + (i + 1) * {SIZE}}}}}": f"{{{{{HEAD} + (i + 1) * {SIZE} - {SIZE}}}}}",
    f"{{{{ {FIRST} + {SIZE} * i }}}}": f"{{{{ {FIRST} + {SIZE} * i - {SIZE} }}}}",
    f"{{{{- i * {SIZE} + {FIRST} -}}}}": f"{{{{- i * {SIZE} + {FIRST} - {SIZE} -}}}}",
}


@pytest.mark.parametrize("offset", TEXTS)
def test_the_offsets_are_those_without_the_shift(offset: str, tmp_path: Path) -> None:
    path = document(tmp_path, offset)
    finding = shift_of(path)
    assert f"(the first {HEAD}, not {FIRST})" in finding.advice
    assert (finding.place.pointer, finding.place.field) == ("/gen/0/offset", "offset")
    assert finding.fix.title == f"Shift gen rule 0 back by {SIZE} bytes"
    with refbrowser.open(path) as dataset:
        before = dataset.document
        after = before.apply(finding.fix)
        told = before.rule_nodes[0].to_python() | {"offset": TEXTS[offset]}
        assert after.rule_nodes[0].to_python() == told
        rows = np.arange(COUNT)
        columns = [each.rules[0].references(rows) for each in (before, after)]
        assert (columns[1].offset == columns[0].offset - SIZE).all()
        assert (columns[1].length == columns[0].length).all()
        now = dataset.with_document(after)
        assert dataset_findings(now.document, now.hierarchy, now.access).all == []


def test_one_chunk_is_an_integer(tmp_path: Path) -> None:
    only = rule("a", str(FIRST), dimensions={"i": {"stop": 1}})
    path = document(tmp_path, "", size=FIRST)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"gen": [only]}))
    with refbrowser.open(path) as dataset:
        (edit,) = shift_of(path).fix.edits
        assert dataset.document.apply(edit).rules[0].offset == str(HEAD)


SHIFTED = f"{{{{{HEAD} + (i + 1) * {SIZE}}}}}"
#: What stands beside the rule, why a shift is not certain then: it is told, and no edit is offered.
DOUBTS: dict[str, dict[str, Any]] = {
    "the file lost more than a chunk": {"size": HEAD + (COUNT - 1) * SIZE},
    "it lost less": {"size": HEAD + COUNT * SIZE + 1},
    # The head is larger than a chunk: then the file may have lost one.
    "there is room for two chunks": {
        "offset": f"{{{{{2 * SIZE} + i * {SIZE}}}}}",
        "size": (COUNT + 1) * SIZE,
    },
    "another chunk lies there": {"b_0": ["rows.bin", HEAD, SIZE]},
    "one byte of it does": {"b_0": ["rows.bin", 0, HEAD + 1]},
    "another array is the whole file": {"b_0": ["rows.bin"]},
    "chunks of another rule lie there": {"rules": [rule("b", f"{{{{{HEAD} + i}}}}", length="4")]},
    "those of another rule may": {"rules": [rule("b", "{{ i * i }}", length="4")]},
    "a rule that gives many files may": {"rules": [rule("b", "0", url="{{ 'rows' if i else 'x' }}.bin")]},
}


@pytest.mark.parametrize("name", DOUBTS)
def test_what_may_be_no_shift_is_told_without_an_edit(name: str, tmp_path: Path) -> None:
    given = dict(DOUBTS[name])
    rules = given.pop("rules", [])
    assert shift_of(document(tmp_path, given.pop("offset", SHIFTED), *rules, **given)).fix is None


def test_what_lies_elsewhere_is_no_doubt(tmp_path: Path) -> None:
    beside = [
        rule("b", f"{{{{{FIRST} + i}}}}", length="4"),
        rule("c", "{{ i * i }}", url="other.bin"),
        rule("d", "0", length=str(HEAD)),
    ]
    more = {
        "e_0": ["rows.bin", 0, HEAD],
        "e_1": ["rows.bin", FIRST, 8],
        "e_2": ["x.bin"],
        "e_3": "base64:AAAA",
    }
    assert shift_of(document(tmp_path, SHIFTED, *beside, **more)).fix is not None
