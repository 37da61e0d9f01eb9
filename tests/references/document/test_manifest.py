"""Documents that a format gives as values: what they stand for, their edits, and the text made of them."""

from __future__ import annotations

import json
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.formats.references import hierarchy_of
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ByteRange, Inline, ReferenceKind, WholeFile
from refbrowser.model.values import Chunks, CodecSpec
from refbrowser.references.content import made_text, value_table
from refbrowser.references.content.made_text import spelled_node
from refbrowser.references.content.origins import FileOrigin
from refbrowser.references.content.url_prefixes import PrefixScope
from refbrowser.references.content.value_table import ValueTable
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument
from refbrowser.references.edits.edits import (
    RemoveReference,
    RenameReference,
    SetMetadata,
    SetReference,
    SetVersion,
)
from refbrowser.references.edits.many_edits import ReplacePrefixIn
from refbrowser.references.edits.outer_edits import InsertRule
from refbrowser.references.rules.layouts import ChunkLayout

V2 = ChunkKeyEncoding()
ENCODINGS = (
    V2,
    ChunkKeyEncoding("v2", "/"),
    ChunkKeyEncoding("default", "/"),
    ChunkKeyEncoding("draft", "/"),
)
PLACE = "/data/a {b}.zarr"


def made(place: str = PLACE) -> ManifestDocument:
    builder = ManifestBuilder(place)
    builder.add_whole("one/0", f"{place}/one/0")
    builder.add_metadata({".zgroup": b'{"zarr_format": 2}', "t/.zarray": b"\xff", "t/.zattrs": b'{"a":1}'})
    builder.add_bytes("small/0", b"text")
    builder.add_ranges("r/", np.array([[2, 0], [0, 1]]), np.array([5, 2**40]), np.array([7, 3]))
    builder.add_range("n/0", 1, 2, f"zip://x/{{y::{place}")
    builder.layouts.append(ChunkLayout("t/", (2, 3), V2, f"{place}/t/"))
    return builder.document(name="made")


def rows(document: ManifestDocument | ReferenceDocument) -> dict[str | None, object]:
    page = document.expansion.items(0, document.expansion.rows)
    return {key: document.expansion.item(row)[1] for row, key in enumerate(page.keys)}


def test_what_is_given_is_what_it_stands_for_and_what_its_text_says() -> None:
    document = made()
    assert not document.rules
    assert not document.templates.texts
    found = rows(document)
    assert found["one/0"] == WholeFile(f"{PLACE}/one/0")
    assert found["t/.zarray"] == Inline(b"\xff")
    assert found["small/0"] == Inline(b"text")
    assert found["r/0.1"] == ByteRange(PLACE, 2**40, 3)
    assert found["n/0"] == ByteRange(f"zip://x/{{y::{PLACE}", 1, 2)
    assert found["t/1.2"] == WholeFile(f"{PLACE}/t/1.2")
    assert len(found) == 8 + 6
    again = ReferenceDocument.of(document.to_bytes())
    assert rows(again) == found
    text = json.loads(document.to_bytes())
    assert text["refs"]["r/2.0"] == ["{{u}}", 5, 7]
    assert text["refs"]["small/0"] == "base64:dGV4dA=="
    assert [rule["url"] for rule in text["gen"]] == ["{{u}}/t/{{i}}.{{j}}"]


