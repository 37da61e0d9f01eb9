"""The menus of the right button: they appear, and act on what is under the pointer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from documents_of_values import value_document
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QCursor, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.packing_sheet import PackingSheet
from refbrowser.app.frame.centre import PLOT, REFERENCES, TABLE
from refbrowser.app.shell.main_window import MainWindow

Settle = Callable[[], None]
RIGHT = Qt.MouseButton.RightButton


class User:
    """Opens menus with the mouse or the keyboard, and chooses from them."""

    def __init__(self, window: MainWindow, document: OpenDocument, qtbot: QtBot, settle: Settle) -> None:
        self.window, self.document, self.qtbot, self.settle = window, document, qtbot, settle

    def show(self, name: str, tab: int = PLOT) -> None:
        assert self.window.hierarchy.select_node(self.document, f"/{name}")
        self.window.centre.show_tab(tab)
        self.settle()

    def right_click(self, area: QAbstractScrollArea, place: QPoint) -> QMenu | None:
        """Click as the desktop does: press, the request for a menu, release."""
        port = area.viewport()
        QTest.mousePress(port, RIGHT, pos=place)
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(port, QContextMenuEvent(reason, place, port.mapToGlobal(place)))
        QTest.mouseRelease(port, RIGHT, pos=place)
        QApplication.processEvents()
        return self.menu()

    def press_menu_key(self, widget: QWidget) -> QMenu | None:
        cursor = widget.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
        place = QPoint() if cursor is None else cursor.center()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(widget, QContextMenuEvent(reason, place, widget.mapToGlobal(place)))
        QApplication.processEvents()
        return self.menu()

    def menu(self) -> QMenu | None:
        found = QApplication.activePopupWidget()
        return found if isinstance(found, QMenu) else None

    def choose(self, menu: QMenu | None, name: str) -> None:
        assert menu is not None
        action = next(each for each in menu.actions() if each.objectName() == f"action_{name}")
        assert action.isEnabled()
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
        self.qtbot.waitUntil(lambda: self.menu() is None)

    def copied(self, menu: QMenu | None, name: str) -> str:
        QGuiApplication.clipboard().setText("before")
        self.choose(menu, name)
        self.qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "before")
        return QGuiApplication.clipboard().text()


def names(menu: QMenu | None) -> list[str]:
    assert menu is not None
    return [each.objectName().removeprefix("action_") for each in menu.actions() if not each.isSeparator()]


@pytest.fixture
def user(window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path) -> User:
    window.prepare_plot()
    document = opened(value_document(tmp_path).write())
    settle()
    return User(window, document, qtbot, settle)


class TestTree:
    def place(self, user: User, name: str) -> QPoint:
        tree = user.window.hierarchy.tree
        index = user.window.hierarchy.model.find_node(user.document, f"/{name}")
        tree.scrollTo(index)
        return tree.visualRect(index).center()

    @pytest.mark.slow
    def test_an_array_is_selected_and_copied(self, user: User) -> None:
        tree = user.window.hierarchy.tree
        menu = user.right_click(tree, self.place(user, "flags"))
        assert {"copy_path", "copy_python", "copy_xarray", "export"} <= set(names(menu))
        assert user.copied(menu, "copy_path") == f"{user.document.path}::/flags"
        user.settle()
        menu = user.right_click(tree, self.place(user, "line"))
        user.settle()
        assert 'path="line"' in user.copied(menu, "copy_python")

    @pytest.mark.slow
    def test_a_document_has_its_own_commands(self, user: User) -> None:
        tree = user.window.hierarchy.tree
        root = tree.visualRect(user.window.hierarchy.model.index(0, 0)).center()
        own = {
            "save",
            "save_as",
            "show_in_folder",
            "reload",
            "compare_with",
            "write_lock",
            "show_audit",
            "close_document",
            "close_all",
        }
        assert own <= set(names(user.right_click(tree, root)))
        user.menu().close()  # type: ignore[union-attr]
        user.qtbot.waitUntil(lambda: user.menu() is None)
        menu = user.right_click(tree, self.place(user, "flags"))
        assert not own & set(names(menu))
        menu.close()  # type: ignore[union-attr]

    @pytest.mark.slow
    def test_packed_arrays_alone_have_their_packing_said_otherwise(self, user: User) -> None:
        tree = user.window.hierarchy.tree
        menu = user.right_click(tree, self.place(user, "line"))
        assert "pack_otherwise" not in names(menu)
        menu.close()  # type: ignore[union-attr]
        menu = user.right_click(tree, self.place(user, "cube"))
        user.choose(menu, "pack_otherwise")
        sheet = user.window.findChild(PackingSheet)
        assert sheet is not None
        sheet.reject()

    @pytest.mark.slow
    def test_what_is_no_array_has_no_slice(self, user: User) -> None:
        user.show("flags")
        tree = user.window.hierarchy.tree
        root = tree.visualRect(user.window.hierarchy.model.index(0, 0)).center()
        menu = user.right_click(tree, root)
        assert "copy_python" not in names(menu)
        assert user.copied(menu, "copy_path") == user.document.path

    @pytest.mark.slow
    def test_nothing_under_the_pointer(self, user: User) -> None:
        tree = user.window.hierarchy.tree
        tree.collapseAll()
        assert user.right_click(tree, tree.viewport().rect().bottomLeft() + QPoint(5, -5)) is None

    @pytest.mark.slow
    def test_by_key(self, user: User) -> None:
        user.show("flags")
        menu = user.press_menu_key(user.window.hierarchy.tree)
        assert user.copied(menu, "copy_path").endswith("::/flags")


class TestKeys:
    def row(self, user: User, key: str) -> QPoint:
        table = user.window.centre.references.table
        rows = range(table.model().row_count())
        row = next(row for row in rows if table.row_text(row)[1] == key)
        table.scroll_to(row)
        return table.row_rect(row).center()

    @pytest.mark.slow
    def test_the_row_under_the_pointer(self, user: User) -> None:
        user.show("cube", REFERENCES)
        table = user.window.centre.references.table
        menu = user.right_click(table, self.row(user, "flags/0.1"))
        assert user.copied(menu, "copy_key") == "flags/0.1"
        menu = user.right_click(table, self.row(user, "line/0"))
        assert user.copied(menu, "copy_url") == "line.bin"
        menu = user.right_click(table, self.row(user, "flags/1.0"))
        assert user.copied(menu, "copy_value") == '["flags.bin", 8, 4]'
        menu = user.right_click(table, self.row(user, ".zgroup"))
        assert user.copied(menu, "copy_value") == '{"zarr_format": 2}'

    @pytest.mark.slow
    def test_a_key_without_a_url_says_so(self, user: User) -> None:
        user.show("cube", REFERENCES)
        table = user.window.centre.references.table
        menu = user.right_click(table, self.row(user, ".zgroup"))
        QGuiApplication.clipboard().setText("before")
        user.choose(menu, "copy_url")
        user.qtbot.waitUntil(lambda: "points to no URL" in user.window.status.text())
        assert QGuiApplication.clipboard().text() == "before"

    @pytest.mark.slow
    def test_explain(self, user: User) -> None:
        user.show("cube", REFERENCES)
        table = user.window.centre.references.table
        menu = user.right_click(table, self.row(user, "flags/0.1"))
        user.choose(menu, "explain")
        user.settle()
        assert user.window.docks["explainDock"].isVisible()


class TestPlot:
    def place(self, user: User, row: int, column: int) -> QPoint:
        plot = user.window.centre.plot
        assert plot is not None
        plot.point_at((row, column))
        cross = plot.canvas._cross
        scene = plot.canvas.box.mapViewToScene(QPointF(cross[0].value(), cross[1].value()))
        plot.point_at((0, 0))
        return plot.canvas.mapFromScene(scene)

    @pytest.mark.slow
    def test_the_element_under_the_pointer(self, user: User) -> None:
        user.show("cube")
        plot = user.window.centre.plot
        assert plot is not None
        place = self.place(user, 1, 3)
        menu = user.right_click(plot.canvas, place)
        assert names(menu)[0] == "explain"
        QApplication.sendEvent(plot.canvas, QEvent(QEvent.Type.Leave))
        assert user.copied(menu, "copy_value") == "5.8"
        menu = user.right_click(plot.canvas, self.place(user, 3, 0))
        assert user.copied(menu, "copy_key") == "cube/0.0.1.0"
        menu = user.right_click(plot.canvas, self.place(user, 1, 3))
        assert user.copied(menu, "copy_url") == "cube.bin"

    @pytest.mark.slow
    def test_what_was_clicked_is_meant_though_the_pointer_moves(self, user: User) -> None:
        user.show("cube")
        plot = user.window.centre.plot
        assert plot is not None
        elsewhere = QPointF(self.place(user, 3, 0))
        menu = user.right_click(plot.canvas, self.place(user, 1, 3))
        assert menu is not None
        move, none = QEvent.Type.MouseMove, Qt.MouseButton.NoButton
        moved = QMouseEvent(move, elsewhere, elsewhere, none, none, Qt.KeyboardModifier.NoModifier)
        # As when the menu hides, and its action is not yet triggered.
        menu.aboutToHide.connect(lambda: QApplication.sendEvent(plot.canvas.viewport(), moved))
        assert user.copied(menu, "copy_value") == "5.8"
        QApplication.processEvents()
        QApplication.sendEvent(plot.canvas.viewport(), moved)
        assert plot.element() == (0, 0, 3, 0)

    @pytest.mark.slow
    def test_values_of_missing_chunks_are_not_made_up(self, user: User) -> None:
        user.show("cube")
        plot = user.window.centre.plot
        assert plot is not None
        menu = user.right_click(plot.canvas, self.place(user, 3, 0))
        QGuiApplication.clipboard().setText("before")
        user.choose(menu, "copy_value")
        assert "its chunk is missing" in user.window.status.text()
        assert QGuiApplication.clipboard().text() == "before"

    @pytest.mark.slow
    def test_dragging_with_the_right_button_zooms_instead(self, user: User) -> None:
        user.show("cube")
        plot = user.window.centre.plot
        assert plot is not None
        port, place = plot.canvas.viewport(), plot.canvas.viewport().rect().center()
        QTest.mousePress(port, RIGHT, pos=place)
        QApplication.sendEvent(
            port, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, port.mapToGlobal(place))
        )
        assert user.menu() is None
        QTest.mouseRelease(port, RIGHT, pos=place)
        QApplication.processEvents()
        menu = user.menu()
        assert menu is not None
        menu.close()

    @pytest.mark.slow
    def test_by_key(self, user: User) -> None:
        user.show("cube")
        plot = user.window.centre.plot
        assert plot is not None
        plot.canvas.setFocus()
        plot.point_at((1, 4))
        assert user.copied(user.press_menu_key(plot.canvas), "copy_value") == "5.9"

    @pytest.mark.slow
    def test_by_key_while_the_mouse_lies_on_the_plot(self, user: User) -> None:
        user.show("cube")
        plot = user.window.centre.plot
        assert plot is not None
        place = plot.canvas.mapToGlobal(self.place(user, 3, 0))
        QCursor.setPos(place)
        QApplication.processEvents()
        plot.canvas.setFocus()
        plot.point_at((1, 4))
        assert user.copied(user.press_menu_key(plot.canvas), "copy_value") == "5.9"

    @pytest.mark.slow
    def test_rows_of_texts(self, user: User) -> None:
        user.show("names")
        plot = user.window.centre.plot
        assert plot is not None
        menu = user.right_click(plot.values.table, plot.values.table.row_rect(1).center())
        assert user.copied(menu, "copy_value") == "Ærø"


class TestTable:
    @pytest.mark.slow
    def test_the_cell_under_the_pointer(self, user: User) -> None:
        user.show("cube", TABLE)
        table = user.window.centre.table
        assert table is not None
        user.qtbot.waitUntil(table.is_settled)
        menu = user.right_click(table.grid, table.grid.cell_rect(1, 3).center())
        assert user.copied(menu, "copy_value") == "5.8"
        menu = user.right_click(table.grid, table.grid.cell_rect(3, 1).center())
        assert user.copied(menu, "copy_key") == "cube/0.0.1.0"
        menu = user.right_click(table.grid, table.grid.cell_rect(1, 1).center())
        assert user.copied(menu, "copy_url") == "cube.bin"
        menu = user.right_click(table.grid, table.grid.cell_rect(1, 1).center())
        user.choose(menu, "explain")
        user.settle()
        assert user.window.docks["explainDock"].isVisible()

    @pytest.mark.slow
    def test_by_key(self, user: User) -> None:
        user.show("stations", TABLE)
        table = user.window.centre.table
        assert table is not None
        user.qtbot.waitUntil(table.is_settled)
        table.grid.set_current((1, 1))
        assert user.copied(user.press_menu_key(table.grid), "copy_value") == "bb"
