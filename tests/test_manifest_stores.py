"""VirtualiZarr reads from a dataset's references what refbrowser reads, and what it holds in memory opens."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import xarray
import zarr
from rectilinear_stores import write_rectilinear
from servers.http_server import HttpServer
from servers.object_servers import ACCOUNT_KEY, SECRET, ObjectServer

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.reference import ReferenceKind
from refbrowser.xarray_backend import RefbrowserBackendEntrypoint

pytest.importorskip("virtualizarr")
pytestmark = pytest.mark.filterwarnings("ignore:.*(non-conforming|Numcodecs codecs|not have a Zarr V3)")

ENGINE: Any = RefbrowserBackendEntrypoint
CHECKOUT = Path(__file__).resolve().parent.parent
#: An array of one chunk, which is to be added.
_ONE: dict[str, Any] = {
    ".zgroup": {"zarr_format": 2},
    "a/.zarray": {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i2", "fill_value": 0,
        "order": "C", "compressor": None, "filters": None,
    },
    "a/.zattrs": {"_ARRAY_DIMENSIONS": ["x"]},
}  # fmt: skip


def _same(dataset: Any, group: str = "") -> None:
    store: Any = refbrowser.to_virtualizarr(dataset)
    found = xarray.open_zarr(store, group=group, consolidated=False, zarr_format=3).load()
    wanted = xarray.open_dataset(dataset, engine=ENGINE, group=group).load()
    # JSON does not tell floats from doubles: what is scaled is rounded differently.
    xarray.testing.assert_allclose(found, wanted)


@pytest.mark.slow
def test_references_of_all_kinds(tmp_path: Path) -> None:
    values = np.arange(24.0).reshape(4, 6)
    for format, more in ((2, {"order": "F"}), (3, {})):
        group = zarr.open_group(tmp_path / f"{format}.zarr", mode="w", zarr_format=format)
        array: Any = {"shape": (4, 6), "chunks": (2, 3), "dtype": "f8", "fill_value": -1.0}
        names: Any = {} if format == 2 else {"dimension_names": ("y", "x")}
        made = group.create_array("a", **array, **more, **names)
        if format == 2:
            made.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
        # One chunk is left out.
        made[:2], made[2:, :3] = values[:2], values[2:, :3]
        with refbrowser.open(tmp_path / f"{format}.zarr") as dataset:
            _same(dataset)
            manifest = refbrowser.to_virtualizarr(dataset)._group["a"].manifest
            assert (manifest._paths == "").tolist() == [[False, False], [False, True]]
    with refbrowser.open(CHECKOUT / "resources/sample/sea_surface.json") as dataset:
        _same(dataset, "ocean")
    text: dict[str, Any] = {
        ".zgroup": {"zarr_format": 2},
        "a/.zarray": {
            "zarr_format": 2, "shape": [3], "chunks": [2], "dtype": "<i2", "fill_value": 0,
            "order": "C", "compressor": None, "filters": None,
        },
        "a/.zattrs": {"_ARRAY_DIMENSIONS": ["x"]},
        "a/0": "base64:AQACAA==", "a/1": "base64:AwAEAA==",
    }  # fmt: skip
    (tmp_path / "inline.json").write_text(json.dumps(text))
    with refbrowser.open(tmp_path / "inline.json") as dataset:
        _same(dataset)
    text["a/1"] = [str(tmp_path.parent / "elsewhere"), 0, 4]
    (tmp_path / "away.json").write_text(json.dumps(text))
    with refbrowser.open(tmp_path / "away.json") as dataset, pytest.raises(RefbrowserError) as info:
        refbrowser.to_virtualizarr(dataset)
    assert info.value.kind is ErrorKind.BLOCKED


@pytest.mark.slow
def test_real_files(shared_data: Path) -> None:
    for name in ("basin_mask.nc", "cth.nc", "eraint_uvz.refs.json"):
        with refbrowser.open(shared_data / "real" / name) as dataset:
            _same(dataset)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A netCDF-4 file with groups, and one like it for a second place of its record dimension."""
    path = tmp_path_factory.mktemp("virtual")
    random = np.random.default_rng(0)
    for number in range(2):
        days = np.arange(9 * number, 9 * number + 9)
        made = xarray.Dataset(
            {"t": (("time", "lat"), random.random((9, 4)).astype("f4"), {"units": "K"})},
            {
                "time": days.astype("M8[D]").astype("M8[ns]"),
                "lat": [1.0, 2, 3, 4],
                "depth": ("lat", [1, 2, 3, 4]),
            },
            {"title": "x", "numbers": np.array([1.5, 2.5])},
        )
        made["t"][1, 1] = np.nan
        made["t"].encoding.update(
            {"scale_factor": 0.1, "dtype": "i2", "_FillValue": -99, "zlib": True, "chunksizes": (3, 4)}
        )
        below = xarray.Dataset({"z": (("time", "x"), random.random((9, 2))), "s": ((), 5)})
        tree = xarray.DataTree.from_dict({"/": made, "/g": below, "/g/h": below[["s"]]})
        tree.to_netcdf(path / f"{number}.nc", engine="netcdf4", unlimited_dims={"/": ["time"]})
    return path


