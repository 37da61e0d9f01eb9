"""Arrays as expressions and blobs: their form, their names, what is compressed, rows added in parts."""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

import awkward as ak
import numpy as np
import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nested import NestedType, TypeKind
from refbrowser.wings.awkward0.writing.blobs import (
    DEFAULT_POLICY,
    MemorySink,
    Recorder,
    Rule,
    Said,
    pair,
    policy_of,
)
from refbrowser.wings.awkward0.writing.feeding import feed, type_of_content
from refbrowser.wings.awkward0.writing.parts import (
    HDF5_NAMING,
    Naming,
    Part,
    check_names,
    part_of,
    united,
    written_type,
)
from refbrowser.wings.awkward0.writing.serialize import Spools, put_array, serialize

INT = NestedType(TypeKind.NUMBER, dtype=np.dtype("i8"))
FLOAT = NestedType(TypeKind.NUMBER, dtype=np.dtype("f8"))
BOOL = NestedType(TypeKind.NUMBER, dtype=np.dtype("?"))
TEXT = NestedType(TypeKind.STRING)
RAGGED = [[1.5, None], None, [], [2.5]]
RECORDS = [{"a": 1, "b": ["x", "yy"]}, {"a": 2, "b": []}]
UNION = [1, "x", [2], None, "y", [3, 4]]


def serialized(values: Any, name: str = "one", **options: Any) -> MemorySink:
    content = values if isinstance(values, ak.contents.Content) else ak.from_iter(values, highlevel=False)
    sink = MemorySink()
    serialize(content, sink, name, **options)
    return sink


