"""Permissions: the bar that says what a document wants, and the sheet that lists it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import IconLabel, plain_label, push_button
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_plain, plural, size_text

if TYPE_CHECKING:
    from refbrowser.io.access.access import Want
    from refbrowser.io.origins import Origin

_KIND_WORDS = {
    "host": ("host", "hosts"),
    "bucket": ("bucket", "buckets"),
    "folder": ("local folder", "local folders"),
    "private": ("private address", "private addresses"),
    "package": ("package", "packages"),
}


def wants_text(wants: tuple[Want, ...]) -> str:
    """Return in one sentence what a document points to and may not read yet."""
    parts = []
    for kind, (one, many) in _KIND_WORDS.items():
        number = sum(1 for want in wants if want.kind == kind and not want.allowed and not want.package)
        if number:
            parts.append(counted_plain(number, one, many))
    packages = [one_line(want.package) for want in wants if want.package and not want.allowed]
    sentences = []
    if parts:
        told = f"This document points to {_listed(parts)}. Nothing is read from there until you allow it."
        sentences.append(told)
    if packages:
        named = f"the installed {plural(len(packages), *_KIND_WORDS['package'])} {_listed(packages)}"
        sentences.append(f"Arrays are decoded with codecs of {named}, which run once you allow it.")
    return " ".join(sentences)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def open_wants(document: OpenDocument | None) -> list[Want]:
    """Return what a document wants and may not read."""
    return [] if document is None else [want for want in document.wants if not want.allowed]


class TrustBar(QFrame):
    """The bar over the tabs; hidden while everything the document wants is allowed.

    Signals
    -------
    review()
        The user wants to see the sheet.
    allowed()
        Allow all of it, this time.
    """

    review = Signal()
    allowed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trustBar")
        self.setProperty("role", "trustStrip")
        self._text = plain_label("")
        self._text.setObjectName("trustText")
        self._review = push_button("Review…", "trustReviewButton", self.review.emit)
        self._allow = push_button("Allow this time", "trustAllowButton", self.allowed.emit)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("lock", "warning"))
        layout.addWidget(self._text, 1)
        layout.addWidget(self._review)
        layout.addWidget(self._allow)
        self.hide()

    def set_document(self, document: OpenDocument | None) -> None:
        """Say what this document wants."""
        wants = open_wants(document)
        self._text.setText(wants_text(tuple(wants)))
        # Private addresses and patterns need a look at the sheet: each has its own confirmation.
        plain = all(not want.is_pattern and want.kind != "private" for want in wants)
        self._allow.setVisible(plain)
        self.setVisible(bool(wants))


class TrustSheet(QDialog):
    """Everything a document wants to read, with counts and sizes; one choice for what is ticked.

    `wants` is what is asked for where that is not what the document wants as it is.
    After `exec`, `chosen` holds the ticked wants and `always` whether to remember them for this document.

    Signals
    -------
    connectionWanted(str)
        The user wants to say how to connect to this origin.
    """

    connectionWanted = Signal(str)

    def __init__(
        self, document: OpenDocument, parent: QWidget | None = None, wants: Sequence[Want] | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("trustSheet")
        self.setWindowTitle("Permissions")
        self.setModal(True)
        self.resize(720, 420)
        self.chosen: list[Want] = []
        self.always = False
        self._wants = list(document.wants if wants is None else wants)
        heading = plain_label(f"What {one_line(document.title)} wants to read")
        heading.setFont(theme.heading_font())
        text = plain_label(
            "Hosts and folders that the document names are read only with your permission, and other codecs "
            "than our own decode only with it. Look for names that you do not expect.",
            role="muted",
        )
        self._list = self._make_list()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addWidget(self._list, 1)
        layout.addLayout(self._make_buttons())
        self._update_buttons()

    def _make_list(self) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("trustList")
        view.setAccessibleName("What the document wants to read, and to be decoded with")
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setHeaderLabels(["Origin or package", "Kind", "References", "Size", "Permission"])
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for section, width in ((1, 110), (2, 100), (3, 90), (4, 110)):
            view.header().resizeSection(section, max(width, view.header().sectionSizeHint(section)))
        for column in (2, 3):
            view.headerItem().setTextAlignment(
                column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            )
        for number, want in enumerate(self._wants):
            view.addTopLevelItem(self._make_row(number, want))
        view.itemChanged.connect(lambda *_: self._update_buttons())
        view.currentItemChanged.connect(lambda *_: self._update_buttons())
        return view

    def _make_row(self, number: int, want: Want) -> QTreeWidgetItem:
        name = want.package or (f"{want.pattern}…" if want.origin is None else str(want.origin))
        state = "allowed" if want.allowed else "asks when needed" if want.is_pattern else "not allowed"
        kind = _KIND_WORDS[want.kind][0]
        count = counted_plain(want.count, "array") if want.package else count_text(want.count)
        texts = [one_line(name), kind, count, "" if want.package else size_text(want.size), state]
        row = QTreeWidgetItem(texts)
        row.setData(0, Qt.ItemDataRole.UserRole, number)
        row.setSizeHint(0, QSize(0, theme.ROW))
        row.setToolTip(0, theme.plain_tooltip(name))
        for column in (2, 3):
            row.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if want.allowed or want.is_pattern:
            row.setFlags(row.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
        else:
            # A private address is never ticked beforehand: it needs a confirmation of its own.
            ticked = Qt.CheckState.Unchecked if want.kind == "private" else Qt.CheckState.Checked
            row.setCheckState(0, ticked)
        return row

    def _make_buttons(self) -> QHBoxLayout:
        self._never = push_button("Not now", "trustNotNowButton", self.reject)
        self._once = push_button("This time", "trustThisTimeButton", lambda: self._choose(False))
        self._always = push_button(
            "Always for this document", "trustAlwaysButton", lambda: self._choose(True)
        )
        self._once.setDefault(True)
        self._connection = push_button("Connection…", "trustConnectionButton", self._connect)
        self._connection.setToolTip("How to connect to the chosen host or bucket")
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(self._connection)
        buttons.addStretch(1)
        for button in (self._never, self._always, self._once):
            buttons.addWidget(button)
        return buttons

    def _ticked(self) -> list[Want]:
        rows = (self._list.topLevelItem(row) for row in range(self._list.topLevelItemCount()))
        return [
            self._wants[row.data(0, Qt.ItemDataRole.UserRole)]
            for row in rows
            if row is not None
            and row.flags() & Qt.ItemFlag.ItemIsUserCheckable
            and row.checkState(0) == Qt.CheckState.Checked
        ]

    def _update_buttons(self) -> None:
        ticked = bool(self._ticked())
        self._once.setEnabled(ticked)
        self._always.setEnabled(ticked)
        self._connection.setEnabled(self._remote_origin() is not None)

    def _remote_origin(self) -> Origin | None:
        """Return the origin of the current row, None where it is a folder or not known yet."""
        row = self._list.currentItem()
        origin = None if row is None else self._wants[row.data(0, Qt.ItemDataRole.UserRole)].origin
        return None if origin is None or origin.scheme == "file" else origin

    def _connect(self) -> None:
        origin = self._remote_origin()
        if origin is not None:
            self.connectionWanted.emit(str(origin))

    def _choose(self, always: bool) -> None:
        self.chosen, self.always = self._ticked(), always
        self.accept()
