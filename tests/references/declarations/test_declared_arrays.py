"""What is declared of arrays: read, compared with what is known of them, learned of what is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.cf import Packing
from refbrowser.references.declarations import declared_arrays
from refbrowser.references.declarations.declared_arrays import (
    ArrayFacts,
    Declarations,
    learned,
    outside_bounds,
    parse_declarations,
)

FACTS = ArrayFacts(
    path="/ocean/t",
    dtype="<i2",
    dimensions=("time", "y"),
    shape=(31, 6),
    chunks=(1, 6),
    codecs=({"name": "shuffle", "elementsize": 2}, {"name": "zlib", "level": 4}),
    fill=-99,
    attributes={"units": "K", "scale_factor": 0.5, "standard_name": "air_temperature", "n": [3]},
)


def declared(name: str = "/ocean/t", **said: Any) -> Declarations:
    return parse_declarations({"arrays": {name: said}})


@pytest.mark.parametrize(
    "said",
    [
        {"dtype": "i2"}, {"dtype": "<i2"}, {"dtype": "int16"}, {"dimensions": ["time", "y"]},
        {"shape": [None, 6]}, {"chunks": [1, None]}, {"codecs": ["shuffle", "zlib"]},
        {"codecs": ["shuffle", {"name": "zlib", "level": 4}]}, {"fill": -99.0}, {"units": "K"},
        {"attributes": {"scale_factor": 0.5, "standard_name": "air_*"}},
        {"attributes": {"units": None, "n": 3}},
        {"range": [0, 1]}, {},
    ],
)  # fmt: skip
def test_what_is_as_declared(said: dict[str, Any]) -> None:
    for name in ("/ocean/t", "t", "*", "/ocean/*"):
        assert declared(name, **said).deviations(FACTS) == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"dtype": "f4"}, "dtype is <i2, declared f4"),
        ({"dtype": ">i2"}, "dtype is <i2, declared >i2"),
        ({"dimensions": ["time"]}, "dimensions are time, y, declared time"),
        ({"shape": [None, 7]}, "shape is 31 × 6, declared any × 7"),
        ({"chunks": [31, 6]}, "chunks are 1 × 6, declared 31 × 6"),
        ({"codecs": ["zlib"]}, "codecs are shuffle (elementsize 2) + zlib (level 4), declared zlib"),
        (
            {"codecs": ["shuffle", {"name": "zlib", "level": 5}]},
            "codecs are shuffle (elementsize 2) + zlib (level 4), declared shuffle + zlib (level 5)",
        ),
        ({"fill": None}, "fill is -99, declared null"),
        ({"units": "degC"}, "units are K, declared degC"),
        ({"calendar": "noleap"}, "calendar is missing, declared noleap"),
        ({"attributes": {"cell_methods": None}}, "cell_methods is missing, declared there"),
        ({"attributes": {"standard_name": "sea_*"}}, "standard_name is air_temperature, declared sea_*"),
    ],
)
def test_what_is_not(said: dict[str, Any], words: str) -> None:
    assert [each.words for each in declared(**said).deviations(FACTS)] == [words]
    assert declared("/ocean/u", **said).deviations(FACTS) == []


def test_arrays_that_are_named_are_there() -> None:
    several = parse_declarations({"arrays": {"/ocean/t": {}, "u": {}, "v": {"optional": True}, "w*": {}}})
    assert several.missing(["/ocean/t"]) == ["u"]
    assert several.missing(["/ocean/u"]) == ["/ocean/t"]


@pytest.mark.parametrize(
    "said",
    [
        {"arrays": []}, {"array": {}}, {"arrays": {"t": 3}},
        *(
            {"arrays": {"t": each}}
            for each in (
                {"kind": 1}, {"dtype": 3}, {"dimensions": "time"}, {"shape": [-1]}, {"chunks": [1.5]},
                {"chunks": [True]}, {"codecs": [3]}, {"codecs": [{"id": "zlib"}]}, {"range": [3, 1]},
                {"range": [1]}, {"range": "ab"}, {"attributes": []}, {"optional": 1},
            )
        ),
    ],
)  # fmt: skip
def test_what_is_of_no_form(said: dict[str, Any]) -> None:
    with pytest.raises(RefbrowserError) as caught:
        parse_declarations(said)
    assert caught.value.kind is ErrorKind.SCHEMA


def test_of_thousands_only_patterns_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [f"/a{number}" for number in range(3_000)]
    said = parse_declarations({"arrays": {**{path: {"dtype": "i2"} for path in paths}, "a1*": {"fill": 3}}})
    tried: list[str] = []
    like = declared_arrays.fnmatchcase
    monkeypatch.setattr(
        declared_arrays, "fnmatchcase", lambda name, pattern: tried.append(name) or like(name, pattern)
    )
    found = [said.deviations(replace(FACTS, path=path)) for path in paths]
    assert said.missing(paths[1:]) == ["/a0"]
    assert sum(map(len, found)) == sum(path.startswith("/a1") for path in paths)
    assert len(tried) <= 2 * len(paths)


def test_too_many_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared_arrays, "LIMITS", replace(LIMITS, declared_arrays=1))
    with pytest.raises(RefbrowserError) as caught:
        parse_declarations({"arrays": {"a": {}, "b": {}}})
    assert caught.value.kind is ErrorKind.BUDGET


def test_what_is_learned_holds_for_files_that_are_added() -> None:
    time = replace(
        FACTS, path="/time", dimensions=("time",), shape=(31,), chunks=(31,), codecs=(), fill=None,
        attributes={"units": "days since 2015-01-01", "calendar": "noleap", "long_name": "x"},
    )  # fmt: skip
    said = learned([FACTS, time], ["time"])
    assert said["arrays"]["/time"] == {
        "dtype": "i2", "dimensions": ["time"], "shape": [None], "units": "days since *", "calendar": "noleap",
    }  # fmt: skip
    found = parse_declarations(said)
    assert found.deviations(FACTS) == found.deviations(time) == []
    longer = replace(FACTS, shape=(28, 6), dtype=">i2")
    later = replace(time, shape=(28,), attributes={**time.attributes, "units": "days since 2016-01-01"})
    assert found.deviations(longer) == found.deviations(later) == []
    assert [each.name for each in found.deviations(replace(longer, codecs=FACTS.codecs[1:]))] == ["codecs"]


def test_dimensions_that_are_made_of_files_are_none_of_theirs() -> None:
    said = declared(dimensions=["run", "time", "y"], shape=[None, None, 6], chunks=[1, 1, 6])
    assert said.without(["run"]).deviations(FACTS) == []
    assert len(said.deviations(FACTS)) == 3


def test_values_are_unpacked_and_those_that_mean_none_left_out() -> None:
    attributes: Mapping[str, Any] = {"scale_factor": 0.5, "add_offset": 200.0, "_FillValue": -99}
    packing = Packing.from_attributes(attributes, np.dtype("i2"))
    values = np.array([[0, 100], [-99, 40]], "i2")
    assert outside_bounds((200, 250), values, packing) is None
    assert outside_bounds((None, None), values, packing) is None
    found = outside_bounds((None, 240), values, packing)
    assert found is not None
    assert found.words == "values are 200 to 250, declared … to 240"
    assert outside_bounds((201, None), values, packing) is not None
    assert outside_bounds((0, 1), values[1:, :1], packing) is None


_facts = st.builds(
    ArrayFacts,
    path=st.sampled_from(["/a", "/g/b", "/a[1]*"]),
    dtype=st.sampled_from(["<i2", ">f4", "|u1", "string", "<M8[ns]"]),
    dimensions=st.just(("x", "y")),
    shape=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    chunks=st.tuples(st.integers(1, 9), st.one_of(st.none(), st.integers(1, 9))),
    codecs=st.lists(st.fixed_dictionaries({"name": st.sampled_from(["zlib", "blosc"])}), max_size=2).map(
        tuple
    ),
    fill=st.one_of(st.none(), st.integers(), st.just("NaN"), st.floats(allow_nan=False)),
    attributes=st.dictionaries(
        st.sampled_from(["units", "calendar", "scale_factor", "x"]),
        st.one_of(
            st.text(),
            st.sampled_from(["[d]? since x", "d*"]),
            st.integers(),
            st.floats(allow_nan=False),
            st.lists(st.integers()),
        ),
    ),
)


@given(_facts, st.sets(st.sampled_from(["x", "y"])))
def test_each_array_is_as_it_declares_itself(facts: ArrayFacts, growing: set[str]) -> None:
    assert parse_declarations(learned([facts], growing)).deviations(facts) == []
