"""What typed letters may mean in a document: nodes, rows, keys of refs, edits and rules."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.formats.references import hierarchy_of, open_references
from refbrowser.io.cancel import Cancelled
from refbrowser.references.content.chunk_codes import pack
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, RenameReference, SetReference
from refbrowser.views.key_search import EACH, Hit, HitKind, row_number, search, starting_with, tail_of

ARRAY = json.dumps({
    "zarr_format": 2, "shape": [30, 30], "chunks": [1, 1], "dtype": "<i2", "compressor": None,
    "filters": None, "fill_value": 0, "order": "C",
})  # fmt: skip


def document(rule_rows: int = 50) -> ReferenceDocument:
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}', "ocean/temp/.zarray": ARRAY}
    refs |= {f"ocean/temp/{i}.{j}": ["a.bin", i, 2] for i in range(30) for j in range(30)}
    refs |= {f"Salt/{i}": ["a.bin", i, 2] for i in range(5)}
    refs["notes.txt"] = "hello"
    rule = {
        "key": "wind/u/{{i}}.0",
        "url": "b.bin",
        "offset": "{{i}}",
        "length": "2",
        "dimensions": {"i": {"stop": rule_rows}},
    }
    text = json.dumps({"version": 1, "gen": [rule], "refs": refs})
    return open_references(text.encode())


def keys(state: ReferenceDocument, text: str) -> list[str]:
    return [hit.text for hit in search(state, None, text).hits if hit.kind is HitKind.KEY]


@pytest.mark.parametrize(("text", "first"), [
    ("ocean/temp/29.2", "ocean/temp/29.2"),
    ("/ocean/temp/29.2", "ocean/temp/29.2"),
    ("temp/7.1", "ocean/temp/7.1"),
    ("29.29", "ocean/temp/29.29"),
    ("salt/3", "Salt/3"),
    ("zarray", "ocean/temp/.zarray"),
    ("NOTES", "notes.txt"),
    ("wind/u/17.", "wind/u/17.0"),
    ("wind", "wind/u/0.0"),
    ("d/u/4", "wind/u/4.0"),
])  # fmt: skip
def test_first_key(text: str, first: str) -> None:
    assert keys(document(), text)[0] == first


@pytest.mark.parametrize("text", ["ocean/temp/30", "temp/07", "temp/1.2.3", "salt/3.0", "nothing", "9" * 30])
def test_no_key(text: str) -> None:
    assert keys(document(), text) == []


def test_all_keys_that_begin_so() -> None:
    found = keys(document(), "temp/1.2")
    assert found == ["ocean/temp/1.2", *(f"ocean/temp/1.{j}" for j in range(20, 30))]


def test_nodes_rows_and_what_is_typed() -> None:
    state = document()
    hits = search(state, hierarchy_of(state), "octe").hits
    assert Hit(HitKind.NODE, "/ocean/temp", "array 30 × 30", (1, 2, 7, 8)) in hits
    assert search(state, None, "# 1,2").hits[0] == Hit(HitKind.ROW, "12", "row of the Version 0 view", (0, 1))
    assert not [hit for hit in search(state, None, "999999").hits if hit.kind is HitKind.ROW]
    (hit,) = search(state, None, "notes").hits
    assert hit == Hit(HitKind.KEY, "notes.txt", "refs", (0, 1, 2, 3, 4))


def test_nothing_typed_lists_the_nodes() -> None:
    state = document()
    hits = search(state, hierarchy_of(state), " ").hits
    assert {hit.kind for hit in hits} == {HitKind.NODE}
    assert "/ocean/temp" in [hit.text for hit in hits]


def test_edits_are_found_and_what_they_took_away_is_not() -> None:
    state = document()
    state = state.apply(RenameReference("Salt/1", "pepper/1"))
    state = state.apply(SetReference("pepper/note", "x"))
    state = state.apply(RemoveReference("Salt/2"))
    assert set(keys(state, "pepper")) == {"pepper/1", "pepper/note"}
    assert keys(state, "salt") == ["Salt/0", "Salt/3", "Salt/4"]


def test_more_than_is_given_is_told() -> None:
    state = document()
    assert not search(state, None, "ocean").is_whole
    assert len(keys(state, "ocean")) == EACH + 1
    assert search(state, None, "notes").is_whole


def test_huge_rules_are_bounded_and_told() -> None:
    state = document(10**12)
    found = search(state, None, "wind/u/999999")
    assert not found.is_whole
    assert [hit.text for hit in search(state, None, "wind/u/987654321.0").hits] == ["wind/u/987654321.0"]


def test_the_search_can_be_cancelled_and_ends_in_time() -> None:
    def cancel() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        search(document(), None, "zarray", cancel)
    assert search(document(), None, "zarray", seconds=-1).is_whole is False


@pytest.mark.parametrize(("text", "number"), [
    ("12", 12), ("#12", 12), ("1,234", 1234), ("1 234", 1234), ("1_2", 12), ("", None), ("-1", None),
    ("1.5", None), ("²", None), ("9" * 41, None),
])  # fmt: skip
def test_numbers_of_rows(text: str, number: int | None) -> None:
    assert row_number(text) == number


COORDS = st.lists(st.integers(0, 120), min_size=1, max_size=3)


@given(
    st.lists(COORDS, min_size=1, max_size=30), st.from_regex(r"[0-9]{1,3}(\.[0-9]{0,3}){0,2}", fullmatch=True)
)
def test_coordinates_begin_as_their_text_does(coords: list[list[int]], tail: str) -> None:
    codes = np.array([pack(tuple(each)) for each in coords], np.uint64)
    expected = [".".join(map(str, each)).startswith(tail) for each in coords]
    assert starting_with(codes, ".", tail).tolist() == expected


@given(st.sampled_from(["", "a/", "ocean/temp/", "x1/"]), st.text(alphabet="a/x12.temp", max_size=8))
def test_a_tail_is_what_follows_the_group(prefix: str, text: str) -> None:
    tail = tail_of((prefix, "."), text)
    if tail is not None:
        assert re.fullmatch(r"[0-9.]+", tail)
        assert prefix.endswith(text.removesuffix(tail))
