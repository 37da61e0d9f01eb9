"""An interpreter with zarr-python 2 beside the one that runs the tests: the last that writes v2 alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from installed import python_packages

#: numpy is that of the tests. Version 0.16 of numcodecs lacks what zarr-python 2 imports; zfpy is pinned as
#: 0.15 cannot read the number of later versions.
PACKAGES = ("zarr==2.18.7", "numcodecs==0.15.1", "asciitree", "fasteners", "deprecated", "wrapt", "msgpack")
OPTIONAL = ("pcodec", "zfpy==1.0.1")
_PATIENCE = 100


def zarr2_folder() -> Path:
    """Return the folder with zarr-python 2; skip where it cannot be installed."""
    return python_packages("zarr2", PACKAGES, optional=OPTIONAL)


def run_with_zarr2(script: Path, *arguments: str | Path) -> str:
    """Run a script with zarr-python 2; return what it printed."""
    # What scripts share with the tests stands beside this file.
    folders = (zarr2_folder(), Path(__file__).resolve().parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout
