"""Why an element is empty, or what it is: fill, missing_value, bounds, NaN, scale, missing chunks."""

from __future__ import annotations

import struct
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explained import dataset, document, line, of_element, of_key

from refbrowser.tools.explain.report.explanation import Explanation, StepState, VerdictKind

VALUES = np.arange(24, dtype="<i2").reshape(4, 6)


def explained(
    folder: Path, stored: Any, dtype: str, index: tuple[int, ...] = (0, 0), **more: Any
) -> Explanation:
    """Explain an element of a chunk in which every element is `stored`."""
    (folder / "x.bin").write_bytes(np.full(6, stored, dtype).tobytes())
    array = {"dtype": dtype, "fill_value": more.pop("fill_value", None)}
    path = document(folder, {"a/0.0": ["x.bin"]}, array=array, attributes=more.pop("attributes", {}))
    with dataset(path) as opened:
        return of_element(opened, *index, **more)


@pytest.mark.parametrize(
    ("stored", "dtype", "attributes", "fill", "kind", "words"),
    [
        (-9, "<i2", {"_FillValue": -9}, None, VerdictKind.FILL, "-9, is the fill value (_FillValue)"),
        (-9, "<i2", {}, -9, VerdictKind.FILL, "-9, is the fill value of the array"),
        (-9, "<i2", {"missing_value": [7, -9]}, None, VerdictKind.MISSING_VALUE, "-9, is a missing_value"),
        (
            300,
            "<i2",
            {"valid_range": [0, 255]},
            None,
            VerdictKind.OUT_OF_RANGE,
            "outside of valid_range 0 to 255",
        ),
        (-1, "<i2", {"valid_min": 0}, None, VerdictKind.OUT_OF_RANGE, "-1, lies below valid_min 0"),
        (9, "<i2", {"valid_max": 8}, None, VerdictKind.OUT_OF_RANGE, "9, lies above valid_max 8"),
        (np.nan, "<f4", {"_FillValue": -9.0}, None, VerdictKind.NAN, "NaN, is not a number"),
        (
            -1,
            "|i1",
            {"_Unsigned": "true", "_FillValue": -1},
            None,
            VerdictKind.FILL,
            "255, is the fill value",
        ),
        (
            -6,
            "|i1",
            {"_Unsigned": "true", "valid_range": [0, -10]},
            None,
            VerdictKind.OUT_OF_RANGE,
            "0 to 246",
        ),
    ],
)
def test_why_an_element_is_empty(
    tmp_path: Path, stored: Any, dtype: str, attributes: Any, fill: Any, kind: VerdictKind, words: str
) -> None:
    explanation = explained(tmp_path, stored, dtype, attributes=attributes, fill_value=fill)
    assert explanation.kind is kind
    assert explanation.verdict.startswith("This element is empty because the value stored for it, ")
    assert words in explanation.verdict
    assert explanation.state is StepState.WARNING
    assert explanation.step("value").facts["value"] is None


def test_the_fill_value_comes_before_the_range_that_it_is_out_of(tmp_path: Path) -> None:
    explanation = explained(tmp_path, -9, "<i2", attributes={"_FillValue": -9, "valid_range": [0, 5]})
    assert explanation.kind is VerdictKind.FILL
    assert line(explanation.step("value"), "Besides") == "it lies outside of valid_range 0 to 5"


def test_scaled_value_tells_how_it_is_computed(tmp_path: Path) -> None:
    attributes = {"scale_factor": 0.5, "add_offset": -3.0, "units": "K", "_FillValue": 7}
    explanation = explained(tmp_path, 8, "<i2", attributes=attributes)
    assert explanation.kind is VerdictKind.VALUE
    assert explanation.verdict == "This element is 1 K"
    value = explanation.step("value")
    assert line(value, "Stored value") == "8"
    assert line(value, "Computed") == "8 × 0.5 - 3"
    assert line(value, "scale_factor") == "0.5"
    assert value.state is StepState.OK


