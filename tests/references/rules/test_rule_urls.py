"""URLs of gen rules, by the dimensions that they depend on, are those of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_urls import RuleUrls
from refbrowser.references.templates.templates import TemplateSet


def urls_of(**rule: Any) -> RuleUrls | None:
    dimensions = {"i": {"stop": 3}, "j": [5, 7], "k": {"stop": 1_000_000}}
    members = {"key": "a/{{i}}.{{j}}.{{k}}", "offset": "0", "length": "1", "dimensions": dimensions}
    return RuleUrls.of(GenRule({**members, **rule}, TemplateSet({}), 0))


def test_there_is_one_for_each_combination_of_their_dimensions() -> None:
    urls = urls_of(url="s3://b/{{j}}/{{i}}.nc")
    assert urls is not None
    assert (urls.count, urls.slots) == (6, (0, 1))
    texts = urls.texts(0, 6)
    assert texts == [f"s3://b/{j}/{i}.nc" for i in range(3) for j in (5, 7)]
    assert urls.texts(2, 5) == texts[2:5]
    assert [column.tolist() for column in urls.positions(2, 5)] == [[1, 1, 2], [0, 1, 0]]
    assert (urls.are_more_than(5), urls.are_more_than(6)) == (True, False)
    # The same as of the rows, of which each has as many.
    rule = urls.rule
    each = rule.count // urls.count
    rows = np.arange(0, rule.count, each)
    assert [rule.references(rows).reference(row).url for row in range(6)] == texts  # type: ignore[union-attr]


def test_one_for_all_and_none() -> None:
    urls = urls_of(url="a.nc")
    assert urls is not None
    assert (urls.count, urls.slots, urls.positions(0, 1), urls.texts(0, 1)) == (1, (), (), ["a.nc"])
    assert urls_of(url="a.nc", dimensions={"i": []}) is None
