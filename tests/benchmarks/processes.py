"""Work that is measured in a process of its own: its processor time and the memory that it keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

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


def cost(imports: str, work: str, path: Path) -> Cost:
    """Run `work`, which finds the path in ``sys.argv[1]`` and leaves a `listing`, in a new process."""
    code = imports + BEFORE + work + AFTER
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def best(imports: str, work: str, path: Path, runs: int = 3) -> Cost:
    """Return the run with the least processor time."""
    return min((cost(imports, work, path) for _ in range(runs)), key=lambda found: found.cpu)
