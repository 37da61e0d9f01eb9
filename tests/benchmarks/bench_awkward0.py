"""Files of Awkward 0 against awkward0: showing 1,000 arrays, one column and ten lists of 1 GiB, all of it.

awkward0 runs in its old environment (tests/awkward0_environment.py), both in processes of their own, with all
modules loaded, and find their file in the disk's cache. The size in MiB may be given:
``python tests/benchmarks/bench_awkward0.py 64``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from awkward0_encoder import Encoder, zipped
from awkward0_environment import old_environment
from processes import Cost, best
from report import figure, heading

MIB = 1 << 20
ARRAYS = 1000
COLUMNS = 32
#: Mean length of lists.
EACH = 4

OURS = """
import sys, refbrowser, awkward
with refbrowser.open({small!r}) as dataset:
    for array in dataset.arrays.values():
        if array.node.nested is not None:
            awkward.to_list(array.to_awkward())
"""
#: Names, types and lengths: what the window's tree shows.
OUR_SHOW = """
with refbrowser.open(sys.argv[1]) as dataset:
    listing = [(path, array.node.type.name, array.shape) for path, array in dataset.arrays.items()
               if array.node.nested is not None]
"""
OUR_COLUMN = """
with refbrowser.open(sys.argv[1]) as dataset:
    listing = dataset["/array/c07"].to_awkward()
"""
OUR_TEN = """
with refbrowser.open(sys.argv[1]) as dataset:
    array = dataset["/array/c07"]
    middle = array.shape[0] // 2
    listing = awkward.to_list(array.to_awkward(middle, middle + 10))
"""
OUR_ALL = """
with refbrowser.open(sys.argv[1]) as dataset:
    listing = dataset["/array"].to_awkward()
"""
OUR_SUM = """
import numpy
listing = []
with refbrowser.open(sys.argv[1]) as dataset:
    for number in range({columns}):
        listing.append(awkward.sum(dataset[f"/array/c{{number:02}}"].to_awkward()))
"""
THEIRS = """
import sys, awkward0, zlib, uproot3_methods
awkward0.load({small!r})
"""
#: It knows the type of an array when it has read it.
THEIR_SHOW = """
file = awkward0.load(sys.argv[1])
listing = [(name, str(file[name].type)) for name in file]
"""
THEIR_COLUMN = """
listing = awkward0.load(sys.argv[1])["c07"]
"""
THEIR_TEN = """
column = awkward0.load(sys.argv[1])["c07"]
middle = len(column) // 2
listing = column[middle : middle + 10].tolist()
"""
THEIR_ALL = """
listing = awkward0.load(sys.argv[1])
"""
THEIR_SUM = """
table = awkward0.load(sys.argv[1])
listing = [table[name].content.sum() for name in table.columns]
"""


class Peer:
    """awkward0 in its environment."""

    def __init__(self, small: Path) -> None:
        self.python, self.variables = old_environment()
        self.imports = THEIRS.format(small=str(small))

    def best(self, work: str, path: Path, runs: int = 3) -> Cost:
        """Return the best run of some work."""
        return best(self.imports, work, path, runs, python=self.python, variables=self.variables)


def told(what: str, ours: Cost, theirs: Cost, aim: str) -> None:
    """Print time, processor time and memory of both."""
    figure(f"{what}: time", ours.seconds * 1e3, "ms", other=theirs.seconds * 1e3, aim=aim)
    figure(f"{what}: processor", ours.cpu * 1e3, "ms", other=theirs.cpu * 1e3)
    figure(f"{what}: peak memory", ours.peak / MIB, "MiB", other=theirs.peak / MIB)


def many_arrays(path: Path, rows: Callable[[int], int]) -> None:
    """Write many small arrays of lists, records and texts, each of so many rows."""
    members: dict[str, bytes] = {}
    for number in range(ARRAYS):
        counts = np.arange(rows(number)) % 5
        numbers = np.arange(int(counts.sum())) * 1.5
        encoder = Encoder(f"a{number:04}")
        if number % 3 == 0:
            root = encoder.jagged(counts, numbers, codecs=["zlib.decompress"])
        elif number % 3 == 1:
            root = encoder.table(x=numbers, y=encoder.jagged(counts, numbers))
        else:
            root = encoder.strings([f"text {each}" for each in range(len(counts))])
        members |= encoder.members(root)
    path.write_bytes(zipped(members))


def large(path: Path, size: int) -> None:
    """Write a table of columns of lists; as writers do, counts are compressed and contents are not."""
    rows = max(1, size // COLUMNS // EACH // 8)
    random = np.random.default_rng(0)
    encoder = Encoder()
    columns = []
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(COLUMNS):
            counts = random.integers(0, 2 * EACH + 1, rows)
            column = encoder.jagged(counts, random.random(int(counts.sum())), codecs=["zlib.decompress"])
            columns.append([f"c{number:02}", column])
            for name, data in encoder.blobs.items():
                archive.writestr(name, data)
            encoder.blobs.clear()
        root = encoder.make("Table.frompairs", {"pairs": columns}, 0)
        archive.writestr(".json", json.dumps(encoder.document(root)))


def main() -> None:
    """Measure."""
    size = int(sys.argv[1]) * MIB if len(sys.argv) > 1 else 1024 * MIB
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("BENCHMARK_FOLDER")))
    try:
        small = folder / "small.awkd"
        large(small, MIB)
        loaded, peer = OURS.format(small=str(small)), Peer(small)
        showing(folder / "many.awkd", loaded, peer)
        reading(folder / "large.awkd", size, loaded, peer)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def showing(path: Path, loaded: str, peer: Peer) -> None:
    """Open a file of many arrays, and tell their types."""
    heading(f"open a file of {ARRAYS} arrays and tell names and types, against awkward0, which reads them")
    lengths = {"all of 100 rows": lambda number: 100, "50 to 149 rows": lambda number: 50 + number % 100}
    for what, rows in lengths.items():
        many_arrays(path, rows)
        ours, theirs = best(loaded, OUR_SHOW, path), peer.best(THEIR_SHOW, path)
        assert ours.listed >= theirs.listed == ARRAYS, (ours, theirs)
        told(f"open and show, {what}", ours, theirs, "< 1")


def reading(path: Path, size: int, loaded: str, peer: Peer) -> None:
    """Read a part of a large table, and all of it."""
    heading(f"read a table of {size // MIB} MiB in {COLUMNS} columns of lists, against awkward0")
    large(path, size)
    told("one column", best(loaded, OUR_COLUMN, path), peer.best(THEIR_COLUMN, path, 2), "< 1/10")
    told("ten lists in the middle", best(loaded, OUR_TEN, path), peer.best(THEIR_TEN, path, 2), "< 1/10")
    told("all of it, kept", best(loaded, OUR_ALL, path), peer.best(THEIR_ALL, path, 2), "< 1")
    ours = best(loaded, OUR_SUM.format(columns=COLUMNS), path)
    told("all of it, column by column", ours, peer.best(THEIR_SUM, path, 2), "memory bounded")


if __name__ == "__main__":
    main()
