"""References that kerchunk and VirtualiZarr make, with each of their options, give the file's numbers."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import xarray

import refbrowser
from refbrowser.engine.findings.dataset_findings import dataset_findings
from refbrowser.xarray_backend import RefbrowserBackendEntrypoint

pytest.importorskip("kerchunk")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(non-conforming|Numcodecs codecs|not have a Zarr V3|exception was caught)"
)
ENGINE: Any = RefbrowserBackendEntrypoint
HDF5_OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"inline_threshold": 0}, {"inline_threshold": 10_000}, {"error": "ignore"},
    {"vlen_encode": "null"}, {"vlen_encode": "leave"}, {"vlen_encode": "encode"},
)  # fmt: skip
TABLES: tuple[dict[str, Any], ...] = ({}, {"record_size": 3}, {"record_size": 1, "categorical_threshold": 1})


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    # h5py's objects, dropped in zarr's thread while h5py visits a file in this one, wait for each other.
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("others")
    random = np.random.default_rng(0)
    made = xarray.Dataset(
        {
            "t": (("time", "lat"), random.random((6, 4)).astype("f4"), {"units": "K"}),
            "i": (("time", "lat"), random.integers(0, 9, (6, 4)).astype("i2")),
            "crs": ((), np.int32(3)),
        },
        {"time": np.arange(6).astype("M8[D]").astype("M8[ns]"), "lat": [1.0, 2, 3, 4]},
        {"title": "x"},
    )
    made["t"].encoding.update({"scale_factor": 0.1, "dtype": "i2", "_FillValue": -99})
    made["t"][1, 1] = np.nan
    made.to_netcdf(path / "classic.nc", format="NETCDF3_64BIT", unlimited_dims=["time"])
    made["t"].encoding.update({"zlib": True, "shuffle": True, "fletcher32": True, "chunksizes": (2, 4)})
    made["s"] = "lat", np.array(["a", "bé", "", "dd"], object)
    made.to_netcdf(path / "a.nc", engine="h5netcdf", unlimited_dims=["time"])
    made.drop_vars("s").to_netcdf(path / "plain.nc", engine="h5netcdf")
    return path


def _check(document: Any, file: Path, lacking: str = "") -> None:
    """Compare what is stored: which of it are missing values is told by some of the documents alone."""
    stored: dict[str, Any] = {"mask_and_scale": False, "decode_times": False}
    with (
        refbrowser.open(document, allow=str(file.parent)) as dataset,
        xarray.open_dataset(cast(Any, dataset), engine=ENGINE, **stored) as found,
        xarray.open_dataset(file, **stored) as wanted,
    ):
        for name in wanted.variables:
            if name != lacking:
                assert found[name].dims == wanted[name].dims
                assert found[name].values.tolist() == wanted[name].values.tolist(), (document, name)


@pytest.mark.slow
@pytest.mark.usefixtures("uncollected")
def test_documents_of_kerchunk(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.reference import LazyReferenceMapper
    from kerchunk import combine, utils
    from kerchunk.df import refs_to_dataframe
    from kerchunk.hdf import SingleHdf5ToZarr
    from kerchunk.netCDF3 import NetCDF3ToZarr

    document = tmp_path / "a.json"

    def kept(refs: Any) -> Path:
        document.write_text(json.dumps(refs, default=bytes.decode))
        return document

    for options in HDF5_OPTIONS:
        refs = SingleHdf5ToZarr(str(folder / "a.nc"), **options).translate()
        # What kerchunk puts in place of texts are no texts.
        _check(kept(refs), folder / "a.nc", lacking="s" if "vlen_encode" in options else "")
    plain = SingleHdf5ToZarr(str(folder / "plain.nc"), inline_threshold=0).translate()
    _check(kept(utils.consolidate(dict(plain["refs"]))), folder / "plain.nc")
    _check(kept(utils.do_inline(plain, threshold=40)), folder / "plain.nc")
    several = combine.MultiZarrToZarr([plain], concat_dims=["time"], identical_dims=["lat"]).translate()
    _check(kept(several), folder / "plain.nc", lacking="crs")
    for more in ({}, {"inline_threshold": 0}, {"max_chunk_size": 16}):
        _check(kept(NetCDF3ToZarr(str(folder / "classic.nc"), **more).translate()), folder / "classic.nc")
    # fastparquet is not asked for.
    begin = LazyReferenceMapper.__init__
    monkeypatch.setattr(
        LazyReferenceMapper,
        "__init__",
        lambda *given, **named: begin(*given, **{**named, "engine": "pyarrow"}),
    )
    for number, options in enumerate(TABLES):
        refs_to_dataframe(json.loads(json.dumps(plain)), str(tmp_path / f"{number}.parq"), **options)
        _check(tmp_path / f"{number}.parq", folder / "plain.nc")


@pytest.mark.slow
@pytest.mark.usefixtures("uncollected")
def test_documents_of_virtualizarr(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("virtualizarr")
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr import open_virtual_dataset
    from virtualizarr.parsers import HDFParser, NetCDF3Parser

    registry: Any = ObjectStoreRegistry({"file://": LocalStore()})
    parsers: Any = (("plain.nc", HDFParser()), ("classic.nc", NetCDF3Parser()))
    for name, parser in parsers:
        for loaded in (None, [], ["time", "i"]):
            virtual: Any = open_virtual_dataset(
                f"file://{folder}/{name}", registry=registry, parser=parser, loadable_variables=loaded
            )
            virtual.vz.to_kerchunk(str(tmp_path / "a.json"), format="json")
            # The chunk of a scalar has an empty name there: it is told.
            is_lost = not isinstance(virtual["crs"].data, np.ndarray) and name == "plain.nc"
            _check(tmp_path / "a.json", folder / name, lacking="crs" if is_lost else "")
            with refbrowser.open(tmp_path / "a.json") as dataset:
                told = [
                    each
                    for each in dataset_findings(dataset.document, dataset.hierarchy).document
                    if each.place.key == "crs/"
                ]
                assert [each.advice for each in told] == ["its chunk is 'crs/0'"] * is_lost
                for each in told:
                    (tmp_path / "mended.json").write_bytes(each.fix.apply(dataset.document).to_bytes())
                    _check(tmp_path / "mended.json", folder / name)
            _check(virtual, folder / name)
