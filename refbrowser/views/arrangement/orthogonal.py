"""Three orthogonal slices of an array through one element."""

from __future__ import annotations

from dataclasses import replace

from refbrowser.views.plot.slicing import SliceState


def can_be_crossed(state: SliceState | None) -> bool:
    """Whether a slice is an image of an array with a third dimension that is longer than one."""
    return state is not None and state.y is not None and bool(_thirds(state))


def _thirds(state: SliceState) -> list[int]:
    return [axis for axis in state.sliders if state.shape[axis] > 1]


def orthogonal_slices(
    state: SliceState, third: int | None, element: tuple[int, int] | None
) -> tuple[SliceState, SliceState, SliceState]:
    """Return a slice, and the two across it through an element.

    The second one has the same dimension upwards, the third one the same to the right.

    Parameters
    ----------
    third
        The dimension that the two others show; None, or one that cannot be, for the last slider.
    element
        Indices along the axes of the slice (row, column); None for its middle.
    """
    assert state.y is not None
    across = third if third in _thirds(state) else _thirds(state)[-1]
    x, y = state.x, state.y
    row, column = element or (state.shape[y] // 2, state.shape[x] // 2)
    through = state.with_bands(None).with_index(y, row).with_index(x, column)
    return through, replace(through, x=across), replace(through, y=across)


def is_orthogonal(slices: tuple[SliceState, ...]) -> bool:
    """Whether these are three slices of arrays of one shape, each over two of the same three dimensions."""
    if len(slices) != 3 or len({(each.shape, each.names) for each in slices}) != 1:
        return False
    pairs = {frozenset(each.axes) for each in slices}
    return (
        len(pairs) == 3 and len(frozenset[int]().union(*pairs)) == 3 and {len(pair) for pair in pairs} == {2}
    )
