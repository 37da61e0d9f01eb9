"""The rules of readers are sound data: named, reasoned, with a source each; versions compare as numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.engine.readers.rules import parse_rules, rule_book
from refbrowser.engine.readers.versions import VersionRange, version_key
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.option_fields import group_of
from refbrowser.formats.option_fields import declared
from refbrowser.formats.registry import written

BOOK = rule_book()
RULE: dict[str, Any] = {
    "reader": "r",
    "needs": ["codec-v2:zlib"],
    "outcome": "refuses",
    "reason": "does not",
    "source": "measured with r 1.0",
}
READER: dict[str, Any] = {"name": "r", "title": "R", "versions": ["1.0"]}


@pytest.mark.parametrize("rule", BOOK.rules, ids=lambda rule: f"{rule.reader} {rule.needs[0]} {rule.outcome}")
def test_each_rule_says_where_it_is_known_from(rule: Any) -> None:
    assert re.match(r"https://|measured with \S+ [\d.]+|measured with \S+ \(|measured with", rule.source)
    assert rule.outcome is ReaderVerdict.DECODES or re.match("[a-z]", rule.reason), "a phrase with a verb"
    assert not rule.reason.endswith(".")
    assert all(":" in each for each in (*rule.needs, *rule.also))


def test_readers_are_named_and_have_versions_in_order() -> None:
    assert {"zarr-python", "xarray", "icechunk", "fsspec", "kerchunk", "virtualizarr"} <= set(BOOK.readers)
    assert {"gdal", "netcdf-c", "zarrs", "zarrita", "zarr.jl"} <= set(BOOK.readers)
    for name, reader in BOOK.readers.items():
        assert name == reader.name == name.lower()
        keys = [version_key(each) for each in reader.versions]
        assert keys == sorted(set(keys))
        assert reader.opens


def test_each_rule_concerns_a_version_that_is_shown_or_later_ones() -> None:
    for rule in BOOK.rules:
        versions = BOOK.readers[rule.reader].versions
        assert any(each in rule.versions for each in (*versions, "99999")), rule


def test_remedies_are_exports_that_there_are_with_options_that_they_take() -> None:
    for remedy in BOOK.remedies.values():
        assert remedy.export or remedy.add
        assert re.match("[A-Z].*[^.]$", remedy.words)
        if remedy.export:
            group = group_of(written()[remedy.export])
            assert set(remedy.options) <= set(declared(group) if group else ())
        assert json.dumps(dict(remedy.add))
    used = {each.remedy for each in (*BOOK.rules, *BOOK.readers.values())}
    assert used >= set(BOOK.remedies), "a remedy that nothing names"


@pytest.mark.parametrize(
    "wrong",
    [
        {"reader": "other"},
        {"outcome": "nothing"},
        {"outcome": "decodes"},
        {"reason": ""},
        {"remedy": "none"},
        {"versions": "about 3"},
        {"unheard": 1},
    ],
)
def test_wrong_rules_are_refused(wrong: dict[str, Any]) -> None:
    assert parse_rules({"reader": [READER], "rule": [RULE]}).rules
    with pytest.raises((RefbrowserError, ValueError)):
        parse_rules({"reader": [READER], "rule": [RULE | wrong]})


@pytest.mark.parametrize("lacking", ["reader", "needs", "outcome", "source"])
def test_rules_lack_nothing(lacking: str) -> None:
    said = {name: value for name, value in RULE.items() if name != lacking}
    with pytest.raises((RefbrowserError, ValueError)):
        parse_rules({"reader": [READER], "rule": [said]})


numbers = st.lists(st.integers(0, 99), min_size=1, max_size=4)


@given(numbers, numbers)
def test_versions_compare_as_their_numbers(one: list[int], other: list[int]) -> None:
    left, right = (".".join(map(str, each)) for each in (one, other))
    padded = [each + [0] * (4 - len(each)) for each in (one, other)]
    assert (left in VersionRange.of(f"<{right}")) == (padded[0] < padded[1])
    assert (left in VersionRange.of(f">={right}")) == (padded[0] >= padded[1])
    assert (left in VersionRange.of(f"=={right}")) == (padded[0] == padded[1])


def test_ranges_have_bounds_on_both_sides() -> None:
    between = VersionRange.of(">=3.0,<3.2")
    assert [each in between for each in ("2.18.7", "3.0", "3.1.6", "3.2", "3.10")] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_the_manual_lists_the_readers() -> None:
    page = (Path(__file__).resolve().parents[3] / "resources/manual/readers.md").read_text("utf-8")
    for reader in BOOK.readers.values():
        assert f"| `{reader.name}` | {reader.title} | {', '.join(reader.versions)} |" in page
