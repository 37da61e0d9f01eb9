"""A document whose data come slowly from a loopback server in its own process."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from servers.http_server import ServerProcess

ROWS, LENGTH = 40, 100_000


@contextmanager
def slow_file(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield a document of one array of 40 chunks, read at 2 MB/s, and its origin."""
    data = folder / "data"
    data.mkdir()
    values = np.repeat(np.arange(ROWS, dtype="u1"), LENGTH)
    (data / "a.bin").write_bytes(values.tobytes())
    array = {
        "zarr_format": 2,
        "shape": [ROWS, LENGTH],
        "chunks": [1, LENGTH],
        "dtype": "|u1",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    with ServerProcess(data, latency=0.005, total=2e6) as server:
        refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array)}
        refs |= {f"a/{row}.0": [f"{server.origin}/a.bin", row * LENGTH, LENGTH] for row in range(ROWS)}
        document = folder / "d.json"
        document.write_text(json.dumps(refs))
        yield document, server.origin