def test_nodes_are_not_read_from_text_until_somebody_edits_it() -> None:
    spelled: list[tuple[str, str]] = []

    def spell(node: GroupNode | ArrayNode, name: str) -> bytes:
        spelled.append((node.path, name))
        return spelled_node(node, name)

    builder = ManifestBuilder("/s", spell=spell)
    grid = RegularChunkGrid((4,), (2,))
    chunks = Chunks(
        grid=grid, codecs=(CodecSpec("shuffle", {"elementsize": 2}), CodecSpec("zlib", {"level": 1}))
    )
    number = DataType.of(np.dtype(">i2"))
    attributes = {"big": float("inf"), "list": [1, float("nan")], "raw": b"x"}
    builder.add_node(GroupNode(attributes=attributes))
    common = {"shape": (4,), "dimensions": ("n",), "internal_attributes": {"_ARRAY_DIMENSIONS": ["n"]}}
    builder.add_node(ArrayNode(path="/a", type=number, values=chunks, fill_value=np.int16(-1), **common))  # type: ignore[arg-type]
    builder.add_node(ArrayNode(path="/b", type=DataType.of(np.dtype(object), "string"), **common))  # type: ignore[arg-type]
    builder.add_ranges("a/", np.array([[0], [1]]), np.array([8, 12]), np.array([4, 4]))
    document = builder.document(name="x", origin=FileOrigin("/s", "ours"))
    hierarchy = hierarchy_of(document)
    assert not spelled
    assert isinstance(hierarchy.root, GroupNode)
    assert hierarchy.root.attributes is attributes
    array = hierarchy.root.arrays["a"]
    assert array.metadata_keys == ("a/.zarray", "a/.zattrs")
    assert array.dimension_paths == ("/n",)
    assert array.manifest.stored() == 2
    assert document.findings == ()
    assert not spelled
    texts = {key: document.expansion.value(key) for key in document.expansion.metadata_keys()}
    assert list(texts) == [".zgroup", ".zattrs", "a/.zarray", "a/.zattrs", "b/.zarray", "b/.zattrs"]
    assert json.loads(texts[".zattrs"] or b"") == {"big": "Infinity", "list": [1, "NaN"], "raw": "x"}
    said = json.loads(texts["a/.zarray"] or b"")
    assert (said["dtype"], said["fill_value"], said["chunks"]) == (">i2", -1, [2])
    assert said["filters"] == [{"id": "shuffle", "elementsize": 2}]
    assert said["compressor"] == {"id": "zlib", "level": 1}
    assert json.loads(texts["b/.zarray"] or b"")["dtype"] == "|O"
    # What is saved says the same, and so does what is read of it.
    again = hierarchy_of(ReferenceDocument.of(document.to_bytes())).find("/a")
    assert isinstance(again, ArrayNode)
    assert (again.type, again.codecs, again.fill_value) == (array.type, array.codecs, array.fill_value)
    spelled.clear()
    for edit, path in (
        (SetMetadata("a/.zattrs", {"new": 1}), "/a"),
        (RenameReference("a/.zattrs", "c/.zattrs"), "/a"),
        (RemoveReference(".zattrs"), "/"),
    ):
        spelled.clear()
        edited = document.apply(edit)
        assert path not in edited.as_described
        found = hierarchy_of(edited)
        assert {each for each, _ in spelled} <= {path, "/b"}
        node = found.find("/a")
        assert isinstance(node, ArrayNode)
        assert node.attributes == ({"new": 1} if isinstance(edit, SetMetadata) else {})
        assert node.shape == (4,)
    assert document.apply(SetReference("a/0", ["/other"])).as_described == document.as_described
    assert not document.apply(SetMetadata(".zmetadata", {"metadata": {}})).as_described


@pytest.mark.slow
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.sampled_from(ENCODINGS), st.data())
def test_a_layout_gives_what_its_rule_gives(grid: list[int], encoding: ChunkKeyEncoding, data) -> None:  # type: ignore[no-untyped-def]
    builder = ManifestBuilder("/s")
    builder.layouts.append(ChunkLayout("v/1/", tuple(grid), encoding, "/s/v/1/"))
    document = builder.document(name="x")
    if prod(grid) < 2:
        return
    text = document.written()
    (layout,), (rule,) = document.layouts, text.rules
    assert layout.count == rule.count
    assert rows(document) == rows(text)
    asked = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, 5)] * len(grid)), min_size=1, max_size=9)))
    for prefix, other in (("v/1/", encoding), ("v/", encoding), ("v/1/", V2), ("v/1/", ENCODINGS[2])):
        mine = document.expansion.chunk_columns(prefix, asked, other)
        theirs = text.expansion.chunk_columns(prefix, asked, other)
        assert [mine.reference(at) for at in range(len(asked))] == [
            theirs.reference(at) for at in range(len(asked))
        ]
    kinds = document.expansion.chunk_kinds("v/1/", tuple(grid), encoding)
    assert (kinds == text.expansion.chunk_kinds("v/1/", tuple(grid), encoding)).all()
    for key in ("v/1/0", "v/1/c/0/0", "v/1/0.0", "v/1/00", "v/1/", "w"):
        assert document.expansion.find(key) == text.expansion.find(key)


