"""Open every file of a folder, read every array, and compare with the file's own library.

``python tests/corpus FOLDER [WORD...]``: files whose names hold a word, all where none is given. Each is
looked at by a process of its own, with limits of memory and time. Prints what differs, then a table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: What compares files of a format; those of others are counted as not compared.
COMPARED = {
    "grib": "compared_grib", "tiff": "compared_tiff", "hdf5": "compared_hdf5", "fits": "compared_fits",
    "netcdf3": "compared_netcdf3",
    "zarr": "compared_zarr", "nczarr": "compared_zarr", "refs": "compared_zarr",
}  # fmt: skip
#: What a folder that is a store has.
MARKS = (".zgroup", ".zarray", ".zmetadata", "zarr.json")
SECONDS, MEMORY = 120, 4 << 30
Verdicts = list[tuple[str, str]]


def main() -> int:
    """Compare what the command line names; return whether anything is not right."""
    if len(sys.argv) < 2:
        sys.exit(str(__doc__))
    if sys.argv[1] == "--one":
        json.dump(list(_verdicts(Path(sys.argv[2]))), sys.stdout)
        return 0
    words = sys.argv[2:]
    paths = list(_datasets(Path(sys.argv[1])))
    paths = [each for each in paths if not words or any(word in str(each) for word in words)]
    counts: Counter[tuple[str, str]] = Counter()
    with ThreadPoolExecutor(2) as pool:
        for path, verdicts in zip(paths, pool.map(_asked, paths), strict=True):
            kind = path.suffix.lower() or "none"
            for verdict, text in verdicts:
                counts[kind, verdict] += 1
                if verdict != "agree":
                    _say(f"{verdict:15} {path.name}: {text[:300]}")
    for (kind, verdict), count in sorted(counts.items()):
        _say(f"{kind:12} {verdict:15} {count:7}")
    return 1 if {"wrong", "placed wrongly", "missing", "crash"} & {verdict for _, verdict in counts} else 0


def _datasets(folder: Path) -> Iterator[Path]:
    """Yield files, and folders that are stores."""
    for each in sorted(folder.iterdir()):
        if each.is_file() or any((each / mark).exists() for mark in MARKS):
            yield each
        elif each.is_dir():
            yield from _datasets(each)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _asked(path: Path) -> Verdicts:
    """Return what a process finds that looks at a file."""
    command = [sys.executable, str(HERE), "--one", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent)}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=SECONDS, check=False, preexec_fn=_limited
        )
    except subprocess.TimeoutExpired:
        return [("crash", f"it took more than {SECONDS} s")]
    if done.returncode:
        return [("crash", done.stderr.decode(errors="replace").strip()[-300:])]
    found: Verdicts = json.loads(done.stdout)
    return found


def _limited() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _verdicts(path: Path) -> Iterator[tuple[str, str]]:
    import refbrowser
    from refbrowser.errors import RefbrowserError

    try:
        dataset: Any = refbrowser.open(str(path))
    except RefbrowserError as error:
        yield "refused", error.message
        return
    with dataset:
        # ``zarr-v3`` and ``refs-v1`` are of one kind with the others.
        kind = dataset.format.partition("-")[0]
        if kind not in COMPARED:
            yield "not compared", dataset.format
            return
        yield from import_module(COMPARED[kind]).compare(path, dataset)


if __name__ == "__main__":
    sys.exit(main())
