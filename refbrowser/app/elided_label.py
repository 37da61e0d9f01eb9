"""A line of plain text that is cut where it does not fit."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from refbrowser.app import theme
from refbrowser.app.plain_text import one_line


class ElidedLabel(QLabel):
    """One line of plain text, cut to the room there is; tool tip and screen readers have all of it."""

    def __init__(
        self,
        name: str,
        parent: QWidget | None = None,
        *,
        role: str = "",
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        # A path begins at the left, whatever the script of its names.
        self.setAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setProperty("role", role)
        self._elide = elide
        self._whole = ""

    def set_text(self, text: str) -> None:
        """Show another text, as one line."""
        self._whole = one_line(" ".join(text.split("\n")))
        self.setAccessibleName(self._whole)
        self.setToolTip(theme.plain_tooltip(text))
        self._fit()

    def text(self) -> str:
        """Return the whole text."""
        return self._whole

    def _fit(self) -> None:
        room = self.width() - 2 * self.margin()
        self.setText(self.fontMetrics().elidedText(self._whole, self._elide, room))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # Of the text's length neither, so that other words never move what is beside it.

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 2 * self.margin())

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.sizeHint().height())
