"""Drafts of rules: what was not edited is given back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.editing.rule_draft import (
    SHOWN_VALUES,
    DimensionDraft,
    DimensionKind,
    RuleDraft,
    integer,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(["key", "url", "offset", "length", "note", "x"])
RANGES = st.fixed_dictionaries(
    {"stop": st.integers(-9, 9)},
    optional={"start": st.integers(-9, 9), "step": st.integers(-3, 3), "by": JSON},
)
DIMENSIONS = st.dictionaries(
    st.text(max_size=3), RANGES | st.lists(st.integers(), max_size=4) | JSON, max_size=3
)
FIELDS = st.dictionaries(MEMBERS, st.text(max_size=8) | JSON, max_size=5)


@given(FIELDS, DIMENSIONS | JSON)
def test_what_was_not_edited_is_the_same_object_again(fields: dict[str, Any], dimensions: Any) -> None:
    given_fields = {**fields, "dimensions": dimensions}
    draft = RuleDraft.of(given_fields)
    assert not draft.is_changed
    result = draft.fields()
    assert list(result) == list(given_fields)
    assert all(result[name] is given_fields[name] for name in given_fields)


@given(FIELDS, DIMENSIONS)
def test_an_edit_changes_its_member_and_no_other(fields: dict[str, Any], dimensions: dict[str, Any]) -> None:
    given_fields = {**fields, "dimensions": dimensions}
    draft = RuleDraft.of(given_fields).with_text("url", "another url")
    result = draft.fields()
    assert result.pop("url") == "another url"
    assert result == {name: value for name, value in given_fields.items() if name != "url"}


def test_a_member_that_was_emptied_is_gone_only_where_it_may_be() -> None:
    draft = RuleDraft.of({"key": "k", "url": "u", "offset": "1", "length": "2", "dimensions": {}})
    emptied = draft.with_text("offset", "").with_text("url", "")
    assert emptied.fields() == {"key": "k", "url": "", "length": "2", "dimensions": {}}


def test_a_range_keeps_members_that_it_does_not_know() -> None:
    draft = DimensionDraft.of("i", {"stop": 4, "unit": "h", "step": 1})
    assert DimensionDraft("i", stop="9", step="1", given=draft.given).value() == {
        "stop": 9,
        "unit": "h",
        "step": 1,
    }
    assert DimensionDraft("i", stop="4", given=draft.given).value() == {"stop": 4, "unit": "h"}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"stop": 5}, 5),
        ({"start": 2, "stop": 9, "step": 3}, 3),
        ({"start": 5, "stop": 0, "step": -2}, 3),
        ({"stop": -1}, 0),
        ({"stop": 10**30}, 10**30),
        ([1, 2, 3], 3),
        ({"stop": 5, "step": 0}, None),
        ({"start": 1}, None),
        ("text", None),
    ],
)
def test_the_number_of_values(value: Any, size: int | None) -> None:
    assert DimensionDraft.of("i", value).size() == size


@given(st.integers(-20, 20), st.integers(1, 30), st.sampled_from([-7, -1, 1, 2, 5]))
def test_a_range_as_a_list_and_back_has_the_same_values(start: int, count: int, step: int) -> None:
    draft = DimensionDraft.of("i", {"start": start, "stop": start + count * step, "step": step})
    listed = draft.as_kind(DimensionKind.LIST)
    assert listed.value() == list(range(start, start + count * step, step))
    value = listed.as_kind(DimensionKind.RANGE).value()
    assert list(range(value.get("start", 0), value["stop"], value.get("step", 1))) == listed.value()


def test_a_long_list_is_kept_and_not_edited() -> None:
    values = list(range(SHOWN_VALUES + 1))
    draft = DimensionDraft.of("i", values)
    assert draft.too_long
    assert draft.value() is values
    assert not DimensionDraft.of("i", values[:-1]).too_long


def test_texts_that_are_no_integers_are_told() -> None:
    draft = RuleDraft.of({}).with_dimensions(
        (
            DimensionDraft("i", stop="1.5"),
            DimensionDraft("i", DimensionKind.LIST, values="1, b"),
            DimensionDraft("", stop="1"),
        )
    )
    assert draft.mistakes() == [
        (0, "stop", "1.5 is not an integer"),
        (1, "name", "two dimensions are named i"),
        (1, "values", "b is not an integer"),
        (2, "name", "the dimension has no name"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), (" -3 ", -3), ("+4", 4), ("1e3", None), ("", None), ("1_0", None), ("9" * 41, None)],
)
def test_integers_are_read_as_json_has_them(text: str, value: int | None) -> None:
    assert integer(text) == value


def test_what_was_typed_stays_on_top_of_another_object() -> None:
    before = {"key": "a", "url": "u", "dimensions": {"i": {"stop": 1}}}
    typed = RuleDraft.of(before).with_text("url", "typed")
    now = typed.rebased({"key": "b", "url": "other", "dimensions": {"i": {"stop": 2}}, "note": 1})
    assert now.fields() == {"key": "b", "url": "typed", "dimensions": {"i": {"stop": 2}}, "note": 1}
