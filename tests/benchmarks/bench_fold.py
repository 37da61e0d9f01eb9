"""Folding a million references into templates and gen rules, compared in full: of grids, of files, of chance.

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
from refbrowser.references.edits.fold import folded

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


def measured(what: str, read: Callable[[], ReferenceDocument]) -> None:
    """Print what opening and folding a document take, and what comes of it."""
    start = time.process_time()
    document = read()
    opened = time.process_time() - start
    start = time.process_time()
    folding = folded(document)
    took = time.process_time() - start
    figure(f"{what}: fold, CPU", took, "s", aim="5")
    figure(f"{what}: fold against opening it", took / opened, "x")
    figure(f"{what}: size", 100 * folding.size_after / folding.size_before, "%")
    figure(f"{what}: in rules", 100 * folding.folded / folding.compared, "%")


def main() -> None:
    """Measure."""
    thousands = int(sys.argv[1]) if sys.argv[1:] else 1000
    heading(f"Fold, {thousands * 1000:,} references")
    for made in (grid, files, arrays, compressed):
        text = json.dumps(dict(made(thousands))).encode()
        measured(made.__name__, lambda text=text: ReferenceDocument.of(text))
    with tempfile.TemporaryDirectory() as folder:
        count = max(thousands * 1000 // (GRID[0] * GRID[1] * GRID[2]), 1) * GRID[0] * GRID[1] * GRID[2]
        text = write_large(Path(folder) / "large.json", count).read_bytes()
        measured("files that end amid rows", lambda: ReferenceDocument.of(text))


if __name__ == "__main__":
    main()
