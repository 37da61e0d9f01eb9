"""The form for another place: from where, to where, as a template or not, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QCompleter,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QToolButton,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import LineLabel
from refbrowser.app.widgets.rows import OutcomeLine, named
from refbrowser.app.widgets.small_widgets import plain_label
from refbrowser.formats.option_fields import declared
from refbrowser.tools.move.request import MoveRequest
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.tools.move.report.places import Spelling

_TEMPLATE = declared(MoveRequest)["template"]


class PlaceForm(QWidget):
    """*From* and *To* with other ways to write a place, *As template*, and lines that the page fills.

    Attributes
    ----------
    outcome
        What a move comes to, or why it cannot be.
    carry
        Whether connection settings go with it.

    Signals
    -------
    typed()
        Something else is typed or ticked.
    """

    typed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._old = named(LineLabel(elide=Qt.TextElideMode.ElideMiddle), "moveOld")
        self._old.setFont(theme.mono_font())
        self._new = named(QLineEdit(), "moveNew", "The new place: what the URLs begin with then")
        self._new.setPlaceholderText("the new place of the files, such as s3://bucket/folder/")
        self._new.setFont(theme.mono_font())
        self._new.textChanged.connect(lambda _text: self.typed.emit())
        self._known = QStringListModel(self)
        completer = QCompleter(self._known, self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._new.setCompleter(completer)
        self._write_as = named(QToolButton(), "moveWriteAs", "Other spellings of the place, and folders")
        self._write_as.setText("&Write as")
        self._write_as.setToolTip("Other spellings of the same place, or a folder on this computer")
        self._write_as.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._write_as.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._menu = QMenu(self._write_as)
        self._menu.setObjectName("moveWriteAsMenu")
        self._write_as.setMenu(self._menu)
        self._as_template = named(QCheckBox(_TEMPLATE.label), "moveAsTemplate", _TEMPLATE.title)
        self._as_template.setToolTip(_TEMPLATE.tip)
        self._as_template.toggled.connect(self._ticked)
        self._name = named(QLineEdit(), "moveTemplate", "Name of the template")
        self._name.setFont(theme.mono_font())
        self._name.setMaximumWidth(220)
        self._name.textChanged.connect(lambda _text: self.typed.emit())
        self._name.hide()
        self.outcome = OutcomeLine("moveOutcome")
        self._warnings = named(plain_label(role="warning"), "moveWarnings", "")
        self.carry = named(QCheckBox(), "moveCarry", "Connection settings for it")
        self.carry.setToolTip("Until the window is closed; they are never saved")
        self._lay_out()

    def _lay_out(self) -> None:
        form = QGridLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(theme.MEDIUM)
        form.setVerticalSpacing(theme.SMALL)
        form.setColumnStretch(1, 1)
        from_label, to_label = plain_label("From", wrap=False), plain_label("T&o", wrap=False)
        to_label.setBuddy(self._new)
        template = QHBoxLayout()
        template.setSpacing(theme.MEDIUM)
        for part in (self._as_template, self._name):
            template.addWidget(part)
        template.addStretch(1)
        form.addWidget(from_label, 0, 0)
        form.addWidget(self._old, 0, 1, 1, 2)
        form.addWidget(to_label, 1, 0)
        form.addWidget(self._new, 1, 1)
        form.addWidget(self._write_as, 1, 2)
        form.addLayout(template, 2, 1, 1, 2)
        below: tuple[QWidget, ...] = (self.outcome, self._warnings, self.carry)
        for row, line in enumerate(below, 3):
            form.addWidget(line, row, 1, 1, 2)

    def _ticked(self, on: bool) -> None:
        self._name.setVisible(on)
        self.typed.emit()

    # What is typed

    @property
    def new(self) -> str:
        """What URLs are to begin with."""
        return self._new.text()

    @property
    def template(self) -> str | None:
        """Name of the template that is to be made; None for none."""
        return self._name.text().strip() if self._as_template.isChecked() else None

    def begin(self, words: str, prefix: str, template: str) -> None:
        """Show another place, which is where it was.

        Parameters
        ----------
        words
            What it is called.
        template
            A name that a template can have.
        """
        self._old.setText(one_line(words))
        self._old.setAccessibleName(f"From {one_line(words)}")
        self._as_template.setChecked(False)
        self._name.setText(template)
        self._new.setText(prefix)

    def allow(self, *, place: bool, template: bool) -> None:
        """Let another place be typed, and a template be made of it, or not."""
        self._new.setEnabled(place)
        self._write_as.setEnabled(place)
        self._as_template.setEnabled(template)

    def focus_new(self) -> None:
        """Put the keyboard where the other place is typed."""
        self._new.setFocus()
        self._new.selectAll()

    # What is told

    def clear(self) -> None:
        """Tell nothing."""
        self.outcome.clear()
        self.warn(())
        self.carry.hide()

    def warn(self, warnings: Sequence[str]) -> None:
        """Tell what should be looked at."""
        self._warnings.setText("\n".join(f"! {each}" for each in warnings))
        self._warnings.setVisible(bool(warnings))

    # Other ways to write a place

    def offer(self, found: Sequence[Spelling], known: Sequence[str]) -> None:
        """Offer ways to write the place, and beginnings that are known beside them."""
        self._menu.clear()
        for each in found:
            shown = one_line(each.prefix) or "(nothing)"
            action = self._menu.addAction(f"{each.title}: {shown}".replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, prefix=each.prefix: self._take(prefix))
        if found:
            self._menu.addSeparator()
        folder = self._menu.addAction("A folder on this computer…")
        folder.setObjectName("moveFolderAction")
        folder.triggered.connect(lambda _checked=False: self._ask_folder())
        self._known.setStringList(list(dict.fromkeys([*(each.prefix for each in found), *known])))

    def _take(self, prefix: str) -> None:
        self._new.setText(prefix)
        self._new.setFocus()

    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, "The folder where the files are now")
        dialog.setObjectName("moveFolderDialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._take(path.rstrip("/") + "/"))
        dialog.open()