def test_a_layout_of_any_size_costs_nothing() -> None:
    builder = ManifestBuilder("/s")
    builder.layouts.append(ChunkLayout("v/", (10**12, 10**12), V2, "/s/v/"))
    expansion = builder.document(name="x").expansion
    last = expansion.rows - 1
    assert expansion.find("v/999999999999.999999999999") == last == 10**24 - 1
    assert expansion.item(last)[1] == WholeFile("/s/v/999999999999.999999999999")
    assert expansion.items(last - 1, last + 1).keys[-1] == "v/999999999999.999999999999"
    found = expansion.chunk_columns("v/", np.array([[10**12 - 1, 3], [10**12, 0]]), V2)
    assert found.kind.tolist() == [ReferenceKind.WHOLE, ReferenceKind.MISSING]


def test_edits_lie_over_what_was_found_and_undo_gives_it_back() -> None:
    history = History(made())
    before, text = rows(history.document), history.document.to_bytes()
    edits = [
        SetMetadata("t/.zattrs", {"a": 2}),
        SetReference("t/0.1", ["/other", 3, 4]),
        SetReference("one/0", ["/{{x}}"]),
        RenameReference("r/0.1", "r/9.9"),
        RemoveReference("n/0"),
    ]
    for edit in edits:
        history.apply(edit)
    document = history.document
    assert isinstance(document, ManifestDocument)
    for each in (document, ReferenceDocument.of(document.to_bytes())):
        expansion = each.expansion
        assert json.loads(expansion.value("t/.zattrs") or b"") == {"a": 2}
        assert expansion.reference("t/0.1") == ByteRange("/other", 3, 4)
        assert expansion.reference("t/0.0") == WholeFile(f"{PLACE}/t/0.0")
        assert expansion.reference("one/0") == WholeFile("/{{x}}")
        assert expansion.reference("r/9.9") == ByteRange(PLACE, 2**40, 3)
        assert expansion.find("n/0") is expansion.find("r/0.1") is None
        coords = np.array([[0, 0], [0, 1]])
        kinds = expansion.chunk_columns("t/", coords, V2).kind.tolist()
        assert kinds == [ReferenceKind.WHOLE, ReferenceKind.RANGE]
        assert expansion.chunk_kinds("t/", (2, 3), V2)[0].tolist() == [3, 2, 3]
        assert expansion.stored_chunks("t/", (2, 3), V2) == 6
    history.go_to(0)
    assert rows(history.document) == before
    assert history.document.to_bytes() == text


def test_bytes_in_place_of_a_chunk_are_written_out_with_its_array(monkeypatch: pytest.MonkeyPatch) -> None:
    document = made().apply(SetReference("t/1.1", "inline"))
    again = ReferenceDocument.of(document.to_bytes())
    assert not again.rules
    assert again.expansion.reference("t/1.1") == Inline(b"inline")
    assert again.expansion.reference("t/1.2") == WholeFile(f"{PLACE}/t/1.2")
    monkeypatch.setattr(made_text, "LIMITS", replace(LIMITS, write_out_question=5))
    with pytest.raises(RefbrowserError, match="6 references"):
        made().apply(SetReference("t/1.1", "inline")).to_bytes()


def test_all_moves_with_the_place() -> None:
    document = made().apply(RenameReference("one/0", "two/0"))
    moved = document.apply(ReplacePrefixIn("/data/", "/else/", PrefixScope()))
    assert isinstance(moved, ManifestDocument)
    found = rows(moved)
    assert moved.place == "/else/a {b}.zarr"
    assert found["two/0"] == WholeFile("/else/a {b}.zarr/one/0")
    assert found["n/0"] == ByteRange("zip://x/{y::/else/a {b}.zarr", 1, 2)
    assert found["t/1.2"] == WholeFile("/else/a {b}.zarr/t/1.2")
    assert rows(ReferenceDocument.of(moved.to_bytes())) == found
    assert document.apply(ReplacePrefixIn("/nowhere", "/x", PrefixScope())) is document


