"""Exported Zarr stores hold what the source holds, as zarr-python reads them."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from struct import pack

import numcodecs
import numpy as np
import pytest
import zarr
from documents_made import DocumentMaker
from zarr_versions import HAS_TYPES, needs_types_of_zarr

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.folder import TargetFolder
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.io.cancel import Cancelled, CancelToken

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: zarr-python before 3.1 writes no such attributes.
NOT_A_NUMBER = {"_FillValue": float("nan")} if HAS_TYPES else {}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A Version 2 hierarchy with every layout that an export treats differently."""
    maker = DocumentMaker(tmp_path)
    maker.group("ocean", depth=[1, 2.5], scale={"a": None})
    field = np.arange(6 * 10 * 8, dtype="<f4").reshape(6, 10, 8)
    dims = {"_ARRAY_DIMENSIONS": ["time", "lat", "lon"]}
    maker.array(
        "ocean/temp",
        field,
        (1, 4, 8),
        filters=[numcodecs.Shuffle(4)],
        compressors=numcodecs.Zlib(3),
        fill_value=-1.0,
        attributes={**dims, "units": "K", **NOT_A_NUMBER},
    )
    maker.array("ocean/big", field.astype(">i2"), (2, 5, 8), compressors=None, fill_value=None, order="F")
    maker.array("blosc", field, (3, 10, 4), compressors=numcodecs.Blosc(), fill_value=0)
    maker.array("delta", np.arange(20), (7,), filters=[numcodecs.Delta("<i8")], compressors=numcodecs.GZip(1))
    maker.array("times", np.arange(5).astype("M8[s]"), (2,), compressors=numcodecs.Zstd(1))
    maker.array("words", np.array(["a", "ßß", "", "d"], object), (3,), dtype=str, compressors=None)
    maker.array("bytes", np.array([b"ab", b"c"], "S3"), (2,), filters=None, compressors=None)
    maker.array("scalar", np.array(7, "<u2"), (), compressors=None)
    maker.array("empty", np.zeros((0, 3), "<f8"), (1, 3), compressors=None)
    return maker.write(missing=("ocean/temp/2.1.0", "ocean/big/1.0.0"), inline=("delta/1", "scalar/0"))


def values_of(dataset: refbrowser.Dataset) -> dict[str, np.ndarray]:
    return {path.strip("/"): np.asarray(array[...]) for path, array in dataset.arrays.items()}


@pytest.mark.slow
@pytest.mark.parametrize("format", ["zarr-v2", "zarr-v3"])
def test_everything_is_kept(document: Path, tmp_path: Path, format: str) -> None:
    target = tmp_path / "out.zarr"
    with refbrowser.open(document) as dataset:
        expected = values_of(dataset)
        report = refbrowser.export(dataset, target, format=format)
    assert report.copied == report.chunks == report.verified, "every layout keeps its bytes"
    assert report.missing == 2
    store = zarr.open_group(target, mode="r")
    for path, values in expected.items():
        array = store[path]
        read = np.asarray(array[...])
        assert read.tolist() == values.tolist(), path
        assert array.shape == values.shape
    temp = store["ocean/temp"]
    assert temp.chunks == (1, 4, 8)
    assert temp.fill_value == -1.0
    assert temp.attrs["units"] == "K"
    # Readers of Zarr v2 go by the fill value; xarray spells that of Zarr v3 so.
    said = temp.attrs["_FillValue"]
    assert np.isnan(said) if format == "zarr-v2" else said == b64encode(pack("<d", -1)).decode()
    assert store["ocean"].attrs.asdict() == {"depth": [1, 2.5], "scale": {"a": None}}
    assert store.attrs["title"] == "made"
    if format == "zarr-v3":
        assert temp.metadata.dimension_names == ("time", "lat", "lon")
        assert "_ARRAY_DIMENSIONS" not in temp.attrs
        assert {loss.path for loss in report.losses if "no fill value" in loss.what} == {"/ocean/big"}
        told = {loss.path: loss.what for loss in report.losses if "_FillValue" in loss.what}
        assert "changed to -1.0" in told["/ocean/temp"]
    else:
        assert temp.attrs["_ARRAY_DIMENSIONS"] == ["time", "lat", "lon"]
        assert store["ocean/big"].fill_value is None
        assert store["ocean/big"].order == "F"
        assert not report.losses
        assert (target / ".zmetadata").exists()
    missing = "ocean/temp/2.1.0" if format == "zarr-v2" else "ocean/temp/c/2/1/0"
    assert not (target / missing).exists(), "missing chunks stay missing"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.bin", "document.json", "out.zarr"]


