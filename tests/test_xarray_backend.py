"""xarray reads through refbrowser what it reads through its own engines, with our errors."""

from __future__ import annotations

import gc
import json
import pickle
import threading
import tomllib
import warnings
import weakref
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray
from servers.http_server import HttpServer

import refbrowser
from refbrowser import xarray_backend
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.xarray_backend import RefbrowserBackendEntrypoint

CHECKOUT = Path(__file__).resolve().parent.parent
#: The class stands for its name where the package is not installed anew.
ENGINE: Any = RefbrowserBackendEntrypoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same data in each container, and what only netCDF-4 has."""
    path = tmp_path_factory.mktemp("xarray")
    random = np.random.default_rng(0)
    made = xarray.Dataset(
        {
            "t": (("time", "lat"), random.random((10, 4)).astype("f4"), {"units": "K"}),
            "i": ("lat", np.arange(4, dtype="i2")),
            "s": ("lat", np.array(["a", "bé", "", "dd"], object)),
            "scalar": ((), 5.0),
            "b": ("lat", np.array([True, False, True, False])),
        },
        {"time": np.arange(10).astype("M8[D]").astype("M8[ns]"), "lat": [1.0, 2, 3, 4]},
        {"title": "x", "n": np.int32(4), "l": np.array([1.0, 2.0])},
    )
    made["t"].encoding.update(scale_factor=0.1, dtype="i2", _FillValue=-99)
    made["t"][1, 1] = np.nan
    made.to_zarr(path / "v2.zarr", zarr_format=2, consolidated=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.to_zarr(path / "v3.zarr", zarr_format=3)
    made.to_netcdf(path / "four.nc", engine="netcdf4", unlimited_dims=["time"])
    made.drop_vars("s").to_netcdf(path / "three.nc", format="NETCDF3_64BIT", unlimited_dims=["time"])
    with netCDF4.Dataset(path / "types.nc", "w") as file:
        file.createDimension("x", 3)
        file.createDimension("c", 5)
        cloud = file.createEnumType("u1", "cloud", {"a": 0, "b": 1, "m": 255})
        file.createVariable("named", cloud, ("x",), fill_value=255)[:] = [0, 1, 255]
        pair = file.createCompoundType(np.dtype([("q", "i4"), ("r", "f8")], align=True), "pair")
        file.createVariable("pairs", pair, ("x",))[:] = np.array([(1, 2.0), (3, 4.0), (5, 6.0)], pair.dtype)
        rows = file.createVariable("rows", file.createVLType("i4", "row"), ("x",))
        for number in range(3):
            rows[number] = np.arange(number + 1, dtype="i4")
        text = file.createVariable("text", "S1", ("x", "c"))
        text[:] = netCDF4.stringtochar(np.array(["abc", "de", "fghij"], "S5"))
        group = file.createGroup("g")
        group.createDimension("y", 2)
        group.title = "t"
        below = group.createVariable("z", "i2", ("y", "x"), zlib=True)
        below[:] = 7
        below.missing_value = np.int16(7)
        below.flags = np.array([1, 2], "i1")
        group.createGroup("h").createVariable("k", "u8", ())[...] = 2**63 + 5
    return path


FILES = (
    ("v2.zarr", "zarr"),
    ("v3.zarr", "zarr"),
    ("four.nc", "netcdf4"),
    ("four.nc", "h5netcdf"),
    ("three.nc", "netcdf4"),
    ("three.nc", "scipy"),
)
#: Where xarray has no engine: the format, and how files of it are called.
EXPORTED = (
    ("refs-v0", "v0.json"),
    ("refs-v1", "v1.json.zst"),
    ("refs-parquet", "a.parq"),
    ("zarr-v3-draft", "draft.zarr"),
    ("zarr-v3", "v3.zip"),
    ("nczarr", "nc.zarr"),
    ("ncstream", "a.ncs"),
    ("awkward0", "a.awkd"),
    ("netcdf4", "out.nc"),
)


@pytest.mark.slow
def test_values_are_those_of_the_own_engines(folder: Path) -> None:
    points = xarray.DataArray([0, 5, -1], dims="p"), xarray.DataArray([1, 2, 3], dims="p")
    for name, engine in FILES:
        with (
            xarray.open_dataset(folder / name, engine=ENGINE) as ours,
            xarray.open_dataset(folder / name, engine=engine) as theirs,
        ):
            for chosen in (
                {"time": [3, 1, 7], "lat": slice(None, None, -2)},
                {"time": points[0], "lat": points[1]},
                {"time": points[0]},
                {},
            ):
                xarray.testing.assert_identical(ours.isel(chosen).load(), theirs.isel(chosen).load())
            assert ours.encoding["unlimited_dims"] == theirs.encoding.get("unlimited_dims", set())
            for variable in ("t", "time"):
                said, known = ours[variable].encoding, theirs[variable].encoding
                told = {"_FillValue", "scale_factor", "units", "calendar", "preferred_chunks", "dtype"}
                told |= {"fill_value"}
                assert ("fill_value" in said) == (name == "v3.zarr")
                for key in told & {*known}:
                    assert said[key] == known[key], (name, variable, key)
        with (
            xarray.open_dataset(folder / name, engine=ENGINE, chunks={}) as ours,
            xarray.open_dataset(folder / name, engine=engine, chunks={}) as theirs,
        ):
            assert {each: ours[each].chunks for each in ours} == {each: theirs[each].chunks for each in ours}
        plain: dict[str, Any] = {"decode_cf": False, "drop_variables": ["i"]}
        with xarray.open_dataset(folder / name, engine=ENGINE, **plain) as ours:
            assert ours["t"].dtype.newbyteorder("=") == np.dtype("i2")
            assert ours["t"].attrs["_FillValue"] == -99
            assert "i" not in ours


def test_what_is_written_again_is_packed_as_it_was(tmp_path: Path) -> None:
    kept = ("zlib", "shuffle", "fletcher32", "complevel", "chunksizes")
    made = {"zlib": True, "shuffle": True, "fletcher32": True, "complevel": 7, "chunksizes": (5,)}
    values = xarray.Dataset({"a": ("x", np.arange(20.0)), "b": ("x", np.arange(20.0))})
    values.to_netcdf(tmp_path / "first.nc", engine="netcdf4", encoding={"a": made})
    with xarray.open_dataset(tmp_path / "first.nc", engine=ENGINE) as ours:
        assert "zlib" not in ours["b"].encoding
        ours.to_netcdf(tmp_path / "again.nc", engine="netcdf4")
    with xarray.open_dataset(tmp_path / "again.nc", engine="netcdf4") as again:
        assert {name: again["a"].encoding[name] for name in kept} == made
        assert not again["b"].encoding["zlib"]


def test_a_group_that_is_not_there_is_an_error_of_the_system(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no group '/nowhere'") as raised:
        xarray.open_dataset(folder / "four.nc", engine=ENGINE, group="nowhere")
    assert isinstance(raised.value, refbrowser.RefbrowserError)


@pytest.mark.slow
def test_formats_that_no_other_engine_has(folder: Path, tmp_path: Path) -> None:
    tifffile, h5py = pytest.importorskip("tifffile"), pytest.importorskip("h5py")
    values = np.arange(6 * 32, dtype=">u2").reshape(6, 4, 8)
    tifffile.imwrite(tmp_path / "a.tif", values, metadata={"axes": "ZYX"})
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = np.array([(1, 0.5), (2, 1)], [("a", ">i4"), ("b", ">f8")])
    wanted = xarray.open_dataset(folder / "four.nc").drop_vars(["s", "b"]).load()
    with refbrowser.open(folder / "four.nc") as dataset:
        for format, name in EXPORTED:
            paths = [f"/{each}" for each in wanted.variables]
            refbrowser.export(dataset, tmp_path / name, format=format, arrays=paths)
    for name in (*(name for _, name in EXPORTED), "a.tif", "a.h5"):
        path = tmp_path / name
        with refbrowser.open(path, allow=str(folder)) as dataset:
            plain = xarray.open_dataset(path, engine=ENGINE, decode_cf=False, allow=str(folder))
            assert {f"/{each}" for each in plain.variables} == set(dataset.arrays), name
            for each, variable in plain.variables.items():
                assert variable.values.tolist() == np.asarray(dataset[f"/{each}"]).tolist(), (name, each)
        tree = xarray.open_datatree(path, engine=ENGINE, chunks={}, allow=str(folder))  # type: ignore[call-arg]
        copy = pickle.loads(pickle.dumps(tree))
        # Awkward arrays have no dimensions.
        if any(name == other for format, other in EXPORTED if format != "awkward0"):
            xarray.testing.assert_equal(copy.to_dataset().load(scheduler="threads"), wanted)


@pytest.mark.slow
def test_many_files_are_one(folder: Path, tmp_path: Path) -> None:
    names = [tmp_path / f"{number}.nc" for number in range(3)]
    for number, name in enumerate(names):
        part = xarray.open_dataset(folder / "three.nc")[["t"]].isel(time=slice(3 * number, 3 * number + 3))
        part.to_netcdf(name, unlimited_dims=["time"])
        refbrowser.make(name, name.with_suffix(".json"))
    with (
        xarray.open_mfdataset([name.with_suffix(".json") for name in names], engine=ENGINE) as ours,
        xarray.open_mfdataset(names, engine="netcdf4") as theirs,
    ):
        xarray.testing.assert_identical(ours.load(scheduler="threads"), theirs.load(scheduler="threads"))


def test_files_elsewhere_are_read_lazily(folder: Path) -> None:
    with (
        HttpServer({"/a.nc": (folder / "three.nc").read_bytes()}) as server,
        xarray.open_dataset(server.url("/a.nc"), engine=ENGINE, chunks={}) as ours,
        xarray.open_dataset(folder / "three.nc") as theirs,
    ):
        copy = pickle.loads(pickle.dumps(ours))
        before = server.request_count
        xarray.testing.assert_identical(copy["t"][:2].load(scheduler="threads"), theirs["t"][:2].load())
        assert server.request_count > before
        xarray.testing.assert_identical(ours.load(scheduler="threads"), theirs.load())


def test_errors_of_opening_are_ours(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "junk.nc").write_bytes(b"junk")
    (tmp_path / "cut.json").write_text('{"version": 1, "refs": {')
    for name, kind in (
        ("none.nc", ErrorKind.IO),
        ("junk.nc", ErrorKind.FORMAT),
        ("cut.json", ErrorKind.JSON),
        ("ftp://there.example/a.nc", ErrorKind.PROTOCOL),
    ):
        for opened in (xarray.open_dataset, xarray.open_datatree):
            with pytest.raises(RefbrowserError) as info:
                opened(name if "://" in name else tmp_path / name, engine=ENGINE)  # type: ignore[arg-type]
            assert info.value.kind is kind, name
    with pytest.raises(RefbrowserError, match="'flavor' is not an option of opening"):
        xarray.open_dataset(folder / "v2.zarr", engine=ENGINE, options={"flavor": "zarr-v2"})


def test_types_and_groups_of_netcdf(folder: Path) -> None:
    path = folder / "types.nc"
    with (
        xarray.open_datatree(path, engine=ENGINE) as ours,
        xarray.open_datatree(path, engine="netcdf4") as theirs,
    ):
        assert ours.groups == theirs.groups == ("/", "/g", "/g/h")
        for group in ours.groups:
            wanted = theirs[group].to_dataset(inherit=False).load()
            found = ours[group].to_dataset(inherit=False).load()
            rows = [
                each.pop("rows").values.tolist() for each in (dict(found), dict(wanted)) if "rows" in each
            ]
            assert not rows or list(map(list, rows[0])) == list(map(list, rows[1]))
            found, wanted = (each.drop_vars("rows", errors="ignore") for each in (found, wanted))
            xarray.testing.assert_identical(found, wanted)
        named = [each["named"].encoding["dtype"].metadata for each in (ours, theirs)]
        assert named[0]["enum"] == named[1]["enum"]
        assert named[0]["enum_name"] == named[1]["enum_name"] == "cloud"
    with xarray.open_datatree(path, engine=ENGINE, group="/g") as part:
        assert part.groups == ("/", "/h")
    assert list(RefbrowserBackendEntrypoint().open_groups_as_dict(path, group="g")) == ["/", "/h"]
    with pytest.raises(RefbrowserError, match="no group '/nope'"):
        xarray.open_dataset(path, engine=ENGINE, group="nope")


@pytest.mark.slow
def test_variables_are_pickled_and_share_one_dataset(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("v2.zarr", "four.nc", "three.nc"):
        with xarray.open_dataset(folder / name, engine=ENGINE, chunks={}) as ours:
            data = [pickle.dumps(ours[each]) for each in ("t", "i")]
            wanted = ours.load()
        copies = [pickle.loads(each) for each in data]
        assert len({id(each) for each in xarray_backend._opened.values()}) == len(xarray_backend._opened)
        for copy in copies:
            xarray.testing.assert_equal(copy.load(scheduler="threads"), wanted[copy.name])
    # Those that nobody uses any more are closed.
    kept = len(xarray_backend._opened)
    assert 0 < kept <= xarray_backend._KEPT
    closed = []
    for each in xarray_backend._opened.values():
        session = each._dataset.session
        monkeypatch.setattr(session, "close", lambda session=session: closed.append(session))
    xarray_backend._opened.clear()
    del copies, copy, each, session
    gc.collect()
    assert len(closed) == kept


def test_another_source_and_an_edited_one_are_told(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    path.write_bytes((folder / "three.nc").read_bytes())
    with xarray.open_dataset(path, engine=ENGINE) as ours:
        data = pickle.dumps(ours)
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", 3)
        file.createVariable("t", "f8", ("time",))[:] = 1
    xarray_backend._opened.clear()
    with pytest.raises(RefbrowserError, match="another source"):
        pickle.loads(data)["t"].load()
    with refbrowser.open(folder / "v2.zarr") as dataset:
        moved = dataset.document.with_place(next(iter(dataset.document.places)), "/elsewhere")
        assert moved is not None
        other: Any = dataset.with_document(moved)
        edited = xarray.open_dataset(
            other, engine=ENGINE, decode_cf=False, drop_variables=["s", "lat", "time"]
        )
        with pytest.raises(RefbrowserError, match="edited"):
            pickle.dumps(edited)


def test_closing(folder: Path) -> None:
    ours = xarray.open_dataset(folder / "v2.zarr", engine=ENGINE)
    ours.close()
    ours.close()
    with pytest.raises(RefbrowserError, match="closed"):
        ours["t"].load()
    with refbrowser.open(folder / "v2.zarr") as dataset:
        given: Any = dataset
        xarray.open_dataset(given, engine=ENGINE).close()
        assert np.array_equal(dataset["/i"], range(4))
    # Who closes while others read lets them end.
    dataset = refbrowser.open(folder / "v2.zarr")
    shared = xarray_backend.SharedDataset(dataset)
    with shared.reading() as given:
        closing = threading.Thread(target=shared.close)
        closing.start()
        closing.join(10)
        assert np.array_equal(given["/i"], range(4))
    with pytest.raises(RefbrowserError, match="closed"), shared.reading():
        pass


def _document(path: Path, **more: Any) -> Path:
    chunk = path.parent / "data" / "a.bin"
    chunk.parent.mkdir(exist_ok=True)
    chunk.write_bytes(np.arange(4, dtype="<i4").tobytes())
    array = {"zarr_format": 2, "shape": [8], "chunks": [4], "dtype": "<i4", "order": "C", "fill_value": -1}
    text = {
        "version": 1,
        "templates": {"u": "nowhere"},
        "gen": [{"key": "a/{{i}}", "url": "{{u}}", "offset": "0", "length": "16", "dimensions": {"i": [0]}}],
        "refs": {
            ".zgroup": '{"zarr_format": 2}',
            "a/.zarray": json.dumps(array | {"compressor": None, "filters": None}),
            "a/.zattrs": '{"_ARRAY_DIMENSIONS": ["x"]}',
            **more,
        },
    }
    path.write_text(json.dumps(text))
    return path


def test_rules_trust_and_lost_chunks(tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (tmp_path / "d").mkdir()
    path = _document(tmp_path / "d" / "x.json")
    data = tmp_path / "d" / "data" / "a.bin"
    (away / "a.bin").write_bytes(data.read_bytes())
    with xarray.open_dataset(path, engine=ENGINE, templates={"u": str(data)}, decode_cf=False) as ours:
        # The second chunk is missing, and is the fill value.
        assert ours["a"].values.tolist() == [0, 1, 2, 3, -1, -1, -1, -1]
    elsewhere: dict[str, Any] = {"engine": ENGINE, "templates": {"u": str(away / "a.bin")}}
    with (
        xarray.open_dataset(path, **elsewhere) as ours,
        pytest.raises(RefbrowserError, match="permission") as info,
    ):
        ours["a"].load()
    assert info.value.kind is ErrorKind.BLOCKED
    with xarray.open_dataset(path, **elsewhere, allow=[str(away)]) as ours:
        assert ours["a"].values[3] == 3
        # Permissions and templates go along.
        assert pickle.loads(pickle.dumps(ours["a"])).values[2] == 2
    with xarray.open_dataset(path, engine=ENGINE, templates={"u": str(data) + "x"}) as ours:
        assert np.isnan(ours["a"][4:].values).all()
        for read in (
            lambda: ours["a"][:4].load(),
            lambda: ours["a"][[1, 5]].load(),
            lambda: ours["a"].isel(x=xarray.DataArray([[0, 5]], dims=("p", "q"))).load(),
        ):
            with pytest.raises(RefbrowserError) as info:
                read()
            assert info.value.kind is ErrorKind.IO
            assert info.value.place.key == "a/0"


def test_what_xarray_has_no_words_for_is_left_out_and_told(tmp_path: Path) -> None:
    path = _document(tmp_path / "x.json", **{"bad/.zarray": '{"zarr_format": 2}'})
    with pytest.warns(UserWarning, match="'/bad' is left out"):
        ours = xarray.open_dataset(path, engine=ENGINE)
    assert list(ours) == ["a"]
    ours.close()


def test_other_engines_keep_their_files(folder: Path, tmp_path: Path) -> None:
    entrypoint = RefbrowserBackendEntrypoint()
    for name, _ in FILES:
        assert not entrypoint.guess_can_open(folder / name)
    with refbrowser.open(CHECKOUT / "resources/sample/sea_surface.json") as dataset:
        for name, format in (("a.ncs", "ncstream"), ("a.awkd", "awkward0"), ("a.parq", "refs-parquet")):
            refbrowser.export(dataset, tmp_path / name, format=format, arrays=["/ocean/lat"])
            assert entrypoint.guess_can_open(tmp_path / name)
            with xarray.open_dataset(tmp_path / name, engine=ENGINE, group="ocean") as ours:
                assert ours["lat"].values[0] == -89.5
    assert entrypoint.guess_can_open(CHECKOUT / "resources/sample/sea_surface.json")
    (tmp_path / "plain.json").write_text("[1]")
    for other in (tmp_path, tmp_path / "none", tmp_path / "plain.json", 7, "https://there.example/x.json"):
        assert not entrypoint.guess_can_open(other)


def test_the_engine_is_found_by_its_entry_point() -> None:
    points = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    assert resolve_name(points["xarray.backends"]["refbrowser"]) is RefbrowserBackendEntrypoint


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*non-conforming '_FillValue'")
def test_real_files(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # kerchunk takes relative references as of this folder.
    monkeypatch.chdir(shared_data / "real")
    for name, engine in (
        ("basin_mask.nc", "netcdf4"),
        ("basin_mask.refs.json", "kerchunk"),
        ("cth.nc", "netcdf4"),
        ("cth.refs.json", "kerchunk"),
        ("eraint_uvz.nc", "netcdf4"),
    ):
        with (
            xarray.open_dataset(name, engine=ENGINE) as found,
            xarray.open_dataset(name, engine=engine) as wanted,  # type: ignore[arg-type]
        ):
            xarray.testing.assert_identical(found.load(), wanted.load())


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*separate the stored chunks")
def test_processes_of_dask_read_it(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        xarray.open_dataset(folder / "four.nc", engine=ENGINE, chunks={"time": 3}) as ours,
        xarray.open_dataset(folder / "four.nc", engine="netcdf4") as theirs,
    ):
        ours, theirs = (each.drop_vars(["s", "b"]).mean() for each in (ours, theirs))
        xarray.testing.assert_allclose(ours.compute(), theirs.compute())


def test_a_small_coordinate_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = {"time": ("time", np.arange(3), {"units": "days since 2001-01-01"}), "y": [1.5, 2.5]}
    xarray.Dataset({"t": (("time", "y"), np.ones((3, 2)))}, days).to_netcdf(
        tmp_path / "a.nc", format="NETCDF3_64BIT"
    )
    read: list[str] = []
    read_outer = xarray_backend.read_outer

    def noted(session: Any, node: Any, *more: Any) -> Any:
        read.append(node.path)
        return read_outer(session, node, *more)

    monkeypatch.setattr(xarray_backend, "read_outer", noted)
    with xarray.open_dataset(tmp_path / "a.nc", engine="refbrowser") as found:
        assert sorted(read) == ["/time", "/y"]
        loaded = found.load()
    with xarray.open_dataset(tmp_path / "a.nc", engine="netcdf4") as expected:
        xarray.testing.assert_identical(loaded, expected.load())
    # What is given is the user's: it can be changed, and others do not see that.
    with xarray.open_dataset(tmp_path / "a.nc", engine="refbrowser", decode_times=False) as found:
        first = found["t"][0].values
        first[:] = 7
        assert found["t"][1:].values.tolist() == [[1, 1], [1, 1]]
        assert found["t"].isel(time=0, y=0).values.shape == ()
        assert pickle.loads(pickle.dumps(found))["t"].values.tolist() == np.ones((3, 2)).tolist()


def test_small_coordinates_come_with_the_description_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("late", None), ("y", 2), ("big", 10_000), ("none", 3)):
            file.createDimension(name, length)
        time = file.createVariable("time", "i4", ("time",), endian="big", chunksizes=(2,), fill_value=-1)
        time.units = "hours since 2001-01-01"
        time[:] = [1, 2, 3, 4, 5]
        bounds = file.createVariable("first", "f8", ("y",))
        bounds.units = "days since 2000-01-01"
        bounds[:] = [3, 4]
        file.createVariable("y", "f4", ("y",))[:] = [0.5, 1.5]
        # Longer than what is stored of it: its dimension is as long as the longest array along it.
        file.createVariable("late", "i2", ("late",))[:] = [1, 2]
        file.createVariable("later", "i2", ("late",))[:] = np.arange(4)
        file.createVariable("big", "f8", ("big",))[:] = np.arange(10_000)
        file.createVariable("plain", "i2", ("y",))[:] = [8, 9]
    read: list[str] = []
    read_outer = xarray_backend.read_outer

    def noted(session: Any, node: Any, *more: Any) -> Any:
        read.append(node.path)
        return read_outer(session, node, *more)

    monkeypatch.setattr(xarray_backend, "read_outer", noted)
    with xarray.open_dataset(path, engine=ENGINE) as ours, xarray.open_dataset(path) as theirs:
        assert sorted({*read}) == ["/big", "/late"]
        xarray.testing.assert_identical(ours.load(), theirs.load())
        assert ours["time"].encoding["dtype"] == theirs["time"].encoding["dtype"]
    assert not {"/time", "/first", "/y"} & {*read}
    # One that was opened before may have been edited.
    read.clear()
    with refbrowser.open(path) as dataset, xarray.open_dataset(dataset, engine=ENGINE) as found:
        assert found["y"].values.tolist() == [0.5, 1.5]
    assert "/y" in read


@pytest.mark.parametrize("name", ["a.nc", "a.h5", "a.zarr"])
def test_what_is_dropped_is_freed_at_once(name: str, tmp_path: Path) -> None:
    """The collector would have to look through it, and much more, again and again."""
    made = xarray.Dataset({"t": (("time", "y"), np.ones((3, 2)))}, {"y": [1.5, 2.5]})
    if name.endswith(".zarr"):
        made.to_zarr(tmp_path / name, zarr_format=2)
    else:
        made.to_netcdf(tmp_path / name, engine="netcdf4")
    gc.collect()
    gc.disable()
    try:
        with xarray.open_dataset(tmp_path / name, engine=ENGINE) as opened:
            left = weakref.ref(opened)
        del opened
        assert left() is None
    finally:
        gc.enable()