def test_a_rule_or_another_version_makes_a_text_of_it() -> None:
    rule = {"key": "t/0.0", "url": "/x", "dimensions": {"i": [0]}}
    with_rule = made().apply(InsertRule(1, rule))
    assert isinstance(with_rule, ReferenceDocument)
    assert with_rule.expansion.reference("t/0.0") == WholeFile("/x")
    plain = made().apply(SetVersion(0))
    assert rows(plain) == rows(made())  # type: ignore[arg-type]
    assert made().apply(SetVersion(1)).version == 1


def test_what_is_too_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ManifestBuilder("/s")
    builder.add_metadata({"a/.zattrs": b"x" * 20, "k" * (LIMITS.key_length + 1): b"{}"})
    monkeypatch.setattr(value_table, "LIMITS", replace(LIMITS, inline_value=10, references=3))
    builder.add_metadata({".zattrs": b"x" * 20})
    coords = np.zeros((1, 1), np.int64)
    with pytest.raises(RefbrowserError, match="more than 3 references"):
        builder.add_ranges("b/", coords, coords[0], coords[0])


#: A part of a document: the prefix of an array, its chunks, and entries with bytes or without chunk keys.
PARTS = st.tuples(
    st.sampled_from(("", "a/", "a/b/", "c/")),
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from(("s3://x/1", "s3://x/2", "/p"))), max_size=6),
    st.lists(
        st.tuples(st.sampled_from(("k", "odd key", "c/0/1", "z.json")), st.binary(max_size=5)), max_size=4
    ),
)


@pytest.mark.slow
@given(st.lists(PARTS, max_size=5))
def test_tables_that_are_added_give_the_same_entries(parts: list[Any]) -> None:
    def fill(builder: ManifestBuilder, part: Any) -> None:
        prefix, chunks, others = part
        coords = np.array([[row] for row, _ in chunks], np.int64).reshape(-1, 1)
        urls = [url for _, url in chunks]
        numbers = np.arange(len(urls))
        builder.add_ranges(prefix, coords, 7 * numbers + 2**33, numbers + 1, None, urls, numbers)
        for key, data in others:
            builder.add_bytes(prefix + key, data)

    whole, calls = ManifestBuilder("/place"), list[int]()
    first = ManifestBuilder("/place")
    for builder in (whole, first):
        builder.add_metadata({".zgroup": b"{}"})
    for part in parts:
        fill(whole, part)

    def later() -> list[ValueTable]:
        calls.append(1)
        made = []
        for part in parts:
            builder = ManifestBuilder("/place")
            fill(builder, part)
            made.append(builder.table())
        return made

    expected, found = whole.document(name="x"), first.document(name="x", later=later)
    # What is known of a document without its references does not make them.
    assert found.known is not None
    assert not found.is_edited
    assert not calls
    rows = range(len(expected.refs))
    assert len(found.refs) == len(rows)
    assert found.refs.keys_of(rows) == expected.refs.keys_of(rows)
    for row in rows:
        assert found.refs.value_text(row) == expected.refs.value_text(row)
    assert found.to_bytes() == expected.to_bytes()
    assert found.refs.table.urls == expected.refs.table.urls
    assert found.refs.table.flagged.tolist() == expected.refs.table.flagged.tolist()
    assert calls == [1]


def test_the_text_is_made_as_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ManifestBuilder("s3://b/x.nc")
    builder.add_metadata({".zgroup": b'{"zarr_format": 2}'})
    builder.add_range("a/0", 5, 6)
    document = builder.document(name="x")
    edited = document.apply(SetReference("a/1", ["s3://b/x.nc", 7, 8]))
    monkeypatch.setattr(ReferenceDocument, "read", None)
    text = document.to_bytes()
    monkeypatch.undo()
    assert text == document.written().to_bytes()
    # An edited one gives what was not edited as it was.
    assert edited.to_bytes().startswith(text[:-2])
    assert json.loads(edited.to_bytes())["refs"]["a/1"] == ["s3://b/x.nc", 7, 8]
