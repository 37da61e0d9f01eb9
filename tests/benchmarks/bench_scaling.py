"""How an export scales from 1 to 1,000 workers: costs that are measured, a model of them, and a link.

``python tests/benchmarks/bench_scaling.py [measure] [model] [link]``: all three unless told otherwise.

The model is a simulation of one program that gives batches away and takes answers, one at a time, and of
workers that make them over a store with a limit for all. What it says of few workers is held against an
export by processes of this machine over a link of 30 ms, whose rate for each is a fortieth of that of the
model, as two cores would else be the limit; the more workers, the more there is to do.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import operator
import pickle
import sys
import tempfile
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from report import figure, heading
from servers.http_server import ServerProcess

import refbrowser
from refbrowser.engine.compute import AHEAD, MOST_AHEAD, Compute
from refbrowser.exporting.blocks import TASK_BYTES
from refbrowser.exporting.journal import Journal, Written
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.workers.team import MOST_BATCHES
from refbrowser.io.cancel import CancelToken

MIB = 1 << 20
GIB = 1 << 30
OBJECTS = 20_000
TASKS = 1_500
WORKERS = (1, 10, 100, 1000)


# ---- What one thing costs


@dataclass(frozen=True)
class Costs:
    """Processor seconds of the program that gives work away, and of its scheduler, one after another.

    Attributes
    ----------
    batch
        Of giving one batch away, and taking its answer.
    object
        Of taking note of one object of an answer.
    held
        Bytes of memory of the program that an object takes until the end.
    """

    batch: float
    object: float
    held: float


def journal_cost() -> tuple[float, float]:
    """Return the seconds of an object from its answer into the journal, and what the journal holds of it."""
    entries = [
        Written(
            f"ocean/a/c/{n // 400}/{n % 400}", MIB, hashlib.sha256(b"%d" % n).hexdigest(), None, "/ocean/a"
        )
        for n in range(OBJECTS)
    ]
    data = [pickle.dumps(tuple(entries[at : at + 50])) for at in range(0, OBJECTS, 50)]
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder), "bench")
        tracemalloc.start()
        for answer in data[:100]:
            for entry in pickle.loads(answer):
                journal.add(entry)
        held = tracemalloc.get_traced_memory()[0] / len(journal)
        tracemalloc.stop()
        start = time.process_time()
        for answer in data:
            for entry in pickle.loads(answer):
                journal.add(entry)
        seconds = (time.process_time() - start) / OBJECTS
        journal.close()
    return seconds, held


def batch_cost() -> float:
    """Return the processor seconds of one task of nothing, of the program and a scheduler in it."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        Compute.of(client).open() as executor,
    ):
        for count in (100, TASKS):
            start = time.process_time()
            assert sum(1 for _ in executor.run(operator.neg, range(count), CancelToken())) == count
            seconds = (time.process_time() - start) / count
    return seconds


def measured() -> Costs:
    """Measure, and print."""
    heading("what the program pays for workers")
    costs = Costs(batch_cost(), *journal_cost())
    figure("a batch, program and scheduler", costs.batch * 1e3, "ms")
    figure("an object, from its answer into the journal", costs.object * 1e6, "us")
    figure("an object, memory until the end", costs.held, "bytes")
    return costs


# ---- The model

#: What Amazon says of one prefix: reads and writes a second.
READS, WRITES = 5500, 3500
#: Of one worker: bytes a second, seconds of a request, and how many requests are under way.
RATE, LATENCY, TOGETHER = 200e6, 0.03, 64


