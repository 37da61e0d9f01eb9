"""awkward0 0.15.5 as independent reader and writer: an old interpreter and the packages of its time.

Its tests are skipped where the packages cannot be installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from installed import python_packages

TESTS = Path(__file__).resolve().parent
#: awkward0 0.15.5 is the last release; numpy 1.23 is the last that it was used with, 3.11 its last Python.
PACKAGES = (
    "awkward0==0.15.5",
    "numpy==1.23.5",
    "h5py==3.8.0",
    "lz4==4.3.3",
    "uproot3-methods==0.10.1",
    "psutil==5.9.8",
)
VERSIONS = ("3.11", "3.10", "3.9", "3.8")


def old_python() -> str:
    """Return an interpreter that the packages were built for; skip where there is none."""
    shown = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if shown in VERSIONS:
        return sys.executable
    for version in VERSIONS:
        for found in _interpreters(version):
            return found
    pytest.skip("no interpreter is old enough for awkward0")


def _interpreters(version: str) -> Iterator[str]:
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(map(str, kept.glob(f"{version}.*/bin/python")))]
    for candidate in filter(None, candidates):
        # Shims are there for versions that were not chosen, too.
        if not subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode:
            yield candidate


def old_environment() -> tuple[str, dict[str, str]]:
    """Return an interpreter and the variables with which it finds awkward0."""
    python = old_python()
    paths = os.pathsep.join([str(python_packages("awkward0", PACKAGES, python=python)), str(TESTS)])
    return python, {**os.environ, "PYTHONPATH": paths}


class Awkward0Error(Exception):
    """awkward0 cannot do what it was asked for."""


class Awkward0Process:
    """awkward0 in a process that is started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def write(self, path: Path, cases: Mapping[str, str], **more: Any) -> dict[str, Any]:
        """Save arrays of the corpus, by name; return their values as JSON (`plain_value`).

        Further arguments: ``compression``, names of compressors (the default policy unless told), ``mode``
        and ``options`` of ``awkward0.save``.
        """
        return self._ask({"do": "write", "path": str(path), "cases": dict(cases), **more})

    def read(self, path: Path, names: Sequence[str] | None = None, **more: Any) -> dict[str, Any]:
        """Return the values of arrays in a file, all of them unless told which."""
        return self._ask({"do": "read", "path": str(path), "names": names, **more})

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                # Its end is no matter of the test that happens to be the last one.
                self._process.kill()
                self._process.wait()
            self._process.stdout.close()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            python, variables = old_environment()
            self._process = subprocess.Popen(
                [python, str(TESTS / "awkward0_worker.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=variables,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Awkward0Error(f"awkward0 ended: {self._process.wait(30)}")
        found = json.loads(line)
        if "error" in found:
            raise Awkward0Error(found["error"])
        return found["done"]
