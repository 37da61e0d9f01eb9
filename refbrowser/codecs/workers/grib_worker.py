"""What decodes messages of GRIB, in the process of `worker`: it imports nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import eccodes
import numpy as np

#: Points of a grid of which an axis is wanted: all places are computed for it.
MOST_POINTS = 1 << 26
#: Stands for values that are missing: no quantity reaches it, as it may reach what messages have for it.
_MISSING = 9.0e36
#: What a message ends with.
_END = b"7777"


class GribDecoder:
    """Decodes messages as two codecs do: that of kerchunk (``codecs.GRIBCodec``), and that of gribberish."""

    def open(self, name: str) -> dict[str, Any]:
        """Take the name of the codec."""
        return {}

    def do_decode(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of the first field of a message, or the places of its points; NaN where none is."""
        codec, dtype = request["codec"], np.dtype(request["dtype"])
        most = request["most"] // dtype.itemsize
        data = request["data"]
        handle = eccodes.codes_new_from_message(data)
        try:
            # eccodes gives values of a message whose end is not where it should be, too.
            length = eccodes.codes_get(handle, "totalLength")
            if bytes(data[: max(length, 0)][-len(_END) :]) != _END:
                raise ValueError("the message does not end where its length says")
            key = codec.get("key")
            made = _Field(handle, most).told(codec) if key is None else _array(handle, key, most)
            yield {}, np.ascontiguousarray(made, dtype)
        finally:
            eccodes.codes_release(handle)


def _array(handle: Any, key: str, most: int) -> Any:
    """Return an array of a message of at most so many elements; NaN stands for missing values."""
    # What says of itself how many there are may be wrong (grids that are told by their numbers).
    points = eccodes.codes_get_size(handle, key)
    if not 0 <= points <= most:
        raise ValueError(f"a field of {points} points where there is room for {most}")
    eccodes.codes_set(handle, "missingValue", _MISSING)
    values = eccodes.codes_get_array(handle, key)
    if key == "values":
        values[values == _MISSING] = np.nan
    return values


class _Field:
    """A message as gribberish 1.9 tells it: axes of regular grids alone, rows and columns turned if asked."""

    def __init__(self, handle: Any, most: int) -> None:
        self._handle, self._most = handle, most
        self._shape = tuple(int(eccodes.codes_get(handle, name)) for name in ("Nj", "Ni"))
        self._is_regular = eccodes.codes_get(handle, "gridType") in ("regular_ll", "regular_gg")

    def told(self, codec: dict[str, Any]) -> Any:
        """Return what the codec asks for."""
        axis = codec["axis"]
        if axis is not None and self._is_regular:
            return self._turned_axis(axis, codec)
        values = self._grid("values" if axis is None else f"{axis}s")
        if axis == "longitude":
            values = (values + 180) % 360 - 180
        if codec["adjust_longitude_range"] and axis is None and self._is_regular:
            values = np.roll(values, -_columns_to_turn(self._axis("longitude")), axis=1)
        return values[::-1] if codec["north_up"] and self._is_south_up() else values

    def _turned_axis(self, axis: str, codec: dict[str, Any]) -> Any:
        found = self._axis(axis)
        if axis == "latitude":
            return found[::-1] if codec["north_up"] and self._is_south_up() else found
        if codec["adjust_longitude_range"] and _is_global(found):
            found = np.roll(_wrapped(found), -_columns_to_turn(found))
        return found

    def _grid(self, key: str) -> Any:
        return _array(self._handle, key, self._most).reshape(self._shape)

    def _axis(self, axis: str) -> Any:
        """Return the latitudes of the rows, or the longitudes of the columns from 0 to 360."""
        places = _array(self._handle, f"{axis}s", MOST_POINTS).reshape(self._shape)
        return places[:, 0] if axis == "latitude" else places[0] % 360

    def _is_south_up(self) -> bool:
        return bool(eccodes.codes_get(self._handle, "jScansPositively"))


def _is_global(longitudes: Any) -> bool:
    """Tell whether columns go eastwards once around the earth, as gribberish has it."""
    if len(longitudes) < 2 or longitudes[1] <= longitudes[0]:
        return False
    step = longitudes[1] - longitudes[0]
    return bool(abs(step * len(longitudes) - 360) < step / 4)


def _wrapped(longitudes: Any) -> Any:
    return np.where(longitudes >= 180, longitudes - 360, longitudes)


def _columns_to_turn(longitudes: Any) -> int:
    """Return how many columns come after the others once longitudes go from -180 to 180."""
    return int(np.argmin(_wrapped(longitudes))) if _is_global(longitudes) else 0


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
