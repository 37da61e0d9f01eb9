"""Many reference sets as one, against kerchunk's MultiZarrToZarr and VirtualiZarr; a file more; the linter.

A process each, imports not counted. Of sets that are open only their combining counts; of whole runs
documents are read and one is written, ours compared with the sets. How much smaller it all is may be given:
``python tests/benchmarks/bench_combine.py 10``.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from processes import Cost, best
from report import figure, heading

SETS, CHUNKS = 1_000, 1_000
_OURS = """
import sys, refbrowser.formats.references, refbrowser.formats.flavour
from refbrowser.exporting.workers import file_processes
from refbrowser.exporting.combining.combine import *
# One thread of one process, as its time is taken: a user's work is divided among processes.
file_processes.MANY, file_processes._THREADS = 1 << 30, 1
request = Combination(
    sources=(sys.argv[1] + "/*.json",), target=sys.argv[1] + "/../ours.json",
    concat=("time",), force=True, allow=(sys.argv[1],),
)
"""
_KERCHUNK = """
import glob, json, sys
from kerchunk.combine import MultiZarrToZarr
def load():
    found = []
    for path in sorted(glob.glob(sys.argv[1] + "/*.json")):
        with open(path) as file: found.append(json.load(file))
    return found
def joined(sets):
    how = {"concat_dims": ["time"], "identical_dims": ["lat", "lon"], "remote_protocol": "file"}
    return MultiZarrToZarr(sets, **how).translate()
"""
_VIRTUALIZARR = """
import glob, sys, xarray
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore, MemoryStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import KerchunkJSONParser
registry = ObjectStoreRegistry({"file://": LocalStore(), "s3://bucket": MemoryStore()})
def load():
    paths = sorted(glob.glob(sys.argv[1] + "/*.json"))
    how = {"registry": registry, "parser": KerchunkJSONParser(), "loadable_variables": ["time", "lat", "lon"]}
    return [open_virtual_dataset(f"file://{path}", **how) for path in paths]
def joined(sets):
    return xarray.concat(sets, dim="time", data_vars="minimal", coords="minimal", compat="override")
"""
#: Whole runs, and the combining of sets that are open.
_WHOLE = (
    "listing = range(combine(request).references)\n",
    'made = joined(load())\nwith open(sys.argv[1] + "/../theirs.json", "w") as file: json.dump(made, file)\n'
    'listing = made["refs"]\n',
    'joined(load()).vz.to_kerchunk(sys.argv[1] + "/../virtual.json", format="json")\nlisting = []\n',
)  # fmt: skip
_OPEN = (
    "listing = combined_document(plan_of(files, request)).refs\n",
    'listing = joined(sets)["refs"]\n',
    "listing = joined(sets).variables\n",
)


def written(folder: Path, sets: int, chunks: int, first: int = 0) -> Path:
    """Write reference sets of as many chunks each, over time, with their coordinates in files."""
    folder.mkdir()
    for number in range(first, first + sets):
        refs: dict[str, object] = {".zgroup": '{"zarr_format":2}'}
        data = b""
        begin = number * chunks
        for name, values in (
            ("time", np.arange(begin, begin + chunks, dtype="<i4")),
            ("lat", np.arange(20, dtype="<f4")),
            ("lon", np.arange(30, dtype="<f4")),
        ):
            told = {
                "shape": values.shape,
                "chunks": values.shape,
                "dtype": values.dtype.str,
                "compressor": None,
            }
            plain = {"zarr_format": 2, "filters": None, "fill_value": None, "order": "C"}
            refs[f"{name}/.zarray"] = json.dumps(told | plain)
            units = {"units": "hours since 2000-01-01", "calendar": "standard"} if name == "time" else {}
            refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [name], **units})
            refs[f"{name}/0"] = [str(folder / f"{number:05}.bin"), len(data), values.nbytes]
            data += values.tobytes()
        (folder / f"{number:05}.bin").write_bytes(data)
        told = {"shape": [chunks, 20, 30], "chunks": [1, 20, 30], "dtype": "<i2", "fill_value": -1}
        plain = {"zarr_format": 2, "order": "C", "compressor": None, "filters": [{"id": "zlib", "level": 4}]}
        refs["t/.zarray"] = json.dumps(told | plain)
        refs["t/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "scale_factor": 0.01})
        for row in range(chunks):
            refs[f"t/{row}.0.0"] = [f"s3://bucket/{number:05}.nc", 1000 + 900 * row, 800 + row % 100]
        (folder / f"{number:05}.json").write_text(json.dumps({"version": 1, "refs": refs}))
    return folder


def compared(what: str, works: list[tuple[str, str]], path: Path, aims: tuple[str, str]) -> Cost:
    """Print what ours takes, and the two others."""
    ours, *others = (best(*work, path, runs=2) for work in works)
    for name, other, aim in zip(("kerchunk", "VirtualiZarr"), others, aims, strict=True):
        figure(f"{what}, {name}: CPU", ours.cpu, "s", other=other.cpu, aim=aim)
        figure(f"{what}, {name}: elapsed", ours.seconds, "s", other=other.seconds)
        figure(f"{what}, {name}: memory at most", ours.peak / 2**20, "MiB", other=other.peak / 2**20)
    return ours


def main() -> None:
    """Print the figures."""
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    sets, chunks = SETS // scale, CHUNKS
    heading("Many sets as one")
    with tempfile.TemporaryDirectory() as name:
        folder = written(Path(name) / "sets", sets, chunks)
        loads = ("files = gather(request)\n", "sets = load()\n", "sets = load()\n")
        makers = (_OURS, _KERCHUNK, _VIRTUALIZARR)
        opened = [(maker + load, work) for maker, load, work in zip(makers, loads, _OPEN, strict=True)]
        found = compared(f"{sets} open sets of {chunks} chunks", opened, folder, ("1/10", "1/3"))
        figure("  memory of a chunk of open sets", found.peak / sets / chunks, "bytes", aim="100")
        linter = best(_OURS + loads[0], "listing = plan_of(files, request).mismatches\n", folder)
        figure(f"what differs in {sets} open sets", linter.cpu, "s", aim="5")
        whole = [(maker, work) for maker, work in zip(makers, _WHOLE, strict=True)]
        found = compared(f"{sets} documents into one", whole, folder, ("1/10", "1/3"))
        figure(
            "  memory of a chunk, from documents to document", found.peak / sets / chunks, "bytes", aim="100"
        )
        more = written(Path(name) / "more", 1, chunks, first=sets)
        appending = """
import sys
from refbrowser.exporting.appending.appending import append_files
import sys, refbrowser.formats.references, refbrowser.formats.flavour
from refbrowser.exporting.combining.combination import Combination
how = {"target": sys.argv[1] + "/added.out", "force": True, "allow": (sys.argv[1],)}
request = Combination(sources=(sys.argv[1] + "/*.json",), **how)
"""
        work = 'listing = range(append_files(sys.argv[1] + "/../ours.json", request).references)\n'
        figure(f"a file more, to {sets * chunks} references", best(appending, work, more).cpu, "s", aim="1")


if __name__ == "__main__":
    main()
