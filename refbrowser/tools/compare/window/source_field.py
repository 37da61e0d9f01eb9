"""A field for a dataset: one that is open, its saved state, or a path or URL; and the question for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.compared_side import ComparedSide
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.file_filters import open_filter
from refbrowser.app.widgets.small_widgets import grow_to_words, plain_label, push_button
from refbrowser.views.words import one_line

#: What is chosen: something that is open, or a path or URL.
Source: TypeAlias = ComparedSide | str


class SourceField(QWidget):
    """Chooses or names a dataset.

    Parameters
    ----------
    name
        Begins the names of its widgets.
    described
        What is asked for.

    Signals
    -------
    changed()
        Something else is chosen or typed.
    """

    changed = Signal()

    def __init__(self, name: str, described: str, choices: Sequence[ComparedSide]) -> None:
        super().__init__()
        self._name, self._choices = name, list(choices)
        self.box = QComboBox()
        self.box.setObjectName(name)
        self.box.setAccessibleName(described)
        self.box.setEditable(True)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setMinimumContentsLength(36)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        line = self.box.lineEdit()
        assert line is not None
        line.setObjectName(f"{name}Line")
        line.setAccessibleName(described)
        line.setPlaceholderText("A path or URL, or one that is open")
        for side in self._choices:
            self.box.addItem(one_line(side.name))
        self.box.setCurrentIndex(-1)
        self.box.editTextChanged.connect(lambda _text: self.changed.emit())
        self._browse = push_button("Browse…", f"{name}Browse", self._ask)
        self._browse.setAccessibleName(f"Browse: {described}")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.box, 1)
        layout.addWidget(self._browse)
        self.setFocusProxy(self.box)

    def source(self) -> Source | None:
        """Return what is chosen; None where nothing is."""
        text = self.box.currentText().strip()
        at = self.box.findText(text, Qt.MatchFlag.MatchExactly)
        if 0 <= at < len(self._choices):
            return self._choices[at]
        return text or None

    def set_text(self, text: str) -> None:
        """Name a path or URL."""
        self.box.setEditText(text)

    def _ask(self) -> None:
        dialog = QFileDialog(self, self.box.accessibleName(), "", open_filter())
        dialog.setObjectName(f"{self._name}Dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.set_text)
        dialog.open()


class CompareWithDialog(QDialog):
    """Asks with what a document is to be compared."""

    def __init__(
        self,
        name: str,
        choices: Sequence[ComparedSide],
        chosen: Callable[[Source], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("compareWithDialog")
        self.setWindowTitle("Compare with")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading = plain_label(f"Compare {one_line(name)} with")
        heading.setFont(theme.heading_font())
        about = plain_label(
            "Of any format: structure, metadata by meaning, references and gen rules, and values where you "
            "ask for them. What differs can be taken over, both ways.",
            role="muted",
        )
        self.field = SourceField("compareWith", "What it is compared with", choices)
        buttons = QDialogButtonBox()
        self._start = buttons.addButton("Compare", QDialogButtonBox.ButtonRole.AcceptRole)
        self._start.setObjectName("compareWithStart")
        cancel = buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setObjectName("compareWithCancel")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        for part in (heading, about, self.field, buttons):
            layout.addWidget(part)
        self.field.changed.connect(self._update)
        self.accepted.connect(lambda: self._tell(chosen))
        if choices:
            self.field.box.setCurrentIndex(0)
        self._update()
        self.resize(620, self.sizeHint().height())
        grow_to_words(self)
        self.field.setFocus()

    def _update(self) -> None:
        self._start.setEnabled(self.field.source() is not None)

    def _tell(self, chosen: Callable[[Source], object]) -> None:
        source = self.field.source()
        if source is not None:
            chosen(source)
