"""Streams against siphon: indexing many messages, reading one variable and all of 1 GiB, and writing 1 GiB.

Every piece of work runs in a process of its own, with all modules loaded, and finds its file in the disk's
cache. The size in MiB may be given: ``python tests/benchmarks/bench_ncstream.py 64``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import stream_encoder as enc
from processes import Cost, best, cost
from report import figure, heading

MIB = 1 << 20
MESSAGES = 100_000
#: Elements of one small message.
EACH = 100
VARIABLES = 32
#: How often an export and a copy are made.
ROUNDS = 4
#: Bytes of one message of the large streams.
TILE = 4 * MIB

INDEX = """
from refbrowser.io.fetching.byte_sources import LocalBytes
from refbrowser.wings.ncstream.reading.walk import walk_stream
"""
OUR_INDEX = """
with LocalBytes(sys.argv[1]) as source:
    listing = walk_stream(source, url=sys.argv[1]).table
"""
SIPHON = "import logging; from siphon.cdmr.ncstream import read_ncstream_messages"
#: siphon complains about END.
THEIR_READ = """
logging.disable(logging.CRITICAL)
with open(sys.argv[1], "rb") as file:
    file.read(4)
    listing = read_ncstream_messages(file)
"""
#: All modules are loaded when a stream was read.
OURS = """
import sys, refbrowser
with refbrowser.open({small!r}) as dataset:
    for array in dataset.arrays.values():
        array[...]
"""
OUR_OPEN = """
listing = refbrowser.open(sys.argv[1]).arrays
"""
OUR_ONE = """
with refbrowser.open(sys.argv[1]) as dataset:
    listing = dataset["/v07"][...]
"""
OUR_ALL = """
with refbrowser.open(sys.argv[1]) as dataset:
    listing = [array[...] for array in dataset.arrays.values()]
"""
#: Messages of the stream are whole variables in siphon's hands; in turn, so that memory does not tell.
OUR_SUM = """
listing = []
with refbrowser.open(sys.argv[1]) as dataset:
    for array in dataset.arrays.values():
        listing.append(array[...].ravel()[::4096].sum(dtype="f8"))
"""
#: The checksums of the file that was written are its verification: told apart.
EXPORT = """
import refbrowser, refbrowser.wings.ncstream.writing.stream_target as export; from time import perf_counter"""
OUR_EXPORT = """
verify, took = export.verify_stream, []
def timed(*arguments):
    began = perf_counter()
    try: return verify(*arguments)
    finally: took.append(perf_counter() - began)
