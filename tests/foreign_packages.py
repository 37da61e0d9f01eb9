"""Entry points of packages that are not installed, for tests of formats and tools of other packages."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from typing import Any

import pytest


@contextmanager
def found(monkeypatch: pytest.MonkeyPatch, group: str, foreign: Any, *values: str) -> Iterator[None]:
    """Let these be what entry points of a group lead to; `foreign` is what looks for them, once."""
    points = [EntryPoint(f"made{number}", value, group) for number, value in enumerate(values)]
    of_all = {group: points}
    with monkeypatch.context() as patch:
        patch.setattr(importlib.metadata, "entry_points", lambda group: of_all.get(group, []))
        foreign.cache_clear()
        yield
    foreign.cache_clear()
