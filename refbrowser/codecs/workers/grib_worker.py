"""What decodes messages of GRIB, in the process of `worker`: it imports nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import eccodes
import numpy as np

#: Stands for values that are missing: no quantity reaches it, as it may reach what messages have for it.
_MISSING = 9.0e36


class GribDecoder:
    """Decodes messages as the codec that kerchunk registers does (kerchunk, ``codecs.GRIBCodec``)."""

    def open(self, name: str) -> dict[str, Any]:
        """Take the name of the codec."""
        return {}

    def do_decode(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of the first field of a message, or the places of its points; NaN where none is."""
        key = request["codec"]["key"]
        dtype = np.dtype(request["dtype"])
        handle = eccodes.codes_new_from_message(request["data"])
        try:
            # What says of itself how many there are may be wrong (grids that are told by their numbers).
            points = eccodes.codes_get_size(handle, key)
            if not 0 <= points * dtype.itemsize <= request["most"]:
                raise ValueError(
                    f"a field of {points} points where there is room for {request['most']} bytes"
                )
            eccodes.codes_set(handle, "missingValue", _MISSING)
            values = eccodes.codes_get_array(handle, key)
            if key == "values":
                values[values == _MISSING] = np.nan
            yield {}, values.astype(dtype, copy=False)
        finally:
            eccodes.codes_release(handle)


def _load_tables() -> None:
    """Have eccodes load its tables, once for all processes: the one that is copied for each has them."""
    for sample in ("regular_ll_pl_grib2", "regular_ll_pl_grib1"):
        handle = eccodes.codes_grib_new_from_samples(sample)
        for key in ("values", "latitudes"):
            eccodes.codes_get_array(handle, key)
        eccodes.codes_release(handle)


_load_tables()
#: As the process calls it.
Reader = GribDecoder
