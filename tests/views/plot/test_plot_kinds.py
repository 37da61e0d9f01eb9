"""The table of kinds of plots: what is shown as what; and that nobody else asks for a kind."""

from __future__ import annotations

import re
from pkgutil import resolve_name

import fixture_plot
import pytest
from source import PACKAGE
from view_arrays import node

from refbrowser.views.plot.bands import Bands
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.plot_kind import PlotKind, Sought
from refbrowser.views.plot.plot_kinds import BUILT_IN, best, foreign, kinds
from refbrowser.views.plot.slicing import SliceState

NAMED = {kind.name: kind for kind in BUILT_IN}
IMAGE = SliceState((4, 5, 3), ("y", "x", "band"), 1, 0, (0, 0, 0))
COLOURS = IMAGE.with_bands(Bands(2, (0, 1, 2)))


@pytest.mark.parametrize(
    ("dtype", "state", "is_charted", "name"),
    [
        ("<f8", IMAGE, False, "image"),
        ("<f8", IMAGE.with_y(None), False, "line"),
        ("<f8", COLOURS, False, "colours"),
        ("<f8", COLOURS, True, "charts"),
        ("<f8", None, False, "line"),
        ("<f8", SliceState((), (), 0, None, ()), False, "values"),
        ("|S4", IMAGE.with_y(None), False, "values"),
    ],
)
def test_what_is_shown_as_what(dtype: str, state: SliceState | None, is_charted: bool, name: str) -> None:
    shape = (4, 5, 3) if state is None else state.shape
    sought = Sought(Interpretation(node(shape, dtype=dtype), decoded=True), state, is_charted)
    assert best(sought).name == name


@pytest.mark.parametrize("kind", [kind for kind in BUILT_IN if kind.is_drawn], ids=lambda kind: kind.name)
def test_what_draws_a_kind_is_there(kind: PlotKind) -> None:
    assert isinstance(resolve_name(kind.drawn_by), type)


def test_kinds_of_other_packages_are_asked_once_they_were_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Interpretation(node((4,), plot="bars"), decoded=True)
    sought = Sought(shown, SliceState((4,), ("x",), 0, None, (0,)))
    with fixture_plot.found(monkeypatch, "fixture_plot:BARS", "fixture_plot:BROKEN"):
        assert kinds() == BUILT_IN
        foreign()
        assert kinds() == (*BUILT_IN, fixture_plot.BARS, fixture_plot.BROKEN)
        assert best(sought) is fixture_plot.BARS
        assert best(Sought(Interpretation(node((4,)), decoded=True), sought.state)).name == "line"


def test_nobody_asks_which_kind_it_is() -> None:
    asked = re.compile(r"\bis_(line|image|map|colour|plot)\b|kind\.name ==")
    rooms = ("app/plot", "app/commands", "app/frame", "views/plot", "tools")
    files = [path for room in rooms for path in (PACKAGE / room).rglob("*.py")]
    assert len(files) > 100
    assert [path.name for path in files if asked.search(path.read_text("utf-8"))] == []
