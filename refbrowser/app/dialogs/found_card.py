"""What the centre shows for a file that is no reference document: what it is, and what to do with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import Card, error_kind, error_text
from refbrowser.errors import RefbrowserError
from refbrowser.formats.sniffing import ENTRIES, NAMED
from refbrowser.io.origins import server_of, split_url
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_plain, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.formats.lead import Lead
    from refbrowser.formats.sniffing import Found

_WIDTH = 760
#: Lines of the box that are seen at once.
_LINES = 14
#: Documents that are offered at most.
_OFFERED = 5


class FoundCard(Card):
    """Says what a file is that holds no references, with lines of Python or its first bytes.

    Signals
    -------
    retry()
        Read it again.
    openPaths(list)
        Open these documents instead.
    referencesWanted(bool)
        Look for references to the file of data that is shown, to offer them; true: to open what was made.
    combineWanted(list), makeWanted(list)
        Make one dataset of the files of data in a folder, or references of each.
    leadWanted(object)
        Make one dataset of the files that the file names: a `Lead`.
    """

    retry = Signal()
    openPaths = Signal(list)
    referencesWanted = Signal(bool)
    combineWanted = Signal(list)
    makeWanted = Signal(list)
    leadWanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("document", "", "", parent)
        self.setObjectName("card")
        self.setMaximumWidth(_WIDTH)
        self._paths: list[str] = []
        #: Files of data in a folder.
        self._data: list[str] = []
        #: What the file names.
        self._lead: Lead | None = None
        self._made = ""
        self._said = ""
        self._report = ""
        self._lines = QPlainTextEdit()
        self._lines.setObjectName("foundLines")
        self._lines.setReadOnly(True)
        self._lines.setTabChangesFocus(True)
        self._lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._lines.setFont(theme.mono_font())
        self.add_widget(self._lines)
        self._combine = self.add_button("Combine into one…", "foundCombineButton", self._combine_clicked)
        self._make = self.add_button(
            "Make references…", "foundMakeButton", lambda: self.makeWanted.emit(self._data)
        )
        self._open = self.add_button("Open", "foundOpenButton", self._open_clicked)
        self._retry = self.add_button("Try again", "foundRetryButton", self.retry.emit)
        self._copy = self.add_button("Copy", "foundCopyButton", self._copy_lines, default=True)

    def set_found(self, path: str, error: BaseException, found: Found) -> None:
        """Show what was found at a path, and the error that opening it gave."""
        from refbrowser.formats.python_lines import made_path, python_lines
        from refbrowser.formats.sniffing import FileKind, hex_lines

        name = one_line(path.rstrip("/").rsplit("/", 1)[-1] or path)
        self._paths = [f"{path.rstrip('/')}/{document}" for document in found.documents]
        self._data = [f"{path.rstrip('/')}/{data}" for data in _data_in(found)]
        self._lead = lead = found.lead if found.lead is not None and found.lead.best is not None else None
        if found.is_data:
            heading = f"{name} holds data, not references"
            what = f"{_article(found.kind)}{'' if found.kind is FileKind.ZARR else ' file'}"
            made = made_path(found.kind, path)
            where = " beside it" if made else ""
            text = (
                f"It is {what}. These lines of Python make a reference document{where}, "
                "which can be opened here; the data stays where it is."
            )
            self._made, self._said = made or "", text
            lines, described, verb = python_lines(found.kind, path), "Lines of Python", "Copy lines"
        elif found.kind is FileKind.FOLDER:
            heading, text = f"{name} is a folder", _folder_words(found, len(self._data))
            listed = found.names if self._data else found.documents
            lines, described, verb = "\n".join(map(one_line, listed[:NAMED])), "Files", "Copy names"
        elif lead is not None:
            heading, text = (
                f"{name} names {counted_plain(len(lead.sources), 'file')}",
                _lead_words(found, lead),
            )
            self._paths = [] if lead.is_one or lead.best is None else [lead.best.url]
            lines = "\n".join(map(one_line, islice(lead.lines(), NAMED)))
            described, verb = "Files", "Copy names"
        else:
            heading = f"{name} cannot be opened"
            empty = "The file is empty. " if found.kind is FileKind.EMPTY else ""
            text = f"{empty}{error_text(error)}\n{_openable()}"
            lines, described, verb = "\n".join(hex_lines(found.head)), "First bytes", "Copy"
        is_known = found.is_data or bool(self._data) or lead is not None
        self.set_content(
            "document" if is_known else "warning", heading, text, "accent" if is_known else "warning"
        )
        self._show_lines(lines, described)
        self._report = (
            lines if found.is_data or self._paths else f"{heading}\n{error_kind(error)}: {text}\n{lines}"
        )
        self._copy.setText(verb)
        self._open.setVisible(bool(self._paths or (found.is_data and self._made)))
        one = f"Open {one_line(found.documents[0])}" if self._data and found.documents else "Open it"
        several = f"Open {len(self._paths)} documents" if len(self._paths) > 1 else one
        self._open.setText("Open the result" if found.is_data else several)
        if lead is not None and lead.best is not None:
            self._open.setText(
                f"Open {one_line(lead.best.name or lead.best.url.rstrip('/').rpartition('/')[2])}"
            )
        is_one = lead is not None and lead.is_one
        self._combine.setVisible(bool(self._data) or is_one)
        self._make.setVisible(bool(self._data))
        # There is room for three.
        for button in (self._retry, self._copy):
            button.setVisible(not self._data)
        self._combine.setDefault(bool(self._data) or is_one)
        self._open.setDefault(bool(self._paths) and not self._data)
        self._copy.setDefault(not self._paths and not self._data and not is_one)
        if found.is_data and "://" not in path:
            self.referencesWanted.emit(False)

    def set_references(self, opened: Sequence[str], beside: Sequence[str], *, to_open: bool) -> None:
        """Offer the references to the file that are open or lie beside it; open them where that is wanted.

        Parameters
        ----------
        opened, beside
            Paths of documents.
        to_open
            What was just made is to be opened: where there is nothing, it is said.
        """
        self._paths = [*opened, *(path for path in beside if path not in opened)][:_OFFERED]
        names = ", ".join(one_line(os.path.basename(path)) for path in self._paths)
        if to_open and self._paths:
            self.openPaths.emit(self._paths)
        elif to_open:
            missing = one_line(os.path.basename(self._made))
            self.set_note(f"{missing} is not there yet. Run the lines below in Python first.")
        elif opened:
            self.set_note(f"Reference documents of it that are open: {names}.")
            self._open.setText(plural(len(self._paths), "Show it", "Show them"))
        elif beside:
            self.set_note(f"Reference documents beside it: {names}.")
            self._open.setText("Open them" if len(self._paths) > 1 else f"Open {names}")
        self._open.setVisible(bool(self._paths or self._made))
        self._open.setDefault(bool(self._paths))
        self._copy.setDefault(not self._paths)

    def set_note(self, note: str) -> None:
        """Say something of the file of data before what is always said of it."""
        self.set_content("document", self.heading(), f"{note}\n{self._said}")

    def _combine_clicked(self) -> None:
        if self._lead is not None:
            self.leadWanted.emit(self._lead)
        else:
            self.combineWanted.emit(self._data)

    def _open_clicked(self) -> None:
        if self._paths:
            self.openPaths.emit(self._paths)
        else:
            self.referencesWanted.emit(True)

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


def _openable() -> str:
    from refbrowser.formats.registry import openable

    *most, last = (each.holds for each in openable() if each.suffixes)
    return f"What can be opened: {', '.join(most)}, and {last}."


def _data_in(found: Found) -> list[str]:
    """Return the names of files of data in a folder, by what they end with."""
    from refbrowser.formats.registry import data_suffixes

    suffixes = data_suffixes()
    return [name for name in found.names if name.lower().endswith(suffixes)]


def _folder_words(found: Found, data: int) -> str:
    """Return what is in a folder, and what can be done with it."""
    documents, first = (
        len(found.documents),
        f"its first {count_text(ENTRIES)} entries" if found.is_cut else "it",
    )
    lines = []
    if data:
        files = counted_spaced(data, "file of data is", "files of data are")
        lines.append(
            f"{files} in {first}. Combine joins them into one dataset along a dimension; "
            "Make references writes a document for each. The files stay as they are."
        )
    if documents:
        lines.append(f"{counted_plain(documents, 'file')} in it may be reference documents.")
    if not lines:
        lines = [f"There are no files of data and no reference documents in {first}.", _openable()]
    return "\n".join(lines)


def _lead_words(found: Found, lead: Lead) -> str:
    """Return what a file is that names others, where these are, and what is not followed."""
    places = list(dict.fromkeys(map(_place_of, (each.url for each in lead.sources))))
    more = f" and {len(places) - _OFFERED} more" if len(places) > _OFFERED else ""
    what = "Combine joins them into one dataset" if lead.is_one else "Open what is to be seen"
    # What was tried with them is told below.
    read = "" if lead.why else "; nothing of them was read yet"
    lines = [
        f"It is {_article(found.kind)}, without arrays of its own. {what}{read}.",
        f"They are in {', '.join(map(one_line, places[:_OFFERED]))}{more}.",
        *([f"It is not opened by itself: {one_line(lead.why)}."] if lead.why else ()),
        *_opened_from(lead),
        *(f"Not followed: {one_line(each)}." for each in lead.unsaid[:_OFFERED]),
    ]
    return "\n".join(lines)


def _opened_from(lead: Lead) -> Iterator[str]:
    """Yield where the button reads from that opens one of the files."""
    if lead.best is not None and not lead.is_one:
        yield f"The button reads from {one_line(_place_of(lead.best.url))}."


def _place_of(url: str) -> str:
    """Return the folder of a path, or the server or bucket of a URL: addresses as they are looked up."""
    server = server_of(url)
    if server is None:
        return os.path.dirname(url)
    try:
        return str(split_url(server).origin)
    except RefbrowserError:
        return server


def _article(kind: str) -> str:
    return f"{'an' if kind.startswith(('HDF', 'Nc')) else 'a'} {kind}"
