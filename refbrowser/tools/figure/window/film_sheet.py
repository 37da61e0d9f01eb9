"""The sheet "Export film": along which slider, how quickly, how large, with the first frame as it will be."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QGridLayout,
    QSpinBox,
    QWidget,
)

from refbrowser.app.dialogs.export_target import ask_target
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import (
    combo_box,
    plain_label,
)
from refbrowser.errors import RefbrowserError
from refbrowser.tools.figure.film_files import check_target
from refbrowser.tools.figure.window.figure_drawing import FigureDrawing, png_bytes
from refbrowser.tools.figure.window.figure_plot import FigurePlot, FigureSource
from refbrowser.tools.figure.window.film_job import FilmOrder
from refbrowser.tools.figure.window.preview_sheet import PreviewSheet, ground_box
from refbrowser.views.figures.figure_form import FigureForm, FigureWords
from refbrowser.views.figures.figure_size import FigureSize, check_size, parse_size
from refbrowser.views.figures.film_plan import GIF, LEAST_RATE, MOST_RATE, MP4, FilmLevels, FilmPlan
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted, rounded_time_text, size_text

if TYPE_CHECKING:
    from refbrowser.app.settings.settings import Settings
    from refbrowser.engine.dataset import Dataset
    from refbrowser.views.plot_states.plot_state import PlotState

#: The name under which the form of the last film is kept.
_KEPT = "film"
_LEVELS = {
    FilmLevels.SHOWN: "Levels of the picture that is shown",
    FilmLevels.ALL: "Levels of all frames (reads them all first)",
    FilmLevels.EACH: "Each frame its own levels",
}
#: Widths and heights in pixels, each with dots per inch that suit 16 points.
_SIZES = {(1920, 1080): 144, (1280, 720): 96, (1080, 1080): 120, (960, 540): 72, (3840, 2160): 288}
_POINTS = 16.0
#: Seconds that a frame takes at least.
_LEAST_TIME = 0.03
_FORMS = {
    MP4: "MP4 film (*.mp4)",
    GIF: "GIF (*.gif)",
    "": "Pictures in a folder (*)",
}


@dataclass(frozen=True, slots=True)
class _Weight:
    """What a kind of film costs: seconds for each pixel beside its drawing, and its size as part of PNG's."""

    title: str
    seconds: float
    size: float


#: Measured with maps.
_WEIGHTS = (_Weight("MP4", 3e-8, 0.12), _Weight("GIF", 8e-8, 0.8), _Weight("PNG", 6e-8, 1.0))


