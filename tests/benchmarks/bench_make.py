"""References to files of data, against kerchunk and VirtualiZarr: many chunks, many files, remote requests.

A process each, imports not counted; of ours time and memory of the process of the library count, with its
start. How much smaller the large file is may be given: ``python tests/benchmarks/bench_make.py 10``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zlib
from pathlib import Path

import h5py
import netCDF4
import numpy as np
from processes import Cost, best
from report import figure, heading
from servers.http_server import HttpServer

CHUNKS, FILES = 1_000_000, 1_000
_OURS = ("""
import resource, refbrowser, refbrowser.formats.hdf5.opening, refbrowser.formats.references
from refbrowser.codecs import children
""", """
opened = refbrowser.open(sys.argv[1])
listing = range(opened.arrays["/a"].node.manifest.stored())
opened.document.origin.file.close()
children._NURSERIES.end()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu -= used.ru_utime + used.ru_stime
rss -= used.ru_maxrss * 1024
""")  # fmt: skip
_KERCHUNK = ("from kerchunk.hdf import SingleHdf5ToZarr\n", """
listing = SingleHdf5ToZarr(sys.argv[1], inline_threshold=0).translate()["refs"]
""")  # fmt: skip
_VIRTUALIZARR = ("""
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import HTTPStore, LocalStore
from virtualizarr.parsers import HDFParser
""", """
base = "/".join(sys.argv[1].split("/")[:3])
is_url = base.startswith("http")
store = HTTPStore.from_url(base, client_options={"allow_http": True}) if is_url else LocalStore()
registry = ObjectStoreRegistry({base if is_url else "file://": store})
listing = HDFParser()(url=sys.argv[1] if is_url else f"file://{sys.argv[1]}", registry=registry)
listing = [listing]
""")  # fmt: skip


#: Documents of all files of a folder: by one process each, ours with what it compares with the files.
_MANY_OURS = ("""
import refbrowser
from refbrowser.exporting.saving import making
making._MANY = 1 << 30
""", """
request = making.MakeRequest(sources=(sys.argv[1] + "/*.*",), target=sys.argv[1] + "/ours", force=True)
listing = making.make(request).made
times = [each.cpu_times() for each in process.children(recursive=True)]
cpu -= sum(each.user + each.system + each.children_user + each.children_system for each in times)
""")  # fmt: skip
_MANY_KERCHUNK = ("""
import glob, json, os
from kerchunk.hdf import SingleHdf5ToZarr
from kerchunk.netCDF3 import NetCDF3ToZarr
""", """
os.makedirs(sys.argv[1] + "/theirs", exist_ok=True)
listing = glob.glob(sys.argv[1] + "/*.*")
for path in listing:
    kind = NetCDF3ToZarr if path.endswith(".nc") else SingleHdf5ToZarr
    with open(f"{sys.argv[1]}/theirs/{os.path.basename(path)}.json", "w") as file:
        json.dump(kind(path, inline_threshold=0).translate(), file)
""")  # fmt: skip


def written_folder(path: Path, form: str, files: int) -> Path:
    """Write small files of a model's output: five variables, of twelve records each."""
    path.mkdir()
    first = path / f"0.{'nc' if form.startswith('NETCDF3') else 'nc4'}"
    with netCDF4.Dataset(first, "w", format=form) as file:
        for name, size in (("time", None), ("y", 20), ("x", 30)):
            file.createDimension(name, size)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(12)
        for name in ("a", "b", "c", "d"):
            array = file.createVariable(name, "f4", ("time", "y", "x"), zlib=True, chunksizes=(1, 20, 30))
            array.long_name = f"what is called {name}"
            array[:] = np.random.default_rng(0).random((12, 20, 30))
    for number in range(1, files):
        shutil.copyfile(first, first.with_stem(str(number)))
    return path


def written(path: Path, chunks: int) -> Path:
    """Write a file with one array of so many chunks."""
    stored = zlib.compress(np.arange(16, dtype="f4").view("u1").reshape(16, 4).T.tobytes())
    side = int(chunks**0.5)
    with h5py.File(path, "w") as file:
        array = file.create_dataset(
            "a", (4 * side, 4 * side), "f4", chunks=(4, 4), compression="gzip", shuffle=True
        )
        for row in range(side):
            for column in range(side):
                array.id.write_direct_chunk((4 * row, 4 * column), stored)
    return path


def written_small(path: Path) -> Path:
    """Write a file of many arrays, as a model does."""
    with h5py.File(path, "w") as file:
        for number in range(60):
            values = np.random.default_rng(number).random((300, 100))
            file.create_dataset(f"g{number % 5}/v{number}", data=values, chunks=(10, 100), compression=1)
    return path


def compared(what: str, path: Path, runs: int) -> None:
    """Print what opening a file takes, and making references with others."""
    ours, *others = (best(*code, path, runs=runs) for code in (_OURS, _KERCHUNK, _VIRTUALIZARR))
    for name, other in zip(("kerchunk", "VirtualiZarr"), others, strict=True):
        _print(f"{what}, {name}", ours, other)


def _print(what: str, ours: Cost, other: Cost) -> None:
    figure(f"{what}: CPU", ours.cpu, "s", other=other.cpu, aim="1/3")
    figure(f"{what}: elapsed", ours.seconds, "s", other=other.seconds)
    figure(f"{what}: memory at most", ours.peak / 2**20, "MiB", other=other.peak / 2**20, aim="1/4")


def requested(path: Path) -> None:
    """Print how many requests and bytes the metadata of a remote file takes."""
    data = path.read_bytes()
    found = []
    with HttpServer({"/a.h5": data}) as server:
        opening = "listing = refbrowser.open(sys.argv[1]).arrays\n"
        for imports, work in ((_OURS[0], opening), _KERCHUNK, _VIRTUALIZARR):
            server.requests.clear()
            best(imports, work, server.url("/a.h5"), runs=1)  # type: ignore[arg-type]
            asked = [each.range or (0, len(data) - 1) for each in server.requests if each.method == "GET"]
            found.append((len(server.requests), sum(stop - start + 1 for start, stop in asked) / 2**20))
    for name, (count, size) in zip(("kerchunk", "VirtualiZarr"), found[1:], strict=True):
        figure(f"remote metadata, {name}: requests", found[0][0], "", other=count, aim="1")
        figure(f"remote metadata, {name}: bytes", found[0][1], "MiB", other=size, aim="1")


def main() -> None:
    """Print the figures."""
    most = CHUNKS // int(sys.argv[1]) if len(sys.argv) > 1 else CHUNKS
    heading("References of files of data")
    with tempfile.TemporaryDirectory() as name:
        for chunks in (10_000, most):
            compared(
                f"{chunks} chunks", written(Path(name) / f"{chunks}.h5", chunks), 3 if chunks < most else 1
            )
        for form in ("NETCDF3_CLASSIC", "NETCDF4"):
            folder = written_folder(Path(name) / form, form, FILES * most // CHUNKS)
            what = f"{FILES * most // CHUNKS} files, {form}, kerchunk"
            _print(what, best(*_MANY_OURS, folder, runs=1), best(*_MANY_KERCHUNK, folder, runs=1))
        requested(written_small(Path(name) / "small.h5"))


if __name__ == "__main__":
    main()
