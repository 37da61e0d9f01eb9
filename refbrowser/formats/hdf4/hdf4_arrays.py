"""Groups and arrays of HDF4 as nodes: each array as chunks in the file, or read by the library, with why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from refbrowser.codecs.deflating import zlib_flaw
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.hdf4.eos_structure import EosPart, eos_parts, structure_text
from refbrowser.formats.library.chunk_proof import Candidate, Stored, refuted
from refbrowser.formats.library.library_contents import LibraryContents
from refbrowser.formats.library.library_source import LibrarySource, Tree, asked_grid
from refbrowser.formats.library.process import LibraryFile
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import LocalBytes
from refbrowser.limits import LIMITS
from refbrowser.model.calibration import FACTOR, OFFSET
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks, CodecSpec, Pieces, SourceManifest
from refbrowser.references.document.manifest import ManifestBuilder, unheld_name

Told = Mapping[str, Any]
#: Bytes of a stream that are unpacked at a time: of deflate, into a thousand times as many at most.
_PORTION = 4 << 10


@dataclass(eq=False)
class Hdf4Contents(LibraryContents):
    """What the library tells of a file.

    Attributes
    ----------
    groups, arrays
        By path, in the order of the file.
    chunks
        Bytes behind what is told of arrays.
    """

    groups: dict[str, Told] = field(default_factory=dict)
    arrays: dict[str, Told] = field(default_factory=dict)
    chunks: dict[str, memoryview] = field(default_factory=dict)

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "group" in told:
            self.groups[told["group"]] = told
        elif "array" in told:
            self.arrays[told["array"]] = told
            self.chunks[told["array"]] = data
        elif "cut" in told:
            self.warn(told["cut"], "", Severity.FAULT)
        else:
            super().take(told, data)


@dataclass(eq=False)
class Hdf4Arrays:
    """Makes the nodes of a file, and adds them and their chunks to a manifest.

    Attributes
    ----------
    findings
        Which arrays cannot be referenced.
    sources
        What has arrays that are chunks read by the library, by path.
    """

    file: LibraryFile
    contents: Hdf4Contents
    token: CancelToken | None = None
    findings: list[Finding] = field(init=False, default_factory=list)
    sources: dict[str, LibrarySource] = field(init=False, default_factory=dict)
    _sizes: dict[tuple[str, str], int] = field(init=False, default_factory=dict)
    _proved: set[Any] = field(init=False, default_factory=set)

    def add_to(self, manifest: ManifestBuilder) -> None:
        """Add all nodes, and all chunks."""
        parts = self._eos_parts()
        shown: set[str] = set()
        for path, told in self.contents.groups.items():
            said = self._attributes(path, told)
            part = parts.get(path.rpartition("/")[2])
            if part is not None:
                said["attributes"] = {**part.attributes, **said["attributes"]}
            if self._is_held(path):
                manifest.add_node(GroupNode(path=path, **said))
                shown.add(path)
        for path, told in self.contents.arrays.items():
            if not self._is_held(path):
                continue
            try:
                self._add_array(manifest, path, told)
            except RefbrowserError as error:
                self._add_broken(manifest, path, told, error)
            except (ValueError, TypeError, OverflowError) as error:
                self._add_broken(manifest, path, told, RefbrowserError(ErrorKind.META, quoted(error)[1:-1]))
        self._add_axes(manifest, parts)

    def _is_held(self, path: str) -> bool:
        unheld = unheld_name(path)
        if unheld is not None:
            self.contents.findings.append(unheld)
        return unheld is None

    def _add_broken(self, manifest: ManifestBuilder, path: str, told: Told, error: RefbrowserError) -> None:
        self.contents.warn(error.message, path, Severity.FAULT)
        error = error.at(Place(path=path, url=self.file.url))
        said = self._attributes(path, told) if "attributes" in told else {}
        manifest.add_node(ArrayNode(path=path, error=error, type=DataType.of(np.dtype("u1")), **said))

    # Attributes

    def _attributes(self, path: str, told: Told) -> dict[str, Any]:
        values: dict[str, Any] = {}
        types: dict[str, str] = {}
        for name, value, kind, why in told["attributes"]:
            if why:
                what = f"its attribute {quoted(name)} is not shown" if name else "attributes are not shown"
                self.contents.warn(f"{what}: {why}", path)
            else:
                values[name], types[name] = value, kind
        return {"attributes": values, "attribute_types": types}

    def _calibrated(self, path: str, said: dict[str, Any]) -> None:
        """Give scale and offset other names where CF would apply them in another way than HDF4 means them.

        HDF4 means ``scale_factor * (stored - add_offset)``, CF ``scale_factor * stored + add_offset``.
        """
        values, types = said["attributes"], said["attribute_types"]
        if not _is_number(values.get("add_offset")) or not values["add_offset"]:
            return
        for old, new in (("scale_factor", FACTOR), ("add_offset", OFFSET)):
            if old in values:
                values[new], types[new] = values.pop(old), types.pop(old)
        self.contents.warn(
            "its values are shown as they are stored: in HDF4 scale_factor and add_offset mean "
            "scale_factor × (stored − add_offset), not what CF means by them; they are shown as "
            f"{FACTOR} and {OFFSET}",
            path,
        )

    # Arrays

    def _add_array(self, manifest: ManifestBuilder, path: str, told: Told) -> None:
        if "error" in told:
            raise RefbrowserError(
                ErrorKind.FORMAT, f"the array cannot be read: {quoted(told['error'])[1:-1]}"
            )
        shape, dtype = tuple(told["shape"]), np.dtype(told["dtype"])
        if not 0 < len(shape) <= LIMITS.rank:
            raise RefbrowserError(
                ErrorKind.BUDGET, f"it has {len(shape)} dimensions, not 1 to {LIMITS.rank} (rank)"
            )
        said = self._attributes(path, told)
        self._calibrated(path, said)
        fill = said["attributes"].get(FILL_ATTRIBUTE)
        names = self._dimensions(path, told["dimensions"], shape)
        node = ArrayNode(
            path=path,
            shape=shape,
            type=DataType.of(dtype),
            dimensions=names,
            internal_attributes={DIMENSIONS_ATTRIBUTE: list(names)},
            fill_value=dtype.type(fill) if _is_number(fill) and dtype.kind in "iuf" else None,
            **said,
        )
        tree: Tree = {"kind": "plain", "dtype": dtype.str, "exact": True}
        if told["elsewhere"]:
            error = RefbrowserError(ErrorKind.META, told["why"], Place(path=path, url=self.file.url))
            grid = asked_grid(shape, None, dtype.itemsize)
            manifest.add_node(replace(node, values=Chunks(grid=grid), unreadable=error))
            return
        stored = Stored.of(self.contents.chunks[path], len(shape))
        why = told["why"] if prod(shape) else ""
        sides = tuple(max(side, 1) for side in told["chunks"] or shape)
        codecs = () if told["level"] is None else (CodecSpec("zlib", {"level": told["level"]}),)
        node = replace(node, values=Chunks(grid=RegularChunkGrid(shape, sides), codecs=codecs))
        why = why or self._why_not_stored_so(node, stored, prod(sides) * dtype.itemsize, bool(told["chunks"]))
        source = LibrarySource(self.file, path, tree, asked_grid(shape, sides, dtype.itemsize))
        if why:
            self._add_by_library(manifest, node, source, why)
            return
        manifest.add_node(node)
        self.sources[path] = source
        if prod(shape):
            lengths = stored.sizes if codecs else np.full(len(stored), prod(sides) * dtype.itemsize, np.int64)
            manifest.add_ranges(node.key_prefix, stored.coords, stored.offsets, lengths)

    def _dimensions(self, path: str, told: list[str], shape: tuple[int, ...]) -> tuple[str, ...]:
        """Return the names of dimensions, unique in a group; those of HDF-EOS2 without the grid's name."""
        group = path.rpartition("/")[0]
        names = []
        for axis, (name, size) in enumerate(zip(told, shape, strict=True)):
            own, colon, of = name.rpartition(":")
            name = own if colon and own and of in group.split("/") else name
            name = name.replace("/", "_") or f"dim_{axis}"
            same = self._sizes.setdefault((group, name), size) == size and name not in names
            names.append(
                name
                if same
                else f"{name}_{size}"
                if f"{name}_{size}" not in names
                else f"{name}_{axis}_{size}"
            )
        return tuple(names)

    def _why_not_stored_so(self, node: ArrayNode, stored: Stored, size: int, is_chunked: bool) -> str:
        """Return why the chunks of an array are not what its codecs read; empty where they are.

        Parameters
        ----------
        size
            Bytes of a chunk.
        """
        if not len(stored):
            return ""
        is_packed = bool(node.codecs)
        if is_packed and size > LIMITS.chunk_size:
            return f"a chunk of it has more than {LIMITS.chunk_size} bytes (chunk_size)"
        if not is_packed and (stored.sizes < size).any():
            return "not all of its elements were written"
        grid = np.array(node.grid.grid_shape, np.int64)
        if (stored.coords < 0).any() or (stored.coords >= grid).any():
            return "chunks of it lie outside of it"
        if not is_packed and not is_chunked:
            return ""
        # What is wrong with the chunk of one array says nothing of others: each of them is looked at then.
        key = node.known_dtype.str, is_packed, is_chunked
        if key in self._proved:
            return ""
        number = int(np.argmax(stored.offsets))
        candidate = Candidate(node, node.path, stored, number, (), node.shape)
        why = refuted(self.file, candidate, self.token)
        if not why:
            self._proved.add(key)
        elif is_packed and (flaw := self._stream_flaw(stored, number)):
            # HDF4 does not look at the checksum, and gives values of it: references lead to an error.
            self._tell_damaged(node.path, stored, number, flaw)
            return ""
        return why

    def _stream_flaw(self, stored: Stored, number: int) -> str:
        """Return what is wrong with the packed bytes of a chunk, however much they give; empty: nothing."""
        start, size = int(stored.offsets[number]), int(stored.sizes[number])
        with LocalBytes(self.file.url) as source:
            starts = range(start, start + size, _PORTION)
            portions = (source.read(at, min(_PORTION, start + size - at)) for at in starts)
            return zlib_flaw(portions, LIMITS.chunk_size)

    def _tell_damaged(self, path: str, stored: Stored, number: int, flaw: str) -> None:
        start, size = int(stored.offsets[number]), int(stored.sizes[number])
        place = Place(path=path, url=self.file.url, start=start, stop=start + size)
        message = f"its chunk {'.'.join(map(str, stored.coords[number].tolist()))} cannot be decoded: {flaw}"
        self.contents.findings.append(
            Finding(severity=Severity.FAULT, kind=ErrorKind.DECODE, message=message, place=place)
        )

    def _add_by_library(
        self, manifest: ManifestBuilder, node: ArrayNode, source: LibrarySource, why: str
    ) -> None:
        place = Place(url=self.file.url, path=node.path)
        message = f"it cannot be referenced: {why}"
        self.findings.append(
            Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place)
        )
        values = Pieces(
            grid=source.grid,
            manifest=SourceManifest(source, node.path, source.grid),
            source=source,
            unreferenced=why,
        )
        manifest.add_node(replace(node, values=values))

    # HDF-EOS2

    def _eos_parts(self) -> dict[str, EosPart]:
        root = self.contents.groups.get("/", {"attributes": ()})
        text = structure_text({name: value for name, value, *_ in root["attributes"]})
        try:
            return {part.name.replace("/", "_"): part for part in eos_parts(text)}
        except ValueError as error:
            self.contents.warn(f"what HDF-EOS2 says of its grids cannot be read: {quoted(error)[1:-1]}", "/")
            return {}

    def _add_axes(self, manifest: ManifestBuilder, parts: Mapping[str, EosPart]) -> None:
        """Add the coordinates of grids beside the arrays that have their dimensions."""
        for (group, name), size in self._sizes.items():
            part = next((parts[each] for each in group.split("/") if each in parts), None)
            axis = None if part is None else next((each for each in part.axes if each.name == name), None)
            path = f"{group}/{name}"
            if axis is None or len(axis.values) != size or path in self.contents.arrays:
                continue
            node = ArrayNode(
                path=path,
                shape=(size,),
                type=DataType.of(axis.values.dtype),
                dimensions=(name,),
                attributes=dict(axis.attributes),
                internal_attributes={DIMENSIONS_ATTRIBUTE: [name]},
                values=Chunks(grid=RegularChunkGrid((size,), (size,))),
            )
            manifest.add_node(node)
            manifest.add_bytes(f"{node.key_prefix}0", axis.values.tobytes())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
