"""Files of TIFF opened directly: what is shown and read is what tifffile gives."""

from __future__ import annotations

import json
import lzma
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import zarr
from servers.http_server import HttpServer

import refbrowser
from refbrowser.codecs import tiff_codes
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.reference import ReferenceKind

tifffile = pytest.importorskip("tifffile")

RNG = np.random.default_rng(7)
STACK = RNG.integers(0, 1000, (5, 70, 90)).astype("u2")
COLOURS = RNG.integers(0, 255, (70, 90, 3)).astype("u1")
MANY = RNG.integers(0, 99, (2, 3, 2, 20, 30)).astype("u1")
TILED = {"tile": (32, 32), "compression": "zlib"}
#: By name: the array, how it is written, a word of why it cannot be referenced, the chunk.
LAYOUTS: dict[str, tuple[npt.NDArray[Any], dict[str, Any], str, tuple[int, ...]]] = {
    "plain": (STACK, {}, "", (1, 70, 90)),
    "tiled": (STACK, TILED, "", (1, 32, 32)),
    "tiles as they are": (STACK, {"tile": (32, 16)}, "", (1, 32, 16)),
    "strips": (STACK, {"rowsperstrip": 7, "compression": 32946}, "", (1, 7, 90)),
    "big-endian": (STACK.astype(">u2"), {**TILED, "byteorder": ">", "bigtiff": True}, "", (1, 32, 32)),
    "short strip": (STACK, {"rowsperstrip": 16, "compression": "zlib"}, "", (1, 16, 90)),
    "short strips of many pages": (
        np.zeros((70, 3, 5), "u1"), {"rowsperstrip": 2, "compression": "zlib"}, "last strip has 1 rows",
        (1, 2, 5)),
    "short strip as it is": (STACK[0], {"rowsperstrip": 16}, "", (70, 90)),
    "predictor": (STACK, {**TILED, "predictor": 2}, "", (1, 32, 32)),
    "predictor of colours": (COLOURS, {**TILED, "photometric": "rgb", "predictor": 2}, "", (32, 32, 3)),
    "predictor of rows": (
        STACK[0], {"rowsperstrip": 1, "compression": "zlib", "predictor": 2}, "", (1, 90)),
    "colours": (COLOURS, {**TILED, "photometric": "rgb"}, "", (32, 32, 3)),
    "planes": (np.moveaxis(COLOURS, 2, 0), {**TILED, "photometric": "rgb", "planarconfig": "separate"}, "",
               (1, 32, 32)),
    "bits": (STACK[0] > 500, {}, "1 bits", (70, 90)),
    "volume": (RNG.integers(0, 9, (20, 33, 40)).astype("u1"),
               {"tile": (16, 16, 16), "volumetric": True, "compression": "zlib"}, "", (16, 16, 16)),
    "floats": (RNG.random((20, 30)).astype("f4"), TILED, "", (32, 32)),
    "one row": (np.arange(10.0), {}, "", (10,)),
    "imagej": (MANY, {"imagej": True, "metadata": {"axes": "TZCYX"}}, "", (1, 1, 1, 20, 30)),
    "ome": (MANY, {"ome": True, "metadata": {"axes": "TZCYX"}}, "", (1, 1, 1, 20, 30)),
}  # fmt: skip
GDAL = '<GDALMetadata><Item name="A">b</Item><Item name="C" sample="0">d</Item></GDALMetadata>'
GEO = [
    (33550, "d", 3, (10.0, 20.0, 0.0), True),
    (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 4e6, 0.0), True),
    (34735, "H", 16, (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633), True),
    (42112, "s", 0, GDAL, True),
    (42113, "s", 0, "-9999", True),
]  # fmt: skip


def write_pyramid(path: Path) -> npt.NDArray[Any]:
    """Write a GeoTIFF with two overviews."""
    values = RNG.random((256, 300)).astype("f4")
    with tifffile.TiffWriter(path) as file:
        file.write(values, subifds=2, extratags=GEO, description="heights", **TILED)
        for step in (2, 4):
            file.write(values[::step, ::step], subfiletype=1, **TILED)
    return values


def encoded(values: npt.NDArray[Any], pack: Any) -> Iterator[bytes]:
    """Yield tiles of 32 by 32."""
    for y in range(0, len(values), 32):
        for x in range(0, values.shape[1], 32):
            yield pack(values[y : y + 32, x : x + 32].tobytes())


