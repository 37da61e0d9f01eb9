"""Which element is at each pixel of a view, and what is drawn there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.views.maps.layouts import Extent, Layout
from refbrowser.views.plot.colouring import Colouring
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture, have_values

Positions = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """The element at each pixel of a view.

    Attributes
    ----------
    layout
        What put the elements there.
    view
        From where to where, across and upwards.
    rows, columns
        Indices along the axes of the slice, shape (height, width), from the lowest pixels up; -1 where there
        is no element.
    """

    layout: Layout
    view: tuple[Extent, Extent]
    rows: Positions
    columns: Positions

    @property
    def size(self) -> tuple[int, int]:
        """Pixels across and upwards."""
        return self.rows.shape[1], self.rows.shape[0]


def look_up(
    layout: Layout, view: tuple[Extent, Extent], size: tuple[int, int], shape: tuple[int, int]
) -> Lookup:
    """Return which element is at each pixel.

    Parameters
    ----------
    size
        Pixels across and upwards.
    shape
        Number of rows and columns of the slice.
    """
    centres = [
        low + (np.arange(count) + 0.5) * ((high - low) / count)
        for (low, high), count in zip(view, size, strict=True)
    ]
    rows, columns = layout.elements(*np.meshgrid(*centres))
    outside = np.isnan(rows) | np.isnan(columns)
    found = []
    for places, count in zip((rows, columns), shape, strict=True):
        # What lies on the last edge is of the last element.
        indices = np.minimum(np.where(outside, 0.0, places) + 0.5, count - 1).astype(np.int32)
        indices[outside] = -1
        found.append(indices)
    return Lookup(layout, view, found[0], found[1])


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A picture, as pixels of a view have its values.

    Attributes
    ----------
    inside
        Which pixels are in it.
    rows, columns
        Positions in its values, of all pixels; 0 outside.
    """

    picture: Picture
    inside: Bools
    rows: Positions
    columns: Positions

    def of_chunks(self, table: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return for each pixel what a table, shaped as the states of the picture, says of its chunk."""
        along = self.picture.chunk_cells()
        return table[along[0][self.rows], along[1][self.columns]]

    def states(self) -> npt.NDArray[np.uint8]:
        """Return the state of the chunk of each pixel; done outside."""
        found = self.of_chunks(self.picture.states)
        return np.where(self.inside, found, np.uint8(ChunkState.DONE))


def placed(lookup: Lookup, picture: Picture, rows: Positions, columns: Positions) -> Placed:
    """Return where the values of a picture are seen that has `rows` and `columns` at the pixels."""
    inside = lookup.rows >= 0
    positions = []
    for indices, taken in zip((rows, columns), picture.plan.ranges, strict=True):
        at = (indices - taken.start + taken.step // 2) // taken.step
        inside &= (at >= 0) & (at < len(taken))
        positions.append(at)
    first, second = (np.where(inside, at, 0) for at in positions)
    return Placed(picture, inside, first, second)


def coloured(layers: Sequence[tuple[Placed, Interpretation]], colouring: Colouring) -> npt.NDArray[np.uint8]:
    """Return the positions of pixels in the colour table, or their colours; later layers cover others.

    Pixels without a value are as those of missing values.
    """
    height, width = layers[0][0].rows.shape
    drawn = colouring.blank(height, width)
    for layer, shown in layers:
        picture = layer.picture
        seen = layer.inside
        if not picture.all_done:
            seen = seen & have_values(layer.states())
        if not seen.any():
            continue
        if seen.all():
            drawn = colouring.positions(picture.values[layer.rows, layer.columns], shown)
            continue
        # One row of pixels: colourings take blocks.
        values = picture.values[layer.rows[seen], layer.columns[seen]][None]
        drawn[seen] = colouring.positions(values, shown)[0]
    return drawn
