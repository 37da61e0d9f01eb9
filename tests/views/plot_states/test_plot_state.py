"""The state of one plot as JSON: back and forth, what is not known, and what no plot could be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.plot_states.plot_state import PlotState, can_be_seen

TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=20)
NUMBERS = st.floats(-1e300, 1e300, allow_nan=False)
PLACES = st.floats(-1e6, 1e6, allow_nan=False)
PAIRS = st.tuples(NUMBERS, NUMBERS).filter(lambda pair: pair[0] < pair[1])
STATES = st.builds(
    PlotState,
    path=TEXTS,
    node=TEXTS,
    expression=TEXTS,
    documents=st.dictionaries(TEXTS, TEXTS, max_size=3),
    part=TEXTS,
    selection=TEXTS,
    axes=st.sampled_from([(), (0,), (1, 0), (0, 31)]),
    in_colour=st.sampled_from([None, True, False]),
    decoded=st.booleans(),
    colour_map=TEXTS,
    reverse=st.booleans(),
    log=st.booleans(),
    levels=st.none() | PAIRS,
    are_levels_set=st.booleans(),
    extremes=st.booleans(),
    histogram=st.booleans(),
    aspect=st.booleans(),
    map_aspect=st.booleans(),
    switches=st.lists(TEXTS, max_size=3).map(tuple),
    size_choice=st.sampled_from(["", "middle", "sampled", "all"]),
    is_level_fixed=st.booleans(),
    overlays=st.dictionaries(TEXTS, st.booleans(), max_size=3),
    projection=TEXTS,
    centre=st.none() | st.tuples(NUMBERS, NUMBERS),
    view=st.none() | st.tuples(PLACES, PLACES, PLACES, PLACES).filter(can_be_seen),
    others=st.dictionaries(
        st.text("xyz", min_size=1), st.integers() | TEXTS | st.lists(st.booleans()), max_size=2
    ),
)
LEAST = {"path": "/data/t.json", "node": "/t2m"}


@pytest.mark.slow
@given(STATES)
def test_a_state_comes_back_from_json_as_it_was(state: PlotState) -> None:
    assert PlotState.from_json(json.loads(json.dumps(state.to_json()))) == state


def test_what_plots_begin_with_is_not_written() -> None:
    assert PlotState.from_json(LEAST).to_json() == LEAST


def test_members_that_are_not_known_are_written_again() -> None:
    said = {**LEAST, "weather": [1, {"x": None}]}
    assert PlotState.from_json(said).others == {"weather": [1, {"x": None}]}
    assert PlotState.from_json(said).to_json() == said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", 7),
        ("path", None),
        ("path", "x" * 20_000),
        ("node", "/a\0b"),
        ("expression", ["/a"]),
        ("with", {"a": 1}),
        ("with", {str(number): "x" for number in range(65)}),
        ("axes", [0, 0]),
        ("axes", [0, 1, 2]),
        ("axes", [True]),
        ("axes", [-1]),
        ("axes", [32]),
        ("decoded", 1),
        ("in_colour", "yes"),
        ("levels", [2, 1]),
        ("levels", [1, 1]),
        ("levels", [float("nan"), 1]),
        ("levels", [0, float("inf")]),
        ("levels", [0, 10**400]),
        ("levels", [-1e308, 1e308]),
        ("levels", [0, True]),
        ("levels", "0,1"),
        ("switches", ["a"] * 65),
        ("switches", "ab"),
        ("size_choice", "everything"),
        ("size_choice", ["all"]),
        ("overlays", {"coastlines": 1}),
        ("overlays", ["coastlines"]),
        ("centre", [0]),
        ("view", [0, 0, 0, 1]),
        ("view", [0, 1, 0]),
        ("view", [0, 1e300, 0, 1]),
        ("view", [1, 1 + 1e-15, 0, 1]),
    ],
)
def test_a_value_that_no_plot_has_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(RefbrowserError, match=f"'{name}'") as caught:
        PlotState.from_json({**LEAST, name: value})
    assert caught.value.kind is ErrorKind.SCHEMA
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("value", [None, [], "x", {}, {"path": "a"}])
def test_what_is_no_plot_is_refused(value: Any) -> None:
    with pytest.raises(RefbrowserError):
        PlotState.from_json(value)


def test_a_flood_of_members_that_are_not_known_is_refused() -> None:
    with pytest.raises(RefbrowserError, match="65 members"):
        PlotState.from_json({**LEAST, **{f"x{number}": 0 for number in range(65)}})
