"""Maps: pixels show the elements that lie there, lines and readouts agree, in each projection and grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from plot_memory import MemoryDocument, array
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.engine.reading.parts import PartState
from refbrowser.errors import ErrorKind, NotInstalledError
from refbrowser.views.maps import projections
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.maps.mesh import vectors
from refbrowser.views.maps.projections import PROJECTIONS, RotatedPole

pytest.importorskip("pyproj")
LOST = PartState.MISSING
Plotted = Callable[..., MemoryDocument]
ON_EARTH = [row.name for row in PROJECTIONS if row.plane is not None]


def world(step: float = 5.0, first: float = 0.0) -> tuple:
    """Return a field around the Earth whose values tell where they are: 1000 * row + column."""
    latitudes, longitudes = np.arange(90 - step / 2, -90, -step), np.arange(first, first + 360, step)
    rows, columns = np.indices((len(latitudes), len(longitudes)))
    return (
        array("/t", 1000.0 * rows + columns, ("lat", "lon"), units="K"),
        array("/lat", latitudes, ("lat",), units="degrees_north"),
        array("/lon", longitudes, ("lon",), units="degrees_east"),
    )


def region(rows: int = 40, columns: int = 50) -> tuple:
    """Return a field on a rotated grid over Europe, with a longitude and a latitude of each element."""
    across, upwards = np.meshgrid(np.linspace(-20, 15, columns), np.linspace(-20, 18, rows))
    longitudes, latitudes = RotatedPole(-162.0, 39.25).inverse(across, upwards)
    row, column = np.indices((rows, columns))
    return (
        array("/t", 1000.0 * row + column, ("y", "x"), units="K", coordinates="lon lat"),
        array("/lon", longitudes, ("y", "x"), units="degrees_east"),
        array("/lat", latitudes, ("y", "x"), units="degrees_north"),
    )


def drawing(pane: PlotPane) -> Drawing:
    return pane._presenter.drawing


def project(pane: PlotPane, qtbot: QtBot, name: str, centre: tuple[float, float] | None = None) -> None:
    pane.look().set_projection(ChosenProjection(name, centre))
    qtbot.waitUntil(pane.is_settled)


def pixels(pane: PlotPane) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of some pixels that show elements, across and upwards, and their values."""
    kind = drawing(pane).kind
    lookup = kind._map.lookup
    assert lookup is not None
    height, width = lookup.rows.shape
    (left, right), (low, high) = lookup.view
    random = np.random.default_rng(6)
    row, column = random.integers(0, height, 600), random.integers(0, width, 600)
    across = left + (column + 0.5) * (right - left) / width
    upwards = low + (row + 0.5) * (high - low) / height
    shown = lookup.rows[row, column] >= 0
    assert shown.any()
    values = 1000.0 * lookup.rows[row, column] + lookup.columns[row, column]
    return across[shown], upwards[shown], values[shown]


@pytest.mark.parametrize("name", ON_EARTH)
def test_pixels_show_the_elements_that_lie_there(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, name: str
) -> None:
    plotted(*world())
    project(pane, qtbot, name, (40.0, 50.0))
    across, upwards, values = pixels(pane)
    longitudes, latitudes = drawing(pane).kind.earth_at(across, upwards)
    rows, columns = np.divmod(values, 1000.0)
    assert np.abs(87.5 - 5.0 * rows - latitudes).max() <= 2.5 + 1e-6
    assert np.abs((5.0 * columns - longitudes + 180) % 360 - 180).max() <= 2.5 + 1e-6


@pytest.mark.parametrize("name", ["platecarree", "orthographic", "conformal"])
def test_meshes_lie_where_their_coordinates_are(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, name: str
) -> None:
    arrays = region()
    plotted(*arrays)
    qtbot.waitUntil(lambda: len(pane.look().options.projections) > 1)
    project(pane, qtbot, name)
    qtbot.waitUntil(lambda: not drawing(pane).kind.is_indexed)
    qtbot.waitUntil(pane.is_settled)
    across, upwards, values = pixels(pane)
    rows, columns = (each.astype(int) for each in np.divmod(values, 1000.0))
    here = vectors(*drawing(pane).kind.earth_at(across, upwards))
    centres = vectors(arrays[1][1], arrays[2][1])
    apart = np.degrees(np.linalg.norm(here - centres[rows, columns], axis=1))
    nearest = np.degrees(np.sqrt(np.maximum(0, 2 - 2 * (here @ centres.reshape(-1, 3).T).max(axis=1))))
    assert (apart <= nearest * 1.2 + 0.02).all()


