"""Exports with other chunks, codecs and shards: zarr-python reads what the source holds."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from deep import examples
from documents_made import DocumentMaker
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zarr.storage import ZipStore

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting import blocks, chunks
from refbrowser.exporting.exporter import coding, estimate_export, run_export
from refbrowser.exporting.folder import TargetFolder
from refbrowser.exporting.options import Sides, StoreOptions
from refbrowser.exporting.request import ArrayChoice, ExportReport, ExportRequest
from refbrowser.exporting.zip_file import TargetZip

pytestmark = pytest.mark.filterwarnings("ignore")

CODECS = ("keep", "none", "zlib:1", "gzip:2", "zstd:3", "blosc:lz4:5:bitshuffle", "blosc")


@dataclass(frozen=True)
class Case:
    """One array and how it is exported."""

    values: np.ndarray
    version: int
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    made: dict[str, Any]
    missing: tuple[int, ...]
    index: tuple[Any, ...]
    target: str
    options: StoreOptions
    block: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(1, 13)) for _ in range(rank))
    dtype = draw(st.sampled_from(["<i4", ">f8", "|u1", "<M8[s]", "|S3"]))
    values = np.arange(1, prod(shape) + 1).reshape(shape).astype("i8").astype(dtype)
    version = draw(st.sampled_from([2, 3]))
    sides = tuple(draw(st.integers(1, size + 2)) for size in shape)
    shards = None
    if version == 3 and rank and draw(st.booleans()):
        shards = tuple(side * draw(st.integers(1, 3)) for side in sides)
    made: dict[str, Any] = {"compressors": draw(st.sampled_from([None, "auto"]))}
    if version == 2:
        made["order"] = draw(st.sampled_from("CF"))
    index = tuple(
        draw(st.sampled_from([np.s_[:], np.s_[1:], np.s_[::2], np.s_[: size // 2 + 1], size // 2]))
        for size in shape
    )
    target = draw(st.sampled_from(["zarr-v2", "zarr-v3"]))
    options = StoreOptions(
        chunks=draw(st.none() | _sides(rank)),
        codec=draw(st.sampled_from(CODECS)),
        shards=draw(st.none() | st.builds(Sides, size=st.integers(1, 4000))) if target == "zarr-v3" else None,
        container=draw(st.sampled_from(["folder", "zip"])),
    )
    missing = tuple(draw(st.lists(st.integers(0, 30), max_size=3)))
    block = draw(st.sampled_from([1, 64, 500, 1 << 20]))
    return Case(values, version, sides, shards, made, missing, index, target, options, block)


def _sides(rank: int) -> st.SearchStrategy[Sides]:
    numbers = st.one_of(st.just(-1), st.integers(1, 14))
    shapes = st.tuples(*[numbers] * rank).map(lambda shape: Sides(shape))
    return st.one_of(st.builds(Sides, size=st.integers(1, 600)), shapes) if rank else st.just(Sides(size=8))


def opened_by_zarr(path: Path) -> zarr.Group:
    if path.suffix == ".zip":
        assert zipfile.ZipFile(path).testzip() is None
        return zarr.open_group(ZipStore(path, mode="r"), mode="r")
    return zarr.open_group(path, mode="r")


def exported(case: Case, folder: Path, **more: Any) -> tuple[np.ndarray, ExportReport, zarr.Array]:
    """Export a case twice: the second run verifies the first."""
    maker = DocumentMaker(folder, case.version)
    fill = np.zeros((), case.values.dtype)[()]
    maker.array("a", case.values, case.chunks, shards=case.shards, fill_value=fill, **case.made)
    keys = sorted(key for key in maker.store if "json" not in key and "/." not in key)
    path = maker.write(missing=tuple(keys[at % len(keys)] for at in case.missing))
    target = folder / ("out.zip" if case.options.container == "zip" else "out")
    with refbrowser.open(path) as dataset:
        choice = ArrayChoice.of(dataset, "/a", case.index if case.index else ...)
        request = ExportRequest(str(target), case.target, (choice,), options=case.options, **more)
        estimate = estimate_export(dataset, request)
        report = run_export(dataset, request)
        assert estimate.target_bytes >= report.written_bytes or report.written_bytes < 4000
        again = run_export(
            dataset, ExportRequest(str(target), case.target, (choice,), options=case.options, resume=True)
        )
        expected = dataset["a"][case.index if case.index else ...]
    assert again.verified == report.verified == report.chunks
    return expected, report, opened_by_zarr(target)["a"]


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_zarr_reads_what_the_source_holds(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            chunks,
            "encode_plan",
            lambda layout, unit, *, most: blocks.encode_plan(layout, unit, case.block, most),
        )
        expected, _, array = exported(case, Path(folder))
        read = np.asarray(array[...])
        assert read.shape == expected.shape
        assert read.tolist() == expected.tolist()
        assert sorted(path.name for path in Path(folder).iterdir())[:2] == ["data.bin", "document.json"]
        assert len(list(Path(folder).iterdir())) == 3, "nothing is left beside the target"


def made(folder: Path, values: np.ndarray, sides: tuple[int, ...], **options: Any) -> Path:
    """Return a document with one array ``a``."""
    maker = DocumentMaker(folder, 3)
    maker.array("a", values, sides, **options)
    return maker.write()


STEPS = np.arange(24 * 20 * 18, dtype="<i4").reshape(24, 20, 18)


@pytest.mark.parametrize(
    ("target", "parted"),
    [
        (StoreOptions(chunks=Sides((-1, 5, 6))), False),
        (StoreOptions(chunks=Sides((24, 5, 6)), shards=Sides((24, 20, 18))), True),
    ],
    ids=["chunks", "parts of a shard"],
)
def test_chunks_across_those_of_the_source_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: StoreOptions, parted: bool
) -> None:
    monkeypatch.setattr(
        chunks, "encode_plan", lambda layout, unit, *, most: blocks.encode_plan(layout, unit, 6000, most)
    )
    path = made(tmp_path, STEPS, (1, 20, 18))
    with refbrowser.open(path) as dataset:
        request = ExportRequest(str(tmp_path / "out"), "zarr-v3", options=target)
        estimate = estimate_export(dataset, request)
        stored = dataset["a"].plan(dataset["a"].selection("")).useful_bytes
        report = run_export(dataset, request)
    assert estimate.spool_bytes == STEPS.nbytes, "it is told before"
    assert report.read_bytes == stored, "each chunk is read once"
    assert (report.chunks == 1) == parted
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "out", mode="r")["a"][...], STEPS)
    assert not list((tmp_path / "out").glob(".refbrowser*"))


def test_source_chunks_are_grouped_in_blocks(tmp_path: Path) -> None:
    path = made(tmp_path, STEPS, (5, 7, 18))
    with refbrowser.open(path) as dataset:
        options = StoreOptions(chunks=Sides((10, 7, 6)), codec="zlib:1")
        request = ExportRequest(str(tmp_path / "out"), "zarr-v2", options=options)
        stored = dataset["a"].plan(dataset["a"].selection("")).useful_bytes
        assert estimate_export(dataset, request).reads == 1
        assert run_export(dataset, request).read_bytes == stored


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ({"shards": (12, 10, 18)}, {"shards": Sides((24, 20, 18))}),
        ({"shards": (12, 10, 18)}, {"chunks": Sides((3, 5, 6))}),
        ({}, {"shards": Sides((6, 10, 6))}),
    ],
    ids=["shard to shard", "shard to chunks", "chunks to shards"],
)
def test_inner_chunks_are_copied_undecoded(tmp_path: Path, source: Any, options: Any) -> None:
    path = made(tmp_path, STEPS, (3, 5, 6), **source)
    with refbrowser.open(path) as dataset:
        request = ExportRequest(str(tmp_path / "out"), "zarr-v3", options=StoreOptions(**options))
        report = run_export(dataset, request)
    assert report.copied == report.chunks == report.verified
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "out", mode="r")["a"][...], STEPS)


def test_inner_chunks_of_inline_shards_are_copied(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path, 3)
    maker.array("a", STEPS, (3, 5, 6), shards=(12, 10, 18))
    path = maker.write(inline=("a/c/0/0/0", "a/c/1/1/0"), missing=("a/c/0/1/0",))
    with refbrowser.open(path) as dataset:
        options = StoreOptions(chunks=Sides((3, 5, 6)))
        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", options=options)
        expected = dataset["a"][...]
    assert report.copied == report.chunks
    assert report.missing == 24
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "out", mode="r")["a"][...], expected)


def test_another_codec_is_not_copied(tmp_path: Path) -> None:
    path = made(tmp_path, STEPS, (6, 20, 18), compressors=zarr.codecs.ZstdCodec(level=1))
    with refbrowser.open(path) as dataset:
        for number, (codec, copied) in enumerate((("gzip:1", False), ("keep", True), ("none", False))):
            target = tmp_path / f"out{number}"
            report = refbrowser.export(dataset, target, format="zarr-v3", options=StoreOptions(codec=codec))
            assert (report.copied == report.chunks) == copied
            np.testing.assert_array_equal(zarr.open_group(target, mode="r")["a"][...], STEPS)


def test_other_options_cannot_be_gone_on_with(tmp_path: Path) -> None:
    path = made(tmp_path, STEPS, (6, 20, 18))
    first, other = StoreOptions(chunks=Sides((5, 5, 5))), StoreOptions(chunks=Sides((5, 5, 5)), codec="gzip")
    with refbrowser.open(path) as dataset:

        def stop(done: int, total: int | None, **more: Any) -> None:
            if done:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", options=first, progress=stop)
        with pytest.raises(RefbrowserError, match="was a different one"):
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", options=other, resume=True)
        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", options=first, resume=True)
    assert report.resumed
    assert report.verified == report.chunks
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "out", mode="r")["a"][...], STEPS)


@pytest.mark.slow
def test_an_interrupted_zip_file_is_gone_on_with(tmp_path: Path) -> None:
    path = made(tmp_path, np.random.default_rng(0).integers(0, 99, (64, 4000)), (1, 4000))
    target = tmp_path / "out.zip"
    with refbrowser.open(path) as dataset:

        def stop(done: int, total: int | None, **more: Any) -> None:
            if done:
                raise KeyboardInterrupt

        kept: dict[str, Any] = {"format": "zarr-v3", "options": StoreOptions(container="zip", codec="zlib:1")}
        patch = pytest.MonkeyPatch()
        patch.setattr(blocks, "TASK_BYTES", 100_000)
        with pytest.raises(KeyboardInterrupt):
            refbrowser.export(dataset, target, progress=stop, **kept)
        assert not target.exists()
        report = refbrowser.export(dataset, target, resume=True, **kept)
        patch.undo()
        expected = dataset["a"][...]
    assert 0 < report.resumed < report.chunks == report.verified
    np.testing.assert_array_equal(opened_by_zarr(target)["a"][...], expected)
    assert [name.name for name in tmp_path.glob(".out*")] == []


def test_a_flipped_byte_in_a_zip_file_is_found(tmp_path: Path) -> None:
    path = made(tmp_path, STEPS, (6, 20, 18), compressors=None)
    target = tmp_path / "out.zip"
    with refbrowser.open(path) as dataset:
        refbrowser.export(dataset, target, format="zarr-v3")
        data = bytearray(target.read_bytes())
        with zipfile.ZipFile(target) as file:
            assert {info.compress_type for info in file.infolist()} == {zipfile.ZIP_STORED}
            data[file.getinfo("a/c/1/0/0").header_offset + 100] ^= 1
        target.write_bytes(data)
        with pytest.raises(RefbrowserError, match="verification failed: 1 of"):
            refbrowser.export(dataset, target, format="zarr-v3", resume=True)


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/x", "a//x", "a\\x", "c:/x", ".."])
@pytest.mark.parametrize("kind", [TargetFolder, TargetZip])
def test_no_key_leads_out_of_a_target(tmp_path: Path, kind: type, key: str) -> None:
    place = kind(str(tmp_path / "out"))
    place.open(resume=False)
    with pytest.raises(RefbrowserError) as caught:
        place.write(key, [b"x"], 1)
    place.leave()
    assert caught.value.kind is ErrorKind.UNSAFE
    assert {path.name for path in tmp_path.iterdir()} <= {".out.refbrowser-partial"}


@pytest.mark.parametrize("pieces", [[b"longer"], [b"lo", b"nger"], [b"abc"], []])
def test_an_object_of_another_size_touches_no_other(tmp_path: Path, pieces: list[bytes]) -> None:
    place = TargetZip(str(tmp_path / "out.zip"))
    place.open(resume=False)
    with pytest.raises(RefbrowserError) as caught:
        place.write("a/0", pieces, 4)
    place.write("a/1", [b"next"], 4)
    place.finish(force=False)
    assert caught.value.kind is ErrorKind.SOURCE
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"a/1": b"next"}


def test_wide_zip_files_have_wide_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.exporting import zip_file

    monkeypatch.setattr(zip_file, "_MOST16", 3)
    path = made(tmp_path, STEPS, (6, 20, 18))
    with refbrowser.open(path) as dataset:
        refbrowser.export(dataset, tmp_path / "out.zip", format="zarr-v3")
    assert b"PK\x06\x06" in (tmp_path / "out.zip").read_bytes()[-200:]
    np.testing.assert_array_equal(opened_by_zarr(tmp_path / "out.zip")["a"][...], STEPS)


@pytest.mark.parametrize(
    "text", ["", "0", "1,,2", "auto:", "auto:8XB", "1,2,3,x", "-2", "auto:0MiB", "9" * 30]
)
def test_sides_that_mean_nothing(text: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        Sides.from_text(text)
    assert caught.value.kind is ErrorKind.USAGE


def test_sides() -> None:
    assert Sides.from_text("100, 20").shape == (100, 20)
    assert Sides.from_text(":,20,-1").shape == (-1, 20, -1)
    assert Sides.from_text("auto:2MiB").size == 2 << 20
    assert Sides((-1, 3)).within((7, 2), 8) == (7, 2)
    assert prod(Sides(size=800).within((100, 100), 8)) <= 100
    assert Sides((-1, 8)).tiled((10, 10), (4, 4), 1) == (12, 8)
    with pytest.raises(RefbrowserError, match="not a multiple"):
        Sides((6, 8)).tiled((10, 10), (4, 4), 1)


MEASURED = """
import sys
import refbrowser
from refbrowser.exporting import blocks, chunks
from refbrowser.exporting.options import Sides, StoreOptions
from refbrowser.limits import LIMITS
MIB = 1 << 20
for name, value in {"export_block": 4, "export_memory": 16, "export_coding": 8}.items():
    object.__setattr__(LIMITS, name, value * MIB)
