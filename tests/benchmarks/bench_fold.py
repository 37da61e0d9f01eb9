"""Folding a million references into templates and gen rules, compared in full: of grids, of files, of chance.

Beside the time, the longest that a cancelled fold goes on.

How many thousand references there are may be given: ``python tests/benchmarks/bench_fold.py 100``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from documents import GRID, write_large
from report import figure, heading

from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.fold import folded

Entries = Iterator[tuple[str, list[Any]]]


def grid(thousands: int) -> Entries:
    """Yield the chunks of an array that is not compressed, a thousand in each file."""
    for file in range(thousands):
        for chunk in range(1000):
            yield f"a/{file}.{chunk // 50}.{chunk % 50}", [f"s3://b/f_{file:05d}.nc", 8192 + 400 * chunk, 400]


def files(thousands: int) -> Entries:
    """Yield an array with a chunk in each file."""
    for file in range(thousands * 1000):
        yield f"a/{file}.0.0", [f"s3://bucket/data/{file // 10_000}/file_{file:07d}.nc", 8192, 400]


def arrays(thousands: int) -> Entries:
    """Yield as many arrays of a thousand chunks each."""
    for array in range(thousands):
        for file in range(1000):
            yield f"v{array}/{file}.0", [f"s3://bucket/data/f_{file:05d}.nc", 8192 + array * 400, 400]


def compressed(thousands: int) -> Entries:
    """Yield the chunks of an array whose lengths are by chance: nothing but URLs can be folded."""
    chance = Random(1)
    for file in range(thousands):
        offset = 8192
        for chunk in range(1000):
            length = chance.randrange(1000, 9000)
            url = f"s3://bucket/data/f_{file:05d}.nc"
            yield f"a/{file}.{chunk // 50}.{chunk % 50}", [url, offset, length]
            offset += length


def turns(thousands: int) -> Entries:
    """Yield chunks of two files that take turns, with an odd one among each hundred."""
    for chunk in range(thousands * 1000):
        offset = 8192 + 400 * (chunk // 2) + (chunk % 100 == 50)
        yield f"a/{chunk // 1000}.{chunk % 1000}", [f"s3://bucket/data/{'xy'[chunk % 2]}.nc", offset, 400]


def names(thousands: int) -> Entries:
    """Yield chunks of as many files, with names and ranges by chance: nothing but folders can be folded."""
    chance = Random(1)
    for chunk in range(thousands * 1000):
        url = f"s3://bucket/data/v1_{chance.getrandbits(64):016x}_{chunk % 97}.nc"
        yield f"a/{chunk}.0", [url, chance.randrange(10**6), chance.randrange(10**5)]


def few(thousands: int) -> Entries:
    """Yield chunks of files whose names are by chance, five in each."""
    chance, url, offset = Random(1), "", 0
    for chunk in range(thousands * 1000):
        if not chunk % 5:
            url, offset = f"s3://bucket/data/v1_{chance.getrandbits(64):016x}_{chunk % 97}.nc", 8192
        length = chance.randrange(1000, 9000)
        yield f"a/{chunk}.0", [url, offset, length]
        offset += length


def folders(thousands: int) -> Entries:
    """Yield chunks of as many files by chance, each in a folder of its own: nothing can be folded."""
    chance = Random(1)
    for chunk in range(thousands * 1000):
        yield (
            f"a/{chunk}.0",
            [f"s3://bucket/{chance.getrandbits(64):016x}/data.nc", 8192, chance.randrange(10**5)],
        )


def jumps(thousands: int) -> Entries:
    """Yield chunks of one length whose offsets jump: next to none of them follow one another for long."""
    chance, offset = Random(1), 0
    for chunk in range(thousands * 1000):
        offset = offset if chunk % 1000 else 8192
        url = f"s3://bucket/data/f_{chunk // 1000:05d}.nc"
        yield f"a/{chunk // 1000}.{chunk % 1000}", [url, offset, 400]
        offset += 400 * chance.choice((1, 1, 1, 2, 3))


class Watching:
    """Takes note of the longest time between two moments at which the work can be ended."""

    def __init__(self) -> None:
        self.longest, self._last = 0.0, time.thread_time()

    def check(self) -> None:
        """Take note of a moment."""
        now = time.thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now

    def stage(self, note: str) -> None:
        """Take note of a moment."""
        self.check()

    def progress(self, done: int, total: int | None = None) -> None:
        """Nothing is shown."""


def measured(what: str, read: Callable[[], ReferenceDocument]) -> None:
    """Print what opening and folding a document take, and what comes of it."""
    start = time.process_time()
    document = read()
    opened = time.process_time() - start
    start = time.process_time()
    watching = Watching()
    folding = folded(document, watching)
    took = time.process_time() - start
    watching.check()
    figure(f"{what}: fold, CPU", took, "s", aim="5")
    figure(f"{what}: longest until it can be ended, CPU", watching.longest, "s", aim="0.2")
    figure(f"{what}: fold against opening it", took / opened, "x")
    figure(f"{what}: size", 100 * folding.size_after / folding.size_before, "%")
    figure(f"{what}: in rules", 100 * folding.folded / folding.compared, "%")


def main() -> None:
    """Measure."""
    thousands = int(sys.argv[1]) if sys.argv[1:] else 1000
    heading(f"Fold, {thousands * 1000:,} references")
    for made in (grid, files, arrays, turns, compressed, names, few, folders, jumps):
        text = json.dumps(dict(made(thousands))).encode()
        measured(made.__name__, lambda text=text: ReferenceDocument.of(text))
    with tempfile.TemporaryDirectory() as folder:
        count = max(thousands * 1000 // (GRID[0] * GRID[1] * GRID[2]), 1) * GRID[0] * GRID[1] * GRID[2]
        text = write_large(Path(folder) / "large.json", count).read_bytes()
        measured("files that end amid rows", lambda: ReferenceDocument.of(text))


if __name__ == "__main__":
    main()
