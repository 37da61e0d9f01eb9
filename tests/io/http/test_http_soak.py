"""A server that misbehaves at random: each row is right or an error, and every fetch ends."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from reading import Reading, Row, pattern
from servers.http_server import Fault, HttpServer

from refbrowser.errors import RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import Origin

FILES = {f"/{number}": pattern(400_000 + number) for number in range(3)}
KINDS = (
    *[("none", 0)] * 30,
    ("truncate", 20_000),
    ("truncate", 0),
    ("reset", 3_000),
    ("close", 0),
    ("garbage", 0),
    ("status", 503),
    ("status", 500),
    ("chunked", 999),
    ("no_length", 0),
    ("extra", 50),
    ("shift", 1),
    ("encoding", "gzip"),
    ("ignore_ranges", 0),
    ("total", "*"),
)


class RandomFault(Fault):
    """Another behaviour for each request."""

    def __init__(self, source: random.Random) -> None:
        super().__init__("none")
        self.source = source

    def applies(self) -> bool:
        self.kind, self.value = self.source.choice(KINDS)
        return True


def rows(source: random.Random) -> list[Row]:
    found: list[Row] = []
    for _ in range(source.randrange(1, 60)):
        path = source.choice(list(FILES))
        size = len(FILES[path])
        length = source.choice([1, 100, 5_000, 70_000, 300_000])
        found.append(
            (path, source.randrange(size - length), length) if source.random() < 0.97 else (path, 0, -1)
        )
    return found


def soak(fetcher: Fetcher, rounds: int, seed: int) -> tuple[int, int]:
    source = random.Random(seed)
    good = bad = 0
    with HttpServer(FILES) as server:
        server.faults = {path: RandomFault(source) for path in FILES}
        for _ in range(rounds):
            reading = Reading(server, fetcher)
            reading.access = Access.for_document("doc.json", [Origin.parse(server.origin)])
            wanted = rows(source)
            for row, data in reading.fetch(wanted, export=True).items():
                path, offset, length = wanted[row]
                if isinstance(data, RefbrowserError):
                    bad += 1
                else:
                    assert data == (FILES[path] if length < 0 else FILES[path][offset : offset + length])
                    good += 1
    return good, bad


@pytest.fixture(autouse=True)
def patience(limits: Callable[..., None]) -> None:
    limits(http_wait_start=0.001, http_wait_most=0.002, circuit_failures=10**9)


@pytest.mark.slow
def test_random_faults(fetcher: Fetcher) -> None:
    good, bad = soak(fetcher, 25, 1)
    assert good > bad  # how many of each depends on how busy the machine is
    assert bad > 0


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(20))
def test_random_faults_for_long(fetcher: Fetcher, seed: int) -> None:
    soak(fetcher, 100, seed + 100)
