"""Documents of times: what is in them is said by days, and chunks may be left out."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

#: Days that times count from.
EPOCH = date(2000, 1, 1)


def days(first: str, last: str) -> list[int]:
    """Return the days from the first to the last date, both included."""
    begin, end = (date.fromisoformat(each) for each in (first, last))
    return [(begin + timedelta(days=at) - EPOCH).days for at in range((end - begin).days + 1)]


def months(first: str, last: str) -> list[int]:
    """Return the first days of months from the first to the last one, both included."""
    (begin, start), (end, stop) = (map(int, each.split("-")) for each in (first, last))
    return [
        (date(at // 12, at % 12 + 1, 1) - EPOCH).days
        for at in range(begin * 12 + start - 1, end * 12 + stop)
    ]  # fmt: skip


def array(shape: Sequence[int], chunks: Sequence[int], kind: str = "<i4") -> str:
    """Return the metadata of an array without codecs."""
    made = {"zarr_format": 2, "shape": [*shape], "chunks": [*chunks], "dtype": kind, "fill_value": None,
            "order": "C", "compressor": None, "filters": None}  # fmt: skip
    return json.dumps(made)


def refs_of(
    times: Sequence[int],
    *,
    variables: Iterable[str] = ("t2m",),
    chunk: int = 1,
    columns: int = 1,
    missing: Mapping[str, Iterable[tuple[int, int]]] | None = None,
    units: str = "days since 2000-01-01",
    calendar: str = "standard",
    folder: str = "",
) -> dict[str, Any]:
    """Return references of variables of (time, x) in chunks of some times, with some chunks left out."""
    missing = missing or {}
    refs: dict[str, Any] = {}
    attributes = {"_ARRAY_DIMENSIONS": ["time"], "units": units, "calendar": calendar}
    refs[f"{folder}time/.zarray"] = array([len(times)], [max(len(times), 1)])
    refs[f"{folder}time/.zattrs"] = json.dumps(attributes)
    data = np.array(times, "<i4").tobytes()
    refs[f"{folder}time/0"] = "base64:" + b64encode(data).decode()
    for name in variables:
        refs[f"{folder}{name}/.zarray"] = array([len(times), 2 * columns], [chunk, 2])
        refs[f"{folder}{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["time", "x"]})
        gone = {*missing.get(name, ())}
        for row in range(-(-len(times) // chunk)):
            for column in range(columns):
                if (row, column) not in gone:
                    refs[f"{folder}{name}/{row}.{column}"] = [f"data/{name}_{row}.bin", 8 * column, 8 * chunk]
    return refs


def write_refs(path: Path, refs: Mapping[str, Any], gen: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write a document of references, with rules."""
    made = {
        "version": 1,
        "refs": {".zgroup": '{"zarr_format": 2}', **refs},
        **({"gen": [*gen]} if gen else {}),
    }
    path.write_text(json.dumps(made))
    return path
