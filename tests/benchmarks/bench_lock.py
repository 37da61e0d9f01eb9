"""Locks of very many files: made, written, read and held against, of files of this disk and of a server.

How many thousand files there are may be given: ``python tests/benchmarks/bench_lock.py 10``.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from report import figure, heading
from servers.http_server import ServerProcess

from refbrowser.engine.locking import files_of, lock_findings, make_lock
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.fetching.lock_format import read_lock, write_lock
from refbrowser.io.origins import Origin
from refbrowser.references.document.document import ReferenceDocument

#: Files of the server, each asked for over a link of 30 ms.
SERVED, LATENCY, CONNECTIONS = 2000, 0.03, 128
#: Files in a folder.
TOGETHER = 1000


def write_files(folder: Path, count: int) -> list[str]:
    """Write small files that differ, and return their paths below the folder."""
    names = []
    for number in range(count):
        name = f"{number // TOGETHER}/{number}.bin"
        path = folder / name
        if number % TOGETHER == 0:
            path.parent.mkdir()
        path.write_bytes(b"%08d" % number * 512)
        names.append(name)
    return names


def timed(what: str, work: Callable[[], Any], unit: str = "s", **more: Any) -> Any:
    """Do something, and print the processor time that it took."""
    start = time.process_time()
    found = work()
    figure(f"{what}, CPU", time.process_time() - start, unit, **more)
    return found


def memory() -> float:
    """Return the most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def local(thousands: int) -> None:
    """Measure files of this disk."""
    heading(f"Locks, {thousands * 1000:,} files of this disk")
    with tempfile.TemporaryDirectory() as name, Fetcher() as fetcher:
        folder = Path(name)
        names = write_files(folder, thousands * 1000)
        refs = {f"a/{number}": [url, 0, 4096] for number, url in enumerate(names)}
        document = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
        del refs
        access = Access.for_document(folder / "doc.json")
        urls = timed("find the files", lambda: files_of(document))
        assert sorted(names) == urls
        before = memory()
        made = timed("look at them", lambda: make_lock(urls, access, fetcher))
        assert len(made.lock.entries) == len(urls)
        path = folder / "doc.json.lock.json"
        timed("write", lambda: write_lock(path, made.lock))
        figure("size of the lock", path.stat().st_size / 1e6, "MB")
        figure("memory for all that, at most", memory() - before, "MB")
        lock = timed("read", lambda: read_lock(path)[0])
        found = timed("compare all", lambda: list(lock_findings(urls, lock, access, fetcher)))
        assert found == []


def served() -> None:
    """Measure files of a server: how near the link's limit looking at them is."""
    heading(f"Locks, {SERVED:,} files of a server, {LATENCY * 1000:g} ms, {CONNECTIONS} connections")
    with tempfile.TemporaryDirectory() as name:
        names = write_files(Path(name), SERVED)
        with ServerProcess(name, latency=LATENCY) as server, Fetcher() as fetcher:
            access = Access.for_document("doc.json", [Origin.parse(server.origin)])
            urls = [server.url(f"/{each}") for each in names]
            start, begun = time.monotonic(), time.process_time()
            made = make_lock(urls, access, fetcher)
            figure("CPU for each request", 1e6 * (time.process_time() - begun) / made.requests, "µs")
            took = time.monotonic() - start
            assert len(made.lock.entries) == SERVED
            figure("requests for each file", made.requests / SERVED, "")
            figure("make", took, "s")
            figure("make, against the link's limit", took / (made.requests * LATENCY / CONNECTIONS), "x")
            server.reset()
            start = time.monotonic()
            assert list(lock_findings(urls, made.lock, access, fetcher)) == []
            took = time.monotonic() - start
            asked = server.stats()["requests"]
            figure("requests for each file, compared", asked / SERVED, "")
            figure("compare, against the link's limit", took / (asked * LATENCY / CONNECTIONS), "x")


if __name__ == "__main__":
    local(int(sys.argv[1]) if sys.argv[1:] else 100)
    served()
