"""Collections are put off for a while, and never for good."""

from __future__ import annotations

import gc
import weakref

import pytest

from refbrowser.engine.reading import garbage_collection
from refbrowser.engine.reading.garbage_collection import collected_later


def test_collections_go_on_after_the_last_block() -> None:
    assert gc.isenabled()
    with collected_later():
        with collected_later():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="x"), collected_later():
        raise ValueError("x")
    assert gc.isenabled()


def test_blocks_that_always_overlap_put_them_off_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "_LONGEST", -1.0)
    with collected_later():
        assert not gc.isenabled()
        with collected_later():
            assert gc.isenabled()
    gc.disable()
    try:
        with collected_later(), collected_later():
            assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_program_without_collections_keeps_them_off() -> None:
    gc.disable()
    try:
        with collected_later():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.slow
def test_what_was_made_counts_as_old_and_is_collected_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "_MANY", -1)
    finalized: list[bool] = []
    gc.unfreeze()
    try:
        with collected_later():
            weakref.finalize(made := _Made(), finalized.append, True)
            made.itself = made
        assert any(each is made for each in gc.get_objects(generation=2))
        del made
        gc.collect()
        assert finalized
    finally:
        # As the tests had it.
        gc.freeze()


@pytest.mark.slow
def test_what_a_program_has_frozen_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "_MANY", -1)
    made = _Made()
    gc.freeze()
    with collected_later():
        pass
    # How many are frozen also falls as some of them go.
    assert gc.get_freeze_count()
    assert not any(each is made for each in gc.get_objects())


class _Made:
    itself: object = None
