"""The sheet "Units": in which units the values of a plot are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QVBoxLayout, QWidget

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import answer_line, combo_box, one_shot, plain_label, push_button
from refbrowser.views.numbers import value_text
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.model.expressions.conversions import Conversion

#: Milliseconds without a keystroke after which units are looked at.
_PAUSE = 150
_WIDTH = 420


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was found out of units: others that are offered, and what becomes those that were typed."""

    offered: list[str]
    conversion: Conversion | None


class UnitsSheet(QDialog):
    """Takes units, tells what one of the array's own is in them, and shows the plot so.

    Parameters
    ----------
    units, is_difference
        Of the array; whether its values are differences.
    """

    def __init__(
        self, plot: PlotPane, document: OpenDocument, units: str, is_difference: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("unitsSheet")
        self.setWindowTitle("Units")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(_WIDTH)
        self._plot, self._document = plot, document
        self._units, self._is_difference = units, is_difference
        self._conversion: Conversion | None = None
        self._work = Latest(self, "units")
        self._pause = one_shot(self, _PAUSE, self._look)
        self._lay_out()
        self.rejected.connect(self._work.cancel)
        document.destroyed.connect(self.reject)
        self._look()

    def _lay_out(self) -> None:
        heading = plain_label(f"Units: {one_line(self._units)}")
        heading.setFont(theme.heading_font())
        self._choice = combo_box("unitsChoice", "Units in which values are shown")
        self._choice.setEditable(True)
        self._choice.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        before = self._plot.look().conversion()
        self._choice.setEditText("" if before is None else before.units)
        field = self._choice.lineEdit()
        assert field is not None
        field.setPlaceholderText("degC, hPa, km h-1, mm day-1…")
        field.setAccessibleName("Units in which values are shown")
        self._choice.editTextChanged.connect(self._typed)
        self._outcome = plain_label()
        self._outcome.setObjectName("unitsOutcome")
        self._outcome.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self._outcome.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._show = push_button("Show", "unitsButton", self.show_in)
        self._show.setDefault(True)
        self._show.setEnabled(False)
        own = push_button("Own units", "unitsOwnButton", self.show_own)
        own.setEnabled(before is not None)
        cancel = push_button("Cancel", "unitsCancelButton", self.reject)
        line = answer_line(cancel, self._show, beside=[own])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        about = "The plot, its colours, the table and what is exported of the view are in these units."
        layout.addWidget(plain_label(about, role="muted"))
        layout.addWidget(self._choice)
        layout.addWidget(self._outcome, 1)
        layout.addLayout(line)
        self._choice.setFocus()

    def _typed(self) -> None:
        self._conversion = None
        self._show.setEnabled(False)
        self._work.cancel()
        self._pause.start()

    def _look(self) -> None:
        """Find out what the array's units become."""
        own, wanted, is_difference = self._units, self._choice.currentText().strip(), self._is_difference

        def find(control: TaskControl) -> _Looked:
            from refbrowser.model.expressions.conversions import conversion, offered_units

            found = conversion(own, wanted, is_difference=is_difference) if wanted else None
            return _Looked(offered_units(own), found)

        self._work.run(self._document, "Look at units", find, self._looked, self._failed)

    def _looked(self, looked: _Looked) -> None:
        self._conversion = looked.conversion
        if not self._choice.count() and looked.offered:
            typed = self._choice.currentText()
            self._choice.blockSignals(True)
            self._choice.addItems(looked.offered)
            self._choice.setEditText(typed)
            self._choice.blockSignals(False)
        if looked.conversion is None:
            self._outcome.setText("" if looked.offered else "No usual units are of the same kind: type some.")
            return
        found = looked.conversion
        self._outcome.setText(f"1 {self._units} is {value_text(found.scale + found.offset)} {found.units}")
        self._show.setEnabled(True)

    def _failed(self, error: BaseException) -> None:
        self._outcome.setText(error_text(error))

    # Acting

    def show_in(self) -> None:
        """Show the plot in the units that were typed."""
        if self._conversion is not None:
            self.accept()
            self._plot.look().set_units(self._conversion)

    def show_own(self) -> None:
        """Show the plot in the units of the array."""
        self.accept()
        self._plot.look().set_units(None)