def _registry() -> Any:
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore

    return ObjectStoreRegistry({"file://": LocalStore()})


def _groups_are_equal(found: Any, wanted: Any) -> None:
    assert found.metadata.to_dict() == wanted.metadata.to_dict()
    assert (list(found.arrays), list(found.groups)) == (list(wanted.arrays), list(wanted.groups))
    for name, array in wanted.arrays.items():
        assert found[name].metadata.to_dict() == array.metadata.to_dict(), name
        assert found[name].manifest == array.manifest, name
    for name, group in wanted.groups.items():
        _groups_are_equal(found[name], group)


def _opened(source: Any, allow: Path) -> Any:
    return refbrowser.open(source, allow=str(allow))


@pytest.mark.slow
def test_what_virtualizarr_made_opens_and_goes_back(folder: Path, tmp_path: Path) -> None:
    from virtualizarr.parsers import HDFParser

    url, registry = f"file://{folder}/0.nc", _registry()
    store = HDFParser()(url, registry=registry)
    with _opened(store, folder) as dataset:
        back: Any = refbrowser.to_virtualizarr(dataset)
        _groups_are_equal(back._group, store._group)
        assert dataset.document.places == {"u": f"{folder}/0.nc"}
        for target, format in (("a.json", "refs-v1"), ("a.zarr", "zarr-v3")):
            refbrowser.export(dataset, tmp_path / target, format=format)
            with _opened(tmp_path / target, folder) as again:
                for path, array in dataset.arrays.items():
                    assert np.array_equal(array[...], again[path][...], equal_nan=path != "/t"), path
        # Other processes get its text.
        copy = pickle.loads(pickle.dumps(xarray.open_dataset(dataset, engine=ENGINE, group="g")["z"]))
        assert np.array_equal(copy, dataset["/g/z"][...])
    wanted = xarray.open_dataset(folder / "0.nc").load()
    files = fsspec.filesystem("reference", fo=str(tmp_path / "a.json"), asynchronous=True)
    other: Any = zarr.storage.FsspecStore(files, read_only=True, path="")
    read = xarray.open_zarr(other, consolidated=False, zarr_format=3).load()
    xarray.testing.assert_allclose(read, wanted)


