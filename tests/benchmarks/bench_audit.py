"""Audits: a million references looked at without reading, and the state of ten thousand files of a server.

How many thousand references, and how many files, may be given: ``bench_audit.py 100 1000``.
Figures of the second part are against the limit of the link: latency x files / connections; and against what
the simplest client takes for the same requests of the same server, which tells nothing of the answers.
"""

from __future__ import annotations

import json
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import figure, heading

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

LATENCY, CONNECTIONS = 0.03, 128
ARRAY = {
    "zarr_format": 2,
    "chunks": [100],
    "dtype": "<f4",
    "compressor": None,
    "filters": None,
    "fill_value": 0,
    "order": "C",
}
#: Looks at a document in a process of its own: its memory is that of the audit, and of nothing before.
LOOK = """
import resource, sys, time
import refbrowser
from refbrowser.engine.audit.audit_plan import AuditRequest, plan_audit
from refbrowser.engine.audit.audit_run import AuditRun

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

with refbrowser.open(sys.argv[1]) as dataset:
    opened = peak()
    since = time.process_time()
    run = AuditRun(dataset, plan_audit(dataset, AuditRequest()))
    found = list(run.findings())
    print(time.process_time() - since, peak(), opened, len(found))
"""


def write(path: Path, thousands: int) -> None:
    """Write a document of chunks of one array, a thousand in each file, some of them damaged."""
    with path.open("w") as out:
        shape = {"shape": [thousands * 100_000], **ARRAY}
        out.write('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"')
        out.write(f', "a/.zarray": {json.dumps(json.dumps(shape))}')
        for number in range(thousands * 1000):
            file, chunk = divmod(number, 1000)
            length = 399 if number % 100_000 == 7 else 400
            out.write(f',\n"a/{number}": ["f{file:04d}.nc", {8192 + 400 * chunk}, {length}]')
        out.write("}}")


def of_set(folder: Path, thousands: int) -> None:
    """Measure the level *set*."""
    path = folder / "d.json"
    write(path, thousands)
    ended = subprocess.run(
        [sys.executable, "-c", LOOK, str(path)], stdout=subprocess.PIPE, text=True, check=True
    )
    took, peak, opened, found = map(float, ended.stdout.split())
    figure("set: CPU", took, "s", aim="3")
    figure("set: memory at the highest, with the document", peak, "MiB", aim="200")
    figure("set: of that before it began", opened, "MiB")
    figure("set: findings", found, "")


def simplest(host: str, port: int, count: int) -> float:
    """Return the seconds in which nothing but sockets asks for the state of all files."""
    since = time.monotonic()
    numbers = iter(range(count))
    ask = b"HEAD /f%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with selectors.DefaultSelector() as selector:
        for number in (next(numbers) for _ in range(min(CONNECTIONS, count))):
            asking = socket.create_connection((host, port))
            selector.register(asking, selectors.EVENT_READ)
            asking.sendall(ask % number)
        while selector.get_map():
            for key, _ in selector.select():
                asking = key.fileobj
                assert isinstance(asking, socket.socket)
                # The heads are short, and there are no bodies.
                assert asking.recv(65_536).endswith(b"\r\n\r\n")
                number = next(numbers, None)
                if number is None:
                    selector.unregister(asking)
                    asking.close()
                else:
                    asking.sendall(ask % number)
    return time.monotonic() - since


def of_stat(folder: Path, count: int) -> None:
    """Measure the level *stat* against the limit of a link."""
    from servers.http_server import ServerProcess

    import refbrowser

    files = folder / "files"
    files.mkdir()
    for number in range(count):
        (files / f"f{number}").write_bytes(b"1234")
    with ServerProcess(files, latency=LATENCY) as server:
        refs = {".zgroup": '{"zarr_format": 2}'}
        refs["a/.zarray"] = json.dumps({"shape": [count], **ARRAY, "chunks": [1]})
        refs |= {f"a/{number}": [f"{server.origin}/f{number}", 0, 4] for number in range(count)}
        path = folder / "served.json"
        path.write_text(json.dumps(refs))
        with refbrowser.open(path, allow=[server.origin]) as dataset:
            since, cpu = time.monotonic(), time.process_time()
            result = refbrowser.audit(dataset, level="stat")
            took, cpu = time.monotonic() - since, time.process_time() - cpu
        least = simplest("127.0.0.1", server.port, count)
    assert (result.urls, result.groups) == (count, [])
    limit = LATENCY * count / CONNECTIONS
    figure("stat: time (other: the limit of the link)", took, "s", other=limit, aim="1.2")
    figure("stat: time (other: of the simplest client)", took, "s", other=least, aim="1.2")
    figure("stat: CPU (other: the limit of the link)", cpu, "s", other=limit, aim="1.2")
    figure("stat: CPU for each file", cpu / count * 1e6, "us")


def main() -> None:
    """Measure."""
    thousands = int(sys.argv[1]) if sys.argv[1:] else 1000
    count = int(sys.argv[2]) if sys.argv[2:] else 10_000
    heading(f"Audit, {thousands * 1000:,} references, {count:,} files")
    with tempfile.TemporaryDirectory() as folder:
        of_set(Path(folder), thousands)
        of_stat(Path(folder), count)


if __name__ == "__main__":
    main()