@dataclass(frozen=True)
class Case:
    """An export: so many chunks of so many bytes, into objects of some chunks each, in batches."""

    chunks: int
    chunk_bytes: int
    per_object: int
    batches: int

    @property
    def size(self) -> int:
        """Bytes of all chunks."""
        return self.chunks * self.chunk_bytes

    @property
    def objects(self) -> int:
        """Objects that are written."""
        return -(-self.chunks // self.per_object)

    @property
    def store_seconds(self) -> float:
        """What the requests take a store whose source and target have one prefix each."""
        return max(self.chunks / READS, self.objects / WRITES)


def simulated(case: Case, workers: int, costs: Costs, *, limited: bool) -> float:
    """Return the seconds of an export: one gives batches away and takes answers, the workers make them."""
    requests = (case.chunks + case.objects) / case.batches
    lasts = case.size / case.batches / RATE + LATENCY * (2 + requests / TOGETHER)
    if limited:
        lasts = max(lasts, min(workers, case.batches) * case.store_seconds / case.batches)
    # Half of what a batch costs is giving it away, half is taking its answer.
    half = (costs.batch + costs.object * case.objects / case.batches) / 2
    free, answers = [0.0] * workers, list[float]()
    now, given, most = 0.0, 0, min(AHEAD * workers, MOST_AHEAD)
    while given < case.batches or answers:
        if given < case.batches and len(answers) < most:
            now += half
            end = max(now, heapq.heappop(free)) + lasts
            heapq.heappush(free, end)
            heapq.heappush(answers, end)
            given += 1
        else:
            now = max(now, heapq.heappop(answers)) + half
    return now


#: Exports: chunks, bytes of each, chunks of an object.
EXPORTS = {
    "20 TB, 10^7 chunks in shards of 64": (10**7, 2_000_000, 64),
    "20 TB, 10^7 chunks": (10**7, 2_000_000, 1),
    "1 TB, 10^7 chunks": (10**7, 100_000, 1),
    "200 GB, 10^5 chunks in shards of 64": (10**5, 2_000_000, 64),
    "100 GB, 10^6 chunks in shards of 256": (10**6, 100_000, 256),
}


def case_of(chunks: int, chunk_bytes: int, per_object: int) -> Case:
    """Return an export with the batches that the program makes of it."""
    size, objects = chunks * chunk_bytes, -(-chunks // per_object)
    tasks = min(objects, -(-size // TASK_BYTES))
    return Case(chunks, chunk_bytes, per_object, -(-tasks // -(-tasks // MOST_BATCHES)))


def modelled(costs: Costs) -> None:
    """Print how rates grow with workers, and what limits them."""
    heading("model, workers of 200 MB/s and 30 ms (other: as many times one worker, or the store's limit)")
    for what, numbers in EXPORTS.items():
        case = case_of(*numbers)
        one = case.size / simulated(case, 1, costs, limited=False) / 1e9
        for limited, store in ((True, f"{READS} reads/s, {WRITES} writes/s"), (False, "store without limit")):
            for workers in WORKERS:
                rate = case.size / simulated(case, workers, costs, limited=limited) / 1e9
                most = case.size / case.store_seconds / 1e9 if limited else one * workers
                told = f"aim 1; {case.batches} batches"
                other = min(one * workers, most)
                figure(f"{what}, {store}: {workers:,}", rate, "GB/s", other=other, aim=told)
        broken = case.size / case.batches / costs.batch / 1e9
        figure(f"{what}: the program gives away, at most", broken, "GB/s", other=one)
        figure(f"{what}: journal in memory", case.objects * costs.held / GIB, "GiB")


# ---- A link

#: Bytes a second of each worker's link, chunks for each worker, and the sides of a chunk of bytes.
LINK, LINK_CHUNKS, LINK_SIDE = 5e6, 256, 512
LINK_WORKERS = (1, 2, 4)


def write_source(folder: Path, origin: str, chunks: int) -> Path:
    """Write files of chunks of 256 KiB, 16 in each, and the document of the URLs that they will have."""
    metadata = {
        "zarr_format": 2,
        "shape": [chunks, LINK_SIDE, LINK_SIDE],
        "chunks": [1, LINK_SIDE, LINK_SIDE],
        "dtype": "|u1",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(metadata)}
    data = np.random.default_rng(0).integers(0, 255, (16, LINK_SIDE**2), "u1")
    for number in range(0, chunks, 16):
        (folder / f"{number}.bin").write_bytes(data.tobytes())
        for inside in range(16):
            place = [f"{origin}/{number}.bin", inside * LINK_SIDE**2, LINK_SIDE**2]
            refs[f"a/{number + inside}.0.0"] = place
    path = folder / "document.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def linked() -> None:
    """Export over a link that gives each worker so much, with 1, 2 and 4 processes of this machine."""
    import distributed

    heading(
        f"link of 30 ms and {LINK / 1e6:.0f} MB/s a worker (other: as many times one worker, or the link)"
    )
    one = 0.0
    for workers in LINK_WORKERS:
        with (
            tempfile.TemporaryDirectory() as name,
            ServerProcess(name, latency=LATENCY, total=LINK * workers) as server,
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            chunks = LINK_CHUNKS * workers
            path = write_source(Path(name), server.origin, chunks)
            client.run(operator.neg, 1)
            start = time.perf_counter()
            refbrowser.export(
                path,
                Path(name) / "out",
                format="zarr-v3",
                options=StoreOptions(shards=Sides((8, -1, -1))),
                allow=[server.origin],
                client=client,
            )
            rate = chunks * LINK_SIDE**2 / (time.perf_counter() - start)
        one = one or rate
        figure(f"{workers} workers: of the link", rate / 1e6, "MB/s", other=LINK * workers / 1e6, aim="1")
        figure(f"{workers} workers: of one", rate / 1e6, "MB/s", other=one * workers / 1e6, aim="1")


def main() -> None:
    """Measure, compute, and compare."""
    asked = sys.argv[1:] or ["measure", "model", "link"]
    costs = measured() if "measure" in asked else Costs(3e-3, 6e-6, 320)
    if "model" in asked:
        modelled(costs)
    if "link" in asked:
        linked()


if __name__ == "__main__":
    main()
