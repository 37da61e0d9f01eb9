"""Attributes that say how stored numbers are calibrated, where CF would say it in another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

#: A number is factor times (stored less offset): nobody who follows CF applies them.
FACTOR, OFFSET = "calibration_factor", "calibration_offset"


def calibrated_value(attributes: Mapping[str, Any], value: Any) -> float | None:
    """Return what a stored number stands for; None where nothing says so, or it is no number."""
    numbers = [attributes.get(FACTOR, 1.0), attributes.get(OFFSET), value]
    if any(isinstance(each, bool) or not isinstance(each, int | float | np.number) for each in numbers):
        return None
    factor, offset, stored = numbers
    return float(factor * (float(stored) - offset))
