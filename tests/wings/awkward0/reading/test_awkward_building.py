from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from awkward0_built import built_of, error_of, layout_of
from awkward0_encoder import FROMBUFFER, Encoder, dtype_node, function, reference

from refbrowser.limits import LIMITS
from refbrowser.model.nested import type_text
from refbrowser.model.reference import Inline
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts import layouts as made
from refbrowser.wings.awkward0.layouts.layouts import (
    BrokenLayout,
    ListIndex,
    MaskForm,
    NumpyLayout,
    length_of,
)
from refbrowser.wings.awkward0.layouts.types import type_of


def text_of(root: Any, encoder: Encoder | None = None) -> str:
    return type_text(type_of(layout_of(root, encoder)))


# -- basic arrays


@pytest.mark.parametrize("age", FROMBUFFER)
def test_all_spellings_of_basic_arrays(age: str) -> None:
    encoder = Encoder("one", frombuffer=age)
    layout = layout_of(encoder.basic([[1, 2], [3, 4]], ">i2"), encoder, prefix="one-")
    assert isinstance(layout, NumpyLayout)
    buffer = layout.buffer
    assert (buffer.count, buffer.dtype, buffer.offset) == (2, np.dtype((">i2", (2,))), 0)
    assert (buffer.name, buffer.codecs, layout.key) == ("one-0.raw", (), "node0")
    assert layout.blob is not None
    assert layout.blob.size == 8


def test_codecs_are_named_in_the_order_of_decoding() -> None:
    encoder = Encoder()
    codecs = ["zlib.decompress", "backports.lzma.decompress", "lz4.block.decompress"]
    layout = layout_of(encoder.basic([1.0], codecs=codecs), encoder)
    assert isinstance(layout, NumpyLayout)
    assert layout.buffer.codecs == ("zlib", "lzma", "lz4")


def test_defaults_of_frombuffer() -> None:
    encoder = Encoder()
    layout = layout_of(encoder.call(encoder.frombuffer, encoder.blob(bytes(24))), encoder)
    assert isinstance(layout, NumpyLayout)
    assert (layout.buffer.dtype, layout.buffer.count) == (np.dtype("f8"), 3)


def test_arguments_may_have_names() -> None:
    encoder = Encoder()
    root = encoder.call(
        encoder.frombuffer, offset=4, count=2, dtype=dtype_node("i4"), buffer=encoder.blob(bytes(12))
    )
    layout = layout_of(root, encoder)
    assert isinstance(layout, NumpyLayout)
    assert (layout.buffer.offset, layout.buffer.count) == (4, 2)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ((bytes(8), "i4", 3), "E_DECODE"),
        ((bytes(8), "i4", 2, 1), "E_DECODE"),
        ((bytes(7), "i4", -1), "E_DECODE"),
        ((bytes(8), "i4", -2), "E_SCHEMA"),
        ((bytes(8), "i4", 1, -1), "E_SCHEMA"),
        ((bytes(8), "i4", 1.5), "E_SCHEMA"),
        ((bytes(8), "i4", True), "E_SCHEMA"),
        ((bytes(8), "i4", 2**70), "E_BUDGET"),
        ((bytes(8), "O", 1), "E_UNSAFE"),
        ((bytes(8), [["a", "object"]], 1), "E_UNSAFE"),
        ((bytes(8), "<U0", 1), "E_SCHEMA"),
        ((bytes(8), "__import__('os')", 1), "E_SCHEMA"),
        ((bytes(8), "f8,i4", 1), "E_SCHEMA"),
        ((bytes(8), {"names": []}, 1), "E_SCHEMA"),
        ((bytes(8), ["f8", [-1]], 1), "E_SCHEMA"),
        ((bytes(8), ["f8", [1] * 40], 1), "E_BUDGET"),
        ((bytes(8), "|V99999999", 1), "E_BUDGET"),
        ((bytes(8), [["a", "i4"], ["a", "i4"]], 1), "E_SCHEMA"),
        ((bytes(8), "i4", 1, 0, 0), "E_SCHEMA"),
    ],
)
def test_wrong_basic_arrays(arguments: tuple[Any, ...], kind: str) -> None:
    encoder = Encoder()
    data, dtype, *others = arguments
    values = [{"json": other} for other in others]
    root = encoder.call(encoder.frombuffer, encoder.blob(data), {"dtype": dtype}, *values)
    assert error_of(root, encoder)[0] == kind