@pytest.mark.slow
def test_layouts_are_read_as_tifffile_reads_them(tmp_path: Path) -> None:
    for name, (values, options, why, chunk) in LAYOUTS.items():
        path = tmp_path / "a.tif"
        tifffile.imwrite(path, values, **options)
        with refbrowser.open(str(path)) as dataset, tifffile.TiffFile(path) as file:
            assert dataset.format == "tiff"
            assert list(dataset.arrays) == ["/image"]
            array = dataset["/image"]
            node, series = array.node, file.series[0]
            expected = series.asarray()
            assert (node.shape, "".join(map(str, node.dimensions))) == (series.shape, series.axes), name
            assert node.known_dtype.newbyteorder("=") == expected.dtype, name
            assert np.array_equal(array[...], expected), name
            some = tuple(slice(1, None, 2) for _ in node.shape)
            assert np.array_equal(array[some], expected[some]), name
            assert (why in node.not_referencable, bool(node.not_referencable)) == (True, bool(why)), name
            assert node.grid.chunk_shape == chunk, name
            assert not dataset.document.notes, name


def test_compressions_of_others(tmp_path: Path) -> None:
    from PIL import Image
    from zstandard import ZstdCompressor

    values = (np.add.outer(np.arange(96), np.arange(64)) // 3).astype("<u2")
    values[20:70] = RNG.integers(0, 60000, (50, 64))
    tiled = {"shape": values.shape, "dtype": values.dtype, "tile": (32, 32)}
    for name, pack in {"zstd": ZstdCompressor().compress, "lzma": lzma.compress}.items():
        path = tmp_path / f"{name}.tif"
        tifffile.imwrite(path, encoded(values, pack), compression=name, **tiled)
        with refbrowser.open(str(path)) as dataset:
            assert [each.name for each in dataset["/image"].node.codecs] == [name]
            assert np.array_equal(dataset["/image"][...], values)
    for name in ("lzw", "packbits"):
        path = tmp_path / f"{name}.tif"
        Image.fromarray(values).save(path, compression=name.replace("lzw", "tiff_lzw"))
        with refbrowser.open(str(path)) as dataset:
            assert [each.name for each in dataset["/image"].node.codecs] == [f"imagecodecs_{name}"]
            assert np.array_equal(dataset["/image"][...], values), name
    # What the file says is zlib is not.
    path = tmp_path / "wrong.tif"
    tifffile.imwrite(path, encoded(values, lzma.compress), compression="zlib", **tiled)
    with refbrowser.open(str(path)) as dataset:
        assert "the library cannot read its chunk 0.0" in dataset["/image"].node.not_referencable
        with pytest.raises(RefbrowserError, match="TIFF cannot be read"):
            dataset["/image"][...]


def test_geotiff_has_overviews_coordinates_and_what_gdal_says(tmp_path: Path) -> None:
    path = tmp_path / "a.tiff"
    values = write_pyramid(path)
    with refbrowser.open(str(path)) as dataset:
        groups = ["", "/overview_1", "/overview_2"]
        names = ("image", "Y", "X", "spatial_ref")
        assert list(dataset.arrays) == [f"{group}/{name}" for group in groups for name in names]
        for group, step in zip(groups, (1, 2, 4), strict=True):
            assert np.array_equal(dataset[f"{group}/image"][...], values[::step, ::step])
            assert dataset[f"{group}/X"][:2].tolist() == [500000 + 5 * step, 500000 + 15 * step]
            assert dataset[f"{group}/Y"][:2].tolist() == [4e6 - 10 * step, 4e6 - 30 * step]
            transform = dataset[f"{group}/spatial_ref"].node.attributes["GeoTransform"]
            assert [*map(float, transform.split())] == [500000, 10 * step, 0, 4e6, 0, -20 * step]
        node = dataset["/image"].node
        said = {
            "ImageDescription": "heights", "A": "b", "band_0_C": "d", "ProjectedCSTypeGeoKey": 32633,
            "ModelPixelScale": [10.0, 20.0, 0.0], "_FillValue": -9999.0,
        }  # fmt: skip
        assert said.items() <= node.attributes.items()
        assert node.fill_value == -9999
        assert dataset["/X"].node.attributes == {"standard_name": "projection_x_coordinate", "units": "m"}


def write_like_gdal(path: Path, values: npt.NDArray[Any], *, nodata: str, **options: Any) -> None:
    """Write tiles of 32 by 32, compressed by LZW after a predictor, of which the first row is not stored."""
    prepared = tiff_codes.floats_prepared if values.dtype.kind == "f" else tiff_codes.differences

    def pack(data: bytes) -> bytes:
        return tiff_codes.lzw_encoded(prepared(np.frombuffer(data, values.dtype).reshape(32, 32), -1))

    role = '<Item name="{}" sample="0" role="{}">{}</Item>'
    said = "".join(role.format(*each) for each in (("SCALE", "scale", "0.5"), ("OFFSET", "offset", "2")))
    matrix = (10.0, 0.0, 0.0, 500.0, 0.0, 20.0, 0.0, 900.0, *[0.0] * 7, 1.0)
    tags = [
        (34264, "d", 16, matrix, True),
        (34735, "H", 12, (1, 1, 0, 2, 1024, 0, 1, 1, 3076, 0, 1, 9003), True),
        (42112, "s", 0, f"<GDALMetadata>{said}</GDALMetadata>", True),
        (42113, "s", 0, nodata, True),
        (50844, "d", 92, tuple(map(float, range(92))), True),
    ]
    with tifffile.TiffWriter(path) as file:
        # Without imagecodecs the library writes neither floats that are prepared nor LZW.
        dtype = "<i4" if values.dtype.kind == "f" else values.dtype
        written = {"shape": values.shape, "dtype": dtype, "tile": (32, 32), "compression": "zlib"}
        file.write(encoded(values, pack), **written, predictor=2, extratags=tags, metadata=None, **options)
        file.write(values > 9, subfiletype=4, photometric="mask", metadata=None)
    with tifffile.TiffFile(path, mode="r+") as file:
        tags = file.pages[0].tags
        for tag in (tags["TileOffsets"], tags["TileByteCounts"]):
            tag.overwrite((0, 0, *tag.value[2:]))
        tags["Compression"].overwrite(5)
        if values.dtype.kind == "f":
            tags["Predictor"].overwrite(3)
            tags["SampleFormat"].overwrite(3)


def test_files_as_gdal_writes_them(tmp_path: Path) -> None:
    """Tiles that are not stored are what GDAL says, whoever reads them; masks, scales, places are known."""
    path = tmp_path / "a.tif"
    for dtype, nodata, value in (
        ("<f4", "-3.4028234663852886e+38", np.finfo("f4").min),
        ("<f4", "nan", np.nan),
        ("<i8", "-9.2233720368547758e+18", np.iinfo("i8").min),
        ("<i2", "-32768", -32768),
        # It cannot be: GDAL takes what is next to it.
        ("<u1", "300", 255),
    ):
        values = np.arange(64 * 64).reshape(64, 64).astype(dtype)
        write_like_gdal(path, values, nodata=nodata)
        values[:32] = value
        with refbrowser.open(str(path)) as dataset:
            assert not dataset.document.notes
            assert list(dataset.arrays) == ["/image", "/Y", "/X", "/mask"]
            array, said = dataset["/image"], dataset["/image"].node.attributes
            assert len(array.node.codecs) == 2
            assert np.array_equal(array[...], values, equal_nan=True), nodata
            origin: Any = dataset.document.origin
            by_library = origin.sources["/image"]._read((0, 0), (40, 40))
            assert np.array_equal(by_library, values[:40, :40], equal_nan=True), nodata
            assert (said["scale_factor"], said["add_offset"]) == (0.5, 2)
            assert said["RPCCoefficientTag"] == list(range(92))
            assert ("_FillValue" in said, said.get("GDAL_NODATA")) == (
                nodata != "300",
                {"300": "300"}.get(nodata),
            )
            assert dataset["/Y"][:2].tolist() == [910, 930]
            assert dataset["/X"].node.attributes["units"] == "US_survey_foot"
            assert dataset["/mask"][...].dtype == bool


def test_numbers_of_few_bits_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    rows = [[1, 2, 3, 4, 15], [0, 9, 8, 7, 6]]
    packed = bytes.fromhex("1234f0098760")
    tifffile.imwrite(path, iter([packed]), shape=(2, 5), dtype="u1", compression="zlib", metadata=None)
    with tifffile.TiffFile(path, mode="r+") as file:
        for name, value in (("BitsPerSample", 4), ("Compression", 1)):
            file.pages[0].tags[name].overwrite(value)
    with refbrowser.open(str(path)) as dataset:
        assert "4 bits" in dataset["/image"].node.not_referencable
        assert dataset["/image"][...].tolist() == rows


def test_references_are_those_of_tifffile(tmp_path: Path) -> None:
    for name in ("plain", "tiled", "strips", "colours", "planes", "volume", "tiles as they are"):
        path = tmp_path / "a.tif"
        tifffile.imwrite(path, LAYOUTS[name][0], **LAYOUTS[name][1])
        target = tmp_path / "theirs.json"
        with tifffile.TiffFile(path) as file, file.aszarr() as store:
            store.write_fsspec(target, url=str(tmp_path))
        theirs = {key: value for key, value in json.loads(target.read_bytes()).items() if key[0] != "."}
        with refbrowser.open(str(path)) as dataset:
            made = json.loads(b"".join(dataset.document.expansion.to_version0(False)))
        chunks = {key: value for key, value in made.items() if key.startswith("image/") and "/." not in key}
        mine = {key.removeprefix("image/"): value for key, value in chunks.items()}
        assert mine == theirs, name


def test_missing_tiles_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    values = np.zeros((64, 96), "u2")
    values[:32, :32] = 5
    tifffile.imwrite(path, values, tile=(32, 32))
    with tifffile.TiffFile(path, mode="r+") as file:
        tags = file.pages[0].tags
        for tag in (tags["TileOffsets"], tags["TileByteCounts"]):
            tag.overwrite((tag.value[0], 0, tag.value[2], 0, 0, 0))
    with refbrowser.open(str(path)) as dataset:
        node = dataset["/image"].node
        kinds = [
            [ReferenceKind.RANGE, ReferenceKind.MISSING, ReferenceKind.RANGE],
            [ReferenceKind.MISSING] * 3,
        ]
        assert node.manifest.kinds().tolist() == kinds
        assert node.fill_value == 0


def test_short_tiles_are_errors_and_no_fill(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    for options in ({}, {"compression": "zlib"}):
        tifffile.imwrite(path, np.full((64, 64), 5, "u2"), tile=(32, 32), **options)
        with tifffile.TiffFile(path, mode="r+") as file:
            tag = file.pages[0].tags["TileByteCounts"]
            tag.overwrite((tag.value[0] // 2, *tag.value[1:]))
        with refbrowser.open(str(path)) as dataset:
            assert (dataset["/image"][32:] == 5).all()
            for part in (slice(0, 4), slice(0, 32)):
                with pytest.raises(RefbrowserError):
                    dataset["/image"][part]


@pytest.mark.slow
def test_exports_have_the_values(tmp_path: Path) -> None:
    for name in ("predictor of colours", "bits", "tiled", "short strip"):
        path, target = tmp_path / "a.tif", tmp_path / f"{name}.json"
        tifffile.imwrite(path, LAYOUTS[name][0], **LAYOUTS[name][1])
        with refbrowser.open(str(path)) as dataset:
            report = refbrowser.export(dataset, str(target), format="refs-v1")
        needed = [loss.what for loss in report.losses if "imagecodecs" in loss.what]
        told = ["other software reads it with the package imagecodecs (imagecodecs_delta)"]
        assert needed == told * name.startswith("predictor")
        with refbrowser.open(str(target), allow=[str(tmp_path)]) as again:
            assert np.array_equal(again["/image"][...], LAYOUTS[name][0]), name
    # Stores have codecs that everybody reads.
    tifffile.imwrite(path, LAYOUTS["predictor"][0], **LAYOUTS["predictor"][1])
    for format in ("zarr-v2", "zarr-v3"):
        with refbrowser.open(str(path)) as dataset:
            report = refbrowser.export(dataset, str(tmp_path / format), format=format)
        assert "codec imagecodecs_delta is written as zstd, which every reader knows" in {
            loss.what for loss in report.losses
        }
        assert np.array_equal(zarr.open_group(tmp_path / format)["image"][...], STACK)


def test_a_remote_file_takes_few_requests(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    values = write_pyramid(path)
    lzw = tmp_path / "b.tif"
    tifffile.imwrite(lzw, STACK, **{**TILED, "predictor": 2})
    with HttpServer({"/a.tif": path.read_bytes(), "/b.tif": lzw.read_bytes()}) as server:
        with refbrowser.open(server.url("/a.tif")) as dataset:
            assert server.request_count <= 2
            assert np.array_equal(dataset["/overview_1/image"][...], values[::2, ::2])
        with refbrowser.open(server.url("/b.tif")) as dataset:
            assert np.array_equal(dataset["/image"][1:, 3:50], STACK[1:, 3:50])


def test_cut_files_tell_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, STACK, tile=(32, 32))
    data = path.read_bytes()
    whole = 0
    for size in (8, 100, 400, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        try:
            with refbrowser.open(str(path)) as dataset:
                assert dataset.document.notes
                for array in dataset.arrays.values():
                    try:
                        values = array[...]
                        # Of pages of which the tags are lost nobody knows.
                        assert any(np.array_equal(values, each) for each in (STACK, STACK[0])), size
                        whole += 1
                    except RefbrowserError as error:
                        assert error.kind in (ErrorKind.FORMAT, ErrorKind.RANGE, ErrorKind.SOURCE), error  # noqa: PT017
        except RefbrowserError as error:
            assert error.kind is ErrorKind.FORMAT  # noqa: PT017
    assert whole == 2


def page(tags: dict[int, tuple[int, int, int]], after: int = 0) -> bytes:
    """Return a page: by tag its type, how many values, and the value or where they are."""
    entries = b"".join(struct.pack("<HHII", tag, *said) for tag, said in sorted(tags.items()))
    return struct.pack("<H", len(tags)) + entries + struct.pack("<I", after)


def small(**changes: tuple[int, int, int]) -> dict[int, tuple[int, int, int]]:
    """Return the tags of a page of 4 by 4 bytes at offset 8."""
    tags = {256: (4, 1, 4), 257: (4, 1, 4), 258: (3, 1, 8), 259: (3, 1, 1), 262: (3, 1, 1),
            273: (4, 1, 8), 277: (3, 1, 1), 278: (4, 1, 4), 279: (4, 1, 16)}  # fmt: skip
    return tags | {int(name[1:]): said for name, said in changes.items()}


def test_hostile_files_cost_themselves_alone(tmp_path: Path) -> None:
    pixels = bytes(range(16))
    size = len(page(small()))
    start = 8 + len(pixels)
    huge = 0xFFFFFFF0
    many = b"".join(page(small(), start + number * size) for number in range(1, 150))
    cases = {
        "a loop": page(small(), start),
        "a loop of two": page(small(), start + size) + page(small(), start),
        "a loop behind many": many + page(small(), start + 120 * size),
        "a chain that leaves the file": page(small(), huge),
        "an offset behind the end": page(small(_273=(4, 1, huge))),
        "more strips than there are": page(small(_273=(4, huge, 8))),
        "a huge picture": page(small(_256=(4, 1, huge), _257=(4, 1, huge), _278=(4, 1, huge))),
        "a picture of many strips": page(small(_257=(4, 1, huge), _278=(4, 1, 1))),
        "no rows in a strip": page(small(_278=(4, 1, 0))),
        "no width": page(small(_256=(4, 1, 0))),
        "many samples": page(small(_277=(3, 1, 65535))),
        "bits of no number": page(small(_258=(3, 1, 77))),
        "itself below": page({**small(), 330: (4, 1, start)}),
        "a description of what is not there": page({**small(), 270: (2, huge, 8)}),
        "a good page and one that is none": page(small(), start + size) + b"\xff\xff" + bytes(50),
    }  # fmt: skip
    kinds = (ErrorKind.FORMAT, ErrorKind.META, ErrorKind.DECODE, ErrorKind.RANGE, ErrorKind.BUDGET)
    good = []
    for name, pages in cases.items():
        path = tmp_path / "a.tif"
        path.write_bytes(b"II*\0" + struct.pack("<I", start) + pixels + pages)
        try:
            with refbrowser.open(str(path)) as dataset:
                for array in dataset.arrays.values():
                    values = array[tuple(slice(0, 4) for _ in array.shape)]
                    if np.asarray(values).reshape(-1)[:16].tobytes() == pixels:
                        good.append(name)
        except RefbrowserError as error:
            assert error.kind in kinds, name  # noqa: PT017
    circle = b"II*\0" + struct.pack("<I", start) + pixels + cases["a loop behind many"]
    with HttpServer({"/a.tif": circle}) as server, refbrowser.open(server.url("/a.tif")) as dataset:
        assert any("form a cycle" in each.message for each in dataset.document.notes)
        assert dataset["/image"].shape == (150, 4, 4)
    assert {
        "a loop",
        "a loop of two",
        "a loop behind many",
        "a chain that leaves the file",
        "itself below",
    } <= set(good), good
    assert {"a description of what is not there", "a good page and one that is none"} <= set(good), good
