"""Random arrays on a server that misbehaves, read by many threads at once and compared with the truth.

A tool of `test_read_stress.py`; by hand: ``python tests/engine/read_stress.py [SECONDS] [SEED]``.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine_arrays import array_node
from servers.http_server import Fault, HttpServer

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.origins import Origin
from refbrowser.limits import LIMITS
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.reference import ByteRange, Inline, Reference, WholeFile
from refbrowser.model.selection import Selection

#: What a source may be blamed for; any other error is one of ours.
EXPECTED = {ErrorKind.SOURCE, ErrorKind.RANGE}
FAULTS = (
    *[("none", 0)] * 200,
    *[("truncate", size) for size in (0, 1, 700, 30_000)],
    *[("reset", size) for size in (0, 900, 40_000)],
    *[("stall", size) for size in (0, 2_000)],
    *[("status", status) for status in (503, 503, 500, 429)],
    ("close", 0),
    ("garbage", 0),
    ("chunked", 999),
    ("no_length", 0),
    ("extra", 50),
    ("shift", 1),
    ("content_range", "bytes 0-9/10"),
    *[("ignore_ranges", 0)] * 4,
    ("total", "*"),
)
SHARED_FILES = tuple(f"/file{number}" for number in range(6))
#: Layouts whose chunks lie in one file in their order; the small one's is so small that it is read to its end
#: where ranges are ignored.
ONE_FILE = ("contiguous", "gaps", "small")
LATENCIES = (0.0, 0.0, 0.0, 0.0, 0.001, 0.001, 0.02)
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


class Moody(HttpServer):
    """Another latency and another fault for each request; one mood in a while, shared by all requests."""

    def __init__(self, files: dict[str, bytes], seed: int) -> None:
        super().__init__(files)
        self.choices = random.Random(seed)
        self.mood: tuple[str, Any] | None = None

    def _answer(self, path: str, wanted: tuple[int, int | None] | None, head: bool) -> Any:
        if self.choices.random() < 0.01:
            self.mood = self.choices.choice([None, None, ("ignore_ranges", 0), ("chunked", 70), ("none", 0)])
        kind, value = self.mood or self.choices.choice(FAULTS)
        if self.mood and self.choices.random() < 0.03:
            kind, value = "reset", self.choices.choice([10, 3000])
        self.faults[path] = Fault(kind, value)
        self.latency = self.choices.choice(LATENCIES)
        self.requests.clear()
        return super()._answer(path, wanted, head)


@dataclass(frozen=True)
class Made:
    """An array, and what its values are."""

    name: str
    node: ArrayNode
    values: np.ndarray


class Maker:
    """Makes arrays whose chunks lie in the files of a server that is started afterwards."""

    def __init__(self, chooser: random.Random) -> None:
        self.chooser = chooser
        self.random = np.random.default_rng(chooser.randrange(2**32))
        self.files: dict[str, bytearray] = {path: bytearray() for path in (*SHARED_FILES, "/small")}
        self.made: list[tuple[str, np.ndarray, Callable[[str], ArrayNode]]] = []

    def arrays(self, origin: str) -> list[Made]:
        return [Made(name, node(origin), values) for name, values, node in self.made]

    def values(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        kind = np.dtype(dtype)
        size = int(np.prod(shape)) * kind.itemsize
        if kind.kind == "f":
            return self.random.normal(size=shape).astype(kind)
        return np.frombuffer(self.random.bytes(size), kind).reshape(shape).copy()

    def keep(self, path: str, data: bytes, gap: int = 0) -> tuple[str, int, int]:
        file = self.files[path]
        file += self.random.bytes(gap)
        file += data
        return path, len(file) - len(data), len(data)

    def add(
        self,
        name: str,
        shape: tuple[int, ...],
        chunks: tuple[int, ...],
        dtype: str,
        layout: str = "contiguous",
        **metadata: Any,
    ) -> None:
        """Add an array; `layout` says where its chunks lie."""
        values = self.values(shape, dtype)
        fill = np.dtype(dtype).type(7)
        plain = array_node(shape, chunks, dtype, fill_value=fill, **metadata)
        encode = CodecPipeline.for_array(plain).encode
        grid = RegularChunkGrid(shape, chunks)
        every = list(np.ndindex(*grid.grid_shape))
        order = every if layout in ONE_FILE else self.chooser.sample(every, len(every))
        places: dict[tuple[int, ...], tuple[str, int, int] | bytes] = {}
        pool: list[tuple[np.ndarray, tuple[str, int, int]]] = []
        here = "/small" if layout == "small" else self.chooser.choice(SHARED_FILES)
        for coords in order:
            inside = tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, chunks, strict=True))
            cut = tuple(slice(0, length) for length in grid.extent(coords))
            if layout == "mixed" and self.chooser.random() < 0.1:
                values[inside] = fill
                continue
            if layout == "shared" and len(pool) > 5:
                chunk, places[coords] = self.chooser.choice(pool)
                values[inside] = chunk[cut]
                continue
            chunk = self.values(chunks, dtype)
            chunk[cut] = values[inside]
            data = encode(chunk)
            if layout == "mixed" and self.chooser.random() < 0.1:
                places[coords] = data
            elif layout == "mixed" and self.chooser.random() < 0.1:
                path = f"/whole{len(self.files)}"
                self.files[path] = bytearray(data)
                places[coords] = (path, 0, -1)
            else:
                path = here if layout in ONE_FILE else self.chooser.choice(SHARED_FILES)
                gap = self.chooser.choice([0, 10, 20_000]) if layout == "gaps" else 0
                place = places[coords] = self.keep(path, data, gap)
                pool.append((chunk, place))
        self._made(name, values, places, shape, chunks, dtype, fill_value=fill, **metadata)

    def add_overlapping(self, name: str, count: int, length: int) -> None:
        """Add an array of bytes whose chunks are any stretches of a file, overlapping or not."""
        path = self.chooser.choice(SHARED_FILES)
        self.keep(path, self.random.bytes(300_000))
        file = np.frombuffer(bytes(self.files[path]), np.uint8)
        starts = [self.chooser.randrange(len(file) - length) for _ in range(count)]
        values = np.concatenate([file[start : start + length] for start in starts])
        places: dict[Any, Any] = {(at,): (path, start, length) for at, start in enumerate(starts)}
        self._made(name, values, places, (count * length,), (length,), "|u1")

    def _made(
        self, name: str, values: np.ndarray, places: dict[Any, Any], *shape: Any, **metadata: Any
    ) -> None:
        def node(origin: str) -> ArrayNode:
            references: dict[tuple[int, ...], Reference] = {}
            for coords, place in places.items():
                if isinstance(place, bytes):
                    references[coords] = Inline(place)
                else:
                    path, offset, length = place
                    url = origin + path
                    references[coords] = WholeFile(url) if length < 0 else ByteRange(url, offset, length)
            return array_node(*shape, references, **metadata)

        self.made.append((name, values, node))


def shards(inner: list[int], *codecs: dict[str, Any], at_end: bool = True) -> dict[str, Any]:
    configuration = {
        "chunk_shape": inner,
        "codecs": [LITTLE, *codecs],
        "index_codecs": [LITTLE, {"name": "crc32c"}],
        "index_location": "end" if at_end else "start",
    }
    return {"codecs": (CodecSpec("sharding_indexed", configuration),), "format": "zarr-v3"}


def make_arrays(chooser: random.Random) -> Maker:
    maker = Maker(chooser)
    zlib, shuffle = CodecSpec("zlib", {"level": 1}), CodecSpec("shuffle", {"elementsize": 4})
    zstd, blosc = CodecSpec("zstd", {"level": 1}), CodecSpec("blosc", {"cname": "lz4", "clevel": 1})
    maker.add("raw", (700, 900), (50, 90), ">i2")
    maker.add("raw, gaps", (300, 300), (20, 300), "<i4", "gaps")
    maker.add("raw, scattered", (60, 70, 30), (7, 11, 30), "<f4", "scattered")
    maker.add("tiny", (9_000,), (3,), "<i2", "contiguous")
    maker.add("tiny, scattered", (80, 60), (1, 2), "<i4", "scattered")
    maker.add("small", (60, 100), (1, 50), "<i4", "small")
    maker.add("small, scattered over requests", (12, 900), (1, 900), "|u1", "small")
    maker.add("shared", (200, 40), (4, 10), "<i4", "shared")
    maker.add("shared, zlib", (200, 40), (4, 10), "<i4", "shared", codecs=(zlib,))
    maker.add("F", (90, 80, 20), (30, 25, 9), "<i4", "gaps", order="F")
    maker.add("F, zlib", (90, 80, 20), (30, 25, 9), "<i4", "scattered", order="F", codecs=(zlib,))
    maker.add("mixed", (64, 50), (8, 9), "<i4", "mixed", codecs=(shuffle, zlib))
    maker.add("mixed, raw", (64, 50), (8, 9), "<f8", "mixed")
    maker.add("zstd", (500, 400), (100, 130), "<i4", codecs=(zstd,))
    maker.add("blosc", (500, 400), (100, 130), "<i4", "scattered", codecs=(blosc,))
    maker.add("huge", (1_000, 5_200), (1_000, 5_200), "<i4")
    maker.add("huge F", (1_100, 2_300), (1_100, 2_300), "<i4", order="F")
    maker.add("shards, raw", (120, 90), (40, 30), "<i4", **shards([10, 6]))
    maker.add("shards", (120, 90), (40, 30), "<i4", "gaps", **shards([5, 15], {"name": "gzip"}))
    maker.add("shards, index first", (77, 90), (40, 30), "<i4", "mixed", **shards([8, 5], at_end=False))
    maker.add_overlapping("overlapping", 400, 700)
    maker.add_overlapping("overlapping, long", 20, 90_000)
    return maker


def random_index(chooser: random.Random, shape: tuple[int, ...]) -> tuple[int | slice, ...]:
    index: list[int | slice] = []
    for size in shape:
        kind = chooser.random()
        if kind < 0.2:
            index.append(chooser.randrange(-size, size))
        elif kind < 0.45:
            index.append(slice(None))
        else:
            start, stop = sorted((chooser.randrange(size), chooser.randrange(size) + 1))
            step = chooser.choice([1, 1, 1, 2, 3, 50])
            index.append(slice(start, stop, step) if chooser.random() < 0.8 else slice(stop, start, -step))
    return tuple(index)


class Stress:
    """Threads that read at random and compare.

    Attributes
    ----------
    outcomes
        How often reads ended how.
    failures
        What was wrong; empty in the end.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []

    def run(self, seconds: float, threads: int = 4) -> None:
        chooser = random.Random(self.seed)
        maker = make_arrays(chooser)
        files = {path: bytes(data) for path, data in maker.files.items()}
        with Moody(files, self.seed) as server, Session(threads=3) as session:
            arrays = maker.arrays(server.origin)
            access = Access.for_document("document.json", [Origin.parse(server.origin)])
            end = time.monotonic() + seconds
            workers = [
                threading.Thread(target=self._work, args=(number, session, server, arrays, access, end))
                for number in range(threads)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()

    def _work(
        self,
        number: int,
        session: Session,
        server: HttpServer,
        arrays: list[Made],
        access: Access,
        end: float,
    ) -> None:
        chooser = random.Random(self.seed * 1000 + number)
        while time.monotonic() < end and not self.failures:
            made = chooser.choice(arrays)
            index = random_index(chooser, made.values.shape)
            if chooser.random() < 0.3:
                access = Access.for_document("document.json", [Origin.parse(server.origin)])
            if chooser.random() < 0.02:
                session.cache.clear()
            try:
                Check(self, chooser, session, access, made, index).run()
            except Exception as error:
                self.failures.append(f"{made.name} {index}: {error!r}")
                raise


class Check:
    """One read, compared with the truth."""

    def __init__(
        self,
        stress: Stress,
        chooser: random.Random,
        session: Session,
        access: Access,
        made: Made,
        index: tuple[int | slice, ...],
    ) -> None:
        self.stress, self.chooser, self.session, self.access = stress, chooser, session, access
        self.made, self.index = made, index
        self.selection = Selection.from_index(index, made.values.shape)
        self.truth = np.asarray(made.values[index])
        dtype = self.truth.dtype
        if chooser.random() < 0.2:
            dtype = dtype.newbyteorder("=") if chooser.random() < 0.5 else np.dtype("f8")
        self.truth = self.truth.astype(dtype)
        self.out = np.frombuffer(b"\xa5" * self.truth.nbytes, np.uint8).copy().view(dtype)
        self.out = self.out.reshape(self.truth.shape)
        self.pieces: list[EndedPart] = []
        self.token: CancelToken | None = None

    def run(self) -> None:
        told = self.chooser.random() < 0.5
        timer = None
        if self.chooser.random() < 0.2:
            self.token = CancelToken()
            timer = threading.Timer(self.chooser.choice([0.0, 0.002, 0.02, 0.1]), self.token.cancel)
            timer.start()
        try:
            self.session.read(
                self.made.node,
                self.access,
                self.selection,
                out=self.out,
                on_part=self._take if told else None,
                cancel=self.token,
                export=self.chooser.random() < 0.2,
                priority=self.chooser.randrange(3),
            )
        except RefbrowserError as error:
            self._require(error.kind in EXPECTED, f"an error of its own: {error}")
            self._require(not told, "an error was raised that was to be told")
            self.stress.outcomes["failed"] += 1
        except Cancelled:
            self._require(self.token is not None and self.token.cancelled, "cancelled by nobody")
            self.stress.outcomes["cancelled"] += 1
            self._check_pieces()
        else:
            if told:
                grid = self.made.node.grid
                assert grid is not None
                self._require(len(self.pieces) == grid.count(self.selection), "pieces were not told")
                self._check_pieces()
                self.stress.outcomes["told"] += 1
            else:
                self._require(bool((self._bits(self.out) == self._bits(self.truth)).all()), "wrong values")
                self.stress.outcomes["read"] += 1
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()

    def _take(self, piece: EndedPart) -> None:
        if piece.state is not PartState.FAILED:
            self._check_piece(piece, "when told")
        self.pieces.append(piece)

    def _check_pieces(self) -> None:
        for piece in self.pieces:
            if piece.state is PartState.FAILED:
                error = piece.error
                self._require(error is not None and error.kind in EXPECTED, f"failed by itself: {error}")
                self.stress.outcomes["chunks failed"] += 1
            else:
                self._check_piece(piece, "at the end")

    def _check_piece(self, piece: EndedPart, when: str) -> None:
        found, wanted = (self.selection.box(array)[piece.part.target] for array in (self.out, self.truth))
        same = bool((self._bits(found) == self._bits(wanted)).all())
        self._require(same, f"wrong values of {piece.part.coords} {when}")

    @staticmethod
    def _bits(array: np.ndarray) -> np.ndarray:
        return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)

    def _require(self, holds: bool, what: str) -> None:
        if not holds:
            self.stress.failures.append(f"{self.made.name} {self.index} seed {self.stress.seed}: {what}")


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    end = time.monotonic() + seconds
    for name, value in PATIENCE.items():
        object.__setattr__(LIMITS, name, value)
    while time.monotonic() < end:
        stress = Stress(seed)
        stress.run(min(25, end - time.monotonic()))
        sys.stdout.write(f"{seed} {dict(stress.outcomes)} {stress.failures}\n")
        sys.stdout.flush()
        if stress.failures:
            sys.exit(1)
        seed += 1


#: Short waits, so that much goes wrong in little time.
PATIENCE = {
    "http_wait_start": 0.001,
    "http_wait_most": 0.01,
    "circuit_failures": 10**9,
    "http_first_byte": 0.15,
    "http_between_bytes": 0.15,
}


if __name__ == "__main__":
    main()
