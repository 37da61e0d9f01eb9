"""Of what contours, arrows and colours over a picture are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import combo_box, plain_label, push_button
from refbrowser.views.overlays.arrows import chosen_components
from refbrowser.views.overlays.composite import MOST_CLIP, Composite, band_axes, proposed
from refbrowser.views.overlays.contours import Spacing
from refbrowser.views.overlays.marks import Marks
from refbrowser.views.overlays.same_grid import title_of
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.plot.drawn_slice import DrawnSlice

_SELF, _ARRAYS = "the array that is shown", "arrays on this grid"
#: Characters of a title in a list.
_TITLE = 60
_COLOURS = ("red", "green", "blue")


class MarksDialog(QDialog):
    """What is chosen is seen at once; it follows the plot that it was opened for."""

    def __init__(self, plot: PlotPane) -> None:
        super().__init__(plot.window())
        self.setObjectName("marksDialog")
        self.setWindowTitle("Contours, arrows and bands")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.plot, self._look = plot, plot.look()
        self._contours = self._box("contours", "Draw &contours")
        self._of = self._combo("marksContoursOf", "Contours of")
        self._values = QLineEdit()
        self._values.setObjectName("marksValues")
        self._values.setAccessibleName("Values of contours")
        self._values.setPlaceholderText("round numbers; or type 0, 5, 20 or every 4")
        self._values.setMinimumWidth(self.fontMetrics().averageCharWidth() * 46)
        self._values.editingFinished.connect(self._values_edited)
        self._arrows = self._box("arrows", "Draw &arrows")
        self._across = self._combo("marksAcross", "Component along x, or eastwards")
        self._upwards = self._combo("marksUpwards", "Component along y, or northwards")
        self._composite = self._box("composite", "Draw three &bands as colours")
        self._from = self._combo("marksBandsFrom", "Bands from")
        self._from.activated.disconnect()
        self._from.activated.connect(self._take_from)
        self._bands = [self._combo(f"marks_{name}", f"Band that is {name}") for name in _COLOURS]
        self._clip = QDoubleSpinBox()
        self._clip.setObjectName("marksClip")
        self._clip.setAccessibleName("Part of the values left out at both ends")
        self._clip.setRange(0, MOST_CLIP)
        self._clip.setDecimals(1)
        self._clip.setSuffix(" %")
        self._clip.setKeyboardTracking(False)
        self._fault = plain_label("", role="fault")
        self._fault.setObjectName("marksFault")
        self._fault.setMinimumHeight(self.fontMetrics().lineSpacing())
        self._offered: object = None
        self._offered_bands: object = None
        self._lay_out()
        self._show()
        self._clip.valueChanged.connect(self._take)
        self._look.changed.connect(self._show)
        plot.arrayChanged.connect(self._show)

    def _box(self, overlay: str, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setObjectName(f"marks_{overlay}")
        box.clicked.connect(lambda on: self._look.set_overlay(overlay, on))
        return box

    def _combo(self, name: str, title: str) -> QComboBox:
        combo = combo_box(name, title)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(28)
        combo.activated.connect(self._take)
        return combo

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(theme.LARGE)
        form.setVerticalSpacing(theme.SMALL)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(self._contours)
        form.addRow("&Of", self._of)
        form.addRow("At &values", self._values)
        form.addRow(self._arrows)
        form.addRow("&East, or x", self._across)
        form.addRow("&North, or y", self._upwards)
        form.addRow(self._composite)
        form.addRow("&From", self._from)
        for text, combo in zip(("&Red", "&Green", "B&lue"), self._bands, strict=True):
            form.addRow(text, combo)
        form.addRow("&Leave out", self._clip)
        buttons = QHBoxLayout()
        buttons.addWidget(self._fault, 1)
        buttons.addWidget(push_button("Close", "marksCloseButton", self.accept))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.LARGE, theme.HUGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(form)
        layout.addLayout(buttons)

    def _show(self) -> None:
        """Show what is drawn over the plot now."""
        options, drawn = self._look.options, self.plot.drawn_slice()
        names = {overlay.name for overlay in options.overlays}
        boxes = (self._contours, "contours"), (self._arrows, "arrows"), (self._composite, "composite")
        for box, name in boxes:
            box.setEnabled(name in names)
            box.setChecked(name in options.overlaid)
        arrays = () if drawn is None else (drawn.shown.node, *drawn.others)
        self._offer(arrays)
        self._show_marks(options.marks, arrays, names)
        self._show_bands(options.marks.composite, drawn, can="composite" in names)

    def _show_marks(self, marks: Marks, arrays: Sequence[ArrayNode], names: set[str]) -> None:
        for widget in (self._of, self._values):
            widget.setEnabled("contours" in names)
        self._of.setCurrentIndex(max(0, self._of.findData(marks.contours_of)))
        if not self._values.isModified():
            self._values.setText(marks.spacing.text)
        found = chosen_components(arrays, marks.arrows)
        for combo, path in (
            (self._across, "" if found is None else found.across),
            (self._upwards, "" if found is None else found.upwards),
        ):
            combo.setEnabled(len(arrays) > 1)
            combo.setCurrentIndex(combo.findData(path))

    def _show_bands(self, chosen: Composite, drawn: DrawnSlice | None, *, can: bool) -> None:
        composite = None if drawn is None or not can else proposed(drawn, chosen)
        for widget in (self._from, *self._bands, self._clip):
            widget.setEnabled(composite is not None)
        if drawn is None or composite is None:
            return
        self._offer_bands(drawn, composite.dimension)
        self._from.setCurrentIndex(self._from.findData(composite.dimension))
        for combo, band in zip(self._bands, composite.bands, strict=True):
            combo.setCurrentIndex(combo.findData(band))
        if not self._clip.hasFocus():
            self._clip.blockSignals(True)
            self._clip.setValue(composite.clip)
            self._clip.blockSignals(False)

    def _offer(self, arrays: Sequence[ArrayNode]) -> None:
        """Offer arrays, where they are other ones than before."""
        paths = [array.path for array in arrays]
        if paths == self._offered:
            return
        self._offered = paths
        for combo in (self._of, self._across, self._upwards):
            combo.clear()
        self._of.addItem(_SELF, "")
        for combo in (self._across, self._upwards):
            _fill(combo, arrays)
        _fill(self._of, arrays[1:])

    def _offer_bands(self, drawn: DrawnSlice, dimension: str) -> None:
        """Offer the bands along a dimension, or arrays where it is empty."""
        state = drawn.state
        offered = drawn.shown.node, drawn.others, drawn.coordinates, dimension
        if offered == self._offered_bands:
            return
        self._offered_bands = offered
        self._from.clear()
        if len(drawn.others) > 1:
            self._from.addItem(_ARRAYS, "")
        for axis in band_axes(state):
            self._from.addItem(f"indices of {one_line(state.names[axis])}"[:_TITLE], state.names[axis])
        for combo in self._bands:
            combo.clear()
            if not dimension:
                _fill(combo, (drawn.shown.node, *drawn.others))
                continue
            coordinate = drawn.coordinates[state.names.index(dimension)]
            for index in range(coordinate.size):
                text = one_line(coordinate.text(index))[:_TITLE]
                combo.addItem(text if text == str(index) else f"{index}   {text}", str(index))

    def _values_edited(self) -> None:
        if self._values.isModified():
            self._values.setModified(False)
            self._take()

    def _take_from(self) -> None:
        """Offer the bands of another dimension, or arrays, and use the first of them."""
        drawn, dimension = self.plot.drawn_slice(), self._from.currentData()
        if drawn is None or dimension is None:
            return
        paths = [drawn.shown.node.path, *(array.path for array in drawn.others)]
        first, second, third = ("0", "1", "2") if dimension else paths[:3]
        marks = self._look.options.marks
        composite = replace(marks.composite, dimension=dimension, bands=(first, second, third))
        self._look.set_marks(replace(marks, composite=composite))
        self._show()

    def _take(self, *_: object) -> None:
        """Use what is chosen."""
        self._fault.setText("")
        drawn, now = self.plot.drawn_slice(), self._look.options.marks
        try:
            spacing = Spacing.of(self._values.text())
        except ValueError as error:
            self._values.setModified(True)
            self._fault.setText(f"{str(error)[:1].upper()}{str(error)[1:]}")
            return
        if drawn is None:
            return
        pair = self._across.currentData() or "", self._upwards.currentData() or ""
        found = chosen_components((drawn.shown.node, *drawn.others), now.arrows)
        is_same = found is None or pair == (found.across, found.upwards)
        marks = Marks(
            self._of.currentData() or "",
            spacing,
            now.arrows if is_same else pair,
            self._chosen_bands(drawn, now.composite),
        )
        if marks != now:
            self._look.set_marks(marks)

    def _chosen_bands(self, drawn: DrawnSlice, now: Composite) -> Composite:
        """Return the bands that are chosen; as before, where they are those that are proposed."""
        red, green, blue = (combo.currentData() or "" for combo in self._bands)
        dimension = self._from.currentData() or ""
        chosen = Composite(dimension, (red, green, blue), self._clip.value())
        if not self._from.isEnabled() or chosen == proposed(drawn, now):
            return now
        return chosen


def _fill(combo: QComboBox, arrays: Sequence[ArrayNode]) -> None:
    for array in arrays:
        combo.addItem(one_line(title_of(array))[:_TITLE], array.path)
        combo.setItemData(combo.count() - 1, one_line(array.path), Qt.ItemDataRole.ToolTipRole)
