"""Zarr of version 2 and 3 as targets; their metadata is what zarr-python writes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

import numpy as np

from refbrowser.errors import ErrorKind, NotHeldError, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import (
    CodecsV2,
    CodecsV3,
    bytes_codec,
    codecs_v2,
    codecs_v3,
    extensions_in,
    with_shards,
)
from refbrowser.exporting.layout import (
    WHO_READS_THEM,
    ArrayLayout,
    PlainName,
    asked_for,
    escaped_path,
    laid_out,
    names_left_out,
)
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.packing import repacked
from refbrowser.exporting.request import Loss
from refbrowser.formats.zarr.documents import NODE_V3
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE, build_hierarchy
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import ChunkGrid, RegularChunkGrid, sides_text
from refbrowser.model.narrow_types import stored_type
from refbrowser.model.netcdf.fill import marked, with_mark_of_v3
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode
from refbrowser.model.selection import Selection
from refbrowser.model.values import NO_MANIFEST

_OLD_ZARR = "the installed zarr-python is older than 3.1, which has more types, and NaN among attributes"
_OTHER_TYPE = "use ncstream, which holds structures of texts and rows of any length"


class ZarrLayout:
    """What both versions have in common."""

    version: ClassVar[Literal[2, 3]]
    flavour: ClassVar[Flavour]
    usual_keys: ClassVar[ChunkKeyEncoding]
    #: Whether the keys of chunks stay as they are in a source of the same version.
    keeps_keys: ClassVar[bool] = True

    def __init__(self, options: StoreOptions, plain_name: PlainName = str) -> None:
        self.options = options
        self._plain_name = plain_name
        #: The arguments of ``zarr.create_array`` by path in the target.
        self._arguments: dict[str, dict[str, Any]] = {}
        #: Members of the metadata that zarr-python cannot write, by path in the target.
        self._members: dict[str, dict[str, Any]] = {}

    def layout(self, node: ArrayNode, selection: Selection | None) -> ArrayLayout:
        """Return how an array is laid out."""
        selection, wanted, losses = asked_for(node, selection, self.options, unequal=self.has_edges())
        packed = repacked(wanted, self.options.packing, has_codecs=self.version == 3)
        wanted, told = self._with_mark(packed.node, node)
        losses += [*packed.losses, *told]
        planned, arguments, lost = self._planned(wanted)
        # The codecs that are wanted may be in the words of the other version: keys are as those of the node.
        keys_stay = self.keeps_keys and node.format == self.flavour
        planned = replace(
            planned,
            path=escaped_path(node.path, self._plain_name),
            format=str(self.flavour),
            values=replace(planned.chunks, keys=node.chunk_keys if keys_stay else self.usual_keys),
        )
        arguments |= {
            "shape": planned.shape,
            "dtype": self._type(planned),
            "zarr_format": self.version,
            "attributes": self.attributes(planned),
            "chunk_key_encoding": {
                "name": planned.chunk_keys.name,
                "separator": planned.chunk_keys.separator,
            },
        }
        keys, told = _made_by_zarr(planned.path, arguments)
        self._arguments[planned.path] = arguments
        if members := self._members.get(planned.path):
            keys = {name: _with_members(data, members) for name, data in keys.items()}
        target = _parsed(planned, keys)
        losses += [*names_left_out(node.dtype), *lost, *told]
        return laid_out(node, selection, wanted, target, losses, convert=packed.convert)

    def layouts(self, node: ArrayNode, selection: Selection | None) -> list[ArrayLayout]:
        """Return how an array is laid out: as one array."""
        return [self.layout(node, selection)]

    def settled(self, groups: Sequence[GroupNode], layouts: Sequence[ArrayLayout]) -> list[ArrayLayout]:
        """Return the layouts: none hangs on the others."""
        return list(layouts)

    def group_path(self, group: GroupNode) -> str:
        """Return the path of a group in the target."""
        return escaped_path(group.path, self._plain_name)

    def losses(self, groups: Iterable[GroupNode]) -> Iterator[Loss]:
        """Yield what the format cannot hold of groups."""
        for group in groups:
            path = self.group_path(group)
            if path != group.path:
                yield Loss(group.path, f"the name is written as {quoted(path)}")

    def metadata(self, groups: Iterable[GroupNode], layouts: Iterable[ArrayLayout]) -> dict[str, bytes]:
        """Return every metadata key of the store, made by zarr-python."""
        import zarr
        from zarr.storage import MemoryStore

        store: dict[str, Any] = {}
        memory = MemoryStore(store)
        paths = [layout.target.path for layout in layouts]
        rooted = "/" in paths
        if rooted and len(paths) > 1:
            raise RefbrowserError(
                ErrorKind.META, "a Zarr store cannot hold an array at its root beside others"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for group in () if rooted else groups:
                    zarr.create_group(
                        memory,
                        path=self.group_path(group).strip("/"),
                        zarr_format=self.version,
                        attributes=self.attributes(group),
                    )
                for path in paths:
                    zarr.create_array(memory, name=path.strip("/") or None, **self._arguments[path])
                if not rooted:
                    self._consolidate(memory)
            except (TypeError, ValueError, KeyError) as error:
                raise RefbrowserError(
                    ErrorKind.META, f"zarr-python refuses the store: {quoted(error)}"
                ) from error
        keys = {name: value.to_bytes() for name, value in store.items()}
        for path in paths:
            if members := self._members.get(path):
                key = f"{path.strip('/')}/{NODE_V3}".lstrip("/")
                keys[key] = _with_members(keys[key], members)
        return keys

    def has_edges(self) -> bool:
        """Tell whether chunks may be of unequal sides."""
        return False

    def attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        """Return the attributes that reading a node of the target gives."""
        raise NotImplementedError

    def _with_mark(self, wanted: ArrayNode, source: ArrayNode) -> tuple[ArrayNode, list[str]]:
        """Return the array with what marks its missing values where the version has it, and what is told."""
        raise NotImplementedError

    def _planned(self, wanted: ArrayNode) -> tuple[ArrayNode, dict[str, Any], list[str]]:
        """Return the array with its chunks, the arguments for them and the codecs, and what is lost."""
        raise NotImplementedError

    def _consolidate(self, memory: Any) -> None:
        """Gather all metadata in one key where that is usual."""

    def _type(self, node: ArrayNode) -> Any:
        if not node.known_dtype.hasobject:
            return self._plain_type(node.known_dtype)
        if node.type.name not in ("string", "bytes", "opaque"):
            message = f"zarr-python has no type for {quoted(node.type.name)}"
            raise NotHeldError(ErrorKind.META, message, Place(path=node.path), _OTHER_TYPE)
        return self._elements_of_any_length(node.type.name == "string")

    def _elements_of_any_length(self, are_texts: bool) -> Any:
        if not _has_own_types():
            return str if are_texts else object if self.version == 2 else bytes
        from zarr.dtype import VariableLengthBytes, VariableLengthUTF8

        return VariableLengthUTF8() if are_texts else VariableLengthBytes()

    def _plain_type(self, dtype: Any) -> Any:
        return dtype


class ZarrV2Layout(ZarrLayout):
    """Zarr of version 2."""

    version = 2
    flavour = Flavour.ZARR_V2
    usual_keys = ChunkKeyEncoding("v2", ".")

    def attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        """Return the attributes with the names of dimensions, which have no other place."""
        attributes = dict(node.attributes)
        # Of scalars, too: xarray opens no array without it.
        if isinstance(node, ArrayNode) and len(node.dimensions) == len(node.shape) and all(node.dimensions):
            attributes[DIMENSIONS_ATTRIBUTE] = list(node.dimensions)
        return attributes

    def _with_mark(self, wanted: ArrayNode, source: ArrayNode) -> tuple[ArrayNode, list[str]]:
        return marked(wanted, source)

    def _planned(self, wanted: ArrayNode) -> tuple[ArrayNode, dict[str, Any], list[str]]:
        codecs: CodecsV2 = codecs_v2(wanted)
        lost = list(codecs.lost)
        if self.options.shards is not None:
            lost.append("Zarr v2 has no shards: chunks are stored one by one")
        if any(wanted.dimensions) and not all(wanted.dimensions):
            lost.append("Zarr v2 names all dimensions or none")
        grid = RegularChunkGrid(wanted.shape, codecs.chunks)
        planned = replace(wanted, values=replace(wanted.chunks, grid=grid, order=codecs.order))
        compressor = codecs.compressor
        arguments = {
            "chunks": codecs.chunks,
            "order": codecs.order,
            "filters": [_codec_of_numcodecs(item) for item in codecs.filters] or None,
            "compressors": None if compressor is None else _codec_of_numcodecs(compressor),
            "fill_value": wanted.fill_value,
        }
        return planned, arguments, lost

    def _consolidate(self, memory: Any) -> None:
        import zarr

        zarr.consolidate_metadata(memory, zarr_format=2)


class ZarrV3Layout(ZarrLayout):
    """Zarr of version 3."""

    version = 3
    flavour = Flavour.ZARR_V3
    usual_keys = ChunkKeyEncoding("default", "/")

    def has_edges(self) -> bool:
        """Tell whether chunks may be of unequal sides: by an extension."""
        return True

    def _edges(self, grid: ChunkGrid) -> list[Any]:
        """Return the edges of unequal chunks as the metadata has them."""
        return grid.spelling

    def attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        """Return the attributes without the names of dimensions, which have a member of their own."""
        attributes = dict(node.attributes)
        if isinstance(node, ArrayNode) and any(node.dimensions):
            attributes.pop(DIMENSIONS_ATTRIBUTE, None)
        return attributes

    def _with_mark(self, wanted: ArrayNode, source: ArrayNode) -> tuple[ArrayNode, list[str]]:
        return with_mark_of_v3(wanted)

    def _planned(self, wanted: ArrayNode) -> tuple[ArrayNode, dict[str, Any], list[str]]:
        shards = self.options.shards
        if shards is not None and shards.fits(wanted.shape) and wanted.shape:
            wanted = with_shards(wanted, shards)
        codecs = codecs_v3(wanted)
        lost = list(codecs.lost)
        if not wanted.grid.is_regular:
            lost.append(f"its chunks have unequal sides, {sides_text(wanted.grid)}: {WHO_READS_THEM}")
        all_codecs = [*codecs.filters, codecs.serializer, *codecs.compressors]
        own = extensions_in(all_codecs)
        members: dict[str, Any] = {}
        if own:
            lost += [
                f"codec {name} is kept as an extension of Zarr v3 that few programs know" for name in own
            ]
            members["codecs"] = all_codecs
            codecs = CodecsV3((), bytes_codec(wanted.known_dtype), ())
        if narrow := stored_type(wanted.dtype):
            lost.append(f"type {narrow.name} is kept as an extension of Zarr v3 that few programs know")
            members["data_type"] = narrow.name
        if not wanted.grid.is_regular:
            configuration = {"kind": "inline", "chunk_shapes": self._edges(wanted.grid)}
            members["chunk_grid"] = {"name": "rectilinear", "configuration": configuration}
        if members:
            self._members[escaped_path(wanted.path, self._plain_name)] = members
        arguments: dict[str, Any] = {
            "chunks": wanted.grid.largest,
            "filters": list(codecs.filters) or None,
            "serializer": codecs.serializer,
            "compressors": list(codecs.compressors) or None,
        }
        fill_value = wanted.fill_value
        if fill_value is None:
            lost.append("it has no fill value and Zarr v3 needs one: 0 is written")
            if wanted.dtype is not None and wanted.dtype.names is not None:
                # zarr-python makes none for fields of raw bytes.
                fill_value = np.zeros((), self._plain_type(wanted.dtype))[()]
        if fill_value is not None:
            arguments["fill_value"] = fill_value
        if any(wanted.dimensions):
            arguments["dimension_names"] = wanted.dimensions
        return replace(wanted, values=replace(wanted.chunks, order="C")), arguments, lost

    def _plain_type(self, dtype: Any) -> Any:
        # The byte order of v3 is a codec, not part of the type.
        return dtype.newbyteorder("=")


def _with_members(data: bytes, members: Mapping[str, Any]) -> bytes:
    """Return a ``zarr.json`` with other members."""
    return json.dumps({**json.loads(data), **members}, indent=2).encode()


def _made_by_zarr(path: str, arguments: Mapping[str, Any]) -> tuple[dict[str, bytes], list[str]]:
    """Return the metadata keys of an array at the root of a store, and the warnings."""
    import zarr
    from zarr.storage import MemoryStore

    store: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            zarr.create_array(MemoryStore(store), **arguments)
            # It writes types that it does not read.
            zarr.open_array(MemoryStore(store), mode="r")
        except (TypeError, ValueError, KeyError, NotImplementedError) as error:
            message = f"Zarr v{arguments['zarr_format']} cannot hold the array: {quoted(error)}"
            raise NotHeldError(ErrorKind.META, message, Place(path=path), _advice()) from error
    keys = {name: value.to_bytes() for name, value in store.items()}
    lines = [str(warning.message).split(". ")[0].split("\n")[0] for warning in told]
    return keys, [line for line in lines if "Numcodecs" not in line]


def _has_own_types() -> bool:
    """Tell whether zarr-python has types of its own: before 3.1 it has some of those of numpy."""
    return find_spec("zarr.dtype") is not None


def _advice() -> str:
    return "" if _has_own_types() else _OLD_ZARR


def _codec_of_numcodecs(configuration: Mapping[str, Any]) -> Any:
    """Return the codec that writes this configuration.

    Raises
    ------
    RefbrowserError
        `META`: numcodecs, as it is installed, has none.
    """
    import numcodecs

    try:
        return numcodecs.get_codec(dict(configuration))
    except (TypeError, ValueError) as error:
        message = f"numcodecs cannot write codec {quoted(configuration.get('id'))}: {quoted(error)}"
        raise RefbrowserError(ErrorKind.META, message) from None


class _OneArray:
    """The metadata of one array at the root, as a source of a hierarchy."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._keys = keys

    def metadata_keys(self) -> Iterable[str]:
        return list(self._keys)

    def value(self, key: str) -> bytes:
        return self._keys[key]


def _parsed(node: ArrayNode, keys: Mapping[str, bytes]) -> ArrayNode:
    """Return `node` as our reader understands the metadata that zarr-python made."""

    def no_manifest(prefix: str, grid: ChunkGrid, encoding: ChunkKeyEncoding) -> Any:
        return NO_MANIFEST

    root = build_hierarchy(_OneArray(keys), no_manifest, node.format).root
    assert isinstance(root, ArrayNode)
    error = root.error or root.unreadable
    if error is not None:
        raise NotHeldError(error.kind, error.message, Place(path=node.path), error.advice or _advice())
    if _native(root) != _native(node):
        message = f"zarr-python has no type for {quoted(node.type.name)}"
        raise NotHeldError(ErrorKind.META, message, Place(path=node.path), _advice())
    return replace(root, path=node.path)


def _native(node: ArrayNode) -> Any:
    """Return the type of an array, whatever its byte order."""
    return None if node.dtype is None else node.dtype.newbyteorder("=")
