"""References to files of data, against kerchunk and VirtualiZarr: many files, many chunks, remote requests.

Whole commands are compared: ``refbrowser make FILE... -o OUT`` with a program that makes the same documents
by another library, the start of both and all their processes counted. Ours compares chunks with the files,
and it is told what that takes. The memory is that of all processes at once (PSS). How much smaller all is
may be given: ``python tests/benchmarks/bench_make.py 10``.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
from processes import Used, cost, used
from report import figure, heading
from servers.http_server import HttpServer
from servers.object_proxy import object_proxy
from servers.object_servers import ACCOUNT, ACCOUNT_KEY, KEY_ID, SECRET, object_server

CHUNKS, FILES = 1_000_000, (200, 1_000)

#: Documents by others; "2" as the first argument: by two processes.
_COMMON = """
import json, os, sys, warnings
from multiprocessing import get_context
warnings.simplefilter("ignore")
jobs, out, *paths = sys.argv[1:]
os.makedirs(out, exist_ok=True)
targets = [f"{out}/{os.path.basename(path)}.json" for path in paths]
is_classic = paths[0].endswith(".nc")
"""
_ALL = """
if jobs == "1":
    for path, target in zip(paths, targets): one(path, target)
else:
    with get_context("fork").Pool(int(jobs)) as pool: pool.starmap(one, zip(paths, targets))
"""
_KERCHUNK = f"""{_COMMON}
if is_classic:
    from kerchunk.netCDF3 import NetCDF3ToZarr as kind
else:
    from kerchunk.hdf import SingleHdf5ToZarr as kind
def one(path, target):
    with open(target, "w") as file:
        json.dump(kind(path, inline_threshold=0).translate(), file)
{_ALL}"""
_VIRTUALIZARR = f"""{_COMMON}
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr.parsers import HDFParser, NetCDF3Parser
parser = NetCDF3Parser() if is_classic else HDFParser()
def one(path, target):
    registry = ObjectStoreRegistry({{"file://": LocalStore()}})
    made = parser(url="file://" + path, registry=registry)
    made.to_virtual_dataset(loadable_variables=[]).vz.to_kerchunk(target, format="json")
{_ALL}"""
#: Ours as a program: what it is given stands before.
_ALONE = "from refbrowser.exporting.workers import file_processes; file_processes.MANY = 1 << 30\n"
_UNPROVED = (
    _ALONE
    + """
from refbrowser.exporting.making import made_references
from refbrowser.exporting.saving.reference_proof import Proof
made_references.proved = lambda *_: Proof()
"""
)
_OURS = "import sys; from refbrowser.cli import main; sys.exit(main(['make', *sys.argv[1:]]))\n"

#: What is asked of a server, given how it is reached: by a process, imports not counted.
_READ_OURS = ("import refbrowser\n", """
listing = refbrowser.open(sys.argv[1], storage_options=settings).arrays
""")  # fmt: skip
_READ_KERCHUNK = ("from kerchunk.hdf import SingleHdf5ToZarr\n", """
listing = SingleHdf5ToZarr(sys.argv[1], inline_threshold=0, storage_options=settings).translate()["refs"]
""")  # fmt: skip
_READ_VIRTUALIZARR = ("""
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import AzureStore, HTTPStore, S3Store
from virtualizarr.parsers import HDFParser
""", """
base = "/".join(sys.argv[1].split("/")[:3])
plain = {"client_options": {"allow_http": True}}
if base.startswith("http"):
    store = HTTPStore.from_url(base, **plain)
else:
    kind = S3Store if base.startswith("s3") else AzureStore
    store = kind(base.partition("://")[2], **settings, **plain)
listing = [HDFParser()(url=sys.argv[1], registry=ObjectStoreRegistry({base: store}))]
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


