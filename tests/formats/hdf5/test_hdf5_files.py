"""Files of HDF5 and netCDF-4 opened directly: what is shown and read is what their own libraries give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import pytest
from servers.http_server import HttpServer
from servers.object_proxy import object_proxy
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.hdf5 import hdf5_arrays
from refbrowser.formats.library import hdf5_chunks
from refbrowser.formats.library.process import LibraryFile
from refbrowser.limits import LIMITS, Limits
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.selection import Selection

h5py = pytest.importorskip("h5py")
netCDF4 = pytest.importorskip("netCDF4")

REAL = Path(__file__).resolve().parents[4] / "shared/data/real"
#: Arrays that no byte range gives, with a word of the reason.
NOT_REFERENCABLE = {
    "/texts": "variable length",
    "/one_text": "variable length",
    "/rows": "variable length",
    "/rows_of_structures": "variable length",
    "/leads_to": "references to other objects",
    "/with_text": "of its member name",
    "/lzf": "filter 'lzf'",
    "/scaled": "filter 'scaleoffset'",
    "/short_numbers": "12 bits",
}


def write_all(path: Path) -> Path:
    """Write a file with an array of each kind."""
    rng = np.random.default_rng(1)
    structure = np.zeros(
        10, np.dtype([("a", "i1"), ("b", "<f8"), ("c", "S5"), ("d", "<i2", (2,))], align=True)
    )
    structure["a"], structure["b"], structure["c"] = np.arange(10), rng.random(10), b"abc"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["big_endian"] = np.arange(24, dtype=">i4").reshape(4, 6)
        file.create_dataset("structure", data=structure, chunks=(4,), compression="gzip", shuffle=True)
        values = rng.integers(0, 50, (30, 23)).astype("<i2")
        for name, options in {
            "plain": {},
            "deflated": {"compression": 4},
            "shuffled": {"compression": 9, "shuffle": True},
            "checked": {"compression": 1, "shuffle": True, "fletcher32": True},
            "lzf": {"compression": "lzf"},
            "scaled": {"scaleoffset": 0},
        }.items():
            file.create_dataset(f"{name}", data=values, chunks=(7, 9), **options)
        part = file.create_dataset("missing", (100,), "<f4", chunks=(10,), fillvalue=7)
        part[35] = 1
        file.create_dataset("larger_chunk", data=values[:3, :4], chunks=(7, 9), maxshape=(None, None))
        masked = file.create_dataset("masked", (20,), "<i4", chunks=(10,), compression="gzip")
        masked[:10] = 5
        masked.id.write_direct_chunk((10,), np.arange(10, dtype="<i4").tobytes(), filter_mask=1)
        mostly = file.create_dataset(
            "mostly_masked", (44, 2), "<i4", chunks=(10, 2), compression="gzip", shuffle=True
        )
        mostly[:] = np.arange(88).reshape(44, 2)
        for start in (0, 20, 40):
            part = np.arange(2 * start, 2 * start + 20, dtype="<i4").tobytes()
            mostly.id.write_direct_chunk((start, 0), part, filter_mask=3)
        rows = file.create_dataset("rows", (5,), dtype=h5py.vlen_dtype("<i4"))
        for number in range(5):
            rows[number] = np.arange(number)
        nested = file.create_dataset("rows_of_structures", (2,), h5py.vlen_dtype(np.dtype([("x", "<f4")])))
        nested[1] = np.array([(1.5,), (2.5,)], [("x", "<f4")])
        file["texts"], file["one_text"] = ["a", "bb", "ü" * 50], "hello"
        file["fixed_texts"] = np.array([b"a", b"bcd"])
        named = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 300}, "<i2")
        file.create_dataset("named", data=np.array([0, 1, 300, 1], "<i2"), dtype=named)
        file["truth"], file["complex"] = np.array([True, False]), np.arange(4) * 1j
        file["scalar"], file["half"] = 3.5, np.arange(4, dtype="<f2")
        file["null"] = h5py.Empty("f4")
        file["empty"] = np.zeros((0, 3))
        file["leads_to"] = np.array([file["named"].ref, file["rows"].ref], h5py.ref_dtype)
        file["opaque"] = np.array([b"1234", b"5678"], "V4")
        file.create_dataset("arrays", (3,), "(2,2)i4")[...] = np.arange(12).reshape(3, 2, 2)
        mixed = file.create_dataset("with_text", (2,), [("name", h5py.string_dtype()), ("k", "<i4")])
        mixed[0] = ("ab", 1)
        odd = h5py.h5t.NATIVE_INT16.copy()
        odd.set_precision(12)
        low = h5py.h5d.create(file.id, b"short_numbers", odd, h5py.h5s.create_simple((3,)))
        low.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([-5, 6, 7], "i2"))
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_layout(h5py.h5d.COMPACT)
        small = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_U16BE, h5py.h5s.create_simple((2, 3)), made)
        small.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(6, dtype=">u2").reshape(2, 3))
        file["group/soft"] = h5py.SoftLink("/plain")
        file["group/hard"] = file["deflated"]
        file["kind"] = np.dtype("<i4")
    return path


def plain(values: Any) -> Any:
    """Return values as lists that compare."""
    array = np.asarray(values)
    if array.dtype.names is not None:
        return [plain(array[name]) for name in array.dtype.names]
    if array.dtype.kind == "O":
        found = [each.decode() if isinstance(each, bytes) else each for each in array.reshape(-1)]
        return [each if isinstance(each, str) else plain(each) for each in found]
    if array.dtype.kind == "S" and not array.ndim:
        return array.shape, array.item().decode()
    return array.shape, array.tobytes() if array.dtype.kind == "V" else array.tolist()


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("hdf5") / "all.h5")


@pytest.fixture(scope="module")
def opened(everything: Path) -> Iterator[refbrowser.Dataset]:
    with refbrowser.open(str(everything)) as dataset:
        yield dataset


def test_every_kind_reads_as_h5py_reads_it(opened: refbrowser.Dataset, everything: Path) -> None:
    with h5py.File(everything) as file:
        stored: list[str] = []
        file.visititems(lambda name, found: stored.append(f"/{name}") if hasattr(found, "shape") else None)
        assert set(stored) | {"/group/soft", "/group/hard", "/deflated"} == set(opened.arrays)
        for path, array in opened.arrays.items():
            if path == "/null":
                assert array.shape == (0,)
            elif path == "/leads_to":
                assert array[...].tolist() == ["/named", "/rows"]
            else:
                assert plain(array[...]) == plain(file[path][()]), path
        assert plain(opened["/shuffled"][3:29:5, ::-1]) == plain(file["/shuffled"][3:29:5][:, ::-1])
        assert plain(opened["/rows"][1:4:2]) == plain(file["/rows"][1:4:2])
    assert opened["/named"].node.type.names == {0: "RED", 1: "GREEN", 300: "BLUE"}
    assert opened.format == "hdf5"


def test_arrays_are_read_by_their_library_too(opened: refbrowser.Dataset) -> None:
    for path in ("/checked", "/structure", "/larger_chunk"):
        node = opened.document.by_library(opened[path].node)
        assert node is not None
        assert node.is_made
        whole = Selection.whole(node.shape)
        assert plain(opened.session.read(node, opened.access, whole)) == plain(opened[path][...])
    assert opened.document.by_library(opened["/rows"].node) is None


def test_filters_of_local_files_are_proved_and_usual_ones_of_remote_files_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, options in (("usual", {"compression": "gzip"}), ("rare", {"compression": "lzf"})):
            file.create_dataset(name, data=np.zeros((6, 6)), chunks=(3, 3), **options)
    # What another test has proved is believed.
    monkeypatch.setattr(hdf5_arrays, "_PROVED", set())
    monkeypatch.setattr(hdf5_arrays, "codecs_of", lambda filters, size: ())
    monkeypatch.setattr(hdf5_arrays, "refuted", lambda *_: "it was refuted")

    def refuted(path: str) -> set[str]:
        with refbrowser.open(path) as dataset:
            return {name for name, array in dataset.arrays.items() if array.node.values.why}

    assert refuted(str(tmp_path / "a.h5")) == {"/usual", "/rare"}
    with HttpServer({"/a.h5": (tmp_path / "a.h5").read_bytes()}) as server:
        assert refuted(server.url("/a.h5")) == {"/rare"}


def test_what_cannot_be_referenced_says_why(opened: refbrowser.Dataset) -> None:
    for path, array in opened.arrays.items():
        why = array.node.not_referencable
        assert bool(why) == (path in NOT_REFERENCABLE), (path, why)
        assert NOT_REFERENCABLE.get(path, "") in why
    told = {each.place.path for each in opened.hierarchy.findings if "referenced" in each.message}
    assert told == set(NOT_REFERENCABLE)


@pytest.mark.slow
@pytest.mark.usefixtures("uncollected")
def test_references_are_those_of_kerchunk_and_virtualizarr(tmp_path: Path) -> None:
    kerchunk = pytest.importorskip("kerchunk.hdf")
    path = tmp_path / "a.h5"
    rng = np.random.default_rng(2)
    with h5py.File(path, "w") as file:
        for number, shape in enumerate([(40,), (13, 11), (5, 6, 7)]):
            data = rng.integers(0, 9, shape)
            file.create_dataset(
                f"c{number}", data=data, chunks=(3,) * len(shape), compression=1, shuffle=True
            )
            file[f"g/d{number}"] = data
        file.create_dataset("holes", (1000,), "u1", chunks=(10,), compression=1)[77] = 1
    made = kerchunk.SingleHdf5ToZarr(str(path), inline_threshold=0).translate()["refs"]
    theirs = {key: value for key, value in made.items() if not key.rpartition("/")[2].startswith(".")}
    with refbrowser.open(str(path)) as dataset:
        made = json.loads(b"".join(dataset.document.expansion.to_version0(False)))
        mine = {key: value for key, value in made.items() if not key.rpartition("/")[2].startswith(".")}
    assert mine == theirs
    parsers = pytest.importorskip("virtualizarr.parsers")
    registry = pytest.importorskip("obspec_utils.registry").ObjectStoreRegistry
    stores = pytest.importorskip("obstore.store")
    store = parsers.HDFParser()(f"file://{path}", registry=registry({"file://": stores.LocalStore()}))
    for name, found in store._group.arrays.items():
        for key, entry in found.manifest.dict().items():
            whole = f"{name}/{key}"
            where = [entry["path"].removeprefix("file://"), entry["offset"], entry["length"]]
            assert where == mine[whole], whole


def write_with_netcdf4(path: Path) -> None:
    """Write a file as models do."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        for name, size in {"y": 7, "x": 11, "spare": 2}.items():
            file.createDimension(name, size)
        file.title, file.history = "hello", ["a", "b"]
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        temp = file.createVariable(
            "temp", "f4", ("time", "y", "x"), zlib=True, shuffle=True, fletcher32=True, chunksizes=(2, 4, 6),
            fill_value=-9,
        )  # fmt: skip
        temp.factor, temp.numbers, temp.flag = np.float32(0.1), np.arange(3, dtype="i2"), np.uint64(2**63)
        temp[:5] = np.random.default_rng(3).random((5, 7, 11))
        time[:] = np.arange(5)
        names = file.createVariable("names", str, ("y",))
        names[:] = np.array(list("abcdefg"), object)
        file.createVariable("letters", "S1", ("x",))[:] = np.array(list("hello world"), "S1")
        # It has the name of a dimension, and is not its coordinate.
        file.createVariable("x", "i2", ("y",))[:] = 3
        below = file.createGroup("g")
        below.createDimension("z", 3)
        below.createVariable("w", "i4", ("z", "x"))[:] = 1
        below.createVariable("unwritten", "u2", ("time", "x"))
        below.createGroup("deep").createVariable("two", "i1", ("z", "time"))[:] = 4