@pytest.mark.slow
@pytest.mark.usefixtures("uncollected")
def test_virtual_datasets_open_with_what_was_loaded(folder: Path, tmp_path: Path) -> None:
    from virtualizarr import open_virtual_dataset, open_virtual_datatree
    from virtualizarr.parsers import HDFParser

    parts = [
        open_virtual_dataset(f"file://{folder}/{number}.nc", registry=_registry(), parser=HDFParser())
        for number in range(2)
    ]
    joined: Any = xarray.concat(parts, dim="time", coords="minimal", compat="override", join="override")
    joined["names"] = "lat", np.array(["a", "bé", "", "dd"], object)
    joined["when"] = (), np.datetime64("2020-01-01", "ns")
    wanted = xarray.concat(
        [xarray.open_dataset(folder / f"{number}.nc").load() for number in range(2)],
        dim="time", coords="minimal", compat="override", join="override",
    ).assign(names=joined["names"], when=joined["when"])  # fmt: skip
    with _opened(joined, folder) as dataset:
        assert dataset.document.places == {"u": str(folder)}
        kinds = {path: set(array.node.manifest.kinds().flat) for path, array in dataset.arrays.items()}
        assert kinds["/t"] == kinds["/depth"] == {ReferenceKind.RANGE}
        assert kinds["/time"] == kinds["/names"] == {ReferenceKind.INLINE}
        found = xarray.open_dataset(dataset, engine=ENGINE).load()
        xarray.testing.assert_allclose(found[list(wanted)], wanted)
        assert found.attrs.keys() == wanted.attrs.keys()
        back: Any = refbrowser.to_virtualizarr(dataset)
        read = xarray.open_zarr(back, consolidated=False, zarr_format=3).load()
        xarray.testing.assert_allclose(read[list(wanted)], wanted)
        # What lies in memory goes into the document.
        with _opened(back, folder) as again:
            assert again["/time"][...].tolist() == list(range(18))
    with refbrowser.open(joined) as dataset, pytest.raises(RefbrowserError, match="permission") as info:
        dataset["/t"][0]
    assert info.value.kind is ErrorKind.BLOCKED
    tree = open_virtual_datatree(
        f"file://{folder}/0.nc", registry=_registry(), parser=HDFParser(), loadable_variables=[]
    )
    with _opened(tree, folder) as dataset:
        assert list(dataset.groups) == ["/", "/g", "/g/h"]
        for group in dataset.groups:
            found = xarray.open_dataset(dataset, engine=ENGINE, group=group).load()
            xarray.testing.assert_allclose(found, xarray.open_dataset(folder / "0.nc", group=group).load())
    # What was loaded has no element that other formats take for a missing one.
    for format, target in (("zarr-v2", "j.zarr"), ("netcdf4", "j.nc")):
        refbrowser.export(joined, tmp_path / target, format=format, allow=[str(folder)])
        with xarray.open_dataset(tmp_path / target, engine=ENGINE) as found:
            assert found["time"].values.tolist() == wanted["time"].values.tolist()
    # The same by export alone.
    refbrowser.export(joined, tmp_path / "j.json", format="refs-v1", allow=[str(folder)])
    with _opened(tmp_path / "j.json", folder) as dataset:
        assert dataset["/when"][...] == dataset["/when"][()]


