"""A format of another package, all of it: one array of numbers behind a line of text that gives its sides.

``GRID 3 4``, a line end, and 12 doubles, little-endian. Tests find it by an entry point.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.registry import GROUP, Format, Opened, Opening, foreign
from refbrowser.io.access import Access
from refbrowser.references.document.content import FileOrigin
from refbrowser.references.document.document import ReferenceDocument

GRID = Format(
    name="textgrid",
    title="Text grid",
    holds="text grids",
    opener="fixture_format:open_grid",
    suffixes=(".grid",),
    begins=(b"GRID ",),
)


def open_grid(opening: Opening) -> Opened:
    """Open a grid: one chunk, which is the rest of the file."""
    path = os.path.realpath(opening.seen.local or "")
    with open(path, "rb") as file:
        line = file.readline(80)
    sides = [int(word) for word in line.split()[1:]]
    if not sides or min(sides) < 1:
        raise RefbrowserError(ErrorKind.FORMAT, "a grid has at least one side", Place(document=opening.path))
    array = {
        "zarr_format": 2,
        "shape": sides,
        "chunks": sides,
        "dtype": "<f8",
        "fill_value": "NaN",
        "order": "C",
        "compressor": None,
        "filters": None,
    }
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        "values/.zarray": json.dumps(array),
        "values/" + ".".join("0" * len(sides)): [path, len(line), 8 * int(np.prod(sides))],
    }
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode(), name=opening.path)
    access = Access.for_document(path, opening.allow, opening.settings)
    return Opened(replace(document, derived=FileOrigin(path, GRID.name)), access, opening.identity())


def written_grid(path: Path, values: npt.NDArray[np.float64]) -> Path:
    """Write a grid."""
    path.write_bytes(b"GRID " + " ".join(map(str, values.shape)).encode() + b"\n" + values.tobytes())
    return path


@contextmanager
def found(monkeypatch: pytest.MonkeyPatch, *values: str) -> Iterator[None]:
    """Let these be what entry points of the group lead to."""
    points = [EntryPoint(f"made{number}", value, GROUP) for number, value in enumerate(values)]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == GROUP else [])
    foreign.cache_clear()
    try:
        yield
    finally:
        foreign.cache_clear()
