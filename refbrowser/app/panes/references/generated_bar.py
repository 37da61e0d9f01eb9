"""What is said beneath the table of references of a row that a gen rule gives."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label, push_button
from refbrowser.views.words import count_text, one_line


class GeneratedBar(QFrame):
    """Tells which rule a row comes from, and offers to go there or to override the key.

    Signals
    -------
    ruleWanted()
        Show the rule.
    overrideWanted()
        Give this key a reference of its own.
    """

    ruleWanted = Signal()
    overrideWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("generatedBar")
        self._text = plain_label("", role="muted", wrap=True)
        self._text.setObjectName("generatedText")
        to_rule = push_button("Go to the rule", "generatedRuleButton", self.ruleWanted.emit)
        to_rule.setToolTip("Show the gen rule in its editor")
        override = push_button("Override this key", "generatedOverrideButton", self.overrideWanted.emit)
        override.setToolTip("Add a gen rule of one row for this key: the last rule counts, refs would not")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._text, 1)
        layout.addWidget(to_rule)
        layout.addWidget(override)
        self.hide()

    def show_row(self, key: str, rule: int, row: int) -> None:
        """Tell of one row."""
        self._text.setText(
            f"{one_line(key)} is not in refs: it comes from gen rule {rule}, row {count_text(row)}."
        )
        self.show()
