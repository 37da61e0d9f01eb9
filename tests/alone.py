"""Runs the tests that failed beside others once more, each alone: python tests/alone.py OUTCOME.

OUTCOME is what `pytest --outcome-to OUTCOME` wrote. A test that passes alone is *unstable*: it is printed, to
be looked at before anything else, and stops nothing. The last line counts the tests of both runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

#: Where more tests fail than this, something is broken: they are not run again.
MOST = 12
#: Seconds for one test alone, beside its own limit of pytest-timeout.
PATIENCE = 240


def passes_alone(test: str) -> bool:
    """Whether a test passes in a process of its own; what it prints is shown where it fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", test]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        print(f"{test}: no end within {PATIENCE} s alone")
        return False
    if run.returncode:
        print(run.stdout, run.stderr, sep="\n")
    return run.returncode == 0


def main(outcome: Path) -> int:
    """Run the failed tests again; 0 where each of them passes alone."""
    counts = json.loads(outcome.read_text(encoding="utf-8"))
    failed = counts["failed"]
    print(f"\n{len(failed)} failed beside others", end="")
    if not failed or len(failed) > MOST:
        print(": not run again")
        unstable = []
    else:
        print(": each is run once more alone", flush=True)
        unstable = [test for test in failed if passes_alone(test)]
    broken = [test for test in failed if test not in unstable]
    for word, tests in (("unstable", unstable), ("failed", broken)):
        for test in tests:
            print(f"{word}: {test}")
    print(f"{counts['passed'] + len(unstable)} passed, {len(broken)} failed, {counts['skipped']} skipped")
    return 1 if broken or not failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
