"""What knows classic netCDF, in the process of `worker`: it imports nothing of ours.

We parse its header ourselves; this only reads values, to be compared with ours: by netCDF4-python, or by
scipy where that is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

_IS_THERE = find_spec("netCDF4") is not None
_LIBRARY: Any = import_module("netCDF4" if _IS_THERE else "scipy.io")


class ClassicReader:
    """Reads one file."""

    def open(self, place: str) -> dict[str, Any]:
        """Open the file at a path."""
        if not _IS_THERE:
            self._file = _LIBRARY.netcdf_file(place, "r", mmap=True, maskandscale=False)
            return {}
        self._file = _LIBRARY.Dataset(place, "r")
        self._file.set_auto_maskandscale(False)
        self._file.set_auto_chartostring(False)
        return {}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array, in the order of this machine."""
        array = self._file.variables[request["path"].removeprefix("/")]
        box = tuple(slice(*each) for each in request["box"])
        if any(stop > size for (_, stop), size in zip(request["box"], array.shape, strict=True)):
            raise IndexError("the array is shorter")
        values = np.asarray(array[box] if box else array[...] if _IS_THERE else array.getValue())
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        yield {}, values.reshape(-1).view(np.uint8)


Reader = ClassicReader
