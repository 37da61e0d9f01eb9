"""Cancellation tokens."""

from __future__ import annotations

import pytest

from refbrowser.io.cancel import Cancelled, CancelToken, linked


def test_callbacks_run_once() -> None:
    token, calls = CancelToken(), []
    token.on_cancel(lambda: calls.append("a"))
    forget = token.on_cancel(lambda: calls.append("b"))
    forget()
    token.check()
    token.cancel()
    token.cancel()
    assert calls == ["a"]
    assert token.cancelled
    with pytest.raises(Cancelled):
        token.check()


def test_a_callback_after_cancellation_runs_at_once() -> None:
    token, calls = CancelToken(), []
    token.cancel()
    token.on_cancel(lambda: calls.append("a"))()
    assert calls == ["a"]


def test_waiting_ends_with_cancellation() -> None:
    token = CancelToken()
    assert not token.wait(0.001)
    token.cancel()
    assert token.wait(60)


def test_a_callback_may_use_the_token() -> None:
    token = CancelToken()
    token.on_cancel(token.cancel)
    token.cancel()


def test_a_linked_token_is_cancelled_with_the_other_and_not_the_other_with_it() -> None:
    token = CancelToken()
    with linked(token) as own:
        own.cancel()
    assert not token.cancelled
    with linked(token) as own:
        token.cancel()
        assert own.cancelled
    with linked(token) as own:
        assert own.cancelled
    after = CancelToken()
    with linked(after) as own:
        pass
    after.cancel()
    assert not own.cancelled
