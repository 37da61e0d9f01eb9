"""Merging gen rules: matched by what they say, in their order; moved, edited, added and taken away."""

from __future__ import annotations

from typing import Any

import pytest

from refbrowser.references.merging.merged_rules import MergedRules, merged_rules, rule_text


def rule(key: str, url: str = "u", **more: Any) -> dict[str, Any]:
    return {"key": key, "url": url, **more}


A, B, C, D = (rule(name) for name in "abcd")


def rules(result: MergedRules) -> list[Any]:
    return [each.fields for each in result.rules]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ([A, B], [A, B, C], [D, A, B], [D, A, B, C]),
        ([A, B], [A, C, B], [A, D, B], [A, C, D, B]),
        ([A, B, C], [A, C], [A, B, C, D], [A, C, D]),
        ([A, B, C], [C, A, B], [A, B, C, D], [C, D, A, B]),
        ([A, B, C], [A, B, C, D], [C, A, B], [C, D, A, B]),
        ([A, B], [rule("a", "v"), B], [A, rule("b", "w")], [rule("a", "v"), rule("b", "w")]),
        ([A], [rule("a", "v")], [rule("a", offset="1")], [rule("a", "v", offset="1")]),
        ([A, A], [A], [A, A, B], [A, B]),
        ([], [A], [A, B], [A, B]),
        ([A, B], [], [A, B], []),
        ([A, B], [A, B], [], []),
        # Another key, the same place and URL: that rule, shifted.
        ([A, B], [rule("a{{i}}"), B], [rule("a", offset="1"), B], [rule("a{{i}}", offset="1"), B]),
    ],
)
def test_without_conflicts(base: list[Any], ours: list[Any], theirs: list[Any], merged: list[Any]) -> None:
    result = merged_rules(base, ours, theirs)
    assert rules(result) == merged
    assert not result.conflicts


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "path"),
    [
        ([A], [rule("a", "v")], [rule("a", "w")], ("url",)),
        ([A, B], [B], [rule("a", "w"), B], ()),
        ([A, B], [rule("a", "w"), B], [B], ()),
        ([], [rule("a", "v")], [rule("a", "w")], ()),
        ([A, B, C], [B, A, C], [A, C, B], ("order",)),
    ],
)
def test_conflicts_keep_ours(
    base: list[Any], ours: list[Any], theirs: list[Any], path: tuple[str, ...]
) -> None:
    result = merged_rules(base, ours, theirs)
    assert [each.conflict.path for each in result.conflicts] == [path]
    assert rules(result) == ours


def test_the_order_of_dimensions_is_part_of_a_rule() -> None:
    one = rule("a", dimensions={"i": [1], "j": [2]})
    other = rule("a", dimensions={"j": [2], "i": [1]})
    assert rule_text(one) != rule_text(other)
    assert rules(merged_rules([one], [one], [other]))[0]["dimensions"] == other["dimensions"]
    assert list(rules(merged_rules([one, B], [one, C], [other, B]))[0]["dimensions"]) == ["j", "i"]
