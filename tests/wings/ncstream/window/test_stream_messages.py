"""The messages of a stream in the window: table, picture, plot, and the stream as it was after a message."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import stream_encoder as enc
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from streams_made import SHAPE, ocean_messages, temperature, write_ocean
from unnamed_widgets import unnamed
from window_fixtures import Open

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT
from refbrowser.app.shell.format_places import FormatPlaces
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.fields_view import FieldsView
from refbrowser.views.rows import RowStyle, StyledRowModel
from refbrowser.wings.ncstream.window.messages_link import MessagesLink
from refbrowser.wings.ncstream.window.messages_pane import LIST, PICTURE
from refbrowser.wings.ncstream.window.supply_picture import ground_of
from refbrowser.words import count_text

Settle = Callable[[], None]


@pytest.fixture
def ocean(window: MainWindow, opened: Open, settle: Settle, tmp_path: Path) -> OpenDocument:
    """A stream of tiles, a correction and holes, with the tab of messages in front."""
    document = opened(write_ocean(tmp_path))
    assert document.error is None
    settle()
    window.hierarchy.select_node(document, "/temp")
    settle()
    window.centre.show_page(window.pages["messages"].pane)
    settle()
    return document


def link_of(window: MainWindow) -> MessagesLink:
    assert window.pages.get("messages") is not None
    return window.pages["messages"]


def choose(window: MainWindow, message: int, settle: Settle) -> None:
    link_of(window).pane.show_message(message)
    settle()


@pytest.mark.slow
def test_the_tab_is_there_for_streams_only(
    window: MainWindow, ocean: OpenDocument, small: Path, opened: Open, settle: Settle
) -> None:
    assert window.groups[FormatPlaces].is_offered("messages")
    assert window.actions_["show_messages"].isEnabled()
    other = opened(small)
    settle()
    assert not window.groups[FormatPlaces].is_offered("messages")
    assert window.centre.tabs.currentIndex() == PLOT
    assert not window.actions_["show_messages"].isEnabled()
    window.documents.close(other)
    settle()
    assert window.groups[FormatPlaces].is_offered("messages")
    assert link_of(window).pane.table.model().row_count() == len(ocean_messages())
    assert unnamed(window) == []


@pytest.mark.slow
def test_each_message_is_a_row_and_the_filter_lists_some(
    window: MainWindow, ocean: OpenDocument, settle: Settle
) -> None:
    pane = link_of(window).pane
    table = pane.table
    messages = ocean_messages()
    offset = len(enc.MAGIC_START) + sum(map(len, messages[:2]))
    assert table.row_text(0)[:3] == ["0", "header", ""]
    assert table.row_text(0)[7] == "4"
    assert table.row_text(2)[:4] == ["2", "data", "/temp", "0,0:12,18:36"]
    assert table.row_text(2)[4].replace("\N{NARROW NO-BREAK SPACE}", "") == str(len(messages[2]))
    assert table.row_text(2)[5:8] == ["deflate", "big", str(offset)]
    assert len(table.row_text(3)[8]) == 8
    for what, numbers in (
        ("headers", [0, 8]),
        ("plotted", [1, 2, 3, 4, 5, 6]),
        ("/salt", [7]),
        ("faulty", []),
    ):
        pane.filter.choice.setCurrentIndex(pane.filter.choice.findData(what))
        shown = [table.row_text(row)[0] for row in range(table.model().row_count())]
        assert shown == [str(number) for number in numbers], what
    pane.filter.go.setText("3")
    pane.filter.go.returnPressed.emit()
    assert pane.message() == 3
    assert table.model().row_count() == len(messages)


@pytest.mark.slow
def test_a_message_selects_its_array_and_its_slice_and_is_framed(
    window: MainWindow, ocean: OpenDocument, settle: Settle
) -> None:
    link, plot = link_of(window), window.centre.plot
    link.pane.switch.set_page(PICTURE)
    assert plot is not None
    choose(window, 5, settle)
    for mark in (link.mark, link.pane.picture.view.mark):
        part = mark.part()
        assert part is not None
        assert (part.left(), part.right(), part.top(), part.bottom()) == (8.5, 26.5, 5.5, 15.5)
    choose(window, 6, settle)
    state = plot.slice_state()
    assert state is not None
    assert state.indices[0] == 1
    choose(window, 7, settle)
    node = plot.array()
    assert node is not None
    assert node.path == "/salt"
    part = link.mark.part()
    assert part is not None
    assert (part.width(), part.height()) == (36, 24)
    link.pane.activated.emit(7)
    assert window.centre.tabs.currentIndex() == PLOT
    assert link.mark.is_lit()
    window.hierarchy.select_node(ocean, "/temp")
    settle()
    assert link.mark.part() is None


@pytest.mark.slow
def test_what_was_looked_for_in_all_messages_is_not_shown_of_some(
    window: MainWindow, ocean: OpenDocument, settle: Settle
) -> None:
    pane = link_of(window).pane
    pane.switch.set_page(PICTURE)
    settle()
    picture, index = pane.picture, ocean.part.index
    assert index is not None
    picture.set_stream(ocean, index, None)
    picture.found = None
    picture._follow()
    # It has ended, and nobody was told so yet.
    time.sleep(0.2)
    picture.set_stream(ocean, index, 4)
    settle()
    assert picture.found is not None
    assert max(picture.found.sections.numbers) == 4


@pytest.mark.slow
def test_the_picture_tells_who_supplied_each_element(
    window: MainWindow, ocean: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    pane = link_of(window).pane
    pane.switch.set_page(PICTURE)
    settle()
    picture = pane.picture
    assert picture.found is not None
    assert picture.found.shown is not None
    supply = picture.found.shown.supply
    places = {(0, 0): 1, (0, 35): 2, (23, 0): 3, (19, 35): 4, (10, 10): 5, (23, 35): -1}
    assert {place: supply.message_at(place) for place in places} == places
    texts = picture.legend.texts()
    assert "message 5  180" in texts
    assert "replaced an earlier message  180" in texts
    assert f"never sent: fill value  {4 * 18}" in texts
    view = picture.view
    place = view.mapFromScene(view.box.mapViewToScene(QPointF(10, 10)))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: pane.message() == 5)
    assert picture.status.text().startswith("message 5, replaced 1 ")
    assert "lat 10°N [10]" in picture.status.text()
    assert f"{temperature(0, 10, 10) + 5:.3f}"[:6] in picture.status.text()
    qtbot.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert view.element == (0, 10)
    assert view.accessibleDescription().startswith("message 1 ")
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert pane.message() == 1


@pytest.mark.slow
def test_the_plot_tells_the_message_of_its_element(
    window: MainWindow, ocean: OpenDocument, settle: Settle
) -> None:
    plot = window.centre.plot
    assert plot is not None
    window.centre.show_tab(PLOT)
    plot.point_at((10, 10))
    assert plot.status.text().endswith("message 5, replaced 1")
    plot.point_at((23, 35))
    assert plot.status.text().endswith("never sent: fill value")
    # Of an array whose messages were never looked at in their tab, too.
    window.hierarchy.select_node(ocean, "/salt")
    settle()
    plot.point_at((0, 0))
    assert plot.status.text().endswith("message 7")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_colours_and_hatches_are_drawn_where_they_belong(
    window: MainWindow, ocean: OpenDocument, settle: Settle, qapp: QApplication, scheme: theme.Colors
) -> None:
    theme.apply(qapp, scheme)
    try:
        link_of(window).pane.switch.set_page(PICTURE)
        settle()
        picture = link_of(window).pane.picture
        view = picture.view
        assert picture.found is not None
        assert picture.found.shown is not None
        legend = {each.first: each for each in picture.found.shown.legend}
        image = view.grab().toImage()

        def colours(row: int, column: int) -> set[str]:
            corner = view.mapFromScene(view.box.mapViewToScene(QPointF(column, row)))
            return {
                image.pixelColor(corner.x() + x, corner.y() + y).name() for x in range(8) for y in range(8)
            }

        plain = ground_of(legend[1], scheme.dark).name()
        assert colours(1, 2) == {plain}
        replaced = colours(8, 12)
        assert ground_of(legend[5], scheme.dark).name() in replaced
        assert len(replaced) > 2
        never = colours(21, 30)
        assert ground_of(legend[-1], scheme.dark).name() in never
        assert len(never) == 2
    finally:
        theme.apply(qapp, theme.LIGHT)


@pytest.mark.slow
def test_the_stream_as_it_was_after_a_message(
    window: MainWindow, ocean: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    link, plot = link_of(window), window.centre.plot
    assert plot is not None
    link.pane.switch.set_page(PICTURE)
    settle()
    strip, bar = link.pane.as_of, link.as_of_bar
    assert not bar.isVisible()

    def value() -> float:
        picture = plot.picture()
        assert picture is not None
        return float(picture.values[10, 10])

    assert value() == pytest.approx(temperature(0, 10, 10) + 5)
    strip.slider.setValue(4)
    qtbot.waitUntil(lambda: ocean.part.last == 4)
    settle()
    assert value() == pytest.approx(temperature(0, 10, 10))
    assert bar.isVisible()
    assert bar.text() == "The stream as it was after message 4: the 4 later messages are left out."
    model = link.pane.table.model()
    assert isinstance(model, StyledRowModel)
    assert [bool(style & RowStyle.REPLACED) for style in model.styles(3, 7)] == [False, False, True, True]
    found = link.pane.picture.found
    assert found is not None
    assert found.shown is not None
    assert found.shown.supply.message_at((10, 10)) == 1
    assert ocean.hierarchy is not None
    assert ocean.hierarchy.root.attributes["title"] == "first"
    assert not ocean.is_dirty
    bar.allWanted.emit()
    qtbot.waitUntil(lambda: ocean.part.last is None)
    settle()
    assert value() == pytest.approx(temperature(0, 10, 10) + 5)
    assert ocean.hierarchy.root.attributes["title"] == "second"
    assert not bar.isVisible()


@pytest.mark.slow
def test_edits_keep_the_stream_as_it_is(
    window: MainWindow, ocean: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    from refbrowser.references.edits.edits import RemoveReference

    strip = link_of(window).pane.as_of
    assert strip.slider.isEnabled()
    assert ocean.apply(RemoveReference("salt/.zattrs"))
    settle()
    assert ocean.is_dirty
    assert not strip.slider.isEnabled()
    assert "edits" in strip.toolTip()
    ocean.part.show_until(2)
    ocean.part.read_in("little")
    settle()
    assert ocean.is_dirty
    assert ocean.part.last is None
    ocean.undo()
    settle()
    assert strip.slider.isEnabled()


@pytest.mark.slow
def test_a_line_and_a_scalar_are_no_trouble(window: MainWindow, ocean: OpenDocument, settle: Settle) -> None:
    link = link_of(window)
    link.pane.switch.set_page(PICTURE)
    window.hierarchy.select_node(ocean, "/lat")
    settle()
    found = link.pane.picture.found
    assert found is not None
    assert found.shown is not None
    assert found.path == "/lat"
    # Immediate data count as the message of their header.
    assert found.shown.supply.rows.shape == (SHAPE[1],)
    assert found.shown.supply.message_at((3,)) == 0
    assert link.pane.picture.words_at((3,)) == "message 0"


@pytest.mark.slow
def test_what_is_damaged_is_marked(window: MainWindow, opened: Open, settle: Settle, tmp_path: Path) -> None:
    messages = ocean_messages()
    path = tmp_path / "damaged.ncs"
    path.write_bytes(enc.stream(*messages[:3], b"\xab\xec\xce\xba" + b"\xff" * 40, *messages[3:]))
    opened(path)
    settle()
    pane = link_of(window).pane
    pane.filter.choice.setCurrentIndex(pane.filter.choice.findData("faulty"))
    model = pane.table.model()
    assert isinstance(model, StyledRowModel)
    assert model.row_count() >= 1
    assert model.styles(0, 1)[0] & RowStyle.FAULT
    assert pane.table.row_text(0)[9]
    pane.table.set_current(0)
    settle()
    # There is little room for it in the table.
    assert pane.beside.note() == pane.table.row_text(0)[9]


@pytest.mark.slow
def test_an_array_that_was_not_there_yet_is_plotted_again(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "late.ncs"
    early = enc.header(enc.group(attributes=[enc.text_attribute("title", "early")]))
    path.write_bytes(enc.stream(early, *ocean_messages()))
    document = opened(path)
    settle()
    window.hierarchy.select_node(document, "/temp")
    settle()
    plot, strip = window.centre.plot, link_of(window).pane.as_of
    assert plot is not None
    strip.field.setValue(0)
    qtbot.waitUntil(lambda: document.part.last == 0)
    settle()
    assert plot.array() is None
    strip.field.setValue(3)
    qtbot.waitUntil(lambda: document.part.last == 3)
    settle()
    node = plot.array()
    assert node is not None
    assert node.path == "/temp"


@pytest.mark.slow
def test_the_fields_of_a_message_are_shown(window: MainWindow, ocean: OpenDocument, settle: Settle) -> None:
    pane = link_of(window).pane
    choose(window, 5, settle)
    lines = pane.fields.lines()
    assert "varName  temp" in lines
    assert "dataType  FLOAT (5)" in lines
    assert [line.strip() for line in lines if line.strip().startswith("[")] == [
        "[0]  start 0, size 1",
        "[1]  start 6, size 10",
        "[2]  start 9, size 18",
    ]
    header = pane.fields.headerItem()
    assert header is not None
    assert header.text(0) == "Field of Data"
    choose(window, 3, settle)
    # As the table writes it.
    assert f"crc32  {pane.table.row_text(3)[8]}" in pane.fields.lines()
    choose(window, 8, settle)
    assert header.text(0) == "Field of Header"
    assert any(line.strip() == "name  salt" for line in pane.fields.lines())


def test_very_many_fields_are_cut_and_bytes_are_hexadecimal(qtbot: QtBot) -> None:
    view = FieldsView()
    qtbot.addWidget(view)
    view.show_fields({"list": list(range(2_000)), "data": bytes(range(64)), "deep": {"a": {"b": [1, 2]}}})
    lines = view.lines()
    assert lines[0] == f"list  {count_text(2_000)}"
    assert len(lines) < 600
    assert any("more" in line for line in lines)
    assert any(line.startswith("data  00 01 02") and "64 bytes" in line for line in lines)
    assert [line.strip() for line in lines[-5:]] == ["deep", "a", "b  1, 2", "[0]  1", "[1]  2"]


@pytest.mark.slow
def test_another_stream_begins_without_a_chosen_message(
    window: MainWindow, ocean: OpenDocument, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    pane = link_of(window).pane
    choose(window, 1, settle)
    assert pane.fields.lines()[0] == "varName  temp"
    folder = tmp_path / "other"
    folder.mkdir()
    other = opened(write_ocean(folder))
    settle()
    assert pane.message() is None
    assert not pane.beside.isVisible()
    assert pane.picture.view.mark.part() is None
    choose(window, 1, settle)
    assert pane.fields.lines()[0] == "varName  temp"
    assert window.documents.current is other


@pytest.mark.slow
def test_the_list_has_the_tab_for_itself_and_so_has_the_picture(
    window: MainWindow, ocean: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    pane = link_of(window).pane
    list_button, picture_button = pane.switch.buttons()
    assert pane.table.isVisible()
    assert pane.filter.isVisible()
    assert not pane.picture.isVisible()
    high = pane.table.height()
    qtbot.mouseClick(picture_button, Qt.MouseButton.LeftButton)
    settle()
    assert not pane.table.isVisible()
    assert not pane.filter.isVisible()
    assert pane.picture.height() >= high
    assert pane.caption.text() == "/temp: which message supplied each element"
    pane.picture.messageWanted.emit(5)
    settle()
    assert pane.switch.page() == PICTURE
    assert pane.caption.text() == "/temp: message 5 gave 0, 6:16, 9:27"
    window.centre.show_tab(PLOT)
    window.centre.show_page(window.pages["messages"].pane)
    assert pane.picture.view.hasFocus()
    qtbot.mouseClick(list_button, Qt.MouseButton.LeftButton)
    settle()
    assert pane.message() == 5
    assert pane.beside.isVisible()
    assert "varName  temp" in pane.fields.lines()
    window.centre.show_page(window.pages["messages"].pane)
    assert pane.table.hasFocus()


@pytest.mark.slow
def test_the_fields_are_there_for_a_chosen_message_until_they_are_closed(
    window: MainWindow, ocean: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    pane = link_of(window).pane
    assert not pane.beside.isVisible()
    choose(window, 1, settle)
    assert pane.beside.isVisible()
    qtbot.mouseClick(pane.beside.close_button, Qt.MouseButton.LeftButton)
    assert not pane.beside.isVisible()
    assert pane.table.hasFocus()
    choose(window, 2, settle)
    assert not pane.beside.isVisible()
    pane.fields_button.click()
    settle()
    assert pane.beside.isVisible()
    assert "compress  DEFLATE (1)" in pane.fields.lines()
    pane.fields_button.click()
    # A header gave nothing to plot: its fields are what there is to see.
    pane.show_message(0)
    qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    settle()
    assert window.centre.is_in_front(window.pages["messages"].pane)
    assert pane.beside.isVisible()


@pytest.mark.slow
def test_what_is_in_front_is_kept_until_the_layout_is_reset(
    window: MainWindow, ocean: OpenDocument, settle: Settle
) -> None:
    pane = link_of(window).pane
    pane.switch.set_page(PICTURE)
    pane.fields_button.setChecked(False)
    window.layout_kept.keep()
    pane.switch.set_page(LIST)
    window.layout_kept.restore_look("messagesLook", pane)
    assert pane.look() == [PICTURE, 0]
    window.actions_["reset_layout"].trigger()
    assert pane.look() == [LIST, 1]
    assert window.settings.view("messagesLook") == []


@pytest.mark.slow
def test_tab_goes_through_the_list_as_it_is_read(
    window: MainWindow, ocean: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    pane = link_of(window).pane
    choose(window, 1, settle)
    pane.switch.buttons()[0].setFocus()
    stops = []
    for _ in range(8):
        focus = QApplication.focusWidget()
        assert focus is not None
        stops.append(focus.objectName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert stops == [
        "messagesListButton",
        "messagesFilter",
        "messagesGoTo",
        "messageFieldsButton",
        "messagesTable",
        "messageFieldsCloseButton",
        "messageFields",
        "messagesAsOfSlider",
    ]


@pytest.mark.slow
def test_long_names_have_the_room_that_is_left(window: MainWindow, ocean: OpenDocument) -> None:
    table = link_of(window).pane.table
    titles = [column.title for column in table.model().columns]
    assert sum(table.column_widths()) == table.viewport().width()
    spare = [
        wide - column.width for wide, column in zip(table.column_widths(), table.model().columns, strict=True)
    ]
    assert {title for title, more in zip(titles, spare, strict=True) if more > 0} <= {"Variable"}


@pytest.mark.slow
def test_long_names_leave_room_for_the_other_columns(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    name = "a_rather_long_name_" * 6
    x = enc.dimension("x", 2)
    header = enc.header(enc.group(dimensions=[x], variables=[enc.variable(name, enc.FLOAT, [x])]))
    body = enc.data_body(name, enc.FLOAT, [(0, 2, None)], bigend=True)
    path = tmp_path / "long.ncs"
    path.write_bytes(enc.stream(header, enc.data(body, enc.regular(enc.numbers("f", [1, 2])))))
    opened(path)
    settle()
    window.centre.show_page(window.pages["messages"].pane)
    settle()
    table = link_of(window).pane.table
    assert sum(table.column_widths()) == table.viewport().width()
    # Nothing is wrong with a message: there are no notes.
    assert [column.title for column in table.model().columns][-1] == "CRC-32"
