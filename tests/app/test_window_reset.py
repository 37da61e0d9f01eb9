"""A window that was used and reset is as good as a new one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractAnimation, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from small_documents import small_document
from window_reset import SharedWindow, picture_of

from refbrowser.app.controller.open_document import OpenDocument


def shown(used: SharedWindow, path: Path, qtbot: QtBot) -> OpenDocument:
    """Open a document, and show an array of it."""
    document = used.window.open_path(str(path))
    qtbot.waitUntil(lambda: document.is_open)
    assert used.window.hierarchy.select_node(document, "/temp")
    used.settle(qtbot)
    return document


def walk(used: SharedWindow, paths: list[Path], qtbot: QtBot) -> None:
    """Use the window as wildly as one can without leaving it."""
    window = used.window
    for path in paths:
        document = shown(used, path, qtbot)
        for tab in range(window.centre.tabs.count()):
            window.centre.tabs.setCurrentIndex(tab)
    window.preferences.set("theme", "dark")
    window.preferences.set("internal", True)
    for dock in window.docks.all():
        dock.show()
        dock.raise_()
    window.docks["jobsDock"].hide()
    window.docks["hierarchyDock"].setFloating(True)
    window.resizeDocks([window.docks["attributesDock"]], [420], Qt.Orientation.Horizontal)
    for line in window.findChildren(QLineEdit):
        if line.isEnabled() and not line.isReadOnly():
            line.setText("wild")
    for box in window.findChildren(QComboBox):
        box.setCurrentIndex(box.count() - 1)
    for button in window.findChildren(QAbstractButton):
        if button.isCheckable() and button.isEnabled() and button.isVisible():
            button.click()
    assert window.centre.plot is not None
    window.centre.plot.look().set_map("Magma")
    window.centre.plot.look().set_reverse(True)
    window.status.say("wild")
    window.resize(1400, 900)
    QGuiApplication.clipboard().setText("wild")
    window.actions_["plot_alone"].trigger()
    assert document in window.documents.all()
    assert picture_of(window)


def population(used: SharedWindow) -> Counter[str]:
    """Return how many widgets of each class there are in a window, and how many windows beside it."""
    found = Counter(type(each).__name__ for each in used.window.findChildren(QWidget))
    return found + Counter({"windows": len(QApplication.topLevelWidgets())})


@pytest.fixture
def two(styled: QApplication, qtbot: QtBot) -> Iterator[tuple[SharedWindow, SharedWindow]]:
    """Two windows, which are gone afterwards whatever became of the test."""
    made = SharedWindow(qtbot), SharedWindow(qtbot)
    yield made
    for each in made:
        each.window.close()
        each.delete()


def has_stopped(used: SharedWindow) -> bool:
    """Tell whether nothing fades or slides in a window, as buttons in lines of text do."""
    moving = used.window.findChildren(QAbstractAnimation)
    return all(each.state() != QAbstractAnimation.State.Running for each in moving)


@pytest.mark.long
def test_a_wild_walk_leaves_nothing(
    two: tuple[SharedWindow, SharedWindow], qtbot: QtBot, small: Path, tmp_path: Path
) -> None:
    new, used = two
    new.window.preferences.set("first_picture", False)
    other = tmp_path / "other.json"
    other.write_text(json.dumps(small_document()))
    # Labels that said something once are away where they say nothing.
    shown(new, small, qtbot)
    new.reset(qtbot)
    numbers = []
    for _ in range(3):
        walk(used, [other, small], qtbot)
        used.reset(qtbot)
        numbers.append(population(used))
    # The first walk makes what is made once.
    assert numbers[2] - numbers[1] == Counter()
    assert QGuiApplication.clipboard().text() == ""
    assert used.window.focusWidget() is used.window.hierarchy.tree
    assert not used.window.documents.all()
    for each in (new, used):
        each.window.activateWindow()
        qtbot.waitUntil(partial(has_stopped, each))
        each.seen = (picture_of(each.window), shown(each, small, qtbot), picture_of(each.window))
    for at in (0, 2):
        seen, expected = used.seen[at], new.seen[at]
        different = {name for name in {*seen, *expected} if seen.get(name) != expected.get(name)}
        told = [f"{name}: {seen.get(name)} for {expected.get(name)}" for name in sorted(different)]
        assert not told, "\n".join(told)
