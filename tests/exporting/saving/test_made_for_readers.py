"""What `make` writes by default opens in the software of the field, as it is told to find files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.engine.audit.reader_notes import reader_notes
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.model.reference import Inline

xr = pytest.importorskip("xarray")
NAMES = ("t2m", "count", "time", "lat")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of two days as xarray writes them, with NaN as fill value, below the current folder."""
    (tmp_path / "data").mkdir()
    for day in range(2):
        values = np.arange(2 * 3 * 4, dtype="f4").reshape(2, 3, 4) + 100 * day
        values[0, 0, 0] = np.nan
        dataset = xr.Dataset(
            {
                "t2m": (("time", "lat", "lon"), values, {"units": "K"}),
                "count": (("time",), np.arange(2, dtype="i4")),
            },
            {"time": ("time", np.arange(2) + 2 * day, {"units": "hours since 2020-01-01"})}
            | {"lat": np.arange(3.0)},
        )
        encoding = {"t2m": {"zlib": True, "chunksizes": (1, 3, 4)}}
        dataset.to_netcdf(tmp_path / "data" / f"{day}.nc", encoding=encoding)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["one.json", "all.json", "one.parq", "all.parquet"])
def made(request: pytest.FixtureRequest, folder: Path) -> Path:
    """One of the forms that a user gets who gives no option but the name."""
    path = folder / request.param
    if path.stem == "one":
        refbrowser.make(folder / "data" / "0.nc", path)
    else:
        refbrowser.combine(str(folder / "data" / "*.nc"), path, concat="time")
    return path


def truth(made: Path, name: str) -> Any:
    files = [made.parent / "data" / f"{day}.nc" for day in range(1 if made.stem == "one" else 2)]
    opened = [xr.open_dataset(each, decode_times=False) for each in files]
    whole = [each[name].values for each in opened]
    return whole[0] if name == "lat" else np.concatenate(whole)


def check(found: Any, made: Path) -> None:
    for name in NAMES:
        if name in found.variables:
            np.testing.assert_array_equal(found[name].values, truth(made, name))
    assert "t2m" in found


