"""No word is shown of templates, gen rules and Version 0 where nobody wrote them: of stores and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zarr
from awkward_files import write_events
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)
from streams_made import write_ocean

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.docks import DOCKS
from refbrowser.app.widgets.virtual_table import VirtualTable

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
WORDS = re.compile(r"\btemplates?\b|\bgen\b|\brule\b|\bversion [01]\b|\{\{", re.IGNORECASE)
ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
#: Actions that are triggered where they can be; what they show is read.
TRIGGERED = (
    "replace_prefix",
    "rename_reference",
    "go_to_key",
    "command_palette",
    "look_again",
    "add_reference",
    "explain",
)


def cells(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    waiting = [QModelIndex()]
    while waiting:
        above = waiting.pop()
        for row in range(min(model.rowCount(above), 30)):
            for column in range(1 if isinstance(view, QListView) else model.columnCount(above)):
                index = model.index(row, column, above)
                yield from (str(model.data(index, role) or "") for role in ROLES)
            waiting.append(model.index(row, 0, above))


def texts_of(widget: QWidget) -> Iterator[str]:
    """Yield what a widget shows, says when pointed to, and tells screen readers."""
    yield from (widget.toolTip(), widget.statusTip(), widget.accessibleName(), widget.accessibleDescription())
    yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    elif isinstance(widget, QLineEdit):
        yield from (widget.text(), widget.placeholderText())
    elif isinstance(widget, QPlainTextEdit | QTextEdit):
        yield from (widget.toPlainText(), widget.placeholderText())
    elif isinstance(widget, QComboBox):
        yield from (widget.itemText(number) for number in range(widget.count()))
    elif isinstance(widget, QTabBar):
        yield from (widget.tabText(number) for number in range(widget.count()) if widget.isTabVisible(number))
    elif isinstance(widget, VirtualTable):
        yield from (column.title for column in widget.model().columns)
        for row in range(min(widget.model().row_count(), 30)):
            yield from widget.row_text(row)
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from cells(widget)
    for action in widget.actions():
        if action.isEnabled() and action.isVisible():
            yield from (action.text().replace("&", ""), action.toolTip())


def shown() -> set[str]:
    """Return all texts of visible widgets that have one of the words."""
    found = set()
    for top in QApplication.topLevelWidgets():
        if top.isVisible():
            for widget in (top, *top.findChildren(QWidget)):
                if widget.isVisible():
                    name = widget.objectName() or type(widget).__name__
                    found |= {f"{name}: {text[:200]}" for text in texts_of(widget) if WORDS.search(text)}
    return found


@pytest.mark.long
def test_walk(window: MainWindow, opened: Open, settle: Settle, tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "sea.zarr", zarr_format=2)
    array = group.create_array("temp", shape=(4, 6), chunks=(2, 3), dtype="<i2", attributes={"units": "K"})
    array[:2] = 1
    found: dict[str, list[str]] = {}

    def look(*where: object) -> None:
        QApplication.processEvents()
        for text in shown():
            found.setdefault(text, []).append(" ".join(map(str, where)))

    for path in (tmp_path / "sea.zarr", write_ocean(tmp_path), write_events(tmp_path)):
        name, document = path.name, opened(path)
        settle()
        tabs, tree = window.centre.tabs, window.hierarchy.tree
        model, references = window.hierarchy.model, window.centre.references
        root = model.index(0, 0)
        for index in (root, *(model.index(row, 0, root) for row in range(min(model.rowCount(root), 3)))):
            tree.setCurrentIndex(index)
            settle()
            for number in range(tabs.count()):
                if tabs.isTabVisible(number):
                    tabs.setCurrentIndex(number)
                    look(name, index.data(), tabs.tabText(number))
        for dock, *_ in DOCKS:
            window.docks.raise_(dock)
            look(name, dock)
        tabs.setCurrentWidget(window.centre.references.parentWidget())
        rows = references.table.model().row_count()
        for row in (0, rows - 1):
            references.table.set_current(row)
            settle()
            look(name, row)
            texts = [label.text() for label in window.editors.findChildren(QLabel) if label.isVisible()]
            is_chunk = "This key is a chunk of the store, and stays as it is." in texts
            assert is_chunk == (row > 0 and path.is_dir())
            for action in TRIGGERED:
                if not window.actions_[action].isEnabled():
                    continue
                window.actions_[action].trigger()
                settle()
                look(name, row, action)
                for dialog in window.findChildren(QDialog):
                    dialog.reject()
                new = window.editors.findChild(QLineEdit, "urlPrefixNew")
                if action == "replace_prefix" and new is not None:
                    QTest.keyClicks(new, "x")
                    settle()
                    look(name, row, "typed")
        window.documents.close(document)
    assert not found, found
