"""Texts from the place where they differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.text.typed_values import LEAD, first_difference, from_difference

URL = "https://storage.example.org/bucket/1998/part-"


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (f"{URL}1/x.nc", f"{URL}2/x.nc", ("…98/part-1/x.nc", "…98/part-2/x.nc")),
        (URL, f"{URL}2", ("…98/part-", "…98/part-2")),
        ("http://a", "https://a", ("http://a", "https://a")),
        ("110", "2410", ("110", "2410")),
        (URL, URL, (URL, URL)),
        ("", URL, ("", URL)),
    ],
)
def test_what_is_the_same_at_the_beginning_is_left_out(one: str, other: str, shown: tuple[str, str]) -> None:
    assert from_difference(one, other) == shown


@given(st.text("ab", max_size=40), st.text("ab", max_size=9), st.text("ab", max_size=9))
def test_nothing_that_differs_is_left_out(same: str, one: str, other: str) -> None:
    one, other = same + one, same + other
    at = first_difference(one, other)
    assert one[:at] == other[:at]
    assert one[at : at + 1] != other[at : at + 1] or one == other
    shown = from_difference(one, other)
    assert shown == (one, other) or shown == (f"…{one[at - LEAD :]}", f"…{other[at - LEAD :]}")
