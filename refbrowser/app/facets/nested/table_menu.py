"""The menu over the rows of nested values."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction

from refbrowser.app.facets.nested.nested_table import NestedTable
from refbrowser.app.widgets.parts import pop_up, separator


def add_menu(table: NestedTable, copy: Callable[[], object]) -> None:
    """Give a table its menu; `copy` puts the selected values on the clipboard."""
    _add(table, "nestedCopyAction", "&Copy as JSON", copy)
    separator(table)
    _add(table, "nestedUnfoldAction", "&Unfold one level more", table.unfold_current)
    _add(table, "nestedFoldAction", "&Fold all rows", table.fold_all)

    def show(place: QPoint) -> None:
        if table.current() is not None:
            pop_up(table, table.viewport().mapToGlobal(place))

    table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    table.customContextMenuRequested.connect(show)


def _add(table: NestedTable, name: str, text: str, work: Callable[[], object]) -> None:
    action = QAction(text, table)
    action.setObjectName(name)
    action.triggered.connect(lambda _checked=False: work())
    table.addAction(action)
