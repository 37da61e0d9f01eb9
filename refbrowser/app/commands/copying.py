"""What is copied: paths, keys, URLs, single values, and lines of Python for the slice on the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut

from refbrowser.app.frame.centre import RAW, REFERENCES
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.formats.registry import facet, title_of
from refbrowser.model.selection import Selection
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.model.reference import Reference
    from refbrowser.views.plot.picture import Picture
    from refbrowser.views.plot.slicing import SliceState
    from refbrowser.views.plot.table import TableLayout
    from refbrowser.views.regions.region import Region


@dataclass(frozen=True, slots=True)
class Shown:
    """A slice of an array of an opened document.

    Attributes
    ----------
    ranges
        Indices along the axes of the slice; those of the picture where it shows a part or every n-th value.
    picture
        What has been read of it for the plot, or None.
    """

    document: OpenDocument
    layout: TableLayout
    ranges: tuple[range, ...]
    picture: Picture | None

    @property
    def name(self) -> str:
        """A name for a file of it, without suffix: the array's, and the indices."""
        state, node = self.layout.slice, self.layout.node
        indices = "_".join(str(state.indices[axis]) for axis in state.sliders)
        whole = f"{node.name or 'array'}_{indices}" if indices else node.name or "array"
        return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in whole)

    @property
    def text(self) -> str:
        """The slice in words: what each index that is held stands for."""
        return "   ".join(self.layout.held)


def shown_by(plot: PlotPane | None) -> Shown | None:
    """Return what a plot shows, the picture on the screen and not one that is to come; None for no array."""
    return None if plot is None else _shown(plot, plot.array(), plot.picture())


def shown_beside(plot: PlotPane | None) -> Shown | None:
    """Return what the table beside a plot shows: whole elements, also where a part of each is plotted."""
    return None if plot is None else _shown(plot, plot.tabled(), None)


def _shown(plot: PlotPane, node: ArrayNode | None, picture: Picture | None) -> Shown | None:
    from refbrowser.views.plot.interpretation import Interpretation
    from refbrowser.views.plot.table import TableLayout

    state, source = plot.slice_state(), plot.source()
    if node is None or state is None or source is None or source.dataset is None:
        return None
    shown = Interpretation(node, plot.is_decoded())
    ranges = tuple(range(state.shape[axis]) for axis in state.axes)
    if picture is not None and not _is_of(picture, node, state):
        picture = None
    if picture is not None:
        state = picture.plan.slice
        ranges = picture.plan.ranges if shown.is_number else ranges
    layout = TableLayout(node, state, plot.coordinates(), shown)
    return Shown(cast("OpenDocument", source), layout, ranges, picture)


def _is_of(picture: Picture, node: ArrayNode, state: SliceState) -> bool:
    """Whether a picture is of an array with these axes."""
    before, plan = picture.node, picture.plan.slice
    return (before.path, before.dtype, plan.shape, plan.axes) == (
        node.path,
        node.dtype,
        state.shape,
        state.axes,
    )


_NOTHING_MEANT = "Select a key, or put the cursor on an element of the plot, to copy from it"
_NOT_HERE = "There is no value to copy: its chunk is missing, could not be read, or is still loading"


