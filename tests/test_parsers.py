"""Parsers of VirtualiZarr: for each format that opens, proved against the file, read by VirtualiZarr."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
import zarr
from awkward_files import write_events
from grib_inventory import wgrib2_lines
from grib_made import message
from servers.object_servers import ObjectServer
from streams_made import write_ocean

import refbrowser
from refbrowser import parsers
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.saving import reference_proof
from refbrowser.formats.registry import form_named, openable, written
from refbrowser.parsers import Parser

virtualizarr = pytest.importorskip("virtualizarr")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*(non-conforming|Numcodecs codecs|not have a Zarr V3|cfgrib|FITS)"),
]

VALUES = np.arange(24, dtype="f4").reshape(4, 6)


def _classic(folder: Path) -> Path:
    made = xarray.Dataset({"t": (("y", "x"), VALUES)}, {"y": np.arange(4.0)})
    made.to_netcdf(folder / "a.nc3", format="NETCDF3_CLASSIC")
    return folder / "a.nc3"


def _hdf5(folder: Path) -> Path:
    made = xarray.Dataset({"t": (("y", "x"), VALUES)}, {"y": np.arange(4.0)})
    made["t"].encoding.update({"zlib": True, "chunksizes": (2, 6)})
    below = xarray.Dataset({"deep": (("y", "x"), VALUES * 2)})
    xarray.DataTree.from_dict({"/": made, "/g": below}).to_netcdf(folder / "a.nc", engine="h5netcdf")
    return folder / "a.nc"


def _tiff(folder: Path) -> Path:
    tifffile = pytest.importorskip("tifffile")
    image = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    tifffile.imwrite(folder / "a.tif", image, tile=(32, 32), compression="zlib")
    return folder / "a.tif"


def _fits(folder: Path) -> Path:
    pytest.importorskip("astropy.io.fits").PrimaryHDU(VALUES).writeto(folder / "a.fits")
    return folder / "a.fits"


def _grib(folder: Path) -> Path:
    (folder / "a.grib2").write_bytes(message("regular_ll_sfc_grib2"))
    return folder / "a.grib2"


def _grib_index(folder: Path) -> Path:
    path = _grib(folder)
    (folder / "a.grib2.idx").write_text("\n".join(wgrib2_lines(path)) + "\n")
    return folder / "a.grib2.idx"


def _hdf4(folder: Path) -> Path:
    from hdf4_made import write_arrays

    return write_arrays(folder / "a.hdf", t=VALUES)


def _references(folder: Path) -> Path:
    refbrowser.make(_hdf5(folder), folder / "a.json")
    return folder / "a.json"


def _zarr(folder: Path) -> Path:
    group = zarr.open_group(folder / "a.zarr", mode="w", zarr_format=3)
    array: Any = group.create_array("t", shape=(4, 6), chunks=(2, 3), dtype="f4", dimension_names=("y", "x"))
    array[:] = VALUES
    return folder / "a.zarr"


def _icechunk(folder: Path) -> Path:
    pytest.importorskip("icechunk")
    with refbrowser.open(_hdf5(folder)) as dataset:
        refbrowser.export(dataset, folder / "a.icechunk", format="icechunk")
    return folder / "a.icechunk"


def _dmrpp(folder: Path) -> Path:
    with refbrowser.open(_hdf5(folder)) as dataset:
        refbrowser.export(dataset, folder / "a.nc.dmrpp", format="dmrpp")
    return folder / "a.nc.dmrpp"


def _ncml(folder: Path) -> Path:
    _classic(folder)
    (folder / "a.ncml").write_text(
        '<netcdf xmlns="http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2">'
        '<aggregation dimName="run" type="joinNew"><variableAgg name="t"/>'
        '<netcdf location="a.nc3" coordValue="1"/><netcdf location="a.nc3" coordValue="2"/>'
        "</aggregation></netcdf>"
    )
    return folder / "a.ncml"


#: A file of each format; those that only a server offers have none.
MADE: dict[str, Callable[[Path], Path]] = {
    "references": _references, "zarr": _zarr, "icechunk": _icechunk, "ncstream": write_ocean,
    "awkward0": write_events, "netcdf3": _classic, "hdf5": _hdf5, "hdf4": _hdf4, "fits": _fits,
    "grib": _grib, "grib-index": _grib_index, "tiff": _tiff, "dmrpp": _dmrpp, "ncml": _ncml,
}  # fmt: skip
#: What zarr-python has no codec for.
REFUSED = {"grib": "grib", "grib-index": "grib"}


def registry(**stores: Any) -> Any:
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore

    return ObjectStoreRegistry({"file://": LocalStore(), **stores})


def _own(path: Path) -> Iterator[tuple[str, Any]]:
    with refbrowser.open(path, allow=[str(path.parent)]) as dataset:
        for name, array in dataset.arrays.items():
            yield name, np.asarray(array)


@pytest.mark.parametrize("name", MADE)
def test_each_format_is_a_parser_with_its_proof(name: str, tmp_path: Path) -> None:
    path = MADE[name](tmp_path)
    made = getattr(parsers, "".join(part.capitalize() for part in name.split("-")) + "Parser")
    assert issubclass(made, Parser)
    # A repository allows what is in its own folder.
    for parser in (made(allow=[str(tmp_path)]), Parser(allow=[str(tmp_path)])):
        if name in REFUSED:
            with pytest.raises(RefbrowserError, match=f"no manifest describes '/.*{REFUSED[name]}") as caught:
                parser(str(path), registry())
            assert caught.value.kind is ErrorKind.META
            assert "skip_variables" in caught.value.advice
            continue
        store = parser(path.as_uri(), registry())
        assert parser.proved.compared > 0
        read = zarr.open_group(store, mode="r", zarr_format=3)
        if name == "awkward0":
            # Lists are arrays of offsets and contents there.
            assert len(list(read.group_keys())) > 0
            continue
        for place, values in _own(path):
            found: Any = read[place.strip("/")]
            np.testing.assert_array_equal(found[...], values)


#: Forms in which nothing is referred to, or no values are.
TABLES = {"parquet", "feather"}


@pytest.mark.filterwarnings("ignore:.*datetime")
@pytest.mark.parametrize("form", [name for name in written() if name not in TABLES])
def test_what_is_written_opens_in_virtualizarr(form: str, tmp_path: Path) -> None:
    made, told = _hdf5(tmp_path), form_named(form)
    path = tmp_path / f"{made.name if form == 'dmrpp' else 'out'}{told.suffix}"
    with refbrowser.open(made) as dataset:
        refbrowser.export(dataset, path, format=form)
    store = parsers.open(path.as_uri(), registry(), allow=[str(tmp_path)])
    read = zarr.open_group(store, mode="r", zarr_format=3)
    found: dict[str, Any] = {name: read[name] for name in ("t", "y", "g/deep")}
    np.testing.assert_array_equal(found["t"][...], VALUES)
    np.testing.assert_array_equal(found["y"][...], np.arange(4))
    np.testing.assert_array_equal(found["g/deep"][...], VALUES * 2)


@pytest.mark.parametrize("more", [{"inline": 1000}, {"url_template": "u=PREFIX"}, {"relative": True}])
def test_documents_that_its_own_parser_refuses_open(more: dict[str, Any], tmp_path: Path) -> None:
    from virtualizarr.parsers import KerchunkJSONParser

    path = tmp_path / "a.json"
    more = {name: str(each).replace("PREFIX", str(tmp_path)) if name == "url_template" else each
            for name, each in more.items()}  # fmt: skip
    options: Any = refbrowser.ReferenceOptions(**more)
    refbrowser.make(_hdf5(tmp_path), path, format="refs-v1", options=options)
    # It has no words for templates, nor for names of files beside the document; 2.5 reads no values in it.
    if "inline" not in more:
        with pytest.raises(ValueError):
            KerchunkJSONParser()(path.as_uri(), registry())
    found = parsers.open(path.as_uri(), registry()).to_virtual_dataset(loadable_variables=["t"])
    np.testing.assert_array_equal(found["t"], VALUES)


def test_its_own_parser_of_dmrpp_reads_ours(tmp_path: Path) -> None:
    from virtualizarr.parsers import DMRPPParser

    store = DMRPPParser()(_dmrpp(tmp_path).as_uri(), registry())
    np.testing.assert_array_equal(store.to_virtual_dataset(loadable_variables=["t"])["t"], VALUES)


def test_there_is_a_parser_for_each_row_of_the_table() -> None:
    assert {each.name for each in openable()} - set(MADE) == {"cdmremote"}
    assert set(parsers.names()) <= set(dir(parsers))
    assert [getattr(parsers, name).format for name in parsers.names()] == [each.name for each in openable()]
    with pytest.raises(AttributeError):
        _ = parsers.NoSuchParser
    from virtualizarr.parsers.typing import Parser as Protocol

    assert isinstance(Parser(), Protocol)


def test_one_of_a_format_opens_no_other(tmp_path: Path) -> None:
    for name, path in (("TiffParser", _classic(tmp_path)), ("Netcdf3Parser", _tiff(tmp_path))):
        with pytest.raises(RefbrowserError) as caught:
            getattr(parsers, name)()(str(path), registry())
        assert caught.value.kind is ErrorKind.FORMAT


def test_virtualizarr_opens_with_its_own_arguments(tmp_path: Path) -> None:
    path = _hdf5(tmp_path)
    virtual = virtualizarr.open_virtual_dataset(
        str(path), registry=registry(), parser=Parser(), drop_variables=["y"], loadable_variables=[]
    )
    assert list(virtual.variables) == ["t"]
    group = virtualizarr.open_virtual_dataset(
        str(path), registry=registry(), parser=Parser(group="g"), loadable_variables=["deep"]
    )
    np.testing.assert_array_equal(group["deep"], VALUES * 2)
    tree = virtualizarr.open_virtual_datatree(str(path), registry=registry(), parser=Parser())
    assert set(tree.groups) == {"/", "/g"}
    for skipped in ("t", "/t"):
        store = parsers.open(str(path), registry(), skip_variables=[skipped])
        assert list(store._group.arrays) == ["y"]
    with pytest.raises(RefbrowserError, match="no group 'h'"):
        parsers.open(str(path), registry(), group="h")
    # It is sent to those who open many files.
    many = []
    for number in range(3):
        made = xarray.Dataset(
            {"t": (("time", "x"), VALUES[:2] + number)}, {"time": [2.0 * number, 2 * number + 1]}
        )
        made.to_netcdf(tmp_path / f"{number}.nc", engine="h5netcdf")
        many.append(str(tmp_path / f"{number}.nc"))
    joined = virtualizarr.open_virtual_mfdataset(
        many, registry=registry(), parser=parsers.Hdf5Parser(), parallel=ThreadPoolExecutor,
        combine="nested", concat_dim="time", loadable_variables=["time"],
    )  # fmt: skip
    assert joined.sizes["time"] == 6
    sent = pickle.loads(pickle.dumps(parsers.TiffParser(skip_variables=["b"], proof="none")))
    assert type(sent) is parsers.TiffParser
    assert (sent.skip_variables, sent.proof) == (("b",), "none")


def test_a_store_with_other_values_is_not_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = reference_proof.is_same
    path = str(_hdf5(tmp_path))
    monkeypatch.setattr(reference_proof, "is_same", lambda found, expected: same(found, expected + 1))
    with pytest.raises(RefbrowserError, match="differ from those of the file"):
        parsers.open(path, registry())
    parsers.open(path, registry(), proof="none")
    with pytest.raises(RefbrowserError, match="one of sample, all, none"):
        Parser(proof="some")


def test_all_of_it_is_compared_on_request(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "many.zarr", mode="w", zarr_format=3)
    array: Any = group.create_array("t", shape=(40, 3), chunks=(2, 2), dtype="i2", dimension_names=("y", "x"))
    array[:] = np.arange(120).reshape(40, 3)
    group.create_array("scalar", shape=(), dtype="i2", dimension_names=())[...] = 3
    counts = {}
    for proof in ("none", "sample", "all"):
        parser = Parser(proof=proof)
        parser(str(tmp_path / "many.zarr"), registry())
        counts[proof] = 0 if parser.proved is None else parser.proved.compared
    assert counts == {"none": 0, "sample": 5, "all": 41}


def test_what_nothing_allows_is_not_read(tmp_path: Path) -> None:
    from obstore.store import LocalStore

    for folder in ("data", "documents"):
        (tmp_path / folder).mkdir()
    refbrowser.make(_hdf5(tmp_path / "data"), tmp_path / "documents" / "a.json")
    path = str(tmp_path / "documents" / "a.json")
    with pytest.raises(RefbrowserError) as caught:
        parsers.open(path, registry())
    assert caught.value.kind is ErrorKind.BLOCKED
    parsers.open(path, registry(), allow=[str(tmp_path / "data")])
    # A store of a folder is a word for it.
    below = registry()
    below.register(f"file://{tmp_path}/data", LocalStore(prefix=tmp_path / "data"))
    parsers.open(path, below)


def test_the_stores_of_the_registry_say_how_to_connect(
    s3_server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from obstore.store import S3Store

    bucket = s3_server.new_bucket()
    s3_server.put(f"{bucket}/a.nc", _hdf5(tmp_path).read_bytes())
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    said: Any = {
        "endpoint": s3_server.endpoint,
        "region": "us-east-1",
        "client_options": {"allow_http": True},
    }
    store = S3Store(bucket.removeprefix("s3://"), **said)
    parser = Parser(proof="all")
    made = parser(f"{bucket}/a.nc", registry(**{bucket: store}))
    assert parser.proved.compared == 4
    found: Any = zarr.open_group(made, mode="r", zarr_format=3)["t"]
    np.testing.assert_array_equal(found[...], VALUES)


def test_options_of_opening_templates_and_connections(tmp_path: Path) -> None:
    metadata = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i2", "fill_value": 0, "order": "C",
        "compressor": None, "filters": None,
    }  # fmt: skip
    (tmp_path / "a.dat").write_bytes(b"\1\0\2\0")
    text = {
        "version": 1, "templates": {"u": "gone.dat"},
        "refs": {".zgroup": '{"zarr_format":2}', "a/.zarray": json.dumps(metadata), "a/.zattrs": "{}",
                 "a/0": ["{{u}}", 0, 4]},
    }  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps(text))
    store = parsers.open(str(tmp_path / "a.json"), registry(), templates={"u": "a.dat"})
    found: Any = zarr.open_group(store, mode="r", zarr_format=3)["a"]
    assert found[...].tolist() == [1, 2]
    with pytest.raises(RefbrowserError, match="there is no store here"):
        parsers.open(str(tmp_path / "a.json"), registry(), flavour="zarr-v2")
