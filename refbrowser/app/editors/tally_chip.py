"""One tally of the preview as a small button: how many rows, and a way to the first of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QToolButton

from refbrowser.app.editors.preview_source import Tally
from refbrowser.app.editors.rows import named
from refbrowser.app.widgets import theme

WAITING, NONE, OPEN = "…", "✓", "?"


class TallyChip(QToolButton):
    """Says ``● 5 rows change``; while that is counted anew the last words stay, dimmed, behind ``…``.

    Parameters
    ----------
    name
        Object name.
    glyph
        Stands before the words where something was found.
    one, many
        What is counted.
    is_quiet
        Whether the chip is hidden while nothing was found.
    ink
        Returns the colour where something was found.
    """

    def __init__(
        self, name: str, glyph: str, one: str, many: str, *, is_quiet: bool, ink: Callable[[], str]
    ) -> None:
        super().__init__()
        named(self, name, many.capitalize())
        self._glyph, self._one, self._many = glyph, one, many
        self._is_quiet = is_quiet
        self._ink = ink
        self._tally = Tally()
        self._words = many
        self.first: int | None = None
        self.setProperty("role", "chip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if is_quiet:  # to show it here would open a window: it has no parent yet
            self.hide()
        self.wait()

    def wait(self) -> None:
        """Show that the tally is being counted."""
        self.first = None
        self.setEnabled(False)
        self._say(WAITING)

    def show_tally(self, tally: Tally) -> None:
        """Show what was found."""
        self._tally = tally
        self._words = tally.words(self._one, self._many)
        self.first = tally.first
        self.setAccessibleName(self._words)
        self.setToolTip(theme.plain_tooltip(tally.text))
        self.setEnabled(tally.first is not None)
        self.setVisible(not self._is_quiet or tally.count > 0)
        self._say(self._glyph if tally.count else NONE if tally.checked is None else OPEN)
        self._take_color()

    def _say(self, glyph: str) -> None:
        text = f"{glyph} {self._words}"
        if text != self.text():
            self.setText(text)

    def _take_color(self) -> None:
        """Use the colour of what was found; a palette costs much less than a style sheet."""
        scheme = theme.colors()
        color = QColor(self._ink() if self._tally.count else scheme.muted)
        palette = self.palette()
        if palette.color(QPalette.ColorRole.ButtonText) != color:
            for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
                palette.setColor(group, QPalette.ColorRole.ButtonText, color)
            disabled = color if self._tally.count else QColor(scheme.muted)
            palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText, disabled)
            self.setPalette(palette)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._take_color()