def test_what_is_nothing_virtual_is_told(folder: Path) -> None:
    import dask.array
    from obstore.store import MemoryStore
    from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore, utils

    plain: Any = xarray.Dataset({"a": ("x", [1])})
    with pytest.raises(RefbrowserError, match="no virtual arrays"):
        refbrowser.open(plain)
    with pytest.raises(TypeError, match="not int"):
        refbrowser.open(7)  # type: ignore[arg-type]
    with pytest.raises(RefbrowserError, match="'flavour'"):
        refbrowser.open(plain, flavour="zarr-v2")
    paths = np.array(["file:///none/a", "", "near/a", "memory://other/a"], np.dtypes.StringDType())
    sizes = np.full(4, 8, np.uint64)
    metadata = utils.create_v3_array_metadata((4,), np.dtype("f8"), (1,), dimension_names=["x"])

    def stored(paths: Any, offsets: Any) -> Any:
        manifest = ChunkManifest.from_arrays(
            paths=paths, offsets=offsets, lengths=sizes.reshape(paths.shape), validate_paths=False
        )
        return ManifestStore(ManifestGroup(arrays={"a": ManifestArray(metadata, manifest)}))

    with refbrowser.open(stored(paths, sizes)) as dataset:
        kinds = []
        for number in (0, 2, 3):
            with pytest.raises(RefbrowserError) as info:
                dataset["/a"][number]
            kinds.append(info.value.kind)
        assert kinds == [ErrorKind.BLOCKED, ErrorKind.REF, ErrorKind.PROTOCOL]
        assert dataset["/a"][1] == 0
    with pytest.raises(RefbrowserError, match=r"has \(2, 2\) chunks, and its grid \(4,\)"):
        refbrowser.open(stored(paths.reshape(2, 2), sizes.reshape(2, 2)))
    with pytest.raises(RefbrowserError, match=r"2\^63"):
        refbrowser.open(stored(paths, sizes * 2**60))
    # Nothing is loaded of what is refused; what memory does not have is told.
    unread: Any = xarray.Dataset(
        {"a": ("x", dask.array.from_delayed(dask.delayed(pytest.fail)(), (1,), "i4"))}
    )
    with pytest.raises(RefbrowserError, match="no virtual arrays"):
        refbrowser.open(unread)
    store = stored(np.full(4, "memory://x/gone", np.dtypes.StringDType()), sizes)
    store._registry.register("memory://x", MemoryStore())
    with pytest.raises(RefbrowserError, match="the store in memory cannot read it"):
        refbrowser.open(store)


