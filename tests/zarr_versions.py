"""What differs between the versions of zarr-python with which the tests run; 3.0.8 is the lowest."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy.typing as npt
import pytest
import zarr
from packaging.version import Version

HAS_TYPES = find_spec("zarr.dtype") is not None

#: For tests of types that zarr-python has since 3.1 alone: in version 3 dates, durations, structures, raw
#: bytes and texts of fixed length; in version 2 texts of fixed length that are stored as such. Nor does it
#: write attributes that are no numbers.
needs_types_of_zarr = pytest.mark.skipif(
    not HAS_TYPES, reason="the installed zarr-python, older than 3.1, has not all types"
)

#: For tests that write shards without some of their inner chunks, at which older ones of 3.1 fail, too.
needs_partial_shards = pytest.mark.skipif(
    Version(zarr.__version__) < Version("3.1.6"),
    reason="the installed zarr-python, older than 3.1.6, cannot leave out inner chunks",
)


def put(group: zarr.Group, name: str, data: npt.NDArray[Any], **options: Any) -> zarr.Array[Any]:
    """Write an array into a group; `Group.create_array` takes no data before 3.1."""
    array = group.create_array(name, shape=data.shape, dtype=data.dtype, **options)
    array[...] = data
    return array
