"""Files of which references are made: what each is, what of it can be referenced, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.parts import ThemedItem
from refbrowser.views.words import count_text, one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.making import FileFacts
    from refbrowser.exporting.saving.making import Made

#: Files that have a row; of more, references are made all the same.
ROWS = 2_000
_FILE, _KIND, _VARIABLES, _RESULT = range(4)
_TITLES = ["File", "What it is", "Can be referenced", "Result"]


class FilesTable(QTreeWidget):
    """A row for each file; below it what cannot be referenced, or could not be kept.

    Signals
    -------
    openWanted()
        The user wants to open the document of the current row.
    removeWanted()
        The user wants the selected files not to be in the list.
    """

    openWanted = Signal()
    removeWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("makeFiles")
        self.setAccessibleName("Files to make references of")
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHeaderLabels(_TITLES)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(_RESULT, QHeaderView.ResizeMode.Stretch)
        for section, width in ((_FILE, 200), (_KIND, 148), (_VARIABLES, 180)):
            self.header().resizeSection(section, width)
        self.setMinimumHeight(5 * theme.ROW)
        self._sources: list[str] = []
        self._rows: dict[str, ThemedItem] = {}
        self._facts: dict[str, FileFacts] = {}
        self._more: QTreeWidgetItem | None = None
        self.itemDoubleClicked.connect(lambda *_: self.openWanted.emit())

    # What is in it

    def sources(self) -> tuple[str, ...]:
        """Return all files, also those that have no row."""
        return tuple(self._sources)

    def unknown(self) -> list[str]:
        """Return the files with a row that were not looked at yet."""
        return [source for source in self._rows if source not in self._facts]

    def errors(self) -> int:
        """Return how many files cannot be opened."""
        return sum(facts.error is not None for facts in self._facts.values())

    def chosen(self) -> list[str]:
        """Return the files of the selected rows, in their order."""
        rows = {id(_file_row(item)) for item in self.selectedItems()}
        return [source for source, row in self._rows.items() if id(row) in rows]

    def add(self, sources: Iterable[str]) -> None:
        """Add files that are not there yet."""
        known = set(self._sources)
        fresh = [source for source in sources if source not in known]
        self._sources += fresh
        rows = []
        for source in fresh[: max(0, ROWS - len(self._rows))]:
            name = one_line(source.rstrip("/").rsplit("/", 1)[-1] or source)
            row = self._rows[source] = ThemedItem([name, "looking…", "", ""])
            row.color(_KIND, "muted")
            row.setToolTip(_FILE, theme.plain_tooltip(source))
            row.setSizeHint(_FILE, QSize(0, theme.ROW))
            rows.append(row)
        self.addTopLevelItems(rows)
        self._count_more()

    def remove_chosen(self) -> None:
        """Take the files of the selected rows out of the list."""
        gone = set(self.chosen())
        self._sources = [source for source in self._sources if source not in gone]
        for source in gone:
            self.takeTopLevelItem(self.indexOfTopLevelItem(self._rows.pop(source)))
            self._facts.pop(source, None)
        # Others have room now.
        if self._more is not None:
            unlisted = self._sources[len(self._rows) :]
            self._sources = self._sources[: len(self._rows)]
            self.add(unlisted)
        self._count_more()

    def _count_more(self) -> None:
        if self._more is not None:
            self.takeTopLevelItem(self.indexOfTopLevelItem(self._more))
            self._more = None
        if (count := len(self._sources) - len(self._rows)) > 0:
            self._more = ThemedItem([f"and {count_text(count)} more", "not looked at", "", ""])
            self._more.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self.addTopLevelItem(self._more)

    # What is known of them

    def tell(self, facts: FileFacts) -> None:
        """Say what a file is; nothing where that is said already, or it is not in the list any more."""
        row = self._rows.get(facts.source)
        if row is not None and facts.source not in self._facts:
            self._facts[facts.source] = facts
            self._show(row, facts)

    def _show(self, row: ThemedItem, facts: FileFacts) -> None:
        if facts.error is not None:
            row.mark(_KIND, "fault", "fault")
            self._say(row, _KIND, "cannot be opened", error_text(facts.error), "fault")
            self._say(row, _RESULT, _short(facts.error), error_text(facts.error), "muted")
            return
        self._say(row, _KIND, facts.kind, facts.kind, "muted")
        whole = facts.variables - facts.hindered
        words = f"{count_text(whole)} of {count_text(facts.variables)}" if facts.hindered else "all "
        words += " variables" if facts.hindered else f"{count_text(facts.variables)} variables"
        if facts.variables == 1:
            words = "no variable of one" if facts.hindered else "its variable"
        if facts.hindered:
            row.mark(_VARIABLES, "warning", "warning")
        tip = "\n".join(f"{each.path}: {each.why}" for each in facts.listed[:10])
        self._say(row, _VARIABLES, words, tip, "warning" if facts.hindered else "text")
        for each in facts.listed:
            self._below(row, [one_line(each.path), one_line(each.what), "no", one_line(each.why)], each.why)
        if (more := facts.hindered - len(facts.listed)) > 0:
            self._below(row, [f"and {count_text(more)} more", "", "no", ""], "")

    def tell_result(self, source: str, answer: Made | BaseException) -> None:
        """Say what became of a file."""
        row = self._rows.get(source)
        if row is None:
            return
        if isinstance(answer, BaseException):
            row.mark(_RESULT, "fault", "fault")
            self._say(row, _RESULT, _short(answer), error_text(answer), "fault")
            return
        from refbrowser.app.controller.making import made_text

        row.mark(_RESULT, "done", "accent")
        tip = f"{answer.target}\n{made_text(answer)}"
        self._say(row, _RESULT, made_text(answer), tip, "text")
        for loss in answer.losses:
            self._below(row, ["", "", "not kept", one_line(loss)], loss)

    def forget_results(self) -> None:
        """Say nothing of what became of files before."""
        for source, row in self._rows.items():
            row.unmark(_RESULT)
            row.takeChildren()
            self._say(row, _RESULT, "", "", "text")
            if (facts := self._facts.get(source)) is not None:
                self._show(row, facts)

    def _say(self, row: ThemedItem, column: int, text: str, tip: str, role: str) -> None:
        row.setText(column, text)
        row.setToolTip(column, theme.plain_tooltip(tip))
        row.color(column, role)

    def _below(self, row: ThemedItem, texts: Sequence[str], tip: str) -> None:
        child = ThemedItem(texts)
        for column in (_FILE, _KIND, _VARIABLES, _RESULT):
            child.color(column, "muted")
        child.setToolTip(_RESULT, theme.plain_tooltip(tip))
        row.addChild(child)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.removeWanted.emit()
        else:
            super().keyPressEvent(event)


def _short(error: BaseException) -> str:
    """Return what an error says, without the place, which is that of the row."""
    return one_line(getattr(error, "message", str(error)))


def _file_row(item: QTreeWidgetItem) -> QTreeWidgetItem:
    above = item.parent()
    return item if above is None else above