def test_how_many_elements_compressed_blobs_have_must_be_said() -> None:
    encoder = Encoder()
    kind, message = error_of(encoder.basic([1.0], codecs=["zlib.decompress"], count=-1), encoder)
    assert kind == "E_SCHEMA"
    assert "compressed" in message


def test_blobs_that_are_not_there() -> None:
    assert error_of(Encoder().call(["numpy", "frombuffer"], {"read": "gone"}))[0] == "E_RANGE"


def test_absolute_names() -> None:
    encoder = Encoder("one")
    encoder.blobs["elsewhere"] = bytes(8)
    root = encoder.call(encoder.frombuffer, {"read": "elsewhere", "absolute": True})
    assert length_of(layout_of(root, encoder, prefix="one-")) == 1
    relative = encoder.call(encoder.frombuffer, {"read": "elsewhere"})
    assert error_of(relative, encoder, prefix="one-")[0] == "E_RANGE"


def test_decompressors_are_bounded() -> None:
    encoder = Encoder()
    codecs = ["zlib.decompress"] * (LIMITS.filters + 1)
    assert error_of(encoder.basic([1.0], codecs=codecs), encoder)[0] == "E_BUDGET"


# -- references


def test_references_name_arrays_and_plain_values() -> None:
    encoder = Encoder()
    content = encoder.basic([1.0, 2.0])
    length = content["args"][2]["id"]
    other = encoder.basic([3.0, 4.0], count=reference(length))
    built = built_of(encoder.table(a=content, b=other, c=reference(content["id"])), encoder)
    layout = built.layout
    assert isinstance(layout, made.RecordLayout)
    (_, a), (_, b), (_, c) = layout.fields
    assert a is c
    assert length_of(b) == 2
    assert not built.findings


def test_forward_references() -> None:
    encoder = Encoder()
    later = encoder.basic([1, 2])
    layout = layout_of(encoder.table(a=reference(later["id"]), b=later), encoder)
    assert length_of(layout) == 2


def test_cycles_are_links() -> None:
    encoder = Encoder()
    root = encoder.make("JaggedArray.fromcounts", encoder.basic([1, 0]), reference(70), id=70)
    built = built_of(root, encoder)
    layout = built.layout
    assert isinstance(layout, made.ListLayout)
    assert isinstance(layout.content, made.LinkLayout)
    assert built.by_number[layout.content.target] is layout
    assert type_text(type_of(layout)) == "var * link[0]"
    assert length_of(layout) == 2


@pytest.mark.parametrize(
    "root",
    [
        {"ref": 0, "id": 0},
        {"call": ["zlib", "decompress"], "args": [{"ref": 0}], "id": 0},
        {"call": ["awkward0", "JaggedArray", "fromjagged"], "args": [{"ref": 0}], "id": 0},
        {"list": [{"ref": 0}], "id": 0},
        {"call": ["awkward0", "UnionArray", "fromtags"], "args": [{"ref": 0}, {"list": []}], "id": 0},
    ],
)
def test_what_is_a_part_of_itself_and_no_array(root: Any) -> None:
    assert error_of(root)[0] in ("E_SCHEMA", "E_BUDGET")


def test_links_lead_to_layouts_always() -> None:
    inner = {"call": ["awkward0", "IndexedArray"], "args": [{"json": [0]}, {"ref": 0}], "id": 1}
    root = {"call": ["zlib", "decompress"], "args": [inner], "id": 0}
    built = built_of(root)
    assert all(
        isinstance(built.by_number[each.target], made.Layout)
        for each in built.by_number.values()
        if isinstance(each, made.LinkLayout)
    )


def test_references_to_nothing_break_one_node_only() -> None:
    encoder = Encoder()
    built = built_of(encoder.table(a=[1, 2], b=reference(77)), encoder)
    layout = built.layout
    assert isinstance(layout, made.RecordLayout)
    broken = layout.fields[1][1]
    assert isinstance(broken, BrokenLayout)
    assert str(broken.error.kind) == "E_SCHEMA"
    assert broken.error.place.pointer == "/schema/args/0/pairs/1/1"
    assert length_of(layout) == 2
    assert type_text(type_of(layout)) == "{a: int64, b: unreadable[broken]}"


