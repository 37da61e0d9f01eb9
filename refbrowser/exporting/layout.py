"""How arrays are laid out in a store: what every format has in common, and what each says in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.table import codec_holding, codec_of_v3, only_decodes
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import chosen_codecs, without_shards
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.packing import Repacking, without_packing
from refbrowser.exporting.paths import escaped_part
from refbrowser.exporting.request import Loss
from refbrowser.formats.registry import facet, form_named
from refbrowser.limits import LIMITS
from refbrowser.loading import load
from refbrowser.model.cf import named_flags
from refbrowser.model.data_type import DataType, EnumerationType, RowType, SequenceType, leaf_fields, names_of
from refbrowser.model.dtypes import closed_up, type_name, with_byte_order
from refbrowser.model.exact_numbers import narrowed
from refbrowser.model.grid import ChunkGrid, RectilinearChunkGrid, RegularChunkGrid, grid_of, sides_text
from refbrowser.model.metadata_keys import METADATA_NAMES
from refbrowser.model.narrow_types import stored_type
from refbrowser.model.netcdf.types import ATOMIC_OF
from refbrowser.model.nodes import ArrayNode, CodecSpec, Flavour, GroupNode
from refbrowser.model.selection import Selection
from refbrowser.model.values import NO_MANIFEST, Chunks

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.request import Loss


#: Bytes of the longest floating and complex numbers that stores have.
_LONGEST = {"f": 8, "c": 16}
#: Stands for codecs by which nothing is encoded.
_USUAL = CodecSpec("zstd", {"level": 3})
#: The attributes of CF that name values.
VALUES, MEANINGS = "flag_values", "flag_meanings"


def stored_form(node: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return an array as a store can have it, and what that loses; itself where it is one already.

    Rows of their own length have no such form: `RowType` stays.
    """
    losses = []
    if isinstance(node.type.inner, EnumerationType):
        node, told = with_flags(node, node.type.inner)
        losses.append(told)
    if isinstance(node.type, SequenceType):
        node = replace(node, type=node.type.structure)
        losses.append(f"the sequence is written as an array of its {node.shape[-1]} rows")
    if node.is_made:
        codec = codec_holding(node.type.name)
        codecs = () if codec is None else (CodecSpec(codec),)
        values = Chunks(grid=node.grid, keys=node.chunk_keys, codecs=codecs)
        node = replace(node, values=values, format="zarr-v2")
    elif rare := [*(each.name for each in node.codecs if only_decodes(each.name)), *node.lenders]:
        values = node.chunks.encoded_by((_USUAL,), "C")
        node = replace(node, values=values, format="zarr-v2", lenders={})
        losses.append(f"codec {', '.join(rare)} is written as {_USUAL.name}, which every reader knows")
    return node, losses


