"""Series of pages of TIFF as arrays: tiles or strips in the file, or read by the library, with why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.library.chunk_proof import Candidate, Stored, refuted
from refbrowser.formats.library.library_source import LibrarySource, asked_grid, read_boxes
from refbrowser.formats.library.process import LibraryFile
from refbrowser.formats.tiff.tiff_contents import TiffContents, Told
from refbrowser.formats.tiff.tiff_crs import GRID_MAPPING, grid_mapping
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.loading import to_install
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks, CodecSpec, Pieces, SourceManifest
from refbrowser.references.document.manifest import ManifestBuilder

#: Compressions that the codecs of Zarr read; those of the specification need no proof over a network.
_CODECS = {
    8: CodecSpec("zlib", {"level": 6}),
    32946: CodecSpec("zlib", {"level": 6}),
    34925: CodecSpec("lzma", {"format": 1, "check": -1, "preset": None, "filters": None}),
    50000: CodecSpec("zstd", {"level": 9}),
    **{
        number: CodecSpec(f"imagecodecs_{name}")
        for name, numbers in {
            "lzw": (5,),
            "packbits": (32773,),
            "jpeg": (7, 33007, 34892),
            "jpeg2k": (33003, 33004, 33005, 34712),
            "lerc": (34887,),
            "webp": (50001,),
        }.items()
        for number in numbers
    },
}
_STANDARD = (1, 5, 8, 32773, 32946)
_PREDICTORS = {2: "differences along each row", 3: "differences of the bytes of floats along each row"}
_DIFFERENCES, _OF_FLOATS = 2, 3
#: Attributes that are not shown and told one by one.
_NAMED = 20

#: Last strips that are read at opening, where they are shorter than the others: how many, far and here, and
#: their bytes as whole chunks.
_FAR, _HERE, _PADDED = 8, 64, 1 << 20
#: Rows or columns of which the coordinates are made.
_MOST = 1 << 16
_PROJECTED, _GEOGRAPHIC = 1, 2
_POINTS = 2
_NAMES = {
    (_PROJECTED, "X"): {"standard_name": "projection_x_coordinate"},
    (_PROJECTED, "Y"): {"standard_name": "projection_y_coordinate"},
    (_GEOGRAPHIC, "X"): {"standard_name": "longitude", "units": "degrees_east"},
    (_GEOGRAPHIC, "Y"): {"standard_name": "latitude", "units": "degrees_north"},
}
#: Units of lengths (EPSG), as udunits calls them; metres where nothing is said.
_METRE = 9001
_UNITS = {_METRE: "m", 9002: "foot", 9003: "US_survey_foot"}


@dataclass(eq=False)
class TiffArrays:
    """Makes the nodes of a file, and adds them and their chunks to a manifest.

    Attributes
    ----------
    findings
        Which arrays cannot be referenced.
    sources
        What has arrays that are chunks here read by the library, by path.
    """

    file: LibraryFile
    contents: TiffContents
    size: int
    is_remote: bool
    token: CancelToken | None
    findings: list[Finding] = field(init=False, default_factory=list)
    sources: dict[str, LibrarySource] = field(init=False, default_factory=dict)

    def add_to(self, manifest: ManifestBuilder) -> None:
        """Add all nodes, and all chunks."""
        groups = {"": None}
        for path in self.contents.arrays:
            parts = path.split("/")[1:-1]
            groups |= {"/".join(parts[: count + 1]): None for count in range(len(parts))}
        for group in groups:
            manifest.add_node(GroupNode(path=f"/{group}"))
        first: dict[str, Told] = {}
        for path, told in self.contents.arrays.items():
            stored, padded = None, dict[str, bytes]()
            try:
                node, stored, padded = self._array(path, told)
            except RefbrowserError as error:
                node = self._broken(path, error)
            mapped: dict[str, Any] = {}
            series = path.rpartition("/")[0].partition("/overview_")[0]
            if node.error is None and node.name == "image":
                mapped = grid_mapping(first.setdefault(series, told)["geo"], _transform(first[series], told))
                # Of what is named in `coordinates` xarray makes coordinates, where rioxarray looks.
                names = ("grid_mapping", "coordinates") if mapped else ()
                node = replace(node, attributes={**node.attributes, **dict.fromkeys(names, GRID_MAPPING)})
            manifest.add_node(node)
            for key, data in padded.items():
                manifest.add_bytes(key, data)
            if stored is not None and len(stored):
                manifest.add_ranges(node.key_prefix, stored.coords, stored.offsets, stored.sizes)
            if node.error is None and node.name == "image":
                for each, data in _coordinates(node, first[series], told):
                    manifest.add_node(each)
                    manifest.add_bytes(f"{each.key_prefix}0", data)
            if mapped:
                each = _mapping_node(node, mapped)
                manifest.add_node(each)
                manifest.add_bytes(f"{each.key_prefix}0", bytes(4))

    def _broken(self, path: str, error: RefbrowserError) -> ArrayNode:
        """Return an array of which nothing can be shown but that it is there."""
        self.contents.warn(error.message, path, Severity.FAULT)
        error = error.at(Place(path=path, url=self.file.url))
        return ArrayNode(path=path, error=error, type=DataType.of(np.dtype("u1")))

    def _array(self, path: str, told: Told) -> tuple[ArrayNode, Stored | None, dict[str, bytes]]:
        """Return an array, its chunks where they are referenced, and those that are made."""
        if "error" in told:
            raise RefbrowserError(ErrorKind.FORMAT, f"the image cannot be read: {quoted(told['error'])}")
        shape, dtype = tuple(told["shape"]), np.dtype(told["dtype"])
        if len(shape) > LIMITS.rank:
            raise RefbrowserError(ErrorKind.BUDGET, f"it has more than {LIMITS.rank} dimensions (rank)")
        dimensions = _dimensions(told["axes"])
        attributes, fill = self._attributes(path, told, dtype)
        node = ArrayNode(
            path=path,
            shape=shape,
            type=DataType.of(dtype),
            dimensions=dimensions,
            attributes=attributes,
            internal_attributes={DIMENSIONS_ATTRIBUTE: list(dimensions)},
            fill_value=fill,
            fill_marks=False,
            values=Chunks(grid=asked_grid(shape, None, dtype.itemsize)),
        )
        stored = None
        why = told["why"] or told["missing"]
        codecs: tuple[CodecSpec, ...] = ()
        if not why:
            stored = Stored.of(self.contents.chunks[path], len(shape))
            found = _codecs(told, dtype)
            why, codecs = (found, ()) if isinstance(found, str) else ("", found)
        if not why and stored is not None:
            grid = RegularChunkGrid(shape, tuple(told["sides"]))
            node = replace(node, values=Chunks(grid=grid, codecs=codecs))
            stored, last = _parted(stored, grid, told["short"])
            why = self._why_not_proved(node, path, told, stored)
        if not why and stored is not None:
            self._look_behind_the_end(path, stored)
            source = self._source(node, asked_grid(shape, node.grid.regular.chunk_shape, dtype.itemsize))
            padded = self._padded(node, source, last, told["short"])
            if not isinstance(padded, str):
                self.sources[path] = source
                return node, stored, padded
            why = padded
        return self._by_library(node, path, told, why), None, {}

    def _padded(
        self, node: ArrayNode, source: LibrarySource, last: npt.NDArray[np.int64], short: list[int]
    ) -> dict[str, bytes] | str:
        """Return last strips, which are shorter, as whole chunks; or why they are not made.

        Parameters
        ----------
        last
            Their coordinates.
        short
            As the library tells it: an axis, their rows, and those of the others.
        """
        grid = node.grid
        size = prod(grid.regular.chunk_shape) * node.known_dtype.itemsize
        if not len(last):
            return {}
        _, rows, usual = short
        why = f"its last strip has {rows} rows, the others {usual}: chunks of Zarr are all alike"
        if len(last) > (_FAR if self.is_remote else _HERE) or len(last) * size > _PADDED:
            return why
        coords = [tuple(each) for each in last.tolist()]
        found = read_boxes([(source, grid.origin(each), grid.extent(each)) for each in coords], self.token)
        made = {}
        try:
            pipeline = CodecPipeline.for_array(node)
            for each, values in zip(coords, found, strict=True):
                if isinstance(values, RefbrowserError):
                    return why
                chunk = np.full(grid.regular.chunk_shape, node.fill_value or 0, node.known_dtype)
                chunk[tuple(map(slice, values.shape))] = values
                made[node.key_prefix + ".".join(map(str, each))] = pipeline.encode(chunk)
        except (RefbrowserError, ValueError):
            # It is no codec that encodes.
            return why
        return made

    def _attributes(self, path: str, told: Told, dtype: np.dtype[Any]) -> tuple[dict[str, Any], Any]:
        """Return attributes, and what missing elements hold."""
        found: dict[str, Any] = {}
        unshown = 0
        for name, value, why in told["attributes"]:
            if why:
                unshown += 1
                if unshown <= _NAMED:
                    self.contents.warn(f"its attribute {quoted(name)} is not shown: {why}", path)
            else:
                found[name] = value
        found |= {name: value for name, value in told["geo"].items() if name not in found}
        fill = dtype.type(told["unstored"]) if "unstored" in told else None
        if told["nodata"] is not None:
            fill = dtype.type(told["nodata"])
            found[FILL_ATTRIBUTE] = fill.item()
        elif told["said_nodata"] is not None:
            found["GDAL_NODATA"] = str(told["said_nodata"])
        return found, fill

    def _by_library(self, node: ArrayNode, path: str, told: Told, why: str) -> ArrayNode:
        """Return an array that the library reads."""
        dtype = node.known_dtype
        sides = tuple(told["sides"]) if told["sides"] else None
        grid = asked_grid(node.shape, sides, dtype.itemsize)
        if told["missing"]:
            is_there = find_spec("imagecodecs") is not None
            error = RefbrowserError(
                ErrorKind.META,
                f"no installed package decodes {quoted(told['missing'])}",
                Place(path=path, url=self.file.url),
                # It has all codecs that there are.
                "" if is_there else to_install("refbrowser[tiff]"),
            )
            return replace(node, values=Chunks(grid=grid), unreadable=error)
        source = self._source(node, grid)
        place = Place(url=self.file.url, path=path)
        message = f"it cannot be referenced: {why}"
        self.findings.append(
            Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place)
        )
        manifest = SourceManifest(source, path, grid)
        return replace(node, values=Pieces(grid=grid, manifest=manifest, source=source, unreferenced=why))

    def _source(self, node: ArrayNode, grid: RegularChunkGrid) -> LibrarySource:
        tree = {"kind": "plain", "dtype": node.known_dtype.str, "exact": True}
        return LibrarySource(self.file, node.path, tree, grid)

    def _why_not_proved(self, node: ArrayNode, path: str, told: Told, stored: Stored) -> str:
        """Return why the chunks of an array are not what its codecs read; empty where they are."""
        if not node.codecs or not len(stored):
            return ""
        if self.is_remote and told["compression"] in _STANDARD:
            return ""
        inside = np.flatnonzero(stored.offsets + stored.sizes <= self.size)
        if not len(inside):
            return ""
        numbers = [int(inside[np.argmin(stored.offsets[inside])])]
        # Some writers leave out what the last tiles have behind the edges of the image.
        is_ragged = any(
            size % side for size, side in zip(node.shape, node.grid.regular.chunk_shape, strict=True)
        )
        if is_ragged and not told["short"]:
            numbers.append(int(inside[np.lexsort(stored.coords[inside].T[::-1])[-1]]))
        whys = (refuted(self.file, Candidate(node, path, stored, number), self.token) for number in numbers)
        return next(filter(None, whys), "")

    def _look_behind_the_end(self, path: str, stored: Stored) -> None:
        count = int(np.count_nonzero(stored.offsets + stored.sizes > self.size))
        if count:
            message = f"{count} of its {len(stored)} tiles or strips are beyond the end of the file"
            self.contents.warn(message, path, Severity.FAULT)


def _parted(stored: Stored, grid: RegularChunkGrid, short: list[int]) -> tuple[Stored, npt.NDArray[np.int64]]:
    """Return chunks without the last strips, and the coordinates of these, where they are shorter."""
    if not short:
        return stored, stored.coords[:0]
    is_last = stored.coords[:, short[0]] == grid.grid_shape[short[0]] - 1
    return stored.only(~is_last), stored.coords[is_last]


def _dimensions(axes: str) -> tuple[str, ...]:
    """Return names of dimensions: as tifffile has them, those that are there twice with numbers."""

    def names() -> Iterator[str]:
        for at, letter in enumerate(axes):
            before = axes[:at].count(letter)
            yield f"{letter}{before + 1}" if before else letter

    return tuple(names())


def _codecs(told: Told, dtype: np.dtype[Any]) -> tuple[CodecSpec, ...] | str:
    """Return the codecs that read what is stored, or why there are none."""
    compression, predictor = told["compression"], told["predictor"]
    codecs: tuple[CodecSpec, ...] = ()
    if compression != 1:
        if compression not in _CODECS:
            return f"Zarr has no codec for its compression {quoted(told['compression_name'])}"
        codec = _CODECS[compression]
        codecs = (replace(codec, configuration={**codec.configuration, **told["settings"]}),)
    if predictor == 1:
        return codecs
    sides, axes = told["sides"], told["axes"]
    one_row = all(side == 1 for side, letter in zip(sides, axes, strict=True) if letter != "X")
    if predictor == _DIFFERENCES and one_row and dtype.kind in "iu":
        return (CodecSpec("delta", {"dtype": dtype.str, "astype": dtype.str}), *codecs)
    name = {_DIFFERENCES: "delta", _OF_FLOATS: "floatpred"}.get(predictor)
    if name is None or "X" not in axes:
        named = _PREDICTORS.get(predictor, f"predictor {predictor}")
        return f"Zarr has no codec for its predictor: {named}"
    settings = {"axis": axes.index("X") - len(axes), "dist": 1, "shape": list(sides), "dtype": dtype.str}
    return (CodecSpec(f"imagecodecs_{name}", settings), *codecs)


# Coordinates of GeoTIFF (OGC 19-008r4, 7.3 and B.6)


def _coordinates(
    node: ArrayNode, first: Mapping[str, Any], told: Mapping[str, Any]
) -> Iterator[tuple[ArrayNode, bytes]]:
    """Yield the coordinates of an image that lies straight in its coordinate system, and their bytes.

    Parameters
    ----------
    first
        What is told of the image in full size, whose tags say where it lies.
    told
        What is told of this one: the same, or smaller.
    """
    geo = first["geo"]
    straight = _straight(geo)
    if straight is None:
        return
    model, half = geo.get("GTModelTypeGeoKey"), 0.0 if geo.get("GTRasterTypeGeoKey") == _POINTS else 0.5
    group = node.path.rpartition("/")[0]
    for letter, (begin, tie, step) in straight.items():
        if letter not in told["axes"]:
            continue
        count = told["shape"][told["axes"].index(letter)]
        whole = first["shape"][first["axes"].index(letter)]
        if count > _MOST:
            continue
        pixels = (np.arange(count) + half) * (whole / count) - tie
        values = (begin + step * pixels).astype("<f8")
        attributes = dict(_NAMES.get((model, letter), {}))
        unit = _UNITS.get(geo.get("ProjLinearUnitsGeoKey", _METRE))
        if model == _PROJECTED and unit is not None:
            attributes["units"] = unit
        yield (
            ArrayNode(
                path=f"{group}/{letter}",
                shape=(count,),
                type=DataType.of(values.dtype),
                dimensions=(letter,),
                attributes=attributes,
                internal_attributes={DIMENSIONS_ATTRIBUTE: [letter]},
                values=Chunks(grid=RegularChunkGrid((count,), (count,))),
            ),
            values.tobytes(),
        )


def _mapping_node(node: ArrayNode, attributes: dict[str, Any]) -> ArrayNode:
    """Return the variable of the grid mapping of an image: its attributes say all."""
    return ArrayNode(
        path=f"{node.path.rpartition('/')[0]}/{GRID_MAPPING}",
        shape=(),
        type=DataType.of(np.dtype("<i4")),
        attributes=attributes,
        internal_attributes={DIMENSIONS_ATTRIBUTE: []},
        values=Chunks(grid=RegularChunkGrid((), ())),
    )


def _transform(first: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return where an image lies as GDAL spells it: the outer corner of the first pixel, and its sides."""
    straight = _straight(first["geo"])
    if straight is None or not all(letter in told["axes"] for letter in straight):
        return ""
    is_points = first["geo"].get("GTRasterTypeGeoKey") == _POINTS
    corners = {}
    for letter, (begin, tie, step) in straight.items():
        count, whole = (each["shape"][each["axes"].index(letter)] for each in (told, first))
        corners[letter] = begin - step * (tie + 0.5 * is_points), step * whole / count
    (x, dx), (y, dy) = corners["X"], corners["Y"]
    return f"{x!r} {dx!r} 0.0 {y!r} 0.0 {dy!r}"


def _straight(geo: Mapping[str, Any]) -> dict[str, tuple[float, float, float]] | None:
    """Return a coordinate of each axis, its pixel, and the step to the next; None of a turned image."""
    names = ("PixelScale", "Tiepoint", "Transformation")
    scale, tie, matrix = (geo.get(f"Model{name}", ()) for name in names)
    if _numbers(scale, 3) and _numbers(tie, 6) and all(scale[:2]):
        return {"Y": (tie[4], tie[1], -scale[1]), "X": (tie[3], tie[0], scale[0])}
    if _numbers(matrix, 16) and matrix[0] and matrix[5] and not (matrix[1] or matrix[4]):
        return {"Y": (matrix[7], 0.0, matrix[5]), "X": (matrix[3], 0.0, matrix[0])}
    return None


def _numbers(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(np.isfinite(each) for each in value)
