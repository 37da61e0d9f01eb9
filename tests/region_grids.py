"""Small documents of grids, in memory: arrays with coordinates, in chunks of any size, some of them lost."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LOST = "file:///nowhere/lost.bin"


@dataclass(slots=True)
class GridDocument:
    """Arrays by name, as references with all chunks in the document.

    Attributes
    ----------
    refs
        What `refbrowser.open` opens, as ``{"version": 1, "refs": refs}``.
    """

    refs: dict[str, Any] = field(default_factory=lambda: {".zgroup": '{"zarr_format": 2}'})

    def add(
        self,
        name: str,
        values: np.ndarray,
        dimensions: Sequence[str],
        attributes: Mapping[str, Any] = {},
        chunks: Sequence[int] | None = None,
        fill: Any = None,
        absent: Iterable[tuple[int, ...]] = (),
        failed: Iterable[tuple[int, ...]] = (),
    ) -> None:
        """Add an array; chunks that are `absent` have no reference, those that `failed` lead nowhere."""
        sides = tuple(chunks or values.shape)
        meta = {
            "zarr_format": 2,
            "shape": list(values.shape),
            "chunks": list(sides),
            "dtype": values.dtype.str,
            "compressor": None,
            "filters": None,
            "order": "C",
            "fill_value": fill,
        }
        self.refs[f"{name}/.zarray"] = json.dumps(meta)
        self.refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": list(dimensions), **attributes})
        counts = [-(-size // side) for size, side in zip(values.shape, sides, strict=True)]
        for coords in itertools.product(*map(range, counts)):
            key = f"{name}/{'.'.join(map(str, coords))}"
            if coords in set(failed):
                self.refs[key] = [LOST, 0, 8]
            elif coords not in set(absent):
                chunk = np.zeros(sides, values.dtype)
                part = values[
                    tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, sides, strict=True))
                ]
                chunk[tuple(map(slice, part.shape))] = part
                self.refs[key] = "base64:" + base64.b64encode(chunk.tobytes()).decode()

    def add_map(self, latitudes: np.ndarray, longitudes: np.ndarray) -> None:
        """Add the coordinates of a map, with dimensions lat and lon."""
        self.add("lat", latitudes, ["lat"], {"units": "degrees_north"})
        self.add("lon", longitudes, ["lon"], {"units": "degrees_east"})

    @property
    def document(self) -> dict[str, Any]:
        """The document."""
        return {"version": 1, "refs": self.refs}
