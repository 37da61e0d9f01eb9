"""Lists of a move: the texts and URLs that change, before and after, and what was found at new places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHeaderView, QTreeWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import ThemedItem
from refbrowser.views.words import count_text, one_line

if TYPE_CHECKING:
    from refbrowser.engine.probing import Probed
    from refbrowser.views.moving.move_preview import MovePreview

#: Icon and colour of each verdict; the word stands beside it.
_VERDICTS = {
    "same": ("done", "good"),
    "there": ("done", "muted"),
    "differs": ("warning", "fault"),
    "not there": ("cancel", "fault"),
    "not allowed": ("lock", "warning"),
    "cannot be read": ("fault", "fault"),
}


class _Lines(QTreeWidget):
    """Rows of plain text."""

    def __init__(self, name: str, described: str, titles: Sequence[str], stretched: Sequence[int]) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(described)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHeaderLabels(list(titles))
        self.header().setStretchLastSection(False)
        for section in range(len(titles)):
            if section in stretched:
                self.header().setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
            else:
                self.header().resizeSection(section, 130)

    def _row(self, texts: Sequence[str], mono: Sequence[int]) -> ThemedItem:
        row = ThemedItem([one_line(text) for text in texts])
        row.setSizeHint(0, QSize(0, theme.ROW))
        for column, text in enumerate(texts):
            row.setToolTip(column, theme.plain_tooltip(text))
        for column in mono:
            row.setFont(column, theme.mono_font())
        self.addTopLevelItem(row)
        return row


class ChangesList(_Lines):
    """Texts of templates and rules that change, then some URLs; before and after."""

    def __init__(self) -> None:
        super().__init__("moveChanges", "What changes", ("What", "Before", "After"), (1, 2))

    def show_preview(self, preview: MovePreview) -> None:
        """Show what a move would change."""
        self.clear()
        for text in preview.texts:
            self._row([text.name, text.before, text.after], (1, 2)).color(2, "changed")
        more = preview.templates + preview.rules - len(preview.texts)
        if more:
            self._row([f"and {count_text(more)} more", "", ""], ()).color(0, "muted")
        for before, after in preview.examples:
            row = self._row(["URL", before, after], (1, 2))
            row.color(0, "muted")
            row.color(2, "changed")


class ProbedList(_Lines):
    """What was found at some of the new places."""

    def __init__(self) -> None:
        titles = ("Found", "New place", "How")
        super().__init__("moveProbed", "What was found at the new places", titles, (1, 2))

    def show_probed(self, probed: Sequence[Probed]) -> None:
        """Show what was found, first what speaks against the move."""
        self.clear()
        for each in sorted(probed, key=lambda each: each.verdict.is_good):
            row = self._row([str(each.verdict), each.probe.after, each.words], (1,))
            icon, role = _VERDICTS[str(each.verdict)]
            row.mark(0, icon, role)
            row.color(0, role if role != "muted" else "text")
