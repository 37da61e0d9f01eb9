"""Fuzzy search: what is found, in which order, and that its places are those of the letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.key_search import best, match


@pytest.mark.parametrize(("pattern", "text", "marked"), [
    ("", "anything", ""),
    ("save", "File: Save as", "Save"),
    ("SA", "File: Save as", "Sa"),
    ("fsa", "File: Save as", "FSa"),
    ("sa as", "File: Save as", "Saas"),
    ("otemp", "/ocean/temp", "otemp"),
])  # fmt: skip
def test_letters_that_are_found(pattern: str, text: str, marked: str) -> None:
    found = match(pattern, text)
    assert found is not None
    assert "".join(text[place] for place in found.places) == marked


@pytest.mark.parametrize(("pattern", "text"), [("x", "save"), ("evas", "save"), ("savee", "save")])
def test_what_is_not_found(pattern: str, text: str) -> None:
    assert match(pattern, text) is None


@pytest.mark.parametrize(("pattern", "first", "second"), [
    ("save", "File: Save", "File: Save as"),
    ("undo", "Edit: Undo", "Until now do"),
    ("gk", "Go to key", "Go back"),
    ("temp", "/ocean/temp", "/ocean/two_empty_maps"),
])  # fmt: skip
def test_order(pattern: str, first: str, second: str) -> None:
    items = [second, first]
    assert next(item for item, _match in best(pattern, items, str, 5)) == first


def test_order_is_kept_without_a_pattern_and_the_number_is_bounded() -> None:
    assert [item for item, _match in best("", ["b", "a", "c"], str, 2)] == ["b", "a"]


@given(st.text(max_size=12), st.text(max_size=40))
def test_places_rise_and_hold_the_letters(pattern: str, text: str) -> None:
    found = match(pattern, text)
    if found is not None:
        letters = "".join(pattern.split()).casefold()
        assert list(found.places) == sorted(set(found.places))
        assert all(0 <= place < len(text) for place in found.places)
        if text.isascii() and pattern.isascii():
            assert "".join(text[place].casefold() for place in found.places) == letters
            assert len(found.places) == len(letters)


@given(st.text(alphabet="abc ./", max_size=10), st.text(alphabet="abc./", max_size=10))
def test_found_exactly_where_the_letters_stand_in_order(pattern: str, text: str) -> None:
    letters = iter(text)
    assert (match(pattern, text) is not None) == all(letter in letters for letter in "".join(pattern.split()))
