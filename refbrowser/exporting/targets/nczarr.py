"""NCZarr of netcdf-c 4.9.3 and later as a target (nczarr, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import codecs_v2
from refbrowser.exporting.layout import ArrayLayout, Convert, PlainName, asked_for, laid_out, stored_form
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import Loss
from refbrowser.exporting.targets.netcdf import (
    Elements,
    NodeNames,
    kept_attributes,
    netcdf_codecs,
    netcdf_elements,
    target_dimensions,
)
from refbrowser.formats.nczarr.members import typed_value
from refbrowser.formats.nczarr.metadata_writer import metadata_keys, stored_value
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import DataType, MemberAttributes, leaf_fields, rows_of
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.dataset import ROOT_ARRAY, netcdf_view
from refbrowser.model.netcdf.fill import is_complete, marked
from refbrowser.model.netcdf.names import plain_path, split
from refbrowser.model.netcdf.types import NetcdfDataset, NetcdfGroup, NetcdfVariable, Note
from refbrowser.model.nodes import (
    ArrayNode,
    CodecSpec,
    Dimension,
    Flavour,
    GroupNode,
    Hierarchy,
)
from refbrowser.model.selection import Selection
from refbrowser.version import __version__
from refbrowser.words import plural

_PROPERTIES = f"version=2,nczarr=2.0.0,refbrowser={__version__}"


class NczarrLayout:
    """NCZarr that netcdf-c reads back as it is."""

    flavour = Flavour.NCZARR

    def __init__(self, options: StoreOptions, plain_name: PlainName = str) -> None:
        self.options = options
        #: The arrays of the target by their paths there, which those that are wanted have too.
        self._planned: dict[str, ArrayNode] = {}
        self._names = NodeNames(plain_name)

    def layout(self, node: ArrayNode, selection: Selection | None) -> ArrayLayout:
        """Return how an array is laid out."""
        selection, wanted, losses = asked_for(node, selection, self.options)
        wanted, told_of_fill = marked(wanted, node)
        losses += told_of_fill
        path = self._names.path(node.path) if node.path != "/" else f"/{ROOT_ARRAY}"
        elements = netcdf_elements(wanted, self.options, is_complete=is_complete(node))
        target, told = self._target(wanted, elements, path)
        return laid_out(
            node,
            selection,
            replace(wanted, path=path),
            target,
            [*losses, *elements.losses, *told],
            convert=elements.convert,
        )

    def layouts(self, node: ArrayNode, selection: Selection | None) -> list[ArrayLayout]:
        """Return how an array is laid out: as one, or as one for each field where compounds are split."""
        if not self.options.split_compounds or not is_split(node):
            return [self.layout(node, selection)]
        selection, wanted, losses = asked_for(node, selection, self.options)
        lines = dict.fromkeys(losses)
        found: list[ArrayLayout] = []
        above = node.path if node.path != "/" else f"/{ROOT_ARRAY}"
        for part in field_parts(wanted):
            array, told_of_form = stored_form(part.array(wanted))
            elements = netcdf_elements(array, self.options, is_complete=is_complete(node))
            path = self._names.field_path(above, part.names) if part.names else self._names.path(above)
            target, told = self._target(array, elements, path)
            lines |= dict.fromkeys(
                f"field {quoted('.'.join(part.names))}: {line}" for line in (*told_of_form, *elements.losses)
            )
            lines |= dict.fromkeys(told)
            if wanted.fill_value is not None and array.fill_value is None:
                several = "its fill value is left out: elements have several"
                lines[f"field {quoted('.'.join(part.names))}: {several}"] = None
            kept, convert = replace(array, path=path), converted_part(part, elements.convert)
            found.append(ArrayLayout(node, selection, kept, target, "", None, (), convert))
        if left_out := fields_left_out(wanted.known_dtype):
            named = ", ".join(map(quoted, left_out))
            lines[f"left out, rows of variable length have no type in NCZarr: {named}"] = None
        told_all = [split_words(node, [layout.target.path for layout in found]), *lines]
        if FILL_ATTRIBUTE in node.attributes:
            told_all.append(
                f"attribute {quoted(FILL_ATTRIBUTE)} is left out: it belongs to the whole compound"
            )
        first = replace(found[0], losses=tuple(Loss(node.path, line) for line in told_all))
        return [first, *found[1:]]

    def _target(self, array: ArrayNode, elements: Elements, path: str) -> tuple[ArrayNode, list[str]]:
        """Return an array of the target, and what is told of its codecs and attributes."""
        coded, told = netcdf_codecs(array, elements, self.options)
        target = replace(
            coded,
            path=path,
            type=elements.type,
            fill_value=elements.fill_value,
            values=replace(coded.chunks, order="C", keys=ChunkKeyEncoding("v2", ".")),
            internal_attributes={},
            format="zarr-v2",
        )
        target, lost = kept_attributes(target)
        if self.options.shards is not None:
            told.append("NCZarr has no shards: chunks are stored one by one")
        self._planned[path] = target
        return target, [*told, *lost]

    def settled(self, groups: Sequence[GroupNode], layouts: Sequence[ArrayLayout]) -> list[ArrayLayout]:
        """Return the layouts with the dimensions that all of the dataset gives them."""
        variables = {
            variable.path: variable
            for _, group in self._dataset(groups, layouts).walk()
            for variable in group.variables
        }
        return [_with_dimensions(layout, variables[layout.target.path]) for layout in layouts]

    def group_path(self, group: GroupNode) -> str:
        """Return the path of a group in the target."""
        return self._names.path(group.path)

    def attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        """Return the attributes that reading a node of the target gives."""
        if isinstance(node, ArrayNode):
            array = self._planned[node.path]
            found = _view(GroupNode(arrays={array.name: array})).root.variables[0].attributes
        else:
            plain, _ = kept_attributes(replace(node, groups={}, arrays={}, dimensions={}))
            found = _view(plain).root.attributes
        return {item.name: typed_value(stored_value(item), str(item.type)) for item in found}

    def losses(self, groups: Iterable[GroupNode]) -> Iterator[Loss]:
        """Yield what the format cannot hold of groups."""
        if self.options.container == "zip" and not self.options.zip_folder:
            yield Loss(
                "/",
                "netCDF does not read a zip file with keys at the top: --zip-folder puts them into a folder",
            )
        for group in groups:
            path = self.group_path(group)
            if path != group.path:
                yield Loss(group.path, f"the name is written as {quoted(path)}")
            plain, lost = kept_attributes(replace(group, groups={}, arrays={}, dimensions={}))
            notes = _view(plain).root.notes
            yield from (Loss(group.path, text) for text in (*lost, *map(_told, notes)))

    def metadata(self, groups: Iterable[GroupNode], layouts: Iterable[ArrayLayout]) -> dict[str, bytes]:
        """Return every metadata key of the store with its text."""
        dataset = self._dataset(list(groups), list(layouts))
        return metadata_keys(dataset, _PROPERTIES, array_dimensions=self.options.array_dimensions)

    def _dataset(self, groups: Sequence[GroupNode], layouts: Sequence[ArrayLayout]) -> NetcdfDataset:
        """Return the dataset that is written."""
        planned = [self._planned[layout.target.path] for layout in layouts]
        groups = groups or [GroupNode()]
        paths = {group.path: self.group_path(group) for group in groups}
        declared, arrays = target_dimensions(groups, planned, paths)
        return _view(_Tree(groups, arrays, paths, declared).group("/"))


def _with_dimensions(layout: ArrayLayout, variable: NetcdfVariable) -> ArrayLayout:
    """Return a layout with the names of the dimensions of its variable, and what was told of it."""
    target = replace(
        layout.target,
        dimensions=tuple(reference.name for reference in variable.dimensions),
        dimension_paths=tuple(plain_path(split(reference.path)) for reference in variable.dimensions),
    )
    told = (Loss(layout.source.path, _told(note)) for note in variable.notes)
    return replace(layout, target=target, losses=(*layout.losses, *told))


class _Tree:
    """The groups of the target, by those of the source and the arrays of the target."""

    def __init__(
        self,
        groups: Sequence[GroupNode],
        arrays: Sequence[ArrayNode],
        paths: dict[str, str],
        dimensions: dict[str, dict[str, Dimension]],
    ) -> None:
        self._nodes = {
            paths[group.path]: replace(
                kept_attributes(group)[0], path=paths[group.path], dimensions=dimensions[paths[group.path]]
            )
            for group in groups
        }
        self._arrays: dict[str, dict[str, ArrayNode]] = {}
        for array in arrays:
            self._arrays.setdefault(_above(array.path), {})[array.name] = array
        self._below: dict[str, list[str]] = {}
        for path in self._nodes:
            if path != "/":
                self._below.setdefault(_above(path), []).append(path)

    def group(self, path: str) -> GroupNode:
        """Return a group with all below it."""
        below = [self.group(inner) for inner in self._below.get(path, ())]
        return replace(
            self._nodes[path],
            arrays=self._arrays.get(path, {}),
            groups={group.name: group for group in below},
        )


def _told(note: Note) -> str:
    return f"attribute {quoted(note.attribute)}: {note.message}" if note.attribute else note.message


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _view(root: GroupNode) -> NetcdfDataset:
    """Return a tree of the target in the data model; fill values are attributes only where they were."""
    dataset = netcdf_view(Hierarchy(root=root, format="nczarr", flavour=Flavour.NCZARR))
    return replace(dataset, root=_as_stored(dataset.root))


def _as_stored(group: NetcdfGroup) -> NetcdfGroup:
    variables = []
    for variable in group.variables:
        assert variable.node is not None
        own = variable.node.attributes
        kept = (item for item in variable.attributes if item.name != FILL_ATTRIBUTE or item.name in own)
        variables.append(replace(variable, attributes=tuple(kept)))
    return replace(
        group, variables=tuple(variables), groups=tuple(_as_stored(below) for below in group.groups)
    )


#: How NCZarr names the type of characters.
_CHAR = ">S1"
_COMPONENTS: dict[str, Convert] = {"r": np.real, "i": np.imag}
#: Fields of an array: netCDF holds this many variables.
MOST_FIELDS = 8192
#: Variables that a loss names.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class FieldPart:
    """One field of fixed size that is no compound itself.

    Attributes
    ----------
    names
        From the outermost field; those of complex numbers are ``r`` and ``i``. Empty for opaque elements.
    dtype, shape
        Of the field's elements. Opaque ones are bytes along one more axis.
    rank
        Axes of the array that it is a field of.
    """

    names: tuple[str, ...]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    rank: int

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the field of each element; axes that elements are given beyond their own are dropped."""
        found = values.reshape(values.shape[: self.rank])
        for name in self.names:
            found = _COMPONENTS[name](found) if found.dtype.kind == "c" else found[name]
        if found.dtype.kind == "V":
            found = np.ascontiguousarray(found)[..., np.newaxis].view(np.uint8)
        return found.reshape((*values.shape[: self.rank], *self.shape))

    def array(self, node: ArrayNode) -> ArrayNode:
        """Return the array of the field, with the path of `node`; axes of its own have no names.

        Chunks are those of `node`, compressed in the same way; filters, which fit whole elements, are left
        out.
        """
        chunks, codecs = _chunks_and_compressor(node)
        shape = (*node.shape, *self.shape)
        own = node.type.members.get(".".join(self.names), MemberAttributes({}))
        shared = {name: value for name, value in node.attributes.items() if name != FILL_ATTRIBUTE}
        codecs = (CodecSpec("vlen-utf8"),) if self.dtype.hasobject else codecs
        values = node.over(RegularChunkGrid(shape, (*chunks, *self.shape))).encoded_by(codecs, "C")
        return replace(
            node,
            shape=shape,
            type=self._type(),
            dimensions=(*node.dimensions, *[None] * len(self.shape)),
            dimension_paths=(*node.dimension_paths, *[None] * len(self.shape))
            if node.dimension_paths
            else (),
            values=values,
            format="zarr-v2",
            fill_value=self._fill(node.fill_value),
            attributes={**shared, **own.attributes},
            attribute_types={**node.attribute_types, **own.attribute_types},
        )

    def _type(self) -> DataType:
        name = _CHAR if self.dtype == "S1" else self.dtype.str
        # Names of values stand beside numpy's type, not in it.
        type = DataType.of(self.dtype, "string" if self.dtype.hasobject else name)
        return replace(type, dtype=np.dtype(self.dtype.str))

    def _fill(self, fill: Any) -> Any:
        """Return the fill value of the field; None where its elements have several."""
        if fill is None:
            return None
        found = replace(self, rank=0)(np.asarray(fill)).reshape(-1)
        return found[0] if (found == found[0]).all() else None


