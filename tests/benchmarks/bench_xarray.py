"""xarray on a document of 1,000,000 references: opening it, a box of 1,000 chunks, and 500 scattered points.

Each engine runs in a new process, after its imports; the references lead into one local file.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
from processes import Cost, best
from report import figure, heading

#: Chunks along each axis, and elements of a chunk.
_GRID, _SIDE = 1000, 16
IMPORTS = "import numpy as np, xarray, zarr\n"
OURS = IMPORTS + "import refbrowser.xarray_backend, refbrowser.formats.zarr.hierarchy\n"
THEIRS = IMPORTS + "import kerchunk.xarray_backend, fsspec.implementations.reference\n"
OPEN = "found = xarray.open_dataset(sys.argv[1], engine='{}', decode_cf=False); listing = []\n"
BOX = "listing = found['a'][3000:3160, 800:2400].values.ravel()\n"
POINTS = """
at = np.random.default_rng(0).integers(0, 16000, (2, 500))
listing = found["a"].isel(y=xarray.DataArray(at[0], dims="p"), x=xarray.DataArray(at[1], dims="p")).values
"""


def write(folder: Path) -> Path:
    """Write the file and its references; each row of chunks lies in the same bytes of the file."""
    chunk = _SIDE * _SIDE * 2
    values = np.random.default_rng(0).integers(0, 1000, _GRID * chunk // 2, dtype="<i2")
    values.tofile(folder / "a.bin")
    array = {
        "zarr_format": 2,
        "shape": [_GRID * _SIDE] * 2,
        "chunks": [_SIDE] * 2,
        "dtype": "<i2",
        "compressor": None,
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    refs: dict[str, object] = {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": json.dumps(array),
        "a/.zattrs": '{"_ARRAY_DIMENSIONS": ["y", "x"]}',
    }
    url = str(folder / "a.bin")
    for row in range(_GRID):
        refs |= {f"a/{row}.{column}": [url, column * chunk, chunk] for column in range(_GRID)}
    path = folder / "a.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def main() -> None:
    """Print the figures."""
    heading("xarray on 1,000,000 references (other: engine='kerchunk')")
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder))

        def costs(work: str) -> tuple[Cost, Cost]:
            ours = best(OURS, OPEN.format("refbrowser") + work, path)
            return ours, best(THEIRS, OPEN.format("kerchunk") + work, path, runs=2)

        opened = costs("")
        figure("open, CPU", opened[0].cpu, "s", other=opened[1].cpu)
        figure("open, memory at most", opened[0].peak / 1e6, "MB", other=opened[1].peak / 1e6)
        for name, work in (("a box of 1,000 chunks", BOX), ("500 points", POINTS)):
            found = costs(work)
            assert found[0].listed == found[1].listed
            figure(f"open and read {name}, CPU", found[0].cpu, "s", other=found[1].cpu)
            figure("the same, time", found[0].seconds, "s", other=found[1].seconds)
            more = [max(each.cpu - first.cpu, 1e-3) for each, first in zip(found, opened, strict=True)]
            figure(f"of that, to read {name}, CPU", more[0], "s", other=more[1])


if __name__ == "__main__":
    main()
