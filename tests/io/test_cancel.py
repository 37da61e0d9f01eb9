"""Cancellation tokens."""

from __future__ import annotations

import pytest

from refbrowser.io.cancel import Cancelled, CancelToken


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
