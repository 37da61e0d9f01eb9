"""All chunks of an array over HTTP, against the limit of the link: latency + useful bytes / total bandwidth.

The server runs in its own process with a latency per request and limited bandwidth. Each read starts from the
defaults: in a process of its own, without connections and without having seen the host; imports are not
counted. Objects that are read whole take a request each, so their limit is that of all connections. The peer
is zarr-python over fsspec's reference file system, read once on the first link.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from report import figure, heading

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from servers.http_server import ServerProcess

from refbrowser.limits import LIMITS

KIB, MIB = 1 << 10, 1 << 20
REPEATS = int(os.environ.get("REFBROWSER_BENCH_REPEATS", "5"))


class Link(NamedTuple):
    name: str
    latency: float
    per_connection: float
    total: float
    aim: float


LINKS = (
    Link("30 ms, 50 and 200 MB/s", 0.03, 50e6, 200e6, 1.35),
    Link("150 ms, 10 and 50 MB/s", 0.15, 10e6, 50e6, 1.7),
)


class Case(NamedTuple):
    """Chunk `i` of the array is `length` bytes from `offset[i]` of file `file[i]`, or all of that file."""

    name: str
    files: tuple[str, ...]
    file: np.ndarray
    offset: np.ndarray
    length: int
    is_whole: bool = False

    @property
    def size(self) -> int:
        return len(self.offset) * self.length

    def limit(self, link: Link) -> float:
        """Return the seconds that the link needs."""
        rounds = math.ceil(len(self.offset) / LIMITS.connections_per_host) if self.is_whole else 1
        return rounds * link.latency + self.size / link.total

    def document(self, origin: str) -> dict[str, Any]:
        array = {
            "zarr_format": 2,
            "shape": [self.size],
            "chunks": [self.length],
            "dtype": "|u1",
            "compressor": None,
            "filters": None,
            "fill_value": None,
            "order": "C",
        }
        references = {".zgroup": json.dumps({"zarr_format": 2}), "x/.zarray": json.dumps(array)}
        return references | {
            f"x/{number}": [f"{origin}/{self.files[file]}", *(() if self.is_whole else (offset, self.length))]
            for number, (file, offset) in enumerate(
                zip(self.file.tolist(), self.offset.tolist(), strict=True)
            )
        }


def cases() -> list[Case]:
    random = np.random.default_rng(7)
    one = np.zeros(20_000, int)
    many = tuple(f"part{number:02d}.bin" for number in range(50))
    slots = random.permutation(50 * 64)[:1024]
    second = np.arange(512) * 256 * KIB
    small = tuple(f"small{number}.bin" for number in range(2_000))
    return [
        Case("contiguous, 128 of 1 MiB", ("big.bin",), one[:128], np.arange(128) * MIB, MIB),
        Case("every second chunk, 512 of 128 KiB", ("big.bin",), one[:512], second, 128 * KIB),
        Case("scattered over 50 files, 1024 of 64 KiB", many, slots // 64, slots % 64 * 64 * KIB, 64 * KIB),
        Case("20,000 chunks of 5 KB", ("big.bin",), one, np.arange(20_000) * 5_000, 5_000),
        Case("2,000 objects of 4 KiB", small, np.arange(2_000), one[:2_000], 4 * KIB, is_whole=True),
    ]


def make_files(folder: Path) -> None:
    data = np.random.default_rng(1).bytes(128 * MIB)
    (folder / "big.bin").write_bytes(data)
    for number in range(50):
        (folder / f"part{number:02d}.bin").write_bytes(data[number * MIB : (number + 4) * MIB])
    for number in range(2_000):
        (folder / f"small{number}.bin").write_bytes(data[number * 5_000 : number * 5_000 + 4 * KIB])


class Taken(NamedTuple):
    seconds: float
    processor: float
    digest: str


def digest_of(values: np.ndarray) -> str:
    return hashlib.sha256(values.tobytes()).hexdigest()


def read_here(path: str, origin: str) -> Taken:
    import concurrent.futures.thread  # noqa: F401 - loaded before the time counts, as all below

    import refbrowser
    import refbrowser.engine.reading.chunks
    import refbrowser.engine.reading_kinds
    import refbrowser.io.http.client

    with refbrowser.open(path, allow=[origin]) as dataset:
        array = dataset["/x"]
        began, processor = time.perf_counter(), time.process_time()
        values = array[...]
        seconds, processor = time.perf_counter() - began, time.process_time() - processor
    return Taken(seconds, processor, digest_of(values))


def read(path: Path, origin: str) -> Taken:
    command = [sys.executable, "-W", "ignore", __file__, str(path), origin]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Taken(*json.loads(done.stdout.splitlines()[-1]))


def read_with_zarr(path: Path) -> Taken:
    import fsspec
    import zarr

    options: dict[str, Any] = {"simple_templates": False, "skip_instance_cache": True, "asynchronous": True}
    options |= {"remote_protocol": "http", "remote_options": {"asynchronous": True}}
    system = fsspec.filesystem("reference", fo=str(path), **options)
    array = zarr.open_group(zarr.storage.FsspecStore(system, read_only=True), mode="r", zarr_format=2)["x"]
    began, processor = time.perf_counter(), time.process_time()
    values = array[...]
    return Taken(time.perf_counter() - began, time.process_time() - processor, digest_of(values))


def measure(run: Callable[[], Taken], expected: str, repeats: int) -> Taken:
    runs = [run() for _ in range(repeats)]
    assert {taken.digest for taken in runs} == {expected}
    seconds, processor = (statistics.median(numbers) for numbers in list(zip(*runs, strict=True))[:2])
    return Taken(seconds, processor, expected)


def expected_values(case: Case, folder: Path) -> np.ndarray:
    files = [np.fromfile(folder / name, np.uint8) for name in case.files]
    pairs = zip(case.file.tolist(), case.offset.tolist(), strict=True)
    return np.concatenate([files[file][offset : offset + case.length] for file, offset in pairs])


def measure_link(link: Link, folder: Path, peer: bool) -> None:
    heading(f"All chunks over HTTP, {link.name}: ours and the limit (median of {REPEATS})")
    options = {"latency": link.latency, "per_connection": link.per_connection, "total": link.total}
    with ServerProcess(folder, **options) as server:
        for case in cases():
            path = folder / "doc.json"
            path.write_text(json.dumps(case.document(server.origin)))
            expected = digest_of(expected_values(case, folder))
            server.reset()
            ours = measure(lambda path=path: read(path, server.origin), expected, REPEATS)
            stats = server.stats()
            figure(case.name, ours.seconds, "s", other=case.limit(link), aim=f"at most {link.aim}")
            requests, opened = stats["requests"] / REPEATS, stats["most_connections"]
            each = ours.processor / requests * 1e3, ours.processor / len(case.offset) * 1e6
            print(
                f"    {requests:.0f} requests, {opened} connections, {ours.processor:.2f} s of CPU: "
                f"{each[0]:.2f} ms a request, {each[1]:.0f} us a chunk",
                flush=True,
            )
            if peer:
                theirs = measure(lambda path=path: read_with_zarr(path), expected, 1)
                figure(
                    "    the same (other: zarr over fsspec, once)", ours.seconds, "s", other=theirs.seconds
                )


def main() -> None:
    """Print the figures of both links."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for number, link in enumerate(LINKS):
            measure_link(link, folder, peer=number == 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(read_here(*sys.argv[1:])))
    else:
        main()
