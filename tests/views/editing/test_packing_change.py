"""The packing of an array said in the other way in its metadata: what stays, what changes, what is told."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.node_metadata import read_metadata
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.views.editing.packing_change import PackingChange, packing_change
from refbrowser.views.packing_words import other_packing

SAMPLE = Path(__file__).parents[3] / "resources" / "sample" / "sea_surface.json"
NUMBERS = np.arange(-3, 3, dtype="<i2")
CF = {"scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -3, "valid_max": 2, "units": "K"}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
SCALE = {"name": "scale_offset", "configuration": {"offset": 280.0, "scale": 100.0}}
MAP = {"encode": [["NaN", -3]], "decode": [[-3, "NaN"]]}
CAST = {
    "name": "cast_value",
    "configuration": {"data_type": "int16", "rounding": "nearest-even", "scalar_map": MAP},
}
PACKED: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [6],
    "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": -3,
    "codecs": [BYTES],
    "attributes": CF,
    "dimension_names": ["x"],
    "a_member_of_others": {"must_understand": False},
}
SHARDED = {
    **PACKED,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [6]}},
    "codecs": [
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [3],
                "codecs": [BYTES],
                "index_codecs": [BYTES],
                "index_location": "end",
            },
        }
    ],
}


def opened(array: dict[str, Any], chunks: dict[str, bytes] | None = None) -> Dataset:
    stored = {"t/c/0": NUMBERS[:3].tobytes(), "t/c/1": NUMBERS[3:].tobytes()} if chunks is None else chunks
    refs = {
        "zarr.json": json.dumps({"zarr_format": 3, "node_type": "group"}),
        "t/zarr.json": json.dumps(array),
        **{key: f"base64:{base64.b64encode(data).decode()}" for key, data in stored.items()},
    }
    return refbrowser.open({"version": 1, "refs": refs})


def changed(dataset: Dataset, packing: str) -> PackingChange:
    node: Any = dataset.hierarchy.find("/t")
    texts = read_metadata(dataset, dataset.document, node, CancelToken())
    return packing_change(node, dataset.hierarchy.flavour, texts, packing)


def test_attributes_become_codecs_and_the_same_attributes_again() -> None:
    with opened(PACKED) as dataset:
        change = changed(dataset, "codecs")
        assert change.before == PACKED
        assert change.after == {
            **PACKED,
            "data_type": "float64",
            "fill_value": "NaN",
            "codecs": [SCALE, CAST, BYTES],
            "attributes": {"valid_max": 280.02, "units": "K"},
        }
        by_codecs = refbrowser.with_packing(dataset, "/t", "codecs")
        values = by_codecs["/t"][...]
        assert np.array_equal(values, [np.nan, *(NUMBERS[1:] / 100 + 280)], equal_nan=True)
        back = refbrowser.with_packing(by_codecs, "/t", "attributes")
        assert np.array_equal(back["/t"][...], NUMBERS)
        again = json.loads(back.read_key("t/zarr.json"))
        assert again == {**PACKED, "attributes": {**CF, "valid_max": 280.02}}
        # The first one is as it was.
        assert dataset["/t"].attrs == CF


def test_codecs_stand_in_shards_whose_chunks_are_read_alone() -> None:
    index = np.array([0, 6, 6, 6], "<u8").tobytes()
    with opened(SHARDED, {"t/c/0": NUMBERS.tobytes() + index}) as dataset:
        assert other_packing(dataset["/t"].node) == "codecs"
        change = changed(dataset, "codecs")
        (shards,) = change.after["codecs"]
        assert shards["configuration"]["codecs"] == [SCALE, CAST, BYTES]
        packed = refbrowser.with_packing(dataset, "/t", "codecs")
        assert other_packing(packed["/t"].node) == "attributes"
        assert np.array_equal(packed["/t"][1:], NUMBERS[1:] / 100 + 280)
        back = changed(packed, "attributes")
        assert (back.before, back.after["codecs"]) == (change.after, SHARDED["codecs"])
        # Where others put them before the shards, they are found there.
        before = {**change.after, "codecs": [SCALE, CAST, *SHARDED["codecs"]]}
    with opened(before, {"t/c/0": NUMBERS.tobytes() + index}) as dataset:
        assert changed(dataset, "attributes").after["codecs"] == SHARDED["codecs"]


def test_it_is_one_step_whose_text_comes_back() -> None:
    with opened(PACKED) as dataset:
        edit = changed(dataset, "codecs").edit
        assert edit.title == "Say the packing of /t by codecs"
        after = dataset.document.apply(edit)
        assert b"scale_offset" in after.to_bytes()
        assert b"scale_offset" not in dataset.document.to_bytes()


def test_difference_and_what_it_was_computed_at_are_told() -> None:
    with opened(PACKED) as dataset:
        change = changed(dataset, "codecs")
        found = change.last_bits
        numbers = np.setdiff1d(np.arange(-32768, 32768), [-3])
        by_attributes, by_codecs = numbers * 0.01 + 280.0, numbers / 100.0 + 280.0
        far = np.abs(by_attributes - by_codecs)
        assert (found.compared, found.differing) == (65535, np.count_nonzero(far))
        assert found.largest == far.max()
        assert abs(found.by_attributes - found.by_codecs) == far.max()
        assert found.steps == round(far.max() / np.spacing(abs(found.by_codecs)))
        first, second, third = (line.replace("\N{NARROW NO-BREAK SPACE}", " ") for line in change.lines())
        assert f"by {far.max():.3g} at most" in first
        assert "in the last place of float64" in first
        assert f"stored {found.stored} is {found.by_attributes!r} by attributes" in second
        assert third == "Computed at all 65 535 numbers of int16 that stand for values."
    exact = {**CF, "scale_factor": 0.5}
    with opened({**PACKED, "data_type": "int32", "attributes": exact}) as dataset:
        lines = [
            line.replace("\N{NARROW NO-BREAK SPACE}", " ") for line in changed(dataset, "codecs").lines()
        ]
    assert lines == [
        "What is stored stays, and so does every value.",
        "Computed at 65 536 of the 4 294 967 296 numbers of int32, evenly spaced, the ends included.",
    ]


@pytest.mark.parametrize(
    ("array", "packing", "why"),
    [
        (PACKED, "attributes", "it is not packed by codecs"),
        ({**PACKED, "attributes": {}}, "codecs", "it is not packed by attributes"),
        ({**PACKED, "attributes": {**CF, "scale_factor": 0}}, "codecs", "have no such scale"),
        (
            {**PACKED, "data_type": "float64", "fill_value": 0, "codecs": [CAST, SCALE, BYTES]},
            "attributes",
            "it is scaled after it was made integers",
        ),
    ],
)
def test_what_cannot_be_said_so_is_refused_with_the_reason(
    array: dict[str, Any], packing: str, why: str
) -> None:
    with opened(array) as dataset, pytest.raises(RefbrowserError, match=why) as caught:
        changed(dataset, packing)
    assert (caught.value.kind, caught.value.advice) == (ErrorKind.META, "")


def test_zarr_v2_has_no_codecs_and_the_export_is_advised() -> None:
    with refbrowser.open(SAMPLE) as dataset:
        with pytest.raises(RefbrowserError, match=r"not of Zarr v3") as caught:
            refbrowser.with_packing(dataset, "/ocean/sst", "codecs")
        assert "--packing codecs" in caught.value.advice
        with pytest.raises(RefbrowserError, match="there is no group or array"):
            refbrowser.with_packing(dataset, "/ocean", "codecs")
        with pytest.raises(RefbrowserError) as wrong:
            refbrowser.with_packing(dataset, "/ocean/sst", "both")  # type: ignore[arg-type]
        assert wrong.value.kind is ErrorKind.USAGE