class FilmSheet(PreviewSheet):
    """Asks how a film is to be.

    Signals
    -------
    ordered(object)
        The film is to be made: a `FilmOrder`.
    """

    ordered = Signal(object)

    def __init__(
        self,
        shown: tuple[Dataset, str, PlotState],
        folder: str,
        name: str,
        settings: Settings,
        parent: QWidget,
    ) -> None:
        super().__init__("film", "Export film", 600, parent)
        self._dataset, self._document, self._state = shown
        self._settings, self._folder, self._name = settings, folder, name
        self._plot: FigurePlot | None = None
        self._is_filled = False
        self._frame: tuple[float, float] | None = None
        self._facts.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self._make_frames()
        self._make_looks()
        self.lay_out(self._make_controls())

    def _make_frames(self) -> None:
        """Make the controls of which frames there are, and how quickly they follow."""
        self._along = combo_box("filmAlong", "Along")
        self._along.activated.connect(self._along_chosen)
        self._first, self._last, self._step = (
            self._number(f"film{name}", words)
            for name, words in (("From", "First frame"), ("To", "Last frame"), ("Step", "Step"))
        )
        self._step.setMinimum(1)
        self._first_is, self._last_is = (plain_label("", role="muted", wrap=False) for _end in range(2))
        self._rate = QDoubleSpinBox()
        self._rate.setObjectName("filmRate")
        self._rate.setAccessibleName("Frames per second")
        self._rate.setRange(LEAST_RATE, MOST_RATE)
        self._rate.setDecimals(1)
        self._rate.setSuffix(" per second")
        self._rate.valueChanged.connect(self._changed)

    def _make_looks(self) -> None:
        """Make the controls of what the frames look like."""
        self._levels = combo_box("filmLevels", "Levels of the colours")
        for levels, words in _LEVELS.items():
            self._levels.addItem(words, levels.value)
        self._levels.activated.connect(self._changed)
        self._size = combo_box("filmSize", "Size of the frames")
        for width, height in _SIZES:
            self._size.addItem(f"{width} × {height} pixels", str(FigureSize(width, height, "px")))
        self._size.activated.connect(self._changed)
        self._scheme = ground_box("filmScheme")
        self._scheme.activated.connect(self._changed)
        self._title, self._caption = (
            self._tick(name, words)
            for name, words in (("filmTitle", "&Title with the time"), ("filmCaption", "&Caption"))
        )

    def _make_controls(self) -> QWidget:
        controls = QWidget()
        grid = QGridLayout(controls)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        rows: tuple[tuple[str, QWidget, QWidget | None], ...] = (
            ("Along", self._along, None),
            ("From", self._first, self._first_is),
            ("To", self._last, self._last_is),
            ("Every", self._step, None),
            ("Frames", self._rate, None),
            ("Colours", self._levels, None),
            ("Size", self._size, None),
            ("", self._scheme, None),
            ("", self._title, None),
            ("", self._caption, None),
        )
        for row, (label, part, beside) in enumerate(rows):
            grid.addWidget(plain_label(label, wrap=False), row, 0)
            grid.addWidget(part, row, 1, 1, 1 if beside else 2)
            if beside is not None:
                grid.addWidget(beside, row, 2)
        grid.setColumnMinimumWidth(0, 60)
        grid.setColumnMinimumWidth(2, 120)
        grid.setColumnStretch(2, 1)
        grid.setRowStretch(len(rows), 1)
        return controls

    def _number(self, name: str, words: str) -> QSpinBox:
        field = QSpinBox()
        field.setObjectName(name)
        field.setAccessibleName(words)
        field.setToolTip(words)
        field.setRange(0, 0)
        field.valueChanged.connect(self._changed)
        return field

    def _tick(self, name: str, words: str) -> QCheckBox:
        tick = QCheckBox(words)
        tick.setObjectName(name)
        tick.setChecked(True)
        tick.toggled.connect(self._changed)
        return tick

    # What is shown

    def begin(self) -> None:
        source = FigureSource(self._dataset, self)
        self._plot = FigurePlot(source, self._document, self)
        self._plot.ready.connect(self._ready)
        try:
            self._plot.show(self._state)
        except RefbrowserError as error:
            self._preview.show_words(str(error))

    def _ready(self) -> None:
        if not self._is_filled:
            self._fill()
        self.draw()

    def _fill(self) -> None:
        """Offer the sliders, and what was chosen last."""
        assert self._plot is not None
        layout = self._plot.layout
        if layout is None:
            return
        state = layout.slice
        for axis in state.sliders:
            if state.shape[axis] > 1:
                name = one_line(state.names[axis])
                self._along.addItem(f"{name} ({count_text(state.shape[axis])} steps)", axis)
        self._along.setCurrentIndex(max(0, self._along.findData(self._plot.pane.stepped())))
        try:
            kept = json.loads(self._settings.preference(_KEPT) or "{}")
        except ValueError:
            kept = {}
        kept = kept if isinstance(kept, dict) else {}
        form = FigureForm.from_json(kept.get("form"))
        self._size.setCurrentIndex(max(0, self._size.findData(str(form.size))))
        self._scheme.setCurrentIndex(self._scheme.findData(form.scheme))
        self._title.setChecked(form.title)
        self._caption.setChecked(form.caption)
        rate = kept.get("rate")
        self._rate.setValue(rate if isinstance(rate, int | float) else 10.0)
        self._levels.setCurrentIndex(max(0, self._levels.findData(kept.get("levels"))))
        self._fill_steps()
        self._is_filled = True

    def _fill_steps(self) -> None:
        size = self._steps
        self._first.setMaximum(max(0, size - 1))
        self._last.setMaximum(max(0, size - 1))
        self._step.setMaximum(max(1, size - 1))
        self._first.setValue(0)
        self._last.setValue(size - 1)
        self._step.setValue(1)

    @property
    def _steps(self) -> int:
        layout = None if self._plot is None else self._plot.layout
        axis = self._along.currentData()
        return 0 if layout is None or axis is None else layout.slice.shape[axis]

    def _along_chosen(self) -> None:
        self._is_filled = False
        self._fill_steps()
        self._is_filled = True
        self._timer.start()

    def _changed(self) -> None:
        if self._is_filled:
            self._timer.start()

    @property
    def form(self) -> FigureForm:
        """What the frames look like."""
        size = parse_size(self._size.currentData())
        return FigureForm(
            size=size,
            dpi=_SIZES[round(size.width), round(size.height or 0)],
            points=_POINTS,
            scheme=self._scheme.currentData(),
            title=self._title.isChecked(),
            caption=self._caption.isChecked(),
        )

    @property
    def plan(self) -> FilmPlan:
        """The frames.

        Raises
        ------
        RefbrowserError
            There are none, or too many.
        """
        first, last, step = self._first.value(), self._last.value(), self._step.value()
        indices = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
        levels = FilmLevels(self._levels.currentData())
        return FilmPlan(self._along.currentData(), indices, self._rate.value(), levels)

    def draw(self) -> None:
        plot = self._plot
        if plot is None or not self._is_filled or self._along.currentData() is None:
            return
        layout, axis = plot.layout, self._along.currentData()
        if layout is not None and layout.slice.indices[axis] != self._first.value():
            plot.set_index(axis, self._first.value())
            return
        try:
            plan, form = self.plan, self.form
            drawing = FigureDrawing([plot], form, FigureWords(), spare_lines=1)
            check_size(*drawing.inches, form.dpi, len(plan.indices))
        except RefbrowserError as error:
            self._facts.setText(f"{error}. {error.advice}" if error.advice else str(error))
            self._export.setEnabled(False)
            return
        began = time.perf_counter()
        image = drawing.preview(self._preview.room())
        spent = time.perf_counter() - began
        image.setDevicePixelRatio(self.devicePixelRatioF())
        self._preview.show_image(image)
        self._tell(plan, drawing, spent, len(png_bytes(image)) / (image.width() * image.height()))
        self._export.setEnabled(True)

    def _tell(self, plan: FilmPlan, drawing: FigureDrawing, spent: float, density: float) -> None:
        """Say which frames there are, how long they take, and how large they are."""
        plot = self._plot
        assert plot is not None
        layout = plot.layout
        if layout is not None:
            for field, words in ((self._first, self._first_is), (self._last, self._last_is)):
                words.setText(layout.coordinates[plan.dimension].text(field.value()))
        count, pixels = len(plan.indices), drawing.pixels.width() * drawing.pixels.height()
        passes = 2 if plan.levels is FilmLevels.ALL else 1
        each = spent * 2 + pixels * _WEIGHTS[0].seconds + _LEAST_TIME
        facts = [
            f"{counted(count, 'frame')}, {plan.seconds:.3g} s",
            ", ".join(
                f"{weight.title} about {size_text(round(count * pixels * density * weight.size))}"
                for weight in _WEIGHTS
            ),
            f"about {rounded_time_text(count * passes * each)} to make",
        ]
        self._facts.setText("   ".join(facts))

    # What is done

    def ask_where(self) -> None:
        ask_target(
            "Export film", "exportFilmDialog", _FORMS, self._folder, self.order, self, self._name + MP4
        )

    def order(self, target: str) -> None:
        """Have the film made; its suffix says as what, one without a suffix is a folder of pictures."""
        try:
            check_target(target, force=True)
            order = FilmOrder(
                self._dataset, self._document, self._now(), self.plan, self.form, FigureWords(), target
            )
        except RefbrowserError as error:
            self._facts.setText(f"{error}. {error.advice}" if error.advice else str(error))
            return
        kept = {"form": self.form.as_json(), "rate": self._rate.value(), "levels": self._levels.currentData()}
        self._settings.set_preference(_KEPT, json.dumps(kept))
        self.ordered.emit(order)
        self.accept()

    def _now(self) -> PlotState:
        """Return what is to be shown, with the levels that the window has now."""
        state = self._state
        if FilmLevels(self._levels.currentData()) is FilmLevels.SHOWN and state.levels is not None:
            return replace(state, are_levels_set=True)
        return state

    def done(self, result: int) -> None:
        """Close it, and let go of what was read for it."""
        if self._plot is not None:
            self._plot.close()
            self._plot.source.close()
            self._plot = None
        super().done(result)
