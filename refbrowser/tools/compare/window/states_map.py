"""The chunk grid of an array coloured by how references compare, and the references of one chunk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets.side_texts import SideTexts
from refbrowser.tools.compare.window.grid_map import GridMap
from refbrowser.views.chunks.chunk_map import ChunkLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refbrowser.app.tasks.latest import Work
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.engine.comparing.differences import ArrayComparison
    from refbrowser.tools.compare.compared import ChunkPair, Compared
    from refbrowser.views.plot.slicing import SliceState

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
        self.coords: tuple[int, ...] | None = None
        self._starting, self._looking = Latest(self, "compare map"), Latest(self, "compare chunk")
        self.grid = GridMap(work, "comparedMap", "Chunks, by how their references compare", _TOO_LARGE)
        self.grid.pointed.connect(self._point)
        self.pair = SideTexts("comparedChunk", sides)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setObjectName("comparedMapSplit")
        split.setChildrenCollapsible(False)
        split.addWidget(self.grid)
        split.addWidget(self.pair)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(split)

    # What is shown

    def set_array(self, found: Compared, array: ArrayComparison) -> None:
        """Show the chunks of an array; the first that differs is chosen, or the next one after it."""
        from refbrowser.tools.compare.chunk_states import states_map

        same = self._array is not None and self._array.path == array.path
        kept = self.grid.layout_ if same else None
        self._found, self._array = found, array
        if not same:
            self.coords = None
            self.pair.clear()
        before, states = self.coords, array.chunks.states
        if states is None:
            self.grid.show_large()
            self.set_chunk(array.chunks.examples[0].coords if array.chunks.examples else None)
            return
        paint = partial(states_map, states)

        def look(_control: TaskControl) -> tuple[SliceState, tuple[int, ...] | None]:
            from refbrowser.tools.compare.chunk_states import next_state, states_slice
            from refbrowser.tools.compare.compared import names_of

            chosen = next_state(array.chunks, before)
            state = states_slice(array.chunks.grid_shape, names_of(found, array), chosen)
            if kept is not None and kept.slice.shape == state.shape:
                state = kept.slice
                if chosen is not None:
                    for axis in state.sliders:
                        state = state.with_index(axis, chosen[axis])
            return state, chosen

        def show(start: tuple[SliceState, tuple[int, ...] | None]) -> None:
            self.grid.show_layout(ChunkLayout.of(start[0]), paint)
            self.set_chunk(start[1])

        self._starting.run(self._work, f"Draw the chunks of {array.path}", look, show)

    def clear(self) -> None:
        """Show nothing."""
        self._starting.cancel()
        self._looking.cancel()
        self.grid.clear()
        self._array = self.coords = None

    def set_chunk(self, coords: tuple[int, ...] | None) -> None:
        """Show the references of a chunk."""
        found, array = self._found, self._array
        self.coords = coords
        self.chunkChosen.emit(coords)
        if coords is None or found is None or array is None:
            self.pair.clear()
            return
        self.grid.place_cursor(coords)

        def look(_control: TaskControl) -> ChunkPair:
            from refbrowser.tools.compare.compared import chunk_pair

            return chunk_pair(found, array, coords)

        self._looking.run(self._work, f"Look up a chunk of {array.path}", look, self._show_pair)

    def _show_pair(self, pair: ChunkPair) -> None:
        self.pair.set_headings(pair.keys)
        self.pair.set_lines(pair.lines)
        said = ["; ".join(line.text for line in lines if line.text) or "nothing" for lines in pair.lines]
        self.grid.view.say(f"Chunk {'.'.join(map(str, pair.coords))}: left {said[0]}, right {said[1]}")

    def _point(self, coords: tuple[int, ...]) -> None:
        if coords != self.coords:
            self.set_chunk(coords)
