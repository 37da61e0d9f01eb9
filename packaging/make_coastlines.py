"""Makes resources/coastlines.npz: coasts and borders of Natural Earth, which is in the public domain.

Natural Earth (naturalearthdata.com), version 4.1.0, at the scales 1:110m and 1:50m, comes as the TopoJSON of
the npm package `world-atlas`: ``npm pack world-atlas@2.0.2``, then
``python packaging/make_coastlines.py world-atlas-2.0.2.tgz``.
A line that belongs to one country is a coast, one that two countries share is a border.
"""

from __future__ import annotations

import json
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

TARGET = Path(__file__).parents[1] / "resources" / "coastlines.npz"
SCALES = ("110m", "50m")
#: Steps of the stored numbers in one degree: finer than those of the source.
STEPS = 500
#: Borders of the source's sheet, which are no coasts: the South Pole, and the meridian at its sides.
_SHEET_BOTTOM, _SHEET_SIDE = -89.5, 179.99


def main() -> None:
    """Write the file from the package that the command line names."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    with tarfile.open(sys.argv[1]) as package:
        for scale in SCALES:
            member = package.extractfile(f"package/countries-{scale}.json")
            assert member is not None
            arrays |= _of_scale(scale, json.load(member))
    np.savez_compressed(TARGET, **arrays)
    sys.stdout.write(f"{TARGET}: {TARGET.stat().st_size} bytes\n")


def _of_scale(scale: str, topology: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    uses = Counter(arc if arc >= 0 else ~arc for arc in _arcs(topology["objects"]["countries"]))
    lines: dict[str, list[npt.NDArray[np.int32]]] = {"coasts": [], "borders": []}
    factor, origin = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    for number, arc in enumerate(topology["arcs"]):
        degrees = np.cumsum(np.array(arc, float), axis=0) * factor + origin
        kind = "coasts" if uses[number] == 1 else "borders"
        lines[kind] += [_packed(part) for part in _without_sheet(degrees) if len(part) > 1]
    found: dict[str, npt.NDArray[Any]] = {}
    for kind, parts in lines.items():
        found[f"{kind}_{scale}_lengths"] = np.array([len(part) for part in parts], np.int32)
        points = np.concatenate(parts)
        # From point to point, and from line to line: small numbers, which pack well.
        found[f"{kind}_{scale}_steps"] = np.diff(points, axis=0, prepend=[[0, 0]]).astype(np.int32).T.copy()
    return found


def _arcs(geometry: Any) -> Iterator[int]:
    """Yield the arcs of geometries, at whatever depth."""
    if isinstance(geometry, int):
        yield geometry
    elif isinstance(geometry, list):
        for part in geometry:
            yield from _arcs(part)
    else:
        yield from _arcs(geometry.get("geometries", geometry.get("arcs", [])))


def _without_sheet(degrees: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
    """Return the parts of a line that do not run along a border of the source's sheet."""
    longitudes, latitudes = degrees.T
    outside = latitudes < _SHEET_BOTTOM
    at_side = np.abs(longitudes) > _SHEET_SIDE
    cut = outside[1:] | outside[:-1] | (at_side[1:] & at_side[:-1])
    return np.split(degrees, np.flatnonzero(cut) + 1)


def _packed(degrees: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    return np.round(degrees * STEPS).astype(np.int32)


if __name__ == "__main__":
    main()
