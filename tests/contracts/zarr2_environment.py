"""An interpreter with zarr-python 2 beside the one that runs the tests: the last that writes v2 alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parent.parent.parent / ".cache"
#: numpy is that of the tests. Version 0.16 of numcodecs lacks what zarr-python 2 imports; zfpy is pinned as
#: 0.15 cannot read the number of later versions.
PACKAGES = ("zarr==2.18.7", "numcodecs==0.15.1", "asciitree", "fasteners", "deprecated", "wrapt", "msgpack")
OPTIONAL = ("pcodec", "zfpy==1.0.1")
_PATIENCE = 100


def zarr2_folder() -> Path:
    """Return the folder with zarr-python 2, made on the first call in a checkout; skip where it cannot be."""
    folder = CACHE / f"zarr2-{sys.version_info[0]}.{sys.version_info[1]}"
    if not folder.is_dir():
        CACHE.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=CACHE))
        failure = _install(PACKAGES, made)
        if failure:
            shutil.rmtree(made, ignore_errors=True)
            pytest.skip(f"zarr-python 2 cannot be installed: {failure}")
        for package in OPTIONAL:
            _install((package,), made)
        try:
            made.rename(folder)
        except OSError:  # Another worker was first.
            shutil.rmtree(made, ignore_errors=True)
    return folder


def run_with_zarr2(script: Path, *arguments: str | Path) -> str:
    """Run a script with zarr-python 2; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(zarr2_folder())}
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def _install(packages: tuple[str, ...], folder: Path) -> str:
    """Install into `folder`; return the last line of what went wrong, or nothing."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--target", str(folder), *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return "" if not done.returncode else (lines or ["pip failed"])[-1]
