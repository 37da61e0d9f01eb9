"""What knows codecs of numcodecs that other packages bring, in the process of `worker`: nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numcodecs
import numpy as np


class NumcodecsReader:
    """Encodes and decodes by one codec."""

    def open(self, name: str) -> dict[str, Any]:
        """Take the name of the only codec that is made here, whatever a request names."""
        self._name = name
        self._is_image = name.startswith("imagecodecs_")
        if self._is_image:
            from imagecodecs.numcodecs import register_codecs

            register_codecs([name], verbose=False)
        return {}

    def do_decode(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the bytes of the elements of a chunk."""
        made = np.asarray(self._codec(request).decode(request["data"]))
        yield {}, made.reshape(-1, order="A").tobytes()

    def do_encode(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the chunk that elements make."""
        if self._is_image:
            raise ValueError("images can be read, not written")
        yield {}, bytes(self._codec(request).encode(np.frombuffer(request["data"], request["dtype"])))

    def _codec(self, request: dict[str, Any]) -> Any:
        if request["codec"]["id"] != self._name:
            raise ValueError("unknown codec")
        return numcodecs.get_codec(request["codec"])


#: As the process calls it.
Reader = NumcodecsReader
