"""Fixtures of the tests that read bytes."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator

import pytest
from reading import Reading
from servers.http_server import HttpServer

from refbrowser.io.access.task import FetchEvent
from refbrowser.io.fetching.fetch import Fetcher


@pytest.fixture
def events() -> list[FetchEvent]:
    return []


@pytest.fixture
def fetcher(events: list[FetchEvent]) -> Iterator[Fetcher]:
    with Fetcher(events.append) as fetcher:
        yield fetcher


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as server:
        yield server


@pytest.fixture
def reading(server: HttpServer, fetcher: Fetcher) -> Reading:
    return Reading(server, fetcher)


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change limits for one test."""

    def change(**changes: float) -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith("refbrowser.io.") and hasattr(module, "LIMITS"):
                monkeypatch.setattr(module, "LIMITS", dataclasses.replace(module.LIMITS, **changes))

    return change


@pytest.fixture
def soon(limits: Callable[..., None]) -> None:
    """Wait only a little between tries."""
    limits(http_wait_start=0.01, http_wait_most=0.02)
