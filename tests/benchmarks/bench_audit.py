"""Audits: a million references looked at without reading, and the state of ten thousand files of a server.

How many thousand references, and how many files, may be given: ``bench_audit.py 100 1000``.
Figures of the second part are against the limit of the link: latency x files / connections.
"""

from __future__ import annotations

import json
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
    assert (result.urls, result.groups) == (count, [])
    limit = LATENCY * count / CONNECTIONS
    figure("stat: time", took, "s")
    figure("stat: against the limit of the link", took / limit, "x", aim="1.2")
    figure("stat: CPU against the limit of the link", cpu / limit, "x", aim="1.2")


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
