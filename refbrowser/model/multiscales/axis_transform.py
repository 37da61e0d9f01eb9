"""Where elements lie along one dimension, and which element of one level is which of another."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True, slots=True)
class AxisTransform:
    """The coordinate of the elements along one dimension: ``origin + step * index`` at the centre of each.

    Attributes
    ----------
    step
        From one element to the next, in units of the axis; never 0.
    origin
        Of the centre of the first element.
    """

    step: float = 1.0
    origin: float = 0.0

    def scaled(self, factor: float) -> AxisTransform:
        """Return it with all coordinates multiplied."""
        return AxisTransform(self.step * factor, self.origin * factor)

    def shifted(self, by: float) -> AxisTransform:
        """Return it with something added to all coordinates."""
        return AxisTransform(self.step, self.origin + by)

    @property
    def is_usable(self) -> bool:
        """Whether it tells elements apart: its numbers are finite, and its step is not 0."""
        return isfinite(self.step) and isfinite(self.origin) and self.step != 0

    @property
    def corner(self) -> float:
        """The coordinate at which the first element begins."""
        return self.origin - self.step / 2

    @classmethod
    def from_corner(cls, step: float, corner: float) -> AxisTransform:
        """Return that of elements the first of which begins at `corner`."""
        return cls(step, corner + step / 2)


def element_at(position: float, size: int) -> int:
    """Return the element that holds a position, or lies nearest to it inside of a dimension."""
    return max(0, min(size - 1, round(position)))


@dataclass(frozen=True, slots=True)
class IndexMap:
    """Positions along a dimension of one level as positions in another: ``scale * position + shift``.

    Whole numbers are the centres of elements, as in a plot.
    """

    scale: float = 1.0
    shift: float = 0.0

    def position(self, at: float) -> float:
        """Return where a position of the one level is in the other."""
        return self.scale * at + self.shift

    def index(self, at: float, size: int) -> int:
        """Return the element that holds a position of the other, inside a dimension of `size` elements."""
        return element_at(self.position(at), size)

    def window(self, indices: range, size: int) -> range:
        """Return the elements that a range of indices (step 1) lies in, inside a dimension of `size`."""
        ends = sorted((self.position(indices.start - 0.5), self.position(indices.stop - 0.5)))
        # Borders that fall on borders, but for rounding, add no element.
        start, stop = (round(end + 0.5, 6) for end in ends)
        return range(max(0, min(size, int(start // 1))), max(0, min(size, -int(-stop // 1))))

    def overlaps(self, size: int, other: int) -> bool:
        """Whether a dimension of `size` elements and one of `other` lie over each other, in part at least."""
        ends = self.position(-0.5), self.position(size - 0.5)
        return max(ends) > -0.5 and min(ends) < other - 0.5

    @property
    def inverse(self) -> IndexMap:
        """The way back."""
        return IndexMap(1 / self.scale, -self.shift / self.scale)

    @classmethod
    def between(cls, here: AxisTransform, there: AxisTransform) -> IndexMap:
        """Return the map between two levels that lie in the same space."""
        return cls(here.step / there.step, (here.origin - there.origin) / there.step)

    @classmethod
    def of_sizes(cls, here: float, there: float) -> IndexMap:
        """Return the map between two levels that reach equally far, by how many elements they have."""
        scale = there / here
        return cls(scale, (scale - 1) / 2)
