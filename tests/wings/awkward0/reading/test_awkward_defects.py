"""Known defects of writers are told, and what they leave sound is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import pytest
from awkward0_encoder import Encoder, reference, zipped
from awkward0_environment import Awkward0Process
from awkward0_values import read_values

import refbrowser


def findings(dataset: refbrowser.Dataset) -> str:
    """Return what is told of a file, as text."""
    return "\n".join(each.message for each in (*dataset.document.findings, *dataset.hierarchy.findings))


def written(tmp_path: Path, encoder: Encoder, root: dict[str, Any], **fields: Any) -> Path:
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(encoder.members(root, **fields)))
    return path


@pytest.mark.long
def test_a_reference_that_the_writer_lost(awkward0: Awkward0Process, tmp_path: Path) -> None:
    path = tmp_path / "x.awkd"
    awkward0.write(path, {"one": "array_of_a_virtual_array"})
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/one/a"]) == [[1.1, 2.2, 3.3], [], [4.4, 5.5]]
        rows = dataset["/one"].nested_rows(0, 3)
        assert [(fault.path, str(fault.error.kind)) for fault in rows.faults] == [("b", "E_SCHEMA")]
        assert "id" in findings(dataset)


def test_shifted_values_of_release_0_12(tmp_path: Path) -> None:
    told = {}
    for version in ("0.12.0", "0.12.22", "0.13.0"):
        encoder = Encoder("one", signature="awkward", version=version)
        with refbrowser.open(written(tmp_path, encoder, encoder.jagged([1, 1], [1.5, 2.5, 3.5]))) as dataset:
            assert read_values(dataset["/one"]) == [[1.5], [2.5]]
            told[version] = "release 0.12" in findings(dataset)
    assert told == {"0.12.0": True, "0.12.22": True, "0.13.0": False}


def test_an_id_that_was_given_twice(tmp_path: Path) -> None:
    encoder = Encoder("one")
    first, second = encoder.basic([1, 2]), encoder.basic([3, 4])
    second["id"] = first["id"]
    root = encoder.table(a=first, b=second, c=reference(first["id"]))
    with refbrowser.open(written(tmp_path, encoder, root)) as dataset:
        assert ak.to_list(dataset["/one/a"].to_awkward()) == [1, 2]
        assert str(first["id"]) in findings(dataset)
