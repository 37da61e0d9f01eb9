"""Regions as text: read, written and read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.regions.region import (
    DEPTH,
    EVERYWHERE,
    LENGTH,
    Both,
    Bounds,
    Condition,
    Either,
    Outside,
    Polygon,
    Region,
    parsed_region,
)

floats = st.floats(-1e6, 1e6).map(lambda number: number + 0.0)
names = st.sampled_from(["lat", "lon", "time", "a b", "and", "x1", "lat.y", "polygon"])
bounds = st.builds(Bounds, names, floats, floats)
indices = st.builds(
    lambda name, low, high: Bounds(name, float(low), float(high), by_index=True),
    names,
    st.integers(-9, 9),
    st.integers(-9, 9),
)
polygons = st.builds(
    Polygon,
    st.lists(st.tuples(floats, floats), min_size=3, max_size=5, unique=True).map(tuple),
    st.sampled_from([(), ("x", "a b")]),
    st.booleans(),
)
conditions = st.builds(
    Condition,
    st.sampled_from([">", "<", ">=", "<=", "==", "!="]),
    floats,
    st.sampled_from(["", "/lsm", "/a/b.c"]),
)


def joined(parts: st.SearchStrategy[Region]) -> st.SearchStrategy[Region]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(Both, several), st.builds(Either, several), st.builds(Outside, parts))


regions = st.recursive(st.one_of(bounds, indices, polygons, conditions), joined, max_leaves=6)


def flat(region: Region) -> Region:
    """Return a region without brackets that say nothing."""
    if isinstance(region, Outside):
        return Outside(flat(region.part))
    if not isinstance(region, Both | Either):
        return region
    parts = [flat(part) for part in region.parts]
    kind = type(region)
    return kind(tuple(one for part in parts for one in (part.parts if isinstance(part, kind) else (part,))))


@given(regions)
def test_what_is_written_is_read_as_the_same(region: Region) -> None:
    assert flat(parsed_region(str(region))) == flat(region)


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("", EVERYWHERE),
        ("lat 30..60, lon -10..30", Both((Bounds("lat", 30, 60), Bounds("lon", -10, 30)))),
        ("lat 30..", Bounds("lat", 30, None)),
        ("lat ..-0.5", Bounds("lat", None, -0.5)),
        ("lat 3", Bounds("lat", 3, 3)),
        ("time@3", Bounds("time", 3, 4, by_index=True)),
        ("time@3:", Bounds("time", 3, None, by_index=True)),
        ("≥ 1e-3", Condition(">=", 1e-3)),
        ("/a/lsm = 1", Condition("==", 1, "/a/lsm")),
        (
            "not > 3 or < 1 and > 0",
            Either((Outside(Condition(">", 3)), Both((Condition("<", 1), Condition(">", 0))))),
        ),
        ("polygon(0 0, 9 0, 5 \N{MINUS SIGN}5, 0 0)", Polygon(((0, 0), (9, 0), (5, -5)))),
        ("polygon x y@(0 0, 9 0, 5 5)", Polygon(((0, 0), (9, 0), (5, 5)), ("x", "y"), by_index=True)),
    ],
)
def test_regions_are_read(text: str, region: Region) -> None:
    assert parsed_region(text) == region


@pytest.mark.parametrize(
    "text",
    [
        *("lat", "lat ..", "lat 1..2 3", "polygon(1 2, 3 4)", "polygon x(1 2, 3 4, 5 6)", ">", "(lat 1..2"),
        *("$", "/a", "and", "lat 1....2", "lat 1..2,", "(" * (DEPTH + 1), "x" * (LENGTH + 1)),
        "polygon(" + "1 2, " * 1001 + "3 4)",
    ],
)
def test_what_is_no_region_is_told(text: str) -> None:
    with pytest.raises(RefbrowserError) as raised:
        parsed_region(text)
    assert raised.value.kind is ErrorKind.USAGE
