"""Images in several resolutions: which level is shown and read, and what stays when it is another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from multiscale_nodes import ome, ome_level
from plot_memory import MemoryDocument, array, source_error
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.plot.presenter import IDLE
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.plot.picture import Picture

Plotted = Callable[..., MemoryDocument]
#: Micrometres of an element of the finest level.
STEP = 0.5


def image(size: int, count: int, chunk: int, leading: Sequence[int] = ()) -> list[tuple[ArrayNode, Any]]:
    """Return levels whose elements are the columns of the finest that they lie in the middle of."""
    found = []
    for number in range(count):
        side, factor = size >> number, 1 << number
        columns = (np.arange(side) * factor + (factor - 1) / 2).astype(np.float32)
        values = np.broadcast_to(columns, (*leading, side, side))
        found.append(array(f"/{number}", values, chunks=(*[1] * len(leading), chunk, chunk)))
    return found


def described(count: int, names: str = "yx") -> dict[str, Any]:
    """Return the attributes of the group; the axes before y and x are not of space."""
    before = len(names) - 2
    levels = []
    for number in range(count):
        step = STEP * 2**number
        centre = [0.0] * before + [STEP * (2**number - 1) / 2] * 2
        levels.append(ome_level(str(number), [1.0] * before + [step] * 2, *centre))
    kinds: list[dict[str, str]] = [
        {"name": name, "type": "time", "unit": "second"} for name in names[:before]
    ]
    kinds += [{"name": name, "type": "space", "unit": "micrometer"} for name in names[before:]]
    return {"multiscales": [ome(*levels, name="cells", axes=kinds)]}


def set_attributes(document: MemoryDocument, attributes: dict[str, Any]) -> None:
    root = document.hierarchy.root
    assert isinstance(root, GroupNode)
    document.hierarchy = Hierarchy(
        root=GroupNode(arrays=root.arrays, attributes=attributes), format="refs-v1"
    )
    document.dataset = SimpleNamespace(**vars(document.dataset) | {"hierarchy": document.hierarchy})


@pytest.fixture
def shown(plotted: Plotted, pane: PlotPane) -> Plotted:
    """Show the first of some levels, which the group describes, in a pane that 512 elements fill."""
    pane.resize(700, 500)

    def show(levels: list[tuple[ArrayNode, Any]], attributes: dict[str, Any], **more: Any) -> MemoryDocument:
        return plotted(*levels, prepare=lambda document: set_attributes(document, attributes), **more)

    return show


def rest(qtbot: QtBot, pane: PlotPane) -> None:
    """Wait until the view was looked at, and all is read that it needs."""
    qtbot.wait(IDLE + 20)
    qtbot.waitUntil(lambda: pane.is_settled() and not pane._presenter._idle_timer.isActive())


def zoom(pane: PlotPane, left: float, right: float) -> None:
    """See a square of the level that is shown, by its columns."""
    pane.canvas.show_range((left, right), (left, right))


def level(pane: PlotPane) -> str:
    node = pane.array()
    return "" if node is None else node.path


def spread(pane: PlotPane) -> tuple[float, float]:
    """Return which coordinates are seen across."""
    scale = pane.coordinates()[-1]
    assert scale.values is not None
    (left, right), _, _ = pane.canvas.view()
    step = scale.values[1] - scale.values[0]
    return scale.values[0] + left * step, scale.values[0] + right * step


def read_chunks(document: MemoryDocument, path: str) -> int:
    node = document.node(path)
    return sum(node.grid.count(selection) for name, selection in document.session.reads if name == path)


def picture(pane: PlotPane) -> Picture:
    found = pane.picture()
    assert found is not None
    return found


def test_the_first_picture_is_the_coarsest_level_that_fills_the_pane(
    shown: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    document = shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    assert level(pane) == "/2"
    assert {path for path, _ in document.session.reads} == {"/2"}
    assert pane.header.level.isVisible()
    assert pane.header.level.currentText() == "auto (2: 512 × 512)"
    assert [pane.header.level.itemText(row) for row in (1, 6)] == ["0: 2048 × 2048", "5: 64 × 64"]
    assert pane.header.title.text() == "cells"
    assert pane.canvas.across.labelText == "x [micrometer]"
    # As images are: the first row is at the top, cells are squares.
    assert pane.canvas.box.yInverted()
    assert pane.look().options.has_proportions


def test_zooming_in_reads_a_part_of_a_finer_level(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    levels = pane._presenter.drawing.keeper.levels
    zoom(pane, 100, 200)
    before = spread(pane)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    assert pane.header.level.currentText() == "auto (0: 2048 × 2048)"
    # A fifth of each side, with a margin: of 32 × 32 chunks about ten along each.
    assert 49 <= read_chunks(document, "/0") <= 169
    assert "/1" not in {path for path, _ in document.session.reads}
    assert spread(pane) == pytest.approx(before, rel=0.02)
    assert pane._presenter.drawing.keeper.levels == levels
    # Behind the part the coarser picture is seen, where it lies.
    layer = pane.canvas.backdrop
    assert layer.picture is not None
    assert layer.picture.node.path == "/2"
    rect = layer.item.mapRectToParent(layer.item.boundingRect())
    assert rect.left() <= 400
    assert rect.right() >= 800
    value = float(pane.canvas.backdrop.picture.values[0, 130])
    assert layer.columns.position(130) == pytest.approx(value)


def test_colours_of_a_part_are_those_of_the_whole(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    levels = pane._presenter.drawing.keeper.levels
    # Of all values a hundredth, which would have levels of its own.
    zoom(pane, 150, 155)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    assert levels is not None
    assert pane._presenter.drawing.keeper.levels == levels


def test_zooming_out_shows_the_coarse_level_again(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    zoom(pane, 100, 200)
    rest(qtbot, pane)
    pane.reset_view()
    rest(qtbot, pane)
    assert level(pane) == "/2"
    assert picture(pane).plan.elements == 512 * 512
    assert pane.canvas.backdrop.picture is None
    assert spread(pane)[0] < 0 < 1023 < spread(pane)[1]


def test_a_view_that_moves_reads_on_in_the_same_level(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    zoom(pane, 100, 200)
    rest(qtbot, pane)
    count = len(document.session.reads)
    zoom(pane, 1200, 1600)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    assert len(document.session.reads) == count + 1
    detail = pane._presenter.drawing.detail
    assert detail is not None
    assert detail.plan.covers([range(1210, 1590)] * 2)


def test_the_user_can_hold_a_level(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    box = pane.header.level
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_End)
    rest(qtbot, pane)
    assert (level(pane), box.currentText()) == ("/5", "5: 64 × 64")
    zoom(pane, 10, 20)
    rest(qtbot, pane)
    assert level(pane) == "/5"
    qtbot.keyClick(box, Qt.Key.Key_Home)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    assert box.currentText().startswith("auto (0")


def test_the_view_stays_however_often_the_level_changes(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    zoom(pane, 100, 200)
    (left, right), _, _ = pane.canvas.sought_view()
    for number in (0, 5, 1, 4, 0, 2):
        pane.header.levelChosen.emit(number)
        rest(qtbot, pane)
        assert level(pane) == f"/{number}"
    assert pane.canvas.sought_view()[0] == pytest.approx((left, right))


def test_coordinates_that_come_late_leave_the_view(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    """Levels with arrays of coordinates, as those of TIFF, which a slow server gives after the picture."""
    levels = [(replace(node, dimensions=("y", "x")), values) for node, values in image(2048, 6, 64)]
    for number in range(6):
        centres = (np.arange(2048 >> number) + 0.5) * 10.0 * 2**number
        levels.append(array(f"/x{number}", centres, (f"x{number}",), units="m"))
        node, values = levels[number]
        levels[number] = replace(node, dimensions=("y", f"x{number}")), values
    document = shown(levels, described(6))
    rest(qtbot, pane)
    document.session.held = lambda path, coords: path == "/x0"
    document.session.gate.clear()
    zoom(pane, 100, 200)
    qtbot.waitUntil(lambda: level(pane) == "/0" and pane.canvas.backdrop.picture is not None)
    (left, right), _, _ = pane.canvas.sought_view()
    assert (left, right) == pytest.approx((401.5, 801.5))
    document.session.gate.set()
    qtbot.waitUntil(lambda: pane.coordinates()[1].values is not None)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    assert pane.canvas.sought_view()[0] == pytest.approx((left, right))


def test_a_coarser_array_that_is_selected_stays(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    levels = image(2048, 6, 64)
    document = shown(levels, described(6))
    pane.set_array(document, levels[4][0])  # type: ignore[arg-type]
    rest(qtbot, pane)
    assert (level(pane), pane.header.level.currentText()) == ("/4", "4: 128 × 128")


def test_the_cursor_stays_where_it_is_in_space(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    pane.canvas.clicked.emit(150.0, 150.0)
    assert pane.element() == (150, 150)
    assert "x 300.75 micrometer [150]" in pane.status.text()
    assert "chunk 2/2.2" in pane.status.text()
    zoom(pane, 100, 200)
    rest(qtbot, pane)
    assert pane.element() == (602, 602)
    assert "x 301 micrometer [602]" in pane.status.text()
    assert "chunk 0/9.9" in pane.status.text()
    assert pane.status.text().startswith("602 ")


def test_nothing_is_said_while_another_level_comes(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    pane.canvas.clicked.emit(150.0, 150.0)
    document.session.gate.clear()
    zoom(pane, 100, 200)
    qtbot.waitUntil(lambda: level(pane) == "/0")
    # The array is another one already, the element that is pointed at is of the picture on the screen.
    assert pane.element() is None
    pane.canvas.pointed.emit(140.0, 140.0)
    assert pane.status.text() == ""
    document.session.gate.set()
    rest(qtbot, pane)
    assert pane.element() is not None


def test_series_and_profile_go_with_the_level(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    shown(image(2048, 6, 64, leading=[3]), described(6, "tyx"))
    rest(qtbot, pane)
    pane.tools.toggle_series()
    pane.canvas.clicked.emit(150.0, 150.0)
    pane.tools.toggle_profile()
    profile = pane.tools.profile()
    profile.set_ends((110, 110), (110, 190))
    rest(qtbot, pane)
    zoom(pane, 145, 155)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    (point,) = pane.tools.series().points
    assert point.index == (0, 602, 602)
    assert point.read.picture.values.tolist() == [602.0] * 3
    assert profile.ends == ((442, 442), (442, 762))
    assert profile.profile is not None
    # All of the line is read, though not all of it is in sight.
    assert profile.profile.numbers.tolist() == list(range(442, 763))
    assert set(profile.profile.rows.tolist()) == {442}


def test_a_slider_moves_within_the_part_that_is_seen(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = shown(image(2048, 6, 64, leading=[3]), described(6, "tyx"))
    rest(qtbot, pane)
    state = pane.slice_state()
    assert state is not None
    assert state.names == ("t", "y", "x")
    zoom(pane, 100, 200)
    rest(qtbot, pane)
    document.session.reads.clear()
    pane.set_prefetch(False)
    pane.set_index(0, 2)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    assert {path for path, _ in document.session.reads} == {"/0"}
    assert read_chunks(document, "/0") <= 169
    # What is behind would be of another time.
    assert pane.canvas.backdrop.picture is None


def test_a_chunk_that_is_sought_holds_its_level(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    pane.show_chunk((1, 2))
    rest(qtbot, pane)
    assert (level(pane), pane.header.level.currentText()) == ("/2", "2: 512 × 512")
    outline = pane.canvas.outline()
    assert outline is not None
    assert outline.left() == 127.5


def test_axes_are_changed_on_a_level_that_fills_the_pane(
    shown: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    zoom(pane, 100, 200)
    rest(qtbot, pane)
    pane.header.yChosen.emit(None)
    rest(qtbot, pane)
    assert pane.canvas.line.numbers.tolist() == list(range(2048))


def test_an_edit_keeps_the_level(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    count = len(document.session.reads)
    again = described(6)
    again["multiscales"][0]["axes"][1]["unit"] = "nanometer"
    set_attributes(document, again)
    document.hierarchyChanged.emit()
    rest(qtbot, pane)
    assert level(pane) == "/2"
    assert len(document.session.reads) == count
    assert pane.canvas.across.labelText == "x [nanometer]"
    set_attributes(document, {})
    document.hierarchyChanged.emit()
    rest(qtbot, pane)
    assert level(pane) == "/2"
    assert not pane.header.level.isVisible()
    assert pane.canvas.across.labelText == "dim 1 index"


def test_a_level_that_cannot_be_read_can_be_left(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = shown(image(2048, 6, 64), described(6))
    rest(qtbot, pane)
    document.session.fate = lambda path, coords: source_error() if path == "/5" else _done()
    pane.header.levelChosen.emit(5)
    rest(qtbot, pane)
    assert pane.page() is pane.cards
    pane.header.levelChosen.emit(4)
    rest(qtbot, pane)
    assert pane.page() is pane.canvas
    assert level(pane) == "/4"


def _done() -> Any:
    from refbrowser.engine.reading.parts import PartState

    return PartState.DONE


def test_a_level_too_large_for_one_view_is_not_chosen(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    levels = image(1 << 15, 6, 64)
    # The finest is one chunk, which would be decoded whole for any part of it.
    levels[0] = array("/0", levels[0][1], chunks=(1 << 14, 1 << 15))
    shown(levels, described(6))
    rest(qtbot, pane)
    assert level(pane) == "/5"
    zoom(pane, 500, 500.5)
    rest(qtbot, pane)
    assert LIMITS.view_decoded == 1 << 31
    assert level(pane) in ("/0", "/1")


def test_elements_of_a_turned_grid_say_where_they_are(shown: Plotted, pane: PlotPane) -> None:
    values = np.zeros((6, 8), np.float32)
    attributes = {"spatial:transform": [3.0, 4.0, 100.0, 4.0, -3.0, 200.0], "proj:code": "EPSG:32633"}
    shown([array("/t", values, ("y", "x"), **attributes)], {})
    pane.canvas.pointed.emit(2.0, 1.0)
    assert "x 113.5 m   y 205.5 m" in pane.status.text()
    assert pane.canvas.across.labelText == "x index"


@pytest.mark.slow
def test_of_a_huge_image_the_sufficient_level_alone_is_read(
    shown: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    document = shown(image(65_536, 9, 256), described(9))
    rest(qtbot, pane)
    assert level(pane) == "/7"
    assert [path for path, _ in document.session.reads] == ["/7"]
    # All of it: 512 × 512 elements in chunks of 256.
    assert read_chunks(document, "/7") == 4
    zoom(pane, 200, 201)
    rest(qtbot, pane)
    assert level(pane) == "/0"
    assert read_chunks(document, "/0") <= 9
    assert sum(read_chunks(document, f"/{number}") for number in range(9)) <= 13


def test_the_box_of_levels_makes_no_pane_wider(shown: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    levels = image(2048, 6, 64)
    shown(levels, {})
    before = pane.minimumSizeHint().width()
    assert not pane.header.level.isVisible()
    shown(levels, described(6))
    rest(qtbot, pane)
    assert pane.header.level.isVisible()
    assert pane.minimumSizeHint().width() <= before
