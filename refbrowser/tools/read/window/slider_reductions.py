"""Statistics over a slider: what is chosen beside it is computed, and shown in the place of the array."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.plot.sliders import ReducedAxis
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.errors import RefbrowserError
from refbrowser.model.expressions.grammar import NamedArray
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.derived.reductions import (
    AxisReduction,
    reduced_text,
    reductions_of,
    with_reduction,
    without_reduction,
)
from refbrowser.views.plot.slicing import SliceState, dimension_names
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.engine.dataset import Array
    from refbrowser.tools.read.window.compute_sheet import Computed
    from refbrowser.views.plot.series import SeriesCost
    from refbrowser.views.plot_states.plot_state import PlotState


@dataclass(frozen=True, slots=True)
class _Base:
    """The array that statistics are taken of, with what was seen of it."""

    document: OpenDocument
    path: str
    slice: SliceState
    state: PlotState


@dataclass(frozen=True, slots=True)
class _Reduced:
    """What a document that was made here shows: statistics of an array, and how many elements they are of."""

    base: _Base
    path: str
    axes: tuple[ReducedAxis, ...]

    @property
    def reductions(self) -> tuple[AxisReduction, ...]:
        """The statistics."""
        return tuple(axis.reduction for axis in self.axes)


@dataclass(frozen=True, slots=True)
class _Found:
    """What statistics give, and what reading them takes."""

    computed: Computed
    axes: tuple[ReducedAxis, ...]
    cost: SeriesCost


class SliderReductions(QObject):
    """Carries out what is chosen beside the sliders of all plots of a window."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._work = Latest(self, "reduce")
        #: By the number of the document that shows them.
        self._reduced: dict[int, _Reduced] = {}
        workspace.centre.plotMade.connect(self._follow)
        workspace.documents.removed.connect(self._forget)

    def _forget(self, document: OpenDocument) -> None:
        """Hold nothing of a document that is closed."""
        self._reduced = {
            number: reduced
            for number, reduced in self._reduced.items()
            if number != document.number and reduced.base.document is not document
        }

    def _follow(self, plot: PlotPane) -> None:
        plot.sliders.reductionChosen.connect(
            lambda name, statistic, part: self._choose(plot, name, statistic, part)
        )
        plot.arrayChanged.connect(lambda: self._show(plot))

    def _show(self, plot: PlotPane) -> None:
        """Show beside the sliders of a plot what its array is, and offer what can be taken of it."""
        node, reduced = plot.array(), self._of(plot)
        can_reduce = node is not None and node.dtype is not None and node.dtype.kind in "biufc"
        plot.sliders.set_reductions(() if reduced is None else reduced.axes, can_reduce=can_reduce)

    def _of(self, plot: PlotPane) -> _Reduced | None:
        source, node = plot.source(), plot.array()
        if isinstance(source, OpenDocument) and source.number not in self._reduced:
            self._recall(plot, source)
        found = self._reduced.get(source.number) if isinstance(source, OpenDocument) else None
        return found if found is not None and node is not None and node.path == found.path else None

    def _recall(self, plot: PlotPane, document: OpenDocument) -> None:
        """Find the statistics that a document shows which was computed elsewhere, as in a session."""
        from refbrowser.views.derived.computed import source_of

        if document.dataset is None or not document.is_new:
            return
        path, expression, _labelled = source_of(document.dataset)
        told = reductions_of(expression) if expression else None
        shown, state = plot.array(), plot.state()
        if told is None or shown is None or state is None:
            return
        of, reductions = told
        for each in self._workspace.documents.all():
            hierarchy = each.hierarchy if each.path == path and not each.is_new else None
            node = None if hierarchy is None else hierarchy.find(of)
            if not isinstance(node, ArrayNode):
                continue
            names = dimension_names(node)
            over = [reduction.name for reduction in reductions]
            left = tuple(axis for axis, name in enumerate(names) if name not in over)
            if not left or not set(over) <= set(names):
                continue
            first = SliceState.of(node.shape, names, Selection.from_text("", node.shape), left[-2:])
            whole = replace(state, path=path, node=of, expression="", documents={}, selection="", axes=())
            axes = [
                ReducedAxis(reduction, "" if reduction.part else f"all {count_text(size)}")
                for reduction in reductions
                for size in [node.shape[names.index(reduction.name)]]
            ]
            base = _Base(each, of, first, replace(whole, levels=None, are_levels_set=False, view=None))
            self._reduced[document.number] = _Reduced(base, shown.path, tuple(axes))
            return

    def _choose(self, plot: PlotPane, name: str, statistic: str, part: str) -> None:
        """Take a statistic over a dimension, another one than before, or none any more."""
        reduced = self._of(plot)
        base = self._base(plot) if reduced is None else reduced.base
        if base is None:
            return
        if base.document.dataset is None:
            self._workspace.say("The document of the array is closed")
            return
        before = () if reduced is None else reduced.reductions
        wanted = without_reduction(before, name)
        if statistic:
            wanted = with_reduction(before, AxisReduction(name, statistic, part))
        if not wanted:
            self._go_back(plot, base)
            return
        dataset, path, state = base.document.dataset, base.path, base.slice

        def find(control: TaskControl) -> _Found:
            return _found(dataset.array(path), state, wanted, control)

        def done(found: _Found) -> None:
            if not found.cost.asks:
                self._open(plot, base, found)
                return
            from refbrowser.app.plot.series import question_text

            heading = f"The {wanted[-1].words} takes a while"
            text = f"{question_text([found.cost])} It can be cancelled while it is read."
            self._workspace.questions.costly(heading, text, lambda: self._open(plot, base, found))

        def failed(error: BaseException) -> None:
            self._workspace.show_error(f"The {wanted[-1].words} is not shown", error)
            self._show(plot)

        self._work.run(base.document, f"Look at the {wanted[-1].words}", find, done, failed)

    def _base(self, plot: PlotPane) -> _Base | None:
        source, node, shown, state = plot.source(), plot.array(), plot.slice_state(), plot.state()
        if not isinstance(source, OpenDocument) or node is None or shown is None or state is None:
            return None
        return _Base(source, node.path, shown, state)

    def _open(self, plot: PlotPane, base: _Base, found: _Found) -> None:
        """Show what was found where the array was, in the same slice and look."""
        before, focus = plot.source(), _focus_in(plot)
        self._workspace.say(found.computed.show(base.document, self._workspace.documents))
        document = self._workspace.documents.current
        assert document is not None
        assert document.hierarchy is not None
        path = f"/{found.computed.name}"
        self._reduced[document.number] = _Reduced(base, path, found.axes)
        self._workspace.hierarchy.select_node(document, path)
        state = _left_state(base, [axis.reduction.name for axis in found.axes], path)
        with suppress(RefbrowserError):
            plot.restore(document, state)
        self._show(plot)
        _focus_on(plot, focus)
        self._close(before, document)

    def _go_back(self, plot: PlotPane, base: _Base) -> None:
        """Show the array itself again."""
        before, focus = plot.source(), _focus_in(plot)
        self._workspace.hierarchy.select_node(base.document, base.path)
        with suppress(RefbrowserError):
            plot.restore(base.document, base.state)
        self._show(plot)
        _focus_on(plot, focus)
        self._close(before, base.document)

    def _close(self, before: object, now: OpenDocument) -> None:
        """Close the document of the statistic before, unless something was done with it."""
        if isinstance(before, OpenDocument) and before is not now and before.number in self._reduced:
            seen = [plot for plot in self._workspace.centre.plots() if plot.source() is before]
            if not before.is_pending and not seen:
                self._workspace.documents.close(before)


