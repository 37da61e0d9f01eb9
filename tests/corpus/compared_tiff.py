"""Series of TIFF beside the arrays made of them, as tifffile reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tifffile

from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError


def compare(path: Path, dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield a verdict on each level of each series."""
    images = [each for each in dataset.arrays.values() if each.node.name.rstrip("_") in ("image", "mask")]
    try:
        file = tifffile.TiffFile(path, _multifile=False)
        levels = [level for series in file.series for level in series.levels if np.prod(level.shape)]
    except Exception as error:  # noqa: BLE001 - of foreign files
        yield "library fails", f"{type(error).__name__}: {error}"
        return
    if len(levels) != len(images):
        yield "missing", f"{len(images)} images of {len(levels)}"
        return
    for level in levels:
        # Masks and smaller versions stand in another order here.
        alike = [each for each in images if each.shape == level.shape] or images
        images.remove(array := alike[0])
        try:
            if level.keyframe.dtype is None:
                raise ValueError(f"tifffile knows no numbers of {level.keyframe.bitspersample} bits")
            theirs = level.asarray(maxworkers=1)
        except Exception as error:  # noqa: BLE001 - of foreign files
            verdict, said = "library fails", f"{type(error).__name__}: {error}"
            theirs = None
        try:
            ours = np.asarray(array[...])
        except RefbrowserError as error:
            how = f"{int(level.keyframe.compression)} of {level.shape} {level.dtype}"
            yield (
                ("refused" if theirs is not None else "both fail"),
                f"{array.node.path}: {error.message} / {how}",
            )
            continue
        if theirs is None:
            yield verdict, said
        elif ours.shape != theirs.shape:
            yield "wrong", f"{array.node.path}: shape {ours.shape} / {theirs.shape}"
        elif not np.array_equal(ours, theirs, equal_nan=theirs.dtype.kind in "fc"):
            yield "wrong", f"{array.node.path}: {int((ours != theirs).sum())} of {ours.size} elements differ"
        else:
            yield "agree", array.node.path
