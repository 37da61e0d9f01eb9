"""The uses of a template as a list; choosing one goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent
from PySide6.QtWidgets import QHeaderView, QLabel, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from refbrowser.app.editors.rows import named
from refbrowser.app.widgets import theme
from refbrowser.views.words import count_text, one_line

if TYPE_CHECKING:
    from refbrowser.app.editors.template_uses import TemplateUse, UsesListed

_USE = Qt.ItemDataRole.UserRole
_ROWS = 7


class UsesList(QWidget):
    """Where a template is used: fields of gen rules first, then keys.

    Signals
    -------
    chosen(object)
        The `TemplateUse` that the user wants to see.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel()
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self.list = _List()
        self._title.setBuddy(self.list)
        self.list.itemClicked.connect(lambda item, _column: self._go(item))
        self.list.returned.connect(self._go)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._title)
        layout.addWidget(self.list)
        self.show_uses(None)

    def show_uses(self, found: UsesListed | None) -> None:
        """Show other uses; None while they are looked for."""
        self.list.clear()
        self.list.setVisible(found is not None and found.count > 0)
        if found is None:
            self._title.setText("Looking for uses…")
            return
        if not found.count:
            self._title.setText("Not used")
            return
        more = found.count - len(found.uses)
        rest = f", the first {count_text(len(found.uses))}" if more else ""
        self._title.setText(f"Used {uses_words(found)}{rest}")
        for use in found.uses:
            item = QTreeWidgetItem([one_line(use.title), one_line(use.text)])
            item.setData(0, _USE, use)
            item.setToolTip(0, theme.plain_tooltip(use.title))
            item.setToolTip(1, theme.plain_tooltip(use.text))
            item.setFont(1, theme.mono_font(-1))
            item.setForeground(1, QBrush(QColor(theme.colors().muted)))
            self.list.addTopLevelItem(item)

    def title(self) -> str:
        """Return how often it is used, in words."""
        return self._title.text()

    def _go(self, item: QTreeWidgetItem | None) -> None:
        use: TemplateUse | None = None if item is None else item.data(0, _USE)
        if use is not None:
            self.chosen.emit(use)


class _List(QTreeWidget):
    returned = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        named(self, "templateUses", "Uses of the template")
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setToolTip("Click goes to the use")
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.header().setMaximumSectionSize(220)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            self.returned.emit(self.currentItem())
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().lineSpacing() * _ROWS)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, self.fontMetrics().lineSpacing() * 4)


def uses_words(found: UsesListed) -> str:
    """Return how often a template is used and by what."""
    parts = []
    if found.rule_fields:
        many = "field" if found.rule_fields == 1 else "fields"
        parts.append(f"{count_text(found.rule_fields)} gen rule {many}")
    if found.references:
        many = "reference" if found.references == 1 else "references"
        parts.append(f"{count_text(found.references)} {many}")
    return f"in {' and '.join(parts)}" if parts else "nowhere"