def test_of_an_id_given_twice_only_the_last_names_buffers() -> None:
    encoder = Encoder()
    first, second = encoder.basic([1]), encoder.basic([2])
    second["id"] = first["id"]
    layout = layout_of(encoder.table(a=first, b=second), encoder)
    assert isinstance(layout, made.RecordLayout)
    keys = [field.key for _, field in layout.fields]
    assert keys[1] == f"node{first['id']}"
    assert keys[0].startswith("nodex")


# -- bounds


def chain(encoder: Encoder, levels: int) -> dict[str, Any]:
    """Return lists in lists, each defined in a place of its own, so that only references nest."""
    base = 1000
    nodes = [encoder.make("JaggedArray.fromcounts", encoder.basic([1]), encoder.basic([1]), id=base)]
    for level in range(1, levels):
        counts = encoder.basic([1])
        nodes.append(
            encoder.make("JaggedArray.fromcounts", counts, reference(base + level - 1), id=base + level)
        )
    return encoder.make(
        "Table.frompairs",
        {"pairs": [["deep", nodes.pop()], *([str(at), each] for at, each in enumerate(nodes))]},
        0,
    )


def test_nesting_through_references_is_bounded() -> None:
    encoder = Encoder()
    layout = layout_of(chain(encoder, 300), encoder)
    assert isinstance(layout, made.RecordLayout)
    shallow = dict(layout.fields)["3"]
    assert type_text(type_of(shallow)) == "var * var * var * var * int64"
    deepest, deep = layout, 0
    while not isinstance(deepest, NumpyLayout | BrokenLayout):
        deepest = deepest.fields[0][1] if isinstance(deepest, made.RecordLayout) else deepest.content  # type: ignore[attr-defined]
        deep += 1
    assert isinstance(deepest, BrokenLayout)
    assert str(deepest.error.kind) == "E_BUDGET"
    assert deep <= AWKWARD_LIMITS.awkward_depth


def test_shared_parts_do_not_multiply() -> None:
    encoder = Encoder()
    node = encoder.basic([1])
    for _ in range(30):
        node = encoder.table(a=node, b=reference(node["id"]))
    built = built_of(node, encoder)
    errors = [each.error for each in built.by_number.values() if isinstance(each, BrokenLayout)]
    assert "E_BUDGET" in [str(error.kind) for error in errors]


# -- classes


def test_lists_of_every_constructor() -> None:
    encoder = Encoder()
    content = encoder.basic([1.0, 2.0, 3.0])
    for name, index, how, length in (
        ("fromcounts", [[2, 1]], ListIndex.COUNTS, 2),
        ("fromoffsets", [[0, 2, 3]], ListIndex.OFFSETS, 2),
        ("fromparents", [[0, 0, 2]], ListIndex.PARENTS, None),
        ("fromuniques", [[5, 5, 2]], ListIndex.UNIQUES, None),
        ("fromlocalindex", [[0, 1, 0]], ListIndex.LOCAL_INDEX, None),
        ("", [[0, 2], [2, 3, 9]], ListIndex.STARTS_STOPS, 2),
    ):
        constructor = f"JaggedArray.{name}".rstrip(".")
        layout = layout_of(encoder.make(constructor, *map(encoder.basic, index), content), encoder)
        assert isinstance(layout, made.ListLayout), name
        assert (layout.how, length_of(layout), layout.function) == (how, length, constructor)
        assert type_text(type_of(layout)) == "var * float64"


def test_starts_of_several_dimensions() -> None:
    encoder = Encoder()
    starts, stops = encoder.basic([[0, 1], [2, 3]]), encoder.basic([[1, 2], [3, 4]])
    layout = layout_of(encoder.make("JaggedArray", starts, stops, encoder.basic([1, 2, 3, 4])), encoder)
    assert (length_of(layout), type_text(type_of(layout))) == (2, "2 * var * int64")


