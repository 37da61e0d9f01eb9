"""Fixtures of the tests that hold what is foreign against limits."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable

import pytest

# Modules that are imported late would be too late for `limits`.


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change limits for one test."""

    def change(**changes: float) -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith("refbrowser") and hasattr(module, "LIMITS"):
                monkeypatch.setattr(module, "LIMITS", dataclasses.replace(module.LIMITS, **changes))

    return change
