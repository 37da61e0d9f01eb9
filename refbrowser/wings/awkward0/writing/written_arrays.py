"""The arrays of an Awkward 0 file: read in rows and made anew, or copied blob by blob."""

from __future__ import annotations

import io
import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.layout import names_left_out, stored_form
from refbrowser.exporting.nested.row_arrays import chosen_nodes
from refbrowser.exporting.nested.row_reader import RowSource
from refbrowser.exporting.request import ArrayChoice, Loss
from refbrowser.exporting.source_losses import lost_fill
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.nested import STORED_ATTRIBUTES, TypeKind
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.model.selection import Selection
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts.functions import (
    ExpressionKind,
    SchemaDocument,
    Standing,
    canonical_name,
)
from refbrowser.wings.awkward0.layouts.layouts import NumpyLayout, PlainLayout, length_of, walk
from refbrowser.wings.awkward0.reading.arrays import Awkward0Array, blob_finder
from refbrowser.wings.awkward0.reading.naming import NAMELESS, name_of_path, schema_name
from refbrowser.wings.awkward0.reading.opening import Awkward0Origin
from refbrowser.wings.awkward0.reading.safety import report
from refbrowser.wings.awkward0.reading.soundness import row_findings
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing
from refbrowser.wings.awkward0.writing.blobs import MODULE, Json, Said, Sink
from refbrowser.wings.awkward0.writing.parts import Naming, WrittenType, part_of, written_type
from refbrowser.wings.awkward0.writing.serialize import put_schema

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken


#: Bytes of the rows that are read together, about.
BLOCK = 32 * 1024 * 1024


