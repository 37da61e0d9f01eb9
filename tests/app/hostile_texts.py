"""A document whose every text is hostile, and a look at every text that a window shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QTabBar,
    QTextEdit,
    QWidget,
)

#: What is markup where it is taken for some, and what no label may show as it is.
MARKUP = '<img src="zqx.png"><b>zqx</b>'
BIDI, NUL, BELL, FEED = "\u202e", "\0", "\a", "\u2028"
NASTY = f"{MARKUP}&zqx\n\r\"'\\{BIDI}{BELL}{FEED}\u200b%s{{0}}[*]"
#: Far longer than any text that is shown.
LENGTH = 20_000
LONG = NASTY + "w" * LENGTH
#: No text makes a window wider or higher than this at least: the main window, and a dialog.
WINDOW_LEAST, DIALOG_LEAST = (640, 400), (900, 560)
#: What is no printable character to Python, and seen all the same.
KEPT = "\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
#: Characters that text of one line has at most, and that of several: an error with advice, a list of names.
LINE, LINES = 1_000, 4_000


def hostile_document(path: Path, arrays: str = "abcd") -> Path:
    """Write a document with such text wherever it has any; its arrays can be read without a server."""
    name = MARKUP.replace("/", "|") + "\u202e&'\"\\\n"
    attributes = {
        "_ARRAY_DIMENSIONS": [NASTY, LONG],
        "units": NASTY,
        "long_name": LONG,
        "standard_name": NASTY,
        "calendar": NASTY,
        "coordinates": f"{NASTY} {LONG}",
        "flag_values": [0, 1, 2],
        "flag_meanings": f"{MARKUP.replace(' ', '_')}{BIDI} {'w' * LENGTH} &c",
        "grid_mapping": LONG,
        NASTY: LONG,
        "w" * LENGTH: [NASTY, {NASTY: NASTY}],
        "nul": f"a{NUL}b",
    }
    array = {"zarr_format": 2, "shape": [3, 4], "chunks": [3, 4], "dtype": "|u1", "fill_value": 0}
    array |= {"order": "C", "compressor": None, "filters": None}
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps(attributes)}
    for letter in arrays:
        here = {**attributes}
        if letter == "b":
            del here["flag_values"], here["flag_meanings"]
        if letter == "c":
            array |= {"dtype": "|S8"}
        if letter == "d":
            # Structured: names of fields are text too.
            array |= {"dtype": [[MARKUP, "|u1"], ["w" * 4000, "|u1"]], "fill_value": None}
        refs[f"{letter}{name}/.zarray"] = json.dumps(array)
        refs[f"{letter}{name}/.zattrs"] = json.dumps(here)
        refs[f"{letter}{name}/0.0"] = "base64:" + "AAECAwAB" * (
            16 if letter == "c" else 2 + 2 * (letter == "d")
        )
    refs[f"far{name}/.zarray"] = json.dumps({**array, "dtype": "|u1", "fill_value": 0})
    refs[f"far{name}/0.0"] = [f"https://zqx.example/{MARKUP}{BIDI}&{'w' * 4000}", 0, 12]
    refs["odd/.zarray"] = LONG
    refs[NASTY] = NASTY
    refs["long" + "w" * 4_000] = LONG
    refs["nul"] = NUL
    refs["url"] = [f"{MARKUP}://{BIDI}zqx", 0, 5]
    templates = {"t": NASTY, "zqx_long": "w" * 60_000, MARKUP: MARKUP, "f": "{{c}}" + MARKUP}
    rule = {
        "key": "gen" + MARKUP + BIDI + "{{" + "i}}",
        "url": "{{t}}" + NASTY,
        "offset": "{{i}}" + MARKUP,
        "length": "1",
        "dimensions": {"i": {"stop": 3}},
    }
    good = {"key": f"good{MARKUP}{{{{i}}}}", "url": f"{MARKUP}{BIDI}", "dimensions": {"i": {"stop": 3}}}
    text = {"version": 1, "templates": templates, "gen": [rule, good], "refs": refs, MARKUP: NASTY}
    path.write_text(json.dumps(text))
    return path


def complaints(root: QWidget) -> list[str]:
    """Return what the widgets below `root` show that is markup, too long, or not visible as it is.

    And whether a window cannot be made small.
    """
    found = []
    least, size = root.minimumSizeHint(), WINDOW_LEAST if isinstance(root, QMainWindow) else DIALOG_LEAST
    if root.isWindow() and (least.width() > size[0] or least.height() > size[1]):
        found.append(f"too large: {type(root).__name__} {root.objectName()}: {least.toTuple()}")
    for where, text, most, is_plain in _texts(root):
        # Most texts were looked at before: those that are as they should be are told by what they are alone.
        if (text, most, is_plain) in _fine:
            continue
        words = list(_faults(text, most, is_plain))
        if not words:
            _fine.add((text, most, is_plain))
        found += [f"{start}: {where}: {end}" for start, end in words]
    return sorted(set(found))


#: Texts in which nothing was wrong, with how long they may be, and whether Qt shows them as they are.
_fine: set[tuple[str, int, bool]] = set()


def _faults(text: str, most: int, is_plain: bool) -> Iterator[tuple[str, str]]:
    if "zqx" in text and not is_plain and "<img" in text.lower():
        yield "markup", f"{text[:200]!a}"
    if len(text) > most:
        yield f"{len(text)} characters", f"{text[:80]!a}"
    if not text.isprintable() and any(not c.isprintable() and c not in KEPT for c in text):
        yield "hidden", f"{text[:200]!a}"


def _texts(root: QWidget) -> Iterator[tuple[str, str, int, bool]]:
    """Yield where a text stands, the text, how long it may be, and whether Qt shows it as it is."""
    for widget in [root, *root.findChildren(QWidget)]:
        where = f"{type(widget).__name__} {widget.objectName()}"
        yield f"{where} tool tip", widget.toolTip(), LINES, False
        yield f"{where} name", widget.accessibleName(), LINE, True
        yield f"{where} description", widget.accessibleDescription(), LINES, True
        yield f"{where} title", widget.windowTitle(), LINE, True
        yield f"{where} status", widget.statusTip() + widget.whatsThis(), 0, False
        if isinstance(widget, QLabel):
            is_plain = widget.textFormat() == Qt.TextFormat.PlainText
            yield where, widget.text(), LINES, is_plain
        elif isinstance(widget, QAbstractButton):
            yield where, widget.text(), LINE, True
        elif isinstance(widget, QGroupBox):
            yield where, widget.title(), LINE, True
        elif isinstance(widget, QComboBox):
            for row in range(widget.count()):
                yield f"{where} {row}", widget.itemText(row), LINE, True
        elif isinstance(widget, QTabBar):
            for tab in range(widget.count()):
                yield where, widget.tabText(tab), LINE, True
                yield f"{where} tip", widget.tabToolTip(tab), LINE, False
        elif isinstance(widget, QLineEdit):
            yield f"{where} hint", widget.placeholderText(), LINE, True
        elif isinstance(widget, QTextEdit) and "zqx" in widget.toPlainText():
            # Markup that was taken for some is a picture, a character of its own.
            yield (
                where,
                widget.toPlainText(),
                200_000,
                "\N{OBJECT REPLACEMENT CHARACTER}" not in widget.toPlainText(),
            )
        elif isinstance(widget, QMenu):
            yield where, widget.title(), LINE, True
        if isinstance(widget, QAbstractItemView) and not isinstance(widget, QHeaderView):
            model = widget.model()
            if model is not None:
                yield from _cells(where, model)
    for action in root.findChildren(QAction):
        yield f"action {action.objectName()}", action.text(), LINE, True
        yield f"action {action.objectName()} tip", action.toolTip(), LINES, False
    for other in QApplication.topLevelWidgets():
        if other.isWindow() and other is not root:
            yield f"window {other.objectName()}", other.windowTitle(), LINE, True


def _cells(
    where: str, model: QAbstractItemModel, parent: QModelIndex | None = None, depth: int = 0
) -> Iterator[tuple[str, str, int, bool]]:
    parent = QModelIndex() if parent is None else parent
    for row in range(min(25, model.rowCount(parent))):
        for column in range(min(8, _columns(model, parent))):
            index = model.index(row, column, parent)
            for role, most, is_plain in (
                (Qt.ItemDataRole.DisplayRole, LINE, True),
                (Qt.ItemDataRole.ToolTipRole, LINES, False),
                (Qt.ItemDataRole.AccessibleTextRole, LINE, True),
                (Qt.ItemDataRole.AccessibleDescriptionRole, LINES, True),
            ):
                text = model.data(index, role)
                if isinstance(text, str):
                    yield f"{where} cell {row} {column} {role.name}", text, most, is_plain
        if depth < 4:
            yield from _cells(where, model, model.index(row, 0, parent), depth + 1)


def _columns(model: QAbstractItemModel, parent: QModelIndex) -> int:
    # Models of one column keep theirs to themselves.
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
