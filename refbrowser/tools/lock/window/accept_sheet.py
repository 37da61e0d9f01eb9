"""The sheet "Accept the new state": files that are not those of the lock, then and now, to be ticked."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
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
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import ThemedItem, plain_label, push_button
from refbrowser.views.locks import StaleRow, stale_rows
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced

_ABOUT = (
    "These files were replaced or changed since the lock was written. Accept those that were changed "
    "on purpose: the lock then records their new state. References into them are not changed, "
    "and may point to "
    "the wrong bytes; if they do, make the references again instead."
)
_COLUMNS = ("File", "", "Size", "ETag", "Changed")
_ROW = Qt.ItemDataRole.UserRole


class AcceptSheet(QDialog):
    """Lists stale files of one document, and has the ticked ones accepted.

    Parameters
    ----------
    url
        The file that is ticked first; empty for none.
    """

    def __init__(self, document: OpenDocument, url: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("acceptSheet")
        self.setWindowTitle("Accept the new state")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(900, 460)
        self._document = document
        stale = document.lock.stale
        self._list = self._make_list()
        self._summary = plain_label()
        self._summary.setObjectName("acceptSummary")
        self._lay_out()
        rows = stale_rows(stale)
        for row in rows:
            self._add(row, is_ticked=row.url == url or len(stale) == 1)
        # Files of a disk have none.
        self._list.setColumnHidden(3, not any(cells[1] for row in rows for _, _, cells in row.lines))
        self._list.itemChanged.connect(lambda _item, _column: self._count())
        self._count()
        self._list.setFocus()
        self._list.setCurrentIndex(self._list.model().index(0, 0))
        document.destroyed.connect(self.reject)

    def _lay_out(self) -> None:
        heading = plain_label(f"{one_line(self._document.name)}: files that differ from the lock")
        heading.setFont(theme.heading_font())
        self._all = push_button("Tick all", "acceptAllButton", lambda: self._tick_all(on=True))
        self._none = push_button("Tick none", "acceptNoneButton", lambda: self._tick_all(on=False))
        self._accept = push_button("Accept", "acceptApplyButton", self.apply)
        self._accept.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        for button in (self._all, self._none):
            line.addWidget(button)
        line.addStretch(1)
        for button in (push_button("Cancel", "acceptCancelButton", self.reject), self._accept):
            line.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addWidget(self._list, 1)
        layout.addWidget(self._summary)
        layout.addLayout(line)

    def _make_list(self) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("acceptList")
        view.setAccessibleName("Files that differ from the lock")
        view.setUniformRowHeights(True)
        view.setRootIsDecorated(False)
        view.setItemsExpandable(False)
        view.setHeaderLabels(list(_COLUMNS))
        header = view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for section, width in ((1, 60), (2, 110), (3, 190), (4, 240)):
            header.resizeSection(section, width)
        return view

    def _add(self, row: StaleRow, *, is_ticked: bool) -> None:
        """Add a file: a line for what the lock says, and one below it for what is there now."""
        then, now = (ThemedItem([name, side, *cells]) for name, side, cells in row.lines)
        then.setFlags(then.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        then.setCheckState(0, Qt.CheckState.Checked if is_ticked else Qt.CheckState.Unchecked)
        then.setData(0, _ROW, row.url)
        then.setToolTip(0, theme.plain_tooltip(row.url))
        now.color(0, "muted")
        for item in (then, now):
            item.setSizeHint(0, QSize(0, theme.ROW))
            item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column in range(2, len(_COLUMNS)):
                item.setToolTip(column, theme.plain_tooltip(item.text(column)))
        for column in row.differing:
            font = now.font(2 + column)
            font.setBold(True)
            now.setFont(2 + column, font)
        self._list.addTopLevelItem(then)
        then.addChild(now)
        then.setExpanded(True)

    def _items(self) -> list[QTreeWidgetItem]:
        found = (self._list.topLevelItem(number) for number in range(self._list.topLevelItemCount()))
        return [item for item in found if item is not None]

    def ticked(self) -> list[str]:
        """Return the files that are ticked, as the document spells them."""
        return [
            str(item.data(0, _ROW)) for item in self._items() if item.checkState(0) is Qt.CheckState.Checked
        ]

    def _tick_all(self, *, on: bool) -> None:
        for item in self._items():
            item.setCheckState(0, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)

    def _count(self) -> None:
        ticked, count = len(self.ticked()), self._list.topLevelItemCount()
        files = counted_spaced(count, "file")
        self._summary.setText(f"{count_text(ticked)} of {files} ticked")
        self._accept.setText("Accept" if ticked < 2 else f"Accept {count_text(ticked)} files")
        self._accept.setEnabled(ticked > 0)

    def apply(self) -> None:
        """Have the lock take the new state of the ticked files."""
        urls = self.ticked()
        self.accept()
        self._document.lock.accept(urls)
