"""What is sought: plain text, whole words, expressions whose time is bounded."""

from __future__ import annotations

import time

import pytest

from refbrowser.views.searching.pattern import REACH, PatternError, SearchPattern


def test_plain_text_is_found_in_either_case():
    assert SearchPattern.of("T.0").spans("lat/t.0 T.0") == [(4, 7), (8, 11)]
    assert SearchPattern.of("T.0", any_case=False).spans("lat/t.0 T.0") == [(8, 11)]
    assert SearchPattern.of("é").spans("É") == [(0, 1)]


def test_whole_words_stand_alone():
    pattern = SearchPattern.of("temp", whole_words=True)
    assert pattern.spans("temp temperature a/temp/0 xtemp") == [(0, 4), (19, 23)]


def test_expressions_are_found():
    pattern = SearchPattern.of(r"t/\d+\.(0|1)$", is_expression=True)
    assert pattern.spans("t/12.1") == [(0, 6)]
    assert pattern.spans("t/12.2") == []
    assert SearchPattern.of("(?:ab)+c{2}", is_expression=True).spans("xababcc") == [(1, 7)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        "a**",
        r"(a+)+b",
        r"(a|aa)*b",
        r"(a?)*b",
        r"(.)\1",
        r"(?=a)b",
        ".*.*.*x",
        "a*",
        "x" * 300,
        "(a{2,9}){9}",
        "a?" * 40 + "a" * 40,
        "(?:a|b|ab)" * 9,
        "a{40}" * 9,
    ],
)
def test_what_might_take_too_long_is_refused(text):
    with pytest.raises(PatternError):
        SearchPattern.of(text, is_expression=True)


def test_a_setting_within_whole_words_is_refused():
    with pytest.raises(PatternError):
        SearchPattern.of("(?i)a", whole_words=True, is_expression=True)


def test_what_is_repeated_often_looks_at_the_beginning():
    assert SearchPattern.of("(?:ab){40}c", is_expression=True).reach == REACH[1]


@pytest.mark.parametrize("text", [".*.*x", "[ab]*[ab]*c", "(?:ab)*(?:ab)*c", "a*a*a?a?a?b"])
def test_the_worst_text_is_looked_at_quickly(text):
    pattern = SearchPattern.of(text, is_expression=True)
    assert pattern.reach == REACH[2]
    begun = time.process_time()
    pattern.spans("ab" * 100_000 + "a" * 100_000)
    assert pattern.spans("a" * 100_000) == []
    assert time.process_time() - begun < 0.5


def test_many_joined_texts_are_looked_at_at_once():
    assert SearchPattern.of("B").places("ab\nba\ncc") == [1, 3]
    assert SearchPattern.of("B", any_case=False).places("ab\nba") == []
    assert SearchPattern.of("b", is_expression=True).places("ab") is None
    # Lower case is longer: places would not be those of the text.
    assert SearchPattern.of("b").places("İb") is None
