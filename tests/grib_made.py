"""Messages of GRIB that eccodes makes of its samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

eccodes = pytest.importorskip("eccodes")


def message(sample: str, values: Any = None, **keys: Any) -> bytes:
    """Return a message that eccodes makes of one of its samples."""
    handle = eccodes.codes_grib_new_from_samples(sample)
    try:
        for name, value in keys.items():
            eccodes.codes_set(handle, name, value)
        if values is not None:
            eccodes.codes_set_values(handle, values)
        made: bytes = eccodes.codes_get_message(handle)
        return made
    finally:
        eccodes.codes_release(handle)


def own_values(data: bytes) -> Any:
    """Return what eccodes reads of a message."""
    handle = eccodes.codes_new_from_message(data)
    try:
        eccodes.codes_set(handle, "missingValue", 1e30)
        values = eccodes.codes_get_array(handle, "values")
        return np.where(values == 1e30, np.nan, values)
    finally:
        eccodes.codes_release(handle)
