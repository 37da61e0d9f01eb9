"""Run all benchmarks or those named: ``python tests/benchmarks [NAME...]`` (``gen`` is bench_gen.py).

Each runs in a process of its own. Figures are printed, never asserted: times depend on the machine, ratios
against the peer in the same run less so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run what the command line names; return how many failed."""
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    names = sys.argv[1:] or known
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]}; there are: {', '.join(known)}")
    path = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "PYTHONPATH": path}
    commands = [[sys.executable, str(HERE / f"bench_{name}.py")] for name in names]
    return sum(bool(subprocess.run(command, env=environment, check=False).returncode) for command in commands)


if __name__ == "__main__":
    sys.exit(main())