def _focus_in(plot: PlotPane) -> str:
    """Return the name of the control beside the sliders that has the keyboard; empty where none has it."""
    focused = QApplication.focusWidget()
    return focused.objectName() if focused is not None and plot.sliders.isAncestorOf(focused) else ""


def _focus_on(plot: PlotPane, name: str) -> None:
    """Give the keyboard back to the control of a name: the rows were made anew."""
    control = plot.sliders.findChild(QWidget, name) if name else None
    if control is not None:
        control.setFocus()


def _found(
    array: Array, state: SliceState, reductions: Sequence[AxisReduction], control: TaskControl
) -> _Found:
    """Return what statistics of an array give, and what a slice of them takes."""
    from refbrowser.tools.read.window.compute_sheet import look_at
    from refbrowser.views.plot.coordinates import attribute_text
    from refbrowser.views.plot.named_selection import selection_of

    selection = selection_of(
        array, ",".join(filter(None, [each.selection for each in reductions])), control.token
    )
    label = attribute_text(array.attrs, "long_name") or array.name
    title = f"{label}: {', '.join(each.words for each in reductions)}"
    computed = look_at(
        reduced_text(NamedArray("", array.path), reductions), {"": array.dataset}, control, title
    )
    axes = []
    for each in reductions:
        axis = state.names.index(each.name)
        taken, size = len(selection.axes[axis]), state.shape[axis]
        words = f"all {count_text(size)}" if taken == size else f"{count_text(taken)} of {count_text(size)}"
        axes.append(ReducedAxis(each, words))
    return _Found(
        computed, tuple(axes), _cost(array, state, selection, [axis.reduction.name for axis in axes])
    )


def _cost(array: Array, state: SliceState, selection: Selection, over: Sequence[str]) -> SeriesCost:
    """Return what reading a slice takes, of which some dimensions are read as far as a selection has them."""
    from refbrowser.views.plot.plan import planned
    from refbrowser.views.plot.series import cost_of

    taken = tuple(
        selection.axes[axis]
        if name in over
        else range(size)
        if axis in state.shown
        else range(index, index + 1)
        for axis, (name, size, index) in enumerate(zip(state.names, state.shape, state.indices, strict=True))
    )
    plan = planned(array.node, state, replace(selection, axes=taken, dropped=frozenset()))
    return cost_of(array.dataset.session, array.dataset.access, array.node, plan)


def _left_state(base: _Base, over: Sequence[str], path: str) -> PlotState:
    """Return the state of a plot without some dimensions: the same slice of the others, and the same look."""
    state = base.slice
    kept = [axis for axis, name in enumerate(state.names) if name not in over]
    left = replace(
        state,
        shape=tuple(state.shape[axis] for axis in kept),
        names=tuple(state.names[axis] for axis in kept),
        indices=tuple(state.indices[axis] for axis in kept),
        x=kept.index(state.x),
        y=None if state.y is None else kept.index(state.y),
        bands=None,
    )
    return replace(
        base.state,
        node=path,
        part="",
        selection=left.text(),
        axes=left.axes,
        levels=None,
        are_levels_set=False,
        in_colour=None,
    )
