"""What tests of streams in the window share: the fixtures of the window."""

from __future__ import annotations

from window_fixtures import (
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
