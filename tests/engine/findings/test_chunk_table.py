"""The references of all arrays as columns: the same whether small arrays are looked up together or alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from refbrowser.engine.findings import chunk_table
from refbrowser.engine.findings.chunk_table import ChunkTable
from refbrowser.formats.references import hierarchy_of
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.references.rules.rule_search import SearchTime

GROUP = '{"zarr_format": 2}'


def array(*shape: int) -> str:
    chunks = [1 for _ in shape]
    return json.dumps(
        {
            "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<f4", "compressor": None,
            "filters": None, "fill_value": 0, "order": "C",
        }
    )  # fmt: skip


def document() -> ReferenceDocument:
    """Return one whose arrays have their chunks in all the ways that there are, edited ones among them."""
    refs: dict[str, Any] = {".zgroup": GROUP}
    shapes: dict[str, tuple[int, ...]] = {"a": (3, 2), "b": (4,), "c": (5,), "d": (), "e": (0,), "f": (3,)}
    for name, shape in (shapes | {"g": (30,), "h": (2,)}).items():
        refs[f"{name}/.zarray"] = array(*shape)
    refs |= {
        f"a/{row}.{column}": ["x.bin", 8 * row + 4 * column, 4] for row in range(3) for column in range(2)
    }
    # Missing, inline, whole files, another file, a faulty one.
    refs |= {"b/0": "base64:AAAAAA==", "b/1": ["w.bin"], "b/3": ["y.bin", 0, 4], "d/0": ["{{u}}.bin", 0, 4]}
    refs |= {"f/0": ["x.bin", -1, 4], "f/1": ["{{ nobody }}", 0, 4], "h/0": "abc", "h/1": "base64:AAAA"}
    refs |= {f"g/{number}": ["x.bin", 4 * number, 4] for number in range(30)}
    gen = [
        {
            "key": "c/{{i}}", "url": "{{u}}{{i}}.bin", "offset": "{{4 * i}}", "length": "4",
            "dimensions": {"i": {"stop": 4}},
        }
    ]  # fmt: skip
    made = {"version": 1, "templates": {"u": "t"}, "gen": gen, "refs": refs}
    found: Any = ReferenceDocument.of(json.dumps(made).encode())
    for edit in (SetReference("b/2", ["new.bin", 4, 4]), SetReference("a/1.1", ["z.bin", 4, 4])):
        found = found.apply(edit)
    return found.apply(RemoveReference("g/7"))


def told(given: ReferenceDocument) -> list[Any]:
    """Return all that a table tells, with the names of files instead of their numbers."""
    table = ChunkTable.of(given, hierarchy_of(given), SearchTime())
    urls = [table.urls[number] for number in table.url.tolist()]
    columns = [each.tolist() for each in (table.owner, table.number, table.offset, table.length)]
    owners = [
        (each.node.path, each.exact, each.most, each.least, each.missing.tolist(), each.inline.tolist())
        for each in table.owners
    ]
    return [urls, columns, owners, table.is_whole, (np.diff(table.owner) >= 0).all()]


def test_small_arrays_are_told_as_if_each_were_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    given = document()
    found = told(given)
    owners = {each[0]: each for each in found[2]}
    assert list(owners) == [f"/{name}" for name in "abcdefgh"]
    assert owners["/b"][4:] == ([], [0])
    assert (owners["/c"][4], owners["/g"][4], owners["/h"][5]) == ([4], [7], [0, 1])
    assert found[4]
    # Each alone; two or three together; none of more than some chunks with others.
    for few, block in ((-1, 10), (4096, 6), (4, 4096)):
        monkeypatch.setattr(chunk_table, "_FEW", few)
        monkeypatch.setattr(chunk_table, "_BLOCK", block)
        assert told(given) == found, (few, block)


def test_what_rules_lost_is_not_told_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {
        "version": 1,
        "gen": [{"key": "a/{{i}}", "url": "x.bin", "dimensions": {"i": {"stop": "many"}}}],
        "refs": {".zgroup": GROUP, "a/.zarray": array(8), "a/0": ["x.bin", 0, 4]},
    }
    given = ReferenceDocument.of(json.dumps(made).encode())
    together = told(given)
    assert together[2][0][4] == []
    monkeypatch.setattr(chunk_table, "_FEW", -1)
    assert told(given) == together
