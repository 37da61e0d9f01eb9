"""What a view reads: all of a slice, every n-th value or first a question; and the frames of an animation."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, prod

from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.slicing import SliceState


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """One read for a view, as a value.

    Attributes
    ----------
    ranges
        Indices along the axes of the slice, in the order of `SliceState.axes`.
    selection
        The same as a selection of the array.
    chunks
        How many chunks it touches.
    decoded
        Bytes that these chunks hold once decoded.
    """

    slice: SliceState
    ranges: tuple[range, ...]
    selection: Selection
    chunks: int
    decoded: int

    @property
    def steps(self) -> tuple[int, ...]:
        """Of how many values each axis takes one."""
        return tuple(taken.step for taken in self.ranges)

    @property
    def is_sampled(self) -> bool:
        """Whether values are left out."""
        return any(step > 1 for step in self.steps)

    @property
    def too_large(self) -> bool:
        """Whether to ask before reading."""
        return self.chunks > LIMITS.view_chunks or self.decoded > LIMITS.view_decoded

    def covers(self, window: Sequence[range]) -> bool:
        """Whether every index of a window lies in the part that is read."""
        return all(
            not part or (taken.start <= part[0] and part[-1] < taken.stop)
            for taken, part in zip(self.ranges, window, strict=True)
        )

    def finer_than(self, other: ViewPlan) -> bool:
        """Whether it leaves out less than another plan, along any axis."""
        return any(mine < theirs for mine, theirs in zip(self.steps, other.steps, strict=True))

    @property
    def elements(self) -> int:
        """Number of values read."""
        return prod(len(taken) for taken in self.ranges)


def plan_view(
    node: ArrayNode,
    state: SliceState,
    window: Sequence[range] | None = None,
    steps: Sequence[int] | None = None,
) -> ViewPlan:
    """Plan the read of a slice.

    Parameters
    ----------
    window
        Indices along the axes that are wanted, steps of 1; the whole axes when None.
    steps
        Of how many values each axis takes one; when None, as many as the memory of one view allows.
    """
    whole = [range(state.shape[axis]) for axis in state.axes] if window is None else list(window)
    taken = _steps_for([len(part) for part in whole], _most(state)) if steps is None else steps
    ranges = tuple(range(part.start, part.stop, step) for part, step in zip(whole, taken, strict=True))
    return planned(node, state, Selection.from_index(state.index(ranges), state.shape), ranges)


def planned(
    node: ArrayNode, state: SliceState, selection: Selection, ranges: tuple[range, ...] = ()
) -> ViewPlan:
    """Return the plan of a selection, of which `ranges` are on the axes of a slice."""
    chunks, decoded = _cost(node, selection)
    return ViewPlan(state, ranges, selection, chunks, decoded)


def _most(state: SliceState) -> int:
    """Return how many elements a view of a slice holds; of a picture in colour each is several values."""
    if state.y is None:
        return LIMITS.view_points
    return LIMITS.view_elements // (1 if state.bands is None else state.shape[state.bands.dimension])


def _cost(node: ArrayNode, selection: Selection) -> tuple[int, int]:
    chunks = node.grid.count(selection)
    chunk_bytes = prod(node.grid.largest) * node.known_dtype.itemsize
    if chunk_bytes > LIMITS.chunk_size:
        # Only a chunk of plain elements may be that large, and of it only the selection is read.
        return chunks, selection.size * node.known_dtype.itemsize
    return chunks, chunks * chunk_bytes


def _steps_for(lengths: Sequence[int], most: int) -> tuple[int, ...]:
    """Return one step per axis that keeps the values within `most`; the longer axes are thinned first."""
    steps = [1] * len(lengths)
    while prod(counts := [ceil(n / s) for n, s in zip(lengths, steps, strict=True)]) > most:
        longest = counts.index(max(counts))
        # Down to what the other axes leave, but not below them: they are thinned in their turn.
        second = max([count for axis, count in enumerate(counts) if axis != longest], default=1)
        wanted = max(1, most * counts[longest] // prod(counts), min(second, int(most**0.5)))
        steps[longest] = max(steps[longest] + 1, ceil(lengths[longest] / wanted))
    return tuple(steps)


def sampled_plan(node: ArrayNode, state: SliceState) -> ViewPlan:
    """Return the finest plan of a whole slice that takes every n-th value and needs no question."""
    lengths = [state.shape[axis] for axis in state.axes]
    sides = [node.grid.largest[axis] for axis in state.axes]
    steps = list(_steps_for(lengths, _most(state)))
    plan = plan_view(node, state, steps=steps)
    while plan.too_large and any(step < length for step, length in zip(steps, lengths, strict=True)):
        # Chunks are only left out by steps longer than they are.
        counts = [ceil(n / max(s, side)) for n, s, side in zip(lengths, steps, sides, strict=True)]
        longest = max(range(len(steps)), key=lambda axis: counts[axis])
        steps[longest] = min(lengths[longest], max(sides[longest] + 1, ceil(steps[longest] * 1.2)))
        plan = plan_view(node, state, steps=steps)
    return plan


def middle_plan(node: ArrayNode, state: SliceState, around: Sequence[int] | None = None) -> ViewPlan:
    """Return the largest plan around the middle of a slice that needs no question.

    `around` are indices along the axes that it lies around instead, as far as the array reaches.
    """
    lengths = [state.shape[axis] for axis in state.axes]
    centre = [length // 2 for length in lengths] if around is None else list(around)
    sizes = list(lengths)
    plan = plan_view(node, state, window=_middle(lengths, sizes, centre))
    while (plan.too_large or plan.is_sampled) and max(sizes) > 1:
        longest = max(range(len(sizes)), key=lambda axis: sizes[axis])
        sizes[longest] = max(1, sizes[longest] * 7 // 10)
        plan = plan_view(node, state, window=_middle(lengths, sizes, centre))
    return plan


def first_values_plan(node: ArrayNode, state: SliceState) -> ViewPlan:
    """Return the plan of the first values along a line, as many as a table of text holds."""
    window = [range(min(state.shape[axis], LIMITS.table_values)) for axis in state.axes]
    return plan_view(node, state, window)


def widened(window: Sequence[range], state: SliceState) -> list[range]:
    """Return a window with a margin of a quarter on each side, so that a short pan needs no new read."""
    return [
        range(max(0, part.start - len(part) // 4), min(state.shape[axis], part.stop + len(part) // 4))
        for part, axis in zip(window, state.axes, strict=True)
    ]


def _middle(lengths: Sequence[int], sizes: Sequence[int], centre: Sequence[int]) -> list[range]:
    windows = []
    for length, size, middle in zip(lengths, sizes, centre, strict=True):
        start = max(0, min(middle - size // 2, length - size))
        windows.append(range(start, start + size))
    return windows


#: Frames that are read before they are due, and what they may hold once decoded.
AHEAD, AHEAD_CHUNKS, AHEAD_BYTES = 16, 256, 128 << 20
#: Frames over which the speed is measured.
_MEASURED = 12


class Ending(StrEnum):
    """What happens at the last frame."""

    LOOP = "loop"
    BOUNCE = "back and forth"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class Course:
    """How an animation runs along a dimension.

    Attributes
    ----------
    size
        Of the dimension.
    step
        1 forwards, -1 backwards.
    """

    size: int
    ending: Ending = Ending.LOOP
    step: int = 1

    def after(self, index: int) -> tuple[int, Course] | None:
        """Return the index of the next frame, and how it goes on from there; None at the end."""
        following = index + self.step
        if 0 <= following < self.size:
            return following, self
        if self.size < 2 or self.ending is Ending.ONCE:
            return None
        if self.ending is Ending.LOOP:
            return (0 if self.step > 0 else self.size - 1), self
        turned = replace(self, step=-self.step)
        return index + turned.step, turned

    def begin(self, index: int) -> int:
        """Return where to begin: at the other end where a run that ends once is over already."""
        if self.ending is Ending.ONCE and not 0 <= index + self.step < self.size:
            return 0 if self.step > 0 else self.size - 1
        return index

    def upcoming(self, index: int, count: int) -> list[int]:
        """Return the indices of the next frames, each once."""
        found: list[int] = []
        course = self
        while len(found) < count:
            following = course.after(index)
            if following is None or following[0] in found:
                break
            index, course = following
            found.append(index)
        return found


def plans_ahead(
    node: ArrayNode, state: SliceState, dimension: int, indices: Sequence[int]
) -> list[tuple[int, ViewPlan]]:
    """Return the reads of the next frames that need other chunks, as far as they are small together."""
    axis = node.grid.dimensions[dimension]
    seen, found = {axis.chunk_of(state.indices[dimension])}, []
    chunks = decoded = 0
    for index in indices:
        chunk = axis.chunk_of(index)
        if chunk in seen:
            continue
        seen.add(chunk)
        plan = plan_view(node, state.with_index(dimension, index))
        chunks, decoded = chunks + plan.chunks, decoded + plan.decoded
        if chunks > AHEAD_CHUNKS or decoded > AHEAD_BYTES:
            break
        found.append((chunk, plan))
    return found


class Tempo:
    """The speed that was reached, from the times of the frames shown last."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_MEASURED)

    def note(self, time: float) -> None:
        """Note when a frame was shown, in seconds."""
        self._times.append(time)

    def forget(self) -> None:
        """Begin anew."""
        self._times.clear()

    @property
    def reached(self) -> float | None:
        """Frames per second; None before there were enough."""
        if len(self._times) < 3 or self._times[-1] <= self._times[0]:
            return None
        return (len(self._times) - 1) / (self._times[-1] - self._times[0])
