"""The button of the head of a plot that chooses a projection, and where its middle is."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QDoubleSpinBox, QFormLayout, QMenu, QToolButton, QWidget, QWidgetAction

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.small_widgets import push_button, tool_button
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.maps.projections import MapProjection, can_be_drawn, projection

#: What to do where a projection does not work here.
_ADVICE = "This needs pyproj: pip install 'refbrowser[maps]'"


class ProjectionButton(QToolButton):
    """A button with a menu.

    Signals
    -------
    chosen(object)
        The user chose a `ChosenProjection`.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        like = tool_button("projectionButton", "Projection")
        self.setObjectName("projectionButton")
        self.setAutoRaise(like.autoRaise())
        self.setFocusPolicy(like.focusPolicy())
        self.setAccessibleName("Projection")
        self.setMenu(QMenu(self))
        self.menu().setToolTipsVisible(True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._offered: tuple[MapProjection, ...] = ()
        self._choice = ChosenProjection()
        self._centre: CentreFields | None = None
        self.restyle()
        self.hide()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.setIcon(icons.icon("globe"))

    def show_choice(
        self, offered: tuple[MapProjection, ...], choice: ChosenProjection, middle: tuple[float, float] | None
    ) -> None:
        """Offer projections, of which one is chosen; the middle of the map is where it is drawn now."""
        self.setVisible(bool(offered))
        if offered != self._offered:
            self._offered = offered
            self._fill()
        self._choice = choice
        row = projection(choice.name)
        row = row if row in offered else projection("")
        for entry in self.menu().actions():
            if entry.isCheckable():
                entry.setChecked(entry.objectName() == f"{row.name}Projection")
        self.setToolTip(f"Projection: {row.text}")
        if self._centre is not None:
            self._centre.show_middle(row, middle)

    def _fill(self) -> None:
        menu, group = self.menu(), QActionGroup(self)
        menu.clear()
        self._centre = None
        for row in self._offered:
            entry = menu.addAction(row.text)
            entry.setObjectName(f"{row.name}Projection")
            entry.setCheckable(True)
            entry.setActionGroup(group)
            entry.setEnabled(can_be_drawn(row.name))
            entry.setToolTip(row.tip if entry.isEnabled() else _ADVICE)
            entry.triggered.connect(lambda _on, name=row.name: self._projection_chosen(name))
        if any(row.has_longitude for row in self._offered):
            menu.addSeparator()
            fields = QWidgetAction(menu)
            self._centre = CentreFields()
            self._centre.changed.connect(self._centre_chosen)
            fields.setDefaultWidget(self._centre)
            menu.addAction(fields)

    def _projection_chosen(self, name: str) -> None:
        self.chosen.emit(replace(self._choice, name=name))

    def _centre_chosen(self, centre: tuple[float, float] | None) -> None:
        self.chosen.emit(replace(self._choice, centre=centre))


class CentreFields(QWidget):
    """The longitude and latitude in the centre of a map.

    Signals
    -------
    changed(object)
        The user set them; None for those that are usual.
    """

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.longitude = _field("centreLongitude", "Longitude of the centre", 360.0)
        self.latitude = _field("centreLatitude", "Latitude of the centre", 90.0)
        self.usual = push_button("Usual centre", "centreUsual", lambda: self.changed.emit(None))
        form = QFormLayout(self)
        form.setContentsMargins(theme.LARGE, theme.SMALL, theme.LARGE, theme.SMALL)
        form.addRow("Centre longitude", self.longitude)
        form.addRow("Centre latitude", self.latitude)
        form.addRow(self.usual)
        for field in (self.longitude, self.latitude):
            field.valueChanged.connect(self._set)

    def show_middle(self, row: MapProjection, middle: tuple[float, float] | None) -> None:
        """Show where the centre is; what makes no difference cannot be set."""
        self.longitude.setEnabled(row.has_longitude and middle is not None)
        self.latitude.setEnabled(row.has_latitude and middle is not None)
        self.usual.setEnabled(row.has_longitude and middle is not None)
        for field, value in zip((self.longitude, self.latitude), middle or (0.0, 0.0), strict=True):
            if not field.hasFocus():
                field.blockSignals(True)
                field.setValue(value)
                field.blockSignals(False)

    def _set(self, _value: float) -> None:
        self.changed.emit((self.longitude.value(), self.latitude.value()))


def _field(name: str, title: str, most: float) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setObjectName(name)
    field.setAccessibleName(title)
    field.setRange(-most, most)
    field.setDecimals(1)
    field.setSingleStep(10.0)
    field.setSuffix("°")
    field.setKeyboardTracking(False)
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    return field