@pytest.mark.parametrize(
    ("constructor", "arguments"),
    [
        ("JaggedArray", ([0, 1], [1], [1, 2])),
        ("JaggedArray", ([[0], [1]], [1, 2], [1, 2])),
        ("JaggedArray.fromcounts", ([1.5], [1, 2])),
        ("JaggedArray.fromoffsets", ([], [1, 2])),
        ("JaggedArray.fromoffsets", ([[0, 1]], [1, 2])),
        ("JaggedArray.fromparents", ([0, 0], [1, 2, 3])),
        ("JaggedArray.fromuniques", ([0, 0], [1, 2, 3])),
        ("JaggedArray.fromlocalindex", ([0, 0], [1, 2, 3])),
        ("JaggedArray.fromregular", ([1, 2],)),
        ("JaggedArray.fromfolding", ([1, 2], 0)),
        ("StringArray.fromcounts", ([1], [1.5])),
        ("StringArray.fromcounts", ([1], np.zeros(1, "u1"), "zip")),
        ("StringArray.fromcounts", ([1], np.zeros(1, "u1"), "encodings.utf_8")),
        ("StringArray.fromcounts", ([1], np.zeros(1, "u1"), 3)),
        ("UnionArray", ([0], [], {"list": []})),
        ("UnionArray.fromtags", ([1.5], {"list": []})),
        ("UnionArray.fromtags", ([0], 3)),
        ("MaskedArray", ([True, False], [1])),
        ("BitMaskedArray", (np.zeros(1, "u1"), np.zeros(9))),
        ("BitMaskedArray", ([1], np.zeros(8))),
        ("IndexedMaskedArray", ([0.5], [1])),
        ("IndexedMaskedArray", ([0], [1], 1.5)),
        ("IndexedArray", ([0.5], [1])),
        ("SparseArray", (-1, [0], [1])),
        ("SparseArray", (2**70, [0], [1])),
        ("SparseArray", (5, [0, 1], [1])),
        ("ChunkedArray", ({"list": []}, [1])),
        ("ChunkedArray", (3,)),
        ("AppendableArray", ((-1,), {"dtype": "i4"}, {"list": []})),
        ("AppendableArray", ((2**40, 2**40), {"dtype": "i4"}, {"list": []})),
        ("AppendableArray", ((2,), 3, {"list": []})),
        ("Table.frompairs", (3, 0)),
        ("Table.frompairs", ({"pairs": []}, "x")),
        ("Table.fromrec", ([1, 2],)),
        ("VirtualArray", (3,)),
        ("TVector2Array.from_cartesian", ([1.0],)),
        ("JaggedArray.fromcounts", ()),
        ("JaggedArray.fromcounts", ([1], [1], 0, 0)),
    ],
)
def test_wrong_arguments(constructor: str, arguments: tuple[Any, ...]) -> None:
    encoder = Encoder()
    values = [
        encoder.basic(value)
        if isinstance(value, np.ndarray | list) and constructor != "ChunkedArray"
        else value
        for value in arguments
    ]
    kind, message = error_of(encoder.make(constructor, *values), encoder)
    assert kind in ("E_SCHEMA", "E_BUDGET")
    assert message


def test_keywords_that_are_not_known() -> None:
    encoder = Encoder()
    root = encoder.make("IndexedArray", encoder.basic([0]), encoder.basic([1]), other=3)
    assert "other" in error_of(root, encoder)[1]
    twice = encoder.make("IndexedArray", encoder.basic([0]), encoder.basic([1]), index=encoder.basic([0]))
    assert "twice" in error_of(twice, encoder)[1]


def test_what_the_old_library_adds_is_ignored() -> None:
    encoder = Encoder()
    root = encoder.make("IndexedArray", encoder.basic([0]), encoder.basic([1]), cache=None, whitelist=["*"])
    assert isinstance(
        layout_of({**root, "cacheable": True, "whitelistable": True}, encoder), made.IndexedLayout
    )


def test_text_encodings() -> None:
    encoder = Encoder()
    counts, content = encoder.basic([1]), encoder.basic([97], "u1")
    for given, kept in (("UTF-8", "utf-8"), ("utf-32le", "utf_32_le"), ("latin1", "latin_1"), (None, None)):
        layout = layout_of(encoder.make("StringArray.fromcounts", counts, content, {"json": given}), encoder)
        assert isinstance(layout, made.ListLayout)
        assert (layout.is_text, layout.encoding) == (True, kept)
        assert type_text(type_of(layout)) == ("bytes" if given is None else "string")


