"""Documents to export as streams, and streams read by siphon; for the tests."""

from __future__ import annotations

import base64
import io
import itertools
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import refbrowser
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportReport, ExportRequest
from refbrowser.wings.ncstream.writing.stream_options import StreamOptions


def inline_document(arrays: dict[str, dict[str, Any]], groups: tuple[str, ...] = ()) -> bytes:
    """Return a document with all chunks inline.

    Each array has `values`, and may have `chunks`, `missing` (coordinates), `level` (of zlib), `fill_value`,
    `dimensions`, `attributes`.
    """
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    refs |= {f"{group}/.zgroup": '{"zarr_format": 2}' for group in groups}
    for name, facts in arrays.items():
        refs |= _array(name, **facts)
    return json.dumps({"version": 1, "refs": refs}).encode()


def _array(
    name, values, chunks=None, missing=(), level=None, fill_value=None, dimensions=None, attributes=None
) -> dict[str, Any]:
    sides = chunks or tuple(max(1, size) for size in values.shape)
    kind = values.dtype.str if values.dtype.names is None else values.dtype.descr
    metadata = {"zarr_format": 2, "shape": values.shape, "chunks": sides, "dtype": kind, "order": "C"}
    metadata |= {"fill_value": fill_value, "filters": None}
    metadata["compressor"] = None if level is None else {"id": "zlib", "level": level}
    own = dict(attributes or {})
    if dimensions is not None:
        own["_ARRAY_DIMENSIONS"] = list(dimensions)
    found: dict[str, Any] = {f"{name}/.zarray": json.dumps(metadata), f"{name}/.zattrs": json.dumps(own)}
    grid = [range(-(-size // side)) for size, side in zip(values.shape, sides, strict=True)]
    for coords in itertools.product(*grid):
        if coords in missing:
            continue
        chunk = np.zeros(sides, values.dtype)
        where = tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, sides, strict=True))
        part = values[where]
        chunk[tuple(slice(0, size) for size in part.shape)] = part
        data = chunk.tobytes() if level is None else zlib.compress(chunk.tobytes(), level)
        key = ".".join(map(str, coords)) or "0"
        found[f"{name}/{key}"] = "base64:" + base64.b64encode(data).decode()
    return found


def opened(folder: Path, arrays: dict[str, dict[str, Any]], groups: tuple[str, ...] = ()) -> Any:
    """Return the dataset of a document with these arrays."""
    path = folder / "source.json"
    path.write_bytes(inline_document(arrays, groups))
    return refbrowser.open(path)


def exported(dataset: Any, target: Path, *, arrays: Any = None, **options: Any) -> ExportReport:
    """Export a dataset as a stream; `skip_bad` is one of the options."""
    skip_bad = options.pop("skip_bad", False)
    stream = StreamOptions(**options)
    return run_export(
        dataset, ExportRequest(str(target), "ncstream", arrays, True, skip_bad=skip_bad, options=stream)
    )


def read_by_siphon(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the header that siphon reads, and what it reads of the variables of the root and its groups.

    The messages carry no names that siphon tells; they come in the order of the variables, texts and opaque
    values last.
    """
    from siphon.cdmr import ncstream

    data = path.read_bytes()
    assert data[:4] == b"CDFS"
    assert data[-4:] == b"\xed\xed\xde\xde"
    header, *messages = ncstream.read_ncstream_messages(io.BytesIO(data[4:-4]))
    variables = list(_variables(header.root, ""))
    last = [item for item in variables if item[1].dataType in (7, 13)]
    ordered = [item for item in variables if item not in last] + last
    assert len(ordered) == len(messages)
    return header, {name: values for (name, _), values in zip(ordered, messages, strict=True)}


def _variables(group: Any, above: str) -> Any:
    yield from ((f"{above}{each.name}", each) for each in (*group.vars, *group.structs))
    for below in group.groups:
        yield from _variables(below, f"{above}{below.name}/")


def attributes_by_siphon(variable: Any) -> dict[str, Any]:
    """Return the attributes of a variable or group of a header as siphon reads them, as plain values."""
    from siphon.cdmr import ncstream

    found = {}
    for attribute in variable.atts:
        name, value = ncstream.unpack_attribute(attribute)
        found[name] = value.tolist() if hasattr(value, "tolist") else value
    return found
