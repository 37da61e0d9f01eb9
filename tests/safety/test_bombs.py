"""Small files that ask for very much are refused, or read, within 2 GB and a minute, in words of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bombs import FAMILIES, Bomb, bombs

#: What each may take: bytes of address space, seconds of the processor.
MEMORY, SECONDS = 2 << 30, 60
#: A busy machine is slow, and the library's processes have a time of their own.
WAIT = 300
#: Takes lists of arguments; after each it says how it ended.
RUN = """
import json, resource, sys
memory, seconds = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
from refbrowser.cli import main
if __name__ == "__main__":
    for arguments in json.loads(sys.argv[3]):
        code = main(arguments)
        sys.stdout.flush()
        print("ended", code, file=sys.stderr, flush=True)
"""
#: The first case of each family, but where another is the worse one.
SAMPLE = {"netcdf3": 4, "lock": 2, "parquet": 0, "icechunk": 21}


def held(commands: list[list[str]], folder: Path) -> None:
    """Run commands one after the other and look at how each ended."""
    script = folder / "run.py"
    script.write_text(RUN)
    found = subprocess.run(
        [sys.executable, str(script), str(MEMORY), str(SECONDS), json.dumps(commands)],
        capture_output=True,
        timeout=WAIT,
        cwd=folder,
    )
    said = found.stderr.decode("utf-8", "replace") + found.stdout.decode("utf-8", "replace")
    codes = [int(line.split()[1]) for line in said.splitlines() if line.startswith("ended ")]
    assert found.returncode == 0, said[-2000:]
    assert len(codes) == len(commands), said[-2000:]
    assert all(0 <= code < 20 for code in codes), codes
    assert "Traceback" not in said, said[-2000:]
    assert "E_INTERNAL" not in said, said[-2000:]


def test_the_kit_has_all_its_cases() -> None:
    cases = list(bombs())
    assert len(cases) >= 360
    assert {case.family for case in cases} == set(FAMILIES)


@pytest.mark.slow
def test_the_worst_of_some_families_are_held(tmp_path: Path) -> None:
    for package in ("icechunk", "pyarrow"):
        pytest.importorskip(package)
    cases = [[each for each in bombs() if each.family == family][at] for family, at in SAMPLE.items()]
    held([case.make(tmp_path) for case in cases], tmp_path)


@pytest.mark.long
@pytest.mark.timeout(WAIT + 60)
@pytest.mark.parametrize("case", list(bombs()), ids=lambda case: case.name)
def test_every_bomb_is_held(tmp_path: Path, case: Bomb) -> None:
    for package in ("h5py", "tifffile", "icechunk", "pyarrow", "zstandard"):
        pytest.importorskip(package)
    held([case.make(tmp_path)], tmp_path)