def compared(what: str, paths: list[Path], out: Path) -> None:
    """Print what documents of files take: with a process, with two, and without the comparison."""
    files = [str(path) for path in paths]
    others = (("kerchunk", _KERCHUNK), ("VirtualiZarr", _VIRTUALIZARR))

    def ours(before: str, *, memory: bool = False) -> Used:
        shutil.rmtree(out / "ours", ignore_errors=True)
        target = str(out / "ours") if len(files) > 1 else str(out / "ours.json")
        command = [sys.executable, "-c", before + _OURS, *files, "-o", target, "--force"]
        return used(command, memory=memory)

    def theirs(code: str, jobs: int, *, memory: bool = False) -> Used:
        command = [sys.executable, "-c", code, str(jobs), str(out / "theirs"), *files]
        return used(command, memory=memory)

    alone = ours(_ALONE)
    held = ours(_ALONE, memory=True).memory / 2**20
    for name, code in others:
        other = theirs(code, 1)
        figure(f"{what}, {name}: CPU", alone.cpu, "s", other=other.cpu, aim="1/3")
        figure(f"{what}, {name}: elapsed", alone.seconds, "s", other=other.seconds)
        memory = theirs(code, 1, memory=True).memory / 2**20
        figure(f"{what}, {name}: memory", held, "MiB", other=memory, aim="1/4")
    figure(f"{what}: CPU without the comparison", ours(_UNPROVED).cpu, "s", other=alone.cpu)
    if len(files) == 1:
        return
    many = ours("")
    held = ours("", memory=True).memory / 2**20
    for name, code in others:
        other = theirs(code, 2)
        figure(f"{what}, two processes, {name}: CPU", many.cpu, "s", other=other.cpu, aim="1/3")
        figure(f"{what}, two processes, {name}: elapsed", many.seconds, "s", other=other.seconds)
        memory = theirs(code, 2, memory=True).memory / 2**20
        figure(f"{what}, two processes, {name}: memory", held, "MiB", other=memory, aim="1/4")


def requested(path: Path) -> None:
    """Print how many requests and bytes the metadata of a remote file takes."""
    data = path.read_bytes()
    found = []
    with HttpServer({"/a.h5": data}) as server:
        for settings, (imports, work) in (((), _READ_OURS), ({}, _READ_KERCHUNK), ({}, _READ_VIRTUALIZARR)):
            server.requests.clear()
            _read(imports, work, server.url("/a.h5"), settings)
            asked = [each.range or (0, len(data) - 1) for each in server.requests if each.method == "GET"]
            found.append((len(server.requests), sum(stop - start + 1 for start, stop in asked)))
    _print_requests("http", found)


def requested_of_store(scheme: str, path: Path, folder: Path) -> None:
    """Print the same of a file in an object store, by the server that the tests have."""
    found = []
    with object_server(scheme, folder) as server, object_proxy(server.endpoint) as (proxy, endpoint):
        bucket = server.new_bucket()
        server.put(f"{bucket}/a.h5", path.read_bytes())
        server.endpoint = endpoint + server.endpoint.partition("//")[2].partition("/")[2].join(("/", ""))
        theirs: dict[str, Any] = {"key": KEY_ID, "secret": SECRET, "endpoint_url": server.endpoint}
        store = {"access_key_id": KEY_ID, "secret_access_key": SECRET, "endpoint": server.endpoint}
        if scheme == "gs":
            theirs, store = {"token": "anon", "endpoint_url": server.endpoint}, {}
        elif scheme == "abfs":
            theirs = {"connection_string": server.connection}
            store = {"account_name": ACCOUNT, "account_key": ACCOUNT_KEY, "endpoint": server.endpoint}
        for settings, (imports, work) in (
            (server.settings(bucket), _READ_OURS),
            (theirs, _READ_KERCHUNK),
            (store, _READ_VIRTUALIZARR),
        ):
            if settings:
                proxy.seen.clear()
                proxy.sent = 0
                _read(imports, work, f"{bucket}/a.h5", settings, {**os.environ, **server.environment})
                found.append((len(proxy.seen), proxy.sent))
    _print_requests(scheme, found)


def _read(
    imports: str, work: str, url: str, settings: object, variables: Mapping[str, str] | None = None
) -> None:
    cost(imports, f"settings = {settings!r}\n{work}", url, variables=variables)


def _print_requests(how: str, found: list[tuple[int, int]]) -> None:
    for name, (count, size) in zip(("kerchunk", "VirtualiZarr"), found[1:], strict=False):
        figure(f"remote metadata, {how}, {name}: requests", found[0][0], "", other=count, aim="1")
        megabytes = found[0][1] / 2**20, size / 2**20
        figure(f"remote metadata, {how}, {name}: bytes", megabytes[0], "MiB", other=megabytes[1], aim="1")


def main() -> None:
    """Print the figures."""
    less = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    heading("References of files of data")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = written_small(folder / "small.h5")
        requested(small)
        for scheme in ("s3", "gs", "abfs"):
            try:
                requested_of_store(scheme, small, folder)
            except pytest.skip.Exception as missing:
                print(f"  {scheme}: {missing}")
        for chunks in (10_000, CHUNKS // less):
            compared(f"{chunks} chunks", [written(folder / f"{chunks}.h5", chunks)], folder)
        for count in FILES:
            for form in ("NETCDF3_CLASSIC", "NETCDF4"):
                made = written_folder(folder / f"{form}{count}", form, count // less)
                compared(f"{count // less} files, {form}", sorted(made.iterdir()), folder)


if __name__ == "__main__":
    main()
