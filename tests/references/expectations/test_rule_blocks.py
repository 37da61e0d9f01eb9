"""Blocks of gen rules, held against the rules' own answers chunk by chunk."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.expectations.chunk_sets import ChunkSet, UndecidedSetError
from refbrowser.references.expectations.rule_blocks import rule_blocks
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.templates import TemplateSet

ENCODING = ChunkKeyEncoding()
GRID = (40, 3)


def _rule(key: str, dimensions: dict[str, Any]) -> GenRule:
    return GenRule({"key": key, "url": "f", "dimensions": dimensions}, TemplateSet({}, {}), 0)


@pytest.mark.parametrize(
    ("key", "dimensions"),
    [
        ("t/{{i}}.{{j}}", {"i": {"stop": 30}, "j": {"stop": 3}}),
        ("t/{{i}}.1", {"i": {"start": 5, "stop": 50, "step": 3}}),
        ("t/{{2*i+1}}.{{2-j}}", {"i": {"stop": 12}, "j": {"stop": 3}}),
        ("t/{{12*y+m}}.0", {"y": {"stop": 3}, "m": {"stop": 12}}),
        ("t/{{12*y+m}}.0", {"y": {"start": 1, "stop": 3}, "m": [0, 1, 2, 7, 9]}),
        ("t/{{5*i+3*j}}.0", {"i": {"stop": 5}, "j": {"stop": 4}}),
        ("t/{{30-i}}.{{j}}", {"i": {"stop": 20}, "j": [0, 2]}),
        ("t/{{'%02d' % i}}.0", {"i": {"stop": 30}}),
        ("t/{{i}}.0", {"i": {"stop": 2**100}}),
        ("t/{{9-i}}.0", {"i": {"stop": 2**100}}),
        ("t/{{i+j}}.0", {"i": {"stop": 2**100}, "j": {"stop": 2**100}}),
        ("u/{{i}}.0", {"i": {"stop": 30}}),
        ("t/{{i}}", {"i": {"stop": 30}}),
        ("t/{{i}}.0", {"i": {"stop": 0}}),
        ("t/7.2", {"i": {"stop": 2}}),
    ],
)
def test_blocks_hold_what_the_rule_gives(key: str, dimensions: dict[str, Any]) -> None:
    rule = _rule(key, dimensions)
    chunks = ChunkSet.of(GRID, rule_blocks(rule, "t/", 2, ENCODING))
    held = {at for block in chunks.blocks for at in product(*block.axes)}
    assert held == {at for at in product(*map(range, GRID)) if rule.find(f"t/{at[0]}.{at[1]}") is not None}
    assert len(held) == chunks.count


@pytest.mark.parametrize(
    ("key", "dimensions"),
    [
        ("t/{{i}}.{{i}}", {"i": {"stop": 3}}),
        ("t/{{i*i}}.0", {"i": {"stop": 30}}),
        ("t/{{5*i+3*j}}.0", {"i": {"stop": 9000}, "j": {"stop": 9000}}),
    ],
)
def test_a_key_that_is_not_affine_is_not_decided(key: str, dimensions: dict[str, Any]) -> None:
    with pytest.raises(UndecidedSetError):
        list(rule_blocks(_rule(key, dimensions), "t/", 2, ENCODING))


def test_a_billion_rows_are_one_block() -> None:
    rule = _rule("t/{{i}}.{{j}}", {"i": {"stop": 10**6}, "j": {"stop": 10**3}})
    (block,) = rule_blocks(rule, "t/", 2, ENCODING)
    assert (block.axes, block.count) == ((range(10**6), range(1000)), 10**9)
