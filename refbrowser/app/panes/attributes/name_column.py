"""The columns beside that of values: as wide as their words need, until the user draws them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QTreeView

#: The least width, and the part of the view that names take at most.
_LEAST, _MOST = 96, 0.5


class NameColumn(QObject):
    """Fits the first column of a tree to its names, up to half of the tree's width.

    Parameters
    ----------
    words
        Another column, of short words: the delegate bounds its width.
    """

    def __init__(self, tree: QTreeView, *, words: int) -> None:
        super().__init__(tree)
        self._tree = tree
        self._words = words
        self._by_user = False
        tree.header().viewport().installEventFilter(self)
        tree.viewport().installEventFilter(self)
        self.fit()

    def fit(self) -> None:
        """Give the names and the words the width they need, unless the user chose one."""
        if self._by_user:
            return
        header = self._tree.header()
        if not header.isSectionHidden(self._words):
            words = max(self._tree.sizeHintForColumn(self._words), header.sectionSizeHint(self._words))
            header.resizeSection(self._words, words)
        needed = max(_LEAST, self._tree.sizeHintForColumn(0))
        header.resizeSection(0, min(needed, int(self._tree.viewport().width() * _MOST)))

    def forget(self) -> None:
        """Forget what the user chose."""
        self._by_user = False
        self.fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Only of these events is the tree asked: others come while it is taken apart, when it cannot answer.
        if event.type() == QEvent.Type.Resize and watched is self._tree.viewport():
            self.fit()
        elif event.type() == QEvent.Type.MouseButtonPress and watched is self._tree.header().viewport():
            # The edge between two columns is where the header shows the pointer that draws it.
            self._by_user |= self._tree.header().cursor().shape() == Qt.CursorShape.SplitHCursor
        return False
