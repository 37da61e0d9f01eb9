"""Where files are worked on that are read one by one: in processes of this machine when there are many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from refbrowser.engine.compute import Compute
from refbrowser.formats.library.process import end_spare
from refbrowser.io.origins import local_path

#: Files that are worth starting a process for: to start one takes as long as some 70 small files.
MANY = 100
#: Threads for local files: one works while others wait for a library or for the disk.
_THREADS = 2


@contextmanager
def computing(compute: Compute, sources: Sequence[str]) -> Iterator[Compute]:
    """Give where files are worked on: headers are parsed by Python, which one process does one at a time."""
    count = min(os.cpu_count() or 1, len(sources) // MANY)
    are_local = all(local_path(source) is not None for source in sources)
    with ExitStack() as stack:
        stack.callback(end_spare)
        if compute.is_here and count > 1:
            compute = Compute(f"local:{count}")
        elif compute.is_here and are_local:
            pool = ThreadPoolExecutor(_THREADS)
            stack.callback(pool.shutdown, wait=True, cancel_futures=True)
            compute = replace(compute, given=pool)
        yield compute
