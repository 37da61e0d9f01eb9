from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.numbers import log_ticks, nice_numbers, stepped_text
from refbrowser.views.plot.coordinates import Coordinate


def texts(low: float, high: float, count: int) -> list[str]:
    return [text for _value, text in log_ticks(low, high, count)]


def test_powers_of_ten() -> None:
    assert texts(0.5, 20_000, 6) == ["1", "10", "100", "1000", "10000"]
    assert texts(1e-6, 1e10, 9) == ["1e−6", "0.0001", "0.01", "1", "100", "10000", "1000000", "1e8", "1e10"]


def test_numbers_between_them_where_there_is_room() -> None:
    assert texts(1, 100, 12) == ["1", "2", "5", "10", "20", "50", "100"]
    assert texts(24, 31, 5) == ["24", "26", "28", "30"]


def test_what_is_no_range() -> None:
    for low, high in ((0, 1), (-1, 1), (2, 2), (3, 1), (1, float("inf"))):
        assert log_ticks(low, high, 5) == []


@given(st.floats(1e-200, 1e200), st.floats(1.0001, 1e50), st.integers(2, 20))
def test_ticks_are_few_and_inside(low: float, ratio: float, count: int) -> None:
    ticks = log_ticks(low, low * ratio, count)
    assert len(ticks) <= 2 * count + 2
    for value, text in ticks:
        assert low * 0.999 <= value <= low * ratio * 1.001
        assert abs(float(text.replace("−", "-")) / value - 1) < 0.51


def test_large_numbers_on_an_axis_keep_the_digits_of_their_step() -> None:
    numbers, step = nice_numbers(0, 2e7, 8)
    assert [stepped_text(number, step, 2e7) for number in numbers] == [
        *("0", "2.5e6", "5.0e6", "7.5e6", "1.00e7", "1.25e7", "1.50e7", "1.75e7", "2.00e7"),
    ]
    assert stepped_text(-1.5e-8, 5e-9, 2e-8) == "\N{MINUS SIGN}1.5e\N{MINUS SIGN}8"
    assert stepped_text(5.62236e8, 10, 5.6e8) == "5.6223600e8"


def test_named_values_are_the_only_ticks() -> None:
    scale = Coordinate(name="value", size=0, named=[(float(n), f"flag {n}") for n in range(10)])
    assert scale.value_ticks(-0.5, 2.5, 5) == [(0.0, "flag 0"), (1.0, "flag 1"), (2.0, "flag 2")]
    assert len(scale.value_ticks(0, 9, 4)) == 4


def test_a_span_of_next_to_nothing_has_round_numbers_too():
    assert nice_numbers(0.0, 1e-323, 5) == ([0.0], 1.0)