def test_folding_leaves_a_shorter_last_list() -> None:
    encoder = Encoder()
    even = layout_of(encoder.make("JaggedArray.fromfolding", encoder.basic([1, 2, 3, 4]), 2), encoder)
    assert isinstance(even, made.RegularLayout)
    assert (length_of(even), type_text(type_of(even))) == (2, "2 * int64")
    odd = layout_of(encoder.make("JaggedArray.fromfolding", encoder.basic([1, 2, 3]), 2), encoder)
    assert isinstance(odd, made.ListLayout)
    index = odd.index[0]
    assert isinstance(index, NumpyLayout)
    assert isinstance(index.buffer.reference, Inline)
    assert np.frombuffer(index.buffer.reference.data, "i8").tolist() == [0, 2, 3]


def test_folding_of_enormous_arrays_takes_no_memory() -> None:
    encoder = Encoder()
    sparse = encoder.make("SparseArray", 2**60 + 1, encoder.basic([0]), encoder.basic([1]))
    assert error_of(encoder.make("JaggedArray.fromfolding", sparse, 2), encoder)[0] == "E_BUDGET"


def test_views_of_tables() -> None:
    encoder = Encoder()
    base = encoder.table(a=[1, 2, 3, 4])
    for view in ((3, -1, 4), (0, 2, 2), (4, 1, 0)):
        layout = layout_of(encoder.make("Table.fromview", view, base), encoder)
        assert isinstance(layout, made.RecordLayout)
        assert layout.view == made.SliceView(*view)
        assert length_of(layout) == view[2]
    for view in ((0, 1, 5), (-1, 1, 2), (0, 2**62, 3), (0, 1, -1), (0, 1), "x"):
        assert error_of(encoder.make("Table.fromview", view, base), encoder)[0] == "E_SCHEMA"
    indexed = layout_of(encoder.make("Table.fromview", encoder.basic([3, 0]), base), encoder)
    assert length_of(indexed) == 2


def test_columns_of_tables() -> None:
    encoder = Encoder()
    by_dict = encoder.make("Table", {"dict": {"a": encoder.basic([1]), "b": encoder.basic([1.0])}})
    assert text_of(by_dict, encoder) == "{a: int64, b: float64}"
    positional = encoder.make("Table", encoder.basic([1]), encoder.basic([1.0]), z=encoder.basic([True]))
    assert text_of(positional, encoder) == '{"0": int64, "1": float64, z: bool}'
    assert text_of(encoder.make("Table")) == "{}"
    twice = {"pairs": [["a", encoder.basic([1])], ["b", encoder.basic([1])], ["a", encoder.basic([2.0])]]}
    assert text_of(encoder.make("Table.frompairs", twice, 0), encoder) == "{a: float64, b: int64}"


def test_the_shortest_column_counts() -> None:
    encoder = Encoder()
    assert length_of(layout_of(encoder.table(a=[1, 2, 3], b=[1, 2]), encoder)) == 2
    assert length_of(layout_of(encoder.make("Table"))) == 0


def test_masks() -> None:
    encoder = Encoder()
    content, bits = encoder.basic(np.zeros(9)), encoder.basic(np.zeros(2, "u1"))
    for constructor, arguments, form, when, length in (
        ("MaskedArray", (encoder.basic([True, False]), content, False), MaskForm.BYTES, False, 2),
        ("BitMaskedArray", (bits, content, True, True), MaskForm.BITS, True, 9),
        ("BitMaskedArray.fromboolmask", (encoder.basic([True]), content), MaskForm.BYTES, True, 1),
        ("IndexedMaskedArray", (encoder.basic([0, 7, 1]), content, 7), MaskForm.INDEX, 7, 3),
    ):
        layout = layout_of(encoder.make(constructor, *arguments), encoder)
        assert isinstance(layout, made.MaskedLayout)
        assert (layout.form, layout.masked_when, length_of(layout)) == (form, when, length)
        assert type_text(type_of(layout)) == "?float64"
    for constructor in ("MaskedArray", "BitMaskedArray", "IndexedMaskedArray"):
        layout = layout_of(encoder.make(f"{constructor}.fromcontent", content), encoder)
        assert isinstance(layout, made.MaskedLayout)
        assert (layout.mask, length_of(layout)) == (None, 9)


