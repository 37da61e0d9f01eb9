"""GRIB: what a remote file takes to be opened, and its references to be read, against kerchunk.

Of kerchunk's ``scan_grib`` only the part that reads the file is run, which finds all messages: cfgrib, which
the rest needs, is not asked for. Both read the same references, kerchunk's codec by fsspec and zarr-python;
the processes of both are counted.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import accumulate
from pathlib import Path
from types import ModuleType

import eccodes
import fsspec
import numpy as np
from processes import used
from report import figure, heading
from servers.http_server import HttpServer

import refbrowser

_OURS = """
import sys, refbrowser
with refbrowser.open(sys.argv[1]) as dataset: print(float(dataset["/t"][...].sum()))
"""
_THEIRS = """
import sys, fsspec, zarr, kerchunk.codecs
mapper = fsspec.filesystem("reference", fo=sys.argv[1]).get_mapper("")
print(float(zarr.open_group(mapper, mode="r", zarr_format=2)["t"][...].sum()))
"""


def messages(rows: int, columns: int, count: int) -> list[bytes]:
    """Return messages of one quantity at many levels."""
    handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
    eccodes.codes_set(handle, "Ni", columns)
    eccodes.codes_set(handle, "Nj", rows)
    made = []
    for number in range(count):
        eccodes.codes_set(handle, "level", number + 1)
        eccodes.codes_set(handle, "bitsPerValue", 12 + number % 8)
        eccodes.codes_set_values(handle, np.random.default_rng(number % 3).random(rows * columns))
        made.append(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)
    return made


def opened(made: list[bytes]) -> None:
    """Print requests and bytes of opening a remote file."""
    sys.modules.setdefault("cfgrib", ModuleType("cfgrib"))
    from kerchunk.grib2 import _split_file

    starts = [0, *accumulate(map(len, made))][:-1]
    lines = "".join(f"{at + 1}:{start}:d=2024010100:TMP:\n" for at, start in enumerate(starts))
    data = b"".join(made)
    for name, beside in (("", {}), (" with an index", {"/a.grib.idx": lines.encode()})):
        with HttpServer({"/a.grib": data, **beside}) as server:
            refbrowser.open(f"{server.url('/a.grib')}").close()
            ours = server.request_count, server.bytes_sent
            server.clear()
            sent = server.bytes_sent
            with fsspec.open(server.url("/a.grib"), "rb") as file:
                assert len(list(_split_file(file))) == len(made)
            theirs = server.request_count, server.bytes_sent - sent
        what = f"{len(made)} messages, {len(data) >> 20} MiB, remote{name}"
        figure(f"{what}: requests", ours[0], "", other=theirs[0], aim="1")
        figure(f"{what}: bytes", ours[1] / 2**20, "MiB", other=theirs[1] / 2**20, aim="1")


def read(made: list[bytes], folder: Path) -> None:
    """Print what reading all chunks takes."""
    path, target = folder / "a.grib", folder / "a.json"
    path.write_bytes(b"".join(made))
    refbrowser.make(path, target, force=True)
    costs = []
    for program in (_OURS, _THEIRS):
        runs = [used([sys.executable, "-c", program, str(target)]) for _ in range(3)]
        costs.append(min(each.cpu for each in runs))
    figure(f"{len(made)} messages of {len(made[0]) >> 10} KiB read: CPU", costs[0], "s", other=costs[1])


def main() -> None:
    """Print the figures."""
    heading("GRIB")
    with tempfile.TemporaryDirectory() as name:
        for rows, columns, count in ((31, 16, 1000), (181, 360, 200), (721, 1440, 40)):
            made = messages(rows, columns, count)
            opened(made)
            read(made, Path(name))


if __name__ == "__main__":
    main()
