"""The chunk map of the plotted array: which chunks there are, in which state, and which are plotted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from refbrowser.app.panes.array_pane import ArrayPane
from refbrowser.app.panes.chunk_map_controls import MapControls, MapFoot, MapLegend
from refbrowser.app.panes.chunk_map_loader import MapLoader, PointedChunk
from refbrowser.app.panes.chunk_map_view import Cell, ChunkMapView
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import one_shot, pop_up_entries
from refbrowser.views.chunks.chunk_colouring import ColourBy, ColouredMap
from refbrowser.views.chunks.chunk_map import ChunkLayout, first_chunk_slice, with_axes_of
from refbrowser.views.chunks.inner_chunks import InnerManifest, inner_node, shard_layout
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.model.grid import ChunkGrid
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.references.document.extent import Extent
    from refbrowser.views.plot.slicing import SliceState


def plotted_parts(plot: PlotPane, node: ArrayNode) -> tuple[range, ...] | None:
    """Return the chunks along each dimension that are plotted, or None where another array is."""
    shown, state = plot.array(), plot.slice_state()
    if shown is None or state is None or not node.has_grid:
        return None
    if shown.path != node.path or state.shape != node.shape:
        return None
    grid = node.grid
    parts = [range(at, at + 1) for at in grid.chunk_of(state.indices)]
    for axis, taken in zip(state.axes, _ranges(plot, state, grid), strict=True):
        along = grid.dimensions[axis]
        parts[axis] = range(along.chunk_of(taken[0]), along.chunk_of(taken[-1]) + 1) if taken else range(0)
    if state.bands is not None:
        parts[state.bands.dimension] = range(grid.grid_shape[state.bands.dimension])
    return tuple(parts)


def _ranges(plot: PlotPane, state: SliceState, grid: ChunkGrid) -> tuple[range, ...]:
    """Return the indices along the axes of the plot; a part of them where only that is read."""
    picture = plot.picture()
    if picture is not None and picture.plan.slice == state:
        return picture.plan.ranges
    return tuple(range(grid.shape[axis]) for axis in state.axes)


#: A view that stands still so long, in milliseconds, is looked at more closely.
_IDLE = 120
#: Heights of the pane from which on choices are shown, and the legend under the map.
_WITH_CONTROLS, _WITH_LEGEND = 110, 210
#: Width from which on the legend stands beside a map that is low.
_WITH_COLUMN = 460
_NOTHING = (
    "The chunks of the selected array appear here: which are stored, missing or read, their sizes and URLs."
)


class ChunkMapPane(ArrayPane):
    """Shows the chunks of one array; everything is computed from references, nothing is read.

    Signals
    -------
    chunkChosen(object)
        Coordinates of the chunk that was clicked, or on which Return was pressed.
    explainWanted()
        The chunk under the cursor (`current_chunk`) is to be explained.
    """

    chunkChosen = Signal(object)
    explainWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("chunkMapPane", _NOTHING, parent)
        self._layout: ChunkLayout | None = None
        self._plotted: tuple[range, ...] | None = None
        #: Axes of the plot that the map took; it keeps what is chosen in it until the plot has others.
        self._axes: tuple[int, ...] | None = None
        self._by_before = ColourBy.STATE
        #: Whether the inner chunks of shards are mapped, where there are any; and what gives them.
        self._is_inner = False
        self._inner_chunks: InnerManifest | None = None
        #: Whether somebody sees the map, and whether the plot went elsewhere while nobody did.
        self._is_seen = self._is_behind = False
        self.controls = MapControls()
        self.view = ChunkMapView()
        self.legend = MapLegend()
        self.foot = MapFoot()
        self.loader = MapLoader(self)
        self.pointed = PointedChunk(self.loader, self)
        self._idle = one_shot(self, _IDLE, self._look_closer)
        self._lay_out()
        self._connect()
        self.clear()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self._inner)
        layout.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self.controls)
        self._map = QGridLayout()
        self._map.setVerticalSpacing(theme.SMALL)
        self._map.setHorizontalSpacing(theme.MEDIUM)
        self._map.setColumnStretch(0, 1)
        self._map.setRowStretch(0, 1)
        layout.addLayout(self._map, 1)
        self._place(beside=False)

    def _place(self, *, beside: bool) -> None:
        """Put the legend under the map, or beside it and the line of words."""
        for part in (self.view, self.legend, self.foot):
            self._map.removeWidget(part)
        self._map.addWidget(self.view, 0, 0)
        self._map.addWidget(self.foot, 2, 0)
        if beside:
            self._map.addWidget(self.legend, 0, 1, 3, 1)
        else:
            self._map.addWidget(self.legend, 1, 0)
        self._is_beside = beside
        self.legend.set_beside(beside)
        self._show_counts()

    def _show_counts(self) -> None:
        """Show counts where there is room for them and the legend does not tell them."""
        self.foot.counts.setVisible(not self._is_beside and self.loader.by is not ColourBy.STATE)

    def _connect(self) -> None:
        controls, view = self.controls, self.view
        controls.byChosen.connect(lambda by: self.colour_by(ColourBy(by)))
        controls.downChosen.connect(lambda axis: self._change_slice(lambda state: state.with_y(axis)))
        controls.acrossChosen.connect(lambda axis: self._change_slice(lambda state: state.with_x(axis)))
        controls.indexChanged.connect(self.set_index)
        controls.innerChosen.connect(self.show_inner)
        self.foot.fitAsked.connect(view.fit)
        self.foot.changesAsked.connect(self.show_changes)
        view.hovered.connect(self._point)
        view.cursorMoved.connect(self._point)
        view.chosen.connect(self._choose)
        view.viewMoved.connect(self._moved)
        view.copyAsked.connect(self.copy_key)
        view.explainAsked.connect(self.explainWanted)
        view.menuAsked.connect(self._show_menu)
        self.legend.wanted.connect(view.go_to_class)
        self.loader.shown.connect(self._show_maps)
        self.pointed.said.connect(self._say)

    # What is shown

    def set_array(self, document: OpenDocument, node: ArrayNode) -> None:
        """Show the chunks of an array."""
        self._turn_to(document)
        before = None if self._node is None or self._node.path != node.path else self._layout
        node = self._at_level(document, node)
        if before is not None and node.has_grid and before.slice.shape != node.grid.grid_shape:
            before = None
        self._node, self._plotted = node, None
        if before is None:
            self._axes = None
        if node.error is not None or not node.has_manifest:
            self._show_hint(f"{node.path} has no chunks to show: its metadata cannot be read.")
        elif not node.grid.size:
            self._show_hint(f"{node.path} has no chunks: its shape is {node.shape}.")
        else:
            state = first_chunk_slice(node, None if before is None else before.slice)
            if before is not None and before.slice.names != state.names:
                # Its axes are those of the plot again.
                self._axes = None
            self._pages.setCurrentWidget(self._inner)
            self._set_layout(ChunkLayout.of(state), same=before is not None)
            self._follow_plot()

    def _at_level(self, document: OpenDocument, node: ArrayNode) -> ArrayNode:
        """Return the array, or its inner chunks as an array where these are to be seen."""
        self._inner_chunks = None
        self.controls.offer_inner(shard_layout(node) is not None)
        dataset = document.dataset
        inner = None
        if self._is_inner and dataset is not None:
            inner = inner_node(node, dataset.session, dataset.access.at_once())
        if inner is None:
            return node
        assert isinstance(inner.manifest, InnerManifest)
        self._inner_chunks = inner.manifest
        return inner

    def show_inner(self, is_inner: bool) -> None:
        """Map the inner chunks of shards, whose indexes are read for that, or the shards."""
        self._is_inner = is_inner
        self._follow_document()

    def set_plot(self, plot: PlotPane) -> None:
        super().set_plot(plot)
        plot.settled.connect(self._follow_plot)
        self._is_behind = False
        self._follow_plot()

    def _leave_plot(self, plot: PlotPane) -> None:
        if not self._is_behind:
            super()._leave_plot(plot)
            plot.settled.disconnect(self._follow_plot)

    def set_seen(self, is_seen: bool) -> None:
        self._is_seen = is_seen
        self.loader.set_awake(is_seen)
        if is_seen:
            self._catch_up()

    def _catch_up(self) -> None:
        """Follow what the plot did while nobody saw the map."""
        if self._is_behind and self._plot is not None:
            self._is_behind = False
            self._plot.viewChanged.connect(self._follow_plot)
            self._plot.settled.connect(self._follow_plot)
            self._take_plotted()

    def chunk_slice(self) -> SliceState | None:
        """Return the slice of the chunk grid that is shown, counted in chunks."""
        return None if self._layout is None else self._layout.slice

    def is_settled(self) -> bool:
        return not (self.loader.is_busy or self.pointed.is_busy)

    def colour_by(self, by: ColourBy) -> None:
        """Colour chunks by something else."""
        self.controls.set_by(by)
        self.foot.set_showing_changes(by is ColourBy.CHANGE)
        self.loader.set_by(by)
        self._show_counts()

    def show_changes(self, on: bool) -> None:
        """Colour chunks by what edits changed, or again as before."""
        if on and self.loader.by is not ColourBy.CHANGE:
            self._by_before = self.loader.by
        self.colour_by(ColourBy.CHANGE if on else self._by_before)

    def set_index(self, dimension: int, index: int) -> None:
        """Show another chunk along a dimension that is not on an axis."""
        self._change_slice(lambda state: state.with_index(dimension, index))

    def show_chunk(self, coords: tuple[int, ...]) -> None:
        """Put the cursor on a chunk, in another slice where it is not in the one that is shown."""
        self._catch_up()
        layout = self._layout
        if self._inner_chunks is not None:
            coords = self._inner_chunks.first_in(coords)
        if layout is None or len(coords) != len(layout.slice.shape):
            return
        state = layout.slice
        for axis in state.sliders:
            state = state.with_index(axis, coords[axis])
        self._change_slice(lambda _state: state)
        cell = self._layout.cell_of(coords) if self._layout is not None else None
        if cell is not None:
            self.view.place_cursor(cell)

    def current_chunk(self) -> tuple[OpenDocument, str] | None:
        """Return the document and the key of the chunk under the cursor."""
        coords = self._coords_at(self.view.cursor_item or self.view.hover_item)
        document, node = self._document, self._node
        if coords is None or document is None or node is None or not node.has_manifest:
            return None
        return document, node.manifest.key(coords)

    def copy_key(self) -> None:
        """Put the key of the chunk under the cursor on the clipboard."""
        current = self.current_chunk()
        if current is not None:
            QGuiApplication.clipboard().setText(current[1])

    def copy_url(self) -> None:
        """Put the URL of the chunk under the cursor on the clipboard."""
        facts = self.pointed.facts
        if facts is not None and facts.url is not None:
            QGuiApplication.clipboard().setText(facts.url)

    def _show_hint(self, text: str) -> None:
        self.loader.clear()
        self.pointed.forget()
        self._layout = None
        self.view.set_layout(None)
        self.controls.set_slice(None)
        self.legend.set_map(None)
        self.foot.set_changed(0)
        self._say("")
        super()._show_hint(text)

    def _set_layout(self, layout: ChunkLayout, same: bool = False) -> None:
        assert self._document is not None
        assert self._node is not None
        self._layout = layout
        self.controls.set_slice(layout.slice, layout.columns)
        self.view.set_layout(layout, same)
        self.pointed.set_map(self._document, self._node)
        self.loader.set_map(self._document, self._node, layout)
        self._outline()
        self._point(self.view.cursor_item)

    def _change_slice(self, change: object) -> None:
        if self._layout is None:
            return
        state = change(self._layout.slice)  # type: ignore[operator]
        if state != self._layout.slice:
            self._set_layout(self._layout.with_slice(state))

    def _show_maps(self, maps: list[ColouredMap]) -> None:
        self.view.set_maps(maps)
        shown = maps[0] if maps else None
        self.legend.set_map(shown, "" if shown is None else _note(shown))
        self.foot.counts.setText("" if shown is None else _counts(shown))
        self.foot.set_changed(0 if shown is None else shown.changed)
        self.pointed.say()

    # What is followed

    def _follow_document(self) -> None:
        document, found = self._document, self._array_now()
        if document is None or found is None:
            self.clear()
        else:
            self.set_array(document, found)

    def _follow_edit(self, extent: Extent) -> None:
        if self._node is None or extent.is_structure or extent.concerns([self._node.path]):
            self._follow_document()

    def _follow_saved(self, extent: Extent) -> None:
        if self._node is not None and extent.concerns([self._node.path]):
            self._follow_document()

    def _follow_plot(self) -> None:
        if self._is_seen:
            self._take_plotted()
        elif not self._is_behind and self._plot is not None:
            # It follows no further until it is seen.
            self._is_behind = True
            self._plot.viewChanged.disconnect(self._follow_plot)
            self._plot.settled.disconnect(self._follow_plot)

    def _take_plotted(self) -> None:
        """Outline what is plotted; where the plot goes to other axes or chunks, the map goes there too."""
        if self._plot is None or self._node is None or self._layout is None:
            return
        if self._plot.source() is not self._document:
            return
        parts, before = plotted_parts(self._plot, self._node), self._plotted
        self._plotted = parts
        state = self._layout.slice
        shown = self._plot.slice_state()
        if parts is not None and shown is not None:
            followed, self._axes = self._axes, shown.axes
            if followed != shown.axes:
                state = with_axes_of(state, shown)
        if parts is not None and parts != before:
            for axis in state.sliders:
                if parts[axis] and state.indices[axis] not in parts[axis]:
                    state = state.with_index(axis, parts[axis][0])
        if state != self._layout.slice:
            self._set_layout(self._layout.with_slice(state))
        self._outline()

    def _outline(self) -> None:
        parts, layout = self._plotted, self._layout
        boxes = [] if parts is None or layout is None else layout.boxes(parts)
        # Around everything it would say nothing.
        cells = sum((bottom - top) * (right - left) for top, bottom, left, right in boxes)
        whole = layout is not None and cells == layout.size
        self.view.set_outline([] if whole else boxes)

    def _moved(self) -> None:
        self.foot.set_zoomed(self._layout is not None and not self.view.viewport.is_fitted)
        self._idle.start()

    def _look_closer(self) -> None:
        self.loader.look_closer(*self.view.viewport.visible())

    # The chunk that is pointed at

    def _coords_at(self, cell: Cell | None) -> tuple[int, ...] | None:
        return None if cell is None or self._layout is None else self._layout.coords_at(*cell)

    def _point(self, _cell: Cell | None) -> None:
        view = self.view
        cell = view.hover_item if view.hover_item is not None else view.cursor_item
        self.pointed.set_chunk(self._coords_at(cell), cell)

    def _say(self, text: str) -> None:
        self.foot.readout.set_text(
            text or ("Click a chunk to plot it; arrow keys move the cursor" if self._layout else "")
        )
        self.view.say(text)

    def _choose(self, cell: Cell | None) -> None:
        coords = self._coords_at(cell)
        if coords is not None and self._inner_chunks is not None:
            coords = self._inner_chunks.shard_of(coords)
        if coords is not None:
            self.chunkChosen.emit(coords)

    def _show_menu(self, place: QPoint) -> None:
        cell = self.view.cursor_item
        entries = (
            ("Plot this chunk and show its key", "Return", lambda: self._choose(cell)),
            ("Explain this chunk", "E", self.explainWanted.emit),
            ("Copy the key", "Ctrl+C", self.copy_key),
            ("Copy the URL", "", self.copy_url),
            ("Go to the next chunk like this", "N", self.view.go_to_alike),
            ("See all chunks", "R", self.view.fit),
        )
        pop_up_entries(self, "chunkMapMenu", place, entries)

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        low = self.height() < _WITH_LEGEND
        beside = low and self.width() >= _WITH_COLUMN
        if beside != self._is_beside:
            self._place(beside=beside)
        self.legend.setVisible(beside or not low)
        self.controls.setVisible(self.height() >= _WITH_CONTROLS)

    def _restyle(self) -> None:
        self.view.restyle()
        self.foot.restyle()
        self.legend.restyle()


def _counts(shown: ColouredMap) -> str:
    """Return how many chunks there are of each kind."""
    counts = (
        (shown.stored, "stored"),
        (shown.inline, "inline"),
        (shown.missing, "missing"),
        (shown.failed, "failed"),
    )
    words = ", ".join(f"{count_text(count)} {name}" for count, name in counts if count or name == "stored")
    return words if shown.is_complete else f"{words} so far"


def _note(shown: ColouredMap) -> str:
    """Return what the map leaves out."""
    if not shown.is_sampled:
        return ""
    return f"one chunk in {shown.rows.step * shown.columns.step} is checked; zoom in for all"
