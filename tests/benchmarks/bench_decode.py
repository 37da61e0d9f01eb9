"""Decoding one chunk on one thread, ours against numcodecs; and how long other threads wait meanwhile."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import numcodecs
import numpy as np
from report import figure, heading

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.values import Chunks

SHUFFLE = {"id": "shuffle", "elementsize": 4}
CASES: list[tuple[str, list[dict[str, Any]], str]] = [
    ("zlib", [{"id": "zlib", "level": 1}], ""),
    ("gzip", [{"id": "gzip", "level": 1}], ""),
    ("shuffle + zlib", [SHUFFLE, {"id": "zlib", "level": 4}], "2.5"),
    ("shuffle + zlib + fletcher32", [SHUFFLE, {"id": "zlib", "level": 4}, {"id": "fletcher32"}], ""),
    ("shuffle", [SHUFFLE], ""),
    ("zstd", [{"id": "zstd", "level": 1}], ""),
    ("blosc-lz4", [{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}], ""),
    ("lz4", [{"id": "lz4"}], ""),
    ("delta + zstd", [{"id": "delta", "dtype": "<i4"}, {"id": "zstd", "level": 1}], ""),
]


def field(count: int) -> np.ndarray:
    """A smooth field with noise in the last digits, as measurements have."""
    x = np.linspace(0, 40, count)
    noise = np.random.default_rng(0).normal(0, 0.01, count)
    return np.round(280 + 15 * np.sin(x) + 3 * np.sin(11 * x) + noise, 2).astype("<f4")


def pipeline(codecs: list[dict[str, Any]], shape: tuple[int, ...], dtype: str) -> CodecPipeline:
    specs = tuple(
        CodecSpec(item["id"], {key: value for key, value in item.items() if key != "id"}) for item in codecs
    )
    grid = RegularChunkGrid(shape, shape)
    return CodecPipeline.for_array(
        ArrayNode(
            path="/a", shape=shape, type=DataType.of(np.dtype(dtype)), values=Chunks(grid=grid, codecs=specs)
        )
    )


def speeds(ours: Callable[[], object], other: Callable[[], object], size: int) -> tuple[float, float]:
    """MB/s of each, best of runs that take turns."""
    best = [float("inf"), float("inf")]
    ends = time.perf_counter() + 1.2
    while time.perf_counter() < ends:
        for place, work in enumerate((ours, other)):
            began = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - began)
    return size / best[0] / 1e6, size / best[1] / 1e6


def one(name: str, codecs: list[dict[str, Any]], aim: str, count: int) -> None:
    values = field(count)
    line = pipeline(codecs, (count,), "<f4")
    instances = [numcodecs.get_codec(dict(item)) for item in codecs]
    packed: Any = values
    for codec in instances:
        packed = codec.encode(packed)
    stored = bytes(numcodecs.compat.ensure_bytes(packed))
    target = np.empty(count, "<f4")

    def ours() -> None:
        line.decode(stored, target)

    def by_numcodecs() -> None:
        # What zarr does: decode, then copy into the result.
        data: Any = stored
        for codec in reversed(instances):
            data = codec.decode(data)
        target[...] = numcodecs.compat.ensure_ndarray(data).view("<f4")

    by_numcodecs()
    expected = target.copy()
    ours()
    assert target.tobytes() == expected.tobytes()
    mine, theirs = speeds(ours, by_numcodecs, values.nbytes)
    ratio = values.nbytes / len(stored)
    figure(
        f"{name}, {values.nbytes / 2**20:.0f} MiB (compressed {ratio:.1f} times)",
        mine,
        "MB/s",
        other=theirs,
        aim=aim,
    )


def stall(codecs: list[dict[str, Any]], count: int) -> tuple[float, float]:
    """Median and longest gap in ms of a thread that wakes each ms while another decodes."""
    line = pipeline(codecs, (count,), "<f4")
    stored = line.encode(field(count))
    target = np.empty(count, "<f4")
    done = threading.Event()

    def decode() -> None:
        for _ in range(10):
            line.decode(stored, target)
        done.set()

    worker = threading.Thread(target=decode)
    gaps, last = [], time.perf_counter()
    worker.start()
    while not done.is_set():
        time.sleep(0.001)
        now = time.perf_counter()
        gaps.append((now - last) * 1e3)
        last = now
    worker.join()
    return statistics.median(gaps), max(gaps)


def main() -> None:
    """Print all figures."""
    heading("Decoding on one thread (other: numcodecs; above 1 is faster)")
    for name, codecs, aim in CASES:
        one(name, codecs, aim, 1 << 18)
    for name, codecs, aim in CASES[2:5]:
        one(name, codecs, aim, 1 << 24)
    heading("Wake-up of another thread while chunks of 64 MiB are decoded")
    for name, codecs, _ in CASES[:5]:
        median, longest = stall(codecs, 1 << 24)
        figure(f"{name}: median", median, "ms")
        figure(f"{name}: longest", longest, "ms", aim="25 at p99")


if __name__ == "__main__":
    main()
