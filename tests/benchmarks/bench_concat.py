"""Many small netCDF-4 files as one document, against kerchunk and VirtualiZarr, as whole commands.

The start and all processes count. Ours works with as many processes as it takes by itself, and with the
processes of ``--dask local:2``; it compares the document with some of the files. The memory is that of all
processes at once (PSS). How many files may be given: ``python tests/benchmarks/bench_concat.py 100``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import netCDF4
import numpy as np
from processes import Used, used
from report import figure, heading

FILES = 1_000

_OURS = "import sys; from refbrowser.cli import main; sys.exit(main(['make', *sys.argv[1:]]))\n"
_COMMON = """
import glob, json, sys, warnings
warnings.simplefilter("ignore")
paths = sorted(glob.glob(sys.argv[1] + "/*.nc"))
"""
_KERCHUNK = f"""{_COMMON}
from kerchunk.combine import MultiZarrToZarr
from kerchunk.hdf import SingleHdf5ToZarr
sets = [SingleHdf5ToZarr(path, inline_threshold=0).translate() for path in paths]
how = {{"concat_dims": ["time"], "identical_dims": ["y", "x"], "remote_protocol": "file"}}
with open(sys.argv[2], "w") as file:
    json.dump(MultiZarrToZarr(sets, **how).translate(), file)
"""
_VIRTUALIZARR = f"""{_COMMON}
import xarray
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import HDFParser
how = {{"registry": ObjectStoreRegistry({{"file://": LocalStore()}}), "parser": HDFParser()}}
how["loadable_variables"] = ["time", "y", "x"]
sets = [open_virtual_dataset(f"file://{{path}}", **how) for path in paths]
made = xarray.concat(sets, dim="time", data_vars="minimal", coords="minimal", compat="override")
made.vz.to_kerchunk(sys.argv[2], format="json")
"""


def written(folder: Path, files: int) -> Path:
    """Write files of a model's output, one after another in time: three variables of four records."""
    folder.mkdir()
    for number in range(files):
        with netCDF4.Dataset(folder / f"{number:05}.nc", "w") as file:
            for name, size in (("time", None), ("y", 20), ("x", 30)):
                file.createDimension(name, size)
                array = file.createVariable(name, "f8", (name,), chunksizes=(4,) if size is None else None)
                array[:] = np.arange(size or 4) + (0 if size else 4 * number)
            file["time"].units = "hours since 2000-01-01"
            for name in ("a", "b", "c"):
                array = file.createVariable(name, "f4", ("time", "y", "x"), zlib=True, chunksizes=(1, 20, 30))
                array[:] = np.random.default_rng(number).random((4, 20, 30))
    return folder


def main() -> None:
    """Print the figures."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    heading("Many files as one document")
    with tempfile.TemporaryDirectory() as name:
        folder, out = written(Path(name) / "files", files), Path(name) / "made.json"

        def ours(*more: str) -> list[str]:
            said = (str(folder / "*.nc"), "-o", str(out), "--concat", "time", "--force")
            return [sys.executable, "-c", _OURS, *said, *more]

        def both(command: list[str]) -> tuple[Used, float]:
            return used(command), used(command, memory=True).memory / 2**20

        default, held = both(ours())
        dask, dask_held = both(ours("--dask", "local:2"))
        what = f"{files} files"
        figure(f"{what}, --dask local:2 and by itself: elapsed", dask.seconds, "s", other=default.seconds)
        figure(f"{what}, --dask local:2 and by itself: memory", dask_held, "MiB", other=held)
        for title, code in (("kerchunk", _KERCHUNK), ("VirtualiZarr", _VIRTUALIZARR)):
            other, most = both([sys.executable, "-c", code, str(folder), str(out)])
            figure(f"{what}, {title}: CPU", default.cpu, "s", other=other.cpu, aim="1")
            figure(f"{what}, {title}: elapsed", default.seconds, "s", other=other.seconds, aim="1")
            figure(f"{what}, {title}: memory", held, "MiB", other=most)


if __name__ == "__main__":
    main()
