"""Codecs of ours for other software: what this package registers with numcodecs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy

from refbrowser.codecs.base import Room, as_bytes
from refbrowser.codecs.makers import Elements
from refbrowser.codecs.table import byte_codec
from refbrowser.limits import LIMITS


class Hdf5Bitshuffle(Codec):  # type: ignore[misc]
    """The filter bitshuffle of HDF5, in references to files that have it.

    Parameters
    ----------
    elementsize
        Bytes of an element.
    blocksize
        Elements of a block; 0 where the filter chose it.
    compressor
        ``none``, ``lz4`` or ``zstd``.
    """

    codec_id = "hdf5_bitshuffle"

    def __init__(self, elementsize: int = 1, blocksize: int = 0, compressor: str = "none") -> None:
        self.elementsize = elementsize
        self.blocksize = blocksize
        self.compressor = compressor
        room = Room(None, LIMITS.chunk_size)
        # It goes to other processes as its settings.
        self._codec = byte_codec(self.codec_id, self.get_config(), Elements(None, room))

    def get_config(self) -> dict[str, Any]:
        """Return its settings, as metadata has them."""
        return {
            "id": self.codec_id,
            "elementsize": self.elementsize,
            "blocksize": self.blocksize,
            "compressor": self.compressor,
        }

    def encode(self, buf: Any) -> Any:
        """Return packed bytes."""
        return self._codec.encode(as_bytes(ensure_contiguous_ndarray(buf).view(np.uint8)))

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Return the bytes of elements."""
        room = Room(None, LIMITS.chunk_size)
        made = self._codec.decode(as_bytes(ensure_contiguous_ndarray(buf).view(np.uint8)), room, None)
        return ndarray_copy(made, out)
