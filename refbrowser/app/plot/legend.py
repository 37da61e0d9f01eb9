"""What the patterns in the picture mean, while there are any; and what else to know about what is shown."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from refbrowser.app.plot.patterns import STATE_NAMES, swatch
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import plain_label
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.words import count_text


class StateLegend(QWidget):
    """A sample, a name and a count for each state that is in the picture; hidden when all is well."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chunkStateLegend")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        self._entries: dict[ChunkState, tuple[QLabel, QLabel]] = {}
        for state in STATE_NAMES:
            sample, text = QLabel(), plain_label("", role="muted", wrap=False)
            text.setObjectName(f"legend_{state.name.lower()}")
            self._entries[state] = (sample, text)
            layout.addWidget(sample)
            text.setContentsMargins(0, 0, theme.LARGE, 0)
            layout.addWidget(text)
        self.note = plain_label("", role="muted", wrap=False)
        self.note.setObjectName("plotNote")
        layout.addWidget(self.note)
        layout.addStretch(1)
        self.retry = QToolButton()
        self.retry.setObjectName("plotRetryButton")
        self.retry.setText("Read again")
        self.retry.setAccessibleName("Read again")
        layout.addWidget(self.retry)
        self.restyle()
        self.set_picture(None, "")

    def restyle(self) -> None:
        """Take the colours of the theme."""
        for state, (sample, _text) in self._entries.items():
            sample.setPixmap(swatch(state))

    def set_picture(self, picture: Picture | None, note: str) -> None:
        """Count the states of a picture's chunks; `note` is said beside them."""
        counts = {state: 0 if picture is None else picture.count(state) for state in STATE_NAMES}
        for state, (sample, text) in self._entries.items():
            count = counts[state]
            sample.setVisible(count > 0)
            text.setVisible(count > 0)
            text.setText(f"{STATE_NAMES[state]} ({count_text(count)})")
        self.note.setText(note)
        self.note.setVisible(bool(note))
        incomplete = counts[ChunkState.FAILED] > 0 or counts[ChunkState.PENDING] > 0
        self.retry.setVisible(incomplete and picture is not None and picture.finished)
        self.setVisible(bool(note) or any(counts.values()))

    def shown_states(self) -> set[ChunkState]:
        """Return the states that are explained now."""
        return {state for state, (sample, _text) in self._entries.items() if not sample.isHidden()}