def blocks_of(source: RowSource) -> Iterator[tuple[int, int]]:
    """Yield the rows that are read together: first, and the one behind the last."""
    rows = max(1, BLOCK // source.row_bytes)
    if rows > source.unit:
        rows -= rows % source.unit
    for start in range(0, source.length, rows):
        yield start, min(start + rows, source.length)


#: Bytes of a blob that are read at once.
PORTION = 16 * 1024 * 1024
#: How containers store what can be read in parts.
_IN_PARTS = ("stored", "file", "hdf5")


@dataclass(frozen=True, slots=True)
class CopiedArray:
    """One array that is copied.

    Attributes
    ----------
    name
        In the target.
    blobs
        By the names that expressions have for them, without the array's prefix.
    """

    name: str
    path: str
    schema: SchemaDocument
    blobs: dict[str, Blob]
    length: int | None
    losses: tuple[Loss, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of its blobs."""
        return sum(blob.size for blob in self.blobs.values())

    @property
    def steps(self) -> int:
        """In how many steps it is written."""
        return max(1, len(self.blobs))

    def blob_names(self, naming: Naming) -> list[str]:
        """Return the names of all blobs, its description last."""
        prefix = naming.prefix(self.name)
        return [*(prefix + each for each in self._keys(naming).values()), naming.schema(self.name)]

    def _keys(self, naming: Naming) -> dict[str, str]:
        """Return the names in the target for those in expressions."""
        return {name: f"{number}{naming.suffix}" for number, name in enumerate(self.blobs)}

    def check(self, dataset: Dataset, token: CancelToken) -> None:
        """Read all blobs.

        Raises
        ------
        RefbrowserError
            One cannot be read.
        """
        for blob in self.blobs.values():
            for _ in _portions(dataset, blob, token):
                token.check()

    def check_values(self, dataset: Dataset, token: CancelToken) -> None:
        """Read all values: blobs that are sound each may contradict one another.

        Raises
        ------
        RefbrowserError
            Something cannot be read.
        """
        node = dataset.hierarchy.find(self.path)
        if not isinstance(node, ArrayNode) or (node.nested is None and not node.codecs):
            return
        for finding in row_findings(dataset, node, JobControl(token)):
            raise finding.error()

    def put(self, dataset: Dataset, sink: Sink, naming: Naming, token: CancelToken) -> Iterator[Blob]:
        """Put its blobs and its description; yields each blob that was put.

        Raises
        ------
        RefbrowserError
            A blob cannot be read.
        OSError
            The target cannot be written.
        """
        keys, prefix = self._keys(naming), naming.prefix(self.name)
        for name, blob in self.blobs.items():
            sink.put(prefix + keys[name], _portions(dataset, blob, token), blob.size)
            yield blob
        root = _modern(json.loads(self.schema.text)["schema"], keys)
        put_schema(root, sink, self.name, naming, Said(self.schema.doc, self.schema.metadata))


def copied_array(dataset: Dataset, array: Awkward0Array, name: str) -> CopiedArray | None:
    """Return an array of the file behind a dataset as one that is copied; None where it is not sound."""
    schema, built = array.schema, array.built
    if schema is None or built is None or array.error is not None or schema.findings or built.findings:
        return None
    found = report([array])
    if found.pickles or any(use.verdict.standing is not Standing.ALLOWED for use in found.functions):
        return None
    blobs: dict[str, Blob] = {}
    origin = dataset.document.made_from(Awkward0Origin)
    if origin is None:
        return None
    find = blob_finder(origin.container, schema_name(array.member, schema.prefix))
    for expression in schema.expressions:
        if expression.kind is ExpressionKind.READ:
            blob = None if expression.is_absolute else find(schema.prefix + expression.value)
            if blob is None or blob.error is not None:
                return None
            blobs[expression.value] = blob
    return CopiedArray(name, array.path, schema, blobs, length_of(built.layout))


def _portions(dataset: Dataset, blob: Blob, token: CancelToken) -> Iterator[bytes]:
    """Yield the bytes of a blob, free of what the container packs them in."""
    reference = blob.reference
    if isinstance(reference, Inline) or blob.method not in _IN_PARTS or blob.size <= PORTION:
        yield dataset.session.read_reference(blob.name, reference, dataset.access, token)
        return
    assert isinstance(reference, ByteRange | WholeFile)
    start = reference.offset if isinstance(reference, ByteRange) else 0
    for at in range(0, blob.size, PORTION):
        part = ByteRange(reference.url, start + at, min(PORTION, blob.size - at))
        yield dataset.session.read_reference(blob.name, part, dataset.access, token)


def _modern(node: Json, keys: dict[str, str]) -> Json:
    """Return an expression as the last release spells it, with the names of the target."""
    made: Json = {}
    for name, value in node.items():
        if name in ("call", "function"):
            made[name] = _spelled(value)
        elif name == "read":
            made[name] = keys[value]
        elif name in ("args", "list", "tuple"):
            made[name] = [_modern(each, keys) for each in value]
        elif name in ("kwargs", "dict"):
            made[name] = {key: _modern(each, keys) for key, each in value.items()}
        elif name == "pairs":
            made[name] = [[key, _modern(each, keys)] for key, each in value]
        elif name != "absolute":
            made[name] = value
    return made


def _spelled(function: list[str]) -> list[str]:
    """Return a function in the spelling that awkward0 reads (persistence notes, section 2)."""
    if canonical_name(function) == "frombuffer":
        return [MODULE, "numpy", "frombuffer"]
    library, _, inner = function[0].partition(".")
    if library not in ("awkward", MODULE):
        return function
    return [MODULE if not inner or inner.startswith("array.") else f"{MODULE}.{inner}", *function[1:]]


def source_arrays(dataset: Dataset) -> dict[str, Awkward0Array]:
    """Return the arrays of the file of Awkward 0 behind a dataset by path; none of other formats."""
    origin = dataset.document.made_from(Awkward0Origin)
    return {} if origin is None else {each.path: each for each in origin.arrays}


#: What is lost of a single value that is no JSON.
SINGLE = "a single value becomes an array of one"


@dataclass(frozen=True, slots=True)
class PlannedArray:
    """One array to be written.

    Attributes
    ----------
    name
        In the target.
    said
        What is said of it beside its values.
    """

    name: str
    source: RowSource
    written: WrittenType
    said: Said
    losses: tuple[Loss, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it may be one plain value."""
        kind = self.written.type.kind
        if not self.source.is_single:
            return False
        dtype = self.written.type.dtype
        return kind is TypeKind.STRING or (
            kind is TypeKind.NUMBER and dtype is not None and dtype.kind in "iufb"
        )

    @property
    def path(self) -> str:
        """Of the array in the dataset."""
        return self.source.node.path

    @property
    def nbytes(self) -> int:
        """Bytes of its values, about."""
        return self.source.length * self.source.row_bytes

    @property
    def steps(self) -> int:
        """In how many steps it is written."""
        return max(1, sum(1 for _ in blocks_of(self.source)))

    def blob_names(self, naming: Naming) -> list[str]:
        """Return the names of all blobs that it may have."""
        return naming.blobs(self.name, part_of(self.written.type, io.BytesIO))


AnyArray = PlannedArray | CopiedArray


class Planning:
    """Plans the arrays of an export; what cannot be written is left out where that is asked for."""

    def __init__(self, dataset: Dataset, writing: Awkward0Writing, *, is_hdf5: bool, skip_bad: bool) -> None:
        self._dataset = dataset
        self._writing = writing
        self._is_hdf5 = is_hdf5
        self._skip_bad = skip_bad
        self._sources = source_arrays(dataset)
        self.skipped: list[RefbrowserError] = []

    def arrays(self, choices: tuple[ArrayChoice, ...] | None) -> list[AnyArray]:
        """Return the arrays in document order.

        Raises
        ------
        RefbrowserError
            One cannot be written, and nothing is to be left out; `E_USAGE`: two get the same name.
        """
        planned: list[AnyArray] = []
        chosen = list(chosen_nodes(self._dataset.hierarchy, choices))
        names = self._names([node for node, _ in chosen])
        for (node, selection), name in zip(chosen, names, strict=True):
            try:
                planned.append(self._array(node, selection, name))
            except RefbrowserError as error:
                placed = error.at(replace(error.place, path=node.path))
                if not self._skip_bad:
                    raise placed from error
                self.skipped.append(placed)
        if choices is None:
            planned += self._values({array.path for array in planned})
        return planned

    def _values(self, written: Container[str]) -> Iterator[AnyArray]:
        """Yield what in a file of Awkward 0 is no array: a null, a list or a dict of plain values."""
        for path, array in self._sources.items():
            if path not in written and isinstance(array.layout, PlainLayout):
                copied = copied_array(self._dataset, array, array.name)
                if copied is not None:
                    yield copied

    def _array(self, node: ArrayNode, selection: Selection | None, name: str) -> AnyArray:
        array = self._sources.get(node.path)
        if array is not None and selection is None and not self._writing.codec:
            copied = copied_array(self._dataset, array, name)
            if copied is not None:
                return copied
        return self._planned(node, RowSource.of(node, selection), name)

    def read_again(self, array: CopiedArray) -> PlannedArray | None:
        """Return an array that was to be copied as one that is read; None where it is none of rows.

        What of it can be read is written then.
        """
        node = self._dataset.hierarchy.find(array.path)
        if not isinstance(node, ArrayNode):
            return None
        return self._planned(node, RowSource.of(node, None), array.name)

    def _names(self, nodes: list[ArrayNode]) -> list[str]:
        given = self._writing.name
        if given is not None and len(nodes) == 1:
            names = [given]
        else:
            names = [(given or "") + self._own_name(node) for node in nodes]
        names = [self._fitting(name) for name in names]
        for name in names:
            _check_name(name)
        if len(set(names)) < len(names):
            raise RefbrowserError(ErrorKind.USAGE, "two arrays would have the same name")
        return names

    def _own_name(self, node: ArrayNode) -> str:
        array = self._sources.get(node.path)
        return name_of_path(node.path) if array is None else array.name

    def _fitting(self, name: str) -> str:
        """Return a name; the groups of HDF5 have one each."""
        return name.strip("/") or NAMELESS if self._is_hdf5 else name

    def _planned(self, node: ArrayNode, source: RowSource, name: str) -> PlannedArray:
        written = written_type(source.type)
        said, losses = self._said(node)
        if self._is_structured(node):
            losses.append("structures are written as a table with a column for each field")
        told = [Loss(node.path, what) for what in (*written.losses, *losses)]
        if source.is_single and not (made := PlannedArray(name, source, written, said, ())).is_plain:
            told.append(Loss(node.path, SINGLE))
        elif source.is_single and made.written.type.dtype not in (None, "int64", "float64", "bool"):
            told.append(Loss(node.path, f"the type of a plain value: {made.written.type.dtype}"))
        return PlannedArray(name, source, written, said, tuple(told))

    def _is_structured(self, node: ArrayNode) -> bool:
        """Tell whether elements are structures of numpy, which awkward0 would keep as such."""
        array = self._sources.get(node.path)
        if array is None or array.layout is None:
            return node.dtype is not None and node.dtype.names is not None
        basic = (each for each in walk(array.layout) if isinstance(each, NumpyLayout))
        return any(each.buffer.dtype.base.names is not None for each in basic)

    def _said(self, node: ArrayNode) -> tuple[Said, list[str]]:
        """Return what is said of an array beside its values, and what of that cannot be kept."""
        array = self._sources.get(node.path)
        schema = None if array is None else array.schema
        # Those of a schema are what it says.
        losses = names_left_out(node.dtype)
        if node.nested is None:
            node, told = stored_form(node)
            losses += told
        attributes = {} if schema is not None else node.attributes
        metadata: dict[str, Any] = {}
        kept = {}
        for name, value in attributes.items():
            if name in STORED_ATTRIBUTES:
                continue
            if is_json(value):
                kept[name] = value
            else:
                losses.append(f"attribute {quoted(name)} is left out: it is not JSON")
        if kept:
            metadata["attributes"] = kept
        losses += lost_fill(node)
        fill = plain_fill(node.fill_value)
        if schema is None and fill is not None:
            metadata["fill_value"] = fill
        if any(node.dimensions):
            metadata["dimensions"] = list(node.dimensions)
        if schema is not None and isinstance(schema.metadata, dict):
            metadata = {**schema.metadata, **metadata}
        return Said("" if schema is None else schema.doc, metadata), losses


def _check_name(name: str) -> None:
    """Raise `E_USAGE` where a name leads out of a folder, or cannot be written down."""
    parts = name.split("/")
    if name and (any(part in ("", ".", "..") for part in parts) or "\\" in name or "::" in name):
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"no array can have the name {quoted(name)}",
            Place(key=name),
            "choose another with --name",
        )
    if not name.isprintable():
        raise RefbrowserError(ErrorKind.USAGE, f"the name {quoted(name)} has invisible characters")


def is_json(value: Any) -> bool:
    """Tell whether a value is JSON as it stands: no NaN, no bytes."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and is_json(each) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(is_json, value))
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return value is None or type(value) in (bool, int, str)


def group_losses(groups: Iterable[GroupNode], arrays: Iterable[AnyArray]) -> Iterator[Loss]:
    """Yield what is lost of groups: Awkward 0 has none, names only."""
    written = [array.path for array in arrays]
    for group in groups:
        below = group.path.rstrip("/") + "/"
        named = [name for name in group.attributes if name not in STORED_ATTRIBUTES]
        if group.path in written:
            continue
        if named:
            yield Loss(group.path, f"attributes of the group are left out: {', '.join(map(quoted, named))}")
        elif not any(each.startswith(below) for each in written):
            yield Loss(group.path, "the group is left out: it has no array")
