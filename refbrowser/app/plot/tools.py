"""What explores beyond the picture: profile, series, regions, animation; made when they are first wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMainWindow, QSplitter, QToolButton, QWidget

from refbrowser.app.plot.animation import Animation, AnimationBar
from refbrowser.app.plot.axes.chart import ChartPane
from refbrowser.loading import load
from refbrowser.views.plot.plot_kind import Control
from refbrowser.views.plot.series import choices

if TYPE_CHECKING:
    from refbrowser.app.plot.presenter import Presenter
    from refbrowser.app.plot.profile import ProfileTool
    from refbrowser.app.plot.series import SeriesTool
    from refbrowser.views.plot_states.plot_state import PlotState

#: What makes the regions: they stand above plots.
_REGIONS = "refbrowser.app.regions.region_tool:region_tool"
#: The part of the height that charts take at first.
_SHARE = 0.44
#: Picture and charts together are at least so wide and high, in pixels.
LEAST_PLOT = 100
#: Charts with what is written over them are so high, in pixels: of each at least 180 is a chart.
_CHARTS = 220
#: In a low window they, and the picture above them, have this part of the centre's height.
_CHARTS_LEAST, _PICTURE_LEAST = 0.4, 0.28


class PlotTools(QObject):
    """The tools of one plot, and the area below the picture that they share.

    Signals
    -------
    changed()
        A tool was switched, or can be used otherwise.
    copyRequested(str), exportRequested(str)
        The values of ``profile``, ``series`` or ``region`` are to be put on the clipboard, or into a file.
    pythonRequested(object, object)
        Lines of Python are to be copied for a region, along a dimension or of the slice (None).
    """

    changed = Signal()
    copyRequested = Signal(str)
    exportRequested = Signal(str)
    pythonRequested = Signal(object, object)

    def __init__(self, presenter: Presenter, split: QSplitter, parent: QWidget) -> None:
        super().__init__(parent)
        self._presenter, self._split = presenter, split
        self.below = QSplitter(Qt.Orientation.Horizontal)
        self.below.setObjectName("plotCharts")
        self.below.setChildrenCollapsible(False)
        self.below.hide()
        split.addWidget(self.below)
        self._profile: ProfileTool | None = None
        self._series: SeriesTool | None = None
        self._region: Any = None
        self.animation = Animation(presenter, self)
        self.bar = AnimationBar(self.animation)
        self._buttons: dict[str, QToolButton] = {}
        self._told: tuple[bool, ...] = ()
        #: The document that is shown, by its name among the jobs; and which charts others had.
        self._shown = ""
        self._kept: dict[str, tuple[bool, bool, bool]] = {}
        presenter.changed.connect(self._follow_document)
        self.animation.changed.connect(self._tell)
        presenter.changed.connect(self._tell)
        presenter.stage.controlsChanged.connect(self._tell)
        presenter.pointing.chosen.connect(self._chosen)

    # Which are shown

    @property
    def is_profile(self) -> bool:
        """Whether the profile is shown."""
        return self._profile is not None and self._profile.is_on

    @property
    def is_series(self) -> bool:
        """Whether series are shown."""
        return self._series is not None and self._series.is_on

    @property
    def is_region(self) -> bool:
        """Whether regions are shown."""
        return self._region is not None and bool(self._region.is_on)

    @property
    def can_region(self) -> bool:
        """Whether there are numbers to make statistics of."""
        subject = self._presenter.subject
        state = subject.slice
        shown = self._presenter.stage.shows_picture and subject.is_drawn
        return shown and state is not None and bool(state.axes) and state.bands is None

    @property
    def can_profile(self) -> bool:
        """Whether there is an image to draw a line across."""
        subject = self._presenter.subject
        return self._presenter.stage.shows_picture and subject.offers(Control.PROFILE)

    @property
    def can_series(self) -> bool:
        """Whether there is a slider that series can run along, and frames too."""
        subject = self._presenter.subject
        state = subject.slice
        shown = self._presenter.stage.shows_picture and subject.is_drawn
        return shown and state is not None and bool(choices(state))

    @property
    def is_playing(self) -> bool:
        """Whether frames follow each other."""
        return self.animation.is_playing

    def charts(self) -> list[ChartPane]:
        """Return the charts below the picture that are seen, with lines in them."""
        if self.below.isHidden():
            return []
        panes = [self.below.widget(place) for place in range(self.below.count())]
        return [
            pane
            for pane in panes
            if isinstance(pane, ChartPane) and not pane.isHidden() and len(pane.chart.lines)
        ]

    def toggle_profile(self) -> None:
        """Draw a line across the image and show the values along it, or take it away."""
        if self.can_profile or self.is_profile:
            self.profile().set_on(not self.is_profile)

    def toggle_series(self) -> None:
        """Show the series of elements that are clicked, or no longer."""
        if self.can_series or self.is_series:
            self.series().set_on(not self.is_series)

    def toggle_region(self) -> None:
        """Show a region of the picture with its statistics, or no longer."""
        if self.can_region or self.is_region:
            self.region().set_on(not self.is_region)

    def series_here(self, *, extend: bool = False) -> None:
        """Show the series of the element under the cursor, which is put on one where it points at none."""
        if not self.can_series:
            return
        self.series().set_on(True)
        index = self._presenter.pointing.settle()
        if index is not None:
            self.series().add(index, extend=extend)

    def play(self) -> None:
        """Play or pause."""
        if self.can_series or self.animation.is_playing:
            self.animation.toggle()

    def escape(self) -> None:
        """Stop playing; where nothing plays, forget the cursor."""
        if self.animation.is_playing:
            self.animation.pause()
        else:
            self._presenter.pointing.forget()

    def profile(self) -> ProfileTool:
        """Return the profile, which is made now if it was not."""
        if self._profile is None:
            from refbrowser.app.plot.profile import ProfilePane, ProfileTool

            pane = ProfilePane()
            self._add(pane, 0)
            self._profile = ProfileTool(self._presenter, pane, self)
            self._profile.toggled.connect(self._tell)
            pane.copyRequested.connect(lambda: self.copyRequested.emit("profile"))
            pane.exportRequested.connect(lambda: self.exportRequested.emit("profile"))
        return self._profile

    def series(self) -> SeriesTool:
        """Return the series, which are made now if they were not."""
        if self._series is None:
            from refbrowser.app.plot.series import SeriesPane, SeriesTool

            pane = SeriesPane()
            self._add(pane, self.below.count())
            self._series = SeriesTool(self._presenter, pane, self)
            self._series.toggled.connect(self._tell)
            pane.copyRequested.connect(lambda: self.copyRequested.emit("series"))
            pane.exportRequested.connect(lambda: self.exportRequested.emit("series"))
        return self._series

    def region(self) -> Any:
        """Return the regions (a `RegionTool`), which are made now if they were not."""
        if self._region is None:
            self._region = load(_REGIONS)(self._presenter, self)
            pane = self._region.pane
            self._add(pane, self.below.count())
            self._region.toggled.connect(self._tell)
            self._region.pythonAsked.connect(self.pythonRequested)
            pane.copyRequested.connect(lambda: self.copyRequested.emit("region"))
            pane.exportRequested.connect(lambda: self.exportRequested.emit("region"))
        return self._region

    def rows(self, what: str) -> Iterator[list[str]] | None:
        """Return the values of ``profile``, ``series`` or ``region`` as rows of text; None for nothing."""
        made = {"profile": self._profile, "series": self._series, "region": self._region}[what]
        return None if made is None else made.rows()

    def told(self, state: PlotState) -> PlotState:
        """Return a state with the charts and regions that are shown."""
        told: PlotState = self._region.told(state) if self.is_region else state
        return replace(told, profile=self.is_profile, series=self.is_series)

    def restore(self, state: PlotState) -> None:
        """Show the charts and regions that a state tells, or none."""
        if state.profile != self.is_profile:
            self.profile().set_on(state.profile)
        if state.series != self.is_series:
            self.series().set_on(state.series)
        if state.regions:
            self.region().restore(state)
        elif self.is_region:
            self.region().set_on(False)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.bar.restyle()
        for tool in (self._profile, self._series, self._region):
            if tool is not None:
                tool.restyle()

    def mark_stale(self) -> None:
        """Mark what is of stale files in what is drawn already."""
        for tool in (self._profile, self._series):
            if tool is not None:
                tool.refresh()

    def connect_buttons(self, profile: QToolButton, series: QToolButton, region: QToolButton) -> None:
        """Let three switches show and change what is shown."""
        self._buttons = {"profile": profile, "series": series, "region": region}
        profile.clicked.connect(lambda _checked=False: self.toggle_profile())
        series.clicked.connect(lambda _checked=False: self.toggle_series())
        region.clicked.connect(lambda _checked=False: self.toggle_region())
        self._tell()

    def _follow_document(self) -> None:
        """Show the charts that were shown of this document: none of one that was not seen before."""
        document = self._presenter.subject.document
        name = self._shown if document is None else document.owner("plot")
        if name == self._shown:
            return
        self._kept[self._shown] = self.is_profile, self.is_series, self.is_region
        self._shown = name
        profile, series, region = self._kept.get(name, (False, False, False))
        if profile != self.is_profile:
            self.profile().set_on(profile)
        if series != self.is_series:
            self.series().set_on(series)
        if region != self.is_region:
            self.region().set_on(region)

    def _add(self, pane: QWidget, place: int) -> None:
        pane.hide()
        self.below.insertWidget(place, pane)

    def _chosen(self, index: tuple[int, ...]) -> None:
        if self._series is not None and self._series.is_on:
            self._series.add(index, extend=self._presenter.stage.drawing.canvas.extends)

    def _tell(self) -> None:
        """Show what is on, and tell others."""
        on = (self.is_profile, self.is_series, self.is_region)
        shows = self._presenter.stage.shows_picture and self._presenter.subject.is_drawn and any(on)
        if shows and self.below.isHidden():
            self._split.setSizes(self._first_sizes())
        self.below.setVisible(shows)
        self.fit()
        can_be = (self.can_profile, self.can_series, self.can_region)
        now = (*on, *can_be, self.is_playing)
        for (name, button), is_on, can in zip(self._buttons.items(), on, can_be, strict=False):
            button.setVisible(can or (is_on and self._presenter.stage.shows_picture))
            button.setChecked(is_on)
            button.setAccessibleName(button.toolTip() or name)
        if not self.can_series:
            self.bar.hide()
        if now != self._told:
            self._told = now
            self.changed.emit()

    def fit(self) -> None:
        """Ask for as much height as picture and charts need; a lower pane scrolls."""
        centre = self._centre_height()
        charts = min(_CHARTS, round(centre * _CHARTS_LEAST))
        self.below.setMinimumHeight(charts)
        is_shared = not self.below.isHidden()
        shared = round(centre * _PICTURE_LEAST) + self._split.handleWidth() + charts
        self._split.setMinimumHeight(shared if is_shared else LEAST_PLOT)

    def _centre_height(self) -> int:
        """Return the height of the window's centre, in pixels."""
        window = self._split.window()
        centre = window.centralWidget() if isinstance(window, QMainWindow) else None
        return 0 if centre is None else centre.height()

    def _first_sizes(self) -> list[int]:
        sizes = self._split.sizes()
        if len(sizes) > 1 and sizes[1]:
            return sizes
        charts = max(round(sum(sizes) * _SHARE), self.below.minimumHeight())
        return [max(0, sum(sizes) - charts), charts]
