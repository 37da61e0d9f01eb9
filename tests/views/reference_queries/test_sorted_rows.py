"""Rows in the order of a column: refs, edits, rules and layouts together."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetReference
from refbrowser.views.reference_queries import sorted_rows as module
from refbrowser.views.reference_queries.found_rows import FoundRows, ListOfRows, RangeOfRows
from refbrowser.views.reference_queries.sorted_rows import RowValues, sorted_rows


@pytest.fixture
def state() -> Any:
    refs = {
        "v/10.0": ["b.bin", 5, 20],
        "v/9.0": ["a.bin", 7, 10],
        ".zgroup": "{}",
        "u/0": ["c.bin"],
        "v/2.11": ["a.bin", 1, 30],
    }
    rule = {
        "key": "v/{{i}}.1",
        "url": "{{'b' if i == 1 else 'a'}}.bin",
        "offset": "{{100 - i}}",
        "length": "{{i + 1}}",
        "dimensions": {"i": {"stop": 3}},
    }
    text = json.dumps({"version": 1, "refs": refs, "gen": [rule]})
    return SetReference("v/9.0", ["a.bin", 7, 40]).apply(ReferenceDocument.of(text.encode()))


def keys(state: Any, column: Callable[[RowValues], Any], *, is_descending: bool = False) -> list[str]:
    found = FoundRows((RangeOfRows(0, state.expansion.rows),))
    rows = sorted_rows(state, found, column, is_descending=is_descending)
    return [state.expansion.key(row) for row in rows.rows(0, rows.count)]


def test_keys_are_in_the_order_of_their_numbers(state: Any) -> None:
    found = keys(state, lambda values: values.keys)
    assert found == [".zgroup", "u/0", "v/0.1", "v/1.1", "v/2.1", "v/2.11", "v/9.0", "v/10.0"]


def test_lengths_both_ways(state: Any) -> None:
    rising = ["v/0.1", "v/1.1", "v/2.1", "v/10.0", "v/2.11", "v/9.0"]
    assert [key for key in keys(state, lambda values: values.lengths) if key in rising] == rising
    assert keys(state, lambda values: values.lengths, is_descending=True)[:3] == ["v/9.0", "v/2.11", "v/10.0"]


def test_urls_keep_the_order_of_rows_among_themselves(state: Any) -> None:
    found = keys(state, lambda values: values.urls)
    assert found == [".zgroup", "v/9.0", "v/2.11", "v/0.1", "v/2.1", "v/10.0", "v/1.1", "u/0"]


def test_offsets_kinds_and_origins(state: Any) -> None:
    by_offset = ["v/2.11", "v/10.0", "v/9.0", "v/2.1", "v/1.1", "v/0.1"]
    assert keys(state, lambda values: values.offsets)[2:] == by_offset
    assert keys(state, lambda values: values.kinds)[0] == ".zgroup"
    assert keys(state, lambda values: values.kinds)[-1] == "u/0"
    assert keys(state, lambda values: values.origins, is_descending=True)[:3] == ["v/0.1", "v/1.1", "v/2.1"]


def test_some_rows_in_any_order(state: Any) -> None:
    import numpy as np

    found = FoundRows((ListOfRows(np.array([6, 0, 4])),), ((0, 5),))
    rows = sorted_rows(state, found, lambda values: values.lengths, is_descending=False)
    assert rows.rows(0, 3) == [6, 0, 4]
    assert [rows.number_of(row) for row in (6, 0, 4, 1)] == [0, 1, 2, None]
    assert rows.unsearched == ((0, 5),)


def test_too_many_are_refused(state: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SORTED", 7)
    with pytest.raises(RefbrowserError, match="8 rows are too many to be sorted"):
        keys(state, lambda values: values.keys)
