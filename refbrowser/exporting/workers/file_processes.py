"""Where files are worked on that are read one by one: in processes of this machine when there are many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from refbrowser.engine.compute import Compute
from refbrowser.engine.workers.processes import Processes
from refbrowser.formats.library.process import end_spare
from refbrowser.io.origins import local_path

#: Files that are worth starting a process for.
MANY = 20
#: Threads for local files: one works while others wait for a library or for the disk.
_THREADS = 2


@contextmanager
def computing(compute: Compute, sources: Sequence[str]) -> Iterator[Compute]:
    """Give where files are worked on: headers are parsed by Python, which one process does one at a time."""
    count = min(os.cpu_count() or 1, len(sources) // MANY)
    are_local = all(local_path(source) is not None for source in sources)
    if not compute.is_here or (count < 2 and not are_local):
        yield compute
        end_spare()
        return
    with ExitStack() as stack:
        stack.callback(end_spare)
        pool: Executor = ThreadPoolExecutor(_THREADS) if count < 2 else Processes(count)
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        yield replace(compute, given=pool)
