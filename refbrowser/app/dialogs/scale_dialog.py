"""How colours are laid over the values: linear or not, centred, in steps, the same for all slices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import combo_box, plain_label, push_button
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import OF_ALL, STEPS_MOST, USUAL_SCALE, Levels, Scale

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.tasks.tasks import TaskControl

_LINEAR, _LOG, _BOTH = "Values", "Logarithms", "Logarithms on both sides of zero"
_SMOOTH, _STEPS, _EDGES = "All colours of the map", "Steps, about", "Steps with these edges"
_EDGES_HINT = "for example 0, 1, 5, 20"
_FIRST_STEPS = 10


class ScaleDialog(QDialog):
    """What is chosen is seen at once; it follows the plot that it was opened for."""

    def __init__(self, plot: PlotPane) -> None:
        super().__init__(plot.window())
        self.setObjectName("scaleDialog")
        self.setWindowTitle("Colour scale")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.plot, self._look = plot, plot.look()
        self._latest = Latest(self, "plot-range")
        self._curve = combo_box("scaleCurve", "Colours follow")
        self._curve.addItems((_LINEAR, _LOG, _BOTH))
        self._within = self._number("scaleWithin", "Even within this of zero", "automatic")
        self._centred = QCheckBox("The same on both sides of")
        self._centred.setObjectName("scaleCentred")
        self._centre = self._number("scaleCentre", "Value in the middle of the colours", "")
        self._centre.setText("0")
        self._kind = combo_box("scaleSteps", "Colours")
        self._kind.addItems((_SMOOTH, _STEPS, _EDGES))
        self._count = QSpinBox()
        self._count.setObjectName("scaleCount")
        self._count.setAccessibleName("Number of steps")
        self._count.setRange(1, STEPS_MOST)
        self._count.setValue(_FIRST_STEPS)
        self._edges = QLineEdit()
        self._edges.setObjectName("scaleEdges")
        self._edges.setAccessibleName("Edges of the steps")
        self._edges.setPlaceholderText(_EDGES_HINT)
        self._edges.setMinimumWidth(self.fontMetrics().averageCharWidth() * 32)
        self._fixed = QCheckBox("Keep the levels on every slice")
        self._fixed.setObjectName("scaleFixed")
        self._fixed.setToolTip("Colours mean the same while you move sliders or animate")
        self._whole = push_button("Levels of the whole variable", "scaleWholeButton", self._read_whole)
        self._cost = plain_label("", role="muted", wrap=False)
        self._cost.setObjectName("scaleCost")
        self._fault = plain_label("", role="fault")
        self._fault.setObjectName("scaleFault")
        self._fault.setMinimumHeight(self.fontMetrics().lineSpacing())
        self._lay_out()
        self._show()
        for combo in (self._curve, self._kind):
            combo.activated.connect(self._take)
        for box in (self._centred, self._fixed):
            box.clicked.connect(self._take)
        for field in (self._within, self._centre, self._edges):
            field.editingFinished.connect(self._take_edited)
        self._count.valueChanged.connect(self._take)
        self._look.changed.connect(self._show)
        plot.arrayChanged.connect(self._array_changed)

    def _number(self, name: str, title: str, hint: str) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(name)
        field.setAccessibleName(title)
        field.setToolTip(title)
        field.setPlaceholderText(hint)
        validator = QDoubleValidator(field)
        validator.setLocale(QLocale.c())
        field.setValidator(validator)
        field.setFixedWidth(self.fontMetrics().averageCharWidth() * 16)
        return field

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(theme.LARGE)
        form.setVerticalSpacing(theme.MEDIUM)
        form.addRow("Colours &follow", self._curve)
        form.addRow("&Even within ±", self._within)
        form.addRow(*_beside("&Centre", self._centred, self._centre))
        form.addRow(*_beside("Colou&rs", self._kind, self._count))
        form.addRow("E&dges", self._edges)
        form.addRow("&Slices", self._fixed)
        form.addRow(*_beside("", self._whole))
        form.addRow("", self._cost)
        buttons = QHBoxLayout()
        buttons.addWidget(push_button("Set back", "scaleResetButton", self._reset))
        buttons.addStretch(1)
        buttons.addWidget(push_button("Close", "scaleCloseButton", self.accept))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(form)
        layout.addWidget(self._fault)
        layout.addLayout(buttons)

    def _show(self) -> None:
        """Show the scale of the plot as it is now."""
        options, scale = self._look.options, self._look.options.scale
        can = options.has_levels
        curve = _BOTH if scale.both_signs else _LOG if options.log else _LINEAR
        self._curve.setCurrentText(curve)
        self._curve.setEnabled(can)
        self._within.setEnabled(can and curve == _BOTH)
        if not self._within.hasFocus():
            self._within.setText(f"{scale.even_within:g}" if scale.even_within else "")
        self._centred.setChecked(scale.centre is not None)
        self._centred.setEnabled(can and curve != _LOG)
        self._centre.setEnabled(can and scale.centre is not None and curve != _LOG)
        if scale.centre is not None and not self._centre.hasFocus():
            self._centre.setText(f"{scale.centre:g}")
        kind = _EDGES if scale.edges or self._waits_for_edges() else _STEPS if scale.steps else _SMOOTH
        self._kind.setCurrentText(kind)
        self._kind.setEnabled(can)
        self._count.setEnabled(can and kind == _STEPS)
        self._edges.setEnabled(can and kind == _EDGES)
        if scale.edges and not self._edges.hasFocus():
            self._edges.setText(", ".join(f"{edge:.10g}" for edge in scale.edges))
        self._fixed.setChecked(scale.is_fixed)
        self._fixed.setEnabled(can)
        from refbrowser.views.colours.whole_range import cost_words

        node = self.plot.array()
        self._whole.setEnabled(can and node is not None)
        if not self._latest.is_running:
            self._cost.setText(cost_words(node) if can and node is not None else "")

    def _waits_for_edges(self) -> bool:
        """Whether edges were chosen, and none that can be used are typed yet."""
        return self._kind.currentText() == _EDGES and self._edges.isEnabled()

    def _take_edited(self) -> None:
        field = self.sender()
        if isinstance(field, QLineEdit) and field.isModified():
            field.setModified(False)
            self._take()

    def _take(self, *_: object) -> None:
        """Use what is chosen."""
        kind, curve = self._kind.currentText(), self._curve.currentText()
        self._edges.setEnabled(kind == _EDGES)
        self._count.setEnabled(kind == _STEPS)
        self._fault.setText("")
        try:
            edges = _numbers(self._edges.text()) if kind == _EDGES else ()
            scale = Scale(
                centre=float(self._centre.text() or 0) if self._centred.isChecked() else None,
                both_signs=curve == _BOTH,
                even_within=float(self._within.text() or 0),
                steps=self._count.value() if kind == _STEPS else 0,
                edges=edges,
                is_fixed=self._fixed.isChecked(),
            )
        except ValueError as error:
            self._fault.setText(f"{str(error)[:1].upper()}{str(error)[1:]}")
            return
        if (curve == _LOG) != self._look.options.log:
            self._look.set_log(curve == _LOG)
        if scale != self._look.options.scale:
            self._look.set_scale(scale)
        self._show()
        if kind == _EDGES and not edges:
            self._edges.setFocus()

    def _reset(self) -> None:
        self._kind.setCurrentText(_SMOOTH)
        self._edges.clear()
        self._fault.setText("")
        if self._look.options.log:
            self._look.set_log(False)
        self._look.set_scale(USUAL_SCALE)
        self._look.auto_levels()

    def _array_changed(self) -> None:
        self._latest.cancel()
        self._kind.setCurrentText(_SMOOTH)
        self._edges.clear()
        self._show()

    # The whole variable

    def _read_whole(self) -> None:
        from refbrowser.views.colours.whole_range import whole_range

        document, node = self.plot.source(), self.plot.array()
        dataset = None if document is None else document.dataset
        if document is None or node is None or dataset is None:
            return
        session, access = dataset.session, dataset.access.at_once()
        shown = Interpretation(node, self.plot.is_decoded())

        def read(control: TaskControl) -> tuple[float, float] | None:
            return whole_range(session, access, shown, control.token, control.progress)

        def done(found: tuple[float, float] | None) -> None:
            if found is None or not found[0] < found[1]:
                self._say("No two values of it differ")
                return
            self._look.set_scale(replace(self._look.options.scale, is_fixed=True, edges=()))
            self._look.set_levels(Levels(*found), OF_ALL)
            self._say(f"Found: {found[0]:.6g} to {found[1]:.6g}")

        def failed(error: BaseException) -> None:
            self._say("")
            self._fault.setText(f"Not all of it can be read: {getattr(error, 'message', error)}")

        self._fault.setText("")
        self._latest.run(document, f"Least and greatest value of {node.path}", read, done, failed)
        self._cost.setText("reading, see Jobs…")

    def _say(self, text: str) -> None:
        self._cost.setText(text)


def _beside(text: str, *widgets: QWidget) -> tuple[QLabel, QHBoxLayout]:
    """Return a row of a form, whose label leads to the first widget."""
    label, row = QLabel(text), QHBoxLayout()
    label.setBuddy(widgets[0])
    row.setSpacing(theme.MEDIUM)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return label, row


def _numbers(text: str) -> tuple[float, ...]:
    """Return numbers between commas, semicolons or blanks."""
    words = text.replace(",", " ").replace(";", " ").split()
    if len(words) > STEPS_MOST + 1:
        raise ValueError(f"there are at most {STEPS_MOST} steps")
    try:
        return tuple(float(word) for word in words)
    except ValueError:
        raise ValueError("edges are numbers with commas between them") from None
