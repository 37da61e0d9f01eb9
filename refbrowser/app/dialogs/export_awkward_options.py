"""How Awkward 0 files are to be written, as the export dialog asks for it: container, names, compression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QLineEdit, QWidget

from refbrowser.app.editors.rows import named
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label

if TYPE_CHECKING:
    from refbrowser.app.controller.exporting import AwkwardWanted

_CONTAINERS = (
    ("", "As the target is called"),
    ("zip", "Archive (.awkd)"),
    ("hdf5", "HDF5"),
    ("folder", "Folder of blobs"),
)
_POLICIES = (
    ("", "Default: large integers"),
    ("none", "None"),
    ("zlib:6", "zlib, everything"),
    ("lzma", "LZMA, everything"),
    ("lz4", "LZ4, everything"),
)
_ON_EXISTING = (
    ("", "Make a new file"),
    ("append", "Add to what is there"),
    ("replace", "Add, and replace the same names"),
)
_WHY = {
    "": "A file that awkward 0.15 reads; older releases read its ZIP and HDF5 too.",
    "append": "The arrays that are there stay; a name that is taken is an error before anything is written.",
    "replace": "The arrays that are there stay, but for those of the same name.",
}


class AwkwardOptionsForm(QWidget):
    """The options of Awkward 0 files.

    Signals
    -------
    changed()
        Something else is asked for.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.container = self._combo("exportAwkwardContainer", "Container", _CONTAINERS)
        self.policy = self._combo("exportAwkwardCompression", "Compression", _POLICIES)
        self.policy.setEditable(True)
        self.policy.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.policy.setToolTip(
            theme.plain_tooltip(
                "Or a rule of your own, for example zlib:6,minsize=8192,types=integer+bool,contexts=*.counts"
            )
        )
        self.existing = self._combo("exportAwkwardExisting", "Where there is a file", _ON_EXISTING)
        self.name = named(QLineEdit(), "exportAwkwardName", "Name of the array, or before all names")
        self.name.setPlaceholderText("as in the dataset")
        self._why = plain_label("", role="muted")
        self._why.setObjectName("exportAwkwardReasons")
        self._place()
        for combo in (self.container, self.existing):
            combo.currentIndexChanged.connect(lambda _index: self._chosen())
        self.policy.editTextChanged.connect(lambda _text: self.changed.emit())
        self.name.textChanged.connect(lambda _text: self.changed.emit())
        self._chosen()

    def _combo(self, name: str, title: str, items: tuple[tuple[str, str], ...]) -> QComboBox:
        combo = named(QComboBox(), name, title)
        for value, text in items:
            combo.addItem(text, value)
        return combo

    def _place(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        self._labels: list[QLabel] = []
        rows: tuple[tuple[str, QWidget, str, QWidget], ...] = (
            ("C&ontainer", self.container, "&Existing file", self.existing),
            ("Co&mpression", self.policy, "&Name", self.name),
        )
        for row, (left, on_left, right, on_right) in enumerate(rows):
            for column, text, widget in ((0, left, on_left), (3, right, on_right)):
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

    def wanted(self) -> AwkwardWanted:
        """Return what is asked for."""
        from refbrowser.app.controller.exporting import AwkwardWanted

        policy, existing = self.policy, str(self.existing.currentData())
        titles = [policy.itemText(row) for row in range(policy.count())]
        typed = policy.currentText().strip()
        rule = str(policy.itemData(titles.index(typed))) if typed in titles else typed
        return AwkwardWanted(
            container=str(self.container.currentData()),
            name=self.name.text().strip(),
            compression=(rule,) if rule else (),
            append=existing == "append",
            replace=existing == "replace",
        )

    def _chosen(self) -> None:
        self._why.setText(_WHY[str(self.existing.currentData())])
        self.changed.emit()
