"""Writing a file to the disk while it is made."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from refbrowser.io.files import atomic


def test_the_disk_is_asked_once_enough_has_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: asked.set())
    with (tmp_path / "a").open("wb") as stream, atomic.Flushing(stream.fileno()) as flush:
        flush.written(atomic.PORTION - 1)
        assert not asked.wait(0.05)
        flush.written(1)
        assert asked.wait(10)


def test_what_goes_wrong_is_left_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def fail(descriptor: int) -> None:
        asked.set()
        raise OSError(28, "full")

    monkeypatch.setattr(os, "fdatasync", fail)
    before = threading.active_count()
    with (tmp_path / "a").open("wb") as stream, atomic.Flushing(stream.fileno()) as flush:
        flush.written(atomic.PORTION)
        assert asked.wait(10)
    assert threading.active_count() == before
