"""A walk over the whole window: each action, key and widget; and that nothing stays when a document goes."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QToolBar,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from refbrowser.app.actions.menus import menus
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.shortcut_list import sections
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.docks import DOCKS
from refbrowser.app.widgets.virtual_table import VirtualTable

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
ACTED_ON = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    VirtualTable,
)
#: These end the window or ask the desktop.
NOT_TRIGGERED = frozenset({"quit", "show_in_folder"})


@pytest.fixture
def ready(window: MainWindow, small: Path, opened: Open, settle: Settle) -> OpenDocument:
    """A document with an array plotted, and each pane of the window made."""
    document = opened(small)
    window.hierarchy.select_node(document, "/temp")
    settle()
    return document


# Actions


def dialogs(window: MainWindow) -> list[QDialog]:
    return [found for found in window.findChildren(QDialog) if found.isVisible()]


def put_away(window: MainWindow) -> None:
    """Reject what an action asked, and close what it opened beside the window."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()
    for dialog in reversed(dialogs(window)):
        dialog.reject()
    for other in QApplication.topLevelWidgets():
        # What is drawn for a figure is no window, and on no screen.
        is_drawn = other.testAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        if other is not window and other.isVisible() and not isinstance(other, QMenu) and not is_drawn:
            other.close()
    QApplication.processEvents()


@pytest.fixture
def swept(window: MainWindow) -> Iterator[None]:
    """Put away what waits for an answer in an event loop of its own, too, as long as the test runs."""
    timer = QTimer(interval=300)
    timer.timeout.connect(lambda: put_away(window))
    timer.start()
    yield
    timer.stop()


@pytest.mark.slow
@pytest.mark.usefixtures("swept")
@pytest.mark.parametrize("menu", menus())
def test_each_action_can_be_carried_out(
    window: MainWindow, small: Path, opened: Open, settle: Settle, menu: str
) -> None:
    for spec in menus()[menu]:
        if spec is None or spec.name in NOT_TRIGGERED:
            continue
        if not window.documents.all():
            document = opened(small)
            window.hierarchy.select_node(document, "/temp")
        settle()
        action = window.actions_[spec.name]
        assert action.text()
        assert action.toolTip()
        if action.isEnabled():
            action.trigger()
            put_away(window)
            settle()
        assert window.centre.error_bar.isHidden(), spec.name


# Keys


def shortcuts(window: MainWindow) -> Iterator[tuple[QObject, Qt.ShortcutContext, str]]:
    """Yield where each shortcut of the window belongs, its context and its keys."""
    text = QKeySequence.SequenceFormat.PortableText
    for shortcut in window.findChildren(QShortcut):
        yield shortcut.parent(), shortcut.context(), shortcut.key().toString(text)
    for action in window.findChildren(QAction):
        context = action.shortcutContext()
        # One of a widget alone works where it was added, and not in the menus that show it, too.
        shown_by = (QMenu, QToolBar, QToolButton)
        added = [each for each in action.associatedObjects() if not isinstance(each, (*shown_by, MainWindow))]
        for keys in action.shortcuts():
            for owner in added if "Widget" in context.name and added else (window,):
                yield owner, context, keys.toString(text)


def test_no_key_has_two_meanings(window: MainWindow, ready: OpenDocument) -> None:
    found = list(shortcuts(window))
    everywhere = Counter(
        keys
        for _, context, keys in found
        if context in (Qt.ShortcutContext.WindowShortcut, Qt.ShortcutContext.ApplicationShortcut)
    )
    assert [keys for keys, count in everywhere.items() if count > 1] == []
    single = Counter((id(owner), keys) for owner, context, keys in found if "Widget" in context.name)
    assert [keys for (_, keys), count in single.items() if count > 1] == []


def test_each_key_is_in_the_list(window: MainWindow, ready: OpenDocument) -> None:
    listed = {
        QKeySequence(keys).toString(QKeySequence.SequenceFormat.PortableText)
        for keys_of_part in sections().values()
        for key in keys_of_part
        for keys in key.keys.split(", ")
    }
    assert {keys for _, _, keys in shortcuts(window) if keys} <= listed


# Widgets


def within(kind: type, widget: QWidget) -> bool:
    """Tell whether a widget is a part of one of `kind`."""
    above = widget.parentWidget()
    while above is not None and not isinstance(above, kind):
        above = above.parentWidget()
    return above is not None


def acted_on(window: MainWindow) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        if not isinstance(widget, ACTED_ON) or not widget.isEnabled() or not widget.isVisible():
            continue
        if any(dock.isAncestorOf(widget) and dock.visibleRegion().isEmpty() for dock in window.docks.all()):
            continue
        if widget.objectName() == "statusJobsButton":
            continue  # the keyboard goes past it while there are no jobs, which has a test of its own
        # Buttons of tool bars repeat actions of the menus, and headers the order that a list has.
        inner = (QAbstractSpinBox, QComboBox, QHeaderView, QToolBar)
        if not isinstance(widget, QHeaderView) and not any(within(kind, widget) for kind in inner):
            yield widget


def by_tab(window: MainWindow) -> set[QWidget]:
    """Return the widgets that Tab goes to, by pressing it until it comes round."""
    window.activateWindow()
    window.hierarchy.tree.setFocus()
    seen: list[QWidget] = []
    for _ in range(400):
        widget = QApplication.focusWidget()
        assert widget is not None, "the keyboard is nowhere"
        if seen and widget is seen[0]:
            break
        if widget not in seen:
            seen.append(widget)
        QTest.keyClick(widget, Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is not widget, f"{widget.objectName()} keeps Tab for itself"
    return set(seen)


@pytest.mark.slow
def test_tab_goes_to_each_widget(window: MainWindow, ready: OpenDocument, settle: Settle) -> None:
    for dock, *_ in sorted(DOCKS, key=lambda row: row[0] == "editorDock"):
        if dock == "editorDock":
            window.hierarchy.select_index(window.hierarchy.model.find_identity((ready.number, "rule", 0)))
        window.docks.raise_(dock)
        settle()
        reached = by_tab(window)
        missed = [
            f"{type(widget).__name__} {widget.objectName()} {widget.accessibleName()}"
            for widget in acted_on(window)
            if widget not in reached and widget.focusProxy() not in reached and not _in_group(widget, reached)
        ]
        assert missed == [], dock


def _in_group(widget: QWidget, reached: set[QWidget]) -> bool:
    """Tell whether arrow keys go to a button from another one of its exclusive group."""
    group = widget.group() if isinstance(widget, QAbstractButton) else None
    return group is not None and group.exclusive() and any(other in reached for other in group.buttons())


# What is left


@pytest.mark.slow
def test_nothing_of_a_document_stays(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    def open_and_close() -> tuple[Counter[str], list[weakref.ref[object]]]:
        document = opened(small)
        window.hierarchy.select_node(document, "/temp")
        settle()
        for kind, place in (("rule", 0), ("template", "u")):
            window.hierarchy.select_index(
                window.hierarchy.model.find_identity((document.number, kind, place))
            )
            settle()
        refs: list[weakref.ref[object]] = [
            weakref.ref(part) for part in (document, document.dataset) if part is not None
        ]
        window.documents.close(document)
        del document
        settle()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        kinds = Counter(type(widget).__name__ for widget in window.findChildren(QWidget))
        return kinds, refs

    first, _ = open_and_close()
    second, refs = open_and_close()
    assert second - first == Counter()
    alive = [ref() for ref in refs if ref() is not None]
    assert alive == [], [gc.get_referrers(found)[:5] for found in alive]