chunks.encode_plan = lambda layout, unit, *, most: blocks.encode_plan(layout, unit, LIMITS.export_block, most)
sides = eval(sys.argv[3])
def run(target, **options):
    with refbrowser.open(sys.argv[1]) as dataset:
        refbrowser.export(dataset, target, format="zarr-v3", options=StoreOptions(**options))
def held(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1024
run(sys.argv[2] + "-first", chunks=Sides(size=1 << 16), array_chunks={"/a": Sides((1, 256, 256))})
idle = held("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
run(sys.argv[2], **sides)
print(held("VmHWM") - idle)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the peak of a process")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param("dict(chunks=Sides((-1, 16, 32)))", id="chunks", marks=pytest.mark.long),
        pytest.param(
            "dict(chunks=Sides((-1, 16, 32)), shards=Sides((-1, -1, -1)))",
            id="one shard",
            marks=pytest.mark.long,
        ),
    ],
)
def test_memory_stays_small_whatever_the_shapes(tmp_path: Path, options: str) -> None:
    values = np.tile(np.arange(512, dtype="<i4"), (160, 512, 1))
    path = made(tmp_path, values, (1, 512, 512), compressors=zarr.codecs.ZstdCodec(level=1))
    command = [sys.executable, "-W", "ignore", "-c", MEASURED, str(path), str(tmp_path / "out"), options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Blocks of 4 MiB and what the allocator keeps; the array is 160 MiB, decoded, and more while encoded.
    assert float(done.stdout) < 140
    read = zarr.open_group(tmp_path / "out", mode="r")["a"]
    np.testing.assert_array_equal(read[:, :64, :64], values[:, :64, :64])


def test_what_codes_reads_with_the_connections_of_the_session(tmp_path: Path) -> None:
    with (
        refbrowser.open(made(tmp_path, STEPS, (6, 20, 18))) as dataset,
        coding(dataset, JobControl()) as (one, _),
        coding(dataset, JobControl()) as (two, _),
    ):
        assert one.fetcher is two.fetcher is dataset.session.fetcher
        assert one.pool is not two.pool
