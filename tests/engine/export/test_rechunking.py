"""Exports with other chunks, codecs and shards: zarr-python reads what the source holds."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from documents_made import DocumentMaker
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zarr.storage import ZipStore

import refbrowser
from refbrowser.engine.export import blocks, chunks
from refbrowser.engine.export.request import ArrayChoice, ExportReport, ExportRequest
from refbrowser.engine.export.run import estimate_export, run_export
from refbrowser.engine.export.store_options import Sides, StoreOptions

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


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_zarr_reads_what_the_source_holds(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            chunks, "encode_plan", lambda layout, unit: blocks.encode_plan(layout, unit, case.block)
        )
        expected, _, array = exported(case, Path(folder))
        read = np.asarray(array[...])
        assert read.shape == expected.shape
        assert read.tolist() == expected.tolist()
        assert sorted(path.name for path in Path(folder).iterdir())[:2] == ["data.bin", "document.json"]
        assert len(list(Path(folder).iterdir())) == 3, "nothing is left beside the target"