@pytest.mark.parametrize("name", ON_EARTH)
def test_what_is_pointed_at_is_what_is_stored(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, name: str
) -> None:
    plotted(*world())
    project(pane, qtbot, name, (40.0, 50.0))
    across, upwards, values = pixels(pane)
    for x, y, value in list(zip(across, upwards, values, strict=True))[:40]:
        element = drawing(pane).kind.element_at(x, y)
        assert element is not None
        assert 1000 * element[0] + element[1] == value
    element = tuple(int(index) for index in divmod(values[0], 1000.0))
    pane.point_at(element)
    assert pane.stored() == values[0]
    place = drawing(pane).kind.place(element, None)
    assert place is not None
    assert drawing(pane).kind.element_at(*place) == element


@pytest.mark.parametrize("first", [0.0, -180.0])
@pytest.mark.parametrize("middle", [0.0, 180.0, -75.0])
def test_a_world_joins_at_its_seam(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, first: float, middle: float
) -> None:
    plotted(*world(first=first))
    project(pane, qtbot, "platecarree", (middle, 0.0))
    lookup = drawing(pane).kind._map.lookup
    assert lookup is not None
    (left, right), _upwards = lookup.view
    assert (left, right) == pytest.approx((middle - 180.0, middle + 180.0), abs=1.0)
    inside = lookup.rows[lookup.rows.shape[0] // 2]
    assert (inside >= 0).all(), "no gap"
    assert len(np.unique(lookup.columns[lookup.rows.shape[0] // 2])) == 72


def test_coasts_are_drawn_on_the_map(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*world())
    coasts = drawing(pane).overlays._drawn["coastlines"].item
    as_stored = coasts.path.boundingRect()
    assert as_stored.width() == pytest.approx(72, abs=3)
    project(pane, qtbot, "orthographic", (0.0, 0.0))
    seen = coasts.path.boundingRect()
    assert max(abs(seen.left()), abs(seen.right()), abs(seen.top()), abs(seen.bottom())) <= 57.3
    pane.look().set_overlay("coastlines", False)
    assert coasts.path.isEmpty()


def test_chunks_that_did_not_come_are_marked(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    arrays = world()
    split = array("/t", arrays[0][1], ("lat", "lon"), (12, 24), units="K")

    def lose(document: MemoryDocument) -> None:
        document.session.fate = lambda _path, coords: LOST if coords == (1, 1) else PartState.DONE

    plotted(split, *arrays[1:], prepare=lose)
    project(pane, qtbot, "robinson")
    marks = drawing(pane).kind._map._items[2].image
    assert marks is not None
    assert marks[..., 3].any()


def test_keys_move_the_cursor_north(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*world())
    project(pane, qtbot, "robinson")
    pane.point_at((18, 20))
    pointing = pane._presenter.pointing
    pointing.move(0, 1)
    assert pointing.element == (17, 20)
    pointing.move(1, 0)
    assert pointing.element == (17, 21)


def test_a_part_of_it_is_zoomed_to_and_seen(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*world())
    project(pane, qtbot, "robinson")
    assert drawing(pane).sees_whole()
    drawing(pane).reset_view([range(4, 12), range(40, 48)])
    window = drawing(pane).visible_window()
    assert window[0].start <= 4 < 12 <= window[0].stop
    assert not drawing(pane).sees_whole()
    assert len(window[1]) < 30


def test_the_choice_is_remembered_and_told(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*world())
    project(pane, qtbot, "robinson", (90.0, 0.0))
    assert pane.look().options.middle == (90.0, 0.0)
    plotted(array("/plain", np.ones((4, 5)), ("y", "x")))
    assert drawing(pane).kind.is_indexed
    assert pane.look().options.projections == ()
    plotted(*world())
    qtbot.waitUntil(pane.is_settled)
    assert not drawing(pane).kind.is_indexed


def test_levels_of_pressure_are_drawn_to_scale(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    pressures, latitudes = np.array([1000.0, 850.0, 500.0, 100.0]), np.array([-60.0, -10.0, 0.0, 5.0, 80.0])
    rows, columns = np.indices((4, 5))
    plotted(
        array("/u", 1000.0 * rows + columns, ("lev", "lat"), units="m s-1"),
        array("/lev", pressures, ("lev",), units="hPa", positive="down"),
        array("/lat", latitudes, ("lat",), units="degrees_north"),
    )
    assert [row.name for row in pane.look().options.projections] == ["index", "scale"]
    project(pane, qtbot, "scale")
    across, upwards, values = pixels(pane)
    rows, columns = (each.astype(int) for each in np.divmod(values, 1000.0))
    for numbers, found, places in ((pressures, rows, upwards), (latitudes, columns, across)):
        nearest = np.abs(numbers[:, None] - places[None]).min(axis=0)
        assert (np.abs(numbers[found] - places) <= nearest + 1e-6).mean() > 0.9
    assert pane.canvas.box.yInverted(), "pressure grows downwards"


@pytest.mark.parametrize("name", ["platecarree", "robinson", "orthographic"])
@pytest.mark.parametrize("harm", ["nan", "inf", "huge", "masked", "same"])
def test_hostile_coordinates_do_no_harm(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, name: str, harm: str
) -> None:
    node, longitudes, latitudes = region(6, 7)
    bad = {"nan": np.nan, "inf": np.inf, "huge": 1e300, "masked": 1e20, "same": 5.0}[harm]
    longitudes[1][1:3] = bad
    if harm == "same":
        longitudes[1][:] = latitudes[1][:] = 5.0
    plotted(node, longitudes, latitudes)
    pane.look().set_projection(ChosenProjection(name))
    qtbot.waitUntil(pane.is_settled)
    qtbot.wait(30)
    qtbot.waitUntil(pane.is_settled)
    drawing(pane).draw()
    pane.point_at((2, 2))
    assert pane.stored() == 2002.0


def test_the_map_is_turned_by_dragging(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*world())
    project(pane, qtbot, "orthographic", (0.0, 0.0))
    turned = pane.canvas.box.turned
    assert turned is not None
    kind = drawing(pane).kind
    start, end = (
        QPointF(*(float(each[0]) for each in kind.on_earth(np.array([east]), np.array([north]))))
        for east, north in ((10.0, 5.0), (30.0, 0.0))
    )
    turned(start, end)
    assert pane.look().options.middle == pytest.approx((-20.0, 5.0))
    project(pane, qtbot, "index")
    assert pane.canvas.box.turned is None


def test_the_map_is_centred_on_an_element(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*world())
    project(pane, qtbot, "orthographic", (0.0, 0.0))
    pane.point_at((10, 6))
    pane.centre_map()
    assert pane.look().options.middle == pytest.approx((30.0, 37.5))


def test_the_place_is_told_where_coordinates_do_not(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    mapping = {
        "grid_mapping_name": "rotated_latitude_longitude",
        "grid_north_pole_longitude": -170.0,
        "grid_north_pole_latitude": 40.0,
    }
    plotted(
        array("/t", np.ones((3, 3)), ("y", "x"), grid_mapping="pole"),
        array("/y", np.array([-1.0, 0.0, 1.0]), ("y",), standard_name="grid_latitude", units="degrees"),
        array("/x", np.array([-1.0, 0.0, 1.0]), ("x",), standard_name="grid_longitude", units="degrees"),
        array("/pole", np.zeros(()), (), **mapping),
    )
    with qtbot.waitSignal(pane.elementHovered) as told:
        pane.point_at((1, 1))
    assert "50°N 10°E" in told.args[0]


def test_a_state_tells_the_projection(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(*world())
    project(pane, qtbot, "robinson", (90.0, 0.0))
    state = pane.state()
    assert state is not None
    assert (state.projection, state.centre) == ("robinson", (90.0, 0.0))
    project(pane, qtbot, "index")
    assert pane.state() is not None
    pane.restore(document, state)
    qtbot.waitUntil(pane.is_settled)
    assert pane.look().options.projection == ChosenProjection("robinson", (90.0, 0.0))
    assert not drawing(pane).kind.is_indexed


def test_a_mesh_is_made_once_for_the_same_coordinates(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*region())
    pane.look().set_projection(ChosenProjection("platecarree"))
    qtbot.waitUntil(lambda: not drawing(pane).kind.is_indexed)
    first = drawing(pane).kind.place_key
    plotted(*region())
    qtbot.waitUntil(lambda: not drawing(pane).kind.is_indexed)
    assert drawing(pane).kind.place_key.grid is first.grid


@pytest.mark.parametrize(
    ("latitudes", "longitudes"),
    [
        ([1.0, np.nan, 3.0], [0.0, 1.0, 2.0]),
        ([1.0, np.inf, 3.0], [0.0, 1e300, 2.0]),
        ([1.0, 1.0, 1.0], [5.0, 5.0, 5.0]),
        ([-200.0, 0.0, 200.0], [0.0, 720.0, 1440.0]),
        ([3.0, 1.0, 2.0], [0.0, 2.0, 1.0]),
    ],
)
def test_hostile_axes_do_no_harm(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, latitudes: list[float], longitudes: list[float]
) -> None:
    rows, columns = np.indices((3, 3))
    plotted(
        array("/t", 1000.0 * rows + columns, ("lat", "lon")),
        array("/lat", np.array(latitudes), ("lat",), units="degrees_north"),
        array("/lon", np.array(longitudes), ("lon",), units="degrees_east"),
    )
    for name in ("robinson", "platecarree", "scale", "own", "nonsense"):
        project(pane, qtbot, name)
        pane.point_at((1, 2))
        assert pane.stored() == 1002.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2)])
def test_few_elements_have_a_map(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, shape: tuple[int, int]
) -> None:
    plotted(
        array("/t", np.ones(shape), ("lat", "lon")),
        array("/lat", np.arange(shape[0], dtype=float), ("lat",), units="degrees_north"),
        array("/lon", np.arange(shape[1], dtype=float), ("lon",), units="degrees_east"),
    )
    pane.look().set_projection(ChosenProjection("orthographic"))
    qtbot.waitUntil(pane.is_settled)


def test_without_pyproj_it_is_drawn_as_it_is_stored(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_modules: str) -> None:
        raise NotInstalledError(ErrorKind.USAGE, "this needs the Python package pyproj", advice="pip")

    projections._made.cache_clear()
    monkeypatch.setattr(projections, "require", missing)
    plotted(*world())
    project(pane, qtbot, "robinson")
    assert drawing(pane).kind.is_indexed
    assert "needs the Python package pyproj" in pane.legend.note.text()
    project(pane, qtbot, "platecarree", (100.0, 0.0))
    assert not drawing(pane).kind.is_indexed
    assert "pyproj" not in pane.legend.note.text()


def test_meridians_are_named_where_no_axis_does(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*world())
    pane.look().set_overlay("graticule", True)
    item = drawing(pane).overlays._drawn["graticule"].item
    assert item._names[1] == ()
    project(pane, qtbot, "robinson")
    assert {"60°N", "30°E"} <= set(item._names[1])
    pane.canvas.grab()
    pane.look().set_overlay("graticule", False)
    assert item._names[1] == ()


def test_places_of_elements_make_a_map_until_it_is_to_be_as_stored(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    drawn = drawing(pane)
    # Never drawn as stored in between.
    stored: list[bool] = []
    drawn.canvas.image.set_picture = lambda picture: stored.append(picture is not None)
    document = plotted(*region(120, 130))
    qtbot.waitUntil(lambda: not drawn.kind.is_indexed and pane.is_settled())
    assert pane.look().options.projection.name == "platecarree"
    assert drawn.kind.middle is not None
    assert drawn.kind.middle[0] == pytest.approx(13.0, abs=8.0), "centred on its elements"
    assert not pane.canvas.box.yInverted()
    assert pane.look().options.aspect
    state = pane.state()
    assert state is not None
    assert state.projection == ""
    assert not any(stored)
    # What the user wants instead is kept, and told.
    project(pane, qtbot, "index")
    assert drawn.kind.is_indexed
    pane.set_array(document, document.hierarchy.find("/t"))
    qtbot.waitUntil(lambda: len(drawn.auxiliary) == 2 and pane.is_settled())
    assert drawn.kind.is_indexed
    state = pane.state()
    assert state is not None
    assert state.projection == "index"


@pytest.mark.parametrize("places", [0.0, np.nan])
def test_places_that_tell_nothing_leave_it_as_stored(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, places: float
) -> None:
    field, longitudes, latitudes = region(6, 7)
    plotted(field, (longitudes[0], longitudes[1] * 0 + places, *longitudes[2:]), latitudes)
    qtbot.waitUntil(lambda: "lon and lat are missing everywhere, or span no area" in pane.legend.note.text())
    assert drawing(pane).kind.is_indexed
    assert drawing(pane).canvas.image.picture is not None


def test_what_was_in_sight_of_a_mesh_is_so_again(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(*region(120, 130))
    qtbot.waitUntil(lambda: not drawing(pane).kind.is_indexed and pane.is_settled())
    pane.canvas.show_range((5.0, 15.0), (45.0, 50.0))
    state = pane.state()
    assert state is not None
    assert state.view is not None
    pane.clear()
    pane.restore(document, state)
    qtbot.waitUntil(lambda: not drawing(pane).kind.is_indexed and pane.is_settled())
    again = pane.state()
    assert again is not None
    assert again.view == pytest.approx(state.view)
