"""The fixed table of functions that are built, by canonical name (persistence notes, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.formats.awkward0 import building_basic, building_lists, building_others, building_records
from refbrowser.formats.awkward0.building_call import Call
from refbrowser.formats.awkward0.functions import DECOMPRESSORS


@dataclass(frozen=True, slots=True)
class Entry:
    """One function: its parameters in order, and what builds the meaning of a call."""

    build: Callable[[Call], Any]
    parameters: tuple[str, ...]


_INDEXED = ("fromcounts", "fromoffsets", "fromparents", "fromuniques")
_OTHERS = {
    "frombuffer": Entry(building_basic.from_buffer, ("buffer", "dtype", "count", "offset")),
    "json2type": Entry(building_basic.type_from_json, ("obj",)),
    "topython": Entry(building_basic.from_pickle, ("string",)),
    "JaggedArray.fromlocalindex": Entry(building_lists.lists, ("index", "content", "validate")),
    "JaggedArray.fromiter": Entry(building_lists.from_iterable, ("iterable",)),
    "JaggedArray.fromregular": Entry(building_lists.from_regular, ("regular",)),
    "JaggedArray.fromfolding": Entry(building_lists.from_folding, ("content", "size")),
    "JaggedArray.fromjagged": Entry(building_lists.from_jagged, ("jagged",)),
    "ByteJaggedArray": Entry(building_lists.byte_lists, ("starts", "stops", "content", "dtype")),
    "ByteJaggedArray.fromcounts": Entry(building_lists.byte_lists, ("counts", "content", "dtype")),
    "ByteIndexedArray": Entry(building_lists.byte_indexed, ("index", "content", "dtype")),
    "StringArray.fromjagged": Entry(building_lists.text_from_jagged, ("jagged", "encoding")),
    "StringArray.fromiter": Entry(building_lists.texts_from_iterable, ("iterable", "encoding")),
    "StringArray.fromnumpy": Entry(building_lists.from_numpy_text, ("array",)),
    "StringArray.fromstr": Entry(building_lists.from_text, ("length", "string", "encoding")),
    "Table": Entry(building_records.table, ("columns1", "*", "**")),
    "Table.frompairs": Entry(building_records.table_from_pairs, ("pairs", "rowstart")),
    "Table.fromview": Entry(building_records.table_from_view, ("view", "base")),
    "Table.fromrec": Entry(building_records.table_from_records, ("recarray",)),
    "UnionArray": Entry(building_others.union, ("tags", "index", "contents")),
    "UnionArray.fromtags": Entry(building_others.union, ("tags", "contents")),
    "MaskedArray": Entry(building_others.masked, ("mask", "content", "maskedwhen")),
    "MaskedArray.fromcontent": Entry(building_others.not_masked, ("content", "maskedwhen")),
    "BitMaskedArray": Entry(building_others.bit_masked, ("mask", "content", "maskedwhen", "lsborder")),
    "BitMaskedArray.fromboolmask": Entry(
        building_others.masked, ("mask", "content", "maskedwhen", "lsborder")
    ),
    "BitMaskedArray.fromcontent": Entry(building_others.not_masked, ("content", "maskedwhen", "lsborder")),
    "IndexedMaskedArray": Entry(building_others.index_masked, ("mask", "content", "maskedwhen")),
    "IndexedMaskedArray.fromcontent": Entry(building_others.not_masked, ("content", "maskedwhen")),
    "IndexedArray": Entry(building_others.indexed, ("index", "content")),
    "SparseArray": Entry(building_others.sparse, ("length", "index", "content", "default")),
    "ChunkedArray": Entry(building_others.chunked, ("chunks", "chunksizes")),
    "AppendableArray": Entry(building_others.appendable, ("chunkshape", "dtype", "chunks")),
    "ObjectArray": Entry(building_others.objects, ("content", "generator", "args", "kwargs")),
    "VirtualArray": Entry(
        building_others.virtual,
        ("generator", "args", "kwargs", "cache", "persistentkey", "type", "nbytes", "persistvirtual"),
    ),
}


def _named(name: str, method: str) -> str:
    return f"{name}.{method}" if method else name


def _table() -> dict[str, Entry]:
    table = dict(_OTHERS)
    table |= {name: Entry(building_basic.decompressed, ("data",)) for name in DECOMPRESSORS}
    for method in ("", *_INDEXED):
        more = ("length",) if method == "fromparents" else ()
        parameters = building_lists.parameters_of_lists(method, *more)
        table[_named("JaggedArray", method)] = Entry(building_lists.lists, parameters)
        parameters = building_lists.parameters_of_lists(method, "encoding")
        table[_named("StringArray", method)] = Entry(building_lists.texts, parameters)
    for name in building_records.VECTOR_FIELDS:
        table[name] = Entry(building_records.vectors, building_records.VECTOR_FIELDS[name])
    return table


TABLE: Mapping[str, Entry] = _table()
