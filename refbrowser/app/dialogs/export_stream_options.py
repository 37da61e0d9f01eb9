"""How a stream is to be written, as the export dialog asks for it: profile, compression, tiles, checksums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QWidget

from refbrowser.app.editors.rows import named
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label

if TYPE_CHECKING:
    from refbrowser.app.controller.exporting import StreamWanted

#: Profile, title, and what it is for, a sentence.
_PROFILES = (
    ("full", "Full: tiles", "Messages of bounded size: the file can be sent, appended to and read in parts."),
    (
        "compatible",
        "Compatible: for other readers",
        "One message for each variable, which siphon and the Java readers understand.",
    ),
)
_CODECS = (
    ("keep", "As in the source"),
    ("none", "None"),
    ("zlib:1", "deflate, fast"),
    ("zlib:6", "deflate, small"),
)
#: What a tile has at most where nothing is typed.
_TILE_HINT = "8 MiB"


class StreamOptionsForm(QWidget):
    """The options of streams.

    Signals
    -------
    changed()
        Something else is asked for.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.profile = named(QComboBox(), "exportStreamProfile", "Profile of the stream")
        for name, title, _ in _PROFILES:
            self.profile.addItem(title, name)
        self.codec = named(QComboBox(), "exportStreamCodec", "Compression of the stream")
        for name, title in _CODECS:
            self.codec.addItem(title, name)
        self.tile = named(QLineEdit(), "exportTileSize", "Size of the tiles, at most")
        self.tile.setPlaceholderText(_TILE_HINT)
        self.checksum = named(QCheckBox("Checksums (&CRC-32)"), "exportChecksum", "Checksums (CRC-32)")
        self._why = plain_label("", role="muted")
        self._why.setObjectName("exportStreamReasons")
        self._place()
        self.profile.currentIndexChanged.connect(lambda _index: self._profile_chosen())
        self.codec.currentIndexChanged.connect(lambda _index: self.changed.emit())
        self.tile.textChanged.connect(lambda _text: self.changed.emit())
        self.checksum.toggled.connect(lambda _on: self.changed.emit())
        self._profile_chosen()

    def _place(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        self._labels: list[QLabel] = []
        rows: tuple[tuple[str, QWidget, str, QWidget], ...] = (
            ("P&rofile", self.profile, "&Tiles up to", self.tile),
            ("Co&mpression", self.codec, "", self.checksum),
        )
        for row, (left, on_left, right, on_right) in enumerate(rows):
            for column, text, widget in ((0, left, on_left), (3, right, on_right)):
                if text:
                    label = QLabel(text)
                    label.setBuddy(widget)
                    self._labels.append(label)
                    grid.addWidget(label, row, column)
                grid.addWidget(widget, row, column + 1)
        grid.addWidget(self._why, len(rows), 1, 1, 4)
        grid.setRowStretch(len(rows) + 1, 1)
        grid.setColumnMinimumWidth(2, theme.LARGE)
        for column in (1, 4):
            grid.setColumnStretch(column, 1)

    def align(self, label: QLabel) -> None:
        """Make the first labels here as wide as a label of another form."""
        for own in self._labels[::2]:
            own.setMinimumWidth(label.minimumWidth())

    def set_running(self, running: bool) -> None:
        """Let nothing be changed while an export runs."""
        self.setEnabled(not running)

    def wanted(self) -> StreamWanted:
        """Return what is asked for."""
        from refbrowser.app.controller.exporting import StreamWanted

        return StreamWanted(
            profile=str(self.profile.currentData()),
            codec=str(self.codec.currentData()),
            tile_size=self.tile.text().strip() if self.tile.isEnabled() else "",
            checksum=self.checksum.isChecked(),
        )

    def _profile_chosen(self) -> None:
        is_full = self.profile.currentData() == "full"
        self.tile.setEnabled(is_full)
        self.checksum.setChecked(is_full)
        self._why.setText(next(why for name, _, why in _PROFILES if name == self.profile.currentData()))
        self.changed.emit()
