"""Planning and reading all of an array of a million chunks: of a folder that holds few, and of a zip archive.

Each command runs as its user starts it, in a process of its own, with the start of Python. How much smaller
the array is may be given: ``python tests/benchmarks/bench_million_chunks.py 10``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from report import figure, heading

SIDE, CHUNK = 1000, 4
#: Chunks that the folder holds: reading the others finds that they are not there.
STORED = 1000
ELEMENTS = b"\0\0\x80?" * CHUNK**2


def metadata(side: int) -> dict[str, str]:
    """Return the documents of a store with one array of `side` x `side` chunks."""
    array = {
        "zarr_format": 2,
        "shape": [side * CHUNK, side * CHUNK],
        "chunks": [CHUNK, CHUNK],
        "dtype": "<f4",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    return {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array)}


def write_folder(path: Path, side: int) -> Path:
    """Write a folder that holds the first chunks."""
    (path / "a").mkdir(parents=True)
    for key, text in metadata(side).items():
        (path / key).write_text(text)
    for number in range(STORED):
        (path / f"a/{number // side}.{number % side}").write_bytes(ELEMENTS)
    return path


def write_archive(path: Path, side: int) -> Path:
    """Write an archive that holds all chunks."""
    with zipfile.ZipFile(path, "w") as archive:
        for key, text in metadata(side).items():
            archive.writestr(key, text)
        for row in range(side):
            for column in range(side):
                archive.writestr(zipfile.ZipInfo(f"a/{row}.{column}"), ELEMENTS)
    return path


def measured(what: str, aims: tuple[str, str], *command: str) -> None:
    """Print what a command takes."""
    before, start = os.times(), time.perf_counter()
    code = (
        "import sys; from refbrowser.cli.program import main; code = main(sys.argv[1:]); "
        "print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')], "
        "file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
    )
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    figure(f"{what}, CPU", cpu, "s", aim=aims[0])
    figure(f"{what}, elapsed", time.perf_counter() - start, "s")
    figure(f"{what}, memory at most", int(done.stderr.split()[-1]) / 1024, "MiB", aim=aims[1])


def main() -> None:
    """Print the figures."""
    side = int(SIDE / float(sys.argv[1]) ** 0.5) if len(sys.argv) > 1 else SIDE
    heading(f"An array of {side**2} chunks, all of it")
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name
        folder, archive = Path(name) / "folder", Path(name) / "archive.zip"
        for path in (write_folder(folder, side), write_archive(archive, side)):
            measured(f"plan, {path.stem}", ("2 s", "300 MB"), "plan", str(path), "/a")
            out = str(Path(name) / f"{path.stem}.npy")
            measured(f"read, {path.stem}", ("20 s", "300 MB"), "read", str(path), "/a", "-o", out)


if __name__ == "__main__":
    main()