export.verify_stream = timed
refbrowser.export(sys.argv[1], sys.argv[1] + ".ncs", format="ncstream")
listing = range(int(took[0] * 1e6))
"""


def many_messages(path: Path) -> None:
    """Write a variable in many messages of a few hundred bytes."""
    shape = [enc.dimension("time", MESSAGES, unlimited=True), enc.dimension("x", EACH)]
    root = enc.group(dimensions=shape, variables=[enc.variable("v", enc.FLOAT, shape)])
    values = np.arange(EACH, dtype=">f4")
    with path.open("wb") as file:
        file.write(enc.MAGIC_START + enc.header(root))
        for number in range(MESSAGES):
            body = enc.data_body("v", enc.FLOAT, [(number, 1, None), (0, EACH, None)], bigend=True, version=2)
            file.write(enc.data(body, enc.regular((values + number).tobytes())))
        file.write(enc.MAGIC_END)


def large(path: Path, size: int, *, deflated: bool) -> None:
    """Write `size` bytes of smooth fields with noise in the last digits, in messages of 4 MiB."""
    rows = max(1, size // VARIABLES // TILE)
    side = min(TILE, size // VARIABLES) // 4 // 1024 or 1
    shape = [enc.dimension("time", rows, unlimited=True), enc.dimension("y", side), enc.dimension("x", 1024)]
    names = [f"v{number:02}" for number in range(VARIABLES)]
    root = enc.group(dimensions=shape, variables=[enc.variable(name, enc.FLOAT, shape) for name in names])
    random = np.random.default_rng(0)
    smooth = 280 + 15 * np.sin(np.linspace(0, 40, side * 1024)).reshape(side, 1024)
    with path.open("wb") as file:
        file.write(enc.MAGIC_START + enc.header(root))
        for name in names:
            for row in range(rows):
                noise = random.integers(0, 32, (side, 1024)) / 100
                payload = np.round(smooth + row + noise, 2).astype(">f4").tobytes()
                file.writelines(_message(name, row, side, payload, deflated=deflated))
        file.write(enc.MAGIC_END)


def _message(name: str, row: int, side: int, payload: bytes, *, deflated: bool) -> tuple[bytes, bytes]:
    ranges = [(row, 1, None), (0, side, None), (0, 1024, None)]
    facts = {"compress": enc.DEFLATE, "uncompressed": len(payload)} if deflated else {}
    body = enc.data_body(name, enc.FLOAT, ranges, bigend=True, version=2, **facts)
    stored = zlib.compress(payload, 1) if deflated else payload
    return enc.data(body, enc.varint(len(stored))), stored


def told(what: str, ours: Cost, theirs: Cost, aim: str) -> None:
    """Print time, processor time and memory of both."""
    figure(f"{what}: time", ours.seconds * 1e3, "ms", other=theirs.seconds * 1e3, aim=aim)
    figure(f"{what}: processor", ours.cpu * 1e3, "ms", other=theirs.cpu * 1e3)
    figure(f"{what}: peak memory", ours.peak / MIB, "MiB", other=theirs.peak / MIB)


def ours_loaded(folder: Path) -> str:
    """Return the code that loads what reads streams."""
    small = folder / "small.ncs"
    large(small, 1, deflated=True)
    return OURS.format(small=str(small))


def index(folder: Path) -> None:
    """Index many messages."""
    heading(f"index a stream of {MESSAGES} messages, against siphon, which reads them")
    path = folder / "many.ncs"
    many_messages(path)
    ours, theirs = best(INDEX, OUR_INDEX, path), best(SIPHON, THEIR_READ, path, 1)
    assert ours.listed == MESSAGES + 1, ours
    assert theirs.listed == MESSAGES + 1, theirs
    told("walk the stream", ours, theirs, "< 1/3")
    told("open it", best(ours_loaded(folder), OUR_OPEN, path), theirs, "< 1/3")
    path.unlink()


def reading(folder: Path, size: int) -> None:
    """Read one variable of many, and all of them."""
    loaded = ours_loaded(folder)
    for kind in ("uncompressed", "deflated"):
        heading(f"read a stream of {size // MIB} MiB, {kind}, against siphon")
        path = folder / f"{kind}.ncs"
        large(path, size, deflated=kind == "deflated")
        theirs = best(SIPHON, THEIR_READ, path, 2)
        told("one variable of 32", best(loaded, OUR_ONE, path), theirs, "< 1/20")
        told(
            "all of it, kept",
            best(loaded, OUR_ALL, path),
            theirs,
            "< 1" if kind == "uncompressed" else "< 1/2",
        )
        told("all of it, variable by variable", best(loaded, OUR_SUM, path), theirs, "memory bounded")
        path.unlink()


def exporting(folder: Path, size: int) -> None:
    """Write a stream, from a store and from a stream, against a copy of the same bytes."""
    heading(f"export {size // MIB} MiB, against cp and a sync of the same bytes; aim: 60 % of their rate")
    stream, store = folder / "source.ncs", folder / "source.zarr"
    large(stream, size, deflated=False)
    as_store(store, size)
    for name, source in (("a Zarr store, little endian", store), ("a stream, big endian", stream)):
        # In turn, and the best of each.
        rounds = [(exported(source), copied(source)) for _ in range(ROUNDS)]
        ours = min((each for each, _ in rounds), key=lambda each: each[0])
        theirs = min(each for _, each in rounds)
        Path(f"{source}.ncs").unlink()
        figure(f"{name}: time without verification", ours[0], "s", other=theirs, aim="< 1.67")
        figure(f"{name}: verification", ours[1], "s")
        figure(f"{name}: peak memory", ours[2], "MiB", aim="bounded")
    stream.unlink()
    shutil.rmtree(store)


def exported(source: Path) -> tuple[float, float, float]:
    """Export; returns seconds without and of the verification, and the memory in MiB."""
    Path(f"{source}.ncs").unlink(missing_ok=True)
    rested()
    found = cost(EXPORT, OUR_EXPORT, source)
    verified = found.listed / 1e6
    return found.seconds - verified, verified, found.peak / MIB


def copied(source: Path) -> float:
    """Copy what was exported and have it on the disk; returns seconds."""
    target = Path(f"{source}.ncs")
    rested()
    began = time.perf_counter()
    subprocess.run(["cp", target, f"{target}.copy"], check=True)
    subprocess.run(["sync", f"{target}.copy"], check=True)
    took = time.perf_counter() - began
    Path(f"{target}.copy").unlink()
    return took


def rested() -> None:
    """Let the disk come to rest, and memory that was freed go where it goes.

    Of a virtual machine it goes back to the host within seconds. To have it again costs more than all the
    rest, so that whoever writes right after the other has removed a file would be ahead.
    """
    subprocess.run(["sync"], check=True)
    time.sleep(3)


def as_store(path: Path, size: int) -> None:
    """Write a Zarr store without compression, in chunks of 4 MiB."""
    import zarr

    planes = max(1, size // TILE)
    array = zarr.create_array(
        path, name="a", shape=(planes, 1024, 1024), chunks=(1, 1024, 1024), dtype="<f4", compressors=None
    )
    noise = np.random.default_rng(0).random((1024, 1024), "f4")
    for plane in range(planes):
        array[plane] = noise + plane


def main() -> None:
    """Measure."""
    size = int(sys.argv[1]) * MIB if len(sys.argv) > 1 else 1024 * MIB
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("BENCHMARK_FOLDER")))
    try:
        index(folder)
        reading(folder, size)
        exporting(folder, size)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
