"""The verdict is the worst of all rules; what no rule is about is never silently good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine.readers import matrix as module
from refbrowser.engine.readers.matrix import ReaderVersion, chosen_columns, judge, reader_matrix
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.engine.readers.rules import RuleBook, parse_rules, rule_book
from refbrowser.errors import RefbrowserError

PLAIN = frozenset({"form:store", "metadata:zarr-v2", "type:int8", "grid:regular", "codec-v2:zlib"})


def book_of(*rules: dict[str, Any], **more: Any) -> RuleBook:
    readers = [
        {"name": "r", "title": "R", "versions": ["1.0", "2.0"], "remedy": "any", **more},
        {"name": "below", "title": "Below", "versions": ["5"]},
    ]
    remedies = [
        {"name": "any", "words": "Do", "export": "zarr-v2"},
        {"name": "own", "words": "Do", "export": "zarr-v3"},
    ]
    return parse_rules({"reader": readers, "remedy": remedies, "rule": [_complete(each) for each in rules]})


def _complete(rule: dict[str, Any]) -> dict[str, Any]:
    reason = {} if rule.get("outcome", "decodes") == "decodes" else {"reason": "does not"}
    return {"reader": "r", "outcome": "decodes", "source": "measured with r 1.0", **reason, **rule}


def verdict(book: RuleBook, features: frozenset[str] = PLAIN, version: str = "2.0") -> module.Cell:
    return judge(features, ReaderVersion(book.readers["r"], version), book)


ALL = {"needs": sorted(PLAIN)}


def test_it_decodes_where_all_that_is_needed_is_known() -> None:
    cell = verdict(book_of(ALL))
    assert (cell.verdict, cell.causes, cell.remedy) == (ReaderVerdict.DECODES, (), None)
    assert cell.sources == ("measured with r 1.0",)


@pytest.mark.parametrize("feature", sorted(PLAIN))
def test_what_no_rule_is_about_leaves_it_open(feature: str) -> None:
    cell = verdict(book_of({"needs": sorted(PLAIN - {feature})}))
    assert cell.verdict is ReaderVerdict.UNKNOWN
    assert cell.causes[0].features == (feature,)
    assert cell.remedy is not None


def test_nothing_is_known_of_a_reader_without_rules() -> None:
    assert verdict(book_of()).verdict is ReaderVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        (("opens", "refuses"), "refuses"),
        (("wrong", "opens"), "wrong"),
        (("unknown", "wrong"), "wrong"),
        (("decodes", "unknown"), "unknown"),
    ],
)
def test_the_worst_counts(outcomes: tuple[str, ...], worst: str) -> None:
    rules = [{"needs": ["type:*"], "outcome": each} for each in outcomes]
    cell = verdict(book_of(ALL, *rules))
    assert cell.verdict == worst
    assert cell.causes[0].verdict == worst


def test_rules_hold_for_their_versions_and_where_all_else_is_there() -> None:
    book = book_of(ALL, {"needs": ["type:int8"], "outcome": "refuses", "versions": "<2", "also": ["grid:*"]})
    assert verdict(book, version="1.0").verdict is ReaderVerdict.REFUSES
    assert verdict(book, version="2.0").verdict is ReaderVerdict.DECODES
    assert verdict(book, PLAIN - {"grid:regular"}, "1.0").verdict is ReaderVerdict.DECODES


def test_a_reader_reads_no_more_than_what_it_reads_by() -> None:
    below = {"reader": "below", "needs": ["codec-v2:zlib"], "outcome": "refuses"}
    through = [{"reader": "below", "version": "5", "when": ["form:store"]}]
    assert verdict(book_of(ALL, below)).verdict is ReaderVerdict.DECODES
    assert verdict(book_of(ALL, below, through=through)).verdict is ReaderVerdict.REFUSES
    elsewhere = (PLAIN - {"form:store"}) | {"form:zip-store"}
    book = book_of(ALL, {"needs": ["form:zip-store"]}, below, through=through)
    assert verdict(book, elsewhere).verdict is ReaderVerdict.DECODES


def test_a_form_or_flavour_that_is_not_read_settles_the_matter() -> None:
    known = sorted(PLAIN - {"type:int8"})
    codec = {"needs": ["codec-v2:*"], "outcome": "refuses"}
    form = {"needs": ["form:*"], "outcome": "refuses"}
    assert [cause.features for cause in verdict(book_of(ALL, codec, form)).causes] == [("form:store",)]
    assert verdict(book_of({"needs": known})).causes[0].features == ("type:int8",)
    assert verdict(book_of({"needs": ["grid:*"]})).causes[0].features == ("form:store",)


def test_what_another_reader_reads_by_can_be_left_out() -> None:
    below = {"reader": "below", "needs": ["codec-v2:zlib"], "outcome": "refuses"}
    for is_alone, found in ((False, ReaderVerdict.REFUSES), (True, ReaderVerdict.DECODES)):
        readers = [
            {
                "name": "r",
                "title": "R",
                "versions": ["2.0"],
                "through": [{"reader": "mid", "version": "1", "is_alone": is_alone}],
            },
            {
                "name": "mid",
                "title": "Mid",
                "versions": ["1"],
                "through": [{"reader": "below", "version": "5"}],
            },
            {"name": "below", "title": "Below", "versions": ["5"]},
        ]
        book = parse_rules({"reader": readers, "rule": [_complete(ALL), _complete(below)]})
        assert verdict(book).verdict is found


def test_the_remedy_is_that_of_the_cause_or_what_suits_the_reader() -> None:
    own = {"needs": ["type:*"], "outcome": "refuses", "remedy": "own"}
    other = {"needs": ["grid:*"], "outcome": "refuses"}
    assert verdict(book_of(ALL, own)).remedy is not None
    assert (found := verdict(book_of(ALL, own)).remedy) is not None
    assert found.name == "own"
    assert (found := verdict(book_of(ALL, own, other)).remedy) is not None
    assert found.name == "any"


def test_columns_are_named_with_or_without_a_version() -> None:
    book = rule_book()
    found = chosen_columns(("GDAL=3.10", "zarrita", "zarrita"), book)
    assert [each.name for each in found] == ["gdal=3.10", "zarrita=0.7"]
    assert len(chosen_columns((), book)) == sum(len(each.versions) for each in book.readers.values())
    for wrong in ("nobody", "gdal=new"):
        with pytest.raises(RefbrowserError):
            chosen_columns((wrong,), book)


@pytest.mark.slow
def test_arrays_that_need_the_same_are_judged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = zarr.create_group(tmp_path / "s.zarr", zarr_format=2)
    for number in range(30):
        group.create_array(f"a{number}", shape=(2,), dtype="i2" if number % 2 else "f4")
    judged: list[object] = []
    real = module.judge
    monkeypatch.setattr(module, "judge", lambda *given: judged.append(given) or real(*given))
    with refbrowser.open(tmp_path / "s.zarr") as dataset:
        found = reader_matrix(dataset, wanted=("gdal", "zarrita"))
    assert len(judged) == 2 * 2, "two readers, two kinds of arrays"
    assert sum(len(group.arrays) for group in found.groups) == 30


#: What an array has beside what nobody has heard of; facets of which a reader has to know every value.
USUAL = frozenset({"form:store", "metadata:zarr-v3", "grid:regular", "type:int16", "codec-v3:bytes"})
FACETS = st.sampled_from(["codec-v2", "codec-v3", "form", "grid"])


@pytest.mark.slow
@given(st.from_regex(r"[a-z][a-z0-9_.-]{0,12}", fullmatch=True), FACETS)
def test_of_what_nobody_has_heard_nothing_is_read(name: str, facet: str) -> None:
    book = rule_book()
    for column in chosen_columns((), book):
        cell = judge(USUAL | {f"{facet}:unheard-of-{name}"}, column, book)
        assert cell.verdict is not ReaderVerdict.DECODES, column.label
        assert cell.causes
