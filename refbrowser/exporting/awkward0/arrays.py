"""The arrays that are written, and what each is called."""

from __future__ import annotations

import io
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.awkward0.blocks import blocks_of
from refbrowser.exporting.awkward0.copied import CopiedArray, copied_array, source_arrays
from refbrowser.exporting.awkward0_options import Awkward0Writing
from refbrowser.exporting.nested.choice import chosen_nodes
from refbrowser.exporting.nested.row_reading import RowSource
from refbrowser.exporting.request import ArrayChoice, Loss
from refbrowser.exporting.source_losses import lost_fill
from refbrowser.exporting.stored_form import names_left_out, stored_form
from refbrowser.formats.awkward0.layout_parts import walk
from refbrowser.formats.awkward0.layouts import NumpyLayout, PlainLayout
from refbrowser.formats.awkward0.naming import NAMELESS, name_of_path
from refbrowser.formats.awkward0.writing.expressions import Said
from refbrowser.formats.awkward0.writing.making import part_of
from refbrowser.formats.awkward0.writing.naming import Naming
from refbrowser.formats.awkward0.writing.written_types import WrittenType, written_type
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.nested import TypeKind
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: What is lost of a single value that is no JSON.
SINGLE = "a single value becomes an array of one"
#: Attributes that tell of the file that was read, not of the values.
_OF_FORMAT = ("awkward0_name", "awkward0_schema", "awkward_form", "awkward_length")


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
        if array is not None and selection is None and not self._writing.compression:
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
            if name in _OF_FORMAT:
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
        raise RefbrowserError(ErrorKind.USAGE, f"the name {quoted(name)} has characters that nobody sees")


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
        named = [name for name in group.attributes if name not in _OF_FORMAT]
        if group.path in written:
            continue
        if named:
            yield Loss(group.path, f"attributes of the group are left out: {', '.join(map(quoted, named))}")
        elif not any(each.startswith(below) for each in written):
            yield Loss(group.path, "the group is left out: no array is in it")
