"""Of what contours and arrows over a picture are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import combo_box, plain_label, push_button
from refbrowser.views.overlays.arrows import chosen_components
from refbrowser.views.overlays.contours import Spacing
from refbrowser.views.overlays.marks import Marks
from refbrowser.views.overlays.same_grid import title_of
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.model.nodes import ArrayNode

_SELF = "the array that is shown"
#: Characters of a title in a list.
_TITLE = 60


class MarksDialog(QDialog):
    """What is chosen is seen at once; it follows the plot that it was opened for."""

    def __init__(self, plot: PlotPane) -> None:
        super().__init__(plot.window())
        self.setObjectName("marksDialog")
        self.setWindowTitle("Contours and arrows")
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
        self._fault = plain_label("", role="fault")
        self._fault.setObjectName("marksFault")
        self._fault.setMinimumHeight(self.fontMetrics().lineSpacing())
        self._offered: tuple[str, ...] | None = None
        self._lay_out()
        self._show()
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
        combo.setMinimumContentsLength(24)
        combo.activated.connect(self._take)
        return combo

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(theme.LARGE)
        form.setVerticalSpacing(theme.MEDIUM)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(self._contours)
        form.addRow("&Of", self._of)
        form.addRow("At &values", self._values)
        form.addRow(self._arrows)
        form.addRow("&East, or x", self._across)
        form.addRow("&North, or y", self._upwards)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(push_button("Close", "marksCloseButton", self.accept))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(form)
        layout.addWidget(self._fault)
        layout.addLayout(buttons)

    def _show(self) -> None:
        """Show what is drawn over the plot now."""
        options, marks = self._look.options, self._look.options.marks
        names = {overlay.name for overlay in options.overlays}
        node, others = self.plot.array(), self.plot.arrays_on_grid()
        arrays = () if node is None else (node, *others)
        self._offer(arrays)
        for box, name in ((self._contours, "contours"), (self._arrows, "arrows")):
            box.setEnabled(name in names)
            box.setChecked(name in options.overlaid)
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

    def _offer(self, arrays: Sequence[ArrayNode]) -> None:
        """Offer arrays, where they are other ones than before."""
        paths = tuple(array.path for array in arrays)
        if paths == self._offered:
            return
        self._offered = paths
        for combo in (self._of, self._across, self._upwards):
            combo.clear()
        self._of.addItem(_SELF, "")
        for number, array in enumerate(arrays):
            title = one_line(title_of(array))[:_TITLE]
            for combo in (self._across, self._upwards, *([self._of] if number else [])):
                combo.addItem(title, array.path)
                combo.setItemData(combo.count() - 1, one_line(array.path), Qt.ItemDataRole.ToolTipRole)

    def _values_edited(self) -> None:
        if self._values.isModified():
            self._values.setModified(False)
            self._take()

    def _take(self, *_: object) -> None:
        """Use what is chosen."""
        self._fault.setText("")
        try:
            spacing = Spacing.of(self._values.text())
        except ValueError as error:
            self._values.setModified(True)
            self._fault.setText(f"{str(error)[:1].upper()}{str(error)[1:]}")
            return
        marks = Marks(self._of.currentData() or "", spacing)
        pair = self._across.currentData() or "", self._upwards.currentData() or ""
        now = self._look.options.marks
        found = chosen_components(
            [array for array in (self.plot.array(), *self.plot.arrays_on_grid()) if array is not None],
            now.arrows,
        )
        is_same = found is not None and pair == (found.across, found.upwards)
        marks = replace(marks, arrows=now.arrows if is_same else pair)
        if marks != now:
            self._look.set_marks(marks)
