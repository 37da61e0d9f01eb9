"""Cells on the Earth whose centres have a longitude and a latitude each: of models of the ocean, of swaths.

A place is looked up by going from cell to cell. The way begins at a cell that is near, found in a table of a
map of the whole mesh, and leads over that edge of a cell beyond which the place lies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: Longitudes beyond this, in degrees, are no places.
_FARTHEST = 3_600.0
#: Sides of the table, in its cells.
_LEAST_SIDE, _MOST_SIDE = 8, 1024
#: Points are on all sides of the Earth where their mean is no farther from its centre, of 1.
_ALL_AROUND = 0.3
#: Places in the table have what is up to so many of its cells away: 2 to the power of this.
_FILLED = 5
#: A way is given up after so many cells; one that begins beside the best place sooner.
_LONGEST_WAY, _SECOND_WAY = 64, 12
#: Points that are looked up at once: what they need stays in the cache of the processor.
_BLOCK = 1 << 15
#: Neighbours in the table.
_AROUND = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)
#: First and last column are neighbours where they are no farther apart than this many columns.
_BESIDE = 1.6


def vectors(longitudes: Floats, latitudes: Floats) -> Floats:
    """Return places on the Earth as points of a sphere of radius 1, shape (..., 3); NaN for none."""
    with np.errstate(invalid="ignore"):
        bad = ~((np.abs(longitudes) <= _FARTHEST) & (np.abs(latitudes) <= 90.001))
    east = np.radians(np.where(bad, np.nan, longitudes))
    north = np.radians(np.where(bad, np.nan, latitudes))
    flat = np.cos(north)
    return np.stack([flat * np.cos(east), flat * np.sin(east), np.sin(north)], axis=-1)


def degrees(points: Floats) -> tuple[Floats, Floats]:
    """Return longitudes and latitudes of points of a sphere."""
    x, y, z = np.moveaxis(np.asarray(points, np.float64), -1, 0)
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))


class Mesh:
    """Cells between corners that lie in the middle of four centres.

    Parameters
    ----------
    longitudes, latitudes
        Of the centres, in degrees, two axes of two elements and more; what is no place is a hole.
    """

    def __init__(self, longitudes: Floats, latitudes: Floats) -> None:
        self.shape = longitudes.shape
        centres = vectors(longitudes, latitudes)
        self.is_round = _is_round(centres)
        self._is_cell = np.isfinite(centres[..., 0].ravel())
        corners = _corners(centres, is_round=self.is_round)
        self._turn = _orientation(centres, corners)
        #: Each coordinate for itself, row after row.
        self._corners = np.moveaxis(corners, -1, 0).reshape(3, -1).copy()
        self._make_table(centres)

    # Looking up

    def find(self, longitudes: Floats, latitudes: Floats) -> tuple[Floats, Floats]:
        """Return the row and column of places, whole numbers at the centres; NaN where there is no cell."""
        points = vectors(np.ravel(longitudes), np.ravel(latitudes))
        found = np.full((2, len(points)), np.nan)
        for first in range(0, len(points), _BLOCK):
            block = slice(first, first + _BLOCK)
            self._find(points[block].T.copy(), found[:, block])
        rows, columns = found
        return rows.reshape(np.shape(longitudes)), columns.reshape(np.shape(longitudes))

    def _find(self, points: Floats, found: Floats) -> None:
        """Note in `found` where points are, both with one column for each."""
        at, which = self._table_places(points)
        self._go(points, self._table[at], which, found, _LONGEST_WAY)
        # At a hole or a fold the way may begin on the wrong side.
        lost = np.isnan(found[0, which]) & self._is_near[at]
        at, which = at[lost], which[lost]
        for down, right in _AROUND:
            if not len(which):
                return
            row = np.clip(at // self._side + down, 0, self._side - 1)
            column = np.clip(at % self._side + right, 0, self._side - 1)
            beside = self._table[row * self._side + column]
            self._go(points, beside, which, found, _SECOND_WAY)
            lost = np.isnan(found[0, which])
            at, which = at[lost], which[lost]

    def _go(
        self,
        points: Floats,
        begin: npt.NDArray[np.int64],
        which: npt.NDArray[np.int64],
        found: Floats,
        most: int,
    ) -> None:
        """Go from the cells `begin` to those of some points, and note where these lie in them."""
        count, width = self.shape
        row, column = np.divmod(begin, width)
        for _ in range(most):
            if not len(which):
                return
            beyond, lengths = self._beyond(points[:, which], row, column)
            outside = beyond < 0
            inside = (beyond >= 0).all(axis=0)
            # Between the cells around it a hole has corners, too.
            inside &= self._is_cell.take(row * width + column)
            if inside.any():
                places = row[inside], column[inside]
                found[:, which[inside]] = _within(*places, beyond[:, inside], lengths[:, inside])
            row = row - outside[0] + (outside[2] & ~outside[0])
            column = column - outside[3] + (outside[1] & ~outside[3])
            if self.is_round:
                column = column % width
            on = outside.any(axis=0) & (row >= 0) & (row < count) & (column >= 0) & (column < width)
            which, row, column = which[on], row[on], column[on]

    def _beyond(
        self, points: Floats, row: npt.NDArray[np.int64], column: npt.NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Return on which side of the edges of cells points lie: top, right, bottom, left; below 0 outside.

        Beside it the lengths of the edges, by which that is a distance.
        """
        ring = self._ring(row, column)
        sides, lengths = np.empty((2, 4, points.shape[1]))
        for edge in range(4):
            (x, y, z), (u, v, w) = ring[edge], ring[(edge + 1) % 4]
            normal = y * w - z * v, z * u - x * w, x * v - y * u
            sides[edge] = normal[0] * points[0] + normal[1] * points[1] + normal[2] * points[2]
            lengths[edge] = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]
        sides *= self._turn
        # A cell on the far side of the Earth has the point between its edges, too.
        x, y, z = ring[0]
        hidden = (x * points[0] + y * points[1] + z * points[2] < 0) & (sides >= 0).all(axis=0)
        sides[:, hidden] = np.nan
        return sides, lengths

    def _ring(self, row: npt.NDArray[np.int64], column: npt.NDArray[np.int64]) -> list[Floats]:
        """Return the corners of cells, around them, shape (3, n) each."""
        width = self.shape[1] + 1
        first = row * width + column
        return [
            np.stack([axis.take(first + step) for axis in self._corners]) for step in (0, 1, width + 1, width)
        ]

    def places(self, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
        """Return the longitude and latitude of places among the cells; NaN outside of them and in holes."""
        count, width = self.shape
        rows, columns = np.asarray(rows, np.float64), np.asarray(columns, np.float64)
        with np.errstate(invalid="ignore"):
            outside = ~(
                (np.abs(rows - (count - 1) / 2) <= count / 2)
                & (np.abs(columns - (width - 1) / 2) <= width / 2)
            )
        down, right = np.where(outside, 0.0, rows + 0.5), np.where(outside, 0.0, columns + 0.5)
        row = np.minimum(down.astype(np.int64), count - 1)
        column = np.minimum(right.astype(np.int64), width - 1)
        ring = self._ring(row.ravel(), column.ravel())
        lower, beside = (down - row).ravel(), (right - column).ravel()
        upper = ring[0] * (1 - beside) + ring[1] * beside
        under = ring[3] * (1 - beside) + ring[2] * beside
        longitudes, latitudes = degrees((upper * (1 - lower) + under * lower).T)
        hole = outside.ravel()
        return (
            np.where(hole, np.nan, longitudes).reshape(rows.shape),
            np.where(hole, np.nan, latitudes).reshape(rows.shape),
        )

    # Making it

    def _make_table(self, centres: Floats) -> None:
        """Make the table that tells a cell near each place."""
        known = np.flatnonzero(np.isfinite(centres[..., 0].ravel()))
        flat = centres.reshape(-1, 3)[known]
        self._axes = _map_axes(flat)
        side = self._side = int(np.clip(np.sqrt(len(known)), _LEAST_SIDE, _MOST_SIDE))
        self._margin = side / (min(self.shape) - 1)
        self._origin, self._scale = np.zeros(2), np.ones(2)
        if len(known):
            places = np.stack(self._on_map(flat.T))
            self._origin = places.min(axis=1)
            self._scale = side / np.maximum(places.max(axis=1) - self._origin, 1e-12)
        table = np.full(side * side, -1, np.int64)
        table[self._table_place(self._scaled(flat.T))] = known
        filled = (table >= 0).reshape(side, side)
        for axis in (0, 1):
            wider = filled.copy()
            for step in (-1, 1):
                wider |= np.roll(filled, step, axis)
            filled = wider
        self._is_near = filled.ravel()
        self._table = _filled(table.reshape(side, side), _FILLED).ravel()

    def _on_map(self, points: Floats) -> tuple[Floats, Floats]:
        """Return where points are in a map: of equal areas around the middle of the mesh, or of the Earth."""
        if self._axes is None:
            return degrees(points.T)
        across, upwards, height = self._axes @ points
        with np.errstate(invalid="ignore"):
            factor = np.sqrt(2.0 / np.maximum(1.0 + height, 1e-9))
        return across * factor, upwards * factor

    def _scaled(self, points: Floats) -> Floats:
        """Return where points are in the table: across and upwards, in its cells."""
        return (np.stack(self._on_map(points)) - self._origin[:, None]) * self._scale[:, None]

    def _table_place(self, scaled: Floats) -> npt.NDArray[np.int64]:
        column, row = np.clip(scaled, 0, self._side - 1).astype(np.int64)
        return row * self._side + column

    def _table_places(self, points: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the places in the table of those points that lie in its map, and which these are."""
        scaled = self._scaled(points)
        # The map has the centres; cells reach beyond them.
        with np.errstate(invalid="ignore"):
            inside = ((scaled > -self._margin) & (scaled < self._side + self._margin)).all(axis=0)
        which = np.flatnonzero(inside)
        at = self._table_place(scaled[:, which])
        known = self._table[at] >= 0
        return at[known], which[known]


def _map_axes(points: Floats) -> Floats | None:
    """Return the axes of a map around the middle of points, the last upright; None for all around."""
    middle = points.mean(axis=0) if len(points) else np.zeros(3)
    if np.linalg.norm(middle) < _ALL_AROUND:
        return None
    up = middle / np.linalg.norm(middle)
    east = np.cross([0.0, 0.0, 1.0] if abs(up[2]) < 0.9 else [1.0, 0.0, 0.0], up)
    east /= np.linalg.norm(east)
    return np.stack([east, np.cross(up, east), up])


def _within(
    row: npt.NDArray[np.int64], column: npt.NDArray[np.int64], beyond: Floats, lengths: Floats
) -> tuple[Floats, Floats]:
    """Return the exact place of points in cells: by how far they are from opposite edges."""
    top, right, bottom, left = np.maximum(beyond, 0.0) / np.sqrt(np.maximum(lengths, 1e-300))
    down = top / np.maximum(top + bottom, 1e-300)
    along = left / np.maximum(left + right, 1e-300)
    # What lies on an edge belongs to the cell that was found.
    keep = 0.5 - 1e-9
    return row + np.clip(down - 0.5, -keep, keep), column + np.clip(along - 0.5, -keep, keep)


def _orientation(centres: Floats, corners: Floats) -> float:
    """Return 1 where the edges go around cells so that the inside is at their left, else -1."""
    rows, columns = (max(1, size // 64) for size in centres.shape[:2])
    one = corners[:-1:rows, :-1:columns]
    across, down = corners[:-1:rows, 1::columns] - one, corners[1::rows, :-1:columns] - one
    signs = np.sign((np.cross(across, down) * centres[::rows, ::columns]).sum(axis=-1))
    return 1.0 if np.nansum(signs) >= 0 else -1.0


def _is_round(centres: Floats) -> bool:
    """Whether the last column is beside the first one, on the other side."""
    if centres.shape[1] < 4:
        return False
    gap = np.linalg.norm(centres[:, 0] - centres[:, -1], axis=-1)
    step = np.linalg.norm(centres[:, 0] - centres[:, 1], axis=-1)
    with np.errstate(invalid="ignore"):
        beside = (gap > 0.4 * step) & (gap < _BESIDE * step)
    known = np.isfinite(gap) & np.isfinite(step)
    return bool(known.any() and np.count_nonzero(beside) > 0.8 * np.count_nonzero(known))


def _corners(centres: Floats, *, is_round: bool) -> Floats:
    """Return the corners of all cells, shape (rows + 1, columns + 1, 3); NaN where there is no cell."""
    rows, columns, _ = centres.shape
    around = np.full((rows + 2, columns + 2, 3), np.nan, centres.dtype)
    around[1:-1, 1:-1] = centres
    if is_round:
        around[1:-1, 0], around[1:-1, -1] = centres[:, -1], centres[:, 0]
    if np.isfinite(centres[..., 0]).all():
        _extend(around, is_round=is_round)
    else:
        around = _with_neighbours(around)
    # One diagonal is enough: in a parallelogram both have the same middle.
    one = (around[:-1, :-1] + around[1:, 1:]) / 2
    other = (around[:-1, 1:] + around[1:, :-1]) / 2
    corners = np.where(np.isnan(one), other, np.where(np.isnan(other), one, (one + other) / 2))
    length = np.linalg.norm(corners, axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(corners / np.where(length > 1e-6, length, np.nan))


def _extend(around: Floats, *, is_round: bool) -> None:
    """Go on over the margins as the centres go inside of them."""
    if not is_round:
        around[:, 0] = 2 * around[:, 1] - around[:, 2]
        around[:, -1] = 2 * around[:, -2] - around[:, -3]
    around[0] = 2 * around[1] - around[2]
    around[-1] = 2 * around[-2] - around[-3]


def _with_neighbours(around: Floats) -> Floats:
    """Return centres with those beside known ones, as these go on in each direction."""
    total, count = np.zeros_like(around), np.zeros(around.shape[:2], around.dtype)
    for axis in (0, 1):
        for step in (1, -1):
            guess = 2 * _moved(around, step, axis) - _moved(around, 2 * step, axis)
            known = np.isfinite(guess[..., 0])
            total[known] += guess[known]
            count += known
    missing = np.isnan(around[..., 0]) & (count > 0)
    found = around.copy()
    found[missing] = total[missing] / count[missing][:, None]
    return found


def _moved(points: Floats, step: int, axis: int) -> Floats:
    """Return points moved along an axis; nothing comes in from outside."""
    moved = np.roll(points, step, axis)
    edge = slice(0, step) if step > 0 else slice(step, None)
    moved[(edge,) if axis == 0 else (slice(None), edge)] = np.nan
    return moved


def _filled(table: npt.NDArray[np.int64], times: int) -> npt.NDArray[np.int64]:
    """Return a table whose empty places have what is near them: by tables of half the size, so many times."""
    if not times or not (table < 0).any():
        return table
    rows, columns = table.shape
    even = np.full((rows + rows % 2, columns + columns % 2), -1, np.int64)
    even[:rows, :columns] = table
    upper, lower = np.maximum(even[::2, ::2], even[1::2, ::2]), np.maximum(even[::2, 1::2], even[1::2, 1::2])
    whole = _filled(np.maximum(upper, lower), times - 1).repeat(2, 0).repeat(2, 1)[:rows, :columns]
    return np.where(table < 0, whole, table)
