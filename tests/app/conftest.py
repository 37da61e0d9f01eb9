"""What tests of the window share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kinds_stream import write_kinds
from small_documents import small_document
from window_fixtures import (
    Open,
    close_shared,
    garbage_stays_here,
    opened,
    rows_come_whole,
    settings_folder,
    settings_of_worker,
    settle,
    shared,
    styled,
    window,
)

__all__ = [
    "Open",
    "garbage_stays_here",
    "opened",
    "rows_come_whole",
    "settings_folder",
    "settings_of_worker",
    "settle",
    "shared",
    "styled",
    "window",
]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close the window that tests share before a module is begun whose tests look for none."""
    if nextitem is not None and nextitem.path != item.path and "shared" not in nextitem.fixturenames:
        close_shared()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small document with its data beside it."""
    (tmp_path / "data.bin").write_bytes(bytes(range(56)))
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small_document(), indent=1))
    return path


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    """A stream with a variable of each kind."""
    return write_kinds(tmp_path / "kinds.ncs")
