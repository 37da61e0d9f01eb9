"""A million virtual references into an Icechunk repository and out of it, against VirtualiZarr.

A process each, imports not counted. Both write the same references into a new repository on this disk, in
one array, and commit; ours looks at the source, reads the repository again and compares every reference, too.
Opening reads one chunk's reference; many arrays show what opening costs where none is read; steps of an array
of as many references what a manifest costs, of all or of ten steps each. How many references may be given:
``python tests/benchmarks/bench_icechunk.py 100_000``.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from processes import best
from report import figure, heading

REFERENCES, ARRAYS = 1_000_000, 1_000
_OURS = """
import shutil, sys, icechunk, zarr
import refbrowser.wings.icechunk.writing.icechunk_target, refbrowser.formats.references
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportRequest
target = sys.argv[1] + ".ours"
shutil.rmtree(target, ignore_errors=True)
dataset = open_dataset(OpenRequest(sys.argv[1]))
assert dataset.arrays["/v"].node.manifest.stored()
"""
_WRITE = """
listing = range(run_export(dataset, ExportRequest(target, "icechunk")).chunks)
"""
_VIRTUALIZARR = """
import shutil, sys, icechunk, virtualizarr.writers.icechunk
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import KerchunkJSONParser
target = sys.argv[1] + ".theirs"
shutil.rmtree(target, ignore_errors=True)
registry = ObjectStoreRegistry({"file://": LocalStore()})
virtual = open_virtual_dataset(
    f"file://{sys.argv[1]}", registry=registry, parser=KerchunkJSONParser(), loadable_variables=[])