@pytest.mark.slow
def test_v3_with_shards_goes_to_both_versions(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path, zarr_format=3)
    values = np.arange(40 * 30, dtype="<i4").reshape(40, 30)
    maker.array("s", values, (5, 10), shards=(10, 20), fill_value=0, dimension_names=("y", "x"))
    maker.array("crc", values, (10, 20), compressors=[zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()])
    document = maker.write(missing=("s/c/1/1",))
    with refbrowser.open(document) as dataset:
        expected = values_of(dataset)
        three = refbrowser.export(dataset, tmp_path / "three", format="zarr-v3")
        two = refbrowser.export(dataset, tmp_path / "two", format="zarr-v2")
    assert three.copied == three.chunks
    assert not three.losses
    assert any("shards" in loss.what for loss in two.losses)
    for name, report in (("three", three), ("two", two)):
        store = zarr.open_group(tmp_path / name, mode="r")
        for path, wanted in expected.items():
            np.testing.assert_array_equal(store[path][...], wanted)
        assert report.verified == report.chunks
    assert zarr.open_group(tmp_path / "two", mode="r")["s"].attrs["_ARRAY_DIMENSIONS"] == ["y", "x"]


@needs_types_of_zarr
def test_fields_of_raw_bytes_without_a_fill_value(tmp_path: Path) -> None:
    array = {"zarr_format": 2, "shape": [2], "chunks": [2], "order": "C", "compressor": None, "filters": None}
    array |= {"dtype": [["count", "<i4"], ["mark", "|V4"]], "fill_value": None}
    folder = tmp_path / "source" / "a"
    folder.mkdir(parents=True)
    (folder / ".zarray").write_text(json.dumps(array))
    (folder.parent / ".zgroup").write_text('{"zarr_format": 2}')
    (folder / "0").write_bytes(bytes(range(16)))
    with refbrowser.open(folder.parent) as dataset:
        expected = dataset["/a"][...]
        refbrowser.export(dataset, tmp_path / "three", format="zarr-v3")
    with refbrowser.open(tmp_path / "three") as written:
        np.testing.assert_array_equal(written["/a"][...], expected)


@pytest.mark.parametrize("format", ["zarr-v2", "zarr-v3"])
@pytest.mark.parametrize(
    ("index", "copied"),
    [
        (np.s_[2:5], True),
        (np.s_[3], True),
        (np.s_[:, 4:8], True),
        (np.s_[1:, 4:], True),
        (np.s_[:, 3:9], False),
        (np.s_[::2, ::3, 1:-1], False),
        (np.s_[:, 0], False),
    ],
)
def test_selections(document: Path, tmp_path: Path, format: str, index, copied: bool) -> None:
    with refbrowser.open(document) as dataset:
        temp = dataset["ocean/temp"]
        report = refbrowser.export(dataset, tmp_path / "out", format=format, arrays={"ocean/temp": index})
        expected = temp[index]
    store = zarr.open_group(tmp_path / "out", mode="r")
    assert [path for path, _ in store.members(max_depth=None)] == ["ocean", "ocean/temp"]
    np.testing.assert_array_equal(store["ocean/temp"][...], expected)
    assert store["ocean/temp"].shape == expected.shape
    assert (report.copied == report.chunks) == copied
    assert report.verified == report.chunks


