"""Exporting 1 GiB to Zarr v3, verified, against zarr-python's copy of the same array (not verified)."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import zarr
from processes import Cost, cost
from report import figure, heading

SHAPE = (256, 1024, 1024)
SIDES = {"chunks of 4 MiB": (1, 1024, 1024), "chunks of 256 KiB": (1, 256, 256)}
MIB = 1 << 20

OURS = "import refbrowser, warnings; from refbrowser.exporting.options import Sides, StoreOptions"
THEIRS = "import zarr, warnings"
EXPORT = """
warnings.simplefilter("ignore")
options = StoreOptions({options})
refbrowser.export(sys.argv[1], sys.argv[1] + "-out", format="zarr-v3", options=options)
listing = []
"""
COPY = """
source = zarr.open_array(sys.argv[1] + "/a", mode="r")
target = zarr.create_array(
    sys.argv[1] + "-out", name="a", shape=source.shape, chunks={chunks}, dtype=source.dtype,
    compressors={compressors}, overwrite=True,
)
for at in range(0, source.shape[0], {step}):
    target[at : at + {step}] = source[at : at + {step}]
listing = []
"""


def make(path: Path, sides: tuple[int, ...], compressors: object) -> None:
    """Write a smooth field with noise in the last digits."""
    array = zarr.create_array(path, name="a", shape=SHAPE, chunks=sides, dtype="f4", compressors=compressors)
    noise = np.random.default_rng(0).normal(size=SHAPE[1:])
    for step in range(SHAPE[0]):
        array[step] = np.round(np.cumsum(noise, axis=1) + step, 1)


def told(what: str, ours: Cost, theirs: Cost | None) -> None:
    """Print time, processor time and peak of one export."""
    figure(f"{what}: time", ours.seconds, "s", other=None if theirs is None else theirs.seconds, aim="< 1")
    figure(f"{what}: processor", ours.cpu, "s", other=None if theirs is None else theirs.cpu)
    peak = None if theirs is None else theirs.peak / MIB
    figure(f"{what}: peak memory", ours.peak / MIB, "MiB", other=peak, aim="< 700 MiB")


def one(path: Path, what: str, options: str, copy: str | None) -> None:
    """Measure one export, and zarr-python's."""
    results = []
    for imports, work in ((OURS, EXPORT.format(options=options)), (THEIRS, copy)):
        if work is not None:
            results.append(cost(imports, work, path))
            shutil.rmtree(f"{path}-out")
    told(what, results[0], results[1] if len(results) > 1 else None)


def main() -> None:
    """Measure."""
    heading("export 1 GiB to Zarr v3, against a copy by zarr-python")
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None))
    try:
        for compressors, kind in (("auto", "zstd"), (None, "uncompressed")):
            for name, sides in SIDES.items():
                path = folder / f"{kind}-{sides[1]}"
                make(path, sides, compressors)
                same = COPY.format(chunks=sides, compressors=repr(compressors), step=16)
                one(path, f"{kind}, {name}, copied undecoded", "", same)
                if kind == "zstd" and sides[1] == 1024:
                    codec = "zarr.codecs.ZstdCodec(level=1)"
                    again = COPY.format(chunks=sides, compressors=codec, step=16)
                    one(path, f"{kind}, {name}, encoded anew", 'codec="zstd:1"', again)
                    columns = "chunks=Sides((-1, 16, 16))"
                    one(path, f"{kind}, {name}, to (256, 16, 16)", columns, None)
                shutil.rmtree(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
