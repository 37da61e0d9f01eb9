"""The cells of axes: from where to where each element of a coordinate reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.views.longitudes import TURN
from refbrowser.views.plot.coordinates import AxisRole, Coordinate
from refbrowser.views.plot.slicing import SliceState

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]
_POLES = (-90.0, 90.0)
#: A circle is closed where less than this part of a step is missing.
_CLOSED = 0.02
#: Values may lie so far beyond their limits: as many digits as single precision has.
_BEYOND = 1e-3
#: Numbers beyond this are no coordinates: their differences are none.
_FARTHEST = 1e30


class AxisCells:
    """Cells between edges halfway between neighbouring values.

    Parameters
    ----------
    centres
        The values, rising or falling throughout.
    edges
        One more than there are values.
    period
        After which values are the same again; None where they never are.

    Attributes
    ----------
    size
        Number of cells.
    is_round
        Whether they go once around a circle: the last one is beside the first.
    """

    def __init__(self, centres: Floats, edges: Floats, period: float | None) -> None:
        self.size = len(centres)
        self._period = period
        reach, step = abs(edges[-1] - edges[0]), abs(edges[-1] - edges[-2])
        self.is_round = period is not None and bool(reach > period - _CLOSED * step)
        #: Edges and centres in turn, and where they are among the cells.
        self._values = np.empty(2 * self.size + 1)
        self._values[::2], self._values[1::2] = edges, centres
        if self.is_round and period is not None and reach < period:
            self._values[-1] = edges[0] + np.copysign(period, edges[-1] - edges[0])
        self._places = np.arange(2 * self.size + 1) / 2 - 0.5
        rises = self._values[-1] > self._values[0]
        self._rising = self._values if rises else self._values[::-1]
        self._places_rising = self._places if rises else self._places[::-1]

    @classmethod
    def of(
        cls, values: Floats | None, period: float | None = None, limits: tuple[float, float] | None = None
    ) -> AxisCells | None:
        """Return the cells around the values of a coordinate; None where they neither rise nor fall.

        Parameters
        ----------
        period
            After which values are the same again, as longitudes are after 360; they may jump by it.
        limits
            Beyond which no cell reaches, as beyond the poles.
        """
        if values is None or not len(values) or not (np.abs(values) < _FARTHEST).all():
            return None
        if period is not None:
            values = np.unwrap(values, period=period)
        if limits is not None:
            if values.min() < limits[0] - _BEYOND or values.max() > limits[1] + _BEYOND:
                return None
            values = np.clip(values, *limits)
        if len(values) == 1:
            return cls(values, values[0] + np.array([-0.5, 0.5]), period)
        steps = np.diff(values)
        if not ((steps > 0).all() or (steps < 0).all()):
            return None
        between = values[:-1] + steps / 2
        edges = np.concatenate([[values[0] - steps[0] / 2], between, [values[-1] + steps[-1] / 2]])
        if limits is not None:
            edges = np.clip(edges, *limits)
        return cls(values, edges, period)

    def find(self, values: Floats) -> Floats:
        """Return the place of values among the cells, whole numbers at their centres; NaN outside of them."""
        if self._period is not None:
            low = self._rising[0]
            values = low + np.mod(values - low, self._period)
        return np.interp(values, self._rising, self._places_rising, left=np.nan, right=np.nan)

    def at(self, places: Floats) -> Floats:
        """Return the values at places among the cells; NaN outside of them."""
        return np.interp(places, self._places, self._values, left=np.nan, right=np.nan)

    @property
    def extent(self) -> tuple[float, float]:
        """The least and the greatest edge."""
        return float(self._rising[0]), float(self._rising[-1])

    @property
    def begin(self) -> float:
        """The edge before the first cell."""
        return float(self._values[0])


@dataclass(frozen=True, slots=True, eq=False)
class AxesCells:
    """The cells of two axes.

    Attributes
    ----------
    rows, columns
        Along the axes of the slice.
    is_turned
        Whether what lies across a map is along the rows.
    """

    rows: AxisCells
    columns: AxisCells
    is_turned: bool = False

    def find(self, across: Floats, upwards: Floats) -> Pair:
        """Return the rows and columns of positions by the values of the coordinates; NaN outside."""
        along_rows, along_columns = (across, upwards) if self.is_turned else (upwards, across)
        rows, columns = self.rows.find(along_rows), self.columns.find(along_columns)
        outside = np.isnan(rows) | np.isnan(columns)
        return np.where(outside, np.nan, rows), np.where(outside, np.nan, columns)

    def at(self, rows: Floats, columns: Floats) -> Pair:
        """Return the values across and upwards of positions along the axes; NaN outside."""
        along_rows, along_columns = self.rows.at(rows), self.columns.at(columns)
        return (along_rows, along_columns) if self.is_turned else (along_columns, along_rows)

    @property
    def across(self) -> AxisCells:
        """Those across a map."""
        return self.rows if self.is_turned else self.columns


def axes_cells(state: SliceState, coordinates: Sequence[Coordinate]) -> AxesCells | None:
    """Return the cells of the axes of a slice as their coordinates tell; None where these do not."""
    if state.y is None:
        return None
    beside, below = coordinates[state.y], coordinates[state.x]
    rows, columns = _cells(beside), _cells(below)
    if rows is None or columns is None:
        return None
    return AxesCells(rows, columns, is_turned=beside.role.runs_east and below.role.runs_north)


def _cells(coordinate: Coordinate) -> AxisCells | None:
    if coordinate.role is AxisRole.LONGITUDE:
        return AxisCells.of(coordinate.values, TURN)
    limits = _POLES if coordinate.role is AxisRole.LATITUDE else None
    return AxisCells.of(coordinate.values, limits=limits)
