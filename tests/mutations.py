"""Break the program in a line of each room, and see whether the tests notice.

``python tests/mutations.py [--from FILE] [ROOM...]``, a room being a folder below ``refbrowser/`` when they
were drawn. The lines stand in ``mutations.toml``: they were drawn by lot before the rooms were rebuilt,
so that a suite that was made faster can be held against what it caught before. Others are drawn by
``draw_mutations.py``. Each mutation is tried in a copy of the checkout, with the tests of its room; one that
no test notices is printed as missed, one whose tests take too long as not decided, and the exit code tells
how many of both there are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
#: As many mutations are tried at the same time, each for at most so many seconds.
AT_ONCE, PATIENCE = 2, 900


@dataclass(frozen=True)
class Mutation:
    """One change of one line.

    Attributes
    ----------
    room
        Where the line was when it was drawn.
    old, new
        What one module has once, whatever its name is now, and what stands there instead.
    tests
        Folders and files below ``tests/`` that are to notice, those that notice soonest first.
    """

    room: str
    old: str
    new: str
    tests: list[str]


def _known(path: Path) -> list[Mutation]:
    with path.open("rb") as file:
        return [Mutation(**each) for each in tomllib.load(file)["mutation"]]


def _copy(folder: Path) -> None:
    """Copy what git tracks, and link the environment and the folder of real files."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    for name in filter(None, names.stdout.split("\0")):
        target = folder / "checkout" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, target)
    shared = CHECKOUT.parent / "shared"
    if shared.is_dir():
        (folder / "shared").symlink_to(shared)


def _module_of(mutation: Mutation, checkout: Path) -> Path:
    """Return the module that has the line."""
    texts = {path: path.read_text() for path in (checkout / "refbrowser").rglob("*.py")}
    counts = {path: count for path, text in texts.items() if (count := text.count(mutation.old))}
    if sum(counts.values()) != 1:
        sys.exit(f"{mutation.old!r} is there {sum(counts.values())} times: {sorted(map(str, counts))}")
    return next(iter(counts))


def _tried(mutation: Mutation) -> str:
    with tempfile.TemporaryDirectory(prefix="mutation-") as made:
        folder = Path(made)
        _copy(folder)
        module = _module_of(mutation, folder / "checkout")
        module.write_text(module.read_text().replace(mutation.old, mutation.new))
        for tests in mutation.tests:
            try:
                if _fails(folder, tests):
                    return "caught"
            except subprocess.TimeoutExpired:
                return "NOT DECIDED"
    return "MISSED"


def _fails(folder: Path, tests: str) -> bool:
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "HOME": str(folder / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(folder / "checkout"),
        "QT_QPA_PLATFORM": "offscreen",
        "TMPDIR": str(folder / "tmp"),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", f"tests/{tests}"]
    done = subprocess.run(
        command, cwd=folder / "checkout", env=environment, capture_output=True, timeout=PATIENCE, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(f"the tests {tests} could not be run:\n{done.stdout.decode()[-2000:]}")
    return done.returncode == 1


def main() -> int:
    """Try the mutations of the rooms that the command line names, or all; return how many were not caught."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="path", type=Path, default=CHECKOUT / "tests" / "mutations.toml")
    parser.add_argument("rooms", nargs="*")
    given = parser.parse_args()
    chosen = [m for m in _known(given.path) if not given.rooms or m.room in given.rooms]
    caught = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for mutation, found in zip(chosen, pool.map(_tried, chosen), strict=True):
            caught += found == "caught"
            print(found, mutation.room, mutation.old, flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return min(len(chosen) - caught, 100)


if __name__ == "__main__":
    sys.exit(main())
