"""Places that are typed over a plot: found by the coordinates of the array, and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.views.plot.named_selection import selection_of, slice_words
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.model.selection import Selection


class TypedPlaces(QObject):
    """Shows what is typed in the field over any plot of a window."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._work = Latest(self, "place")
        workspace.centre.plotMade.connect(self._follow)

    def _follow(self, plot: PlotPane) -> None:
        plot.header.place.typed.connect(lambda text: self._show(plot, text))
        plot.header.placeWanted.connect(lambda: self.begin(plot))

    def begin(self, plot: PlotPane) -> None:
        """Let a place be typed, beginning with the one that is shown."""
        state = plot.slice_state()
        if state is not None and state.shape:
            plot.header.place.begin(slice_words(state, plot.coordinates()))

    def _show(self, plot: PlotPane, text: str) -> None:
        source, node = plot.source(), plot.array()
        if not isinstance(source, OpenDocument) or source.dataset is None or node is None:
            return
        dataset = source.dataset

        def find(control: TaskControl) -> Selection:
            return selection_of(dataset.array(node.path), text, control.token)

        def done(selection: Selection) -> None:
            if plot.source() is source and plot.array() is not None:
                plot.show_selection(selection)
                plot.page().setFocus(Qt.FocusReason.OtherFocusReason)

        def failed(error: BaseException) -> None:
            self._workspace.show_error(f"{one_line(text)} is not shown", error)

        self._work.run(source, f"Find {one_line(text)}", find, done, failed)
