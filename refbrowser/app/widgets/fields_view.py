"""The fields of one message or expression, as names and values that are unfolded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import ThemedItem, plain_label, tool_button
from refbrowser.views.words import one_line
from refbrowser.words import count_text

#: Rows that are made in all, and below one field.
ROWS_MOST, BELOW_MOST = 5_000, 500
#: Bytes that are shown of one field.
_BYTES_SHOWN = 32
#: So many plain fields stand in one row.
_IN_A_ROW = 3
#: Fields with so few rows below them are open at first.
_OPEN_BELOW = 12


class FieldsView(QTreeWidget):
    """Names and values, folded where there are many."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageFields")
        self.setAccessibleName("Fields of the message")
        self.setUniformRowHeights(True)
        self.setColumnCount(2)
        self.setHeaderLabels(["Field", "Value"])
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        self.header().setMinimumSectionSize(40)
        self.header().resizeSection(0, 104)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setIndentation(12)
        self.setMinimumSize(120, 60)
        self._left = 0

    def show_fields(self, fields: Any) -> None:
        """Show the fields of a message; nested values are mappings and sequences."""
        self.clear()
        self._left = ROWS_MOST
        title, shown = "Field", fields
        if isinstance(fields, Mapping) and len(fields) == 1:
            name, only = next(iter(fields.items()))
            if isinstance(only, Mapping):
                # What kind of message it is stands over its fields.
                title, shown = f"Field of {name}", only
        self.setHeaderLabels([title, "Value"])
        self._add(self.invisibleRootItem(), shown)

    def say(self, text: str) -> None:
        """Show a sentence in their place."""
        self.clear()
        if text:
            self._row(self.invisibleRootItem(), text, "", muted=True).setFirstColumnSpanned(True)

    def lines(self) -> list[str]:
        """Return all rows as text, indented; for tests and for copying."""

        def below(item: QTreeWidgetItem, depth: int) -> Iterator[str]:
            for child in (item.child(at) for at in range(item.childCount())):
                assert child is not None
                yield f"{'  ' * depth}{child.text(0)}  {child.text(1)}".rstrip()
                yield from below(child, depth + 1)

        return list(below(self.invisibleRootItem(), 0))

    def _add(self, parent: QTreeWidgetItem, value: Any) -> None:
        entries = list(_entries(value))
        for name, each in entries[:BELOW_MOST]:
            if self._left <= 0:
                return
            if _is_nested(each):
                row = self._row(parent, name, _summary(each))
                self._add(row, each)
                row.setExpanded(row.childCount() <= _OPEN_BELOW)
            else:
                self._row(parent, name, _checksum(each) if name == "crc32" else value_words(each))
        if len(entries) > BELOW_MOST:
            self._row(parent, f"and {count_text(len(entries) - BELOW_MOST)} more", "", muted=True)

    def _row(self, parent: QTreeWidgetItem, name: str, value: str, *, muted: bool = False) -> QTreeWidgetItem:
        self._left -= 1
        row = ThemedItem([one_line(name), one_line(value)])
        row.setSizeHint(0, QSize(0, theme.ROW))
        row.setFont(1, theme.mono_font(-0.5))
        row.setToolTip(1, theme.plain_tooltip(value))
        if muted:
            row.color(0, "muted")
        parent.addChild(row)
        return row


def value_words(value: Any) -> str:
    """Return one value as text: bytes as hex, texts as they are, a few fields side by side."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {value_words(each)}" for name, each in value.items())
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value[:_BYTES_SHOWN])
        more = f" … {count_text(len(value))} bytes" if len(value) > _BYTES_SHOWN else ""
        return data.hex(" ") + more
    return "" if value is None else str(value)


def _checksum(value: Any) -> str:
    """Return a checksum as the table of messages has it."""
    return f"{value:08x}" if isinstance(value, int) else value_words(value)


def _is_nested(value: Any) -> bool:
    """Tell whether a value has rows of its own; a few plain ones stand in one row."""
    if isinstance(value, Mapping):
        return len(value) > _IN_A_ROW or any(_is_collection(each) for each in value.values())
    return _is_collection(value)


def _is_collection(value: Any) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(
        value, str | bytes | bytearray | memoryview
    )


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((str(name), each) for name, each in value.items())
    elif isinstance(value, Sequence):
        yield from ((f"[{at}]", each) for at, each in enumerate(value))


def _summary(value: Any) -> str:
    """Return in a few words what is below a field: its name where it has one, or how many there are."""
    if isinstance(value, Mapping):
        name = value.get("name", value.get("varName"))
        return name if isinstance(name, str) else ""
    if len(value) <= 8 and not any(isinstance(each, Mapping) or _is_nested(each) for each in value):
        return ", ".join(map(value_words, value))
    return count_text(len(value))


class FieldsPane(QWidget):
    """One message; it can be closed.

    Signals
    -------
    closed()
        It is wanted no longer.
    """

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageFieldsPane")
        self._title = plain_label("", role="paneTitle", wrap=False)
        self.close_button = tool_button("messageFieldsCloseButton", "Close the fields of the message", "×")
        self._note = plain_label("", role="fault")
        self._note.setObjectName("messageNote")
        self.view = FieldsView()
        head = QHBoxLayout()
        head.setSpacing(theme.SMALL)
        head.addWidget(self._title, 1)
        head.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(head)
        layout.addWidget(self._note)
        layout.addWidget(self.view, 1)
        self.setMinimumWidth(150)
        self.close_button.clicked.connect(lambda _checked=False: self.closed.emit())

    def set_message(self, message: int, note: str) -> None:
        """Say which message it is, and what is wrong with it; empty where nothing is."""
        self._title.setText(f"Message {count_text(message)}")
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def note(self) -> str:
        """Return what is said to be wrong."""
        return self._note.text()
