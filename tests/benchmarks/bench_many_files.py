"""Very many files on a regular axis with holes: time and memory of the process that combines them.

What workers find in files is made up here: opening them is measured elsewhere (``bench_make.py``). How many
there are may be given: ``python tests/benchmarks/bench_many_files.py 10000``.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from report import figure, heading

FILES = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "exporting" / "combining")]

from test_many_files import CHUNKS, files_of, request_of  # noqa: E402

from refbrowser.exporting.combining.combine import plan_of  # noqa: E402
from refbrowser.exporting.combining.combined import combined_document  # noqa: E402


def main() -> None:
    """Combine files once for the time, and once for the memory."""
    heading(f"{FILES:,} files of {CHUNKS} chunks on a regular axis, each 50th missing")
    chunks = FILES * CHUNKS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        files, request = files_of(path, FILES), request_of(path / "one.json")
        begin = time.process_time()
        plan = plan_of(files, request)
        figure("plan", time.process_time() - begin, "s")
        begin = time.process_time()
        combined_document(plan)
        figure("document", time.process_time() - begin, "s")
        del files, plan
        tracemalloc.start()
        files = files_of(path, FILES)
        plan = plan_of(files, request)
        del files
        figure(
            "memory a chunk when planned", tracemalloc.get_traced_memory()[1] / chunks, "B", aim="below 100"
        )
        combined_document(plan)
        figure("memory a chunk at most", tracemalloc.get_traced_memory()[1] / chunks, "B", aim="below 100")


if __name__ == "__main__":
    main()