def as_double(node: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return an array of numbers longer than doubles with these instead, and what that loses."""
    dtype = node.dtype
    if dtype is None or dtype.kind not in _LONGEST or dtype.itemsize <= _LONGEST[dtype.kind]:
        return node, []
    shorter = with_byte_order(np.dtype(f"{dtype.kind}{_LONGEST[dtype.kind]}"), "little")
    with np.errstate(over="ignore"):
        fill = None if node.fill_value is None else shorter.type(node.fill_value)
    told = f"{dtype.name} is written as {shorter.name}, which is less exact"
    losses = [told]
    if fill is not None and np.isinf(fill) and not np.isinf(node.fill_value):
        losses.append(f"the fill value {node.fill_value} does not fit {shorter.name}")
        fill = None
    return replace(node, type=DataType.of(shorter), fill_value=fill), losses


def without_gaps(node: ArrayNode) -> ArrayNode:
    """Return an array of structures whose members follow each other, as no other ones are in Zarr."""
    dtype = node.dtype
    if dtype is None or dtype.names is None or dtype.hasobject:
        return node
    closed = closed_up(dtype)
    if closed.itemsize == dtype.itemsize:
        return node
    fill = None if node.fill_value is None else np.asarray(node.fill_value, dtype).astype(closed)[()]
    return replace(node, type=replace(node.type, dtype=closed, name=type_name(closed)), fill_value=fill)


def names_left_out(dtype: np.dtype[Any] | None) -> list[str]:
    """Return what is told where the names of the values of fields are lost."""
    leaves = () if dtype is None or dtype.names is None else leaf_fields(dtype)
    fields = ", ".join(quoted(path) for path, leaf in leaves if names_of(leaf))
    return [f"names of the values of fields are left out: {fields}"] if fields else []


def reads_elements(node: ArrayNode) -> bool:
    """Tell whether just the wanted elements of a chunk are read, straight to where they belong."""
    return not node.is_made and CodecPipeline.for_array(node).is_raw


def with_flags(node: ArrayNode, named_type: EnumerationType) -> tuple[ArrayNode, str]:
    """Return an array of integers with attributes that name its values, as CF has them."""
    integers = DataType(named_type.dtype, named_type.name)
    type = replace(node.type, elements=integers) if isinstance(node.type, RowType) else integers
    plain = replace(node, type=type)
    named = f" {quoted(named_type.enum_name)}" if named_type.enum_name else ""
    if not node.attributes.keys().isdisjoint((VALUES, MEANINGS)):
        return plain, f"names of the values of enumeration{named} are left out: {VALUES} exists already"
    dtype = named_type.dtype
    atomic = None if dtype is None else ATOMIC_OF.get(dtype.newbyteorder("="))
    types = {} if atomic is None else {VALUES: str(atomic)}
    told = f"values of enumeration{named} are integers, {MEANINGS} has their names"
    return (
        replace(
            plain,
            attributes={**node.attributes, **named_flags(named_type.values)},
            attribute_types={**node.attribute_types, **types},
        ),
        told,
    )


#: Uncompressed chunks above `LIMITS.chunk_question` are cut into chunks of at most this many bytes.
SPLIT_SIZE = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CopiedUnits:
    """How stored bytes become those of the target: chunks, or inner chunks of shards, one by one.

    Attributes
    ----------
    first
        Coordinates of the source's unit that becomes the first of the target.
    from_shards, into_shards
        The units of the source, of the target, are inner chunks.
    """

    first: tuple[int, ...]
    from_shards: bool = False
    into_shards: bool = False


#: Gives the name that a part of a node's path stands for.
PlainName = Callable[[str], str]
#: Makes elements of the target of elements of the source.
Convert = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class ArrayLayout:
    """One array of the source and of the target.

    Attributes
    ----------
    source
        As it is.
    selection
        What is taken of it; ascending.
    wanted
        The source with the shape, dimensions and attributes that are to be kept.
    target
        As it will be: the path, shape, chunks and codecs of the target, and no manifest. It may have more
        axes than are kept at the end: of length 1 (a scalar in NCZarr), or those of the field of a compound,
        along which `convert` spreads elements; each chunk holds all of them.
    folder
        Stands before the path in the keys of chunks (``data/``).
    copied
        How stored bytes are copied; None where chunks are encoded anew.
    losses
        What the target cannot hold.
    convert
        Gives elements as the target has them, where numpy's own cast does not; None elsewhere.
    """

    source: ArrayNode
    selection: Selection
    wanted: ArrayNode
    target: ArrayNode
    folder: str
    copied: CopiedUnits | None
    losses: tuple[Loss, ...]
    convert: Convert | None = None

    @property
    def copies_objects(self) -> bool:
        """Whether each object of the target has the bytes of one of the source."""
        return self.copied is not None and not self.copied.from_shards and not self.copied.into_shards

    @property
    def keeps_missing(self) -> bool:
        """Whether what is missing in the source may be missing in the target."""
        fill, dtype = self.source.fill_value, self.source.dtype
        if fill is not None and dtype is not None and dtype.kind in "iuf" and self.convert is not None:
            fill = self.convert(np.full(1, fill, dtype)).reshape(-1)[0]
        return same_fill(fill, self.target.fill_value)

    @property
    def spreads(self) -> bool:
        """Whether an element of the source becomes several of the target."""
        return any(length != 1 for length in self.grid.shape[len(self.kept_axes) :])

    @property
    def kept_axes(self) -> tuple[int, ...]:
        """Axes of the source that the target has."""
        return tuple(axis for axis in range(len(self.source.shape)) if axis not in self.selection.dropped)

    @property
    def grid(self) -> ChunkGrid:
        """The chunks of the target."""
        return self.target.grid

    def keys(self, coords: npt.NDArray[np.int64]) -> list[str]:
        """Return the keys of chunks of the target, given by their coordinates, shape (n, ndim)."""
        start = self.folder + node_key(self.target.path, "")
        return self.target.chunk_keys.encode_many(coords, start)

    def converted(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return elements of the source as the target has them, or can cast them.

        Raises
        ------
        RefbrowserError
            `E_DECODE`: a number is beyond those of the target.
        """
        return narrowed(values if self.convert is None else self.convert(values), self.target.known_dtype)

    def source_coords(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the coordinates of the units that are copied to the units at `coords`, shape (n, ndim)."""
        assert self.copied is not None
        columns = np.tile(np.array(self.copied.first, np.int64), (len(coords), 1))
        kept = self.kept_axes
        columns[:, list(kept)] += coords[:, : len(kept)]
        return columns


def node_key(path: str, name: str) -> str:
    """Return the key of something that belongs to the node at an absolute path."""
    inside = path.strip("/")
    return f"{inside}/{name}" if inside else name


def escaped_path(path: str, plain_name: PlainName = str) -> str:
    """Return the absolute path of a node with parts that are fit for file names, and go back by rule."""
    return "/" + "/".join(_escaped_name(plain_name(part)) for part in path.split("/") if part)


def _escaped_name(name: str) -> str:
    escaped = escaped_part(name)
    # Where metadata stands no node can.
    return f"%{ord(name[0]):02X}{escaped[1:]}" if name in METADATA_NAMES else escaped


def asked_for(
    node: ArrayNode, selection: Selection | None, options: StoreOptions, *, unequal: bool = False
) -> tuple[Selection, ArrayNode, list[str]]:
    """Return what is taken of an array, the array that is asked for, and what cannot be kept.

    The array that is asked for has the shape, chunks and codecs of the target in the words of its own
    format; where a codec was chosen, in those of Zarr v2. Chunks that were chosen are never shards.

    Parameters
    ----------
    unequal
        The target has chunks of unequal sides.

    Raises
    ------
    RefbrowserError
        The array is not readable, the selection goes backwards, or edges were chosen that the target lacks.
    """
    for error in (node.error, node.unreadable):
        if error is not None:
            raise error
    selection = selection or Selection.whole(node.shape)
    if selection.backwards:
        raise RefbrowserError(
            ErrorKind.USAGE,
            "an export keeps the order of elements: steps are positive",
            Place(path=node.path),
        )
    wanted, losses = _reduced(node, selection)
    for form in (stored_form, as_double):
        wanted, told = form(wanted)
        losses += told
    wanted = without_gaps(wanted)
    sides, choice = options.sides_of(node.path, wanted.shape), options.codec_choice
    stored = wanted
    if sides is not None or choice is not None:
        wanted = without_shards(wanted)
    if sides is not None:
        grid = sides.grid(wanted.shape, wanted.known_dtype.itemsize)
        if not (unequal or grid.is_regular):
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"the chunks {sides_text(grid)} are of unequal sides, which this format does not have",
                Place(path=node.path),
                "export to zarr-v3 or icechunk, or choose chunks of one shape",
            )
        wanted = replace(wanted, values=replace(wanted.chunks, grid=grid))
    else:
        # Inner chunks are of one shape, whatever their shards are.
        kept = _edges_kept(node, selection) if unequal and wanted is stored else None
        if kept is not None:
            wanted = replace(wanted, values=replace(wanted.chunks, grid=kept))
        elif not node.grid.is_regular and wanted is stored:
            losses.append(made_equal(node.grid, wanted.grid.largest))
        if isinstance(node.grid, RectilinearChunkGrid) and node.grid.is_padded and kept is not None:
            losses.append(f"chunks {sides_text(node.grid)} are stored no longer than they are")
        wanted, told = _not_too_large(node, wanted)
        losses += told
    return selection, chosen_codecs(wanted, choice) if choice is not None else wanted, losses


def laid_out(
    node: ArrayNode,
    selection: Selection,
    wanted: ArrayNode,
    target: ArrayNode,
    losses: Iterable[str],
    *,
    folder: str = "",
    convert: Convert | None = None,
) -> ArrayLayout:
    """Return the layout of an array, and whether bytes of the source can be copied to it.

    Parameters
    ----------
    selection, wanted
        As `asked_for` returns them.
    target
        The array as a reader of the target finds it, by which chunks are encoded.
    losses
        What the target cannot hold, in words.
    folder
        Stands before the path in the keys of chunks.
    convert
        As in `ArrayLayout`.
    """
    told = list(losses)
    if target.path != node.path:
        told.append(f"the name is written as {quoted(target.path)}")
    narrow = stored_type(node.dtype)
    if narrow is not None and stored_type(target.dtype) is None:
        told.append(f"{narrow.name} is written as {target.type.name}, which has all of its values")
    lost = tuple(Loss(node.path, what) for what in dict.fromkeys(told))
    copied = _copied(node, selection, target, convert)
    return ArrayLayout(node, selection, wanted, target, folder, copied, lost, convert)


def _reduced(node: ArrayNode, selection: Selection) -> tuple[ArrayNode, list[str]]:
    """Return the node with the shape of the selection, and what cannot be kept."""
    kept = [axis for axis in range(len(node.shape)) if axis not in selection.dropped]
    chunks = tuple(node.grid.largest[axis] for axis in kept)
    shape = selection.shape
    codecs, losses = node.codecs, []
    reordered = _of_axes(codecs)
    if reordered and len(kept) < len(node.shape):
        codecs = (CodecSpec("bytes", {"endian": "little"}),)
        losses.append(f"codecs {', '.join(reordered)} do not fit fewer dimensions: chunks are uncompressed")
    elif not reordered and _aligned(node.grid, selection, chunks) is None:
        # What is encoded anew need not be padded to chunks that reach far over the edge.
        chunks = tuple(max(1, min(side, length)) for side, length in zip(chunks, shape, strict=True))
    values = replace(node.over(RegularChunkGrid(shape, chunks)), manifest=NO_MANIFEST).encoded_by(codecs)
    reduced = replace(
        node,
        shape=shape,
        values=values,
        dimensions=tuple(node.dimensions[axis] for axis in kept),
        dimension_paths=tuple(node.dimension_paths[axis] for axis in kept if node.dimension_paths),
    )
    return reduced, losses


def made_equal(grid: ChunkGrid, sides: Sequence[int]) -> str:
    """Return what is told where unequal chunks are written as chunks of one shape."""
    return f"unequal chunks, {sides_text(grid)}, become chunks of one shape, {'×'.join(map(str, sides))}"


#: What is told where chunks of unequal sides are written.
WHO_READS_THEM = (
    "zarr-python reads them from 3.2 on, where ZARR_ARRAY__RECTILINEAR_CHUNKS=True says so; xarray by it"
)


def _edges_kept(node: ArrayNode, selection: Selection) -> ChunkGrid | None:
    """Return the chunks of a selection, divided where those of unequal ones are; None elsewhere."""
    if node.grid.is_regular:
        return None
    kept = [axis for axis in range(len(node.shape)) if axis not in selection.dropped]
    if any(len(selection.axes[axis]) > 1 and selection.axes[axis].step > 1 for axis in kept):
        return None
    dimensions = node.grid.dimensions
    ends = [(selection.axes[axis].start, len(selection.axes[axis])) for axis in kept]
    cut = [dimensions[axis].between(at, at + n) for axis, (at, n) in zip(kept, ends, strict=True)]
    return grid_of(cut)


def _not_too_large(node: ArrayNode, wanted: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return the array with chunks that can be held, where those of the source are read in part only."""
    chunks = wanted.grid.largest
    size = prod(chunks) * wanted.known_dtype.itemsize
    if not wanted.grid.is_regular or size <= LIMITS.chunk_question:
        return wanted, []
    if not (node.assembled is not None or reads_elements(node)):
        return wanted, []
    cut = _cut(chunks, wanted.known_dtype.itemsize)
    told = f"chunks of {size} bytes are cut into chunks of shape {list(cut)}"
    values = replace(wanted.chunks, grid=RegularChunkGrid(wanted.shape, cut))
    return replace(wanted, values=values), [told]


def _cut(chunks: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return a chunk shape of at most `SPLIT_SIZE` bytes, cut along the slowest axes."""
    sides = list(chunks)
    for axis in range(len(sides)):
        rest = prod(sides) // sides[axis] * itemsize
        sides[axis] = min(sides[axis], max(1, SPLIT_SIZE // rest))
    return tuple(sides)


def _copied(
    node: ArrayNode, selection: Selection, target: ArrayNode, convert: Convert | None
) -> CopiedUnits | None:
    """Return how stored bytes are copied to the target, None where they cannot be."""
    if not (node.grid.is_regular and target.grid.is_regular):
        return _copied_unequal(node, selection, target, convert)
    stored = None if node.is_made else _stored_as(node, selection)
    if stored is None:
        return None
    pairs = list(product(_with_units(stored), _with_units(target)))
    if len(pairs) > 1 and not same_fill(node.fill_value, target.fill_value):
        # What is missing of a shard, only the shard tells.
        return None
    # Whole objects first: a shard is copied as it is where it can be.
    for mine, yours in pairs:
        units = (without_shards(node) if mine is not stored else node).grid
        assert units is not None
        first = _aligned(units, selection, yours.grid.largest[: len(mine.shape)])
        if first is not None and _same_bytes(mine, yours, convert):
            return CopiedUnits(first, mine is not stored, yours is not target)
    return None


def _copied_unequal(
    node: ArrayNode, selection: Selection, target: ArrayNode, convert: Convert | None
) -> CopiedUnits | None:
    """Return how the objects of unequal chunks are copied whole, None where they cannot be."""
    if node.is_made or selection.dropped or len(target.shape) != len(node.shape):
        return None
    first = []
    for taken, mine, yours in zip(selection.axes, node.grid.dimensions, target.grid.dimensions, strict=True):
        if not taken or (len(taken) > 1 and taken.step > 1):
            return None
        stop = taken[-1] + 1
        at, last = mine.chunk_of(taken[0]), mine.chunk_of(taken[-1])
        is_whole = mine.start(at) == taken[0] and mine.start(last) + mine.extent(last) == stop
        if not is_whole or mine.is_padded or mine.between(taken[0], stop) != yours:
            return None
        first.append(at)
    return CopiedUnits(tuple(first)) if _same_bytes(node, target, convert) else None


def _of_axes(codecs: Sequence[CodecSpec]) -> list[str]:
    """Return the names of the codecs that fit one number of dimensions only."""
    rows = ((codec.name, codec_of_v3(codec.name)) for codec in codecs)
    return [name for name, row in rows if row is not None and row.is_of_axes]


def _stored_as(node: ArrayNode, selection: Selection) -> ArrayNode | None:
    """Return a node with the axes that are kept as it is stored, None where its codecs need all axes."""
    if not selection.dropped:
        return node
    if _of_axes(node.codecs):
        return None
    kept = [axis for axis in range(len(node.shape)) if axis not in selection.dropped]
    shape = tuple(node.shape[axis] for axis in kept)
    chunks = tuple(node.grid.largest[axis] for axis in kept)
    return replace(node, shape=shape, values=node.over(RegularChunkGrid(shape, chunks)))


def _with_units(node: ArrayNode) -> list[ArrayNode]:
    """Return an array by its objects, and where these are shards by their inner chunks too."""
    try:
        has_shards = CodecPipeline.for_array(node).shard is not None
    except RefbrowserError:
        return [node]
    return [node, without_shards(node)] if has_shards else [node]


def same_fill(source: Any, target: Any) -> bool:
    """Tell whether a missing chunk of the source may be missing in the target: its elements stay the same."""
    if source is None:
        return True
    if target is None:
        return False
    if isinstance(source, str | bytes):
        return bool(source == target)
    one, other = np.asarray(source), np.asarray(target)
    if one.dtype.names is not None or other.dtype.names is not None:
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one.tobytes() == other.tobytes() or bool(one == other) or bool(one != one and other != other)


def _aligned(grid: ChunkGrid, selection: Selection, chunks: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the source's chunk that becomes the target's first, or None where chunks do not coincide."""
    if not grid.is_regular:
        return None
    sides = iter(chunks)
    first = []
    for axis, (taken, side, size) in enumerate(zip(selection.axes, grid.largest, grid.shape, strict=True)):
        if axis in selection.dropped:
            coincide = side == 1
        else:
            ends = taken.stop == size or taken.stop % side == 0
            coincide = next(sides) == side and (len(taken) < 2 or taken.step == 1) and ends
        if not coincide or taken.start % side:
            return None
        first.append(taken.start // side)
    return tuple(first)


def _same_bytes(source: ArrayNode, target: ArrayNode, convert: Convert | None) -> bool:
    """Tell whether the target decodes the source's bytes to the same elements, or to those made of them."""
    if source.format == target.format:
        same = [(codec.name, dict(codec.configuration)) for codec in source.codecs]
        kept = [(codec.name, dict(codec.configuration)) for codec in target.codecs]
        same_type = source.dtype == target.dtype and stored_type(source.dtype) == stored_type(target.dtype)
        if same == kept and same_type and source.order == target.order:
            return True
    try:
        mine, other = CodecPipeline.for_array(source), CodecPipeline.for_array(target)
    except RefbrowserError:
        return False
    one, two = (mine.stages, mine.dtype), (other.stages, other.dtype)
    if isinstance(convert, Repacking):
        # It does just what codecs do that one of them has.
        one, two = without_packing(mine), without_packing(other)
    steps = [[(type(stage.codec), stage.codec, stage.room) for stage in stages] for stages, _ in (one, two)]
    same_steps = repr(steps[0]) == repr(steps[1]) and repr(mine.objects) == repr(other.objects)
    plain = mine.sharding is None and other.sharding is None
    # Axes of length 1 at the end do not matter.
    rank = len(mine.shape)
    same_order = mine.axes == other.axes[:rank] and mine.shape == other.shape[:rank]
    return same_steps and plain and same_order and one[1] == two[1]


class StoreLayout(Protocol):
    """A format of stores, with the options of one export. Made as ``SomeLayout(options, plain_name)``.

    Attributes
    ----------
    flavour
        Whose rules the metadata follows: what is written is read back by them.
    """

    flavour: Flavour

    def layout(self, node: ArrayNode, selection: Selection | None) -> ArrayLayout:
        """Return how an array is laid out; made with `refbrowser.exporting.layout.laid_out`.

        Raises
        ------
        RefbrowserError
            The array is not readable, or the format cannot hold it: it is left out with `skip_bad`.
        """
        ...

    def layouts(self, node: ArrayNode, selection: Selection | None) -> Sequence[ArrayLayout]:
        """Return how the arrays are laid out that an array becomes: one, or one for each of its fields.

        Raises
        ------
        RefbrowserError
            As `layout` does.
        """
        ...

    def settled(self, groups: Sequence[GroupNode], layouts: Sequence[ArrayLayout]) -> list[ArrayLayout]:
        """Return the layouts as they are once all of them are known.

        Parameters
        ----------
        groups
            As those of `metadata`.
        """
        ...

    def group_path(self, group: GroupNode) -> str:
        """Return the absolute path of a group in the target."""
        ...

    def attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        """Return the attributes that reading a node of the target gives.

        Parameters
        ----------
        node
            A group of the source; of an array, `ArrayLayout.wanted`.
        """
        ...

    def losses(self, groups: Iterable[GroupNode]) -> Iterable[Loss]:
        """Yield what the format cannot hold of groups; arrays tell theirs in their layouts."""
        ...

    def metadata(self, groups: Iterable[GroupNode], layouts: Iterable[ArrayLayout]) -> dict[str, bytes]:
        """Return every metadata key of the store with its text.

        Parameters
        ----------
        groups
            Of the source, parents first, the root among them; those of the chosen arrays only.
        """
        ...


def layout_of(format: str, options: StoreOptions, plain_name: PlainName = str) -> StoreLayout:
    """Return how a format of stores is laid out.

    Parameters
    ----------
    plain_name
        As `plain_names` returns it.
    """
    made: StoreLayout = load(form_named(format).layout)(options, plain_name)
    return made


def plain_names(dataset: Dataset) -> PlainName:
    """Return what gives the name that a part of a path stands for: in paths of some formats it is escaped."""
    name: PlainName = facet(dataset.document, "name") or str
    return name
