"""Digests of columns by their values: what is read again is compared with what was written."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def column_digest(column: Any) -> bytes:
    """Return the SHA-256 of the values of an Arrow array; where one is missing, buffers may hold anything."""
    digest = hashlib.sha256()
    _add(digest, column)
    return digest.digest()


def _add(digest: Any, array: Any) -> None:
    """Add the values of an array to a digest: lengths, which are there, and what these are."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    digest.update(f"{len(array)} {array.null_count}".encode())
    if pa.types.is_union(array.type):
        _add_union(digest, array)
        return
    if array.null_count:
        digest.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes())
        if pa.types.is_null(array.type):
            return
        array = array.drop_null()
    if pa.types.is_struct(array.type):
        for field in array.flatten():
            _add(digest, field)
    elif pa.types.is_fixed_size_list(array.type):
        _add(digest, array.flatten())
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        digest.update(array.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64).tobytes())
        _add(digest, array.flatten())
    elif not pa.types.is_null(array.type):
        _add_plain(digest, array)


def _add_union(digest: Any, array: Any) -> None:
    import pyarrow.compute as pc

    codes = array.type_codes
    digest.update(codes.to_numpy(zero_copy_only=False).tobytes())
    for number in range(array.type.num_fields):
        rows = pc.equal(codes, number)
        _add(digest, array.field(number).take(array.offsets.filter(rows)))


def _add_plain(digest: Any, array: Any) -> None:
    """Add numbers, times, texts: none of them missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    type = array.type
    if pa.types.is_boolean(type):
        digest.update(array.to_numpy(zero_copy_only=False).tobytes())
    elif type.num_buffers == 3:
        digest.update(pc.binary_length(array).to_numpy(zero_copy_only=False).astype(np.int64).tobytes())
        offsets = np.frombuffer(array.buffers()[1], np.int64 if "large" in str(type) else np.int32)
        first, last = offsets[array.offset], offsets[array.offset + len(array)]
        data = array.buffers()[2]
        digest.update(memoryview(data)[first:last] if data is not None else b"")
    else:
        size = type.bit_width // 8
        data = memoryview(array.buffers()[1] or b"")
        digest.update(data[array.offset * size : (array.offset + len(array)) * size])