class CopyCommands(CommandGroup):
    """Puts texts on the clipboard, and says what it put there."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._hierarchy = workspace.hierarchy
        self._navigation = workspace.navigation
        self._copied = Latest(self, "clipboard")

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        texts = (self.copy_path, self.copy_key, self.copy_url, self.copy_value)
        return by_name(*texts, self.copy_python, self.copy_xarray)

    def connect_panes(self) -> None:
        """Copy by Ctrl+C what the pane with the keyboard shows."""
        _on_copy(self._hierarchy.tree, self.copy_path)
        _on_copy(self._centre.references.table, self._copy_rows)

    def connect_plot(self, plot: PlotPane) -> None:
        """Copy by Ctrl+C the value under a plot's cursor."""
        _on_copy(plot.canvas, self.copy_value)
        _on_copy(plot.values.table, self.copy_value)
        plot.tools.pythonRequested.connect(self.copy_region)

    # Texts

    def copy_path(self) -> None:
        """Copy the document's path, and that of the selected node."""
        document, item = self._current, self._navigation.item()
        if document is not None:
            inside = item is not None and item.kind in (ItemKind.ARRAY, ItemKind.GROUP)
            node = f"::{item.place}" if item is not None and inside else ""
            self.put(document.path + node)

    def copy_key(self) -> None:
        """Copy the key that is meant: selected, or of the chunk under the cursor."""
        key = self._key()
        if key is None:
            self._workspace.say(_NOTHING_MEANT)
        else:
            self.put(key)

    def copy_url(self) -> None:
        """Copy the URL that the key points to."""
        self._copy_reference(_url_of, "points to no URL")

    def copy_value(self) -> None:
        """Copy the selected cells, the value under the plot's cursor, or what the selected key refers to."""
        centre = self._centre
        shown = shown_by(centre.plot)
        if self._keys_are_shown() or centre.plot is None or shown is None:
            self._copy_reference(_written, "refers to nothing")
        elif centre.table_is_shown() and centre.table is not None:
            if centre.table.grid.current() is None:
                self._workspace.say("Select a cell to copy its value")
            centre.table.copy_selected()
        elif centre.plot.element() is None:
            self._workspace.say(_NOTHING_MEANT)
        else:
            value = centre.plot.stored()
            if value is None:
                self._workspace.say(_NOT_HERE)
            else:
                self.put(_value_text(shown, value))

    def _copy_rows(self) -> None:
        """Copy the key of the only selected row, or several rows with tabs between their cells."""
        table = self._centre.references.table
        key = self._centre.references.current_key()
        if len(table.selected()) > 1 or key is None:
            table.copy_selected()
            self._workspace.say(f"{len(table.selected())} rows copied")
        else:
            self.put(key)

    def put(self, text: str) -> None:
        """Put text on the clipboard, and say so."""
        QGuiApplication.clipboard().setText(text)
        self._workspace.say(f"Copied: {one_line(text)}")

    # Keys and references

    def _keys_are_shown(self) -> bool:
        centre = self._centre
        return centre.tabs.currentIndex() in (REFERENCES, RAW)

    def _key(self) -> str | None:
        """Return the key that is meant: where keys are in front the selected one, else the chunk's."""
        selected, chunk = self._centre.references.current_key(), self._chunk_key()
        return (selected or chunk) if self._keys_are_shown() else (chunk or selected)

    def _chunk_key(self) -> str | None:
        plot = self._centre.plot
        node = None if plot is None else plot.array()
        index = None if plot is None else plot.element()
        if node is None or not node.has_manifest or index is None:
            return None
        return node.manifest.key(node.grid.chunk_of(index))

    def _copy_reference(self, text_of: Callable[[Reference | None], str], without: str) -> None:
        document, key = self._current, self._key()
        if document is None or document.document is None or key is None:
            self._workspace.say(_NOTHING_MEANT)
            return
        state = document.document

        def find(_control: TaskControl) -> str:
            from refbrowser.engine.document_keys import reference_of

            return text_of(reference_of(state, key))

        def found(text: str) -> None:
            if text:
                self.put(text)
            else:
                self._workspace.say(f"Nothing copied: {one_line(key)} {without}")

        self._run(document, f"Look up {key[:60]}", find, found)

    # Python

    def copy_python(self) -> None:
        """Copy lines that read the slice on the screen with zarr."""
        self._copy_code(with_xarray=False)

    def copy_xarray(self) -> None:
        """Copy lines that read the slice on the screen with xarray."""
        self._copy_code(with_xarray=True)

    def _copy_code(self, *, with_xarray: bool) -> None:
        shown = shown_by(self._centre.plot)
        if shown is None or shown.document.dataset is None:
            self._workspace.say("Select an array to copy the Python that reads it")
            return
        is_edited = shown.document.is_dirty

        def make(control: TaskControl) -> str:
            return code_for(shown, control, with_xarray=with_xarray, is_edited=is_edited)

        def made(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            lines = len(text.splitlines())
            what = "xarray" if with_xarray else "zarr"
            edits = "; they read the file without the unsaved edits" if is_edited else ""
            self._workspace.say(f"{lines} lines of Python copied: they read this slice with {what}{edits}")

        self._run(shown.document, f"Write Python for {shown.layout.node.path}", make, made)

    def copy_region(self, region: Region, over: int | None) -> None:
        """Copy lines that give the statistics of a region with xarray, along a dimension or of the slice."""
        found = shown_by(self._centre.plot)
        if found is None or found.document.dataset is None:
            return
        state = found.layout.slice
        whole = tuple(range(state.shape[axis]) for axis in state.axes)
        shown, is_edited = replace(found, ranges=whole), found.document.is_dirty
        dataset, node = found.document.dataset, found.layout.node

        def make(control: TaskControl) -> str:
            from refbrowser.views.regions.region_reading import region_of_array
            from refbrowser.views.regions.region_snippet import region_snippet

            opened = code_for(shown, control, with_xarray=True, is_edited=is_edited, over=over)
            axes = {*state.axes} if over is None else {*state.axes, over}
            sizes = zip(state.shape, state.indices, strict=True)
            wanted = tuple(
                range(size) if axis in axes else range(at, at + 1) for axis, (size, at) in enumerate(sizes)
            )
            decoded = shown.layout.shown.decoded
            ready = region_of_array(dataset, node, region, Selection(wanted), control.token, decoded=decoded)
            return region_snippet(
                opened, ready, shown.document.path, "" if over is None else state.names[over]
            )

        def made(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            lines = len(text.splitlines())
            self._workspace.say(f"{lines} lines of Python copied: they give the statistics of the region")

        self._run(shown.document, f"Write Python for {node.path}", make, made)

    def _run(
        self,
        document: OpenDocument,
        title: str,
        work: Callable[[TaskControl], str],
        done: Callable[[str], None],
    ) -> None:
        def failed(error: BaseException) -> None:
            self._workspace.show_error("Nothing was copied", error)

        self._copied.run(document, title, work, done, failed)


def code_for(
    shown: Shown, control: TaskControl, *, with_xarray: bool, is_edited: bool, over: int | None = None
) -> str:
    """Return lines of Python for what is shown, and all of another dimension; on a worker thread.

    Their values are in the units that are shown.
    """
    own, ending = _in_own_units(shown)
    return _code_of(own, control, with_xarray=with_xarray, is_edited=is_edited, over=over) + ending


def _in_own_units(shown: Shown) -> tuple[Shown, str]:
    """Return what is shown in the units of the array itself, and the line that puts values in those shown."""
    from refbrowser.views.plot.interpretation import Interpretation
    from refbrowser.views.plot.units import conversion_of, units_of

    layout, dataset = shown.layout, shown.document.dataset
    found = None if dataset is None else dataset.hierarchy.find(layout.node.path)
    # A part of each element, such as the phase, has units of its own.
    if getattr(found, "dtype", None) != layout.node.dtype:
        return shown, ""
    stored = cast("ArrayNode", found)
    conversion = conversion_of(stored, units_of(layout.node))
    if conversion is None or conversion.units == conversion.source:
        return shown, ""
    decoded = layout.shown.decoded
    own = replace(shown, layout=replace(layout, node=stored, shown=Interpretation(stored, decoded)))
    line = f"values = values * {conversion.scale!r} + {conversion.offset!r}  # {one_line(conversion.units)}\n"
    return own, line if decoded else ""


def _code_of(
    shown: Shown, control: TaskControl, *, with_xarray: bool, is_edited: bool, over: int | None
) -> str:
    from refbrowser.engine.sources import sources_of
    from refbrowser.views.derived.computed import python_of
    from refbrowser.views.plot.picture import ChunkState
    from refbrowser.views.plot.snippet_store import source_of
    from refbrowser.views.plot.snippets import (
        SnippetView,
        file_snippet,
        has_plain_times,
        own_snippet,
        xarray_snippet,
        zarr_snippet,
    )

    dataset, layout = shown.document.dataset, shown.layout
    assert dataset is not None
    if not dataset.document.has_keys and facet(dataset.document, "python") is None:
        view = SnippetView(layout.node, layout.slice, shown.ranges, layout.shown.decoded, over=over)
        computed = python_of(dataset.document, view.node.path, view.index)
        if computed:
            return computed
        opening = facet(dataset.document, "python_file")
        if with_xarray and opening is not None and None not in view.node.dimensions:
            return file_snippet(shown.document.path, view, opening, is_edited=is_edited)
        name = title_of(dataset.document.format)
        return own_snippet(shown.document.path, name, view, is_edited=is_edited)
    source = source_of(dataset, (found.url for found in sources_of(dataset.document)), is_edited=is_edited)
    picture, fill = shown.picture, layout.shown.packing.default_fill
    view = SnippetView(
        layout.node,
        layout.slice,
        shown.ranges,
        layout.shown.decoded,
        never_written=fill is not None and picture is not None and bool((picture.values == fill).any()),
        missing=picture is not None and picture.count(ChunkState.MISSING) > 0,
        over=over,
    )
    if not with_xarray:
        return zarr_snippet(source, view)
    plain = layout.shown.decoded and has_plain_times(
        dataset.session, dataset.access, dataset.hierarchy, layout.node, control.token
    )
    return xarray_snippet(source, dataset.hierarchy, replace(view, plain_times=plain))


def _value_text(shown: Shown, value: object) -> str:
    """Return a value of the plot with all its digits; NaN where it stands for none."""
    import numpy as np

    from refbrowser.views.plot.interpretation import exact_texts

    interpretation = shown.layout.shown
    element = np.asarray(value)
    if interpretation.is_missing(element):
        return "NaN"
    if element.ndim or element.dtype.names is not None:
        from refbrowser.views.plot.interpretation import exact_text

        return exact_text(value)
    return exact_texts(interpretation, element.reshape(1, 1))[0][0]


def _url_of(reference: Reference | None) -> str:
    return getattr(reference, "url", "")


def _written(reference: Reference | None) -> str:
    from refbrowser.engine.document_keys import written_value

    return written_value(reference)


def _on_copy(widget: QWidget, work: Callable[[], object]) -> QShortcut:
    shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), widget)
    shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
    shortcut.activated.connect(work)
    return shortcut
