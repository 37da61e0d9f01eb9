"""Collections are put off for a while, and never for good."""

from __future__ import annotations

import gc

import pytest

from refbrowser.engine.collecting import collected_later


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


def test_a_program_without_collections_keeps_them_off() -> None:
    gc.disable()
    try:
        with collected_later():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
