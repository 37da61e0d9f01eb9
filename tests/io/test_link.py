"""The model of a link, and how it is learned."""

from __future__ import annotations

import pytest

from refbrowser.io.plan import LEAST_CONNECTIONS, Link, LinkModel


def test_connections_follow_littles_law() -> None:
    link = Link()
    assert link.connections(64 << 20, 1024) == pytest.approx(1.25 * (0.03 * 200e6 / 65536 + 4), abs=1)
    assert link.connections(1 << 30, 10) == LEAST_CONNECTIONS
    assert link.connections(5_000 * 20_000, 20_000) == link.most


def test_time_is_never_below_the_limit_of_the_link() -> None:
    link = Link()
    for size, requests in ((1, 1), (10**8, 64), (10**8, 20_000)):
        assert link.time(size, requests) >= link.latency + size / link.total
    assert link.time(10**8, 20_000) > 2 * link.time(10**8, 64)


def test_it_starts_from_the_defaults_and_learns() -> None:
    model = LinkModel("http://host")
    assert model.link == Link("http://host")
    for _ in range(50):
        model.saw_first_byte(0.15)
        model.saw_body(1 << 20, (1 << 20) / 10e6)
        model.saw_total(5 << 20, (5 << 20) / 50e6)
    learned = model.update()
    assert learned == model.link
    assert learned.latency == pytest.approx(0.15)
    assert learned.per_connection == pytest.approx(10e6)
    assert learned.total == pytest.approx(50e6)


def test_waiting_behind_other_requests_is_not_latency() -> None:
    model = LinkModel("http://host")
    for i in range(100):
        model.saw_first_byte(0.05 if i % 5 == 0 else 0.8)
    assert model.update().latency == pytest.approx(0.05)


def test_bytes_that_waited_in_a_buffer_are_not_a_rate() -> None:
    model = LinkModel("http://host")
    for _ in range(10):
        model.saw_body(1 << 20, 0.0001)
        model.saw_body(100, 0.5)
    assert model.update().per_connection == Link().per_connection


def test_a_few_samples_change_nothing() -> None:
    model = LinkModel("http://host")
    model.saw_first_byte(9.0)
    assert model.update().latency == Link().latency


def test_a_throttled_host() -> None:
    model = LinkModel("http://host")
    model.throttle()
    assert model.link.connections(64 << 20, 1024) == 6
    assert model.update().most == 6
