"""The suite has two speeds: a test that takes more than 0.2 s of CPU is marked `slow`, as enforced here.

Only the body of a test counts, without the modules that it loads: which test uses a module first is chance.
A test without the mark fails above five times of that: a busy machine takes up to twice as long for the same.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from functools import cache
from importlib.machinery import ExtensionFileLoader, SourceFileLoader
from types import ModuleType
from typing import Any

import pytest

#: Seconds of CPU, of this process and of those that it waited for, from which a test is to be marked.
SLOW = 0.2
#: Seconds from which a test without the mark fails.
TOO_SLOW = 5 * SLOW
#: The property of a report that holds the seconds of CPU of a test.
PROPERTY = "seconds of CPU"


def cpu_time() -> float:
    """Return the seconds of CPU of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class LoadingTime:
    """Seconds of CPU that went into running modules for the first time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._within = threading.local()
        for loader in (SourceFileLoader, ExtensionFileLoader):
            loader.exec_module = self._measured(loader.exec_module)  # type: ignore[method-assign]

    def _measured(self, exec_module: Callable[[Any, ModuleType], None]) -> Callable[[Any, ModuleType], None]:
        def measured(loader: Any, module: ModuleType) -> None:
            # A module that another one loads is a part of that one's time.
            if getattr(self._within, "a_module", False):
                return exec_module(loader, module)
            self._within.a_module, began = True, cpu_time()
            try:
                return exec_module(loader, module)
            finally:
                self._within.a_module = False
                self.seconds += cpu_time() - began

        return measured


@cache
def loading_time() -> LoadingTime:
    """Return the one measurement of this process."""
    return LoadingTime()


class SlowTests:
    """A plugin of pytest that fails tests which are slow and not marked, and adds up what each speed took."""

    def __init__(self, allowed: float = TOO_SLOW) -> None:
        self.allowed = allowed
        self.loading = loading_time()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        began, loaded = cpu_time(), self.loading.seconds
        result = yield
        seconds = cpu_time() - began - (self.loading.seconds - loaded)
        item.user_properties.append((PROPERTY, seconds))
        if seconds > self.allowed and not {"slow", "long"} & set(item.keywords):
            pytest.fail(
                f"took {seconds:.1f} s of CPU: mark it slow (above {SLOW} s) or make it cheaper", False
            )
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many tests of each speed passed, and the CPU that they took."""
        seconds: dict[str, list[float]] = {"quick": [], "slow": []}
        for report in terminalreporter.getreports("passed"):
            part = seconds["slow" if "slow" in report.keywords else "quick"]
            part.extend(value for name, value in report.user_properties if name == PROPERTY)
        for part, taken in seconds.items():
            if taken:
                terminalreporter.write_line(f"{part} tests: {len(taken)}, {sum(taken):.0f} s of CPU")