def is_split(node: ArrayNode) -> bool:
    """Tell whether the elements of an array are compounds, complex numbers among them, or opaque."""
    return node.dtype is not None and node.dtype.kind in "Vc"


def fields_left_out(dtype: np.dtype[Any]) -> list[str]:
    """Return the fields of a compound that no array can be of: opaque ones and rows of their own length."""
    return [path for path, base in leaf_fields(dtype) if base.hasobject and rows_of(base) is not str]


def split_words(node: ArrayNode, paths: list[str]) -> str:
    """Return what is told of an array that is split."""
    if node.dtype is not None and node.dtype.kind == "V" and node.dtype.names is None:
        return "opaque elements are written as bytes along one more dimension"
    named = ", ".join(map(quoted, paths[:_NAMED])) + (", …" if len(paths) > _NAMED else "")
    count = plural(len(paths), "one variable", f"{len(paths)} variables")
    return f"the compound is split into {count}, one for each field: {named}"


def converted_part(part: FieldPart, convert: Convert | None) -> Convert:
    """Return what takes a field of elements, and then converts it."""
    return part if convert is None else lambda values: convert(part(values))


def field_parts(node: ArrayNode) -> list[FieldPart]:
    """Return the fields that an array is split into, those of nested compounds too.

    Fields of no bytes, opaque ones of no fixed size and rows of their own length are left out.

    Raises
    ------
    RefbrowserError
        `META`: there are none, or more than netCDF holds.
    """
    found = list(islice(_parts((), node.known_dtype, (), len(node.shape)), MOST_FIELDS + 1))
    if not 0 < len(found) <= MOST_FIELDS:
        count = f"more than {MOST_FIELDS} fields" if found else "no field with bytes"
        message = f"the compound has {count} and cannot be split"
        raise RefbrowserError(ErrorKind.META, message, Place(path=node.path))
    return found


