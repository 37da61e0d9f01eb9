"""Work that is measured in a process of its own: its processor time and the memory that it keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

#: Before and after the code that is measured: imports are made, garbage is collected, then the clock runs.
BEFORE = """
import gc, json, psutil, sys, time
def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file: file.write("5")
    except OSError: pass
def peak():
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    except OSError: return 0
gc.collect(); reset_peak()
process = psutil.Process(); info = process.memory_full_info()
uss, rss = info.uss, info.rss
start, cpu = time.perf_counter(), time.process_time()
"""
AFTER = """
cpu, seconds, top = time.process_time() - cpu, time.perf_counter() - start, peak()
gc.collect()
print(json.dumps([cpu, seconds, process.memory_full_info().uss - uss, top - rss, len(listing)]))
"""


class Cost(NamedTuple):
    """What a piece of work took; held is private memory after collecting, peak all memory."""

    cpu: float
    seconds: float
    held: int
    peak: int
    listed: int


def cost(
    imports: str,
    work: str,
    path: Path,
    python: str = sys.executable,
    variables: Mapping[str, str] | None = None,
) -> Cost:
    """Run `work`, which finds the path in ``sys.argv[1]`` and leaves a `listing`, in a new process.

    Another interpreter, and variables for it, may be given.
    """
    code = imports + BEFORE + work + AFTER
    command = [python, "-W", "ignore", "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def best(imports: str, work: str, path: Path, runs: int = 3, **more: Any) -> Cost:
    """Return the run with the least processor time; further arguments are those of `cost`."""
    return min((cost(imports, work, path, **more) for _ in range(runs)), key=lambda found: found.cpu)
