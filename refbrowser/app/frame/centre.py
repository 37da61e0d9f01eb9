"""The centre of the window: start page, reading, errors, and the tabs of the document that is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.recovery import RecoveryBar
from refbrowser.app.dialogs.trust import TrustBar
from refbrowser.app.frame.bars import (
    BarStack,
    CopyBar,
    DamageBar,
    DiskBar,
    ErrorBar,
    LockBar,
    LossBar,
    MakeBar,
    ReadingStrip,
)
from refbrowser.app.frame.start_pane import StartPane
from refbrowser.app.panes.cdl_pane import CdlPane
from refbrowser.app.panes.raw_value import RawValuePane
from refbrowser.app.panes.references_pane import ReferencesPane
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import Card, ErrorCard, LoadingCard, centred
from refbrowser.app.widgets.small_widgets import framed, one_shot, push_button, scrolled

if TYPE_CHECKING:
    from refbrowser.app.arrangement.view_area import ViewArea
    from refbrowser.app.dialogs.found_card import FoundCard
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.plot.table_pane import TablePane
    from refbrowser.app.source.mending_pane import MendingPane
    from refbrowser.app.source.source_pane import SourcePane
    from refbrowser.views.references import FirstRows

#: The tabs that all documents have; those of formats follow.
PLOT, TABLE, REFERENCES, RAW, CDL, SOURCE = range(6)
#: The centre can be made so narrow and low, in pixels; what does not fit then is cut, wrapped or scrolled.
_LEAST = (280, 160)
#: Milliseconds until progress is shown again: what lies below the words is painted anew each time.
_NEXT_PROGRESS = 100
#: The bars over the tabs take this part of its height at most, or so many pixels where that is more.
_BARS_MOST, _BARS_LEAST = 0.23, 44


class Centre(QWidget):
    """Shows the page that fits the state of the current document.

    Signals
    -------
    plotMade(object)
        A `PlotPane` exists from now on: the first one, or that of a further view.
    tableMade(object)
        The `TablePane` exists from now on; right after the first `PlotPane`.
    plotChosen(object)
        Another `PlotPane` is the one that commands act on, and that other panes are about.
    viewsChanged()
        There are more views or fewer, or they are arranged otherwise.
    sourceMade(object)
        The `SourcePane` exists from now on.
    restyled()
        The colours in force are other ones.
    openPaths(list)
        Documents of a folder are to be opened in its place.
    referencesWanted(bool)
        References to the file of data that is shown are looked for; true: what was made is to be opened.
    combineWanted(list), makeWanted(list)
        One dataset is to be made of the files of data in a folder, or references of each.
    leadWanted(object)
        One dataset is to be made of the files that one names: a `Lead`.
    """

    plotMade = Signal(object)
    tableMade = Signal(object)
    plotChosen = Signal(object)
    viewsChanged = Signal()
    sourceMade = Signal(object)
    restyled = Signal()
    openPaths = Signal(list)
    referencesWanted = Signal(bool)
    combineWanted = Signal(list)
    makeWanted = Signal(list)
    leadWanted = Signal(object)

    def __init__(self, start: StartPane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: OpenDocument | None = None
        self._tab_before: int | None = None
        self._progress: tuple[int, int | None] | None = None
        self._progress_shown = one_shot(self, _NEXT_PROGRESS, self._show_progress)
        self.views: ViewArea | None = None
        self.table: TablePane | None = None
        self.trust_bar = TrustBar()
        self.recovery_bar = RecoveryBar()
        self.disk_bar = DiskBar()
        self.damage_bar = DamageBar()
        self.lock_bar = LockBar()
        self.copy_bar = CopyBar()
        self.make_bar = MakeBar()
        self.make_button = push_button(
            "Make references…", "centreMakeButton", self.make_bar.wanted.emit, flat=True
        )
        self.make_button.setToolTip("Other software can read this file through references")
        self.make_button.hide()
        self.loss_bar = LossBar()
        self.error_bar = ErrorBar()
        self.strip = ReadingStrip()
        self.start = start
        self.loading = LoadingCard()
        self.error = ErrorCard()
        self.found: FoundCard | None = None
        self.references = ReferencesPane()
        self.raw = RawValuePane()
        self.cdl = CdlPane()
        self.source: SourcePane | None = None
        self.mending: MendingPane | None = None
        self.tabs = self._make_tabs()
        self._pages = QStackedWidget()
        self._loading_page, self._error_page = (
            scrolled(centred(card)) for card in (self.loading, self.error)
        )
        self._start_page = framed(self.start)
        for page in (self._start_page, self._loading_page, self._error_page, self.tabs):
            self._pages.addWidget(page)
        self.setMinimumSize(*_LEAST)
        bars = (self.trust_bar, self.disk_bar, self.damage_bar, self.lock_bar, self.recovery_bar)
        self._bars = BarStack(
            (*bars, self.copy_bar, self.make_bar, self.loss_bar, self.error_bar, self.strip)
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM - 2)
        layout.addWidget(self._bars)
        layout.addWidget(self._pages, 1)
        self.loading.cancelled.connect(self._cancel)
        self.strip.cancelled.connect(self._cancel)
        self.error.retry.connect(self._retry)

    def _make_tabs(self) -> QTabWidget:
        tabs = QTabWidget()
        tabs.setObjectName("centreTabs")
        tabs.tabBar().setObjectName("centreTabBar")
        tabs.tabBar().setAccessibleName("Views of the document")
        tabs.setCornerWidget(self.make_button)
        self._plot_slot = QStackedWidget()
        self._plot_card = Card("array", "")
        self._plot_slot.addWidget(scrolled(centred(self._plot_card)))
        self.plot_is_missing()
        self._table_slot = QStackedWidget()
        text = "Select an array in the hierarchy: its numbers, texts or structures appear here as a table."
        self._table_slot.addWidget(scrolled(centred(Card("array", "No values yet", text))))
        self._source_slot = QStackedWidget()
        pages = (self._plot_slot, self._table_slot, self.references, self.raw, self.cdl, self._source_slot)
        titles = ("Plot", "Table", "References", "Raw value", "CDL", "Source")
        for page, title in zip(pages, titles, strict=True):
            tabs.addTab(framed(page), title)
        self._added: dict[int, QWidget] = {}
        tabs.currentChanged.connect(lambda number: self.make_source() if number == SOURCE else None)
        return tabs

    def make_source(self) -> SourcePane:
        """Return the text of the document; made when it is first looked at, as it needs NumPy."""
        if self.source is None:
            from refbrowser.app.source.source_pane import SourcePane

            self.source = SourcePane()
            self._source_slot.addWidget(self.source)
            self.source.set_document(self._document)
            self.sourceMade.emit(self.source)
        return self.source

    def refresh_source(self) -> None:
        """Show the text of the document as it is now."""
        if self.source is not None:
            self.source.refresh()

    def plot_is_coming(self) -> None:
        """Say that the plotting library is being loaded."""
        text = "Loading the plotting library: the first picture comes in a moment."
        self._plot_card.set_content("array", "Preparing the plot", text)

    def plot_is_missing(self) -> None:
        """Say what will be plotted."""
        text = "Select an array in the hierarchy: lines for one dimension, an image for two and more."
        self._plot_card.set_content("array", "Nothing plotted yet", text)

    def make_plot(self) -> None:
        """Make the first view and the table; their libraries were loaded by a worker before."""
        from refbrowser.app.arrangement.view_area import ViewArea
        from refbrowser.app.plot.table_pane import TablePane

        if self.views is None:
            self.views = ViewArea()
            self._plot_slot.addWidget(self.views)
            self._plot_slot.setCurrentWidget(self.views)
            self.views.made.connect(self.plotMade)
            self.views.activeChanged.connect(self._take_plot)
            self.views.rearranged.connect(self.viewsChanged)
            self.table = TablePane(self.views.active)
            self._table_slot.addWidget(self.table)
            self._table_slot.setCurrentWidget(self.table)
            self.views.begin()
            self.tableMade.emit(self.table)

    @property
    def plot(self) -> PlotPane | None:
        """The view that commands act on; None before there is any."""
        return None if self.views is None else self.views.active

    def plots(self) -> list[PlotPane]:
        """Return all views."""
        return [] if self.views is None else self.views.views()

    def _take_plot(self, plot: PlotPane) -> None:
        if self.table is not None:
            self.table.set_plot(plot)
        self.plotChosen.emit(plot)

    def forget(self, document: OpenDocument) -> None:
        """Close the views of a document that is closed; the only one shows nothing from then on."""
        for plot in self.plots():
            if self.views is not None and plot.source() is document:
                self.views.close_view(plot)
            plot.forget(document)

    def add_page(self, title: str, pane: QWidget) -> int:
        """Add a tab that not every document has, and return its number; `offer_tab` shows it."""
        number = self.tabs.addTab(framed(pane), title)
        self.tabs.setTabVisible(number, False)
        self._added[number] = pane
        return number

    def add_bars(self, bars: Sequence[QWidget]) -> None:
        """Add bars over the tabs, below the others."""
        for bar in bars:
            self._bars.add(bar)

    def offer_tab(self, number: int, is_offered: bool) -> None:
        """Offer a tab that not every document has, or do not."""
        if not is_offered and self.tabs.currentIndex() == number:
            self.tabs.setCurrentIndex(PLOT)
        self.tabs.setTabVisible(number, is_offered)

    def show_tab(self, number: int) -> None:
        """Bring a tab to the front and put the keyboard in it."""
        self.tabs.setCurrentIndex(number)
        target = self._view_of(number)
        if target is None or target.focusPolicy() == Qt.FocusPolicy.NoFocus or not target.isVisible():
            target = self.tabs.tabBar()
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _view_of(self, number: int) -> QWidget | None:
        """Return what is looked at in a tab; pages that only say something take no keys."""
        if number == PLOT and self.plot is not None:
            return self.plot.page()
        if number == TABLE and self.table is not None:
            return self.table.grid
        if number in self._added:
            return self._added[number].focusProxy()
        if number == SOURCE:
            return self.make_source().page()
        return {REFERENCES: self.references.table, RAW: self.raw.page(), CDL: self.cdl.page()}.get(number)

    def show_page(self, pane: QWidget) -> None:
        """Bring the tab of a pane that was added to the front, and put the keyboard in it."""
        self.show_tab(next(number for number, each in self._added.items() if each is pane))

    def is_in_front(self, pane: QWidget) -> bool:
        """Whether the tab of a pane that was added is in front."""
        return self._added.get(self.tabs.currentIndex()) is pane

    def begin_document(self) -> None:
        """Bring the plot to the front where the text of the document before is."""
        if self.tabs.currentIndex() in (RAW, CDL, SOURCE):
            self.tabs.setCurrentIndex(PLOT)

    def table_is_shown(self) -> bool:
        """Whether the table of values is in front."""
        return self.tabs.currentIndex() == TABLE

    def tab_commands(self) -> dict[str, Callable[[], object]]:
        """Return the actions that show a tab, by their names."""
        tabs = {"show_plot": PLOT, "show_table": TABLE, "show_references": REFERENCES}
        tabs |= {"show_raw": RAW, "show_cdl": CDL, "show_source": SOURCE}
        return {name: partial(self.show_tab, number) for name, number in tabs.items()}

    def set_document(self, document: OpenDocument | None) -> None:
        """Show another document, or the start page."""
        self._document, self._progress = document, None
        self._progress_shown.stop()
        self.references.set_document(document)
        self.raw.clear()
        self.cdl.set_document(document)
        if self.source is not None:
            self.source.set_document(document)
        if self.mending is not None:
            self.mending.forget()
        self.error_bar.hide()
        self.copy_bar.hide()
        self.loss_bar.hide()
        self.strip.hide()
        self._turn_to_view_of(document)
        self.update_state()

    def _turn_to_view_of(self, document: OpenDocument | None) -> None:
        """Let commands act on a view of a document; where there is none, on one that shows nothing."""
        if self.views is None or self.views.active.source() in (None, document):
            return
        views = [view for view in self.views.seen() if view.source() is document]
        if views and document is not None:
            self.views.activate(views[0])
        else:
            self.views.active.clear()

    def update_state(self) -> None:
        """Show the page that fits the document's state."""
        document = self._document
        self.trust_bar.set_document(document)
        self.recovery_bar.set_document(document)
        self.disk_bar.set_document(document)
        self.damage_bar.set_document(document)
        self.lock_bar.set_document(document)
        self.make_bar.set_document(document)
        self.make_button.setVisible(document is not None and document.is_open and document.is_data)
        if document is None:
            self._pages.setCurrentWidget(self._start_page)
        elif document.is_open:
            self.strip.hide()
            self._pages.setCurrentWidget(self.tabs)
            if self._tab_before is not None:
                self.tabs.setCurrentIndex(self._tab_before)
                self._tab_before = None
        elif document.error is not None:
            self.strip.hide()
            self._pages.setCurrentWidget(self._page_of_error(document, document.error))
        else:
            self.loading.start(document.title)
            self._pages.setCurrentWidget(self._loading_page)

    def _page_of_error(self, document: OpenDocument, error: BaseException) -> QWidget:
        found = getattr(error, "found", None)
        if found is None:
            if self._is_broken_text(document, error):
                return self._page_of_text(document, error)
            self.error.set_error(f"{document.title} could not be opened", error)
            return self._error_page
        if self.found is None:
            from refbrowser.app.dialogs.found_card import FoundCard

            self.found = FoundCard()
            self._found_page = scrolled(centred(self.found))
            self._pages.addWidget(self._found_page)
            self.found.retry.connect(self._retry)
            self.found.openPaths.connect(self.openPaths)
            self.found.referencesWanted.connect(self.referencesWanted)
            self.found.combineWanted.connect(self.combineWanted)
            self.found.makeWanted.connect(self.makeWanted)
            self.found.leadWanted.connect(self.leadWanted)
        self.found.set_found(document.path, error, found)
        return self._found_page

    @staticmethod
    def _is_broken_text(document: OpenDocument, error: BaseException) -> bool:
        from refbrowser.views.source.broken_text import is_broken_text

        return is_broken_text(document.path, error)

    def _page_of_text(self, document: OpenDocument, error: BaseException) -> QWidget:
        """Return the text of a document that could not be opened because of it."""
        if self.mending is None:
            from refbrowser.app.source.mending_pane import MendingPane

            self.mending = MendingPane()
            self._mending_page = framed(self.mending)
            self._pages.addWidget(self._mending_page)
            self.mending.retry.connect(self._retry)
        self.mending.set_failed(document, error)
        return self._mending_page

    def show_progress(self, document: OpenDocument, done: int, total: int | None) -> None:
        """Show how far the reading of the current document is."""
        if document is self._document:
            self._progress = done, total
            if not self._progress_shown.isActive():
                self._show_progress()

    def _show_progress(self) -> None:
        if self._progress is not None and self._document is not None:
            self.loading.set_progress(self._document.title, *self._progress)
            self.strip.set_progress(self._document.title, *self._progress)
            self._progress = None
            self._progress_shown.start()

    def show_stage(self, document: OpenDocument, stage: str) -> None:
        """Show what is done after the reading of the current document."""
        if document is self._document:
            self._progress = None
            self.loading.set_stage(document.title, stage)
            self.strip.set_stage(document.title, stage)

    def show_first_rows(self, document: OpenDocument, rows: FirstRows) -> None:
        """Show the rows of the current document that are known while it is read."""
        if document is self._document and not document.is_open:
            if self._pages.currentWidget() is not self.tabs:
                self._pages.setCurrentWidget(self.tabs)
                self._tab_before = self.tabs.currentIndex()
                self.tabs.setCurrentIndex(REFERENCES)
                self.strip.show()
            self.references.show_first_rows(rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._bars.limit(max(_BARS_LEAST, round(event.size().height() * _BARS_MOST)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.restyled.emit()

    def _cancel(self) -> None:
        if self._document is not None:
            self._document.cancel_open()

    def _retry(self) -> None:
        if self._document is not None:
            self._document.open()
            self.update_state()