def test_zips_and_what_obstore_does_not_read(tmp_path: Path) -> None:
    for name, compressors in (("stored", None), ("packed", "auto")):
        with zipfile.ZipFile(
            tmp_path / f"{name}.zip", "w", zipfile.ZIP_STORED if compressors is None else zipfile.ZIP_DEFLATED
        ) as archive:
            kept: dict[str, Any] = {}
            array = zarr.create_array(zarr.storage.MemoryStore(kept), name="a", shape=(4,), chunks=(2,),
                dtype="i4", compressors=compressors, dimension_names=["x"])  # fmt: skip
            array[:] = [1, 2, 3, 4]
            for key, data in kept.items():
                archive.writestr(key, data.to_bytes())
        with refbrowser.open(tmp_path / f"{name}.zip") as dataset:
            store: Any = refbrowser.to_virtualizarr(dataset)
            begins = {str(path).partition("://")[0] for path in store._group["a"].manifest._paths}
            assert begins == {"file" if compressors is None else "memory"}
            found = xarray.open_zarr(store, consolidated=False, zarr_format=3)
            assert found["a"].values.tolist() == [1, 2, 3, 4]
    for url, why in (
        ([str(tmp_path / "a?b"), 0, 4], "its name has a"),
        (["http://127.0.0.1:9/a?b=1", 0, 4], "its URL has a query"),
        (["http://127.0.0.1:9/a"], "sizes of whole objects"),
        ([str(tmp_path / "gone")], "gone' does not exist"),
        ([f"zip://a::{tmp_path}/stored.zip", 0, 4], "a member of an archive"),
    ):
        (tmp_path / "odd.json").write_text(json.dumps({**_ONE, "a/0": url}))
        with (
            refbrowser.open(tmp_path / "odd.json", allow=["http://127.0.0.1:9"]) as dataset,
            pytest.warns(UserWarning, match=f"'/a' is left out: .*{why}"),
        ):
            assert not refbrowser.to_virtualizarr(dataset)._group.arrays
    # A place with settings that no store has is told, and the references are given.
    (tmp_path / "odd.json").write_text(json.dumps({**_ONE, "a/0": ["s3://b/a", 0, 4]}))
    told = ["s3://b:profile=mine"]
    with refbrowser.open(tmp_path / "odd.json", allow=["s3://b"], storage_options=told) as dataset:
        with pytest.warns(UserWarning, match="no store can be made for s3://b: obstore has no profiles"):
            made: Any = refbrowser.to_virtualizarr(dataset)
        assert made._group["a"].manifest.dict()["0"]["path"] == "s3://b/a"
        registry = _registry()
        from obstore.store import MemoryStore

        own: Any = MemoryStore()
        own.put("a", b"\1\0\2\0")
        registry.register("s3://b", own)
        found = xarray.open_zarr(
            refbrowser.to_virtualizarr(dataset, registry), consolidated=False, zarr_format=3
        )
        assert found["a"].values.tolist() == [1, 2]
    # Documents that share a registry keep their bytes apart.
    stores = []
    for number in range(2):
        (tmp_path / "odd.json").write_text(json.dumps({**_ONE, "a/0": f"{number}{number}{number}{number}"}))
        with refbrowser.open(tmp_path / "odd.json") as dataset:
            stores.append(refbrowser.to_virtualizarr(dataset, registry))
    for number, store in enumerate(stores):
        found = xarray.open_zarr(store, consolidated=False, zarr_format=3, mask_and_scale=False)
        assert found["a"].values.tobytes() == b"%d" % number * 4


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["http", "gs", "s3", pytest.param("abfs", marks=pytest.mark.long)])
def test_object_stores_are_read_by_obstore(
    scheme: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    data = (folder / "0.nc").read_bytes()
    if scheme == "http":
        with (
            HttpServer({"/d%20e/a.nc": data}) as served,
            refbrowser.open(served.url("/d%20e/a.nc")) as dataset,
        ):
            _same(dataset)
        return
    if scheme == "gs":
        # The emulator does not know the paths that obstore asks for.
        text = {**_ONE, "a/0": ["gs://b/a", 0, 4]}
        (tmp_path / "a.json").write_text(json.dumps(text))
        with HttpServer({"/b/a": b"\1\0\2\0"}) as served:
            more: Any = {"allow": ["gs://b"], "storage_options": [f"gs://b:endpoint={served.url('')}"]}
            with refbrowser.open(tmp_path / "a.json", **more) as dataset:
                store: Any = refbrowser.to_virtualizarr(dataset)
                found = xarray.open_zarr(store, consolidated=False, zarr_format=3)
                assert found["a"].values.tolist() == [1, 2]
        return
    server: ObjectServer = request.getfixturevalue(f"{scheme}_server")
    bucket = server.new_bucket()
    server.put(f"{bucket}/d e/a.nc", data)
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=3)
    array = group.create_array("a", shape=(6,), chunks=(2,), dtype="i4", dimension_names=["x"])
    array[:2], array[4:] = 1, 3
    server.put_folder(f"{bucket}/a.zarr", tmp_path / "a.zarr")
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("d e/a.nc", "a.zarr"):
        with refbrowser.open(f"{bucket}/{name}", storage_options=server.settings(bucket)) as dataset:
            _same(dataset)
            stores = refbrowser.to_virtualizarr(dataset)._registry.map
            said = [str(each.config) for entry in stores.values() for each in entry.iter_stores()]
            assert not any(secret in text for secret in (SECRET, ACCOUNT_KEY) for text in said)


def test_chunks_of_unequal_sides_are_left_out(tmp_path: Path) -> None:
    values = np.arange(12, dtype="i4").reshape(6, 2)
    write_rectilinear(tmp_path / "s" / "a", values, [[1, 2, 3], 2], dimension_names=["y", "x"])
    write_rectilinear(tmp_path / "s" / "b", values, [3, 2], dimension_names=["y", "x"])
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    (tmp_path / "s" / "zarr.json").write_text(json.dumps(group))
    with (
        refbrowser.open(tmp_path / "s") as dataset,
        pytest.warns(UserWarning, match=r"'/a' is left out: its chunks have unequal sides, \[1, 2, 3\]×2"),
    ):
        store: Any = refbrowser.to_virtualizarr(dataset)
    found = xarray.open_zarr(store, consolidated=False, zarr_format=3)
    assert list(found) == ["b"]
    assert np.array_equal(found["b"].values, values)