def write_with_h5py(path: Path) -> None:
    """Write a file without scales, and one dimension with."""
    with h5py.File(path, "w", track_order=True) as file:
        for name, shape in {"a": (3, 4), "b": (4, 4, 3), "sub/c": (4, 5), "sub/d": (3,), "e": (5,)}.items():
            file[name] = np.zeros(shape, "f4")
            file[name].attrs["units"] = np.bytes_("m")


def write_with_h5netcdf(path: Path) -> None:
    """Write a file with another library of netCDF-4."""
    h5netcdf = pytest.importorskip("h5netcdf")
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"x": 5, "t": None}
        file.resize_dimension("t", 4)
        file.create_variable("x", ("x",), float)[:] = np.arange(5)
        file.create_variable("v", ("t", "x"), "i4", chunks=(1, 5), compression="gzip")[:] = 1
        file.create_group("g").create_variable("w", ("x",), "f4")[:] = 2
        file.attrs["title"] = "text"


WRITERS = {"netcdf4": write_with_netcdf4, "h5py": write_with_h5py, "h5netcdf": write_with_h5netcdf}


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_many_writers_are_what_netcdf_says(
    writer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.nc"
    WRITERS[writer](path)
    if which("ncdump") is not None:
        told = subprocess.run(["ncdump", "-h", path], capture_output=True, text=True, check=True).stdout
        assert main(["cdl", str(path)]) == 0
        assert capsys.readouterr().out == told
    with refbrowser.open(str(path)) as dataset, netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_always_mask(False)
        for name, array in dataset.arrays.items():
            theirs = file[name]
            theirs.set_auto_mask(False)
            assert array.node.dimensions == theirs.dimensions
            values: npt.NDArray[Any] = theirs[...]
            assert plain(array[...]) == plain(values), name
            assert array.node.not_referencable == "" or theirs.dtype is str


def test_types_have_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, again = tmp_path / "a.nc", tmp_path / "sub" / "a.nc"
    again.parent.mkdir()
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 3)
        sky = file.createEnumType("u1", "sky", {"cloudy": 3, "clear": 0})
        file.createVariable("cloud", sky, ("y",), fill_value=0)[:] = np.array([0, 3, 3], "u1")
        point = file.createCompoundType(np.dtype([("lon", "f8"), ("tag", "S1", (4,))], align=True), "point")
        station = np.dtype([("k", "i2"), ("at", point.dtype), ("m", "f4", (2,))], align=True)
        file.createVariable("stations", file.createCompoundType(station, "station"), ("y",))
        file.createVariable("rows", file.createVLType(np.int32, "row"), ("y",))
        file.createVLType(np.float64, "unused")
        below = file.createGroup("g")
        # No value of it has a name, and another group has a type of the same one.
        below.createVariable("c", below.createEnumType("i4", "colour", {"red": 1}), ("y",))
        below.createVariable("s", file.cmptypes["station"], ("y",))
        file.createGroup("h").createEnumType("i2", "colour", {"blue": 1})
        file["h"].createVariable("own", sky, ("y",), chunksizes=(2,))[:] = np.array([3, 0, 3], "u1")
    with refbrowser.open(str(path)) as dataset:
        assert not refbrowser.export(dataset, again, format="netcdf4").losses
        assert dataset["/g/c"].node.type.names == {1: "red"}
    with netCDF4.Dataset(again) as file:
        assert file["stations"].datatype.name == "station"
        assert [*file.enumtypes, *file.cmptypes, *file.vltypes] == [
            "sky",
            "point",
            "station",
            "row",
            "unused",
        ]
        assert file["h"]["own"].datatype.name == "sky"
    if which("ncdump") is not None:
        for each in (path, again):
            told = subprocess.run(["ncdump", "-h", each], capture_output=True, text=True, check=True).stdout
            assert main(["cdl", str(path)]) == 0
            assert capsys.readouterr().out == told


