"""Files of HDF4 opened directly: what is shown and read is what pyhdf gives."""

from __future__ import annotations

import contextlib
import json
import zlib
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import zarr
from hdf4_made import HC, HDF, SD, SDC, TYPES, descriptor, make_chunked, write_arrays
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.hdf4.eos_structure import eos_parts
from refbrowser.formats.library import hdf4_layout

VALUES = (np.arange(7 * 10) * 3 - 90).reshape(7, 10)


def write_all(path: Path) -> Path:
    """Write arrays of all types, stored in several ways, with attributes and groups."""
    file = SD.SD(str(path), SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    file.attr("title").set(SDC.CHAR8, "days")
    file.attr("numbers").set(SDC.FLOAT32, [0.5, 2.5])
    file.attr("count").set(SDC.INT32, 3)
    for name, kind in TYPES.items():
        made = file.create(f"of_{name}", kind, list(VALUES.shape))
        made[:] = VALUES.astype(name)
        made.endaccess()
    packed = file.create("packed", SDC.FLOAT32, [7, 10])
    packed.setcompress(SDC.COMP_DEFLATE, 5)
    packed.setfillvalue(-999.0)
    for axis, dimension in enumerate(("lat", "lon")):
        packed.dim(axis).setname(dimension)
    packed.dim(0).setscale(SDC.FLOAT32, [float(each) for each in range(7)])
    packed[:] = VALUES.astype("f4")
    packed.attr("units").set(SDC.CHAR8, "K")
    packed.endaccess()
    texts = file.create("texts", SDC.CHAR8, [2, 3])
    texts[:] = np.frombuffer(b"abcdef", "S1").reshape(2, 3)
    texts.endaccess()
    again = file.create("packed", SDC.INT16, [2])
    again[:] = np.array([5, 6], "i2")
    again.endaccess()
    file.end()
    return path


def own_values(path: Path, number: int) -> Any:
    file = SD.SD(str(path))
    try:
        return np.asarray(file.select(number).get())
    finally:
        file.end()


def notes(dataset: refbrowser.Dataset) -> list[str]:
    return [each.message for each in dataset.document.notes]


@pytest.mark.slow
def test_what_is_shown_is_what_pyhdf_gives(tmp_path: Path) -> None:
    path = write_all(tmp_path / "a.hdf")
    with refbrowser.open(path) as dataset:
        assert dataset.format == "hdf4"
        assert not notes(dataset)
        for number, name in enumerate(TYPES):
            array = dataset[f"/of_{name}"]
            assert array.dtype.str[1:] == name
            assert np.array_equal(array[...], own_values(path, number))
            assert not array.node.not_referencable
        packed = dataset["/packed"]
        assert packed.node.dimensions == ("lat", "lon")
        assert packed.node.attributes["units"] == "K"
        assert packed.node.fill_value == -999
        assert [each.name for each in packed.node.codecs] == ["zlib"]
        assert np.array_equal(packed[...], VALUES.astype("f4"))
        assert dataset["/lat"][...].tolist() == list(range(7))
        assert dataset["/texts"][...].tobytes() == b"abcdef"
        assert dataset["/packed_2"][...].tolist() == [5, 6]
        said = dataset["/"].node.attributes
        assert (said["title"], said["numbers"], said["count"]) == ("days", [0.5, 2.5], 3)


@pytest.mark.slow
@pytest.mark.parametrize("level", [None, 6])
def test_references_lead_to_the_chunks(tmp_path: Path, level: int | None) -> None:
    values = VALUES.astype("i2")
    path, target = write_arrays(tmp_path / "a.hdf", a=values), tmp_path / "a.json"
    make_chunked(path, values, (3, 4), level)
    assert np.array_equal(own_values(path, 0), values)
    (made,) = refbrowser.make(path, target, options=None).made
    assert made.unread == 0
    with refbrowser.open(path) as file, refbrowser.open(target) as dataset:
        assert not file["/a"].node.not_referencable
        assert file["/a"].node.grid.chunk_shape == (3, 4)
        assert np.array_equal(file["/a"][...], values)
        assert np.array_equal(dataset["/a"][...], values)
        assert np.array_equal(file["/a"][2:5, ::3], values[2:5, ::3])
    refs = json.loads(target.read_text())
    for value in refs["refs"].values():
        if isinstance(value, list):
            value[0] = str(path)
    mapper = fsspec.filesystem("reference", fo=refs).get_mapper("")
    assert np.array_equal(zarr.open_group(mapper, mode="r", zarr_format=2)["a"][...], values)


@pytest.mark.slow
def test_a_chunk_that_is_damaged_is_told_where_it_is_read(tmp_path: Path) -> None:
    values = VALUES.astype("i2")
    path = write_arrays(tmp_path / "a.hdf", a=values)
    make_chunked(path, values, (3, 4), 6)
    data = path.read_bytes()
    # The last chunk is looked at when the file is opened.
    for at, told in ((data.rindex(b"\x78\x9c"), 1), (data.index(b"\x78\x9c"), 0)):
        path.write_bytes(data[: at + 3] + bytes([data[at + 3] ^ 0xFF]) + data[at + 4 :])
        with refbrowser.open(path) as dataset:
            assert not dataset["/a"].node.not_referencable
            faults = [each for each in dataset.document.notes if each.kind is ErrorKind.DECODE]
            assert [each.place.start for each in faults] == [at] * told
            with pytest.raises(RefbrowserError) as caught:
                dataset["/a"][...]
            assert caught.value.kind is ErrorKind.DECODE


def write_packed(path: Path, **arrays: Any) -> list[bytes]:
    """Write arrays of one deflated chunk each; return the streams of these."""
    file = SD.SD(str(path), SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    for name, values in arrays.items():
        made = file.create(name, TYPES[values.dtype.str[1:]], list(values.shape))
        made.setcompress(SDC.COMP_DEFLATE, 6)
        made[:] = values
        made.endaccess()
    file.end()
    return [zlib.compress(values.astype(values.dtype.newbyteorder(">")), 6) for values in arrays.values()]


def changed_stream(stream: bytes) -> bytes:
    """Return a stream with one other byte, which gives as many bytes, others, and then the wrong checksum."""
    plain = zlib.decompress(stream)
    for at in range(len(stream) // 2, len(stream)):
        changed = stream[:at] + bytes([stream[at] ^ 1]) + stream[at + 1 :]
        with contextlib.suppress(zlib.error):
            found = zlib.decompressobj().decompress(changed, len(plain))
            if len(found) == len(plain) and found != plain:
                return changed
    raise AssertionError("no byte is such a one")


@pytest.mark.slow
def test_a_damaged_stream_is_no_data_and_says_nothing_of_other_arrays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.hdf"
    random = np.random.default_rng(3)
    first, second = (random.integers(0, 90, 2000).astype("i2") for _ in range(2))
    stream, _ = write_packed(path, first=first, second=second)
    data = path.read_bytes()
    path.write_bytes(data.replace(stream, changed_stream(stream)))
    # pyhdf finds nothing wrong.
    assert not np.array_equal(own_values(path, 0), first)
    with refbrowser.open(path) as dataset:
        (fault,) = dataset.document.notes
        assert (fault.kind, fault.place.path, fault.place.start) == (
            ErrorKind.DECODE,
            "/first",
            data.index(stream),
        )
        assert fault.message.startswith("its chunk 0 cannot be decoded: ")
        assert not dataset["/second"].node.not_referencable
        assert np.array_equal(dataset["/second"][...], second)
    assert main(["read", str(path), "/first"]) == 2
    assert "E_DECODE" in capsys.readouterr().err
    assert main(["check", str(path)]) == 2


@pytest.mark.slow
def test_an_array_that_no_codec_reads_says_nothing_of_others(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf"
    first, second = (np.arange(200, dtype="i2") * factor for factor in (3, 7))
    write_packed(path, first=first, second=second)
    data = bytearray(path.read_bytes())
    # Bytes behind a stream, as rewritten ones leave them, are nothing to HDF4.
    at = descriptor(data, 40) + 8
    data[at : at + 4] = (int.from_bytes(data[at : at + 4], "big") + 4).to_bytes(4, "big")
    path.write_bytes(data)
    with refbrowser.open(path) as dataset:
        assert not [each for each in dataset.document.notes if each.kind is ErrorKind.DECODE]
        why = {name: array.node.not_referencable for name, array in dataset.arrays.items()}
        assert len([each for each in why.values() if "4 bytes follow the stream" in each]) == 1
        assert np.array_equal(dataset["/first"][...], first)
        assert np.array_equal(dataset["/second"][...], second)


@pytest.mark.slow
def test_values_that_pyhdf_cannot_read_are_no_matter_of_the_format(tmp_path: Path) -> None:
    values = VALUES.astype("i2")
    path = write_arrays(tmp_path / "a.hdf", a=values)
    make_chunked(path, values, (3, 4), 6, plain_ones=2)
    data = path.read_bytes()
    at = data.rindex(b"\x78\x9c")
    path.write_bytes(data[: at + 3] + bytes([data[at + 3] ^ 0xFF]) + data[at + 4 :])
    with refbrowser.open(path) as dataset:
        assert dataset["/a"].node.not_referencable
        with pytest.raises(RefbrowserError, match="SDreaddata failure") as caught:
            dataset["/a"][...]
        assert caught.value.kind is ErrorKind.DECODE


@pytest.mark.slow
def test_chunks_that_no_codec_reads_are_left_to_the_library(tmp_path: Path) -> None:
    values = VALUES.astype("i2")
    path = write_arrays(tmp_path / "mixed.hdf", a=values)
    make_chunked(path, values, (3, 4), 6, plain_ones=2)
    with refbrowser.open(path) as dataset:
        assert dataset["/a"].node.not_referencable == "some of its chunks are packed, and others are not"
        assert np.array_equal(dataset["/a"][...], own_values(path, 0))
    path = write_arrays(tmp_path / "outside.hdf", a=values)
    make_chunked(path, values, (3, 4), None, shift=1)
    with refbrowser.open(path) as dataset:
        assert dataset["/a"].node.not_referencable == "chunks of it lie outside of it"


def test_what_was_written_in_part_is_read_by_pyhdf(tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "a.hdf", a=VALUES.astype("i2"))
    data = bytearray(path.read_bytes())
    at = descriptor(data, 702)
    data[at + 8 : at + 12] = (100).to_bytes(4, "big")
    path.write_bytes(data)
    with refbrowser.open(path) as dataset:
        assert dataset["/a"].node.not_referencable == "not all of its elements were written"


@pytest.mark.slow
def test_what_has_no_references_is_read_by_pyhdf(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf"
    file = SD.SD(str(path), SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    rle = file.create("rle", SDC.UINT8, [100])
    rle.setcompress(SDC.COMP_RLE)
    rle[:] = np.repeat(np.arange(10, dtype="u1"), 10)
    rle.endaccess()
    record = file.create("record", SDC.INT32, [SDC.UNLIMITED, 3])
    other = file.create("other", SDC.INT32, [SDC.UNLIMITED, 3])
    for row in range(4):
        record[row] = np.arange(3, dtype="i4") + 10 * row
        other[row] = np.arange(3, dtype="i4") - 10 * row
    record.endaccess()
    other.endaccess()
    unwritten = file.create("unwritten", SDC.FLOAT32, [4])
    unwritten.setfillvalue(-1.0)
    unwritten.endaccess()
    file.end()
    with refbrowser.open(path) as dataset:
        assert "RLE" in dataset["/rle"].node.not_referencable
        for number, name in enumerate(("rle", "record", "other", "unwritten")):
            assert np.array_equal(dataset[f"/{name}"][...], own_values(path, number)), name
        assert dataset["/record"].shape == (4, 3)
        assert dataset["/unwritten"][...].tolist() == [-1] * 4


def test_elements_in_another_file_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf"
    file = SD.SD(str(path), SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    made = file.create("a", SDC.INT16, [4])
    made.setexternalfile(str(tmp_path / "b.dat"))
    made[:] = np.arange(4, dtype="i2")
    made.endaccess()
    file.end()
    said = "in another file, which is not opened"
    with refbrowser.open(path) as dataset, pytest.raises(RefbrowserError, match=said):
        dataset["/a"][...]


@pytest.mark.slow
def test_scale_and_offset_of_hdf4_are_not_taken_for_those_of_cf(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.hdf"
    file = SD.SD(str(path), SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    for name, offset in (("t", -15000.0), ("plain", 0.0)):
        made = file.create(name, SDC.INT16, [3])
        made[:] = np.array([100, 200, 300], "i2")
        made.setcal(0.01, 0.0, offset, 0.0, SDC.FLOAT32)
        assert made.getcal()[:3:2] == (0.01, offset)
        made.endaccess()
    file.end()
    with refbrowser.open(path) as dataset:
        said = dataset["/t"].node.attributes
        assert not {"scale_factor", "add_offset"} & said.keys()
        assert (said["calibration_factor"], said["calibration_offset"]) == (0.01, -15000)
        assert dataset["/plain"].node.attributes["scale_factor"] == 0.01
        assert "in HDF4 scale_factor and add_offset mean" in notes(dataset)[0]
        assert dataset["/t"][...].tolist() == [100, 200, 300]
    assert main(["explain", str(path), "--array", "/t", "--index", "0"]) == 0
    assert "calibration_factor × (stored − calibration_offset) = 151" in capsys.readouterr().out


GRID = """GROUP=SwathStructure
END_GROUP=SwathStructure
GROUP=GridStructure
	GROUP=GRID_1
		GridName="MOD_Grid"
		XDim=4
		YDim=2
		UpperLeftPointMtrs=({corners[0]})
		LowerRightMtrs=({corners[1]})
		Projection={projection}
		ProjParams=(6371007.181000,0,0,0,0,0,0,0,0,0,0,0,0)
		SphereCode=-1
		GROUP=DataField
			OBJECT=DataField_1
				DataFieldName="ndvi"
				DimList=("YDim","XDim")
			END_OBJECT=DataField_1
		END_GROUP=DataField
	END_GROUP=GRID_1
END_GROUP=GridStructure
END
"""
SINUSOIDAL = GRID.format(corners=("0.0,1000.0", "4000.0,-1000.0"), projection="GCTP_SNSOID")
GEOGRAPHIC = GRID.format(
    corners=("-180000000.0,90030000.0", "180000000.0,-90000000.0"), projection="GCTP_GEO"
)


def write_grid(path: Path, text: str) -> Path:
    file = SD.SD(str(path), SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    # It may be divided.
    file.attr("StructMetadata.0").set(SDC.CHAR8, text[:200])
    file.attr("StructMetadata.1").set(SDC.CHAR8, text[200:])
    made = file.create("ndvi", SDC.INT16, [2, 4])
    for axis, name in enumerate(("YDim:MOD_Grid", "XDim:MOD_Grid")):
        made.dim(axis).setname(name)
    made[:] = np.arange(8, dtype="i2").reshape(2, 4)
    ref = made.ref()
    made.endaccess()
    file.end()
    groups = HDF.HDF(str(path), HC.WRITE)
    members = groups.vgstart()
    outer, fields = members.create("MOD_Grid"), members.create("Data Fields")
    outer._class, fields._class = "GRID", "GRID Vgroup"
    outer.insert(fields)
    fields.add(HC.DFTAG_NDG, ref)
    fields.detach()
    outer.detach()
    members.end()
    groups.close()
    return path


@pytest.mark.slow
def test_grids_of_hdf_eos(tmp_path: Path) -> None:
    with refbrowser.open(write_grid(tmp_path / "a.hdf", SINUSOIDAL)) as dataset:
        assert not notes(dataset)
        array = dataset["/MOD_Grid/Data Fields/ndvi"]
        assert array.node.dimensions == ("YDim", "XDim")
        assert array[1].tolist() == [4, 5, 6, 7]
        assert dataset["/MOD_Grid/Data Fields/YDim"][...].tolist() == [500, -500]
        assert dataset["/MOD_Grid/Data Fields/XDim"][...].tolist() == [500, 1500, 2500, 3500]
        assert dataset["/MOD_Grid/Data Fields/XDim"].node.attributes["units"] == "m"
        said = dataset.hierarchy.find("/MOD_Grid").attributes
        assert said["Projection"] == "GCTP_SNSOID"
        assert said["ProjParams"][0] == 6371007.181
        assert said["hdf4_class"] == "GRID"
    with refbrowser.open(write_grid(tmp_path / "b.hdf", GEOGRAPHIC)) as dataset:
        # Degrees, minutes and seconds: 90 and a half.
        assert dataset["/MOD_Grid/Data Fields/YDim"][...].tolist() == [45.375, -44.875]
        assert dataset["/MOD_Grid/Data Fields/XDim"][...].tolist() == [-135, -45, 45, 135]
        assert dataset["/MOD_Grid/Data Fields/YDim"].node.attributes["standard_name"] == "latitude"
    with refbrowser.open(
        write_grid(tmp_path / "c.hdf", SINUSOIDAL.replace("END_GROUP=GRID_1", ""))
    ) as dataset:
        assert "what HDF-EOS2 says of its grids cannot be read" in notes(dataset)[0]
        assert dataset["/MOD_Grid/Data Fields/ndvi"].shape == (2, 4)


def test_swaths_of_hdf_eos() -> None:
    text = (
        'GROUP=SwathStructure\nGROUP=SWATH_1\nSwathName="mod06"\nGROUP=DimensionMap\nOBJECT=DimensionMap_1\n'
        'GeoDimension="along_5km"\nDataDimension="along"\nOffset=2\nIncrement=5\nEND_OBJECT=DimensionMap_1\n'
        "END_GROUP=DimensionMap\nEND_GROUP=SWATH_1\nEND_GROUP=SwathStructure\nEND\n"
    )
    (part,) = eos_parts(text)
    assert part.name == "mod06"
    assert part.attributes["DimensionMap"] == ["along_5km is along from 2 in steps of 5"]
    assert not part.axes
    with pytest.raises(ValueError, match="too many objects"):
        eos_parts("GROUP=a\n" * 20)


def test_tables_are_named(tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "a.hdf", a=VALUES.astype("i2"))
    file = HDF.HDF(str(path), HC.WRITE)
    tables = file.vstart()
    made = tables.create("stations", (("number", HC.INT32, 1), ("height", HC.FLOAT32, 1)))
    made.write([[1, 2.5], [2, 3.5]])
    made.detach()
    tables.end()
    file.close()
    with refbrowser.open(path) as dataset:
        assert notes(dataset) == ["its tables (Vdatas) are not shown: stations"]
        assert np.array_equal(dataset["/a"][...], VALUES)


# Who cannot read it


def test_without_pyhdf_the_install_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_arrays(tmp_path / "a.hdf", a=VALUES.astype("i2"))
    monkeypatch.setattr("refbrowser.formats.library.named_file.find_spec", lambda name: None)
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(path)
    assert caught.value.message == "the file is HDF4: it holds data, not references"
    assert "pip install 'refbrowser[hdf4]'" in caught.value.advice


def test_a_file_elsewhere_is_to_be_downloaded(tmp_path: Path) -> None:
    data = write_arrays(tmp_path / "a.hdf", a=VALUES.astype("i2")).read_bytes()
    with HttpServer({"/a.hdf": data}) as server, pytest.raises(RefbrowserError) as caught:
        refbrowser.open(server.url("/a.hdf"))
    assert caught.value.kind is ErrorKind.USAGE
    assert "Download it" in caught.value.advice


# Damage


@pytest.mark.slow
@pytest.mark.parametrize("level", [None, 6])
def test_damaged_files(tmp_path: Path, level: int | None) -> None:
    values = VALUES.astype("i2")
    path = write_arrays(tmp_path / "a.hdf", a=values)
    make_chunked(path, values, (3, 4), level)
    data = path.read_bytes()
    random = np.random.default_rng(7)
    for _ in range(15):
        at = int(random.integers(len(data)))
        for damaged in (
            data[:at],
            data[:at] + bytes([data[at] ^ (1 << int(random.integers(8)))]) + data[at + 1 :],
        ):
            path.write_bytes(damaged)
            try:
                with refbrowser.open(path) as dataset:
                    for array in dataset.arrays.values():
                        if not array.node.error:
                            array[...]
            except RefbrowserError:
                continue


@pytest.mark.slow
def test_a_file_that_was_cut_is_told(tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "a.hdf", a=VALUES.astype("f8"), b=VALUES.astype("f8"))
    data = path.read_bytes()
    for size, told in (
        (1000, "bytes 10 to 2410 are beyond its end at 1000"),
        # Descriptors stand first: what they lead to is not there.
        (len(data) - 2, f"the file was cut: {len(data) - 2} of its {len(data) - 1} bytes are there"),
        (3000, f"the file was cut: 3000 of its {len(data) - 1} bytes are there"),
    ):
        path.write_bytes(data[:size])
        with pytest.raises(RefbrowserError, match=told):
            refbrowser.open(path)


def test_groups_that_are_within_each_other_very_often_cost_no_more_than_themselves(tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "a.hdf", v=np.arange(4, dtype="i2"))
    file = HDF.HDF(str(path), HC.WRITE)
    groups = file.vgstart()
    above: list[Any] = []
    for level in range(30):
        made = [groups.create(f"{name}{level}") for name in "ab"]
        for outer in above:
            for inner in made:
                outer.insert(inner)
            outer.detach()
        above = made
    for each in above:
        each.detach()
    groups.end()
    file.close()
    with refbrowser.open(path) as dataset:
        assert dataset.array("/v")[...].tolist() == [0, 1, 2, 3]
        assert any("in too many places" in each.message for each in dataset.document.notes)


def test_blocks_of_descriptors_that_lie_over_each_other_are_counted_each(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf"
    blocks = b"".join((10).to_bytes(2, "big") + (4 + 6 * at).to_bytes(4, "big") for at in range(1, 100))
    path.write_bytes(hdf4_layout.MAGIC + blocks + bytes(1000))
    with pytest.raises(ValueError, match="more than 500 descriptors"):
        hdf4_layout.Hdf4Layouts(str(path), 500)


def test_descriptors_in_a_circle_end(tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "a.hdf", a=VALUES.astype("i2"))
    data = bytearray(path.read_bytes())
    data[6:10] = (4).to_bytes(4, "big")
    path.write_bytes(data)
    assert hdf4_layout.Hdf4Layouts(str(path), 10_000).of(9_999, 2).why
    with pytest.raises(ValueError, match="more than 3 descriptors"):
        hdf4_layout.Hdf4Layouts(str(path), 3)
