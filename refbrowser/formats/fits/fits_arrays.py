"""Units of FITS as groups and arrays: images and tables as chunks of the file, or read by the library.

Numbers lie in the file one after the other, big-endian, whatever their unit (FITS standard 4.0, section 3.3);
so each array is one chunk, or equal chunks of it where there is much.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.fits.fits_units import Told, Units, UnitSum, attributes_of
from refbrowser.formats.library.library_source import LibrarySource, Tree, asked_grid, data_type_of, dtype_of
from refbrowser.formats.library.process import LibraryFile
from refbrowser.formats.netcdf3.chunks import divided
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks, CodecSpec, Pieces, SourceManifest
from refbrowser.references.document.manifest import ManifestBuilder, unheld_name

#: Data of more bytes is divided, into chunks of about so many; of numbers with an offset, which are decoded
#: whole, of fewer.
_LARGEST, _USUAL, _DECODED = 64 << 20, 16 << 20, 4 << 20
#: Bytes of an array that can be counted.
_MOST = 1 << 62
#: Numbers that have more bits than the codec computes with.
_WIDE = 8
_AXES = ("x", "y", "z")


@dataclass(eq=False)
class FitsArrays:
    """Makes the nodes of a file, and adds them and their chunks to a manifest.

    Attributes
    ----------
    findings
        Which arrays cannot be referenced.
    sources
        What has arrays that are chunks read by the library, by path.
    """

    file: LibraryFile
    units: Units
    findings: list[Finding] = field(init=False, default_factory=list)
    sources: dict[str, LibrarySource] = field(init=False, default_factory=dict)
    _sizes: dict[str, int] = field(init=False, default_factory=dict)
    _sums: dict[str, UnitSum] = field(init=False, default_factory=dict)

    def add_to(self, manifest: ManifestBuilder) -> None:
        """Add all nodes, and all chunks."""
        units = self.units.told
        if not units or units[0].get("kind") != "nothing":
            manifest.add_node(GroupNode())
        for told in units:
            path = f"/{told['unit']}"
            unnamed = unheld_name(path)
            if unnamed is not None:
                self.units.findings.append(unnamed)
                continue
            if told.get("kind") == "nothing":
                path = path if told["number"] else "/"
                manifest.add_node(GroupNode(path=path, **attributes_of(told)))
                continue
            try:
                self._add_unit(manifest, path, told)
            except RefbrowserError as error:
                manifest.add_node(self._broken(path, told, error))
            except (ValueError, TypeError, OverflowError) as error:
                # numpy has no type of two members of one name, or no array of so many elements.
                wrong = RefbrowserError(ErrorKind.META, quoted(error)[1:-1])
                manifest.add_node(self._broken(path, told, wrong))

    def _broken(self, path: str, told: Told, error: RefbrowserError) -> ArrayNode:
        """Return an array of which nothing can be shown but that it is there."""
        self.units.warn(error.message, path, Severity.FAULT)
        error = error.at(Place(path=path, url=self.file.url))
        return ArrayNode(path=path, error=error, type=DataType.of(np.dtype("u1")), **attributes_of(told))

    def _add_unit(self, manifest: ManifestBuilder, path: str, told: Told) -> None:
        if "error" in told:
            raise RefbrowserError(ErrorKind.FORMAT, f"it cannot be read: {quoted(told['error'])}")
        node, tree = self._image(path, told) if told["kind"] == "image" else self._table(path, told)
        shape = node.shape
        if len(shape) > LIMITS.rank:
            raise RefbrowserError(ErrorKind.BUDGET, f"it has more than {LIMITS.rank} dimensions (rank)")
        size = node.known_dtype.itemsize
        if prod(shape) * size > _MOST:
            raise RefbrowserError(ErrorKind.BUDGET, f"it has {prod(shape)} elements")
        is_there = "cut" not in told
        if not is_there:
            has, needs = told["cut"]
            message = f"the file was cut: {has} of the {needs} bytes up to its end are there"
            self.units.warn(message, path, Severity.FAULT)
        why = told.get("why", "")
        if told.get("is_header_wrong"):
            message = "its header does not match its CHECKSUM: a card was changed, or the sum is out of date"
            self.units.warn(message, path)
        if "datasum" in told and is_there:
            self._sums[path] = UnitSum(
                self.file,
                path,
                told["offset"],
                told["span"],
                prod(shape) * size,
                told["datasum"],
                told.get("rest"),
            )
        codecs: tuple[CodecSpec, ...] = ()
        if not why and "unsigned" in told:
            codecs, why = _shift(told)
        sides = _sides(shape, size, _DECODED if codecs else _USUAL, _DECODED if codecs else _LARGEST)
        if codecs and prod(sides) * size > LIMITS.library_tile:
            why = "its numbers are stored with an offset, and cannot be divided into equal chunks"
        if why:
            manifest.add_node(self._by_library(node, tree, why, self._sums.get(path)))
        else:
            grid = RegularChunkGrid(shape, sides)
            values = Chunks(grid=grid, codecs=codecs, witness=self._sums.get(path))
            manifest.add_node(replace(node, values=values))
            self.sources[path] = LibrarySource(self.file, path, tree, asked_grid(shape, None, size))
            if prod(shape):
                self._add_chunks(manifest, node.key_prefix, grid, told["offset"], prod(sides) * size)
        for column in told.get("columns", ()):
            self._add_column(manifest, path, told, column)

    @staticmethod
    def _add_chunks(
        manifest: ManifestBuilder, prefix: str, grid: RegularChunkGrid, offset: int, length: int
    ) -> None:
        """Add the references of the chunks of an array, which follow each other."""
        numbers = np.arange(prod(grid.grid_shape), dtype=np.int64)
        coords = np.zeros((len(numbers), max(len(grid.shape), 1)), np.int64)
        if grid.shape:
            coords[:] = np.stack(np.unravel_index(numbers, grid.grid_shape), axis=1)
        lengths = np.full(len(numbers), length, np.int64)
        manifest.add_ranges(prefix, coords, offset + numbers * length, lengths)

    def _image(self, path: str, told: Told) -> tuple[ArrayNode, Tree]:
        shape, dtype = tuple(told["shape"]), np.dtype(told.get("unsigned") or told["dtype"])
        fields = attributes_of(told)
        said = fields["attributes"]
        if "scale" in told:
            said["scale_factor"], said["add_offset"] = map(float, told["scale"])
        if "units" in told:
            said.setdefault("units", told["units"])
        fill = None
        if "blank" in told:
            said[FILL_ATTRIBUTE] = told["blank"]
            fill = dtype.type(told["blank"])
        axes = [_AXES[axis] if axis < len(_AXES) else f"axis{axis + 1}" for axis in range(len(shape))][::-1]
        node = self._node(path, shape, axes, DataType.of(dtype), fields)
        return replace(node, fill_value=fill), {"kind": "plain", "dtype": dtype.str, "exact": True}

    def _table(self, path: str, told: Told) -> tuple[ArrayNode, Tree]:
        members = []
        width = 0
        for name, code, shape in told["fields"]:
            of: Tree = {"kind": "plain", "dtype": code, "exact": True}
            of = {"kind": "array", "of": of, "shape": shape} if shape else of
            members.append((name, width, of))
            width += dtype_of(of).itemsize
        tree: Tree = {"kind": "structure", "fields": members, "size": width}
        if not members:
            raise RefbrowserError(ErrorKind.META, "the table has no columns")
        return self._node(path, (told["rows"],), ["row"], data_type_of(tree), attributes_of(told)), tree

    def _add_column(self, manifest: ManifestBuilder, path: str, told: Told, column: Told) -> None:
        """Add a column of a table whose elements are not what is stored in the rows, beside the table."""
        tree, shape = column["type"], (told["rows"], *column["shape"])
        where = f"{path}.{column['name']}"
        if (unnamed := unheld_name(where)) is not None or len(shape) > LIMITS.rank:
            if unnamed is not None:
                self.units.findings.append(unnamed)
            return
        axes = ["row", *(f"element{axis}" for axis in range(1, len(shape)))]
        said: dict[str, Any] = {"units": column["units"]} if column["units"] else {}
        if column["fill"] is not None:
            said[FILL_ATTRIBUTE] = column["fill"]
        fields = {"attributes": said, "internal_attributes": {}}
        node = self._node(where, shape, axes, data_type_of(tree), fields)
        if tree["kind"] != "plain":
            fill = "" if tree["kind"] == "string" else np.empty(0, dtype_of(tree["of"]))
            node = replace(node, fill_value=fill)
        elif column["fill"] is not None:
            node = replace(node, fill_value=dtype_of(tree).type(column["fill"]))
        manifest.add_node(self._by_library(node, tree, column["why"], self._sums.get(path)))

    def _node(
        self, path: str, shape: tuple[int, ...], axes: list[str], type: DataType, fields: dict[str, Any]
    ) -> ArrayNode:
        """Return an array with dimensions; those of one name have one size."""
        names = []
        for axis, size in zip(axes, shape, strict=True):
            name = axis if self._sizes.setdefault(axis, size) == size else f"{axis}_{size}"
            names.append(name)
        fields["internal_attributes"][DIMENSIONS_ATTRIBUTE] = names
        return ArrayNode(path=path, shape=shape, type=type, dimensions=tuple(names), **fields)

    def _by_library(self, node: ArrayNode, tree: Tree, why: str, sum: UnitSum | None) -> ArrayNode:
        """Return an array that the library reads."""
        # Rows and texts have more bytes than the places that lead to them.
        size = node.known_dtype.itemsize * (8 if node.known_dtype.hasobject else 1)
        grid = asked_grid(node.shape, None, size)
        source = LibrarySource(self.file, node.path, tree, grid, look=None if sum is None else sum.look)
        place = Place(url=self.file.url, path=node.path)
        message = f"it cannot be referenced: {why}"
        self.findings.append(
            Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place)
        )
        manifest = SourceManifest(source, node.path, grid)
        return replace(node, values=Pieces(grid=grid, manifest=manifest, source=source, unreferenced=why))


def _shift(told: Told) -> tuple[tuple[CodecSpec, ...], str]:
    """Return the codec that takes off the offset of unsigned numbers, or why there is none."""
    decoded, stored = np.dtype(told["unsigned"]), np.dtype(told["dtype"])
    if stored.itemsize >= _WIDE:
        return (), f"its unsigned numbers of {8 * stored.itemsize} bits are stored with an offset"
    settings = {"scale": 1, "offset": told["zero"], "dtype": decoded.str, "astype": stored.str}
    return (CodecSpec("fixedscaleoffset", settings),), ""


def _sides(shape: tuple[int, ...], size: int, wanted: int, most: int) -> tuple[int, ...]:
    """Return the sides of equal chunks that follow each other in the file.

    Parameters
    ----------
    size
        Bytes of an element.
    wanted, most
        Bytes of a chunk, and of data that is not divided.
    """
    sides = [max(side, 1) for side in shape]
    count = 1
    for axis, side in enumerate(sides):
        total = prod(sides[axis:]) * size
        if total <= most or count * side > LIMITS.references:
            break
        sides[axis] = side // divided(side, total, most, wanted)
        if sides[axis] > 1:
            break
        count *= side
    return tuple(sides)
