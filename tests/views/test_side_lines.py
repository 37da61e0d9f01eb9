"""Texts beside each other: aligned, whole, marked where they differ, within limits."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.side_lines import SHOWN, SHOWN_LINES, Sign, first_differing, side_lines

texts = st.text(alphabet="ab \n", max_size=60)


@given(texts, texts)
def test_lines_stand_beside_each_other_and_nothing_is_left_out(here: str, there: str) -> None:
    left, right = side_lines(here, there, both=True)
    assert len(left) == len(right)
    for text, lines in ((here, left), (there, right)):
        assert [line.text for line in lines if line.sign != Sign.NONE] == (text.splitlines() or [""])
    for one, other in zip(left, right, strict=True):
        assert (one.sign == Sign.SAME) == (one.sign == other.sign == Sign.SAME)
        if one.sign == Sign.SAME:
            assert one.text == other.text
        if one.sign == Sign.CHANGED:
            # What is outside of the marked parts is the same.
            assert _outside(one.text, one.spans) == _outside(other.text, other.spans)
            assert one.spans or other.spans


def _outside(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    for start, stop in reversed(spans):
        text = text[:start] + text[stop:]
    return text


def test_objects_are_laid_out_and_members_compared() -> None:
    here = {"shape": [10, 20, 30], "units": "kelvin", "chunks": [1, 20, 30]}
    left, right = side_lines(json.dumps(here), json.dumps({**here, "units": "K"}), both=True)
    pairs = zip(left, right, strict=True)
    changed = [(one.text.strip(), other.text.strip()) for one, other in pairs if one.sign != Sign.SAME]
    assert changed == [('"units": "kelvin",', '"units": "K",')]


def test_what_is_on_one_side_alone_has_its_sign_and_words_beside_it() -> None:
    left, right = side_lines("", "a\nb", both=False)
    assert [line.sign for line in right] == [Sign.THERE, Sign.THERE]
    assert [line.text for line in left] == ["(not there)", ""]
    assert side_lines("a", "", both=False)[0][0].sign == Sign.HERE


def test_long_texts_begin_where_they_part_and_have_limits() -> None:
    left, right = side_lines("x" * 50_000 + "here" + "y" * 50_000, "x" * 50_000 + "there", both=True)
    assert left[0].text.startswith("…xxx")
    start, stop = left[0].spans[0]
    assert left[0].text[start : start + 4] == "here"
    assert stop <= len(left[0].text) <= SHOWN + 60
    many = [str(number) for number in range(2 * SHOWN_LINES)]
    other = [*many[:SHOWN_LINES], "new", *many[SHOWN_LINES + 1 :]]
    left, right = side_lines("\n".join(many), "\n".join(other), both=True)
    assert len(left) == len(right) <= SHOWN_LINES
    assert right[first_differing(right)].text == "new"
