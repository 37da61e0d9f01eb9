"""Computed arrays: what a derived array of two takes beside the read of both, in CPU time, taken in pairs.

``python tests/benchmarks/bench_compute.py``: arrays of 24 slices of 720 by 1,440 values, as plain bytes, zstd
and packed integers. The two are taken in turn, and the ratio is the median of that of each pair: other work
on the machine meets both.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import zarr
from report import figure, heading

import refbrowser

PAIRS = 15
EXPRESSIONS = {
    "{a} - {b}": "1.3",
    "sqrt({a}**2 + {b}**2)": "1.3",
    "where({a} > 280, {a}, {b})": "",
    "mean({a} - {b}, t)": "",
}


def write_store(path: Path) -> None:
    """Write two arrays of each kind."""
    group = zarr.open_group(str(path), mode="w")
    random = np.random.default_rng(0)
    shape, chunks = (24, 720, 1440), (1, 720, 1440)
    made = {"chunks": chunks, "shape": shape, "dimension_names": ("t", "y", "x")}
    for name in "ab":
        values = np.round(random.normal(280, 10, shape), 1).astype("f4")
        for kind in ("plain", "zstd"):
            codec = {"compressors": None} if kind == "plain" else {}
            array = group.create_array(f"{kind}_{name}", dtype="f4", fill_value=0.0, **made, **codec)
            array[:] = values
        array = group.create_array(f"packed_{name}", dtype="i2", fill_value=-32768, compressors=None, **made)
        array.attrs.update(scale_factor=0.01, add_offset=280.0, _FillValue=-32768)
        array[:] = np.round((values - 280) * 100).astype("i2")


def cpu(work: Callable[[], object]) -> float:
    """Return the seconds of CPU time that something takes."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "arrays.zarr"
        write_store(store)
        for kind in ("plain", "zstd", "packed"):
            heading(f"Computed beside the read of both, {kind}: CPU")

            def both(kind: str = kind) -> None:
                with refbrowser.open(store) as dataset:
                    for name in "ab":
                        dataset.array(f"/{kind}_{name}")[...]

            for expression, aim in EXPRESSIONS.items():
                text = expression.format(a=f"{kind}_a", b=f"{kind}_b")

                def computed(text: str = text) -> None:
                    with refbrowser.open(store) as dataset:
                        refbrowser.compute(dataset, text)[...]

                both()
                computed()
                pairs = [(cpu(both), cpu(computed)) for _ in range(PAIRS)]
                ratio = median(ours / read for read, ours in pairs)
                read = median(read for read, _ours in pairs) * 1e3
                figure(
                    expression.format(a="a", b="b"),
                    ratio * read,
                    "ms",
                    other=read,
                    aim=aim and f"ratio {aim}",
                )


if __name__ == "__main__":
    main()