def test_chunks_of_other_filters_are_encoded_anew(
    opened: refbrowser.Dataset, everything: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [each.name for each in opened["/masked"].node.codecs] == ["zlib"]
    assert opened["/mostly_masked"].node.codecs == ()
    told = {each.place.path: each.message for each in opened.document.notes}
    assert "1 of its chunks is stored without some" in told["/masked"]
    assert "2 of its chunks are stored without some" in told["/mostly_masked"]
    made = tmp_path / "refs.json"
    refbrowser.export(opened, made, format="refs-v1", arrays=["masked", "mostly_masked"])
    refs = json.loads(made.read_text())["refs"]
    kinds = [isinstance(refs[f"mostly_masked/{number}.0"], str) for number in range(5)]
    assert kinds == [False, True, False, True, False]
    with refbrowser.open(str(made), allow=[str(everything.parent)]) as dataset, h5py.File(everything) as file:
        for name in ("masked", "mostly_masked"):
            assert np.array_equal(dataset[f"/{name}"][...], file[name][...])
    # Above the limit the library reads all.
    monkeypatch.setattr(hdf5_arrays, "LIMITS", Limits(library_apart=100))
    with refbrowser.open(str(everything)) as dataset, h5py.File(everything) as file:
        assert dataset["/masked"].node.not_referencable == ""
        assert "2 of its chunks are stored without" in dataset["/mostly_masked"].node.not_referencable
        assert np.array_equal(dataset["/mostly_masked"][...], file["mostly_masked"][...])


@pytest.mark.skipif(not REAL.is_dir(), reason="real files are not here")
def test_real_files_have_their_digests() -> None:
    from hashlib import sha256

    expected = json.loads((REAL / "expected.json").read_text("utf-8"))
    for name in ("basin_mask", "cth"):
        with refbrowser.open(str(REAL / f"{name}.nc")) as dataset:
            for array, facts in expected[name].items():
                values = dataset[f"/{array}"][...]
                data = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
                assert sha256(data).hexdigest() == facts["sha256_of_C_order_little_endian_bytes"], array


def test_exports_say_what_references_cannot(opened: refbrowser.Dataset, tmp_path: Path) -> None:
    target = tmp_path / "a.refs.json"
    report = refbrowser.export(opened, str(target), format="refs-v1")
    lost = {loss.path for loss in report.losses if "left out" in loss.what}
    assert {"/rows", "/with_text", "/rows_of_structures"} <= lost
    with refbrowser.open(str(target), allow=[str(Path(opened.path).parent)]) as again:
        assert set(opened.arrays) - set(again.arrays) == {"/rows", "/with_text", "/rows_of_structures"}
        for path in ("/checked", "/lzf", "/texts", "/masked", "/compact", "/missing"):
            assert plain(again[path][...]) == plain(opened[path][...]), path
        # What fills up structures is a member in Zarr.
        for name in ("a", "b", "c", "d"):
            assert plain(again["/structure"][...][name]) == plain(opened["/structure"][...][name])


def test_links_out_of_the_file_are_told_and_never_followed(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["secret"] = np.arange(4, dtype="i4")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["kept"] = 1
        file["out"] = h5py.ExternalLink("other.h5", "/secret")
        file["nowhere"] = h5py.SoftLink("/none")
        file["through"] = h5py.SoftLink("/out")
        file["circle"] = h5py.SoftLink("/circle")
        file["group/loop"] = h5py.SoftLink("/group")
        file["group/again"] = file["group"]
        layout = h5py.VirtualLayout((4,), "i4")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "secret", (4,))
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("external", (4,), "i4", external=[(str(tmp_path / "other.h5"), 0, 16)])
    with refbrowser.open(str(path)) as dataset:
        assert set(dataset.arrays) == {"/kept", "/virtual", "/external"}
        for name in ("/virtual", "/external"):
            with pytest.raises(RefbrowserError, match=r"not opened.*other\.h5"):
                dataset[name][...]
        told = {each.place.path: each.message for each in dataset.document.notes}
        assert "another file" in told["/out"]
        assert set(told) == {"/out", "/nowhere", "/through", "/circle", "/group/loop", "/group/again"}


@pytest.mark.slow
def test_cut_files_show_what_there_is(everything: Path, tmp_path: Path) -> None:
    data = everything.read_bytes()
    path = tmp_path / "cut.h5"
    whole = 0
    for size in (600, 4000, len(data) // 2, len(data) - 2000, len(data) - 1):
        path.write_bytes(data[:size])
        try:
            with refbrowser.open(str(path)) as dataset:
                found = [each.message for each in dataset.document.notes]
                assert any(f"{size} of its {len(data)} bytes" in each for each in found), (size, found)
                for array in dataset.arrays.values():
                    try:
                        array[...]
                        whole += 1
                    except RefbrowserError as error:
                        assert error.kind in (ErrorKind.FORMAT, ErrorKind.RANGE, ErrorKind.SOURCE), error  # noqa: PT017
        except RefbrowserError as error:
            assert error.kind is ErrorKind.FORMAT  # noqa: PT017
    assert whole > 20


def test_missing_chunks_are_told_apart(opened: refbrowser.Dataset) -> None:
    node = opened["/missing"].node
    kinds = node.manifest.kinds().tolist()
    assert kinds == [ReferenceKind.RANGE if number == 3 else ReferenceKind.MISSING for number in range(10)]
    assert opened["/missing"].node.fill_value == 7


@pytest.mark.slow
def test_a_remote_file_takes_few_requests(everything: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.h5"
    with h5py.File(path, "w") as file:
        for number in range(30):
            file.create_dataset(
                f"g{number % 3}/v{number}", data=np.full((250, 100), number, "f8"), chunks=(50, 100)
            )
    files = {"/large.h5": path.read_bytes(), "/all": everything.read_bytes()}
    with HttpServer(files) as server, refbrowser.open(server.url("/large.h5")) as dataset:
        # 1 MiB at a time, more where they follow each other; a file in one piece takes one each.
        assert server.request_count <= -(-len(files["/large.h5"]) // 2**20)
        asked = sum(stop - start + 1 for start, stop in (each.range for each in server.requests))
        assert asked <= len(files["/large.h5"])
        assert (dataset["/g1/v16"][:, 3] == 16).all()
        assert dataset["/g1/v16"].node.not_referencable == ""
        server.requests.clear()
        with refbrowser.open(server.url("/all")) as other, refbrowser.open(str(everything)) as local:
            assert set(other.arrays) == set(local.arrays)
            for name in ("/rows", "/lzf", "/checked", "/masked", "/texts"):
                assert plain(other[name][...]) == plain(local[name][...]), name


@pytest.mark.slow
@pytest.mark.parametrize("libver", ["earliest", ("v110", "v110")])
def test_indexes_of_chunks_are_read_as_hdf5_tells_them(libver: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", userblock_size=1024, libver=libver, track_order=libver == "earliest") as file:
        array = file.create_dataset("a", (260, 40), "i1", chunks=(2, 2), maxshape=(None, 40))
        rows = np.arange(130) * 2
        for row in np.random.default_rng(4).permutation(rows)[:120]:
            array[row : row + 2] = 1
        array.attrs["long"] = "x" * 3000
    with h5py.File(path) as file:
        dataset, count = file["a"].id, 120 * 20
        read = hdf5_chunks.reading(file)
        assert read is not None
        theirs = hdf5_chunks.columns_of(dataset, [2, 2], count, None, 1024)
        mine = hdf5_chunks.columns_of(dataset, [2, 2], count, read, 1024)
        assert all(map(np.array_equal, mine, theirs))
        assert len(mine[0]) == count
        address = h5py.h5o.get_info(dataset).addr
        if libver != "earliest":
            with pytest.raises(hdf5_chunks.UnknownIndexError):
                hdf5_chunks.chunk_entries(read, 1024, address, 2)
            return
        assert len(hdf5_chunks.chunk_entries(read, 1024, address, 2)) == count
        whole = path.read_bytes()
        for seed in range(30):
            damaged = bytearray(whole)
            for at in np.random.default_rng(seed).integers(1024, len(whole), 300).tolist():
                damaged[at] ^= 0x55

            def there(offset: int, length: int, data: bytes = bytes(damaged)) -> bytes:
                return data[offset : offset + length]

            # It ends, and what is no index is left to HDF5.
            assert len(hdf5_chunks.columns_of(dataset, [2, 2], count, there, 1024)[0]) == count


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1], ids=["of a group", "of chunks"])
def test_a_node_of_an_index_that_is_its_own_sibling_is_passed_over(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        file.create_dataset("g/x", data=np.arange(400), chunks=(1,))
    data = bytearray(path.read_bytes())
    at = data.find(b"TREE" + bytes([kind, 0]))
    while at >= 0:
        data[at + 16 : at + 24] = at.to_bytes(8, "little")
        at = data.find(b"TREE" + bytes([kind, 0]), at + 1)
    path.write_bytes(data)
    with refbrowser.open(path) as dataset:
        assert (dataset.array("g/x")[...] == np.arange(400)).all()


@pytest.mark.slow
def test_damaged_files_fail_one_by_one(everything: Path, tmp_path: Path) -> None:
    """Nothing but errors of ours comes of them, and most of what is sound is still read."""
    data = everything.read_bytes()
    read = lost = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        damaged = bytearray(data)
        for at in rng.integers(600, len(data), int(rng.choice([1, 3, 20, 100]))).tolist():
            damaged[at] = int(rng.choice([0, 255, damaged[at] ^ 1, rng.integers(256)]))
        path = tmp_path / f"{seed}.h5"
        path.write_bytes(damaged)
        try:
            with refbrowser.open(str(path)) as dataset:
                for array in dataset.arrays.values():
                    try:
                        if np.prod(array.shape, dtype=float) < 1e6:
                            array[...]
                        read += 1
                    except RefbrowserError:
                        lost += 1
        except RefbrowserError:
            lost += 31
    assert read > 200
    assert lost


#: In a process of its own: netCDF4 leads h5py to plugins for its own HDF5.
WRITE_FILTERED = """
import sys, h5py, hdf5plugin as plugins, numpy as np
filters = {
    "zstd": plugins.Zstd(clevel=5),
    "bzip2": plugins.BZip2(),
    "blosc": plugins.Blosc(cname="zstd", clevel=3, shuffle=1),
    "blosc_bits": plugins.Blosc(cname="lz4", shuffle=2),
    "shuffled": {**plugins.Zstd(), "shuffle": True, "fletcher32": True},
    "lz4": plugins.LZ4(),
    "lz4_blocks": plugins.LZ4(nbytes=1000),
    "bitshuffle": plugins.Bitshuffle(),
    "bitshuffle_plain": plugins.Bitshuffle(cname="none"),
    "bitshuffle_zstd": plugins.Bitshuffle(cname="zstd", nelems=64),
    "not_zfp": plugins.Zfp(reversible=True),
    "not_blosc2": plugins.Blosc2(),
}
with h5py.File(sys.argv[1], "w") as file:
    for name, options in filters.items():
        values = (np.arange(5000) % 99).reshape(50, 100).astype("<f4")
        file.create_dataset(name, data=values, chunks=(20, 33), **options)
"""


@pytest.mark.slow
def test_filters_of_plugins_are_followed_where_zarr_knows_them(tmp_path: Path) -> None:
    pytest.importorskip("hdf5plugin")
    path = tmp_path / "a.h5"
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    subprocess.run([sys.executable, "-c", WRITE_FILTERED, path], check=True, env=environment)
    with refbrowser.open(str(path)) as dataset:
        assert len(dataset.arrays) == 12
        for name, array in dataset.arrays.items():
            assert bool(array.node.not_referencable) == ("not_" in name), array.node.not_referencable
            assert (array[...] == (np.arange(5000) % 99).reshape(50, 100)).all()


def test_files_that_are_written_are_read_where_their_writer_lets_it(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="latest") as file:
        array = file.create_dataset("a", (10,), "f4", chunks=(5,), maxshape=(None,))
        array[:] = 1
        file.flush()
        with pytest.raises(RefbrowserError, match="another program writes the file"):
            refbrowser.open(str(path))
        file.swmr_mode = True
        with refbrowser.open(str(path)) as dataset:
            assert dataset["/a"][...].tolist() == [1] * 10
        array.resize((20,))
        array[10:] = 2
        array.flush()
        with refbrowser.open(str(path)) as dataset:
            assert dataset["/a"][...].tolist() == [1] * 10 + [2] * 10


def test_what_is_known_of_a_remote_file_is_not_read_again(
    everything: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=np.arange(400_000.0), chunks=(50_000,))
        file["far/away"] = np.arange(3)

    def opened_with() -> tuple[int, list[float]]:
        server.requests.clear()
        with refbrowser.open(server.url("/a.h5")) as dataset:
            count = server.request_count
            return count, dataset["/a"][-2:].tolist() + dataset["/far/away"][...].tolist()

    with HttpServer({"/a.h5": path.read_bytes()}) as server:
        first, values = opened_with()
        assert (first > 1, values) == (True, [399_998.0, 399_999.0, 0, 1, 2])
        assert opened_with() == (1, values)
        kept = next((tmp_path / "refbrowser/files").iterdir())
        for damaged in (kept.read_bytes()[:-5], b"", b"refbrowser answers 1\n00000000\n"):
            kept.write_bytes(damaged)
            assert opened_with() == (first, values)
        with h5py.File(path, "r+") as file:
            file["a"][-1] = 5
            file["far/away"][0] = 7
            file["more"] = np.arange(1000)
        server.files["/a.h5"] = path.read_bytes()
        assert opened_with() == (first, [399_998.0, 5, 7, 1, 2])


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", ["s3", *(pytest.param(each, marks=pytest.mark.long) for each in ("gs", "abfs"))]
)
def test_a_file_in_a_bucket_is_opened_with_the_requests_of_http(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    server: ObjectServer = request.getfixturevalue(f"{scheme}_server")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        for number in range(30):
            values = np.full((250, 100), number, "f8")
            file.create_dataset(f"g{number % 3}/v{number}", data=values, chunks=(50, 100))
    data = path.read_bytes()
    with HttpServer({"/a.h5": data}) as served:
        refbrowser.open(served.url("/a.h5")).close()
        wanted = sorted(each.range for each in served.requests if each.range is not None)
    bucket = server.new_bucket()
    server.put(f"{bucket}/a.h5", data)
    with object_proxy(server.endpoint) as (proxy, endpoint):
        # Azure's addresses have the account in them.
        settings = server.settings(bucket, endpoint=endpoint + urlsplit(server.endpoint).path)
        if scheme == "gs":
            # The emulator does not say which writing of the object it gives, as Google does.
            proxy.told["x-goog-generation"] = "1"
        with refbrowser.open(f"{bucket}/a.h5", storage_options=settings) as dataset:
            found = [tuple(map(int, each.partition("=")[2].split("-"))) for each in proxy.ranges]
            assert sorted(found) == wanted
            assert (dataset["/g1/v16"][:, 3] == 16).all()
        proxy.ranges.clear()
        with refbrowser.open(f"{bucket}/a.h5", storage_options=settings) as dataset:
            assert len(proxy.ranges) == 1
            assert len(dataset.arrays) == 30
        server.put(f"{bucket}/a.h5", data[:-1] + b"x")
        proxy.told |= dict.fromkeys(proxy.told, "2")
        proxy.ranges.clear()
        refbrowser.open(f"{bucket}/a.h5", storage_options=settings).close()
        assert len(proxy.ranges) == len(wanted)


def test_what_is_too_large_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("huge", (2**62,), "u1", chunks=(2**20,), compression=1)
        file.create_dataset("wide", (1,) * 32, "i4", chunks=(1,) * 32)
        file.create_dataset("large_element", (2,), f"S{LIMITS.element_size + 1}")
        file.create_dataset("sound", data=[1, 2])
        file[".zarray"], file["\u202e"] = 1, 2
        file["sound"].attrs["large"] = np.zeros(1000)
        file["sound"].attrs["small"] = 1
        group = file
        for _ in range(LIMITS.group_nesting + 5):
            group = group.create_group("d")
    monkeypatch.setattr(hdf5_arrays, "LIMITS", Limits(library_attribute=2000))
    with refbrowser.open(str(path)) as dataset:
        assert set(dataset.arrays) == {"/huge", "/wide", "/large_element", "/sound", "/\u202e"}
        assert dataset["/huge"][-3:].tolist() == [0, 0, 0]
        assert dataset["/wide"][...].sum() == 0
        assert dataset["/sound"][...].tolist() == [1, 2]
        assert list(dataset["/sound"].attrs) == ["small"]
        with pytest.raises(RefbrowserError, match="element_size"):
            dataset["/large_element"][...]
        told = [each.message for each in dataset.document.notes]
        for words in ("nested too deep", "cannot be a key", "8000 bytes, more than are read", "element_size"):
            assert any(words in each for each in told), words
    monkeypatch.setattr(hdf5_arrays, "LIMITS", Limits(library_objects=4))
    with refbrowser.open(str(path)) as dataset:
        assert 1 <= len(dataset.arrays) <= 4
        assert any("more objects than are listed" in each.message for each in dataset.document.notes)


@pytest.mark.slow
def test_xarray_reads_the_same_from_references(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("kerchunk.xarray_backend")
    path, target = tmp_path / "a.nc", tmp_path / "a.json"
    write_with_netcdf4(path)
    with refbrowser.open(str(path)) as dataset:
        refbrowser.export(dataset, str(target), format="refs-v1")
    with xarray.open_dataset(path) as theirs, xarray.open_dataset(str(target), engine="kerchunk") as mine:
        xarray.testing.assert_identical(mine.load(), theirs.load())
    texts = target.read_text("utf-8")
    assert not [name for name in ("_Netcdf4Dimid", "_NCProperties", "DIMENSION_SCALE") if name in texts]


def test_files_like_one_before_are_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question takes as long as most of what opening takes beside it."""
    for name in ("a.nc", "b.nc"):
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("t", data=np.arange(60.0), chunks=(30,), compression="gzip", shuffle=True)
    asked: list[str] = []
    ask = LibraryFile.ask

    def noted(self: LibraryFile, operation: str, *more: Any) -> None:
        asked.append(operation)
        ask(self, operation, *more)

    monkeypatch.setattr(LibraryFile, "ask", noted)
    monkeypatch.setattr(hdf5_arrays, "_PROVED", set())
    with refbrowser.open(tmp_path / "a.nc") as dataset:
        assert asked == ["describe", "chunk"]
        assert dataset.array("/t")[:].tolist() == list(range(60))
    with refbrowser.open(tmp_path / "b.nc") as dataset:
        assert asked == ["describe", "chunk", "describe"]
        assert dataset.array("/t")[:].tolist() == list(range(60))