def test_chunks() -> None:
    encoder = Encoder()
    chunks = {"list": [encoder.basic([1, 2]), encoder.basic([1.5])]}
    layout = layout_of(encoder.make("ChunkedArray", chunks, [2, 1]), encoder)
    assert isinstance(layout, made.ChunkedLayout)
    assert (layout.sizes, type_text(type_of(layout))) == ((2, 1), "float64")
    wrong = layout_of(encoder.make("ChunkedArray", chunks, [2, 9]), encoder)
    assert isinstance(wrong, made.ChunkedLayout)
    assert [isinstance(chunk, BrokenLayout) for chunk in wrong.chunks] == [False, True]
    empty = layout_of(encoder.make("ChunkedArray", {"list": []}))
    assert (length_of(empty), type_text(type_of(empty))) == (0, "unknown")


def test_an_appendable_array_knows_its_type_without_chunks() -> None:
    root = Encoder().make("AppendableArray", (8, 2), {"dtype": ">f4"}, {"list": []})
    assert text_of(root) == "2 * float32"
    assert length_of(layout_of(root)) == 0


def test_types_of_sparse_arrays() -> None:
    encoder = Encoder()
    for default, text in ((None, "int64"), (0, "int64"), (1.5, "float64"), ("x", "union[int64, string]")):
        root = encoder.make("SparseArray", 9, encoder.basic([1]), encoder.basic([5]), {"json": default})
        assert text_of(root, encoder) == text
    texts = encoder.make("SparseArray", 9, encoder.basic([1]), encoder.strings(["a"]), "b")
    assert text_of(texts, encoder) == "string"


def test_vectors() -> None:
    encoder = Encoder()
    flat = encoder.make("TVector2Array.from_cartesian", encoder.basic([1.0]), encoder.basic([2.0]))
    assert text_of(flat, encoder) == "TVector2Array[x: float64, y: float64]"
    lists = [encoder.jagged([2, 0], [1.0, 2.0]) for _ in range(4)]
    jagged = encoder.make("TLorentzVectorArray.from_ptetaphim", *lists)
    inner = "pt: float64, eta: float64, phi: float64, mass: float64"
    assert text_of(jagged, encoder) == f"var * TLorentzVectorArray[{inner}]"
    mixed = encoder.make("TVector2Array.from_cartesian", encoder.basic([1.0]), encoder.jagged([1], [1.0]))
    assert error_of(mixed, encoder)[0] == "E_SCHEMA"


def test_objects_are_never_made() -> None:
    encoder = Encoder()
    root = encoder.make("ObjectArray", encoder.table(x=[1]), function("os", "Point"), (), {})
    layout = layout_of(root, encoder)
    assert isinstance(layout, made.ObjectLayout)
    assert layout.generator == "os.Point"
    assert type_text(type_of(layout)) == "Point[x: int64]"


def test_virtual_arrays_of_our_own_table() -> None:
    encoder = Encoder()
    generator = function("awkward0", "JaggedArray", "fromcounts")
    arguments = {"tuple": [encoder.basic([1, 2]), encoder.basic([1.0, 2.0, 3.0])]}
    layout = layout_of(encoder.make("VirtualArray", generator, arguments), encoder)
    assert isinstance(layout, made.VirtualLayout)
    assert (length_of(layout), type_text(type_of(layout)), layout.error) == (2, "var * float64", None)
    named = {"dict": {"counts": encoder.basic([3]), "content": encoder.basic([1.0, 2.0, 3.0])}}
    layout = layout_of(encoder.make("VirtualArray", generator, kwargs=named), encoder)
    assert length_of(layout) == 1


def test_virtual_arrays_of_other_functions_keep_their_type() -> None:
    encoder = Encoder()
    kind = {"takes": 7, "to": {"takes": "inf", "to": {"dtype": "float32"}}}
    said = {"call": ["awkward0.persist", "json2type"], "args": [{"json": kind}], "whitelistable": True}
    root = encoder.make(
        "VirtualArray",
        function("os", "system"),
        {"tuple": [{"json": "/etc/passwd"}, {"json": [3]}]},
        type=said,
    )
    layout = layout_of(root, encoder)
    assert isinstance(layout, made.VirtualLayout)
    assert layout.error is not None
    assert str(layout.error.kind) == "E_UNSAFE"
    assert layout.target == ("/etc/passwd",)
    assert (length_of(layout), type_text(type_of(layout))) == (7, "var * float32")


