"""Corpora, made once in a session by other software."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from zarr2_environment import run_with_zarr2

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def corpus_v2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that zarr-python 2 wrote, and what it reads back."""
    folder = tmp_path_factory.mktemp("corpus") / "v2"
    folder.mkdir()
    run_with_zarr2(HERE / "write_with_zarr2.py", folder)
    return folder


@pytest.fixture(scope="session")
def corpus_v3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that zarr-python 3 wrote, and what it reads back."""
    folder = tmp_path_factory.mktemp("corpus") / "v3"
    folder.mkdir()
    subprocess.run([sys.executable, str(HERE / "write_with_zarr3.py"), str(folder)], check=True)
    return folder
