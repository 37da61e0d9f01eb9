"""Findings of an opened document: what is known from two sides is told once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import refbrowser
from refbrowser.engine.findings.collected_findings import collect, failures_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity


def test_a_chunk_that_a_view_could_not_read_is_told_once_where_the_document_tells_of_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(12))
    metadata = {
        "zarr_format": 2, "shape": [6], "chunks": [2], "dtype": "<i4", "compressor": None,
        "fill_value": 0, "filters": None, "order": "C",
    }  # fmt: skip
    references = {
        ".zgroup": '{"zarr_format":2}',
        "a/.zarray": json.dumps(metadata),
        "a/0": ["data.bin", 0, 8],
        "a/1": ["data.bin", 8, 8],
        "a/2": ["gone.bin", 0, 8],
    }
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(references))
    with refbrowser.open(str(path)) as dataset:
        for start in (2, 4):
            with pytest.raises(RefbrowserError):
                np.asarray(dataset["a"][start : start + 2])
        failures = failures_of(dataset)
        assert sorted(error.place.key or "" for error in failures) == ["a/1", "a/2"]
        found = collect(dataset.document, dataset.hierarchy, failures=failures, access=dataset.access).items
        told = sorted((each.place.key or "", each.kind) for each in found)
        assert told == [("a/1", ErrorKind.RANGE), ("a/2", ErrorKind.IO)]
        # Where the document's own words are not asked for, the read tells.
        unlooked = collect(dataset.document, dataset.hierarchy, failures=failures).items
        assert sorted(each.place.key or "" for each in unlooked) == ["a/1", "a/2"]


def test_a_warning_hides_no_read_that_failed(tmp_path: Path) -> None:
    metadata = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "compressor": None,
        "fill_value": 0, "filters": None, "order": "C",
    }  # fmt: skip
    # A key outside of the grid is warned of.
    references = {".zgroup": '{"zarr_format":2}', "a/.zarray": json.dumps(metadata), "a/7": ["x.bin", 0, 8]}
    path = tmp_path / "outside.json"
    path.write_text(json.dumps(references))
    with refbrowser.open(str(path)) as dataset:
        (warned,) = collect(dataset.document, dataset.hierarchy).items
        assert (warned.severity, warned.place.key) == (Severity.WARNING, "a/7")
        failure = RefbrowserError(warned.kind, "it cannot be read", Place(key="a/7"))
        both = collect(dataset.document, dataset.hierarchy, failures=[failure]).items
        assert {each.message for each in both} == {warned.message, "it cannot be read"}
