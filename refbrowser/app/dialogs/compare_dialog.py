"""What differs between an opened document and its file: counts and first examples, part by part.

Documents are compared as they are written, also where nothing can be made of what they describe: so that the
user may choose between two texts. What they mean is compared by `refbrowser.app.comparing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.side_texts import SideTexts
from refbrowser.app.widgets.small_widgets import ThemedItem, plain_label, push_button, resize_within_screen
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.references.edits.compare import Example, Part
    from refbrowser.views.side_lines import Lines

#: Where a line keeps its example.
_EXAMPLE = Qt.ItemDataRole.UserRole
_HEADINGS = ["Here", "In the file"]
#: Icon and words of each side.
_SIDES = {"here": ("add", "only here"), "there": ("drop", "only there"), "both": ("retry", "different")}


class CompareDialog(QDialog):
    """Compares a document with its file in the background, and lists what differs.

    Signals
    -------
    reload(), keep()
        What the user wants after that.
    """

    reload = Signal()
    keep = Signal()

    def __init__(self, document: OpenDocument, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("compareDialog")
        self.setWindowTitle("Compare with the file")
        self.setModal(True)
        resize_within_screen(self, 860, 480)
        self._document = document
        self._writing = Latest(self, "compare text")
        heading = plain_label(f"{one_line(document.name)}: this document and its file")
        heading.setFont(theme.heading_font())
        self._summary = plain_label("Comparing…", role="muted")
        self._summary.setObjectName("compareSummary")
        self._list = self._make_list()
        self.texts = SideTexts("compareWhole", _HEADINGS)
        self._list.currentItemChanged.connect(lambda row, _before: self._show_whole(row))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(self._summary)
        layout.addWidget(self._list, 3)
        layout.addWidget(self.texts, 1)
        layout.addLayout(self._make_foot())
        document.destroyed.connect(self.reject)
        document.file.compare(self._show, self._failed)

    def _make_foot(self) -> QHBoxLayout:
        keep = push_button("Keep this version", "compareKeepButton", lambda: self._tell(self.keep))
        keep.setToolTip("Keep working on this document; Save replaces the file")
        self._reload = push_button("Reload", "compareReloadButton", lambda: self._tell(self.reload))
        self._reload.setToolTip("Load the file; unsaved edits are asked about")
        foot = QHBoxLayout()
        foot.setSpacing(theme.MEDIUM)
        foot.addStretch(1)
        for button in (push_button("Close", "compareCloseButton", self.reject), keep, self._reload):
            foot.addWidget(button)
        return foot

    def _make_list(self) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("compareList")
        view.setAccessibleName("What differs")
        view.setUniformRowHeights(True)
        view.setHeaderLabels(["Difference", *_HEADINGS])
        view.header().setStretchLastSection(True)
        view.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for section, width in ((0, 300), (1, 240)):
            view.header().resizeSection(section, width)
        return view

    def summary(self) -> str:
        """Return the words over the list."""
        return self._summary.text()

    def _show(self, parts: tuple[Part, ...]) -> None:
        self._summary.setText(summary_of(parts))
        for part in parts:
            row = QTreeWidgetItem([f"{part.title}: {counts_of(part)}", "", ""])
            row.setSizeHint(0, QSize(0, theme.ROW))
            font = row.font(0)
            font.setBold(True)
            row.setFont(0, font)
            self._list.addTopLevelItem(row)
            row.setFirstColumnSpanned(True)
            for example in part.examples:
                row.addChild(_example_row(example))
            left = part.count - len(part.examples)
            if left > 0:
                row.addChild(_muted_row(f"and {count_text(left)} more"))
            if part.skipped:
                row.addChild(_muted_row(f"{count_text(part.skipped)} entries were not compared"))
            row.setExpanded(True)
        self._list.setCurrentIndex(self._list.model().index(0, 0))

    def _show_whole(self, row: QTreeWidgetItem | None) -> None:
        """Show the whole values of a line beside each other."""
        example: Example | None = None if row is None else row.data(0, _EXAMPLE)
        self._writing.cancel()
        if example is None or not (example.here or example.there):
            self.texts.clear()
            return

        def work(_control: TaskControl) -> tuple[Lines, Lines]:
            from refbrowser.references.edits.compare import Side
            from refbrowser.views.side_lines import side_lines

            return side_lines(example.here, example.there, both=example.side is Side.BOTH)

        self._writing.run(self._document, f"Compare the texts of {example.name}", work, self.texts.set_lines)

    def _failed(self, error: BaseException) -> None:
        self._summary.setText(f"The file cannot be compared. {error_text(error)}")
        self._reload.setEnabled(False)

    def _tell(self, signal: object) -> None:
        self.accept()
        signal.emit()  # type: ignore[attr-defined]


def summary_of(parts: tuple[Part, ...]) -> str:
    """Return in one sentence how much differs."""
    if not parts:
        return "Only spacing or the order of keys differs."
    words = [f"{count_text(part.count)} in {part.title.lower()}" for part in parts if part.count]
    return f"Differences: {', '.join(words)}." if words else "Nothing differs in what was compared."


def counts_of(part: Part) -> str:
    """Return how much differs in one part."""
    numbers = (
        (part.different, "different"),
        (part.only_here, "only here"),
        (part.only_there, "only in the file"),
    )
    return ", ".join(f"{count_text(number)} {word}" for number, word in numbers if number)


def _example_row(example: Example) -> QTreeWidgetItem:
    from refbrowser.references.text.typed_values import from_difference

    icon, words = _SIDES[example.side]
    texts = [one_line(text) for text in (example.name, *from_difference(example.here, example.there))]
    row = ThemedItem(texts)
    row.setData(0, _EXAMPLE, example)
    row.mark(0, icon, "muted")
    row.setToolTip(0, theme.plain_tooltip(f"{example.name}\n{words}"))
    for column, text in ((1, example.here), (2, example.there)):
        row.setToolTip(column, theme.plain_tooltip(text))
        row.setFont(column, theme.mono_font())
    row.setSizeHint(0, QSize(0, theme.ROW))
    return row


def _muted_row(text: str) -> QTreeWidgetItem:
    row = ThemedItem([text])
    row.color(0, "muted")
    row.setSizeHint(0, QSize(0, theme.ROW))
    return row