def _parts(
    names: tuple[str, ...], dtype: np.dtype[Any], shape: tuple[int, ...], rank: int
) -> Iterator[FieldPart]:
    base, shape = dtype.base, (*shape, *dtype.shape)
    if 0 in shape or not base.itemsize:
        return
    if base.names is not None and base.fields is not None:
        for name in base.names:
            yield from _parts((*names, name), base.fields[name][0], shape, rank)
    elif base.kind == "c":
        component = np.empty(0, base).real.dtype
        yield from (FieldPart((*names, name), component, shape, rank) for name in _COMPONENTS)
    elif base.hasobject and rows_of(base) is not str:
        return
    elif base.kind == "V":
        yield FieldPart(names, np.dtype(np.uint8), (*shape, base.itemsize), rank)
    else:
        yield FieldPart(names, base, shape, rank)


def _chunks_and_compressor(node: ArrayNode) -> tuple[tuple[int, ...], tuple[CodecSpec, ...]]:
    """Return the shape of chunks and how bytes are compressed: zlib where Zarr v2 cannot say it."""
    try:
        known = codecs_v2(node)
    except RefbrowserError:
        return node.grid.regular.chunk_shape, (CodecSpec("zlib", {"level": 1}),)
    if known.compressor is None:
        return known.chunks, ()
    settings = {name: value for name, value in known.compressor.items() if name != "id"}
    return known.chunks, (CodecSpec(known.compressor["id"], settings),)
