"""Work that is measured in a process of its own: its processor time and the memory that it keeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil

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
    path: Path | str,
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


class Used(NamedTuple):
    """What a command took, with all processes that it started; the most memory, shared pages counted once."""

    cpu: float
    seconds: float
    memory: int


def used(command: Sequence[str], *, memory: bool = False) -> Used:
    """Run a command; where its memory is looked at, its time is not worth much."""
    start = time.perf_counter()
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while memory and process.returncode is None:
            most = max(most, _memory_of(process.pid))
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
            if process.returncode is not None and process.returncode:
                raise RuntimeError(command)
        if memory:
            return Used(0, time.perf_counter() - start, most)
        assert process.stderr is not None
        told = process.stderr.read()
        _, status, resources = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(told.decode(errors="replace"))
    return Used(resources.ru_utime + resources.ru_stime, time.perf_counter() - start, 0)


def _memory_of(number: int) -> int:
    """Return the memory of a process and of all that it started."""
    total = 0
    with suppress(psutil.Error):
        process = psutil.Process(number)
        for each in (process, *process.children(recursive=True)):
            with suppress(OSError), open(f"/proc/{each.pid}/smaps_rollup") as file:
                total += next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return total