def schema(sink: MemorySink, name: str = "one.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sink[name])
    return found


def expressions(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every expression of a schema."""
    yield node
    below = [*node.get("args", ()), *node.get("list", ()), *(each for _, each in node.get("pairs", ()))]
    for each in below:
        yield from expressions(each)


def calls(sink: MemorySink) -> list[str]:
    found = expressions(schema(sink)["schema"])
    return [".".join(each["call"][1:]) for each in found if "call" in each]


def test_the_schema_says_who_it_is_for_and_where_blobs_are() -> None:
    sink = serialized([[1, 2], [], [3]], said=Said("a doc", {"units": "m"}))
    top = schema(sink)
    assert top["awkward0"] == "0.15.5"
    assert (top["doc"], top["metadata"], top["prefix"]) == ("a doc", {"units": "m"}, "one-")
    root = top["schema"]
    assert root["call"] == ["awkward0", "JaggedArray", "fromcounts"]
    counts, content = root["args"]
    assert counts["call"] == ["awkward0", "numpy", "frombuffer"]
    assert [each["dtype"] for each in counts["args"] if "dtype" in each] == ["int64"]
    assert np.frombuffer(sink["one-" + counts["args"][0]["read"]], "i8").tolist() == [2, 0, 1]
    assert np.frombuffer(sink["one-" + content["args"][0]["read"]], "i8").tolist() == [1, 2, 3]
    assert content["args"][2]["json"] == 3


def test_blobs_are_named_after_the_identifier_of_their_array() -> None:
    for node in expressions(schema(serialized(UNION))["schema"]):
        if "call" in node and node["call"][-1] == "frombuffer":
            assert node["args"][0]["read"] == f"{node['id']}.raw"


@pytest.mark.parametrize("values", [[1, 2], RAGGED, RECORDS, UNION, ["x", ""], [b"x"], [[None]]])
def test_every_expression_has_an_identifier_of_its_own(values: list[Any]) -> None:
    ids = [node["id"] for node in expressions(schema(serialized(values))["schema"])]
    assert len(set(ids)) == len(ids)
    assert all(type(each) is int and each >= 0 for each in ids)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["x"], ["StringArray.fromcounts"]),
        ([1, None], ["MaskedArray"]),
        (["x", None], ["IndexedMaskedArray", "StringArray.fromcounts"]),
        ([1, "x"], ["UnionArray.fromtags", "StringArray.fromcounts"]),
        ([{"a": [1]}], ["Table.frompairs", "JaggedArray.fromcounts"]),
        (ak.Array(np.zeros((2, 3, 4))).layout, []),
        (ak.to_regular(ak.Array([["a", "b"]])).layout, ["JaggedArray.fromfolding", "StringArray.fromcounts"]),
    ],
)
def test_constructors(values: Any, wanted: list[str]) -> None:
    assert [each for each in calls(serialized(values)) if each != "numpy.frombuffer"] == wanted


def test_inner_shapes_stand_in_the_type() -> None:
    root = schema(serialized(ak.Array(np.arange(24.0).reshape(2, 3, 4)).layout))["schema"]
    assert root["args"][1]["dtype"] == ["float64", [3, 4]]
    assert root["args"][2]["json"] == 2


def test_an_array_without_a_name_has_no_prefix() -> None:
    sink = serialized([1, 2], name="")
    assert set(sink) == {"0.raw", ".json"}
    assert "prefix" not in schema(sink, ".json")


def test_names_are_spelled_as_told() -> None:
    sink = serialized([1, 2], naming=Naming("/", ".bin", ".schema"))
    assert set(sink) == {"one/0.bin", "one.schema"}
    assert schema(sink, "one.schema")["prefix"] == "one/"
    assert set(serialized([1], naming=HDF5_NAMING)) == {"one/0", "one/schema.json"}


@pytest.mark.parametrize(
    "values", [RAGGED, RECORDS, UNION, [1, None, 3], ["x", "", None, "z"], [[1, "a"], []]]
)
@pytest.mark.parametrize("step", [1, 2])
def test_rows_added_in_parts_give_the_same_blobs(values: list[Any], step: int) -> None:
    content = ak.from_iter(values, highlevel=False)
    whole, parts = MemorySink(), MemorySink()
    serialize(content, whole, "one")
    with Spools() as spools:
        part = part_of(written_type(type_of_content(content)).type, spools)
        for start in range(0, len(content), step):
            feed(part, ak.from_iter(values[start : start + step], highlevel=False))
        put_array(part, parts, "one", Naming(), DEFAULT_POLICY)
    assert parts == whole


def test_a_union_without_rows_has_a_form_that_can_be_made() -> None:
    sink = serialized(ak.Array([1, "x"])[:0].layout)
    assert calls(sink) == ["numpy.frombuffer"]
    assert set(sink) == {"one.json", *(name for name in sink if name.endswith(".raw"))}
    assert len(sink) == 2


def made(type: NestedType) -> tuple[Part, Spools]:
    spools = Spools()
    return part_of(written_type(type).type, spools), spools


@pytest.mark.parametrize(
    ("type", "values"),
    [
        (INT, ["x"]),
        (INT, [1.5]),
        (BOOL, [1]),
        (TEXT, [1]),
        (TEXT, [b"x"]),
        (NestedType(TypeKind.LIST, items=(INT,)), [1]),
        (NestedType(TypeKind.LIST, items=(INT,)), ["x"]),
        (NestedType(TypeKind.LIST, size=2, items=(TEXT,)), [["x"]]),
        (NestedType(TypeKind.RECORD, items=(INT,), fields=("a",)), [{"b": 1}]),
        (NestedType(TypeKind.UNION, items=(INT, TEXT)), [[1]]),
        (NestedType(TypeKind.EMPTY), [1]),
        (INT, [1, None]),
    ],
)
def test_rows_of_another_type_are_refused(type: NestedType, values: list[Any]) -> None:
    part, spools = made(type)
    with spools, pytest.raises(RefbrowserError) as caught:
        feed(part, ak.from_iter(values, highlevel=False))
    assert caught.value.kind is ErrorKind.SCHEMA


def test_numbers_that_fit_are_converted() -> None:
    part, spools = made(FLOAT)
    with spools:
        feed(part, ak.contents.NumpyArray(np.array([1, 2], "i4")))
        sink = MemorySink()
        put_array(part, sink, "", Naming(), ())
    assert np.frombuffer(sink["0.raw"], "f8").tolist() == [1.0, 2.0]


def test_bytes_keep_the_order_that_the_type_says() -> None:
    part, spools = made(NestedType(TypeKind.NUMBER, dtype=np.dtype(">i2")))
    with spools:
        feed(part, ak.contents.NumpyArray(np.array([1, 258], "i2")))
        sink = MemorySink()
        put_array(part, sink, "", Naming(), ())
    assert sink["0.raw"] == b"\0\1\1\2"
    assert schema(sink, ".json")["schema"]["args"][1]["dtype"] == ">i2"


def test_possibilities_are_there_once_and_keep_their_numbers() -> None:
    lists = NestedType(TypeKind.LIST, items=(INT,)), NestedType(TypeKind.LIST, items=(FLOAT,))
    assert united((*lists, lists[0])) == NestedType(TypeKind.UNION, items=lists)
    missing = NestedType(TypeKind.OPTION, items=(INT,))
    both = united([missing, NestedType(TypeKind.UNION, items=(TEXT, INT, FLOAT))])
    assert both == NestedType(TypeKind.OPTION, items=(NestedType(TypeKind.UNION, items=(INT, TEXT, FLOAT)),))


def test_integers_beside_floats_are_not_rounded() -> None:
    for order in ((FLOAT, INT), (INT, FLOAT)):
        part, spools = made(NestedType(TypeKind.UNION, items=order))
        with spools:
            numbers = [ak.contents.NumpyArray(np.array([large])) for large in (2**53 + 1, 0.5)]
            tags = ak.index.Index8(np.array([0, 1], np.int8))
            feed(part, ak.contents.UnionArray(tags, ak.index.Index64(np.zeros(2, np.int64)), numbers))
            sink = MemorySink()
            put_array(part, sink, "", Naming(), ())
        assert np.array([2**53 + 1]).tobytes() in sink.values()
    part, spools = made(FLOAT)
    with spools, pytest.raises(RefbrowserError):
        feed(part, ak.contents.NumpyArray(np.array([2**53 + 1])))


def test_what_cannot_be_kept_is_told() -> None:
    values = ak.contents.RecordArray([ak.contents.NumpyArray(np.arange(2))], None)
    assert serialize(values, MemorySink()) == ("tuples become records whose fields are numbered",)
    named = ak.contents.RecordArray([values.contents[0]], ["x"], parameters={"__record__": "point"})
    assert serialize(named, MemorySink()) == ("the record name point",)
    assert serialize(ak.Array(np.zeros((2, 0))).layout, MemorySink())


@pytest.mark.parametrize(
    "type",
    [
        NestedType(TypeKind.LIST, items=(NestedType(TypeKind.LINK),)),
        NestedType(TypeKind.RECORD),
    ],
)
def test_what_has_no_form_is_refused(type: NestedType) -> None:
    with pytest.raises(RefbrowserError) as caught:
        written_type(type)
    assert caught.value.kind is ErrorKind.SCHEMA


def test_unions_of_too_many_types_are_refused() -> None:
    items = tuple(NestedType(TypeKind.RECORD, items=(INT,), fields=(f"f{number}",)) for number in range(129))
    union = written_type(NestedType(TypeKind.UNION, items=items)).type
    with Spools() as spools, pytest.raises(RefbrowserError):
        part_of(union, spools)


# Compression


def compressed(policy: Any, values: Any) -> dict[str, str]:
    """Return, for each basic array of a schema, the decompressor that it names, or nothing."""
    sink = serialized(values, policy=policy)
    found = {}
    for node in expressions(schema(sink)["schema"]):
        if "call" in node and node["call"][-1] == "frombuffer":
            data = node["args"][0]
            found[str(node["id"])] = ".".join(data["call"]) if "call" in data else ""
    return found


def test_the_usual_policy_is_that_of_the_library() -> None:
    assert set(compressed(DEFAULT_POLICY, np_content(np.zeros(1024, "i8"))).values()) == {"zlib.decompress"}
    assert set(compressed(DEFAULT_POLICY, np_content(np.zeros(1023, "i8"))).values()) == {""}
    assert set(compressed(DEFAULT_POLICY, np_content(np.zeros(4096, "f8"))).values()) == {""}
    assert set(compressed(DEFAULT_POLICY, np_content(np.zeros(8192, "?"))).values()) == {"zlib.decompress"}


def np_content(values: np.ndarray[Any, Any]) -> Any:
    return ak.contents.NumpyArray(values)


def test_rules_look_at_size_type_and_context() -> None:
    values = [[1.0, 2.0], [3.0]]
    assert compressed(policy_of(["zlib,contexts=*.counts"]), values) == {"1": "zlib.decompress", "6": ""}
    assert compressed(policy_of(["lzma,types=floating"]), values) == {"1": "", "6": "lzma.decompress"}
    assert compressed(policy_of(["zlib,minsize=24"]), values) == {"1": "", "6": "zlib.decompress"}
    both = policy_of(["zlib,types=integer", "lzma"])
    assert compressed(both, values) == {"1": "zlib.decompress", "6": "lzma.decompress"}
    assert set(compressed(policy_of(["none"]), values).values()) == {""}


@pytest.mark.parametrize(
    ("rule", "decompress"),
    [("zlib:9", zlib.decompress), ("lzma:1", lzma.decompress), ("zlib", zlib.decompress)],
)
def test_compressed_blobs_are_what_the_decompressor_takes(rule: str, decompress: Any) -> None:
    values = np.arange(1000.0)
    sink = serialized(np_content(values), policy=policy_of([rule]))
    assert decompress(sink["one-0.raw"]) == values.tobytes()


def test_lz4_blobs_begin_with_their_size() -> None:
    sink = serialized(np_content(np.zeros(1000)), policy=policy_of(["lz4"]))
    assert int.from_bytes(sink["one-0.raw"][:4], "little") == 8000
    assert len(sink["one-0.raw"]) < 1000


def test_a_pair_of_functions_is_a_rule() -> None:
    rule = Rule(pair(lambda data: data[::-1], ["mine", "turn"]))
    sink = serialized([1, 2], policy=(rule,))
    assert sink["one-0.raw"] == np.array([1, 2]).tobytes()[::-1]
    assert schema(sink)["schema"]["args"][0]["call"] == ["mine", "turn"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gzip",
        "zlib:10",
        "lz4:1",
        "zlib,minsize=x",
        "zlib,types=pickle",
        "zlib,size=1",
        "zlib,minsize=1,minsize=2",
    ],
)
def test_rules_without_meaning_are_refused(text: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        policy_of([text])
    assert caught.value.kind is ErrorKind.USAGE


# Names


def test_blobs_of_one_name_are_found_before_anything_is_written() -> None:
    check_names({"a": ["a.json", "a-1.raw"], "ab": ["ab.json", "ab-1.raw"]}, ())
    with pytest.raises(RefbrowserError) as caught:
        check_names({"a": ["x"], "b": ["x"]}, ())
    assert caught.value.kind is ErrorKind.USAGE
    with pytest.raises(RefbrowserError):
        check_names({"a": ["a.json"]}, {"a.json"})


def test_a_recorder_notes_what_it_hands_on() -> None:
    sink = MemorySink()
    recorder = Recorder(sink)
    recorder.put("x", [b"ab", b"c"], 3)
    (blob,) = recorder.blobs
    assert sink == {"x": b"abc"}
    assert (blob.name, blob.size, blob.crc) == ("x", 3, zlib.crc32(b"abc"))
