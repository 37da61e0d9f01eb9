"""Many reads at once from a server that misbehaves: the values are right, or there is an error."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator

import pytest
from read_stress import PATIENCE, Stress

import refbrowser.io.http.client  # noqa: F401 - imported late by the fetcher, too late for `patience`


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Wait little, and let threads take turns often."""
    for name, module in list(sys.modules.items()):
        if name.startswith("refbrowser.io.") and hasattr(module, "LIMITS"):
            monkeypatch.setattr(module, "LIMITS", dataclasses.replace(module.LIMITS, **PATIENCE))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_what_is_read_is_right_or_an_error(seed: int) -> None:
    stress = Stress(seed)
    stress.run(1.5)
    assert stress.failures == []
    assert stress.outcomes["read"] + stress.outcomes["told"] > stress.outcomes["failed"]


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(10))
def test_what_is_read_for_long_is_right_or_an_error(seed: int) -> None:
    stress = Stress(1000 + seed)
    stress.run(float(os.environ.get("REFBROWSER_STRESS_SECONDS", "60")), threads=3 + seed)
    assert stress.failures == []
