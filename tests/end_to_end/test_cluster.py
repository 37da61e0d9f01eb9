"""An export by a Dask cluster into an object store, whose workers and program are killed while they work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from servers.http_server import ServerProcess
from servers.object_servers import KEY_ID, SECRET, ObjectServer

import refbrowser
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.options import StoreOptions

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed")

#: Elements of a chunk along each axis, and files that the chunks lie in.
SIDE, FILES = 4, 10
WORKERS = 4
#: Seconds that anything may take.
PATIENCE = 600.0


@dataclass(frozen=True)
class Size:
    """Chunks along each axis, and those of a shard."""

    grid: tuple[int, int]
    shard: tuple[int, int]

    @property
    def objects(self) -> int:
        return self.grid[0] * self.grid[1] // (self.shard[0] * self.shard[1])


def source(folder: Path, size: Size, origin: str) -> tuple[Path, np.ndarray]:
    """Write files of chunks, in no order, and a document of the URLs that they will have."""
    shape = tuple(count * SIDE for count in size.grid)
    values = np.random.default_rng(0).integers(0, 1 << 30, shape, "<i4")
    metadata = {
        "zarr_format": 2,
        "shape": shape,
        "chunks": (SIDE, SIDE),
        "dtype": "<i4",
        "compressor": None,
        "filters": None,
        "fill_value": -1,
        "order": "C",
    }
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(metadata)}
    refs["a/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"})
    parts = [bytearray() for _ in range(FILES)]
    rows, columns = size.grid
    for number in np.random.default_rng(1).permutation(rows * columns).tolist():
        row, column = divmod(number, columns)
        chunk = values[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE].tobytes()
        part = parts[number % FILES]
        refs[f"a/{row}.{column}"] = [f"{origin}/{number % FILES}.bin", len(part), len(chunk)]
        part += chunk + b"between"
    for number, part in enumerate(parts):
        (folder / f"{number}.bin").write_bytes(part)
    path = folder / "document.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path, values


@contextmanager
def running(arguments: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a module of Python, which writes to files of a folder; what is left of it at the end is killed."""
    with (folder / "told").open("wb") as told, (folder / "log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=told, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def until(found: Callable[[], object], process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until something is found while a process runs."""
    end = time.monotonic() + PATIENCE
    while not found():
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < end
        time.sleep(0.01)


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        file = folder / "scheduler.json"
        common = ["--scheduler-file", str(file)]
        quiet = ["--no-dashboard", "--host", "127.0.0.1"]
        scheduler = ["distributed.cli.dask_scheduler", *common, "--port", "0", *quiet]
        process = stack.enter_context(running(scheduler, folder))
        until(file.exists, process, folder)
        worker = ["distributed.cli.dask_worker", *common, "--nthreads", "1", "--no-nanny", *quiet]
        worker += ["--local-directory", str(folder), "--death-timeout", "60"]
        self.workers = [stack.enter_context(running(worker, folder)) for _ in range(WORKERS)]
        until(lambda: file.read_text().endswith("}"), process, folder)
        self.address: str = json.loads(file.read_text())["address"]


def noted(folder: Path) -> int:
    """Return how many objects the journal of the export that is under way holds."""
    found = list(folder.glob("*/.refbrowser-export.jsonl"))
    return found[0].read_bytes().count(b'"sha256"') if found else 0


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(Size((50, 40), (2, 4)), id="2000"),
        pytest.param(Size((400, 250), (5, 5)), id="100000"),
    ],
)
def test_a_cluster_whose_workers_and_program_are_killed_makes_the_same_store(
    s3_server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: Size
) -> None:
    served, state, of_cluster = (tmp_path / name for name in ("served", "state", "cluster"))
    served.mkdir()
    of_cluster.mkdir()
    for name, value in {**s3_server.environment, "XDG_STATE_HOME": str(state)}.items():
        monkeypatch.setenv(name, value)
    bucket = s3_server.new_bucket()
    target, journals = f"{bucket}/made.zarr", state / "refbrowser" / "exports"
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess(served, latency=0.005))
        path, values = source(served, size, server.origin)
        cluster = Cluster(stack, of_cluster)
        sides = ",".join(str(count * SIDE) for count in size.shard)
        command = ["refbrowser", "export", str(path), target, "--to", "zarr-v3", "--shards", sides, "--json"]
        command += ["--allow", server.origin, *s3_server.options(bucket), "--dask", cluster.address]

        with running(command, tmp_path) as program:
            until(lambda: noted(journals) >= size.objects // 8, program, tmp_path)
            for worker in cluster.workers[:2]:
                worker.send_signal(signal.SIGKILL)
            until(lambda: noted(journals) >= size.objects // 3, program, tmp_path)
            program.kill()
        there = noted(journals)
        assert size.objects // 3 <= there < size.objects

        with running([*command, "--resume"], tmp_path) as program:
            assert program.wait(PATIENCE) == 0, (tmp_path / "log").read_text()
        report = json.loads((tmp_path / "told").read_text())
        assert report["resumed"] == there
        assert report["chunks"] == report["verified"] == size.objects
        assert [worker.poll() is None for worker in cluster.workers] == [False, False, True, True]

        local = tmp_path / "local.zarr"
        shards = StoreOptions(shards=Sides.from_text(sides))
        refbrowser.export(path, local, format="zarr-v3", options=shards, allow=[server.origin])
    files = {item.relative_to(local).as_posix(): item for item in local.rglob("*") if item.is_file()}
    assert s3_server.objects(target) == {key: item.read_bytes() for key, item in files.items()}
    assert not list(journals.iterdir())

    import xarray

    options = {"key": KEY_ID, "secret": SECRET, "endpoint_url": s3_server.endpoint}
    # As one array: in tasks of Dask each inner chunk would be asked for by itself.
    with xarray.open_zarr(target, storage_options=options, consolidated=False, chunks=None) as read:
        np.testing.assert_array_equal(read["a"].load(), values)
