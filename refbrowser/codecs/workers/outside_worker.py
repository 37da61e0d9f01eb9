"""What knows codecs of numcodecs that other packages bring, in the process of `worker`: nothing of ours."""

from __future__ import annotations

import inspect
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
        if self._name == "zfp":
            yield {}, _without_header(request).tobytes()
            return
        made = np.asarray(self._codec(request).decode(request["data"]))
        yield {}, made.reshape(-1, order="A").tobytes()

    def do_encode(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the chunk that elements make."""
        if self._is_image:
            raise ValueError("images can be read, not written")
        if self._name == "zfp":
            import zfpy

            values = np.frombuffer(request["data"], request["dtype"]).reshape(request["codec"]["shape"])
            yield {}, zfpy.compress_numpy(values, write_header=False, **request["codec"]["settings"])
            return
        yield {}, bytes(self._codec(request).encode(np.frombuffer(request["data"], request["dtype"])))

    def _codec(self, request: dict[str, Any]) -> Any:
        if request["codec"]["id"] != self._name:
            raise ValueError("unknown codec")
        said = request["codec"]
        if self._is_image:
            # Newer versions write settings, without a value, that older ones have not.
            known = inspect.signature(numcodecs.registry.codec_registry[self._name]).parameters
            said = {name: value for name, value in said.items() if value is not None or name in known}
            # Zarr v3 tells its codecs what is in a chunk.
            needed = (name for name, each in known.items() if each.default is each.empty)
            said = {name: request[name] for name in needed if name in ("shape", "dtype")} | said
        return numcodecs.get_codec(said)


def _without_header(request: dict[str, Any]) -> Any:
    """Return what zfp decodes to that says nothing of itself."""
    import zfpy

    kind = zfpy.dtype_to_ztype(np.dtype(request["dtype"]))
    codec = request["codec"]
    return zfpy._decompress(request["data"], kind, tuple(codec["shape"]), **codec["settings"])


#: As the process calls it.
Reader = NumcodecsReader
