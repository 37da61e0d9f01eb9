"""Packages beside those of the tests, each set in a folder of its own below the cache of the checkout.

They are installed once in a checkout, by the first test that asks; tests are skipped where that cannot be.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parent.parent / ".cache"
_PATIENCE = 100


def python_packages(
    name: str, packages: Sequence[str], *, python: str = sys.executable, optional: Sequence[str] = ()
) -> Path:
    """Return the folder with packages of pip, for ``PYTHONPATH``; none that they need is added to them.

    It is named after `name` and the version of `python`.
    """
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    # Compiled is what is imported, when it is.
    command += ["--only-binary", ":all:", "--no-compile", "--target"]
    return _made(
        f"{name}-{_version(python)}",
        lambda folder: [
            [*command, str(folder), *packages],
            *([*command, str(folder), package] for package in optional),
        ],
    )


@cache
def _version(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def node_package(name: str, version: str) -> Path:
    """Return the folder of a package of npm, with what it needs."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip(f"{name} needs node and npm, which are not installed")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]
    folder = _made(f"{name}-{version}", lambda folder: [[*command, str(folder), f"{name}@{version}"]])
    return folder / "node_modules" / name


def _made(name: str, commands: Callable[[Path], list[list[str]]]) -> Path:
    """Return the folder of a name, made by commands on the first call in a checkout.

    The first command must succeed; where it does not, the test is skipped.
    """
    folder = CACHE / name
    if folder.is_dir():
        return folder
    CACHE.mkdir(exist_ok=True)
    with one_at_a_time(CACHE / f"{name}.lock"):
        if folder.is_dir():  # Another worker was first.
            return folder
        made = Path(tempfile.mkdtemp(dir=CACHE))
        needed, *others = commands(made)
        failure = _run(needed)
        if failure:
            shutil.rmtree(made, ignore_errors=True)
            pytest.skip(f"{name} cannot be installed: {failure}")
        for command in others:
            _run(command)
        made.rename(folder)
    return folder


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold a lock that the kernel gives back when its holder ends."""
    with path.open("w") as file:
        with suppress(ImportError):  # Elsewhere each worker installs for itself.
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str]) -> str:
    """Run an installation; return the last line of what went wrong, or nothing."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
            env={**os.environ, "NO_UPDATE_NOTIFIER": "1"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "npm error"))]
    return "" if not done.returncode else (lines or [f"{Path(command[0]).name} failed"])[-1]
