"""Reads beside the picture: coordinates of the axes, and the slices next to the one that is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refbrowser.app.plot.source import PlotSource
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.plan import ViewPlan, plan_view
from refbrowser.views.plot.slicing import SliceState

if TYPE_CHECKING:
    from refbrowser.views.plot.reading import Auxiliary, AuxiliaryNode, CoordinateSet

_COORDINATES, _AUXILIARY, _NEIGHBOURS = "plot-coordinates", "plot-auxiliary", "plot-neighbours"
_AHEAD = "plot-ahead"
#: Neighbouring slices are read ahead when they are at most this large.
AHEAD_CHUNKS, AHEAD_BYTES = 64, 64 << 20


def read_coordinates(
    document: PlotSource,
    node: ArrayNode,
    arrays: tuple[ArrayNode | None, ...],
    done: Callable[[CoordinateSet | None], None],
) -> None:
    """Read the coordinates of an array's dimensions; `done` gets None when none could be read."""
    dataset = document.dataset
    if dataset is None:
        return

    def read(control: TaskControl) -> CoordinateSet:
        from refbrowser.views.plot import reading

        return reading.read_coordinates(
            dataset.session, dataset.access.at_once(), node, arrays, control.token
        )

    title = f"Read the coordinates of {node.path}"
    document.tasks.run(document.owner(_COORDINATES), title, read, done, lambda _error: done(None))


def read_auxiliary(
    document: PlotSource,
    nodes: tuple[AuxiliaryNode, ...],
    plan: ViewPlan,
    done: Callable[[tuple[Auxiliary, ...]], None],
) -> None:
    """Read the auxiliary coordinates of what a plan reads."""
    dataset = document.dataset
    if dataset is None:
        return
    from refbrowser.engine.jobs import Priority

    def read(control: TaskControl) -> tuple[Auxiliary, ...]:
        from refbrowser.views.plot import reading as auxiliary

        return auxiliary.read_auxiliary(dataset.session, dataset.access.at_once(), nodes, plan, control.token)

    document.tasks.run(
        document.owner(_AUXILIARY),
        f"Read the coordinates {', '.join(each.node.name for each in nodes)}",
        read,
        done,
        failed=_ignore,
        priority=Priority.NEIGHBOUR,
    )


def read_neighbours(document: PlotSource, node: ArrayNode, state: SliceState, dimension: int) -> None:
    """Read the slices before and after along a dimension into the cache, where they are in other chunks."""
    dataset = document.dataset
    plans = neighbour_plans(node, state, dimension)
    if dataset is None or not plans:
        return
    from refbrowser.engine.jobs import Priority

    def read(control: TaskControl) -> None:
        for plan in plans:
            dataset.session.read(
                node,
                dataset.access.at_once(),
                plan.selection,
                cancel=control.token,
                priority=Priority.NEIGHBOUR,
            )

    document.tasks.run(
        document.owner(_NEIGHBOURS),
        f"Read ahead in {node.path}",
        read,
        failed=_ignore,
        priority=Priority.NEIGHBOUR,
    )


def neighbour_plans(node: ArrayNode, state: SliceState, dimension: int) -> list[ViewPlan]:
    """Return the reads of the slices beside `state` that need other chunks and are small enough."""
    assert node.grid is not None
    index, side = state.indices[dimension], node.grid.chunk_shape[dimension]
    plans = []
    for other in (index + 1, index - 1):
        if 0 <= other < state.shape[dimension] and other // side != index // side:
            plan = plan_view(node, state.with_index(dimension, other))
            if plan.chunks <= AHEAD_CHUNKS and plan.decoded <= AHEAD_BYTES:
                plans.append(plan)
    return plans


def read_ahead(
    document: PlotSource,
    node: ArrayNode,
    plans: Sequence[tuple[int, ViewPlan]],
    came: Callable[[int], None],
    ended: Callable[[], None],
) -> None:
    """Read numbered plans into the cache, in their order; `came` is told each number that is there."""
    dataset = document.dataset
    if dataset is None:
        return
    from refbrowser.engine.jobs import Priority

    def read(control: TaskControl) -> None:
        for number, plan in plans:
            dataset.session.read(
                node,
                dataset.access.at_once(),
                plan.selection,
                cancel=control.token,
                priority=Priority.NEIGHBOUR,
            )
            control.send(number)

    document.tasks.run(
        document.owner(_AHEAD),
        f"Read ahead in {node.path}",
        read,
        lambda _none: ended(),
        lambda _error: ended(),
        received=came,
        priority=Priority.NEIGHBOUR,
    )


def cancel_ahead(document: PlotSource) -> None:
    """Stop reading ahead."""
    document.tasks.cancel_owner(document.owner(_AHEAD))


def cancel(document: PlotSource) -> None:
    """Stop these reads."""
    for what in (_COORDINATES, _AUXILIARY, _NEIGHBOURS, _AHEAD):
        document.tasks.cancel_owner(document.owner(what))


def _ignore(_error: BaseException) -> None:
    """Leave a slice that cannot be read ahead: its error is shown when it is asked for."""
