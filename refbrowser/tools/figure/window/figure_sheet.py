"""The sheet "Export figure": size, letters and words of a figure, with the figure as it will be."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from refbrowser.app.dialogs.export_target import ask_target
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import (
    combo_box,
    plain_label,
    push_button,
    scrolled,
)
from refbrowser.errors import RefbrowserError
from refbrowser.tools.figure.window.figure_chart import FigureChart
from refbrowser.tools.figure.window.figure_drawing import FigureDrawing, png_bytes
from refbrowser.tools.figure.window.figure_plot import FigurePlot, FigureSource
from refbrowser.tools.figure.window.preview_sheet import PreviewSheet, ground_box
from refbrowser.views.figures.figure_form import (
    LEAST_POINTS,
    MOST_POINTS,
    FigureForm,
    FigureWords,
)
from refbrowser.views.figures.figure_size import LEAST_DPI, MOST_DPI, NAMED_SIZES, UNITS, FigureSize
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.settings.settings import Settings
    from refbrowser.engine.dataset import Dataset
    from refbrowser.views.plot_states.plot_state import PlotState

#: The name under which the form of the last figure is kept.
KEPT = "figure"
#: The controls are at least so wide, in pixels.
_LEAST_CONTROLS = 400
_TITLES = {
    "column": "One column (85 mm)",
    "page": "Two columns (170 mm)",
    "a4": "A4, landscape",
    "a4-upright": "A4, upright",
    "slide": "Slide (1920 × 1080)",
}
_OTHER = "Other size"
#: Suffixes of the files that a figure is written as, and what the dialog calls them.
FORMS = {".pdf": "PDF page (*.pdf)", ".svg": "SVG drawing (*.svg)", ".png": "PNG picture (*.png)"}
_WORDS = {
    "title": ("&Title", "title"),
    "caption": ("&Caption", "caption"),
    "across": ("Axis &below", "labels"),
    "upwards": ("Left axis", "labels"),
    "bar": ("Colour ba&r", "bar"),
}


def kept_form(settings: Settings) -> FigureForm:
    """Return the form that the last figure had."""
    try:
        return FigureForm.from_json(json.loads(settings.preference(KEPT) or "null"))
    except ValueError:
        return FigureForm()


def written(drawing: FigureDrawing, suffix: str) -> Callable[[], bytes]:
    """Return what makes the bytes of a figure's file, on any thread; what needs the window's is done now."""
    if suffix == ".png":
        image = drawing.png()
        return lambda: png_bytes(image)
    data = drawing.pdf() if suffix == ".pdf" else drawing.svg()
    return lambda: data


class FigureSheet(PreviewSheet):
    """Shows what plots show as a figure, and writes it.

    Parameters
    ----------
    shown
        The plots: of each its dataset, what its document is called, and what it shows.
    charts
        Those below them.
    name
        Proposed for the file, without a suffix.

    Signals
    -------
    told(str)
        What was done.
    drawn(str, object)
        The figure is to be written to a file; what is emitted makes its bytes, on any thread.
    """

    told = Signal(str)
    drawn = Signal(str, object)

    def __init__(
        self,
        shown: Sequence[tuple[Dataset, str, PlotState]],
        charts: Sequence[FigureChart],
        folder: str,
        name: str,
        settings: Settings,
        parent: QWidget,
    ) -> None:
        super().__init__("figure", "Export figure", 640, parent)
        self._settings = settings
        self._shown, self._folder, self._name = list(shown), folder, name
        self._form = kept_form(self._settings)
        self._plots: list[FigurePlot] = []
        self._charts = list(charts)
        self._waiting = 0
        self._drawing: FigureDrawing | None = None
        #: While fields are filled, nothing follows from what they say.
        self._is_filling = True
        self._make_looks()
        self._ticks: dict[str, QCheckBox] = {}
        self._fields: dict[str, QLineEdit] = {}
        self._defaults: dict[str, str] = {}
        self._copy = push_button("Cop&y", "figureCopyButton", self.copy)
        self._copy.setToolTip("Put the figure on the clipboard")
        self._copy.setEnabled(False)
        self.lay_out(self._make_controls(), self._copy)
        self._fill()

    # What is shown

    def begin(self) -> None:
        for dataset, document, state in self._shown:
            source = FigureSource(dataset, self)
            plot = FigurePlot(source, document, self)
            plot.ready.connect(self._ready)
            self._plots.append(plot)
            self._waiting += 1
            try:
                plot.show(state)
            except RefbrowserError as error:
                self._preview.show_words(str(error))

    def _ready(self) -> None:
        self._waiting -= 1
        if self._waiting == 0:
            self._fill_words()
            self.draw()

    def done(self, result: int) -> None:
        """Close it, and let go of what was read for it."""
        self._settings.set_preference(KEPT, json.dumps(self._form.as_json()))
        for plot in self._plots:
            plot.close()
            plot.source.close()
        for chart in self._charts:
            chart.close()
        self._plots.clear()
        self._charts.clear()
        super().done(result)

    @property
    def drawing(self) -> FigureDrawing | None:
        """The figure as it is seen; None before all of it has come."""
        return self._drawing

    # Layout

    def _make_looks(self) -> None:
        """Make the controls of size and look."""
        self._named = combo_box("figureNamedSize", "Size")
        for name, title in _TITLES.items():
            self._named.addItem(title, name)
        self._named.addItem(_OTHER, "")
        self._named.activated.connect(self._name_chosen)
        self._width, self._height = (self._length(*side) for side in _SIDES)
        self._height.setSpecialValueText("as needed")
        self._unit = combo_box("figureUnit", "Unit of the size")
        self._unit.addItems([*UNITS])
        self._unit.activated.connect(self._unit_chosen)
        self._dpi = QSpinBox()
        self._dpi.setObjectName("figureDpi")
        self._dpi.setAccessibleName("Dots per inch")
        self._dpi.setRange(LEAST_DPI, MOST_DPI)
        self._dpi.setSuffix(" dpi")
        self._dpi.valueChanged.connect(self._changed)
        self._points = self._length("figurePoints", "Size of the letters", MOST_POINTS)
        self._points.setMinimum(LEAST_POINTS)
        self._points.setSuffix(" pt")
        self._scheme = ground_box("figureScheme")
        self._scheme.activated.connect(self._changed)

    def _make_controls(self) -> QWidget:
        controls = QWidget()
        grid = QGridLayout(controls)
        grid.setContentsMargins(0, 0, theme.MEDIUM, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, 100)
        rows = (
            ("Size", _in_line(self._named)),
            ("", _in_line(self._width, plain_label("×", wrap=False), self._height, self._unit)),
            ("Look", _in_line(self._dpi, self._points)),
            ("", _in_line(self._scheme)),
        )
        for row, (label, line) in enumerate(rows):
            grid.addWidget(plain_label(label, wrap=False), row, 0)
            grid.addLayout(line, row, 1)
        for row, (name, (label, switch)) in enumerate(_WORDS.items(), len(rows)):
            self._add_words(grid, row, name, label, switch)
        self._overlays = self._tick("overlays", "&Overlays, such as coastlines")
        below = self._tick("charts", "C&harts below the picture")
        below.setVisible(bool(self._charts))
        for tick in (self._overlays, below):
            grid.addWidget(tick, grid.rowCount(), 0, 1, 2)
        grid.setRowStretch(grid.rowCount(), 1)
        held = scrolled(controls)
        wide = controls.sizeHint().width() + held.verticalScrollBar().sizeHint().width()
        held.setFixedWidth(max(_LEAST_CONTROLS, wide))
        return held

    def _add_words(self, grid: QGridLayout, row: int, name: str, label: str, switch: str) -> None:
        field = QLineEdit()
        field.setObjectName(f"figure_{name}")
        plain = label.replace("&", "")
        field.setAccessibleName(plain)
        field.textEdited.connect(self._changed)
        self._fields[name] = field
        if switch in self._ticks:
            # One switch has both axes.
            head = plain_label(label.replace("&", ""), wrap=False)
            head.setContentsMargins(20, 0, 0, 0)
            grid.addWidget(head, row, 0)
        else:
            grid.addWidget(self._tick(switch, label if name != "across" else "Axes"), row, 0)
        grid.addWidget(field, row, 1)

    def _tick(self, switch: str, label: str) -> QCheckBox:
        tick = QCheckBox(label)
        tick.setObjectName(f"figureShow_{switch}")
        tick.setAccessibleName(f"Show: {label.replace('&', '')}")
        tick.toggled.connect(self._changed)
        self._ticks[switch] = tick
        return tick

    def _length(self, name: str, title: str, most: float = 20_000.0) -> QDoubleSpinBox:
        field = QDoubleSpinBox()
        field.setObjectName(name)
        field.setAccessibleName(title)
        field.setToolTip(title)
        field.setRange(0.0, most)
        field.setDecimals(1)
        field.valueChanged.connect(self._changed)
        return field

    # From the form, and to it

    def _fill(self) -> None:
        """Show the form."""
        self._is_filling = True
        form, size = self._form, self._form.size
        named = next((name for name, of in NAMED_SIZES.items() if of[0] == size), "")
        self._named.setCurrentIndex(self._named.findData(named))
        self._width.setValue(size.width)
        self._height.setValue(size.height or 0.0)
        self._unit.setCurrentText(size.unit)
        self._dpi.setValue(form.dpi)
        self._points.setValue(form.points)
        self._scheme.setCurrentIndex(self._scheme.findData(form.scheme))
        for switch, tick in self._ticks.items():
            tick.setChecked(getattr(form, switch))
        self._is_filling = False

    def _fill_words(self) -> None:
        """Show what is written in the figure unless other words are given."""
        first, several = self._plots[0], len(self._plots) > 1
        canvas, strip = first.canvas, first.strip()
        drawing = FigureDrawing(self._plots, replace(self._form, size=FigureSize(170.0)), FigureWords())
        self._defaults = {
            "title": drawing.title,
            "caption": drawing.caption.replace("\n", "  ·  "),
            "across": canvas.across.named,
            "upwards": canvas.upwards.named,
            "bar": "" if strip is None else strip.title,
        }
        for name, field in self._fields.items():
            field.setText(self._defaults[name])
            field.setCursorPosition(0)
            is_one = name in ("title", "caption") or not several
            field.setEnabled(is_one and (name != "bar" or strip is not None))
        self._overlays.setVisible(any(plot.pane.look().options.overlays for plot in self._plots))

    def _name_chosen(self) -> None:
        named = NAMED_SIZES.get(self._named.currentData() or "")
        if named is not None:
            size, dpi, points = named
            self._form = replace(self._form, size=size, dpi=dpi, points=points)
            self._fill()
            self._timer.start()

    def _unit_chosen(self) -> None:
        """Say the same size in another unit."""
        size, unit, dpi = self._form.size, self._unit.currentText(), self._dpi.value()
        per_inch = UNITS[unit] or dpi
        digits = 0 if unit == "px" else 1 if unit == "mm" else 2
        width = round(size.inches(size.width, dpi) * per_inch, digits)
        height = None if size.height is None else round(size.inches(size.height, dpi) * per_inch, digits)
        self._form = replace(self._form, size=FigureSize(width, height, unit))
        self._fill()
        self._timer.start()

    def _changed(self) -> None:
        if self._is_filling:
            return
        width, height = max(1.0, self._width.value()), self._height.value() or None
        self._form = replace(
            self._form,
            size=FigureSize(width, height, self._unit.currentText()),
            dpi=self._dpi.value(),
            points=self._points.value(),
            scheme=self._scheme.currentData(),
            **{switch: tick.isChecked() for switch, tick in self._ticks.items()},
        )
        named = next((name for name, of in NAMED_SIZES.items() if of[0] == self._form.size), "")
        self._named.setCurrentIndex(self._named.findData(named))
        self._timer.start()

    @property
    def words(self) -> FigureWords:
        """What is written in the figure, where it is not what would be."""
        said = {
            name: field.text()
            for name, field in self._fields.items()
            if name in self._defaults and field.text() != self._defaults[name]
        }
        return FigureWords(**said)

    # The preview

    def draw(self) -> None:
        if self._waiting or not self._plots:
            return
        try:
            charts = self._charts if self._form.charts else ()
            drawing = FigureDrawing([*self._plots, *charts], self._form, self.words)
        except RefbrowserError as error:
            self._drawing = None
            self._preview.show_words(str(error))
            self._facts.setText(error.advice)
            self._enable()
            return
        self._drawing = drawing
        room, ratio = self._preview.room(), self.devicePixelRatioF()
        image = drawing.preview(room)
        image.setDevicePixelRatio(ratio)
        self._preview.show_image(image)
        self._facts.setText(self._told_facts(drawing))
        self._enable()

    def _told_facts(self, drawing: FigureDrawing) -> str:
        width, height = drawing.inches
        pixels = drawing.pixels
        facts = (
            f"{width * 25.4:.4g} × {height * 25.4:.4g} mm, as PNG {pixels.width()} × {pixels.height()} pixels"
        )
        losses = [words for _state, words in drawing.losses()]
        return "   ".join([facts, *losses])

    def _enable(self) -> None:
        for button in (self._copy, self._export):
            button.setEnabled(self._drawing is not None)

    # What is done

    def copy(self) -> None:
        """Put the figure on the clipboard: as an image, and as what programs that draw lines take."""
        if self._drawing is not None:
            QGuiApplication.clipboard().setMimeData(mime_data(self._drawing))
            self.told.emit("Figure copied")

    def ask_where(self) -> None:
        ask_target(
            "Export figure",
            "exportFigureDialog",
            FORMS,
            self._folder,
            self.write,
            self,
            f"{self._name}.pdf",
        )

    def write(self, path: str) -> None:
        """Write the figure to a file; its suffix says as what."""
        suffix = Path(path).suffix.lower()
        if suffix not in FORMS or self._drawing is None:
            self._facts.setText(
                f"{one_line(Path(path).name)} needs one of these suffixes: {', '.join(FORMS)}"
            )
            return
        self.drawn.emit(path, written(self._drawing, suffix))
        self.accept()


class FigureCopy(QObject):
    """Puts a figure of some plots on the clipboard, in the form of the last one, as soon as it has come.

    Signals
    -------
    told(str)
        What was done.
    """

    told = Signal(str)

    def __init__(
        self, shown: Sequence[tuple[Dataset, str, PlotState]], settings: Settings, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._form = kept_form(settings)
        self._plots: list[FigurePlot] = []
        self._waiting = len(shown)
        for dataset, document, state in shown:
            plot = FigurePlot(FigureSource(dataset, self), document, self)
            plot.ready.connect(self._ready)
            self._plots.append(plot)
            plot.show(state)

    def _ready(self) -> None:
        self._waiting -= 1
        if self._waiting:
            return
        drawing = FigureDrawing(self._plots, self._form, FigureWords())
        QGuiApplication.clipboard().setMimeData(mime_data(drawing))
        for plot in self._plots:
            plot.close()
            plot.source.close()
        self.told.emit("Figure copied")
        self.deleteLater()


_SIDES = (("figureWidth", "Width of the figure"), ("figureHeight", "Height of the figure; 0: as needed"))


def _in_line(*parts: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(theme.SMALL)
    for part in parts:
        line.addWidget(part)
    line.addStretch(1)
    return line


def mime_data(drawing: FigureDrawing) -> QMimeData:
    """Return a figure as what the clipboard holds."""
    data = QMimeData()
    data.setImageData(drawing.png())
    data.setData("image/svg+xml", QByteArray(drawing.svg()))
    data.setData("application/pdf", QByteArray(drawing.pdf()))
    return data
