"""Longitudes come again after a turn: 350 and -10 are the same meridian."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

#: Degrees of a turn.
TURN = 360.0

_Longitudes = TypeVar("_Longitudes", float, npt.NDArray[np.float64])


def wrap_longitudes(longitudes: _Longitudes, west: float = -180.0) -> _Longitudes:
    """Return longitudes, or differences of them, within the turn that begins at a meridian.

    Parameters
    ----------
    longitudes
        In degrees: a number, or an array of any shape; NaN stays NaN.
    west
        Where the turn begins, in degrees: results are from there up to `west + 360`, which is not reached.
    """
    return west + (longitudes - west) % TURN