prefix = "file://" + sys.argv[1].rpartition("/")[0] + "/"
"""
_THEIR_WRITE = """
config = icechunk.RepositoryConfig.default()
container = icechunk.VirtualChunkContainer(prefix, icechunk.local_filesystem_store(prefix[7:]))
config.set_virtual_chunk_container(container)
storage = icechunk.local_filesystem_storage(target)
granted = icechunk.containers_credentials({prefix: None})
repository = icechunk.Repository.create(storage, config, authorize_virtual_chunk_access=granted)
session = repository.writable_session("main")
virtual.vz.to_icechunk(session.store)
session.commit("made")
listing = range(virtual["v"].size // 4)
"""
_OPEN = """
import sys, numpy
import refbrowser.wings.icechunk.reading.opening, refbrowser.formats.flavour
import refbrowser.formats.zarr.hierarchy
from refbrowser.engine.opening import OpenRequest, open_dataset
"""
_OPENED = """
dataset = open_dataset(OpenRequest(sys.argv[1]))
listing = dataset.arrays["/v"].node.manifest.columns(numpy.array([[7]]))
"""
_THEIRS_OPEN = "import icechunk, sys, zarr, asyncio\n"
_THEIRS_OPENED = """
repository = icechunk.Repository.open(icechunk.local_filesystem_storage(sys.argv[1]))
store = repository.readonly_session("main").store
array = zarr.open_array(store, path="v", mode="r")
asyncio.run(store.exists("v/c/7"))
listing = range(1)
"""


def written(folder: Path, references: int) -> Path:
    """Write a document of as many references into one file, without its bytes."""
    path, data = folder / "refs.json", folder / "data.bin"
    with data.open("wb") as stream:
        stream.truncate(16 * references)
    told = {"shape": [4 * references], "chunks": [4], "dtype": "<i4", "fill_value": 0, "order": "C"}
    refs: dict[str, object] = {
        ".zgroup": '{"zarr_format":2}',
        "v/.zarray": json.dumps({"zarr_format": 2, "compressor": None, "filters": None, **told}),
        "v/.zattrs": '{"_ARRAY_DIMENSIONS":["x"]}',
    }
    refs |= {f"v/{row}": [str(data), 16 * row, 16] for row in range(references)}
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def many(folder: Path, arrays: int) -> Path:
    """Write a repository of as many arrays, each with a manifest of its own, by the library."""
    import icechunk
    import zarr

    icechunk.set_logs_filter("error")
    path = folder / "many"
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    session = repository.writable_session("main")
    group = zarr.group(store=session.store)
    for number in range(arrays):
        name = f"v{number}" if number else "v"
        group.create_array(name, shape=(40,), chunks=(4,), dtype="<i4")[:] = number + 1
    session.commit("made")
    return path


_STEP = """
dataset = open_dataset(OpenRequest(sys.argv[1]))
manifest = dataset.arrays["/v"].node.manifest
side = manifest.grid_shape[1]
coords = numpy.stack(numpy.unravel_index(numpy.arange(side * side), (1, side, side)), axis=1)
listing = manifest.columns(coords + [7, 0, 0])
assert len(listing) == side * side and listing.kind.all()
"""
_THEIR_STEP = """
repository = icechunk.Repository.open(icechunk.local_filesystem_storage(sys.argv[1]))
store = repository.readonly_session("main").store
array = zarr.open_array(store, path="v", mode="r")
side = array.cdata_shape[1]
async def step():
    for y in range(side):
        assert all(await asyncio.gather(*(store.exists(f"v/c/7/{y}/{x}") for x in range(side))))
asyncio.run(step())
listing = range(side * side)
"""


def steps(folder: Path, references: int, split: int | None) -> Path:
    """Write a repository of one array with a hundred steps of virtual references, by the library.

    Parameters
    ----------
    split
        Steps of a manifest; all when None.
    """
    import icechunk
    import zarr

    path, prefix = folder / f"steps-{split}", "file:///nowhere/"
    side = max(1, round((references / 100) ** 0.5))
    config = icechunk.RepositoryConfig.default()
    container = icechunk.VirtualChunkContainer(prefix, icechunk.local_filesystem_store("/nowhere"))
    config.set_virtual_chunk_container(container)
    axis = {icechunk.ManifestSplitDimCondition.Axis(0): split or 1 << 30}
    splitting = icechunk.ManifestSplittingConfig.from_dict({icechunk.ManifestSplitCondition.AnyArray(): axis})
    config.manifest = icechunk.ManifestConfig(splitting=splitting)
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)), config)
    session = repository.writable_session("main")
    shape, chunks = (100, 4 * side, 4 * side), (1, 4, 4)
    zarr.group(store=session.store).create_array("v", shape=shape, chunks=chunks, dtype="<i4")
    for step in range(100):
        url = f"{prefix}day_{step:05d}.nc"
        specs = [
            icechunk.VirtualChunkSpec([step, at // side, at % side], url, 64 * at, 64)
            for at in range(side**2)
        ]
        session.store.set_virtual_refs("/v", specs, validate_containers=False)
    session.commit("made")
    return path


def main() -> None:
    """Print the figures."""
    references = int(sys.argv[1]) if len(sys.argv) > 1 else REFERENCES
    heading(f"{references} virtual references in an Icechunk repository")
    with tempfile.TemporaryDirectory() as name:
        path = written(Path(name), references)
        ours = best(_OURS, _WRITE, path, runs=1)
        theirs = best(_VIRTUALIZARR, _THEIR_WRITE, path, runs=1)
        figure("written, compared, VirtualiZarr without comparing: CPU", ours.cpu, "s", other=theirs.cpu)
        figure("  elapsed", ours.seconds, "s", other=theirs.seconds)
        figure("  memory at most", ours.peak / 2**20, "MiB", other=theirs.peak / 2**20)
        for what, of in (("ours", f"{path}.ours"), ("theirs", f"{path}.theirs")):
            ours, theirs = best(_OPEN, _OPENED, of), best(_THEIRS_OPEN, _THEIRS_OPENED, of)
            figure(f"one reference of {what}, the library: CPU", ours.cpu, "s", other=theirs.cpu)
            figure("  elapsed", ours.seconds, "s", other=theirs.seconds)
        of = str(many(Path(name), ARRAYS))
        ours, theirs = best(_OPEN, _OPENED, of), best(_THEIRS_OPEN, _THEIRS_OPENED, of)
        figure(f"one of {ARRAYS} arrays, the library: CPU", ours.cpu, "s", other=theirs.cpu)
        figure("  elapsed", ours.seconds, "s", other=theirs.seconds)

        for split in (None, 10):
            of = str(steps(Path(name), references, split))
            ours, theirs = best(_OPEN, _STEP, of), best(_THEIRS_OPEN, _THEIR_STEP, of)
            figure(
                f"one step of 100, {split or 'all'} a manifest, the library: CPU",
                ours.cpu,
                "s",
                other=theirs.cpu,
            )
            figure("  elapsed", ours.seconds, "s", other=theirs.seconds)
            figure("  memory at most", ours.peak / 2**20, "MiB", other=theirs.peak / 2**20)


if __name__ == "__main__":
    main()