@pytest.mark.slow
def test_fsspec_finds_all_that_is_referred_to(made: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    if made.suffix != ".json":
        pytest.importorskip("fastparquet")
    filesystem = fsspec.filesystem("reference", fo=str(made))
    for key in filesystem.find("") if made.suffix == ".json" else ["t2m/0.0.0", "lat/0"]:
        assert filesystem.cat(key)


@pytest.mark.slow
def test_the_kerchunk_engine_reads_the_values(made: Path) -> None:
    pytest.importorskip("kerchunk")
    if made.suffix != ".json":
        pytest.importorskip("fastparquet")
    with xr.open_dataset(str(made), engine="kerchunk", decode_times=False) as found:
        check(found, made)


@pytest.mark.slow
def test_virtualizarr_reads_the_values(made: Path, folder: Path) -> None:
    parsers = pytest.importorskip("virtualizarr.parsers")
    registry = pytest.importorskip("obspec_utils.registry")
    stores = pytest.importorskip("obstore.store")
    kind = parsers.KerchunkJSONParser
    if made.suffix != ".json":
        pytest.importorskip("fastparquet")
        kind = parsers.KerchunkParquetParser
    # VirtualiZarr 2.5 reads no values that stand in a document: those of coordinates that files share.
    with refbrowser.open(made) as dataset:
        held = [name for name in NAMES if _is_held(dataset, name)]
    parser = kind(fs_root=folder.as_uri(), skip_variables=held)
    place = made.as_uri() if made.suffix == ".json" else str(made)
    store = parser(place, registry.ObjectStoreRegistry({"file://": stores.LocalStore()}))
    with xr.open_zarr(store, zarr_format=3, consolidated=False, decode_times=False) as found:
        check(found, made)
    if made.stem == "one":
        assert held == []


def _is_held(dataset: Any, name: str) -> bool:
    first = ".".join("0" * len(dataset[f"/{name}"].shape))
    return isinstance(dataset.document.expansion.reference(f"{name}/{first}"), Inline)


@pytest.mark.slow
def test_gdal_has_nothing_to_refuse(made: Path) -> None:
    with refbrowser.open(made) as dataset:
        assert [each for each in reader_notes(dataset.document) if each.reader == "GDAL"] == []
    if made.suffix == ".json":
        text = json.loads(made.read_bytes())
        # GDAL takes a document for Version 0 whose first member is another one.
        assert [*text] == ["version", "refs"]
        urls = {value[0] for value in text["refs"].values() if isinstance(value, list)}
        # It joins relative names with the folder of the document.
        assert urls == {f"data/{day}.nc" for day in range(1 if made.stem == "one" else 2)}
    elif made.stem == "one":
        # Relative names of the parquet form are looked for in three places by three readers.
        with refbrowser.open(made) as dataset:
            assert {*dataset.document.urls.texts} == {str(made.parent / "data" / "0.nc")}


def test_a_document_that_is_moved_with_its_files_is_read(folder: Path) -> None:
    refbrowser.make(folder / "data" / "0.nc", folder / "data" / "one.json")
    os.rename(folder / "data", folder / "elsewhere")
    with refbrowser.open(folder / "elsewhere" / "one.json") as found:
        assert found["/t2m"][1, 0, :2].tolist() == [12, 13]


def test_full_paths_are_given_where_asked_for_or_needed(folder: Path) -> None:
    full = str(folder / "data" / "0.nc")
    (folder / "refs").mkdir()
    for target, options in (("full.json", {"absolute": True}), ("refs/x.json", {})):
        refbrowser.make(full, folder / target, options=ReferenceOptions(**options))
        text = json.loads((folder / target).read_bytes())
        assert text["refs"]["t2m/0.0.0"][0] == full
    # A linked file lies where it is.
    (folder / "linked.nc").symlink_to(full)
    refbrowser.make("linked.nc", folder / "refs" / "y.json")
    assert json.loads((folder / "refs" / "y.json").read_bytes())["refs"]["lat/0"][0] == full
    with pytest.raises(RefbrowserError, match="exclude each other"):
        refbrowser.make(full, "z.json", options=ReferenceOptions(absolute=True, relative=True))


def test_templates_are_written_where_they_save_what_was_asked_for(folder: Path) -> None:
    for share, has in ((None, False), (0, True), (1, True), (90, False)):
        options = ReferenceOptions(template_share=share, absolute=True)
        refbrowser.make("data/0.nc", "t.json", options=options, force=True)
        text = json.loads(Path("t.json").read_bytes())
        assert ("templates" in text) is has, share
        with refbrowser.open("t.json") as found:
            assert found["/t2m"][1, 0, :2].tolist() == [12, 13]
    with pytest.raises(RefbrowserError, match="has no templates"):
        refbrowser.make("data/0.nc", "t.parq", options=ReferenceOptions(template_share=0))


def test_chunks_of_a_store_are_written_out(folder: Path) -> None:
    pytest.importorskip("zarr")
    with xr.open_dataset("data/0.nc") as dataset:
        dataset.to_zarr("store.zarr", zarr_format=2, encoding={"t2m": {"chunks": (1, 3, 4)}})
    (made,) = refbrowser.make("store.zarr", "s.json").made
    assert not any("gen" in loss for loss in made.losses)
    text = json.loads(Path("s.json").read_bytes())
    assert [*text] == ["version", "refs"]
    assert text["refs"]["t2m/1.0.0"] == ["store.zarr/t2m/1.0.0"]
    (made,) = refbrowser.make("store.zarr", "g.json", options=ReferenceOptions(template_share=0)).made
    assert any("simple_templates" in loss for loss in made.losses)
    assert json.loads(Path("g.json").read_bytes())["gen"]


def test_braces_in_names_are_not_taken_for_templates(folder: Path) -> None:
    os.rename("data/0.nc", "data/{{x}}.nc")
    refbrowser.make("data/{{x}}.nc", "b.json")
    with refbrowser.open("b.json") as found:
        assert found["/t2m"][1, 0, :2].tolist() == [12, 13]


def test_the_name_of_one_document_is_none_of_many(folder: Path) -> None:
    for name in ("all.json", "all.json.gz", "all.parquet", "all.parq"):
        with pytest.raises(RefbrowserError, match="2 files") as caught:
            refbrowser.make("data/*.nc", name)
        assert caught.value.kind is ErrorKind.USAGE
        assert all(word in caught.value.advice for word in ("--concat", "--new-dim", "folder"))
        assert not Path(name).exists()
    assert len(refbrowser.make("data/*.nc", "docs").made) == 2


def test_the_suffix_chooses_the_form(folder: Path) -> None:
    for form, name in (("refs-parquet", "x.json"), ("refs-v1", "x.parq"), ("refs-v0", "x.parquet")):
        with pytest.raises(RefbrowserError, match="not the name of a document") as caught:
            refbrowser.make("data/0.nc", name, format=form)
        assert caught.value.kind is ErrorKind.USAGE
        with pytest.raises(RefbrowserError, match="not the name of a document"):
            refbrowser.combine("data/*.nc", name, format=form, concat="time")
    refbrowser.make("data/0.nc", "x.json.gz", format="refs-v0")
    assert Path("x.json.gz").read_bytes()[:2] == b"\x1f\x8b"
    with refbrowser.open("x.json.gz") as found:
        assert found["/t2m"][1, 0, :2].tolist() == [12, 13]
