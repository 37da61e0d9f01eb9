"""Arrays whose schemas differ in prefix and numbers alone are what each would be if it were the only one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward0_construct import Construct
from awkward0_constructs import CONSTRUCTS
from awkward0_encoder import Encoder, Expression, zipped
from awkward0_values import read_values, same
from deep import some
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nodes import ArrayNode
from refbrowser.wings.awkward0.layouts.schema import SchemaMemory, read_schema


def opened(path: Path, *members: dict[str, bytes]) -> refbrowser.Dataset:
    together: dict[str, bytes] = {}
    for each in members:
        together |= each
    path.write_bytes(zipped(together))
    return refbrowser.open(path)


def told(dataset: refbrowser.Dataset, name: str) -> Any:
    """Return all that is known of an array: its part of the document, nodes, findings."""
    refs = json.loads(dataset.document.to_bytes())["refs"]
    nodes = [node for node in dataset.hierarchy.walk() if f"{node.path}/".startswith(f"/{name}/")]
    facts = [
        (node.path, node.type, node.shape, node.has_grid and node.grid, buffers_of(node))
        for node in nodes
        if isinstance(node, ArrayNode)
    ]
    errors = [str(node.error or getattr(node, "unreadable", None)) for node in nodes]
    attributes = [(dict(node.attributes), dict(node.internal_attributes)) for node in nodes]
    findings = [each.message for each in dataset.document.notes if each.place.path == f"/{name}"]
    return (
        {key: value for key, value in refs.items() if key.startswith(f"{name}/")},
        facts,
        errors,
        attributes,
        findings,
    )


def buffers_of(node: ArrayNode) -> Any:
    values = node.nested if node.nested is not None else None
    parts = () if values is None else values.buffers
    return [(b.name, b.reference, b.dtype, b.count, b.codecs, b.offset, b.stored, b.place) for b in parts]


def members(name: str, make: Callable[[Encoder], Expression], **options: str) -> dict[str, bytes]:
    encoder = Encoder(name, **options)
    return encoder.members(make(encoder))


@pytest.mark.slow
@looped("construct", some(CONSTRUCTS, 3))
def test_several_of_one_construct(tmp_path: Path, construct: Construct) -> None:
    made = [members(name, construct.make, **dict(construct.options)) for name in "abc"]
    with opened(tmp_path / "x.awkd", *made) as several:
        for name, own in zip("abc", made, strict=True):
            with opened(tmp_path / "x.awkd", own) as alone:
                assert told(several, name) == told(alone, name)


@pytest.mark.parametrize("counts", [[1, 0, 2], [0, 0], [], [5, 1, 1, 9]])
@pytest.mark.parametrize("codecs", [[], ["zlib.decompress"]])
def test_counts_of_their_own(tmp_path: Path, counts: list[int], codecs: list[str]) -> None:
    def make(sizes: list[int]) -> Callable[[Encoder], Expression]:
        numbers = np.arange(sum(sizes)) * 1.5
        return lambda e: e.table(x=np.array(sizes, np.int64), y=e.jagged(sizes, numbers, codecs=codecs))

    made = [members("a", make([2, 1])), members("b", make([1, 2])), members("c", make(counts))]
    with opened(tmp_path / "x.awkd", *made) as several, opened(tmp_path / "y.awkd", made[2]) as alone:
        assert told(several, "c")[1][0][2] == (len(counts),)
        values = read_values(several["/c"])
        assert same(values, read_values(alone["/c"]))
        assert [len(row["y"]) for row in values] == counts
        found, wanted = told(several, "c"), told(alone, "c")
        assert found[0] == wanted[0]
        assert found[2:] == wanted[2:]


def test_counts_that_matter_elsewhere_are_looked_at(tmp_path: Path) -> None:
    """A mask of its own length is right in one array and too long for the content in another."""

    def masked(rows: int, mask: int) -> Callable[[Encoder], Expression]:
        return lambda e: e.make(
            "MaskedArray", np.zeros(mask, np.bool_), np.arange(rows) * 1.0, {"json": True}
        )

    made = [members("a", masked(3, 3)), members("b", masked(4, 4)), members("c", masked(2, 5))]
    with opened(tmp_path / "x.awkd", *made) as several, opened(tmp_path / "y.awkd", made[2]) as alone:
        assert told(alone, "c")[2] != ["None"] * len(told(alone, "c")[2])
        assert told(several, "c")[2:] == told(alone, "c")[2:]
        assert len(read_values(several["/b"])) == 4


def test_one_bad_array_among_its_likes(tmp_path: Path) -> None:
    def make(encoder: Encoder) -> Expression:
        return encoder.jagged([2, 1], [1.0, 2.0, 3.0])

    made = [members(name, make) for name in "abcd"]
    del made[1]["b-2.raw"]
    made[2]["c-2.raw"] = made[2]["c-2.raw"][:-1]
    with opened(tmp_path / "x.awkd", *made) as dataset:
        messages = {each.place.path: each.message for each in dataset.document.notes}
        assert "there is no blob" in messages["/b"]
        assert "24 are requested" in messages["/c"]
        assert set(messages) == {"/b", "/c"}
        for name in "ad":
            assert read_values(dataset[f"/{name}"]) == [[1.0, 2.0], [3.0]]
        with pytest.raises(RefbrowserError) as caught:
            read_values(dataset["/c"])
        assert caught.value.kind is ErrorKind.DECODE


SCHEMA = {"call": ["awkward0", "numpy", "frombuffer"], "args": [{"read": "0"}, {"dtype": "<i2"}, {"json": 3}]}


def document(count: Any, prefix: str, **more: Any) -> bytes:
    arguments = [*SCHEMA["args"][:2], {"json": count, **more.pop("beside", {})}]
    top = {"awkward0": "0.15.5", **more.pop("before", {}), "schema": {**SCHEMA, "args": arguments}}
    return json.dumps({**top, "prefix": prefix, **more}).encode()


def check_read(*texts: bytes) -> None:
    """Check that each is read with memory as without."""
    memory = SchemaMemory()
    for text in texts:
        found, wanted = memory.read(text, name="a"), read_schema(text, name="a")
        values = [(each.value, each.id, each.pointer, each.kind) for each in found.expressions]
        assert values == [(each.value, each.id, each.pointer, each.kind) for each in wanted.expressions]
        assert (found.prefix, found.metadata, found.doc) == (wanted.prefix, wanted.metadata, wanted.doc)
        assert (found.text, found.by_id, found.version) == (text, wanted.by_id, wanted.version)
        assert found.findings == wanted.findings


def test_prefixes_and_numbers_of_their_own() -> None:
    check_read(*(document(count, f"{count}-") for count in (3, 4, 0, 10**17, 10**17 + 1, -1, 2.5, True)))


def test_numbers_that_are_no_expressions_stay_where_they_are() -> None:
    """The same number stands in the metadata, where only its text tells it from that of the expression."""
    counts = [3, 4, 5, 4]
    check_read(*(document(n, "p", before={"metadata": {"json": n + 1}}) for n in counts))
    check_read(*(document(3, "p", before={"metadata": {"json": n}}) for n in counts))
    check_read(*(document({"json": n}, "p") for n in counts))
    check_read(*(document(3, "p", before={"doc": f'{{"json": {n}}}, "prefix": "q"}}'}) for n in counts))


def test_odd_prefixes() -> None:
    memory = SchemaMemory()
    memory.read(document(3, "p"))
    memory.read(document(4, "q"))
    for prefix in ("a,b", 'a"b', "a\\b", "é", "", "\n"):
        check_read(document(3, "p"), document(3, "q"), document(3, prefix))
    with pytest.raises(RefbrowserError) as caught:
        memory.read(document(3, "x" * 100_000))
    assert caught.value.kind is ErrorKind.SCHEMA
    bad = document(3, "p").replace(b'"p"', b'"\xff"')
    with pytest.raises(RefbrowserError) as caught:
        memory.read(bad)
    assert caught.value.kind is ErrorKind.ENCODING


@given(st.lists(st.tuples(st.integers(0, 99), st.text(max_size=5), st.integers(0, 2)), max_size=6))
def test_any_schemas_one_after_the_other(made: list[tuple[int, str, int]]) -> None:
    beside: list[dict[str, Any]] = [{}, {"id": 1}, {"id": 2}]
    check_read(*(document(count, prefix, beside=beside[more]) for count, prefix, more in made))


@given(st.binary(max_size=3), st.integers(0, 400))
def test_damaged_schemas_fail_as_without_memory(damage: bytes, at: int) -> None:
    memory = SchemaMemory()
    for count in (3, 4):
        memory.read(document(count, "p"))
    text = document(5, "p")
    at %= len(text)
    text = text[:at] + damage + text[at + len(damage) :]
    found = []
    for read in (memory.read, read_schema):
        try:
            schema = read(text, name="a")
            found.append([schema.prefix, *[each.value for each in schema.expressions]])
        except RefbrowserError as error:
            found.append([error.kind, error.message])
    assert found[0] == found[1]
