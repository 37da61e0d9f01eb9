"""Stores of images in several resolutions, written by zarr-python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import zarr
from zarr_versions import put

#: Metres of a pixel of the finest level, and where its outer corner lies.
METRES, EAST, NORTH = 10.0, 500_000.0, 5_000_000.0
#: Micrometres of a pixel of the finest level.
MICROMETRES = 0.25
UNITS = "micrometer"


def picture(size: int) -> npt.NDArray[np.float32]:
    """Return something to look at."""
    y, x = np.mgrid[0:size, 0:size] / size
    rings = np.sin(40 * np.hypot(y - 0.4, x - 0.6)) + 0.4 * np.sin(300 * x * y)
    return (rings + x + y).astype("f4")


def pyramid(finest: npt.NDArray[Any], count: int) -> list[npt.NDArray[Any]]:
    """Return an image and halves of it, by the mean of four."""
    found = [finest]
    for _ in range(count - 1):
        last = found[-1]
        *above, rows, columns = last.shape
        fours = last.reshape(*above, rows // 2, 2, columns // 2, 2)
        found.append(fours.mean((-3, -1)).astype(last.dtype))
    return found


def write_ome(path: Path, version: str = "0.4", size: int = 512, count: int = 4, chunk: int = 64) -> Path:
    """Write two channels as OME-Zarr, and return where."""
    zarr_format = 2 if version == "0.4" else 3
    group = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    image, told = picture(size), []
    for at, level in enumerate(pyramid(np.stack([image, -image]), count)):
        more: dict[str, Any] = {"dimension_names": list("cyx")} if zarr_format == 3 else {}
        made = put(group, str(at), level, chunks=(1, chunk, chunk), **more)
        assert made.shape == level.shape
        step = 2**at
        scale = [1.0, MICROMETRES * step, MICROMETRES * step]
        centre = [0.0, *[MICROMETRES * (step - 1) / 2] * 2]
        transforms: list[Any] = [{"type": "scale", "scale": scale}]
        transforms.append({"type": "translation", "translation": centre})
        told.append({"path": str(at), "coordinateTransformations": transforms})
    axes: list[Any] = [{"name": "c", "type": "channel"}]
    axes += [{"name": name, "type": "space", "unit": UNITS} for name in "yx"]
    entry = {"name": "cells", "axes": axes, "datasets": told}
    channels = {"channels": [{"label": "DAPI"}, {"label": "GFP"}]}
    if zarr_format == 2:
        group.attrs.update({"multiscales": [{**entry, "version": version}], "omero": channels})
    else:
        group.attrs["ome"] = {"version": version, "multiscales": [entry], "omero": channels}
    return path


def write_geozarr(path: Path, size: int = 512, count: int = 4, chunk: int = 64) -> Path:
    """Write two bands as GeoZarr, a group for each level, and return where."""
    group = zarr.open_group(path, mode="w", zarr_format=3)
    layout: list[dict[str, Any]] = []
    for at, level in enumerate(pyramid(picture(size), count)):
        step = METRES * 2**at
        below = group.create_group(f"r{step:.0f}m")
        for name, factor in (("red", 1), ("nir", 2)):
            data = (factor * level).astype("f4")
            put(below, name, data, chunks=(chunk, chunk), dimension_names=["y", "x"])
        told: dict[str, Any] = {"asset": below.basename, "spatial:shape": list(level.shape)}
        told["spatial:transform"] = [step, 0.0, EAST, 0.0, -step, NORTH]
        if layout:
            told["derived_from"] = layout[-1]["asset"]
            told["transform"] = {"scale": [2.0, 2.0], "translation": [0.0, 0.0]}
        layout.append(told)
    names = [{"name": name} for name in ("multiscales", "spatial", "proj")]
    attributes: dict[str, Any] = {"zarr_conventions": names, "multiscales": {"layout": layout}}
    group.attrs.update(attributes | {"proj:code": "EPSG:32633", "spatial:dimensions": ["y", "x"]})
    return path
