"""Comparing two documents of very many references, against a plain comparison of their JSON as dictionaries.

How many thousand references there are may be given: ``python tests/benchmarks/bench_diff.py 2000``.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from processes import best
from report import figure, heading

OURS = (
    "import refbrowser, sys, pathlib\nfrom refbrowser.engine.comparing.comparison import compare_datasets\n"
    "folder = pathlib.Path(sys.argv[1])\n"
)
OPENED = "sides = [refbrowser.open(folder / name) for name in ('here.json', 'there.json')]\n"
WHOLE = f"{OPENED}listing = compare_datasets(*sides).arrays[0].chunks.examples\n"
ALONE = "listing = compare_datasets(*sides).arrays[0].chunks.examples\n"
PLAIN = "import json, sys, pathlib\nfolder = pathlib.Path(sys.argv[1])\n"
AS_DICTIONARIES = (
    "names = 'here.json', 'there.json'\n"
    "here, there = (json.loads((folder / name).read_bytes())['refs'] for name in names)\n"
    "listing = [key for key in here.keys() | there.keys() if here.get(key) != there.get(key)]\n"
)


def write(path: Path, thousands: int, url: Callable[[int, int], str], shift: int) -> None:
    """Write a document whose every thousandth chunk begins `shift` bytes later."""
    array = {
        "zarr_format": 2, "shape": [thousands, 1000], "chunks": [1, 1], "dtype": "<f4", "compressor": None,
        "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array)}
    for file in range(thousands):
        for chunk in range(1000):
            offset = 8192 + 400 * chunk + (shift if not chunk else 0)
            refs[f"a/{file}.{chunk}"] = [url(file, chunk), offset, 400]
    path.write_text(json.dumps({"version": 1, "refs": refs}))


def main() -> None:
    """Measure."""
    thousands = int(sys.argv[1]) if sys.argv[1:] else 2000
    heading(f"Diff of two sets of {thousands * 1000:,} references, one in a thousand moved")
    for what, url in (
        ("a thousand chunks in each file", lambda file, _: f"s3://bucket/f_{file:05d}.nc"),
        ("a file for each chunk", lambda file, chunk: f"s3://bucket/{file:05d}/{chunk}"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            for name, shift in (("here.json", 0), ("there.json", 8)):
                write(Path(folder) / name, thousands, url, shift)
            plain = best(PLAIN, AS_DICTIONARIES, Path(folder), runs=2)
            whole = best(OURS, WHOLE, Path(folder), runs=2)
            alone = best(OURS + OPENED, ALONE, Path(folder), runs=2)
            figure(f"{what}: opening and diff, CPU", whole.cpu, "s", other=plain.cpu, aim="3 s per 10^6")
            figure(f"{what}: diff of open ones, CPU", alone.cpu, "s", other=plain.cpu)
            figure(f"{what}: memory at most", whole.peak / 2**20, "MiB", other=plain.peak / 2**20)


if __name__ == "__main__":
    main()
