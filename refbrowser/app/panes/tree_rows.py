"""Rows of the tree that are of no open document: sets of files and files in them; the roles of all rows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont

from refbrowser.app.widgets import icons, theme
from refbrowser.engine.findings.listed_finding import Badge
from refbrowser.views.file_sets import FileSet
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import one_line

#: Document number, kind and place of a row.
Identity = tuple[int, str, str | int]

#: The roles of the muted text at the right of a row, of its `Badge`, of what changed, in words, and of where
#: in the name the filter's text stands (first letter, and the one behind the last).
DETAIL_ROLE = Qt.ItemDataRole.UserRole + 1
BADGE_ROLE = Qt.ItemDataRole.UserRole + 2
CHANGED_ROLE = Qt.ItemDataRole.UserRole + 3
MATCH_ROLE = Qt.ItemDataRole.UserRole + 4


@dataclass(slots=True, eq=False)
class FileRow:
    """A row of files that were opened together: the set, or one of its files that is not open."""

    number: int
    kind: ItemKind
    files: FileSet
    #: Path of the file; empty of the set.
    path: str
    parent: FileRow | None
    row: int
    #: Rows of files that are not open, and those of documents.
    children: list[Any] = field(default_factory=list)
    #: Files of the set that have no row yet, with their places in it.
    rest: list[tuple[int, str]] = field(default_factory=list)
    #: How many of these are open.
    opened: int = 0

    @property
    def identity(self) -> Identity:
        """What stays the same when the tree is made anew; sets have numbers below zero."""
        return -self.files.number, str(self.kind), self.path


def file_name(path: str) -> str:
    """Return what a file or URL is called."""
    return os.path.basename(path.rstrip("/")) or path


def match_in(name: str, text: str) -> tuple[int, int] | None:
    """Return where a text stands in a name."""
    first = name.casefold().find(text) if text else -1
    return None if first < 0 else (first, first + len(text))


def data_of(row: FileRow, role: int, text: str) -> Any:
    """Return what a row of a set, or of a file that is not open, shows for a role."""
    is_set = row.kind is ItemKind.SET
    name = row.files.title if is_set else one_line(file_name(row.path))
    mark = f"{row.opened} open" if is_set else row.files.marks.get(row.path, "not open")
    if role == Qt.ItemDataRole.DisplayRole:
        return name
    if role == DETAIL_ROLE:
        return mark
    if role == BADGE_ROLE:
        return Badge()
    if role == MATCH_ROLE:
        return None if is_set else match_in(name, text)
    if role == Qt.ItemDataRole.DecorationRole:
        return icons.icon("set" if is_set else "document", theme.colors().muted)
    if role == Qt.ItemDataRole.ForegroundRole and not is_set:
        return QColor(theme.colors().muted)
    if role == Qt.ItemDataRole.FontRole and is_set:
        font = QFont()
        font.setBold(True)
        return font
    if role == Qt.ItemDataRole.ToolTipRole:
        hint = "Press Return or double-click to open it"
        return theme.plain_tooltip(row.files.tip if is_set else f"{one_line(row.path)}\n{hint}")
    if role == Qt.ItemDataRole.AccessibleTextRole:
        return f"{row.kind} {name}, {mark}"
    return None
