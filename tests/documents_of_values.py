"""A document with an array of each kind of value, for tests of tables, copies and files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

STATIONS = np.array(
    [(0, b"a", -60.0, True), (1, b"bb", -30.0, False), (2, b"ccc", 0.5, True)],
    [("id", "<i4"), ("name", "S6"), ("lat", "<f8"), ("ok", "|b1")],
)
NAMES = np.array(["Bergen", "Ærø", "  x\ty", "", "Longyearbyen"])
CUBE = np.arange(2 * 3 * 4 * 5, dtype="<i2").reshape(2, 3, 4, 5)
FLAGS = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [0, 0, 1, 9]], "u1")


class ValueDocument:
    """Gathers arrays as uncompressed chunks in files, and references to them."""

    def __init__(self, folder: Path, base: str = "") -> None:
        self.folder, self.base = folder, base
        self.refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}

    def add(
        self,
        name: str,
        values: np.ndarray,
        dimensions: Collection[str] | None = (),
        chunks: tuple[int, ...] | None = None,
        missing: Collection[tuple[int, ...]] = (),
        **attributes: Any,
    ) -> None:
        sides = chunks or tuple(max(1, size) for size in values.shape)
        kind = values.dtype.str if values.dtype.names is None else [list(each) for each in values.dtype.descr]
        metadata = {"zarr_format": 2, "shape": values.shape, "chunks": sides, "dtype": kind, "order": "C"}
        metadata |= {"fill_value": None, "filters": None, "compressor": None}
        self.refs[f"{name}/.zarray"] = json.dumps(metadata)
        if dimensions is not None:
            attributes["_ARRAY_DIMENSIONS"] = list(dimensions)
        self.refs[f"{name}/.zattrs"] = json.dumps(attributes)
        grid = [range(-(-size // side)) for size, side in zip(values.shape, sides, strict=True)]
        with (self.folder / f"{name}.bin").open("wb") as stream:
            for coords in itertools.product(*grid):
                chunk = np.zeros(sides, values.dtype)
                where = tuple(
                    slice(at * side, (at + 1) * side) for at, side in zip(coords, sides, strict=True)
                )
                part = values[where]
                chunk[tuple(slice(0, size) for size in part.shape)] = part
                if coords not in missing:
                    key = ".".join(map(str, coords)) or "0"
                    place = [f"{self.base}{name}.bin", stream.tell(), chunk.nbytes]
                    self.refs[f"{name}/{key}"] = place
                stream.write(chunk.tobytes())

    def write(self, name: str = "values.json", **members: Any) -> Path:
        path = self.folder / name
        path.write_text(json.dumps({"version": 1, **members, "refs": self.refs}, ensure_ascii=False))
        return path


def value_document(folder: Path, base: str = "") -> ValueDocument:
    """Return numbers, times, flags, text, structures, booleans, a scalar and a cube with a missing chunk."""
    made = ValueDocument(folder, base)
    made.add("scalar", np.float64(3.14159265358979), units="m")
    made.add("times", np.arange(5, dtype="<i4") * 6, ["times"], units="hours since 2020-01-01")
    made.add("days", np.arange(3.0) + 58, ["days"], units="days since 2020-01-01", calendar="noleap")
    made.add("stamps", np.datetime64("2021-01-01T00", "s") + np.arange(5) * np.timedelta64(1, "h"), ["times"])
    made.add("names", NAMES, ["times"])
    made.add("stations", STATIONS, ["station"])
    made.add("line", np.linspace(0, 1, 5).astype("<f4"), ["times"], units="K")
    made.add(
        "flags",
        FLAGS,
        ["a", "b"],
        (2, 2),
        [(1, 1)],
        flag_values=[0, 1, 2, 3],
        flag_meanings="good probably_bad bad missing",
    )
    coded = {"scale_factor": 0.1, "add_offset": 5.0, "_FillValue": 7, "units": "K"}
    dimensions = ["run", "lev", "lat", "lon"]
    made.add("cube", CUBE, dimensions, (1, 1, 2, 5), [(0, 0, 1, 0)], **coded)
    made.add("lat", np.array([10.0, 20, 30, 40]), ["lat"], units="degrees_north")
    made.add("lon", np.arange(5.0) * 2, ["lon"], units="degrees_east")
    made.add("level", np.array([1000.0, 850, 500]), ["lev"], units="hPa")
    made.add("waves", np.array([1 + 2j, 3 - 1j]), ["wave"])
    made.add("bits", np.array([True, False, True]), ["bit"])
    return made
