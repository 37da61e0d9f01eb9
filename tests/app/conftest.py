"""What tests of the window share."""

from __future__ import annotations

from window_fixtures import (
    Open,
    garbage_stays_here,
    kinds,
    opened,
    pytest_runtest_teardown,
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
    "Open",
    "garbage_stays_here",
    "kinds",
    "opened",
    "pytest_runtest_teardown",
    "rows_come_whole",
    "settings_folder",
    "settings_of_worker",
    "settle",
    "shared",
    "small",
    "styled",
    "window",
]
