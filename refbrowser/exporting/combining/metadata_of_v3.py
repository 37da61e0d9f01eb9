"""Arrays of Zarr v2 in the words of Zarr v3, for chunks whose bytes stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.properties import ArrayProperties, ScannedSource, reworded
from refbrowser.exporting.layout import node_key
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.targets.zarr import ZarrV3Layout
from refbrowser.formats.zarr.documents import ARRAY_V2, ATTRIBUTES_V2, NODE_V3
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE, build_hierarchy
from refbrowser.model.grid import ChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import NO_MANIFEST
from refbrowser.references.content.value_table import json_of


class _OneArray:
    """The metadata of one array at the root, as a source of a hierarchy."""

    def __init__(self, documents: Mapping[str, Mapping[str, Any]]) -> None:
        self._documents = documents

    def metadata_keys(self) -> Iterable[str]:
        return list(self._documents)

    def value(self, key: str) -> bytes:
        return json_of(self._documents[key])


def array_in_v3(
    path: str,
    grid: ChunkGrid,
    encoding: Mapping[str, Any],
    dimensions: Sequence[str],
    attributes: Mapping[str, Any],
) -> bytes:
    """Return the ``zarr.json`` of an array.

    Parameters
    ----------
    grid
        Its chunks, which may be of unequal sides.
    encoding
        The members of ``.zarray`` that say what the bytes of chunks are.

    Raises
    ------
    RefbrowserError
        `E_META`: Zarr v3 has no words for its type, or none by which the bytes are the same.
    """
    sides = {"zarr_format": 2, "shape": list(grid.shape), "chunks": list(grid.largest)}
    documents = {
        ARRAY_V2: {**sides, **encoding},
        ATTRIBUTES_V2: {**attributes, DIMENSIONS_ATTRIBUTE: list(dimensions)},
    }
    node = array_described({name: json_of(each) for name, each in documents.items()}, "zarr-v2")
    store = ZarrV3Layout(StoreOptions())
    try:
        layout = store.layout(replace(node, path=path, values=node.over(grid)), None)
    except RefbrowserError as error:
        raise _without_words(path, error.message) from error
    if layout.copied is None:
        raise _without_words(path, "its chunks would have to be written again")
    key = node_key(layout.target.path, NODE_V3)
    return json_of(json.loads(store.metadata([], [layout])[key]))


def array_described(documents: Mapping[str, bytes], form: str) -> ArrayNode:
    """Return the array that metadata describes, by the names of its documents; without chunks."""
    parsed = {name: json.loads(data) for name, data in documents.items()}
    node = build_hierarchy(_OneArray(parsed), lambda prefix, grid, keys: NO_MANIFEST, form).root
    assert isinstance(node, ArrayNode)
    return node


def in_one_form(files: Sequence[ScannedSource]) -> list[ScannedSource]:
    """Return files of both versions of Zarr in the words of v3, as far as it has them; of one as they are."""
    forms = {told.form for arrays in {file.arrays for file in files} for told in arrays}
    if len(forms) < 2:
        return list(files)
    known: dict[ArrayProperties, ArrayProperties] = {}
    same: dict[tuple[ArrayProperties, ...], tuple[ArrayProperties, ...]] = {}
    found = []
    for file in files:
        arrays = same.get(file.arrays)
        if arrays is None:
            arrays = same[file.arrays] = tuple(_of_v3(each, known) for each in file.arrays)
        found.append(file if arrays == file.arrays else replace(file, arrays=arrays))
    return found


def _of_v3(told: ArrayProperties, known: dict[ArrayProperties, ArrayProperties]) -> ArrayProperties:
    """Return what a file says of an array in the words of v3; as it is where v3 has none."""
    if told.form == "zarr-v3" or told.problem:
        return told
    if told not in known:
        encoding = {"fill_value": json.loads(told.fill), **json.loads(told.encoding)}
        attributes = {name: json.loads(text) for name, text in told.attributes}
        try:
            metadata = array_in_v3(told.path, told.grid, encoding, told.dimensions, attributes)
        except RefbrowserError:
            return told
        known[told] = reworded(told, json.loads(metadata))
    return known[told]


def _without_words(path: str, why: str) -> RefbrowserError:
    message = f"{quoted(path)} has no form in Zarr v3, which alone has chunks of unequal sides: {why}"
    return RefbrowserError(ErrorKind.META, message, Place(path=path), f"--leave-out-var {path}")