def test_a_large_uncompressed_chunk_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.exporting import layout

    monkeypatch.setattr(layout, "SPLIT_SIZE", 1000)
    monkeypatch.setattr(layout, "LIMITS", type("Small", (), {"chunk_question": 2000}))
    maker = DocumentMaker(tmp_path)
    values = np.arange(40 * 50, dtype="<i4").reshape(40, 50)
    maker.array("raw", values, (40, 50), compressors=None)
    with refbrowser.open(maker.write()) as dataset:
        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3")
    store = zarr.open_group(tmp_path / "out", mode="r")
    assert store["raw"].chunks == (5, 50)
    np.testing.assert_array_equal(store["raw"][...], values)
    assert report.read_bytes == values.nbytes
    assert any("cut into chunks" in loss.what for loss in report.losses)


@pytest.mark.slow
def test_the_target_is_never_overwritten_unasked(document: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with refbrowser.open(document) as dataset:
        refbrowser.export(dataset, target, format="zarr-v3", arrays=["scalar"])
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.export(dataset, target, format="zarr-v3")
        assert caught.value.kind is ErrorKind.IO
        assert list(zarr.open_group(target, mode="r")) == ["scalar"]
        refbrowser.export(dataset, target, format="zarr-v2", arrays=["delta"], force=True)
        assert list(zarr.open_group(target, mode="r")) == ["delta"]
        home = tmp_path / "home"
        home.mkdir()
        (home / "thesis.txt").write_text("years of work")
        with pytest.raises(RefbrowserError, match="without a dataset"):
            refbrowser.export(dataset, home, format="zarr-v3", force=True)
    assert (home / "thesis.txt").exists()


def test_a_bad_chunk_fails_the_export_unless_it_may_be_left_out(document: Path, tmp_path: Path) -> None:
    text = json.loads(document.read_text())
    text["refs"]["ocean/temp/1.0.0"][1] = 10**7
    text["refs"]["blosc/0.0.0"] = "base64:!"
    document.write_text(json.dumps(text))
    with refbrowser.open(document) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", arrays=["ocean/temp"])
        assert caught.value.kind is ErrorKind.RANGE
        assert caught.value.place.key == "ocean/temp/1.0.0"
        assert not (tmp_path / "out").exists()
        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", skip_bad=True)
    assert {error.place.key for error in report.skipped} == {"ocean/temp/1.0.0", "blosc/0.0.0"}
    assert report.chunks == report.verified


def test_an_unreadable_array_fails_the_export_unless_it_may_be_left_out(
    document: Path, tmp_path: Path
) -> None:
    text = json.loads(document.read_text())
    zarray = json.loads(text["refs"]["delta/.zarray"])
    zarray["filters"] = [{"id": "grib"}]
    text["refs"]["delta/.zarray"] = json.dumps(zarray)
    document.write_text(json.dumps(text))
    with refbrowser.open(document) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v2")
        assert caught.value.place.path == "/delta"
        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v2", skip_bad=True)
    assert [error.place.path for error in report.skipped] == ["/delta"]
    assert "delta" not in zarr.open_group(tmp_path / "out", mode="r")


@pytest.mark.parametrize("index", [np.s_[...], np.s_[:, 3:9]], ids=["copied", "encoded"])
def test_a_flipped_byte_is_reported(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index
) -> None:
    arrays = {"ocean/temp": index}
    write = TargetFolder.write
    flipped = []

    def flip(self: TargetFolder, key: str, pieces, size: int) -> None:
        write(self, key, pieces, size)
        if key.endswith("c/3/0/0") and not flipped:
            path = self.path(key)
            damaged = bytearray(path.read_bytes())
            damaged[-1] ^= 1
            path.write_bytes(damaged)
            flipped.append(key)

    monkeypatch.setattr(TargetFolder, "write", flip)
    with refbrowser.open(document) as dataset:
        with pytest.raises(RefbrowserError, match="verification failed: 1 of") as caught:
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", arrays=arrays)
        assert caught.value.place.key == "ocean/temp/c/3/0/0"
        assert not (tmp_path / "out").exists()
        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", arrays=arrays, resume=True)
        assert report.resumed == report.chunks - 1
        again = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", arrays=arrays, resume=True)
        assert again.verified == again.chunks
        chunk = tmp_path / "out" / "ocean/temp/c/4/0/0"
        damaged = bytearray(chunk.read_bytes())
        damaged[-2] ^= 4
        chunk.write_bytes(damaged)
        with pytest.raises(RefbrowserError, match="ocean/temp/c/4/0/0"):
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", arrays=arrays, resume=True)


@needs_types_of_zarr
def test_changed_attributes_are_reported(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = TargetFolder.write

    def change(self: TargetFolder, key: str, pieces, size: int) -> None:
        wrong = key == "ocean/temp/zarr.json"
        write(self, key, [piece.replace(b'"K"', b'"C"') for piece in pieces] if wrong else pieces, size)

    monkeypatch.setattr(TargetFolder, "write", change)
    with refbrowser.open(document) as dataset, pytest.raises(RefbrowserError, match="attributes"):
        refbrowser.export(dataset, tmp_path / "out", format="zarr-v3")
    assert not (tmp_path / "out").exists()


def test_changed_metadata_is_reported(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = TargetFolder.write
    with refbrowser.open(document) as dataset:
        for name, value in (("fill_value", -1.5), ("dimension_names", list("abc")), ("data_type", "float64")):

            def change(
                self: TargetFolder, key: str, portions, size: int, name: str = name, value: object = value
            ) -> None:
                write(self, key, portions, size)
                if key == "ocean/temp/zarr.json":
                    metadata = json.loads(self.path(key).read_bytes())
                    assert metadata[name] != value
                    self.path(key).write_text(json.dumps(metadata | {name: value}))

            monkeypatch.setattr(TargetFolder, "write", change)
            with pytest.raises(RefbrowserError, match="chunks or fill value differ from the source"):
                refbrowser.export(dataset, tmp_path / name, format="zarr-v3", arrays={"ocean/temp": ...})
            assert not (tmp_path / name).exists()


@pytest.mark.slow
def test_cancelling_leaves_something_to_go_on_with(document: Path, tmp_path: Path) -> None:
    token = CancelToken()
    request = ExportRequest(str(tmp_path / "out"), "zarr-v2", resume=True)

    def publish(changes: dict) -> None:
        if changes["done"] > 0:
            token.cancel()

    with refbrowser.open(document) as dataset:
        control = JobControl(token, publish)
        control._last = -1e9
        with pytest.raises(Cancelled):
            run_export(dataset, request, control)
        assert not (tmp_path / "out").exists()
        report = run_export(dataset, request)
    assert report.resumed > 0
    assert report.resumed < report.chunks == report.verified


@pytest.mark.slow
def test_another_export_cannot_be_gone_on_with(document: Path, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with refbrowser.open(document) as dataset:
        folder = TargetFolder(str(tmp_path / "out"))
        folder.open(resume=False)
        with pytest.raises(RefbrowserError, match="another export is writing"):
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v3")
        (folder.partial / ".refbrowser-export.jsonl").write_text('{"fingerprint": "other"}\n')
        folder.leave()
        with pytest.raises(RefbrowserError, match="was a different one"):
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", resume=True)
        refbrowser.export(dataset, tmp_path / "out", format="zarr-v3")


KILLED = """
import os, signal, sys
from refbrowser.exporting.journal import Journal
add = Journal.add
def stop_at_half(self, entry):
    add(self, entry)
    if len(self) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
Journal.add = stop_at_half
import refbrowser
refbrowser.export(sys.argv[1], sys.argv[2], format="zarr-v3")
"""


@pytest.mark.slow
def test_a_killed_export_goes_on_where_it_was(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path)
    values = np.random.default_rng(0).integers(0, 255, (40, 5000), "u1")
    maker.array("a", values, (1, 5000), compressors=numcodecs.Zlib(1))
    document, target = maker.write(), tmp_path / "out"
    killed = subprocess.run([sys.executable, "-c", KILLED, document, target, "30"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    with refbrowser.open(document) as dataset:
        whole = dataset["a"].plan(dataset["a"].selection("")).useful_bytes
        report = refbrowser.export(dataset, target, format="zarr-v3", resume=True)
    assert report.resumed >= 22, "the last few may have been written for nothing"
    assert report.read_bytes < 0.6 * whole
    np.testing.assert_array_equal(zarr.open_group(target, mode="r")["a"][...], values)
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.slow
def test_the_estimate_is_made_without_reading(document: Path, tmp_path: Path) -> None:
    with refbrowser.open(document) as dataset:
        request = ExportRequest(str(tmp_path / "out"), "zarr-v3")
        estimate = estimate_export(dataset, request)
        assert dataset.session.fetcher.counters.requests == 0
        report = run_export(dataset, request)
    assert estimate.chunks == report.chunks
    assert estimate.missing == report.missing
    assert estimate.target_bytes == report.written_bytes
    assert estimate.losses == report.losses


def test_a_full_disk_is_noticed_before_the_first_byte(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**6, 10**6, 1000))
    with refbrowser.open(document) as dataset, pytest.raises(RefbrowserError, match="1000 bytes left"):
        refbrowser.export(dataset, tmp_path / "out", format="zarr-v3")
    assert not list(tmp_path.glob(".out*"))


def test_names_that_lead_elsewhere_stay_below_the_target(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path)
    maker.array("plain", np.arange(3), (3,), compressors=None)
    document = maker.write()
    text = json.loads(document.read_text())
    for key in list(text["refs"]):
        if key.startswith("plain/"):
            text["refs"]["a:b" + key.removeprefix("plain")] = text["refs"].pop(key)
    document.write_text(json.dumps(text))
    with refbrowser.open(document) as dataset:
        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3")
    assert [loss.what for loss in report.losses if "name" in loss.what] == ["the name is written as '/a%3Ab'"]
    assert zarr.open_group(tmp_path / "out", mode="r")["a%3Ab"][...].tolist() == [0, 1, 2]


def test_a_root_array(tmp_path: Path) -> None:
    values = np.arange(12, dtype="<i4").reshape(3, 4)
    (tmp_path / "data.bin").write_bytes(values.tobytes())
    zarray = {
        "zarr_format": 2,
        "shape": [3, 4],
        "chunks": [3, 4],
        "dtype": "<i4",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    (tmp_path / "d.json").write_text(json.dumps({".zarray": json.dumps(zarray), "0.0": ["data.bin"]}))
    with refbrowser.open(tmp_path / "d.json") as dataset:
        for format in ("zarr-v2", "zarr-v3"):
            refbrowser.export(dataset, tmp_path / format, format=format)
            np.testing.assert_array_equal(zarr.open_array(tmp_path / format, mode="r")[...], values)


def test_eraint_goes_to_v3_with_its_digests(shared_data: Path, tmp_path: Path) -> None:
    facts = json.loads((shared_data / "real" / "expected.json").read_text())["eraint_uvz"]
    with refbrowser.open(shared_data / "real" / "eraint_uvz.refs.json") as dataset:
        report = refbrowser.export(dataset, tmp_path / "era", format="zarr-v3")
    assert report.copied == report.chunks == 22
    store = zarr.open_group(tmp_path / "era", mode="r")
    for name, fact in facts.items():
        values = np.asarray(store[name][...])
        little = values.astype(values.dtype.newbyteorder("<"))
        assert hashlib.sha256(little.tobytes()).hexdigest() == fact["sha256_of_C_order_little_endian_bytes"]


def test_a_choice_names_an_array_that_is_there(document: Path) -> None:
    with refbrowser.open(document) as dataset:
        for path in ("nothing", "ocean"):
            with pytest.raises(RefbrowserError) as caught:
                ArrayChoice.of(dataset, path)
            assert caught.value.kind is ErrorKind.USAGE
        with pytest.raises(RefbrowserError, match="positive"):
            refbrowser.export(dataset, "x", format="zarr-v3", arrays={"delta": np.s_[::-1]})
        with pytest.raises(RefbrowserError, match="not a format"):
            refbrowser.export(dataset, "x", format="netcdf")


def test_progress_ends_at_the_number_of_chunks(document: Path, tmp_path: Path) -> None:

    told: list[tuple[int, int]] = []
    with refbrowser.open(document) as dataset:
        refbrowser.export(
            dataset,
            tmp_path / "out",
            format="zarr-v3",
            progress=lambda done, total, **more: told.append((done, total)),
        )
    assert told
    assert told[-1][0] == told[-1][1]
