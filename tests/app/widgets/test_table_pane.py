"""The tab Table: values of every kind, going to cells, what is copied, and how it follows the plot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from documents_of_values import NAMES, ValueDocument
from PySide6.QtCore import SIGNAL, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer
from window_fixtures import Open

from refbrowser.app.frame.centre import PLOT, TABLE
from refbrowser.app.plot.table_pane import TablePane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetReference
from refbrowser.views.plot.table import Mark

Shown = Callable[[str], TablePane]
Settle = Callable[[], None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def texts(table: TablePane) -> list[list[str]]:
    return table.grid.cells_seen().texts


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def copied(table: TablePane, window: MainWindow, qtbot: QtBot) -> str:
    """Press Ctrl+C in the table, and return what is on the clipboard then."""
    QGuiApplication.clipboard().setText("before")
    QTest.keyClick(table.grid, Qt.Key.Key_C, CONTROL)
    qtbot.waitUntil(lambda: clipboard() != "before")
    qtbot.waitUntil(lambda: not window.tasks.busy())
    return clipboard()


def go(table: TablePane, text: str) -> None:
    table.focus_go_to()
    QTest.keyClicks(table.go_to, text)
    QTest.keyClick(table.go_to, Qt.Key.Key_Return)


class TestKinds:
    @pytest.mark.slow
    def test_values(self, table_of: Shown) -> None:
        for name, first in (
            ("scalar", ["3.141593"]),
            ("times", ["2020-01-01"]),
            ("days", ["2020-02-28"]),
            ("stamps", ["2021-01-01T00:00:00"]),
            ("names", [NAMES[0]]),
            ("stations", ["0", "a", "−60", "True"]),
            ("flags", ["0", "1", "2", "3"]),
            ("cube", ["5", "5.1", "5.2", "5.3", "5.4"]),
            ("waves", ["1 + 2i"]),
            ("bits", ["True"]),
        ):
            assert texts(table_of(name))[0] == first, name

    def test_no_value_missing_and_failed_differ(self, table_of: Shown) -> None:
        cells = table_of("cube").grid.cells_seen()
        assert cells.texts[1][2] == "–"
        assert cells.marks[1, 2] == Mark.NO_VALUE
        assert set(cells.texts[2]) == {"missing"}
        failed = table_of("line")
        # Nothing of it could be read: a card says why.
        assert not failed.grid.isVisible()
        assert failed.cards.isVisible()

    def test_title_and_status(self, table_of: Shown) -> None:
        table = table_of("cube")
        assert table.title.text() == "cube [K]"
        table.grid.set_current((1, 3))
        assert table.status.text() == "5.8 K   lat 20°N [1]   lon 6°E [3]   chunk cube/0.0.0.0"
        assert table.grid.model().corner == ("lat", "lon")

    def test_as_stored(self, table_of: Shown, window: MainWindow, settle: Settle, qtbot: QtBot) -> None:
        table = table_of("cube")
        button = table.findChild(QToolButton, "tableCodingButton")
        assert button is not None
        assert button.isChecked()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        settle()
        qtbot.waitUntil(table.is_settled)
        assert texts(table)[1] == ["5", "6", "7", "8", "9"]
        assert window.centre.plot is not None
        assert not window.centre.plot.is_decoded()
        assert table.title.text() == "cube"

    def test_no_header_is_cut(self, table_of: Shown) -> None:
        grid = table_of("cube").grid
        for row in range(4):
            index, text = grid.model().row_header(row)
            painter = grid._painter
            room = grid._row_header_width() - grid._split
            assert painter.fitting(index, grid._split) == index
            assert painter.fitting(text, room) == text


class TestGoing:
    def test_to_a_cell(self, table_of: Shown) -> None:
        table = table_of("cube")
        go(table, "2, 3")
        assert table.grid.current() == (2, 3)
        assert table.grid.hasFocus()
        assert table.go_to.text() == ""

    def test_by_keys_alone(self, table_of: Shown, qtbot: QtBot) -> None:
        table = table_of("cube")
        table.grid.setFocus()
        QTest.keyClick(table.grid, Qt.Key.Key_G, CONTROL)
        qtbot.waitUntil(table.go_to.hasFocus)

    def test_to_another_slice(self, table_of: Shown, settle: Settle, window: MainWindow) -> None:
        table = table_of("cube")
        go(table, "1, 2, 3, 4")
        settle()
        assert table.grid.current() == (3, 4)
        assert window.centre.plot is not None
        state = window.centre.plot.slice_state()
        assert state is not None
        assert state.indices[:2] == (1, 2)
        assert texts(table)[3][4] == "16.9"

    def test_to_a_field(self, table_of: Shown) -> None:
        table = table_of("stations")
        go(table, "2 lat")
        assert table.grid.current() == (2, 2)

    def test_nowhere_is_told(self, table_of: Shown, qtbot: QtBot) -> None:
        table = table_of("cube")
        with qtbot.waitSignal(table.said) as caught:
            go(table, "77, 1")
        assert "lat has the indices 0 to 3" in caught.args[0]
        assert table.go_to.selectedText() == "77, 1"


class TestCopying:
    def test_one_cell_in_full(self, table_of: Shown, window: MainWindow, qtbot: QtBot) -> None:
        table = table_of("scalar")
        table.grid.set_current((0, 0))
        assert copied(table, window, qtbot) == "3.14159265358979"

    def test_a_rectangle(self, table_of: Shown, window: MainWindow, qtbot: QtBot) -> None:
        table = table_of("cube")
        table.grid.set_current((0, 1))
        for _ in range(2):
            QTest.keyClick(table.grid, Qt.Key.Key_Down, SHIFT)
        QTest.keyClick(table.grid, Qt.Key.Key_Right, SHIFT)
        assert copied(table, window, qtbot) == "5.1\t5.2\n5.6\t\n\t"
        assert window.status.text() == "3 × 2 values copied"

    def test_part_of_a_structure(self, table_of: Shown, window: MainWindow, qtbot: QtBot) -> None:
        table = table_of("stations")
        table.grid.set_current((1, 1))
        QTest.keyClick(table.grid, Qt.Key.Key_Right, SHIFT)
        assert copied(table, window, qtbot) == "bb\t-30.0"

    def test_too_many_are_refused(
        self, table_of: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from refbrowser.app.plot import table_pane as pane

        table = table_of("cube")
        monkeypatch.setattr(pane, "COPY_CELLS", 3)
        table.grid.select_all()
        QGuiApplication.clipboard().setText("before")
        with qtbot.waitSignal(table.said) as caught:
            QTest.keyClick(table.grid, Qt.Key.Key_C, CONTROL)
        assert "At most 3 cells" in caught.args[0]
        assert clipboard() == "before"


class TestFollowing:
    def test_the_plot_has_the_cell_under_its_cursor(self, table_of: Shown, window: MainWindow) -> None:
        table = table_of("cube")
        table.grid.set_current((1, 3))
        assert window.centre.plot is not None
        assert window.centre.plot.element() == (0, 0, 1, 3)

    def test_a_row_of_texts_too(self, table_of: Shown, window: MainWindow) -> None:
        table = table_of("names")
        table.grid.set_current((2, 0))
        assert window.centre.plot is not None
        assert window.centre.plot.element() == (2,)

    def test_return_shows_the_plot(self, table_of: Shown, window: MainWindow) -> None:
        table = table_of("cube")
        table.grid.set_current((1, 3))
        QTest.keyClick(table.grid, Qt.Key.Key_Return)
        assert window.centre.tabs.currentIndex() == PLOT

    def test_a_slider_of_the_table_moves_the_plot(
        self, table_of: Shown, window: MainWindow, settle: Settle
    ) -> None:
        table = table_of("cube")
        table.sliders.indexChanged.emit(1, 2)
        settle()
        assert window.centre.plot is not None
        state = window.centre.plot.slice_state()
        assert state is not None
        assert state.indices[1] == 2
        assert texts(table)[0][0] == "9"

    def test_widths_are_kept_for_the_next_window(self, table_of: Shown, window: MainWindow) -> None:
        table = table_of("cube")
        table.grid.fit_column(0)
        kept = window.settings.view("tableView")
        assert kept[1] == table.grid.column_width()
        window.actions_["reset_layout"].trigger()
        assert table.grid.column_width() > kept[1]
        assert window.settings.view("tableView") == []


class TestChanges:
    """The document changes while its table is shown."""

    def test_a_table_that_nobody_sees_follows_the_plot_when_it_is_seen_again(
        self, table_of: Shown, window: MainWindow, settle: Settle, qtbot: QtBot
    ) -> None:
        table, plot = table_of("cube"), window.centre.plot
        assert plot is not None
        before, followers = texts(table), plot.receivers(SIGNAL("viewChanged()"))
        window.centre.show_tab(PLOT)
        for index in (1, 0, 1):
            plot.set_index(0, index)
        assert plot.receivers(SIGNAL("viewChanged()")) == followers - 1
        settle()
        window.centre.show_tab(TABLE)
        qtbot.waitUntil(lambda: table.is_settled() and texts(table) != before)
        plot.set_index(0, 0)
        qtbot.waitUntil(lambda: table.is_settled() and texts(table) == before)

    def test_an_edit_is_followed(
        self, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
    ) -> None:
        window.prepare_plot()
        made = ValueDocument(tmp_path)
        made.add("line", np.arange(8.0), ["x"], (4,))
        document = opened(made.write())
        settle()
        window.hierarchy.select_node(document, "/line")
        window.centre.show_tab(TABLE)
        settle()
        table = window.centre.table
        assert table is not None
        qtbot.waitUntil(table.is_settled)
        assert texts(table)[0] == ["0"]
        document.apply(SetReference("line/0", ["line.bin", 32, 32]))
        qtbot.waitUntil(lambda: texts(table)[0] == ["4"])
        document.undo()
        qtbot.waitUntil(lambda: texts(table)[0] == ["0"])

    def test_what_was_not_allowed_is_read_when_it_is(
        self, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
    ) -> None:
        window.prepare_plot()
        with HttpServer({}) as server:
            made = ValueDocument(tmp_path, base=f"{server.origin}/")
            made.add("line", np.arange(8.0), ["x"], (4,))
            server.files["/line.bin"] = (tmp_path / "line.bin").read_bytes()
            document = opened(made.write())
            settle()
            window.hierarchy.select_node(document, "/line")
            window.centre.show_tab(TABLE)
            settle()
            table = window.centre.table
            assert table is not None
            qtbot.waitUntil(table.cards.isVisible)
            assert not server.requests
            document.allow(document.wants)
            qtbot.waitUntil(lambda: table.grid.isVisible() and texts(table)[7] == ["7"])

    def test_nothing_is_kept_of_a_closed_document(
        self, table_of: Shown, window: MainWindow, settle: Settle
    ) -> None:
        table = table_of("cube")
        document = window.documents.current
        assert document is not None
        window.documents.close(document)
        settle()
        assert table.layout_shown() is None
        assert table._document is None
        assert texts(table) == []
