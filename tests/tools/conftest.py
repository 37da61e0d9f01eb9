"""What tests of tools in the window share: the fixtures of the window."""

from __future__ import annotations

import pytest
from window_fixtures import (
    close_shared,
    garbage_stays_here,
    kinds,
    opened,
    rows_come_whole,
    settings_folder,
    settings_of_worker,
    settle,
    shared,
    small,
    styled,
    window,
)

__all__ = [
    "garbage_stays_here",
    "kinds",
    "opened",
    "rows_come_whole",
    "settings_folder",
    "settings_of_worker",
    "settle",
    "shared",
    "small",
    "styled",
    "window",
]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close the window that tests share before a module is begun whose tests look for none."""
    if nextitem is not None and nextitem.path != item.path and "shared" not in nextitem.fixturenames:
        close_shared()
