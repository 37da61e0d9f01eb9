"""Both readings of the same bytes: which one a person would call right."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.wings.ncstream.views.byte_order_readings import readings_of, sample_readings

SMOOTH = 280 + 10 * np.sin(np.linspace(0, 20, 4_000))


@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i4", "i8", "u2", "u4"])
@pytest.mark.parametrize("right", ["big", "little"])
def test_the_order_that_gives_smooth_values_is_the_likelier_one(kind: str, right: str) -> None:
    meant = (SMOOTH * 10).astype(kind)
    # The bytes are those of the right order, and were read in big-endian order.
    read = meant if right == "big" else meant.byteswap()
    found = readings_of("/temp", read, "big")
    assert found is not None
    assert found.likelier == right
    reading = getattr(found, right)
    assert (reading.low, reading.high) == (float(meant.min()), float(meant.max()))
    assert reading.mean == pytest.approx(float(meant.mean()))
    assert reading.examples == tuple(meant[:6].tolist())
    assert reading.absurd == reading.not_finite == 0
    assert reading.roughness < 0.01


def test_values_that_were_never_sent_are_left_out() -> None:
    values = np.full(100, 9.969209968386869e36, np.float32)
    values[:10] = np.arange(10)
    found = readings_of("/t", values, "big", np.float32(9.969209968386869e36))
    assert found is not None
    assert found.count == 10
    assert found.big.high == 9


def test_not_a_number_is_counted_and_nothing_breaks_where_all_are() -> None:
    found = readings_of("/t", np.full(4, np.nan), "big")
    assert found is not None
    assert found.big.not_finite == 1
    assert math.isnan(found.big.low)


def test_the_widest_numbers_do_not_overflow() -> None:
    top = np.finfo(np.float64).max
    found = readings_of("/t", np.array([-top, top, -top]), "big")
    assert found is not None
    assert found.big.roughness == 1


@pytest.mark.parametrize("values", [np.zeros(3, "i1"), np.zeros(3, "S4"), np.zeros(3, object)])
def test_what_has_no_order_has_no_readings(values: np.ndarray) -> None:
    assert readings_of("/t", values, "big") is None


def test_constant_values_tell_by_their_size() -> None:
    found = readings_of("/t", np.full(50, 7, np.int32), "big")
    assert found is not None
    assert found.likelier == "big"


def test_of_a_stream_that_was_cut_what_arrived_is_compared(tmp_path: Path) -> None:
    x = enc.dimension("x", len(SMOOTH))
    header = enc.header(enc.group(dimensions=[x], variables=[enc.variable("t", enc.DOUBLE, [x])]))
    body = enc.data_body("t", enc.DOUBLE, enc.whole([len(SMOOTH)]), bigend=False, version=3)
    path = tmp_path / "a.ncs"
    numbers = enc.regular(SMOOTH.astype("<f8").tobytes())
    # The middle of the variable is not among what arrived.
    path.write_bytes(enc.stream(header, enc.data(body, numbers))[: -4 - 8 * 3_000])
    found = sample_readings(refbrowser.open(path), "/t", JobControl())
    assert found is not None
    assert (found.count, found.likelier) == (1_000, "little")
