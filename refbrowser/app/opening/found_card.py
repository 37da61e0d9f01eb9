"""What the centre shows for a file that is no reference document: what it is, and what to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from refbrowser.app import theme
from refbrowser.app.cards import Card, error_kind, error_text
from refbrowser.app.plain_text import one_line

if TYPE_CHECKING:
    from refbrowser.formats.sniffing import Found

_WIDTH = 760
#: Lines of the box that are seen at once.
_LINES = 14
OPENABLE = (
    "What can be opened: reference documents of Version 0 and 1 as JSON (plain, .gz, .zst), folders in the "
    "parquet form, Zarr and NCZarr stores, ncstream, and Awkward 0 as .awkd, HDF5 or a folder of blobs."
)


class FoundCard(Card):
    """Says what a file is that holds no references, with lines of Python or its first bytes.

    Signals
    -------
    retry()
        Read it again.
    openPaths(list)
        Open these documents of the folder instead.
    """

    retry = Signal()
    openPaths = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("document", "", "", parent)
        self.setObjectName("card")
        self.setMaximumWidth(_WIDTH)
        self._paths: list[str] = []
        self._report = ""
        self._lines = QPlainTextEdit()
        self._lines.setObjectName("foundLines")
        self._lines.setReadOnly(True)
        self._lines.setTabChangesFocus(True)
        self._lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._lines.setFont(theme.mono_font())
        self.add_widget(self._lines)
        self._open = self.add_button("Open", "foundOpenButton", lambda: self.openPaths.emit(self._paths))
        self._retry = self.add_button("Try again", "foundRetryButton", self.retry.emit)
        self._copy = self.add_button("Copy", "foundCopyButton", self._copy_lines, default=True)

    def set_found(self, path: str, error: BaseException, found: Found) -> None:
        """Show what was found at a path, and the error that opening it gave."""
        from refbrowser.formats.making import made_path, python_lines
        from refbrowser.formats.sniffing import FileKind, hex_lines

        name = one_line(path.rstrip("/").rsplit("/", 1)[-1] or path)
        self._paths = [f"{path.rstrip('/')}/{document}" for document in found.documents]
        if found.is_data:
            heading = f"{name} holds data, not references"
            what = f"{_article(found.kind)}{'' if found.kind is FileKind.ZARR else ' file'}"
            made = made_path(found.kind, path)
            where = " beside it" if made else ""
            text = (
                f"It is {what}. These lines of Python make a reference document{where}, "
                "which can be opened here; the data stays where it is."
            )
            self._paths = [] if made is None else [made]
            lines, described, verb = python_lines(found.kind, path), "Lines of Python", "Copy lines"
        elif found.kind is FileKind.FOLDER:
            heading = f"{name} is a folder"
            count = len(self._paths)
            text = "It is not the parquet form of references. " + (
                f"{count} file{'' if count == 1 else 's'} in it may be reference documents."
                if count
                else f"There are no reference documents in it.\n{OPENABLE}"
            )
            lines, described, verb = "\n".join(map(one_line, found.documents)), "Files", "Copy names"
        else:
            heading = f"{name} is not a reference document"
            text = f"{_kind_words(found.kind)}{error_text(error)}\n{OPENABLE}"
            lines, described, verb = "\n".join(hex_lines(found.head)), "First bytes", "Copy"
        self.set_content("document" if found.is_data else "warning", heading, text, _role(found))
        self._show_lines(lines, described)
        self._report = (
            lines if found.is_data or self._paths else f"{heading}\n{error_kind(error)}: {text}\n{lines}"
        )
        self._copy.setText(verb)
        self._open.setVisible(bool(self._paths))
        several = f"Open {len(self._paths)} documents" if len(self._paths) > 1 else "Open it"
        self._open.setText("Open what they made" if found.is_data else several)
        self._open.setDefault(bool(found.documents))
        self._copy.setDefault(not found.documents)

    def lines(self) -> str:
        """Return the lines shown below the words."""
        return self._lines.toPlainText()

    def _show_lines(self, lines: str, described: str) -> None:
        self._lines.setVisible(bool(lines))
        self._lines.setAccessibleName(described)
        self._lines.setPlainText(lines)
        metrics = QFontMetrics(self._lines.font())
        shown = min(_LINES, lines.count("\n") + (0 if lines.endswith("\n") else 1))
        self._lines.setFixedHeight((shown + 1) * metrics.lineSpacing() + theme.HUGE)

    def _copy_lines(self) -> None:
        QGuiApplication.clipboard().setText(self._report)


def _role(found: Found) -> str:
    return "accent" if found.is_data else "warning"


def _kind_words(kind: str) -> str:
    from refbrowser.formats.sniffing import FileKind

    if kind in (FileKind.UNKNOWN, FileKind.TEXT, FileKind.EMPTY):
        return {FileKind.EMPTY: "The file is empty. "}.get(FileKind(kind), "")
    return f"It looks like {_article(kind)}. "


def _article(kind: str) -> str:
    return f"{'an' if kind.startswith('HDF') else 'a'} {kind}"
