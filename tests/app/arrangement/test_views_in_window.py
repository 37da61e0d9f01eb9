"""Several views in the window: opened, split, chosen, moved, taken out and closed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from linked_documents import cube_arrays, write_arrays
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from small_documents import small_document
from unnamed_widgets import unnamed
from window_fixtures import Open

from refbrowser.app.arrangement.apart_window import ApartWindow
from refbrowser.app.arrangement.view_area import ViewArea
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.views.arrangement.arrangement import Arrangement, Side, Split, Tabs
from refbrowser.views.maps.layouts import ChosenProjection

Settle = Callable[[], None]
pytestmark = pytest.mark.slow


@pytest.fixture
def document(window: MainWindow, small: Path, opened: Open, settle: Settle) -> OpenDocument:
    document = opened(small)
    window.hierarchy.select_node(document, "/temp")
    settle()
    return document


@pytest.fixture
def area(window: MainWindow, document: OpenDocument) -> ViewArea:
    assert window.centre.views is not None
    return window.centre.views


def paths(area: ViewArea) -> list[str | None]:
    shown = (view.array() for view in area.views())
    return [None if node is None else node.path for node in shown]


def test_a_split_shows_the_same_and_is_active(
    window: MainWindow, opened: Open, tmp_path: Path, settle: Settle
) -> None:
    document = opened(write_arrays(tmp_path / "cube.json", cube_arrays()))
    window.hierarchy.select_node(document, "/t")
    settle()
    area = window.centre.views
    assert area is not None
    first = area.active
    assert not area.groups()[0].tabs.isVisible()
    first.set_index(0, 3)
    window.actions_["split_right"].trigger()
    settle()
    assert area.active is area.views()[1] is window.centre.plot
    assert paths(area) == ["/t", "/t"]
    assert [view.slice_state() for view in area.views()] == [first.slice_state()] * 2
    assert isinstance(area.arrangement_state().root, Split)
    # Each has a tab now, and the active one is told by more than a colour.
    titles = [group.tabs.tabText(0) for group in area.groups()]
    assert titles == ["t", "● t"]
    assert "active" in area.groups()[1].tabs.accessibleTabName(0)
    # The other goes its own way, and each reads for itself.
    area.active.set_index(0, 1)
    first.set_index(0, 2)
    settle()
    pictures = [view.picture() for view in area.views()]
    assert [picture.values[0, 0] for picture in pictures if picture is not None] == [18_000, 8_000]


def test_the_tree_and_commands_act_on_the_active_view(
    window: MainWindow, document: OpenDocument, area: ViewArea, settle: Settle
) -> None:
    first = area.active
    window.actions_["split_down"].trigger()
    window.hierarchy.select_node(document, "/depth")
    settle()
    assert paths(area) == ["/temp", "/depth"]
    QTest.mouseClick(first.canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 60))
    settle()
    assert area.active is first
    item = window.hierarchy.current_item()
    assert item is not None
    assert item.place == "/temp"
    assert window.summary.text().startswith("/temp")
    assert window.chunk_map.pane is not None
    assert window.chunk_map.pane.array().path == "/temp"  # type: ignore[union-attr]
    window.actions_["next_view"].trigger()
    settle()
    assert window.chunk_map.pane.array().path == "/depth"  # type: ignore[union-attr]


def test_an_array_opens_beside_and_the_view_before_stays(
    window: MainWindow,
    document: OpenDocument,
    area: ViewArea,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = window.hierarchy.tree
    place = tree.visualRect(window.hierarchy.model.find_node(document, "/depth")).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.MiddleButton, pos=place)
    settle()
    assert paths(area) == ["/temp", "/depth"]
    assert len(area.groups()) == 1
    window.actions_["close_view"].trigger()
    settle()
    assert paths(area) == ["/temp"]
    # What was selected for it meanwhile is shown in the new view alone.
    monkeypatch.setattr("refbrowser.app.plot.plot_pane._LOOKED_AT", 0.0)
    window.hierarchy.select_node(document, "/depth")
    settle()
    window.activateWindow()
    tree.setFocus()
    QTest.keyClick(tree, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle()
    assert paths(area) == ["/temp", "/depth"]
    assert len(area.groups()) == 2


def test_what_opens_beside_has_its_share_and_is_drawn_alike(
    window: MainWindow, opened: Open, tmp_path: Path, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refbrowser.app.plot.plot_pane._LOOKED_AT", 0.0)
    first = opened(write_arrays(tmp_path / "a.json", cube_arrays()))
    second = opened(write_arrays(tmp_path / "b.json", cube_arrays()))
    window.hierarchy.select_node(first, "/t")
    settle()
    area = window.centre.views
    assert area is not None
    robinson = ChosenProjection("robinson")
    area.active.look().set_projection(robinson)
    area.active.look().set_overlay("graticule", True)
    for document in (second, first):
        window.hierarchy.select_node(document, "/t")
        settle()
        window.actions_["open_beside"].trigger()
        settle()
    options = [view.look().options for view in area.views()]
    assert [each.projection for each in options] == [robinson] * 3
    assert all("graticule" in each.overlaid for each in options)
    widths = [group.width() for group in area.groups()]
    assert max(widths) - min(widths) < 0.2 * max(widths)


def test_views_of_two_documents_close_with_theirs(
    window: MainWindow, document: OpenDocument, area: ViewArea, small: Path, opened: Open, settle: Settle
) -> None:
    window.actions_["split_right"].trigger()
    other = small.with_name("second.json")
    other.write_text(json.dumps(small_document("data.bin")))
    second = opened(other)
    window.hierarchy.select_node(second, "/temp")
    settle()
    assert [view.source() for view in area.views()] == [document, second]
    assert [group.tabs.tabText(0) for group in area.groups()] == ["temp · small.json", "● temp · second.json"]
    # What is no array leads to the view of its document; an array comes to the active view.
    model = window.hierarchy.model
    window.hierarchy.select_index(model.find_identity((document.number, "document", "")))
    settle()
    assert window.documents.current is document
    assert area.active is area.views()[0]
    assert paths(area) == ["/temp", "/temp"]
    window.hierarchy.select_node(second, "/depth")
    settle()
    assert area.active is area.views()[0]
    assert paths(area) == ["/depth", "/temp"]
    window.hierarchy.select_node(document, "/temp")
    settle()
    assert [view.source() for view in area.views()] == [document, second]
    window.documents.close(document)
    settle()
    assert [view.source() for view in area.views()] == [second]
    assert window.documents.current is second
    window.documents.close(second)
    settle()
    assert paths(area) == [None]


def test_closing_a_view_frees_it_and_ends_its_work(
    window: MainWindow, area: ViewArea, settle: Settle, qtbot: QtBot
) -> None:
    window.actions_["new_view"].trigger()
    view = area.active
    gone: list[bool] = []
    view.destroyed.connect(lambda: gone.append(True))
    view.set_index(0, 1)
    window.actions_["close_view"].trigger()
    assert not view._presenter.loader.is_reading
    del view
    QCoreApplication.sendPostedEvents(None, 52)
    assert gone
    settle()
    assert len(window.findChildren(PlotPane)) == 1


def test_views_move_by_keys_and_into_windows_of_their_own(
    window: MainWindow, area: ViewArea, settle: Settle
) -> None:
    window.actions_["new_view"].trigger()
    assert len(area.groups()) == 1
    window.actions_["move_view_on"].trigger()
    assert len(area.groups()) == 2
    window.actions_["move_view_back"].trigger()
    assert len(area.groups()) == 1
    window.actions_["view_apart"].trigger()
    settle()
    assert area.is_apart(area.active)
    assert window.actions_["view_apart"].isChecked()
    found = window.findChildren(ApartWindow)
    assert [each.windowTitle() for each in found] == ["temp - refbrowser"]
    assert window.actions_["split_right"] in found[0].actions()
    window.actions_["view_apart"].trigger()
    assert not area.is_apart(area.active)
    window.actions_["view_apart"].trigger()
    # Its window is closed by the user.
    area.active.window().close()
    settle()
    assert len(area.views()) == 1


def drag(area: ViewArea, view: PlotPane, place: QPoint) -> None:
    """Drag the tab of a view to a place of the screen."""
    tabs = area._group_of(view).tabs
    start = tabs.tabRect(area._group_of(view).views().index(view)).center()
    QTest.mousePress(tabs, Qt.MouseButton.LeftButton, pos=start)
    for part in (0.3, 0.6, 1.0):
        QTest.mouseMove(tabs, start + (tabs.mapFromGlobal(place) - start) * part)
    QTest.mouseRelease(tabs, Qt.MouseButton.LeftButton, pos=tabs.mapFromGlobal(place))


def test_tabs_are_dragged(window: MainWindow, area: ViewArea, settle: Settle) -> None:
    window.actions_["new_view"].trigger()
    settle()
    first, second = area.views()
    group = area.groups()[0]
    # To the right edge: beside.
    drag(area, second, group.mapToGlobal(QPoint(group.width() - 5, group.height() // 2)))
    settle()
    assert isinstance(area.arrangement_state().root, Split)
    # To the tabs of the other group.
    drag(area, second, group.tabs.mapToGlobal(group.tabs.tabRect(0).center()))
    settle()
    assert area.arrangement_state().root == Tabs((0, 1), 0)
    assert area.views() == [second, first]
    # Out of the window, and back.
    drag(area, first, window.mapToGlobal(QPoint(window.width() + 200, 100)))
    settle()
    assert area.is_apart(first)
    first.window().move(0, 2_000)
    inside = area.groups()[0]
    drag(area, first, inside.mapToGlobal(QPoint(inside.width() // 2, inside.height() // 2)))
    settle()
    assert not area.is_apart(first)
    assert len(area.groups()) == 1


def test_all_widgets_of_several_views_are_named(window: MainWindow, area: ViewArea, settle: Settle) -> None:
    for name in ("split_right", "new_view", "link_views"):
        window.actions_[name].trigger()
    settle()
    assert unnamed(window) == []
    window.actions_["view_apart"].trigger()
    settle()
    assert unnamed(area.active.window()) == []


def test_esc_gives_a_drag_up(window: MainWindow, area: ViewArea, settle: Settle) -> None:
    window.actions_["new_view"].trigger()
    settle()
    group = area.groups()[0]
    QTest.mousePress(group.tabs, Qt.MouseButton.LeftButton, pos=group.tabs.tabRect(0).center())
    QTest.mouseMove(group.tabs, QPoint(group.width() - 5, group.height() // 2))
    assert group._mark.isVisible()
    QTest.keyClick(group.tabs, Qt.Key.Key_Escape)
    assert not group._mark.isVisible()
    QTest.mouseRelease(group.tabs, Qt.MouseButton.LeftButton, pos=QPoint(group.width() - 5, 200))
    assert len(area.groups()) == 1


def test_an_arrangement_comes_back(area: ViewArea, settle: Settle) -> None:
    wanted = Arrangement(
        Split(True, (Tabs((0, 1), 1), Split(False, (Tabs((2,), 2), Tabs((3,), 3)), (1.0, 1.0))), (3.0, 1.0)),
        active=2,
    )
    views = area.restore(wanted)
    settle()
    found = area.arrangement_state()
    assert area.views() == views
    assert found.active == 2
    assert isinstance(found.root, Split)
    assert found.root.parts[0] == Tabs((0, 1), 1)
    left, right = found.root.shares
    assert 2 < left / right < 4
    area.close_others(area.active)
    assert len(area.views()) == 1


def test_no_more_views_than_the_limit(
    window: MainWindow, area: ViewArea, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ViewArea, "is_full", True)
    window.actions_["split_right"].trigger()
    assert len(area.views()) == 1
    assert "already" in window.status.text()
    assert Side.RIGHT.is_across


def test_a_slider_keeps_its_room_in_a_narrow_view(
    window: MainWindow, opened: Open, tmp_path: Path, settle: Settle
) -> None:
    document = opened(write_arrays(tmp_path / "cube.json", cube_arrays()))
    window.hierarchy.select_node(document, "/t")
    settle()
    window.actions_["split_right"].trigger()
    settle()
    views = window.centre.plots()
    assert max(view.width() for view in views) < 460
    for view in views:
        row = view.sliders._rows[0]
        assert row.slider.width() > 50, view.width()
        assert row.slider.geometry().right() < row.text.geometry().left() <= view.width() - 40
        assert not row.field.isVisible()
