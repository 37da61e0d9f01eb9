"""How columns are to be written, as the export dialog asks for it: compression, rows together, types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QWidget

from refbrowser.app.editors.rows import named
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label

if TYPE_CHECKING:
    from refbrowser.app.controller.exporting import TableWanted

_CODECS = {
    "parquet": (
        ("keep", "Default (Zstandard)"),
        ("snappy", "Snappy, fast"),
        ("zstd:9", "Zstandard, small"),
        ("gzip", "gzip"),
        ("none", "None"),
    ),
    "feather": (("keep", "Default (LZ4)"), ("zstd", "Zstandard, small"), ("none", "None")),
}
#: Bytes of the rows of one group where nothing is typed.
_GROUP_HINT = "64 MiB"
_WHY = (
    "Arrays of equal length become columns of one file. Others go to a folder, a file for each; "
    "a line below says so before."
)


class TableOptionsForm(QWidget):
    """The options of Parquet and Feather.

    Signals
    -------
    changed()
        Something else is asked for.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.codec = named(QComboBox(), "exportTableCodec", "Compression of the columns")
        self.group = named(QLineEdit(), "exportTableGroup", "Size of the rows that are written together")
        self.group.setPlaceholderText(_GROUP_HINT)
        self.group.setToolTip("A row group or record batch, before it is compressed: for example 16MiB")
        self.types = QCheckBox("Keep the names of &records, for awkward")
        named(self.types, "exportTableTypes", "Keep the names of records, for awkward")
        self.types.setToolTip(
            "What Arrow has no word for stands beside the columns; other readers pass it over"
        )
        self.types.setChecked(True)
        self._place()
        self.set_format("parquet")
        self.codec.currentIndexChanged.connect(lambda _index: self.changed.emit())
        self.group.textChanged.connect(lambda _text: self.changed.emit())
        self.types.toggled.connect(lambda _on: self.changed.emit())

    def _place(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        self._labels: list[QLabel] = []
        for column, text, widget in ((0, "Co&mpression", self.codec), (3, "&Rows together", self.group)):
            label = QLabel(text)
            label.setBuddy(widget)
            self._labels.append(label)
            grid.addWidget(label, 0, column)
            grid.addWidget(widget, 0, column + 1)
        grid.addWidget(self.types, 1, 1, 1, 4)
        grid.addWidget(plain_label(_WHY, role="muted"), 2, 1, 1, 4)
        grid.setRowStretch(3, 1)
        grid.setColumnMinimumWidth(2, theme.LARGE)
        for column in (1, 4):
            grid.setColumnStretch(column, 1)

    def align(self, label: QLabel) -> None:
        """Make the first label here as wide as a label of another form."""
        self._labels[0].setMinimumWidth(label.minimumWidth())

    def set_format(self, name: str) -> None:
        """Offer the codecs of a format."""
        codecs = _CODECS.get(name)
        if codecs is not None:
            self.codec.clear()
            for value, title in codecs:
                self.codec.addItem(title, value)

    def set_running(self, running: bool) -> None:
        """Let nothing be changed while an export runs."""
        self.setEnabled(not running)

    def wanted(self) -> TableWanted:
        """Return what is asked for."""
        from refbrowser.app.controller.exporting import TableWanted

        return TableWanted(
            codec=str(self.codec.currentData()),
            group_size=self.group.text().strip(),
            awkward_types=self.types.isChecked(),
        )
