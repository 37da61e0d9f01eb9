"""Run all benchmarks, or those named: ``python tests/benchmarks [NAME...]`` (NAME is ``gen`` for bench_gen.py).

Figures are printed, never asserted: times depend on the machine, ratios against the peer in the same run less so.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.path.insert(0, str(HERE))
    sys.path.insert(0, str(HERE.parent))
    names = sys.argv[1:] or sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    for name in names:
        importlib.import_module(f"bench_{name}").main()


if __name__ == "__main__":
    main()
