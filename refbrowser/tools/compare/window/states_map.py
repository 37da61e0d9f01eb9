"""The chunk grid of an array coloured by how references compare, and the references of one chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from refbrowser.app.panes.chunk_map_controls import MapControls, MapLegend
from refbrowser.app.panes.chunk_map_view import Cell, ChunkMapView
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.side_texts import SideTexts
from refbrowser.app.widgets.small_widgets import hint_label
from refbrowser.views.chunks.chunk_map import ChunkLayout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from refbrowser.app.tasks.latest import Work
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.engine.comparing.differences import ArrayComparison
    from refbrowser.tools.compare.compared import ChunkPair, Compared
    from refbrowser.views.chunks.chunk_colouring import ColouredMap
    from refbrowser.views.plot.slicing import SliceState

_STYLES = (QEvent.Type.StyleChange, QEvent.Type.PaletteChange)
_TOO_LARGE = "The grid is too large to be drawn: its counts are above, with the first chunks of each kind."


class StatesMap(QWidget):
    """How the references of the chunks of one array compare.

    Signals
    -------
    chunkChosen(object)
        Coordinates of the chunk whose references are shown; None for none.
    """

    chunkChosen = Signal(object)

    def __init__(self, work: Work, sides: Sequence[str]) -> None:
        super().__init__()
        self._work = work
        self._found: Compared | None = None
        self._array: ArrayComparison | None = None
        self._layout: ChunkLayout | None = None
        self.coords: tuple[int, ...] | None = None
        self._painting, self._looking = Latest(self, "compare map"), Latest(self, "compare chunk")
        self.controls = MapControls()
        # What the colour says is the same for all.
        self.controls.hide_by()
        self.view = ChunkMapView()
        self.view.setObjectName("comparedMap")
        self.view.setAccessibleName("Chunks, by how their references compare")
        self.legend = MapLegend()
        self.hint = hint_label(_TOO_LARGE)
        self.pair = SideTexts("comparedChunk", sides)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        top = QWidget()
        layout = QVBoxLayout(top)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self.controls)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.hint, 1)
        layout.addWidget(self.legend)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setObjectName("comparedMapSplit")
        split.setChildrenCollapsible(False)
        split.addWidget(top)
        split.addWidget(self.pair)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(split)

    def _connect(self) -> None:
        self.controls.downChosen.connect(lambda axis: self._change(lambda state: state.with_y(axis)))
        self.controls.acrossChosen.connect(lambda axis: self._change(lambda state: state.with_x(axis)))
        self.controls.indexChanged.connect(
            lambda axis, index: self._change(lambda state: state.with_index(axis, index))
        )
        self.view.cursorMoved.connect(self._point)
        self.legend.wanted.connect(self.view.go_to_class)

    # What is shown

    def set_array(self, found: Compared, array: ArrayComparison) -> None:
        """Show the chunks of an array; the first that differs is chosen, or the next one after it."""
        same = self._array is not None and self._array.path == array.path
        kept = self._layout if same else None
        self._found, self._array = found, array
        if not same:
            self.coords = None
            self.pair.clear()
        before = self.coords
        is_drawn = array.chunks.states is not None
        self.hint.setVisible(not is_drawn)
        for part in (self.controls, self.view, self.legend):
            part.setVisible(is_drawn)
        if not is_drawn:
            self._layout = None
            first = array.chunks.examples[0].coords if array.chunks.examples else None
            self.set_chunk(first)
            return

        def look(_control: TaskControl) -> tuple[SliceState, tuple[int, ...] | None]:
            from refbrowser.tools.compare.chunk_states import next_state, states_slice
            from refbrowser.tools.compare.compared import names_of

            chosen = next_state(array.chunks, before)
            state = states_slice(array.chunks, names_of(found, array), chosen)
            if kept is not None and kept.slice.shape == state.shape:
                state = kept.slice
                if chosen is not None:
                    for axis in state.sliders:
                        state = state.with_index(axis, chosen[axis])
            return state, chosen

        def show(start: tuple[SliceState, tuple[int, ...] | None]) -> None:
            self._show_layout(ChunkLayout.of(start[0]))
            self.set_chunk(start[1])

        self._painting.run(self._work, f"Draw the chunks of {array.path}", look, show)

    def clear(self) -> None:
        """Show nothing."""
        self._painting.cancel()
        self._looking.cancel()
        self._array = self._layout = self.coords = None

    def set_chunk(self, coords: tuple[int, ...] | None) -> None:
        """Show the references of a chunk."""
        found, array = self._found, self._array
        self.coords = coords
        self.chunkChosen.emit(coords)
        if coords is None or found is None or array is None:
            self.pair.clear()
            return
        if self._layout is not None and (cell := self._layout.cell_of(coords)) != self.view.cursor_item:
            blocked = self.view.blockSignals(True)
            self.view.place_cursor(cell)
            self.view.blockSignals(blocked)

        def look(_control: TaskControl) -> ChunkPair:
            from refbrowser.tools.compare.compared import chunk_pair

            return chunk_pair(found, array, coords)

        self._looking.run(self._work, f"Look up a chunk of {array.path}", look, self._show_pair)

    def _show_pair(self, pair: ChunkPair) -> None:
        self.pair.set_headings(pair.keys)
        self.pair.set_lines(pair.lines)
        said = ["; ".join(line.text for line in lines if line.text) or "nothing" for lines in pair.lines]
        self.view.say(f"Chunk {'.'.join(map(str, pair.coords))}: left {said[0]}, right {said[1]}")

    def _show_layout(self, layout: ChunkLayout) -> None:
        array = self._array
        if array is None or array.chunks.states is None:
            return
        states = array.chunks.states
        self._layout = layout
        self.controls.set_slice(layout.slice, layout.columns)
        self.view.set_layout(layout, same=self.view.layout_ == layout)

        def paint(_control: TaskControl) -> ColouredMap:
            from refbrowser.tools.compare.chunk_states import states_map

            return states_map(states, layout)

        def show(found: ColouredMap) -> None:
            self.view.set_maps([found])
            self.legend.set_map(found)

        self._painting.run(self._work, f"Draw the chunks of {array.path}", paint, show)

    def _change(self, change: Callable[[SliceState], SliceState]) -> None:
        if self._layout is not None:
            self._show_layout(self._layout.with_slice(change(self._layout.slice)))

    # The chunk that is pointed at

    def _point(self, cell: Cell | None) -> None:
        coords = None if cell is None or self._layout is None else self._layout.coords_at(*cell)
        if coords is not None and coords != self.coords:
            self.set_chunk(coords)

    # Events

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in _STYLES and hasattr(self, "legend"):
            self.view.restyle()
            self.legend.restyle()
