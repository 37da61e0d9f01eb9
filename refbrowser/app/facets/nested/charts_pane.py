"""Plots of the numbers in a nested array, and facts about them; only as much is read as they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.facets.nested.chart_choice import ChartChoice, ChartKind
from refbrowser.app.facets.nested.chart_stage import ChartStage
from refbrowser.app.facets.nested.chart_words import extent_words, facts_of
from refbrowser.app.facets.nested.facts_view import FactsView
from refbrowser.app.plot.plot_cards import PlotCards
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import push_button, show_progress
from refbrowser.errors import RefbrowserError
from refbrowser.views.nested.nested_tally import UNASKED, Collected, collect

if TYPE_CHECKING:
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.nested.nested_numbers import FieldChoice

#: From this width on facts stand beside the plot, below it in less; and how wide they are there.
_WIDE, _FACTS = 420, 204
#: What Qt takes for no greatest width.
_ANY_WIDTH = 16_777_215


class ChartsPane(QWidget):
    """One plot of one field, or of two; `tools` are the controls that stand over it.

    Signals
    -------
    said(str)
        What is under the pointer.
    settled()
        Nothing is being read any more.
    trustReviewRequested()
        The user wants to review what the document may read.
    """

    said = Signal(str)
    settled = Signal()
    trustReviewRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("nestedCharts")
        self._source: PlotSource | None = None
        self._node: ArrayNode | None = None
        self._is_shown = self._is_reading = self._everything = False
        #: What was read, and of which fields; or is being read.
        self._found: Collected | None = None
        self._asked: tuple[FieldChoice, ...] = ()
        self.tools = self.choice = ChartChoice()
        self.stage = ChartStage()
        self.cards = PlotCards("nestedCharts")
        self.facts = FactsView()
        self.extent = ElidedLabel("nestedExtent", role="muted")
        self.progress = QProgressBar()
        self.progress.setObjectName("nestedProgress")
        self.progress.setAccessibleName("Rows read")
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(90)
        self.all = push_button("Read all", "nestedReadAllButton", self.read_all)
        self.cancel = push_button("Cancel", "nestedCancelButton", self.cancel_read)
        self._lay_out()
        self.choice.changed.connect(self._choice_changed)
        self.stage.said.connect(self.said)
        self.cards.retryRequested.connect(self.read_again)
        self.cards.trustReviewRequested.connect(self.trustReviewRequested)

    # What is shown

    def set_array(self, source: PlotSource | None, node: ArrayNode | None) -> None:
        """Plot another array; the kind of plot stays, and the fields where it has them too."""
        self._stop()
        same = node is not None and self._node is not None and node.path == self._node.path
        self._source, self._node = source, node
        self._everything = self._everything and same
        self._asked, self._found = (), None
        self.choice.set_array(node, None if source is None else source.hierarchy)
        self.stage.clear()
        self._update()

    def set_shown(self, shown: bool) -> None:
        """Read only while somebody looks."""
        self._is_shown = shown
        self._update()

    def is_settled(self) -> bool:
        """Whether all that is to be plotted is read."""
        return not self._is_reading

    def focus_target(self) -> QWidget:
        """Return what takes the keyboard."""
        return self.choice.kind

    def found(self) -> Collected | None:
        """Return what was read."""
        return self._found

    def _choice_changed(self) -> None:
        self._everything = self._everything and self._asked == self.choice.fields()
        self._update()

    def _update(self) -> None:
        """Read what is to be plotted, unless it is there, and plot it."""
        if not self._is_shown or self._node is None or self._node.nested is None:
            return
        fields = self.choice.fields()
        if fields != self._asked:
            self.read_again()
        else:
            self._show()

    # Reading

    def read_again(self) -> None:
        """Read the fields that are chosen."""
        self._stop()
        source, node, fields = self._source, self._node, self.choice.fields()
        dataset = None if source is None else source.dataset
        if source is None or node is None or dataset is None or not fields:
            return
        self._asked, self._found, self._is_reading = fields, None, True
        most = None if self._everything else UNASKED

        def read(control: TaskControl) -> Collected:
            return collect(dataset, node, fields, control, control.send, most)

        title = f"Read {' and '.join(field.title for field in fields)} of {node.path}"
        self._pages.setCurrentWidget(self._plot_page)
        source.tasks.run(
            source.owner("nested charts"), title, read, self._done, self._failed, received=self._take
        )
        self._show()

    def read_all(self) -> None:
        """Read all rows."""
        self._everything = True
        self.read_again()

    def cancel_read(self) -> None:
        """Read no more; what has come stays."""
        self._stop()
        self._show()
        self.settled.emit()

    def _stop(self) -> None:
        self._is_reading = False
        if self._source is not None:
            self._source.tasks.cancel_owner(self._source.owner("nested charts"))

    def _take(self, found: Collected) -> None:
        self._found = found
        self._show()

    def _done(self, found: Collected) -> None:
        self._is_reading = False
        self._take(found)
        self.settled.emit()

    def _failed(self, error: BaseException) -> None:
        self._is_reading = False
        if self._node is not None:
            self.cards.show_failure(self._node.path, error)
            self._pages.setCurrentWidget(self.cards)
        self._show_reading()
        self.settled.emit()

    # Showing

    def _show(self) -> None:
        node, fields = self._node, self._asked
        if node is None or not fields:
            return
        self.facts.set_facts(facts_of(node, fields[0], self._found))
        self._show_reading()
        if self._found is None:
            self.stage.clear()
            return
        try:
            self.stage.show(
                self.choice.chart(), fields, self._found, self.choice.level(), self.choice.is_log()
            )
            self._pages.setCurrentWidget(self._plot_page)
        except RefbrowserError as error:
            self.cards.show_hint(
                "These do not belong together", f"{error.message}; {error.advice}.".capitalize()
            )
            self._pages.setCurrentWidget(self.cards)

    def _show_reading(self) -> None:
        found, reading = self._found, self._is_reading
        total = 0 if self._node is None or self._node.nested is None else self._node.nested.length
        self.progress.setVisible(reading)
        self.cancel.setVisible(reading)
        if found is None:
            self.extent.set_text("Reading…" if reading else "")
            self.progress.setRange(0, 0)
        else:
            are_points = self.choice.chart() in (ChartKind.INDEX, ChartKind.FIELDS)
            self.extent.set_text(extent_words(found, are_points))
            show_progress(self.progress, found.rows, total)
        more = found is not None and not found.is_complete and not self._everything
        self.all.setVisible(more and not reading)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.stage.restyle()

    # Assembly

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(theme.MEDIUM)
        foot.addWidget(self.extent, 1)
        for widget in (self.progress, self.all, self.cancel):
            foot.addWidget(widget)
            widget.hide()
        self._plot_page = self.stage
        self._pages = QStackedWidget()
        for page in (self.stage, self.cards):
            self._pages.addWidget(page)
        # A card may be cut where there is little room; the pane must not grow for one that is not seen.
        self.cards.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(theme.LARGE)
        self._both.addWidget(self._pages, 1)
        # More facts than there is height for are scrolled, so that a plot keeps its room.
        self._beside = QScrollArea()
        self._beside.setObjectName("nestedFactsArea")
        self._beside.setAccessibleName("Facts about the field")
        self._beside.setFrameShape(QFrame.Shape.NoFrame)
        self._beside.setWidgetResizable(True)
        self._beside.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._beside.setWidget(self.facts)
        self._both.addWidget(self._beside)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(self._both, 1)
        layout.addLayout(foot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= _WIDE
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._both.setDirection(direction)
        self.facts.set_columns(1 if is_wide else 2)
        self._beside.setMaximumWidth(_FACTS if is_wide else _ANY_WIDTH)
        self._beside.setMinimumWidth(_FACTS if is_wide else 0)
        self._both.setStretch(0, 1 if is_wide else 2)
        self._both.setStretch(1, 0 if is_wide else 1)
