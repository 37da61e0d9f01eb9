"""Somebody's first minutes: find an array, ask why an element is empty, repair URLs, undo, copy the Python.

Once with the mouse alone and once with the keyboard alone, with a real file.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QTabBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot
from window_fixtures import drop

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.chunk_map_pane import ChunkMapPane
from refbrowser.app.shell.main_window import MainWindow

Settle = Callable[[], None]
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
#: What the URLs of one array wrongly begin with.
WRONG = "archive/2018/"


@pytest.fixture
def cloud_tops(shared_data: Path, tmp_path: Path) -> Path:
    """A copy of a real document, beside its data; the URLs of its flags begin wrongly."""
    for name in ("cth.nc", "cth.refs.json"):
        shutil.copyfile(shared_data / "real" / name, tmp_path / name)
    path = tmp_path / "cth.refs.json"
    found = json.loads(path.read_text())
    for key in ("DQF/0.0", "DQF/0.1"):
        found["refs"][key][0] = f"{WRONG}cth.nc"
    path.write_text(json.dumps(found))
    return path


class User:
    """What both users see; how they act is theirs."""

    def __init__(self, window: MainWindow, qtbot: QtBot, settle: Settle) -> None:
        self.window, self.qtbot, self.settle = window, qtbot, settle

    @property
    def document(self) -> OpenDocument:
        document = self.window.documents.current
        assert document is not None
        return document

    def wait_for(self, holds: Callable[[], object]) -> None:
        self.qtbot.waitUntil(holds)
        self.settle()

    def words(self, root: QWidget) -> str:
        """Return all words that are seen in a widget."""
        parts = [*root.findChildren(QLabel), *root.findChildren(QAbstractButton)]
        return "\n".join(part.text() for part in parts if part.isVisible())

    def sees(self, path: str) -> bool:
        plot = self.window.centre.plot
        return plot is not None and plot.array() is not None and plot.array().path == path

    def verdict(self) -> str:
        return self.window.findChild(QTextEdit, "explainVerdict").toPlainText()

    def changed_chunks(self) -> str:
        """Return the words of the chunk map about what edits changed."""
        pane = self.window.findChild(ChunkMapPane)
        assert pane is not None
        assert pane.isVisible()
        return self.words(pane)

    def row_of(self, path: str):
        return self.window.hierarchy.model.find_identity((self.document.number, "array", path))


class MouseUser(User):
    """Points, clicks, drops; types only into fields that were clicked."""

    def open(self, path: Path) -> None:
        drop(self.window, QUrl.fromLocalFile(str(path)))
        self.wait_for(lambda: self.document.is_open)

    def select(self, path: str) -> None:
        tree, index = self.window.hierarchy.tree, self.row_of(path)
        tree.scrollTo(index)
        where = tree.visualRect(index)
        QTest.mouseClick(
            tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(where.left() + 40, where.center().y())
        )
        self.wait_for(lambda: self.sees(path))

    def ask_why_empty(self) -> None:
        plot = self.window.centre.plot
        row, column = np.argwhere(plot.picture().values == -1)[500].tolist()
        ranges = plot.picture().plan.ranges
        canvas = plot.canvas
        scene = canvas.box.mapViewToScene(QPointF(ranges[1][column], ranges[0][row]))
        where = canvas.mapFromScene(scene)
        QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=where)
        self.settle()
        self.choose("&Data", "explain")

    def choose(self, menu: str, action: str) -> None:
        """Choose an action of the menu bar."""
        bar = self.window.menuBar()
        title = next(found for found in bar.actions() if found.text() == menu)
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.actionGeometry(title).center())
        shown = QApplication.activePopupWidget()
        assert isinstance(shown, QMenu)
        wanted = self.window.actions_[action]
        assert wanted in shown.actions()
        QTest.mouseClick(shown, Qt.MouseButton.LeftButton, pos=shown.actionGeometry(wanted).center())
        assert QApplication.activePopupWidget() is None
        self.settle()

    def replace_prefix(self, old: str, new: str) -> None:
        self.choose("&Edit", "replace_prefix")
        for name, text in (("urlPrefixOld", old), ("urlPrefixNew", new)):
            field = self.window.findChild(QLineEdit, name)
            QTest.mouseDClick(field, Qt.MouseButton.LeftButton)
            field.selectAll()
            QTest.keyClick(field, Qt.Key.Key_Backspace)
            QTest.keyClicks(field, text)
        button = self.window.findChild(QPushButton, "urlPrefixApplyButton")
        self.wait_for(button.isEnabled)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def undo(self) -> None:
        self.choose("&Edit", "undo")

    def look_at_chunks(self) -> None:
        for bar in self.window.findChildren(QTabBar):
            at = [bar.tabText(number) for number in range(bar.count())]
            if "Chunk map" in at:
                where = bar.tabRect(at.index("Chunk map")).center()
                QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=where)

    def copy_python(self) -> None:
        self.choose("&Edit", "copy_python")


class KeyboardUser(User):
    """Types and presses keys, wherever the keyboard is."""

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        if QApplication.activeWindow() is None:
            self.window.activateWindow()
            QApplication.processEvents()
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)
        QApplication.processEvents()

    def type(self, text: str) -> None:
        QTest.keyClicks(QApplication.focusWidget(), text)

    def open(self, path: Path) -> None:
        self.press(Qt.Key.Key_O, CTRL | SHIFT)
        self.type(str(path))
        self.press(Qt.Key.Key_Return)
        self.wait_for(lambda: bool(self.window.documents.all()) and self.document.is_open)

    def select(self, path: str) -> None:
        self.press(Qt.Key.Key_F, CTRL)
        self.press(Qt.Key.Key_A, CTRL)
        self.type("cloud top height")
        self.press(Qt.Key.Key_Return)
        while self.window.hierarchy.tree.currentIndex().data() != path.strip("/"):
            self.press(Qt.Key.Key_Down)
        self.press(Qt.Key.Key_Return)
        self.wait_for(lambda: self.sees(path))

    def ask_why_empty(self) -> None:
        canvas = self.window.centre.plot.canvas
        self.press(Qt.Key.Key_1, CTRL)
        assert QApplication.focusWidget() is canvas
        for _ in range(200):
            self.press(Qt.Key.Key_Right, SHIFT)
            if "no value" in self.words(self.window):
                break
        self.press(Qt.Key.Key_E)
        self.settle()

    def replace_prefix(self, old: str, new: str) -> None:
        self.press(Qt.Key.Key_H, CTRL)
        self.settle()
        # The keyboard is where the other beginning goes; what there is stands one field before.
        for name, text in (("urlPrefixOld", old), ("urlPrefixNew", new)):
            for _ in range(30):
                if QApplication.focusWidget().objectName() == name:
                    break
                self.press(Qt.Key.Key_Tab)
            assert QApplication.focusWidget().objectName() == name
            self.press(Qt.Key.Key_A, CTRL)
            self.press(Qt.Key.Key_Backspace)
            self.type(text)
        self.wait_for(self.window.findChild(QPushButton, "urlPrefixApplyButton").isEnabled)
        self.press(Qt.Key.Key_Return, CTRL)

    def undo(self) -> None:
        self.press(Qt.Key.Key_Z, CTRL)

    def look_at_chunks(self) -> None:
        self.press(Qt.Key.Key_P, CTRL | SHIFT)
        self.type("chunk map")
        self.press(Qt.Key.Key_Return)

    def copy_python(self) -> None:
        self.press(Qt.Key.Key_C, CTRL | SHIFT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(MouseUser, marks=pytest.mark.long), KeyboardUser], ids=["mouse", "keyboard"]
)
def test_the_first_question(
    window: MainWindow, qtbot: QtBot, settle: Settle, cloud_tops: Path, kind: type[User]
) -> None:
    before = cloud_tops.read_bytes()
    user = kind(window, qtbot, settle)
    user.open(cloud_tops)
    user.select("/HT")
    plot = window.centre.plot
    seen = user.words(window.centre)
    assert "ABI L2+ Cloud Top Height" in seen
    assert plot.picture().all_done

    user.ask_why_empty()
    assert "fill value of the array, which means no data" in user.verdict()

    user.select("/DQF")
    assert "could not be read" in user.words(window.centre)
    user.replace_prefix(WRONG, "")
    user.wait_for(lambda: user.document.pending_count == 1)
    user.wait_for(lambda: "could not be read" not in user.words(window.centre))
    assert plot.array().path == "/DQF"
    assert plot.picture().all_done
    assert user.document.document.refs.find("DQF/0.1") is not None
    user.look_at_chunks()
    user.wait_for(lambda: "2 changed" in user.changed_chunks())

    user.undo()
    user.wait_for(lambda: "could not be read" in user.words(window.centre))
    assert user.document.document.to_bytes() == before
    assert "2 changed" not in user.changed_chunks()

    user.select("/HT")
    QApplication.clipboard().clear()
    user.copy_python()
    user.wait_for(lambda: "values" in QApplication.clipboard().text())
    lines = (
        QApplication.clipboard().text() + "\nprint(float(np.nanmean(values)), int(np.isnan(values).sum()))\n"
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    mean, empty = map(float, done.stdout.split()[-2:])
    stored = user.document.dataset["/HT"][...].view("<u2")
    is_value = stored <= 65530
    assert mean == pytest.approx(stored[is_value].mean(dtype="f8") * 0.30520370602607727)
    assert empty == (~is_value).sum() > 0
