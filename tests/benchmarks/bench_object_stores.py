"""Writing and reading objects through fsspec's package (ours) and through obstore, over the same link.

The S3 server of this file answers at once, or after 30 ms, from memory and in a process of its own: moto
needs more processor time for a request than either client. After ``python tests/benchmarks/...`` the word
``moto`` has it measured too.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from report import figure, heading

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

KIB, MIB = 1 << 10, 1 << 20
REPEATS = int(os.environ.get("REFBROWSER_BENCH_REPEATS", "3"))
DELAY = 0.03
DATA = bytes(range(256)) * (4 * MIB // 256)
PAGE, PAGES = 1000, 10
BUCKET = "bench"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Answer the requests of one connection: put, a range of `DATA`, a page of names."""
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        if "expect: 100-continue" in head.lower():
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1])) if length else b""
        if delay:
            await asyncio.sleep(delay)
        asked = re.search(r"range: bytes=(\d+)-(\d+)", head, re.IGNORECASE)
        if head.startswith("PUT"):
            tag = hashlib.md5(body, usedforsecurity=False).hexdigest()
            writer.write(f'HTTP/1.1 200 OK\r\nETag: "{tag}"\r\nContent-Length: 0\r\n\r\n'.encode())
        elif asked:
            data = DATA[int(asked[1]) : int(asked[2]) + 1]
            facts = (
                f'Content-Range: bytes {asked[1]}-{asked[2]}/{len(DATA)}\r\nETag: "one"\r\n'
                "Last-Modified: Mon, 23 Nov 2026 00:00:00 GMT\r\n"
            )
            start = f"HTTP/1.1 206 Partial Content\r\n{facts}Content-Length: {len(data)}\r\n\r\n"
            writer.write(start.encode() + data)
        else:
            number = int((re.search(r"continuation-token=(\d+)", head) or ["", "0"])[1])
            text = _page(number)
            kind = "Content-Type: application/xml\r\n"
            writer.write(f"HTTP/1.1 200 OK\r\n{kind}Content-Length: {len(text)}\r\n\r\n".encode() + text)


def _page(number: int) -> bytes:
    names = "".join(
        f"<Contents><Key>x/a/{number * PAGE + at:06}</Key><Size>{KIB}</Size>"
        f"<ETag>&quot;{at:032x}&quot;</ETag><LastModified>2026-11-23T00:00:00.000Z</LastModified><StorageClass>STANDARD</StorageClass></Contents>"
        for at in range(PAGE)
    )
    is_last = number + 1 == PAGES
    more = "" if is_last else f"<NextContinuationToken>{number + 1}</NextContinuationToken>"
    return (
        "<?xml version='1.0'?><ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"
        f"<Name>{BUCKET}</Name><KeyCount>{PAGE}</KeyCount><MaxKeys>{PAGE}</MaxKeys>"
        f"<IsTruncated>{str(not is_last).lower()}</IsTruncated>{more}{names}</ListBucketResult>"
    ).encode()


def _serve(delay: float, ports: Any) -> None:
    async def run() -> None:
        server = await asyncio.start_server(lambda *ends: _answer(*ends, delay), "127.0.0.1", 0, limit=MIB)
        ports.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def served(delay: float) -> Iterator[str]:
    """Run the server; gives its endpoint."""
    context = get_context("spawn")
    ports = context.Queue()
    process = context.Process(target=_serve, args=(delay, ports), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ports.get(timeout=30)}"
    finally:
        process.kill()
        process.join()


def our_calls(endpoint: str) -> dict[str, Callable[[int, int], object]]:
    """Return what puts an object, gets a range and lists, through the program."""
    from refbrowser.io.buckets.bucket import Bucket
    from refbrowser.io.origins import Origin, parse_storage_options

    origin = Origin("s3", BUCKET)
    texts = [f"{origin}:endpoint={endpoint}", f"{origin}:anonymous=false", f"{origin}:region=us-east-1"]
    bucket = Bucket(origin, parse_storage_options(texts)[origin])

    def put(number: int, size: int) -> None:
        assert bucket.put(f"x/a/{number}", [memoryview(DATA)[:size]], size).is_confirmed

    def get(number: int, size: int) -> None:
        assert len(bucket.read("x/a/0", 7 * number, 7 * number + size)) == size

    return {"put": put, "get": get, "list": lambda *_: sum(1 for _ in bucket.objects("x/"))}


def calls_of_obstore(endpoint: str) -> dict[str, Callable[[int, int], object]]:
    """Return the same through obstore; what is put is compared by its ETag, as ours is."""
    import obstore
    from obstore.store import S3Store

    options = {"allow_http": True}
    store = S3Store(BUCKET, endpoint=endpoint, region="us-east-1", client_options=options)

    def put(number: int, size: int) -> None:
        data = DATA[:size]
        tag = obstore.put(store, f"x/a/{number}", data, use_multipart=False)["e_tag"]
        assert tag.strip('"') == hashlib.md5(data, usedforsecurity=False).hexdigest()

    def get(number: int, size: int) -> None:
        assert len(obstore.get_range(store, "x/a/0", start=7 * number, length=size)) == size

    return {
        "put": put,
        "get": get,
        "list": lambda *_: sum(map(len, obstore.list(store, "x/", chunk_size=PAGE))),
    }


CASES = (
    ("put", 600, 64 * KIB, 4),
    ("put", 600, 64 * KIB, 32),
    ("put", 100, 2 * MIB, 4),
    ("get", 1000, 64 * KIB, 4),
    ("get", 1000, 64 * KIB, 32),
    ("get", 200, 2 * MIB, 4),
    ("list", 1, PAGE * PAGES, 1),
)


def measured(call: Callable[[int, int], object], count: int, size: int, threads: int) -> tuple[float, float]:
    """Return the time that calls take from some threads, and the processor time of this process."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, range(threads), [size] * threads))
        start, used = time.perf_counter(), time.process_time()
        list(pool.map(call, range(count), [size] * count))
        return time.perf_counter() - start, time.process_time() - used


def compare(endpoint: str, title: str, cases: tuple[tuple[str, int, int, int], ...] = CASES) -> None:
    """Print the figures of one link."""
    heading(title)
    ours, theirs = our_calls(endpoint), calls_of_obstore(endpoint)
    for name, count, size, threads in cases:
        runs = [
            (*measured(ours[name], count, size, threads), *measured(theirs[name], count, size, threads))
            for _ in range(REPEATS)
        ]
        wall, used, other_wall, other_used = (statistics.median(column) for column in zip(*runs, strict=True))
        what = f"list {size} objects" if name == "list" else f"{name} {count} x {size // KIB} KiB"
        what += f", {threads} threads" if threads > 1 else ""
        figure(what, wall, "s", other=other_wall)
        figure(f"{what}: processor", used, "s", other=other_used)


def main() -> None:
    """Measure."""
    os.environ.update({"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"})
    if "moto" in sys.argv:
        from servers.object_servers import object_server

        with TemporaryDirectory() as folder, object_server("s3", Path(folder)) as server:
            server.files.mkdir(BUCKET)
            server.put(f"s3://{BUCKET}/x/a/0", DATA)
            few = (("put", 200, 64 * KIB, 4), ("get", 200, 64 * KIB, 4), ("list", 1, 200, 1))
            compare(server.endpoint, "moto", few)
    for delay, title in ((0.0, "loopback"), (DELAY, "30 ms for each request")):
        with served(delay) as endpoint:
            compare(endpoint, f"{title}: through s3fs, and through obstore")


if __name__ == "__main__":
    main()