def test_arrays_that_are_plain_values() -> None:
    root = {
        "call": ["awkward0", "JaggedArray", "fromcounts"],
        "args": [{"json": [2, 1]}, {"json": [1, 2.5, 3]}],
    }
    assert text_of(root) == "var * float64"
    root = {"call": ["awkward0", "JaggedArray", "fromiter"], "args": [{"json": [[1, None], ["x"]]}]}
    assert error_of(root)[0] == "E_SCHEMA"
    root["args"] = [{"json": [[{"a": 1}, None], [{"a": 2}]]}]
    assert text_of(root) == "var * ?{a: int64}"
    root = {"call": ["awkward0", "StringArray", "fromiter"], "args": [{"json": ["a", "bc"]}]}
    assert (text_of(root), length_of(layout_of(root))) == ("string", 2)


def test_plain_values_at_the_root() -> None:
    for value, text in ((0.4, "float64"), ("angular", "string"), (-1, "int64"), (True, "bool")):
        layout = layout_of({"json": value, "id": 0})
        assert isinstance(layout, made.PlainLayout)
        assert (layout.value, type_text(type_of(layout))) == (value, text)
    layout = layout_of({"tuple": [{"json": 1}, {"dict": {"a": {"json": [2]}}}]})
    assert isinstance(layout, made.PlainLayout)
    assert layout.value == (1, {"a": [2]})


# -- functions


@pytest.mark.parametrize(
    "specification",
    [
        ["os", "system"],
        ["builtins", "eval"],
        ["awkward0.persist", "topython"],
        ["awkward0.persist", "spec2function"],
        ["awkward0.persist", "deserialize"],
        ["awkward0", "JaggedArray", "fromiter", "__func__", "__globals__"],
        ["awkward0", "JaggedArray", ""],
        ["awkward0", "persist", "topython"],
        ["awkward0", "numpy", "load"],
        ["awkward0.array.jagged.os", "JaggedArray"],
        ["uproot3_methods.classes.TVector2", "os", "system"],
        ["numpy", "fromfile"],
        ["bz2", "decompress"],
        ["arrow", "_ParquetFile", "fromjson"],
    ],
)
def test_functions_that_are_refused(specification: list[str]) -> None:
    kind, message = error_of({"call": specification, "args": [{"json": "x"}]})
    assert kind == "E_UNSAFE"
    assert ".".join(specification) in message


def test_a_list_of_the_user_opens_entries_of_the_table_only() -> None:
    encoder = Encoder()
    root = encoder.basic([1.0, 2.0], codecs=["bz2.decompress"])
    assert error_of(root, encoder)[0] == "E_UNSAFE"
    layout = layout_of(root, encoder, allowed=["bz2.*"])
    assert isinstance(layout, NumpyLayout)
    assert layout.buffer.codecs == ("bz2",)
    assert error_of({"call": ["os", "system"], "args": [{"json": "true"}]}, allowed=["*"])[0] == "E_UNSAFE"
    pickled = {"call": ["awkward0.persist", "topython"], "args": [{"json": "gANLBS4="}]}
    plain = layout_of(pickled, allowed=["*"])
    assert isinstance(plain, made.PlainLayout)
    assert plain.value == 5


@pytest.mark.slow
def test_lists_that_hold_themselves_often_end() -> None:
    nodes = [{"list": [{"json": "x"}], "id": 0}]
    nodes += [{"list": [{"ref": at}] * 10, "id": at + 1} for at in range(40)]
    assert error_of({"list": nodes})[0] == "E_BUDGET"
    again = {"tuple": [{"ref": 5}], "id": 5}
    assert error_of({"list": [again]})[0] in ("E_SCHEMA", "E_BUDGET")
    virtual = {"call": ["awkward0", "VirtualArray"], "args": [function("os", "system"), {"ref": 5}]}
    layout = layout_of({"call": ["awkward0", "Table"], "kwargs": {"a": virtual, "b": again}})
    assert isinstance(layout, made.RecordLayout)


@pytest.mark.parametrize("depth", [10, AWKWARD_LIMITS.awkward_depth // 2 - 2])
def test_layouts_as_deep_as_allowed_have_types(depth: int) -> None:
    encoder = Encoder()
    layout: Any = layout_of(chain(encoder, depth), encoder)
    assert type_text(type_of(dict(layout.fields)[str(depth - 2)])).count("var") == depth - 1
