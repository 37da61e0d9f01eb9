"""All chunks of an array over HTTP, against the limit of the link: latency + useful bytes / total bandwidth.

The server runs in its own process with a latency per request and limited bandwidth; the fetcher starts each
time from its defaults, without connections and without having seen the host.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from report import figure, heading

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from servers.http_server import ServerProcess

from refbrowser.errors import RefbrowserError
from refbrowser.io.access import Access
from refbrowser.io.fetch import Fetcher
from refbrowser.io.origins import Origin
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

KIB, MIB = 1 << 10, 1 << 20
REPEATS = int(os.environ.get("REFBROWSER_BENCH_REPEATS", "5"))


class Link(NamedTuple):
    name: str
    latency: float
    per_connection: float
    total: float
    aim: float


LINKS = (
    Link("30 ms, 50 and 200 MB/s", 0.03, 50e6, 200e6, 1.4),
    Link("150 ms, 10 and 50 MB/s", 0.15, 10e6, 50e6, 1.7),
)


class Case(NamedTuple):
    name: str
    files: tuple[str, ...]
    file: np.ndarray
    offset: np.ndarray
    length: int

    def columns(self, origin: str) -> ReferenceColumns:
        number = len(self.offset)
        return ReferenceColumns(
            np.full(number, ReferenceKind.RANGE, np.uint8),
            self.file.astype(np.int32),
            self.offset.astype(np.int64),
            np.full(number, self.length, np.int64),
            tuple(f"{origin}/{name}" for name in self.files),
        )

    @property
    def size(self) -> int:
        return len(self.offset) * self.length


def cases() -> list[Case]:
    random = np.random.default_rng(7)
    one = np.zeros(20_000, int)
    many = tuple(f"part{number:02d}.bin" for number in range(50))
    slots = random.permutation(50 * 64)[:1024]
    return [
        Case("contiguous, 128 of 1 MiB", ("big.bin",), one[:128], np.arange(128) * MIB, MIB),
        Case(
            "every second chunk, 512 of 128 KiB",
            ("big.bin",),
            one[:512],
            np.arange(512) * 256 * KIB,
            128 * KIB,
        ),
        Case("scattered over 50 files, 1024 of 64 KiB", many, slots // 64, slots % 64 * 64 * KIB, 64 * KIB),
        Case("20,000 chunks of 5 KB", ("big.bin",), one, np.arange(20_000) * 5_000, 5_000),
    ]


def make_files(folder: Path) -> None:
    data = np.random.default_rng(1).bytes(128 * MIB)
    (folder / "big.bin").write_bytes(data)
    for number in range(50):
        (folder / f"part{number:02d}.bin").write_bytes(data[number * MIB : (number + 4) * MIB])


def fetch(case: Case, origin: str) -> float:
    access = Access.for_document(os.curdir, [Origin.parse(origin)])
    columns = case.columns(origin)
    arrived = 0

    def deliver(row: int, data: memoryview | RefbrowserError) -> None:
        nonlocal arrived
        if isinstance(data, RefbrowserError):
            raise data
        arrived += len(data)

    with Fetcher() as fetcher:
        began = time.perf_counter()
        fetcher.fetch(fetcher.plan(columns, access), access, deliver)
        seconds = time.perf_counter() - began
    assert arrived == case.size
    return seconds


def median(run: Callable[[], float]) -> float:
    return statistics.median(run() for _ in range(REPEATS))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for link in LINKS:
            heading(f"All chunks over HTTP, {link.name}: ours and the limit (median of {REPEATS})")
            options = {"latency": link.latency, "per_connection": link.per_connection, "total": link.total}
            with ServerProcess(folder, **options) as server:
                for case in cases():
                    server.reset()
                    cpu = time.process_time()
                    seconds = median(lambda case=case: fetch(case, server.origin))
                    cpu = (time.process_time() - cpu) / REPEATS
                    stats = server.stats()
                    limit = link.latency + case.size / link.total
                    figure(case.name, seconds, "s", other=limit, aim=f"at most {link.aim}")
                    per_read = stats["requests"] / REPEATS
                    opened = stats["most_connections"]
                    print(f"    {per_read:.0f} requests, {opened} connections, {cpu:.2f} s of CPU")


if __name__ == "__main__":
    main()