def test_a_fill_value_that_xarray_packed_is_told_as_a_number(tmp_path: Path) -> None:
    for text, number in (("NaN", np.nan), ("-9.0", -9.0)):
        packed = b64encode(struct.pack("<d", number)).decode()
        explanation = explained(tmp_path, 1.0, "<f4", attributes={"_FillValue": packed})
        assert line(explanation.step("value"), "_FillValue") == f"{text} (written {packed})"


def test_with_cf_off_the_stored_value_is_what_is_shown(tmp_path: Path) -> None:
    attributes = {"scale_factor": 0.5, "_FillValue": 7}
    shown = explained(tmp_path, 8, "<i2", attributes=attributes, decoded=False)
    assert shown.verdict == "This element shows 8 as it is stored, CF being off"
    empty = explained(tmp_path, 7, "<i2", attributes=attributes, decoded=False)
    assert empty.verdict.startswith("This element shows 7, CF being off; with CF it is empty because ")
    assert empty.kind is VerdictKind.FILL


def test_default_fill_of_netcdf_is_noted(tmp_path: Path) -> None:
    default = 9.969209968386869e36
    explanation = explained(tmp_path, default, "<f4")
    assert explanation.kind is VerdictKind.NEVER_WRITTEN
    assert explanation.verdict.endswith("is netCDF's fill for values never written")
    told = explained(tmp_path, default, "<f4", attributes={"missing_value": default})
    assert told.kind is VerdictKind.MISSING_VALUE
    explanation = explained(tmp_path, default, "<f4", attributes={"_FillValue": -9.0})
    assert explanation.kind is VerdictKind.VALUE
    assert "nothing was written" in line(explanation.step("value"), "Note")
    assert explanation.step("value").state is StepState.WARNING


def test_unusable_attributes_are_named(tmp_path: Path) -> None:
    explanation = explained(tmp_path, 5, "<i2", attributes={"valid_range": "odd"})
    assert explanation.kind is VerdictKind.VALUE
    assert line(explanation.step("value"), "Ignored").startswith("valid_range is not used")


class TestMissingChunks:
    def missing(self, folder: Path, fill: Any, **more: Any) -> Explanation:
        dtype = more.pop("dtype", "<i2")
        attributes = more.pop("attributes", {})
        path = document(folder, {}, array={"fill_value": fill, "dtype": dtype}, attributes=attributes)
        with dataset(path) as opened:
            return of_element(opened, 3, 4, **more)

    def test_fill_value_stands_for_no_data(self, tmp_path: Path) -> None:
        explanation = self.missing(tmp_path, -32767)
        assert explanation.verdict == (
            "This element is empty because chunk a/1.1 is missing: its fill value -32767 means no data"
        )
        assert explanation.kind is VerdictKind.MISSING
        assert [step.name for step in explanation.steps] == ["element", "key", "entry", "fill", "value"]

    def test_readers_of_zarr_v2_go_by_its_fill_value_whatever_the_attribute_says(
        self, tmp_path: Path
    ) -> None:
        attributes = {"_FillValue": -9, "scale_factor": 0.5, "units": "K"}
        explanation = self.missing(tmp_path, 3, attributes=attributes)
        assert explanation.verdict.endswith("its fill value 3 means no data")
        assert "_FillValue -9 is not used" in line(explanation.step("value"), "Ignored")
        explanation = self.missing(tmp_path, 3, attributes={"_FillValue": 3, "missing_value": 3})
        assert not any(each.name == "Ignored" for each in explanation.step("value").lines)

    def test_no_fill_value_reads_as_zero(self, tmp_path: Path) -> None:
        explanation = self.missing(tmp_path, None)
        assert "reads as 0 because chunk a/1.1 is missing" in explanation.verdict
        assert "no fill value" in line(explanation.step("fill"), "Reads as")

    def test_nan(self, tmp_path: Path) -> None:
        explanation = self.missing(tmp_path, "NaN", dtype="<f4")
        assert explanation.verdict.endswith("is missing: its fill value NaN means no data")

    def test_cf_off(self, tmp_path: Path) -> None:
        explanation = self.missing(tmp_path, -9, decoded=False)
        assert explanation.verdict.startswith("This element shows -9, CF being off")

    def test_the_key_of_a_missing_chunk(self, tmp_path: Path) -> None:
        path = document(tmp_path, {}, array={"fill_value": -9})
        with dataset(path) as opened:
            explanation = of_key(opened, "a/1.1")
        assert explanation.kind is VerdictKind.MISSING
        assert explanation.verdict == (
            "Chunk a/1.1 is missing: every element of it reads as its fill value -9, which means no data"
        )


