"""How an array is laid out in a Zarr store, and its metadata as zarr-python writes it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.export.codec_names import CodecsV2, CodecsV3, codecs_v2, codecs_v3
from refbrowser.engine.export.paths import escaped_key
from refbrowser.engine.export.request import Loss
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec, GroupNode
from refbrowser.model.selection import Selection

#: Uncompressed chunks above `LIMITS.chunk_question` are cut into chunks of at most this many bytes.
SPLIT_SIZE = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class ArrayLayout:
    """One array of the source and of the target.

    Attributes
    ----------
    source
        As it is.
    selection
        What is taken of it; ascending.
    target
        As it will be: the path, shape, chunks and codecs of the target, and no manifest.
    copies
        The stored bytes of each chunk are those of a chunk of the source.
    first_chunk
        Coordinates of the source's chunk that becomes the first of the target, where `copies`.
    losses
        What the target cannot hold.
    """

    source: ArrayNode
    selection: Selection
    target: ArrayNode
    copies: bool
    first_chunk: tuple[int, ...]
    losses: tuple[Loss, ...]

    @property
    def kept_axes(self) -> tuple[int, ...]:
        """Axes of the source that the target has."""
        return tuple(axis for axis in range(len(self.source.shape)) if axis not in self.selection.dropped)

    @property
    def grid(self) -> RegularChunkGrid:
        """The chunks of the target."""
        assert self.target.grid is not None
        return self.target.grid

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the key of a chunk of the target."""
        return node_key(self.target.path, self.target.chunk_keys.encode(coords))

    def source_coords(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the coordinates of the chunks that are copied to the chunks at `coords`, shape (n, ndim)."""
        columns = np.tile(np.array(self.first_chunk, np.int64), (len(coords), 1))
        columns[:, list(self.kept_axes)] += coords
        return columns

    def source_part(self, coords: tuple[int, ...]) -> Selection:
        """Return the elements of the source that a chunk of the target holds, with all axes kept."""
        axes = list(self.selection.axes)
        for axis, at, side in zip(self.kept_axes, coords, self.grid.chunk_shape, strict=True):
            axes[axis] = axes[axis][at * side : (at + 1) * side]
        return Selection(tuple(axes))


def node_key(path: str, name: str) -> str:
    """Return the key of something that belongs to the node at an absolute path."""
    inside = path.strip("/")
    return f"{inside}/{name}" if inside else name


def plan_array(node: ArrayNode, selection: Selection | None, version: int) -> ArrayLayout:
    """Return how an array is laid out in Zarr `version`.

    Raises
    ------
    RefbrowserError
        The array is not readable, or the target has no such type or codec.
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
    codecs: CodecsV2 | CodecsV3 = codecs_v2(wanted) if version == 2 else codecs_v3(wanted)
    assert wanted.grid is not None
    chunks = codecs.chunks if isinstance(codecs, CodecsV2) else wanted.grid.chunk_shape
    target, told = _target_node(wanted, codecs, chunks, version)
    losses += [*codecs.lost, *told]
    if target.path != node.path:
        losses.append(f"the name is written as {quoted(target.path)}")
    first_chunk = _aligned(node, selection, chunks)
    copies = first_chunk is not None and _same_bytes(wanted, target)
    told_of = tuple(Loss(node.path, what) for what in dict.fromkeys(losses))
    return ArrayLayout(node, selection, target, copies, first_chunk or (), told_of)


def _reduced(node: ArrayNode, selection: Selection) -> tuple[ArrayNode, list[str]]:
    """Return the node with the shape of the selection, and what cannot be kept."""
    assert node.grid is not None
    kept = [axis for axis in range(len(node.shape)) if axis not in selection.dropped]
    chunks = tuple(node.grid.chunk_shape[axis] for axis in kept)
    shape = selection.shape
    codecs, losses = node.codecs, []
    reordered = [codec.name for codec in codecs if codec.name in ("transpose", "sharding_indexed")]
    if reordered and len(kept) < len(node.shape):
        codecs = (CodecSpec("bytes", {"endian": "little"}),)
        losses.append(f"codecs {', '.join(reordered)} do not fit fewer dimensions: chunks are uncompressed")
    elif not reordered and _aligned(node, selection, chunks) is None:
        # What is encoded anew need not be padded to chunks that reach far over the edge.
        chunks = tuple(max(1, min(side, length)) for side, length in zip(chunks, shape, strict=True))
    assert node.dtype is not None
    size = prod(chunks) * node.dtype.itemsize
    if size > LIMITS.chunk_question and CodecPipeline.for_array(node).is_raw:
        chunks = _cut(chunks, node.dtype.itemsize)
        losses.append(f"chunks of {size} bytes are cut into chunks of shape {list(chunks)}")
    reduced = replace(
        node,
        shape=shape,
        grid=RegularChunkGrid(shape, chunks),
        dimensions=tuple(node.dimensions[axis] for axis in kept),
        codecs=codecs,
        manifest=None,
    )
    return reduced, losses


def _cut(chunks: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return a chunk shape of at most `SPLIT_SIZE` bytes, cut along the slowest axes."""
    sides = list(chunks)
    for axis in range(len(sides)):
        rest = prod(sides) // sides[axis] * itemsize
        sides[axis] = min(sides[axis], max(1, SPLIT_SIZE // rest))
    return tuple(sides)


def _aligned(node: ArrayNode, selection: Selection, chunks: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the source's chunk that becomes the target's first, or None where chunks do not coincide."""
    assert node.grid is not None
    sides = iter(chunks)
    first = []
    for axis, (taken, side, size) in enumerate(
        zip(selection.axes, node.grid.chunk_shape, node.shape, strict=True)
    ):
        if axis in selection.dropped:
            coincide = side == 1
        else:
            ends = taken.stop == size or taken.stop % side == 0
            coincide = next(sides) == side and (len(taken) < 2 or taken.step == 1) and ends
        if not coincide or taken.start % side:
            return None
        first.append(taken.start // side)
    return tuple(first)


def _same_bytes(source: ArrayNode, target: ArrayNode) -> bool:
    """Tell whether the target decodes the source's bytes to the same elements."""
    if source.format == target.format:
        same = [(codec.name, dict(codec.configuration)) for codec in source.codecs]
        kept = [(codec.name, dict(codec.configuration)) for codec in target.codecs]
        return same == kept and source.dtype == target.dtype and source.order == target.order
    try:
        mine, other = CodecPipeline.for_array(source), CodecPipeline.for_array(target)
    except RefbrowserError:
        return False
    steps = [
        [(type(stage.codec), stage.codec, stage.room) for stage in pipeline.stages]
        for pipeline in (mine, other)
    ]
    same_steps = repr(steps[0]) == repr(steps[1]) and repr(mine.objects) == repr(other.objects)
    return same_steps and mine.axes == other.axes and mine.dtype == other.dtype and mine.shape == other.shape


# Metadata


def _target_node(
    node: ArrayNode, codecs: CodecsV2 | CodecsV3, chunks: tuple[int, ...], version: int
) -> tuple[ArrayNode, list[str]]:
    """Return the array as it will be, and what zarr-python warns of."""
    path = "/" + "/".join(escaped_key(part) for part in node.path.split("/") if part)
    planned = replace(
        node,
        path=path,
        grid=RegularChunkGrid(node.shape, chunks),
        format=f"zarr-v{version}",
        order=codecs.order if isinstance(codecs, CodecsV2) else "C",
        chunk_keys=_chunk_keys(node, version),
    )
    losses = []
    if version == 3 and node.fill_value is None:
        losses.append("there is no fill value, Zarr v3 needs one: zero")
    if version == 2 and any(node.dimensions) and not all(node.dimensions):
        losses.append("Zarr v2 names all dimensions or none")
    keys, told = _made_by_zarr(planned, codecs, version)
    return _parsed(planned, keys, version), [*losses, *told]


def _chunk_keys(node: ArrayNode, version: int) -> ChunkKeyEncoding:
    if node.format == f"zarr-v{version}":
        return node.chunk_keys
    return ChunkKeyEncoding("v2", ".") if version == 2 else ChunkKeyEncoding("default", "/")


def _made_by_zarr(
    node: ArrayNode, codecs: CodecsV2 | CodecsV3, version: int
) -> tuple[dict[str, bytes], list[str]]:
    """Return the metadata keys of an array, and the warnings."""
    import zarr
    from zarr.storage import MemoryStore

    store: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            zarr.create_array(MemoryStore(store), **_arguments(node, codecs, version))
        except (TypeError, ValueError, KeyError, NotImplementedError) as error:
            raise RefbrowserError(
                ErrorKind.META,
                f"Zarr v{version} cannot hold the array: {quoted(error)}",
                Place(path=node.path),
            ) from error
    keys = {name: value.to_bytes() for name, value in store.items()}
    lines = [str(warning.message).split(". ")[0].split("\n")[0] for warning in told]
    return keys, [line for line in lines if "Numcodecs" not in line]


def _arguments(node: ArrayNode, codecs: CodecsV2 | CodecsV3, version: int) -> dict[str, Any]:
    """Return the arguments of ``zarr.create_array`` for an array at the root of a store."""
    assert node.grid is not None
    arguments: dict[str, Any] = {
        "shape": node.shape,
        "chunks": node.grid.chunk_shape,
        "dtype": _zarr_type(node, version),
        "zarr_format": version,
        "attributes": target_attributes(node, version),
        "chunk_key_encoding": {"name": node.chunk_keys.name, "separator": node.chunk_keys.separator},
    }
    if isinstance(codecs, CodecsV2):
        import numcodecs

        compressor = codecs.compressor
        return arguments | {
            "order": codecs.order,
            "filters": [numcodecs.get_codec(dict(item)) for item in codecs.filters] or None,
            "compressors": None if compressor is None else numcodecs.get_codec(dict(compressor)),
            "fill_value": node.fill_value,
        }
    if node.fill_value is not None:
        arguments["fill_value"] = node.fill_value
    if any(node.dimensions):
        arguments["dimension_names"] = node.dimensions
    return arguments | {
        "filters": list(codecs.filters) or None,
        "serializer": codecs.serializer,
        "compressors": list(codecs.compressors) or None,
    }


def _zarr_type(node: ArrayNode, version: int) -> Any:
    assert node.dtype is not None
    if node.dtype.hasobject:
        from zarr.dtype import VariableLengthBytes, VariableLengthUTF8

        if node.type_name not in ("string", "bytes"):
            raise RefbrowserError(
                ErrorKind.META, f"zarr-python has no type for {quoted(node.type_name)}", Place(path=node.path)
            )
        return VariableLengthUTF8() if node.type_name == "string" else VariableLengthBytes()
    # The byte order of v3 is a codec, not part of the type.
    return node.dtype if version == 2 else node.dtype.newbyteorder("=")


def target_attributes(node: ArrayNode | GroupNode, version: int) -> dict[str, Any]:
    """Return the attributes that the target holds; names of dimensions have a member of their own in v3."""
    attributes = dict(node.attributes)
    if not isinstance(node, ArrayNode):
        return attributes
    if version == 3 and any(node.dimensions):
        attributes.pop(DIMENSIONS_ATTRIBUTE, None)
    elif version == 2 and node.dimensions and all(node.dimensions):
        attributes[DIMENSIONS_ATTRIBUTE] = list(node.dimensions)
    return attributes


class _OneArray:
    """The metadata of one array at the root, as a source of a hierarchy."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._keys = keys

    def metadata_keys(self) -> Iterable[str]:
        return list(self._keys)

    def value(self, key: str) -> bytes:
        return self._keys[key]


def _parsed(node: ArrayNode, keys: Mapping[str, bytes], version: int) -> ArrayNode:
    """Return `node` as our reader understands the metadata that zarr-python made."""
    from refbrowser.formats.zarr.hierarchy import build_hierarchy

    def no_manifest(prefix: str, grid: RegularChunkGrid, encoding: ChunkKeyEncoding) -> Any:
        return None

    root = build_hierarchy(_OneArray(keys), no_manifest, f"zarr-v{version}").root
    assert isinstance(root, ArrayNode)
    error = root.error or root.unreadable
    if error is not None:
        raise RefbrowserError(error.kind, error.message, Place(path=node.path), error.advice)
    return replace(root, path=node.path)


def store_metadata(
    groups: Iterable[GroupNode], layouts: Iterable[ArrayLayout], version: int
) -> dict[str, bytes]:
    """Return every metadata key of a store, made by zarr-python."""
    import zarr
    from zarr.storage import MemoryStore

    store: dict[str, Any] = {}
    memory = MemoryStore(store)
    layouts = list(layouts)
    rooted = any(layout.target.path == "/" for layout in layouts)
    if rooted and len(layouts) > 1:
        raise RefbrowserError(ErrorKind.META, "a Zarr store cannot hold an array at its root beside others")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not rooted:
                _make_groups(memory, groups, version)
            for layout in layouts:
                _make_array(memory, layout, version)
            if version == 2 and not rooted:
                zarr.consolidate_metadata(memory, zarr_format=2)
        except (TypeError, ValueError, KeyError) as error:
            raise RefbrowserError(
                ErrorKind.META, f"zarr-python refuses the store: {quoted(error)}"
            ) from error
    return {name: value.to_bytes() for name, value in store.items()}


def _make_groups(memory: Any, groups: Iterable[GroupNode], version: Any) -> None:
    import zarr

    for group in groups:
        path, attributes = escaped_path(group.path), dict(group.attributes)
        zarr.create_group(memory, path=path, zarr_format=version, attributes=attributes)


def _make_array(memory: Any, layout: ArrayLayout, version: int) -> None:
    import zarr

    wanted, _ = _reduced(layout.source, layout.selection)
    codecs = codecs_v2(wanted) if version == 2 else codecs_v3(wanted)
    planned = replace(wanted, grid=layout.grid, chunk_keys=layout.target.chunk_keys)
    name = layout.target.path.strip("/") or None
    zarr.create_array(memory, name=name, **_arguments(planned, codecs, version))


def escaped_path(path: str) -> str:
    """Return the path of a node as the target writes it, without the leading slash."""
    return "/".join(escaped_key(part) for part in path.split("/") if part)
