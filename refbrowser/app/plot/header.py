"""The head of the plot: what is shown of which elements, which dimensions are the axes, coding, colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QMenu, QToolButton, QVBoxLayout, QWidget

from refbrowser.app.plot.colours.colour_maps import MapChoice
from refbrowser.app.plot.projection_button import ProjectionButton
from refbrowser.app.plot.reader import PlotSource
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import plain_label, tool_button
from refbrowser.app.widgets.switch_row import SwitchRow
from refbrowser.model.data_type import RowType
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.maps.projections import MapProjection
from refbrowser.views.overlays.marks import USUAL_MARKS, Marks
from refbrowser.views.overlays.overlay import Overlay
from refbrowser.views.plot.element_parts import COMPONENTS, LENGTH, part_node, parts_of
from refbrowser.views.plot.interpretation import NUMBER_KINDS
from refbrowser.views.plot.levels import USUAL_SCALE, Scale
from refbrowser.views.plot.plot_kind import Switch
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import one_line

#: How nested values are shown where it is not the way that is chosen first: as charts, or row by row.
CHARTS, ROWS = "charts", "rows"
#: Arrays whose choice is remembered.
_REMEMBERED = 500


class ElementChoice:
    """The choices of one pane."""

    def __init__(self) -> None:
        self._chosen: dict[tuple[str, str], str] = {}

    def names(self, whole: ArrayNode) -> tuple[str, ...]:
        """Return what can be chosen of an array beside what is shown of it first."""
        parts = tuple(part.name for part in parts_of(whole))
        if whole.nested is None:
            return parts
        if not _begins_as_charts(whole):
            return (CHARTS, *parts)
        return (ROWS, *parts) if isinstance(whole.type, RowType) else parts

    def is_charted(self, document: PlotSource, whole: ArrayNode) -> bool:
        """Whether charts of an array are shown, not its elements."""
        name = self.name(document, whole)
        return name == CHARTS if whole.nested is None or not _begins_as_charts(whole) else not name

    def name(self, document: PlotSource, whole: ArrayNode) -> str:
        """Return what is chosen of an array; empty for the whole."""
        name = self._chosen.get(_key(document, whole), "")
        return name if name in self.names(whole) else ""

    def choose(self, document: PlotSource, whole: ArrayNode, name: str) -> None:
        """Choose a part of an array by its name; empty for the whole."""
        self._chosen.pop(_key(document, whole), None)
        self._chosen[_key(document, whole)] = name
        if len(self._chosen) > _REMEMBERED:
            del self._chosen[next(iter(self._chosen))]

    def node(self, document: PlotSource, whole: ArrayNode) -> ArrayNode:
        """Return what is plotted of an array: itself, or the part that is chosen, as an array."""
        name = self.name(document, whole)
        part = next((part for part in parts_of(whole) if name and part.name == name), None)
        return whole if part is None else part_node(whole, part)


def _begins_as_charts(whole: ArrayNode) -> bool:
    """Whether charts say more of nested values than a line, an image or a list of texts does."""
    from refbrowser.views.nested.nested_numbers import choices_of

    is_number = whole.dtype is not None and whole.dtype.kind in NUMBER_KINDS
    return not is_number and any(choice.is_number or choice.lists for choice in choices_of(whole))


def _key(document: PlotSource, whole: ArrayNode) -> tuple[str, str]:
    return document.owner("plot"), whole.path


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """One state of the switches, for the header and the menu.

    Attributes
    ----------
    has_plot
        Something is drawn.
    has_proportions
        Both axes may have the same scale.
    has_levels
        Its colours stand for numbers, not for flags.
    can_log
        There is something that a logarithmic scale could be for.
    can_colour, colour
        Its bands can be shown together as colours, and are.
    has_coding
        The CF conventions make a difference.
    extremes
        The ends of the colours are the least and the greatest value, not percentiles.
    scale
        How colours are laid over the values.
    marks
        Of what lines and arrows over the picture are.
    map_title
        Of the colour map.
    switches, switched
        What the kind of plot alone has, and the names of those that are on.
    overlays, overlaid
        What can be drawn over the picture, and the names of those that are.
    projections, projection, middle
        Among which there is a choice, what was chosen, and the longitude and latitude in the middle of the
        map that is drawn; None where it has no such place.
    """

    has_plot: bool = False
    has_proportions: bool = False
    has_levels: bool = False
    can_log: bool = False
    can_colour: bool = False
    colour: bool = False
    has_coding: bool = False
    decoded: bool = True
    log: bool = False
    extremes: bool = False
    scale: Scale = USUAL_SCALE
    marks: Marks = USUAL_MARKS
    histogram: bool = False
    aspect: bool = False
    reverse: bool = False
    map_title: str = ""
    switches: tuple[Switch, ...] = ()
    switched: frozenset[str] = frozenset()
    overlays: tuple[Overlay, ...] = ()
    overlaid: frozenset[str] = frozenset()
    projections: tuple[MapProjection, ...] = ()
    projection: ChosenProjection = field(default_factory=ChosenProjection)
    middle: tuple[float, float] | None = None

    @property
    def has_middle(self) -> bool:
        """Whether the middle of the map can be set."""
        return self.middle is not None


_LINE = "none (a line)"
_ALL_FIELDS = "all fields"
#: What parts that are not fields are called; and the whole of elements that have no others.
_PARTS = {LENGTH: "lengths of rows"}
_WHOLES = {
    (LENGTH,): "rows",
    (CHARTS,): "values",
    (ROWS, LENGTH): "charts",
    tuple(COMPONENTS): "magnitude",
}
#: Dimensions and colour maps may be cut to this, in pixels, where there is no room for all controls.
_AXIS_WIDTH, _MAP_WIDTH, _COMBO_WIDTH = 48, 44, 200
#: The box of levels is at most so wide, in pixels: it has names and sizes.
_LEVEL_WIDTH = 260
#: A narrower header, in pixels, leaves out what tool tips say too.
_ROOMY = 480


class _Choice(QComboBox):
    """A box as wide as its words: Qt keeps the least size for those that it had first."""

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


#: Of the field for a place, in pixels.
_PLACE_WIDTH = 240


class PlaceField(QLineEdit):
    """Stands in the place of another widget while something is typed in it.

    Parameters
    ----------
    label
        What it stands for, which is seen at all other times.

    Signals
    -------
    typed(str)
        A selection was typed, as ``--select`` takes it.
    """

    typed = Signal(str)

    def __init__(self, label: QWidget) -> None:
        super().__init__()
        self._label = label
        self.setObjectName("plotPlace")
        self.setAccessibleName("What to show of the array")
        self.setPlaceholderText("time=2003-04, lat=30..60, plev~500")
        self.setFont(theme.mono_font())
        self.setFixedWidth(_PLACE_WIDTH)
        self.returnPressed.connect(self._typed)
        self.hide()

    def begin(self, text: str) -> None:
        """Take the place of the label, with a text to begin with."""
        self.setText(text)
        self._label.hide()
        self.show()
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def _typed(self) -> None:
        text = self.text().strip()
        self._end()
        if text:
            self.typed.emit(text)

    def _end(self) -> None:
        if not self.isHidden():
            self.hide()
            self._label.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._end()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end()


class PlotHeader(QWidget):
    """Title and controls.

    Signals
    -------
    partChosen(str)
        The user chose a part of each element; empty for the whole.
    levelChosen(object)
        The user chose a level of an image by its number; None: the one that fills the view.
    xChosen(int), yChosen(object)
        The user chose a dimension for an axis; None for y: a line.
    colourToggled(bool)
        Bands are to be shown as colours, or one of them.
    codingToggled(bool)
        Scale, offset and fill value are to be applied, or not.
    mapChosen(str)
        A colour map was chosen by its title.
    logToggled(bool), histogramToggled(bool), aspectToggled(bool)
        A switch of the look was pressed.
    switchToggled(str, bool)
        A switch of the kind of plot was pressed: its name, and whether it is on.
    overlayToggled(str, bool)
        Something is to be drawn over the picture, by its name, or is not.
    projectionChosen(object)
        The user chose a `ChosenProjection`.
    marksWanted()
        The user wants to choose of what contours and arrows are.
    resetRequested()
        The whole picture is to be seen again.
    placeWanted()
        What is to be seen of the array is to be typed.
    """

    partChosen = Signal(str)
    levelChosen = Signal(object)
    xChosen = Signal(int)
    yChosen = Signal(object)
    codingToggled = Signal(bool)
    colourToggled = Signal(bool)
    mapChosen = Signal(str)
    logToggled = Signal(bool)
    histogramToggled = Signal(bool)
    aspectToggled = Signal(bool)
    switchToggled = Signal(str, bool)
    overlayToggled = Signal(str, bool)
    projectionChosen = Signal(object)
    marksWanted = Signal()
    resetRequested = Signal()
    placeWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make_titles()
        self.place = PlaceField(self.slice_label)
        self.part = self._combo("partCombo", "What is plotted of each element")
        self.part.hide()
        self.level = self._combo("levelCombo", "Resolution level of the image")
        self.level.setMaximumWidth(_LEVEL_WIDTH)
        self._level_label = plain_label("Level", role="muted", wrap=False)
        self._level_label.setContentsMargins(theme.MEDIUM, 0, 0, 0)
        self._has_levels = False
        self.x_axis = self._combo("xAxisCombo", "Dimension on the x axis")
        self.y_axis = self._combo("yAxisCombo", "Dimension on the y axis")
        self._make_switches()
        self._make_overlays()
        self.projection = ProjectionButton()
        self.map = MapChoice()
        self.reset = tool_button("resetViewButton", "Show the whole picture (R)")
        self.reset.setAccessibleName("Show the whole picture")
        self.map.setMinimumWidth(_MAP_WIDTH)
        self.map.setMaximumWidth(_COMBO_WIDTH)
        self._x_label = plain_label("X", role="muted", wrap=False)
        self._y_label = plain_label("Y", role="muted", wrap=False)
        self._tools: list[QWidget] = []
        #: The buttons of switches that one kind of plot alone has.
        self._own: dict[str, QToolButton] = {}
        self._has_axes = True
        self._lay_out()
        self._connect()
        self.restyle()

    def _make_titles(self) -> None:
        self.title = ElidedLabel("plotTitle")
        self.title.setFont(theme.heading_font(2))
        self.path_label = ElidedLabel("plotPath", role="muted")
        self.path_label.setFont(theme.mono_font())
        self.path_label.setAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        )
        self.slice_label = plain_label("", role="muted", wrap=False)
        self.slice_label.setObjectName("plotSlice")
        self.slice_label.setFont(theme.mono_font())
        tip = "Click to type what to show: time=2003-04, lat=30..60, plev~500 (Ctrl+Shift+G)"
        self.slice_label.setToolTip(theme.plain_tooltip(tip))
        self.slice_label.setCursor(Qt.CursorShape.PointingHandCursor)
        self.slice_label.installEventFilter(self)

    def _make_switches(self) -> None:
        self.coding = self._switch("codingButton", "Apply scale, offset and missing values (CF conventions)")
        self.coding.setText("CF")
        self.colour = self._switch("colourButton", "Red, green and blue together, or one band (B)")
        self.colour.setText("RGB")
        self.log = self._switch("logButton", "Logarithmic scale (L)")
        self.histogram = self._switch("histogramButton", "Histogram to drag the levels in (H)")
        self.aspect = self._switch("aspectButton", "Equal scale on both axes (A)")
        self.profile = self._switch("profileButton", "Profile: values along a line across the image (P)")
        self.series = self._switch("seriesButton", "Series: values along a slider where you click (S)")
        self.region = self._switch("regionButton", "Region: statistics of a part of the picture (G)")
        for button in (self.profile, self.series, self.region):
            button.hide()

    def _make_overlays(self) -> None:
        self.overlays = tool_button("overlaysButton", "What is drawn over the picture")
        self.overlays.setText("Overlays")
        self.overlays.setMenu(QMenu(self.overlays))
        self.overlays.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.overlays.hide()
        self._overlays: tuple[Overlay, ...] = ()

    def _connect(self) -> None:
        self.part.activated.connect(lambda row: self.partChosen.emit(self.part.itemData(row)))
        self.level.activated.connect(lambda row: self.levelChosen.emit(self.level.itemData(row)))
        self.x_axis.activated.connect(self._x_activated)
        self.y_axis.activated.connect(self._y_activated)
        self.coding.clicked.connect(self.codingToggled)
        self.colour.clicked.connect(self.colourToggled)
        self.log.clicked.connect(self.logToggled)
        self.histogram.clicked.connect(self.histogramToggled)
        self.aspect.clicked.connect(self.aspectToggled)
        self.map.chosen.connect(self.mapChosen)
        self.projection.chosen.connect(self.projectionChosen)
        self.reset.clicked.connect(self._reset_clicked)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.reset.setIcon(icons.icon("retry"))
        self.projection.restyle()
        self.log.setIcon(icons.icon("log"))
        self.histogram.setIcon(icons.icon("histogram"))
        self.aspect.setIcon(icons.icon("aspect"))
        self.profile.setIcon(icons.icon("profile"))
        self.series.setIcon(icons.icon("series"))
        self.region.setIcon(icons.icon("region"))

    def set_title(self, title: str, path: str) -> None:
        """Show what the array is called, and its path."""
        self.title.set_text(title)
        self.path_label.set_text(path)

    def set_compact(self, is_compact: bool) -> None:
        """Leave out what the tab of the view tells, or say it here."""
        for label in (self.title, self.path_label, self.slice_label):
            label.setVisible(not is_compact)

    def set_parts(self, names: Sequence[str], chosen: str) -> None:
        """Offer parts of the elements to be plotted; there is no choice where there are none."""
        self.part.clear()
        self.part.setVisible(bool(names))
        if names:
            self.part.addItem(_WHOLES.get(tuple(names), _ALL_FIELDS), "")
        for name in names:
            self.part.addItem(_PARTS.get(name) or one_line(name), name)
        self.part.setCurrentIndex(max(0, self.part.findData(chosen)))

    def set_levels(self, titles: Sequence[str], shown: int, *, is_fixed: bool) -> None:
        """Offer the levels of an image, and the one that fills the view; there is no choice without any."""
        self._has_levels = bool(titles)
        self._show_axes()
        if [self.level.itemText(row) for row in range(1, self.level.count())] != list(titles):
            self.level.clear()
            self.level.addItem("auto", None)
            for number, title in enumerate(titles):
                self.level.addItem(title, number)
        self.level.setItemText(0, f"auto ({titles[shown]})" if titles else "")
        self.level.setMinimumWidth(min(self.level.sizeHint().width(), _AXIS_WIDTH))
        self.level.setCurrentIndex(shown + 1 if is_fixed else 0)

    def add_tools(self, tools: QWidget) -> None:
        """Take the controls of charts that stand in the place of a picture."""
        self._tools.append(tools)
        # All room is theirs.
        self._controls.insertWidget(self._controls.indexOf(self.part) + 1, tools, 100)

    def show_tools(self, shown: bool) -> None:
        """Show the controls of charts, or do not."""
        for tools in self._tools:
            tools.setVisible(shown)

    def set_slice(self, state: SliceState | None, *, has_axes: bool) -> None:
        """Show which dimensions are the axes."""
        several = state is not None and sum(size > 1 for size in state.shape) > 1
        self._has_axes = several and has_axes
        self._show_axes()
        self.slice_label.setText(
            "" if state is None or not state.shape else f"[{state.text().replace(',', ', ')}]"
        )
        if state is None:
            return
        shown = [one_line(name) for name in state.names]
        for combo, names in ((self.x_axis, shown), (self.y_axis, [*shown, _LINE])):
            if [combo.itemText(row) for row in range(combo.count())] != names:
                combo.clear()
                combo.addItems(names)
                combo.setMinimumWidth(min(combo.sizeHint().width(), _AXIS_WIDTH))
        self.x_axis.setCurrentIndex(state.x)
        self.y_axis.setCurrentIndex(len(state.names) if state.y is None else state.y)

    def _show_axes(self) -> None:
        for combo in (self.x_axis, self.y_axis):
            combo.setVisible(self._has_axes)
        for label in (self._x_label, self._y_label):
            label.setVisible(self._has_axes and self.width() >= _ROOMY)
        self.level.setVisible(self._has_levels)
        self._level_label.setVisible(self._has_levels and self.width() >= _ROOMY)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # What is selected of the words is copied, not typed anew.
        if event.type() == QEvent.Type.MouseButtonRelease and not self.slice_label.hasSelectedText():
            self.placeWanted.emit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_axes()

    def set_options(self, options: PlotOptions) -> None:
        """Show only the controls that do something for what is shown, as they are now."""
        self.map.setVisible(options.has_levels)
        self.coding.setVisible(options.has_coding)
        self.colour.setVisible(options.can_colour)
        self.colour.setChecked(options.colour)
        self.log.setVisible(options.can_log)
        self.histogram.setVisible(options.has_levels)
        self.aspect.setVisible(options.has_proportions)
        self.reset.setVisible(options.has_plot)
        self.coding.setChecked(options.decoded)
        self.log.setChecked(options.log)
        self.histogram.setChecked(options.histogram)
        self.aspect.setChecked(options.aspect)
        for switch in options.switches:
            if switch.name not in self._own:
                self._add_switch(switch)
        shown = {switch.name for switch in options.switches}
        for name, button in self._own.items():
            button.setVisible(name in shown)
            button.setChecked(name in options.switched)

        self._show_overlays(options)
        self.projection.show_choice(options.projections, options.projection, options.middle)

    def _show_overlays(self, options: PlotOptions) -> None:
        self.overlays.setVisible(bool(options.overlays))
        menu = self.overlays.menu()
        if options.overlays != self._overlays:
            self._overlays = options.overlays
            menu.clear()
            for overlay in options.overlays:
                self._add_overlay(menu, overlay)
            if {"contours", "arrows", "composite"} & {overlay.name for overlay in options.overlays}:
                menu.addSeparator()
                more = menu.addAction("Contours, arrows and bands…", self.marksWanted.emit)
                more.setObjectName("marksEntry")
        for entry, overlay in zip(menu.actions(), options.overlays, strict=False):
            entry.setChecked(overlay.name in options.overlaid)

    def _add_overlay(self, menu: QMenu, overlay: Overlay) -> None:
        entry = menu.addAction(overlay.text)
        entry.setObjectName(f"{overlay.name}Overlay")
        entry.setToolTip(overlay.tip)
        entry.setCheckable(True)
        entry.triggered.connect(lambda on: self.overlayToggled.emit(overlay.name, on))

    def _add_switch(self, switch: Switch) -> None:
        """Make the button of a switch that one kind of plot alone has."""
        button = self._own[switch.name] = self._switch(f"{switch.name}Button", switch.tip)
        button.setText(switch.text)
        button.clicked.connect(lambda on: self.switchToggled.emit(switch.name, on))
        self._switches.add_first(button)

    def choose_map(self, title: str) -> None:
        """Show another colour map as the chosen one."""
        self.map.choose(title)

    def _lay_out(self) -> None:
        titles = QHBoxLayout()
        titles.setSpacing(theme.SMALL)
        titles.addWidget(self.title, 3)
        titles.addWidget(self.path_label, 1)
        titles.addWidget(self.slice_label)
        titles.addWidget(self.place)
        # The row of controls leaves no room for it in a narrow window.
        titles.addWidget(self._level_label)
        titles.addWidget(self.level)
        controls = self._controls = QHBoxLayout()
        controls.setSpacing(theme.MEDIUM)
        left: tuple[QWidget, ...] = (
            self.part,
            self._x_label,
            self.x_axis,
            self._y_label,
            self.y_axis,
        )
        right = (
            self.colour,
            self.overlays,
            self.projection,
            self.coding,
            self.log,
            self.histogram,
            self.aspect,
            self.profile,
            self.series,
            self.region,
            self.reset,
        )
        for widget in left:
            controls.addWidget(widget)
        # The map's name gives way first, then come the switches.
        self._switches = SwitchRow("moreSwitchesButton", self.map)
        self._switches.add(*right)
        controls.addWidget(self._switches, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(titles)
        layout.addLayout(controls)

    def _combo(self, name: str, accessible: str) -> QComboBox:
        combo = _Choice()
        combo.setObjectName(name)
        combo.setAccessibleName(accessible)
        combo.setToolTip(accessible)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.setMaximumWidth(_COMBO_WIDTH)
        return combo

    def _switch(self, name: str, tip: str) -> QToolButton:
        button = tool_button(name, tip)
        button.setCheckable(True)
        return button

    def _x_activated(self, index: int) -> None:
        self.xChosen.emit(index)

    def _y_activated(self, index: int) -> None:
        self.yChosen.emit(
            None if self.y_axis.itemText(index) == _LINE and index == self.x_axis.count() else index
        )

    def _reset_clicked(self) -> None:
        self.resetRequested.emit()
