"""Which frame of an animation is next, what to have read by then, and how fast it really goes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plan import ViewPlan, plan_view
from refbrowser.views.slicing import SliceState

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
    assert node.grid is not None
    side = node.grid.chunk_shape[dimension]
    seen, found = {state.indices[dimension] // side}, []
    chunks = decoded = 0
    for index in indices:
        if index // side in seen:
            continue
        seen.add(index // side)
        plan = plan_view(node, state.with_index(dimension, index))
        chunks, decoded = chunks + plan.chunks, decoded + plan.decoded
        if chunks > AHEAD_CHUNKS or decoded > AHEAD_BYTES:
            break
        found.append((index // side, plan))
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