class TestTypes:
    def test_big_endian_and_f_order(self, tmp_path: Path) -> None:
        chunk = np.arange(6, dtype=">i2").reshape(2, 3)
        (tmp_path / "x.bin").write_bytes(chunk.tobytes("F"))
        path = document(tmp_path, {"a/0.0": ["x.bin"]}, array={"dtype": ">i2", "order": "F"})
        with dataset(path) as opened:
            explanation = of_element(opened, 1, 2)
            other = of_element(opened, 1, 0)
        assert explanation.verdict == "This element is 5"
        assert explanation.step("elements").facts["element_bytes"] == "0005"
        assert other.step("elements").facts["element_bytes"] == "0003"
        assert line(other.step("elements"), "Layout") == "axes are in the order 1, 0, slowest first"

    def test_times(self, tmp_path: Path) -> None:
        attributes = {"units": "days since 2000-01-01"}
        explanation = explained(tmp_path, 31, "<i4", attributes=attributes)
        assert explanation.verdict == "This element is 2000-02-01"

    def test_datetimes(self, tmp_path: Path) -> None:
        explanation = explained(tmp_path, np.datetime64("2001-02-03", "s"), "<M8[s]")
        assert "2001-02-03" in explanation.verdict
        nat = explained(tmp_path, np.datetime64("NaT", "s"), "<M8[s]")
        assert nat.kind is VerdictKind.NAN
        assert "is not a date" in nat.verdict

    def test_text_and_booleans(self, tmp_path: Path) -> None:
        assert "word" in explained(tmp_path, b"word", "|S4").verdict
        assert explained(tmp_path, True, "|b1").verdict == "This element is True"

    def test_complex(self, tmp_path: Path) -> None:
        assert "1 + 2i" in explained(tmp_path, 1 + 2j, "<c8").verdict

    def test_scalar(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(np.int16(5).tobytes())
        path = document(tmp_path, {"a/0": ["x.bin"]}, array={"shape": [], "chunks": []})
        with dataset(path) as opened:
            assert of_element(opened).verdict == "This element is 5"
            assert of_key(opened, "a/0").kind is VerdictKind.READABLE


class TestWholeChunks:
    def test_contents(self, tmp_path: Path) -> None:
        chunk = np.array([[1, 2, -9], [4, 5, 6]], "<i2")
        (tmp_path / "x.bin").write_bytes(chunk.tobytes())
        attributes = {"_FillValue": -9, "scale_factor": 10.0, "units": "m"}
        path = document(tmp_path, {"a/0.0": ["x.bin"]}, attributes=attributes)
        with dataset(path) as opened:
            explanation = of_key(opened, "a/0.0")
        assert explanation.kind is VerdictKind.READABLE
        assert explanation.verdict == "Chunk a/0.0 can be read: 6 elements, 1 of them without a value"
        assert line(explanation.step("contents"), "Values") == "10 to 60 m"

    def test_all_empty(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(np.full(6, -9, "<i2").tobytes())
        path = document(tmp_path, {"a/0.0": ["x.bin"]}, attributes={"_FillValue": -9})
        with dataset(path) as opened:
            explanation = of_key(opened, "a/0.0")
        assert explanation.verdict == (
            "Chunk a/0.0 can be read, and holds no value: all 6 elements are marked as missing"
        )
        assert explanation.state is StepState.WARNING

    def test_elements_beyond_the_edge_do_not_count(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(np.array([[1, 2, 99], [3, 4, 99]], "<i2").tobytes())
        path = document(tmp_path, {"a/0.1": ["x.bin"]}, array={"shape": [2, 5]})
        with dataset(path) as opened:
            explanation = of_key(opened, "a/0.1")
        facts = explanation.step("contents").facts
        assert (facts["elements"], facts["beyond_edge"]) == (4, 2)
        assert line(explanation.step("contents"), "Values") == "1 to 4"
