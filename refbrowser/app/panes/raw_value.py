"""The raw value of any key: as text, as pretty JSON, or as hex."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QShowEvent, QTextCursor
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import Card, ErrorCard, centred
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import one_shot, plain_label
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.views.rows import Column, NoRows
from refbrowser.words import size_text

WIDTH = 16
HEX_COLUMNS = (Column("Offset", 110, right=True), Column("Bytes", 400), Column("Characters", 160, 1))


class HexRows:
    """A row model over bytes."""

    columns = HEX_COLUMNS

    def __init__(self, data: bytes) -> None:
        self._data = data

    def row_count(self) -> int:
        """Return the number of rows."""
        return -(-len(self._data) // WIDTH)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows `start` to `stop`."""
        return [self._row(row * WIDTH) for row in range(start, stop)]

    def _row(self, offset: int) -> list[str]:
        part = self._data[offset : offset + WIDTH]
        characters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in part)
        return [f"{offset:08x}", f"{part[:8].hex(' ')}  {part[8:].hex(' ')}", characters]


#: Text of this many characters is shown; the rest is counted.
TEXT_SHOWN = 500_000
#: A longest value that is laid out as JSON.
JSON_SHOWN = 2_000_000


#: A line of more characters is shown as several: to lay out one of 500,000 takes Qt up to some ten seconds.
LINE_SHOWN = 4_000
#: Characters that are put into the field at once: 10 ms where lines are short.
AT_ONCE = 50_000
#: After these Qt begins another line.
_LINE_ENDS = re.compile("\r\n|[\n\r\u2029\ufdd0\ufdd1]")


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text in lines of bounded length.

    Attributes
    ----------
    portions
        What is put into the field one after the other: whole lines.
    broken
        Numbers of the lines that go on in the next one.
    """

    portions: tuple[str, ...] = ()
    broken: frozenset[int] = frozenset()

    @classmethod
    def of(cls, text: str) -> ShownText:
        """Return a text as it is shown."""
        lines: list[str] = []
        broken: list[int] = []
        portions: list[str] = []
        first = size = 0
        for line in _LINE_ENDS.split(text):
            for some in _cut_line(line):
                if size > AT_ONCE:
                    portions.append("\n".join(lines[first:]))
                    first, size = len(lines), 0
                lines.append(some)
                size += len(some) + 1
                broken.append(len(lines) - 1)
            broken.pop()
        portions.append("\n".join(lines[first:]))
        return cls(tuple(portions), frozenset(broken))


def _cut_line(line: str) -> Iterator[str]:
    """Yield a line as several of bounded length, each to the end of a word where there is one."""
    start = 0
    while len(line) - start > LINE_SHOWN:
        stop = line.rfind(" ", start + LINE_SHOWN // 2, start + LINE_SHOWN) + 1 or start + LINE_SHOWN
        yield line[start:stop]
        start = stop
    yield line[start:]


class LongText(QPlainTextEdit):
    """Text that cannot be edited, of any length: it is there from the top, the rest comes a little later."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self._shown = ShownText()
        self._there = 0
        self._soon = one_shot(self, 0, self._add)

    def show_text(self, text: ShownText) -> None:
        """Show another text from its top."""
        self._soon.stop()
        self._shown, self._there = text, 1
        self.setPlainText("".join(text.portions[:1]))
        if len(text.portions) > 1:
            self._soon.start()

    def _add(self) -> None:
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(f"\n{self._shown.portions[self._there]}")
        self._there += 1
        if self._there < len(self._shown.portions):
            self._soon.start()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return what is copied: long lines as one."""
        cursor, texts = self.textCursor(), []
        start, stop = cursor.selectionStart(), cursor.selectionEnd()
        block = self.document().findBlock(start)
        while block.isValid() and block.position() <= stop:
            cursor.setPosition(max(start, block.position()))
            end = block.position() + block.length() - 1
            cursor.setPosition(min(stop, end), QTextCursor.MoveMode.KeepAnchor)
            texts.append(cursor.selectedText())
            if stop > end and block.blockNumber() not in self._shown.broken:
                texts.append("\n")
            block = block.next()
        data = QMimeData()
        data.setText("".join(texts))
        return data


class View(StrEnum):
    """The ways to look at a value."""

    TEXT = "text"
    JSON = "json"
    HEX = "hex"


class RawValuePane(QWidget):
    """Reads a key when it is looked at, and shows its stored bytes.

    Signals
    -------
    permissionWanted()
        The bytes lie where the document may not read yet, and the user wants to see the sheet.
    """

    permissionWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: OpenDocument | None = None
        self._key: str | None = None
        self._reading = Latest(self, "raw")
        self._data = b""
        self._texts: dict[View, ShownText] = {}
        self._read = False
        self._title = ElidedLabel("rawTitle", role="muted", elide=Qt.TextElideMode.ElideMiddle)
        self._title.setMargin(theme.SMALL)
        self._size = plain_label("", role="muted", wrap=False)
        self._buttons = self._make_buttons()
        self._text = LongText()
        self._text.setObjectName("rawText")
        self._text.setAccessibleName("Raw value as text")
        self._text.setProperty("role", "bare")
        self._text.setFont(theme.mono_font())
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._hex = VirtualTable()
        self._hex.setObjectName("rawHex")
        self._hex.setAccessibleName("Raw value as hex")
        self._hex.set_model(NoRows(HEX_COLUMNS))
        self._hex.set_placeholder("The value is empty: no bytes.")
        self._card = Card("key", "No key selected", "Select a key in the references to see its stored bytes.")
        self._error = ErrorCard()
        self._permit = self._error.add_button(
            "Permissions…", "rawPermissionButton", self.permissionWanted.emit
        )
        self._error.retry.connect(self._start)
        self._pages = QStackedWidget()
        self._card_page, self._error_page = centred(self._card), centred(self._error)
        for page in (self._card_page, self._error_page, self._text, self._hex):
            self._pages.addWidget(page)
        head = QHBoxLayout()
        head.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, 0)
        head.setSpacing(theme.MEDIUM)
        head.addWidget(self._title, 1)
        head.addWidget(self._size)
        for button in self._buttons.buttons():
            head.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(head)
        layout.addWidget(self._pages, 1)
        self.clear()

    def _make_buttons(self) -> QButtonGroup:
        group = QButtonGroup(self)
        group.setExclusive(True)
        for view, title in ((View.TEXT, "Text"), (View.JSON, "JSON"), (View.HEX, "Hex")):
            button = QPushButton(title)
            button.setObjectName(f"raw{title}Button")
            button.setAccessibleName(f"Show as {title}")
            button.setCheckable(True)
            button.clicked.connect(lambda _checked=False, view=view: self.show_as(view))
            group.addButton(button)
        return group

    # What is shown

    def page(self) -> QWidget | None:
        """Return what is in front: the value as text or hex, or why it is not shown."""
        return self._pages.currentWidget()

    def clear(self) -> None:
        """Show no key."""
        self._document, self._key = None, None
        self._stop_showing("No key selected", "Select a key in the references to see its stored bytes.")
        self._title.set_text("")

    def set_key(self, document: OpenDocument, key: str) -> None:
        """Show a key of a document; it is read as soon as the pane is seen."""
        self._document, self._key = document, key
        self._title.set_text(key)
        self._stop_showing("Reading…", key)
        if self.isVisible():
            self._start()

    def refresh(self) -> None:
        """Read the key again, after the document or a permission changed."""
        if self._document is not None and self._key is not None:
            self.set_key(self._document, self._key)

    def key(self) -> str | None:
        """Return the key that is shown, or None."""
        return self._key

    def data(self) -> bytes:
        """Return the bytes that are shown."""
        return self._data

    def show_as(self, view: View) -> None:
        """Show the value in another way."""
        for button in self._buttons.buttons():
            button.setChecked(button.text().casefold() == view)
        if view is View.HEX:
            self._hex.set_model(HexRows(self._data))
            self._pages.setCurrentWidget(self._hex)
        elif view in self._texts:
            self._text.show_text(self._texts[view])
            self._pages.setCurrentWidget(self._text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._key is not None and not self._read:
            self._start()

    # Reading

    def _stop_showing(self, heading: str, text: str) -> None:
        self._reading.cancel()
        self._read = False
        self._data, self._texts = b"", {}
        self._size.setText("")
        for button in self._buttons.buttons():
            button.setEnabled(False)
        self._card.set_content("key", heading, text)
        self._pages.setCurrentWidget(self._card_page)

    def _start(self) -> None:
        document, key = self._document, self._key
        if document is None or key is None or document.dataset is None:
            return
        self._read = True
        dataset = document.dataset

        def read(control: TaskControl) -> tuple[bytes, dict[View, ShownText]]:
            data = dataset.read_key(key, control.token)
            return data, texts_of(data)

        self._reading.run(document, f"Read {key[:80]}", read, self._show, self._failed)

    def _show(self, result: tuple[bytes, dict[View, ShownText]]) -> None:
        self._data, self._texts = result
        self._size.setText(size_text(len(self._data)))
        for button in self._buttons.buttons():
            view = View(button.text().casefold())
            button.setEnabled(view is View.HEX or view in self._texts)
        first = next((view for view in (View.JSON, View.TEXT) if view in self._texts), View.HEX)
        self.show_as(first)

    def _failed(self, error: BaseException) -> None:
        self._error.set_error("The value could not be read", error)
        self._permit.setVisible(getattr(error, "kind", "") == "E_BLOCKED")
        self._pages.setCurrentWidget(self._error_page)


def texts_of(data: bytes) -> dict[View, ShownText]:
    """Return how bytes read as text and as JSON, where they do."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return {}
    if any(ord(character) < 32 and character not in "\t\n\r" for character in text[:4096]):
        return {}
    texts = {View.TEXT: _cut(text)}
    if len(text) <= JSON_SHOWN and text.lstrip()[:1] in ("{", "["):
        try:
            texts[View.JSON] = _cut(json.dumps(json.loads(text), indent=2, ensure_ascii=False))
        except (ValueError, RecursionError):
            return texts
    return texts


def _cut(text: str) -> ShownText:
    if len(text) <= TEXT_SHOWN:
        return ShownText.of(text)
    return ShownText.of(f"{text[:TEXT_SHOWN]}\n… {len(text) - TEXT_SHOWN} more characters: see Hex")
