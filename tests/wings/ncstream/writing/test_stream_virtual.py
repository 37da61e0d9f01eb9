"""Streams saved as reference documents are read by fsspec and zarr-python, with equal values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import stream_encoder as enc
import zarr
from deep import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st
from looped import looped
from stream_reading import close, plain
from structure_constructs import ALL
from temperature_rows import SIDE, head, rows_of

import refbrowser
from refbrowser.exporting.request import ExportReport
from refbrowser.exporting.rewritten_document import NO_ROOM
from refbrowser.limits import LIMITS

FILL = 9.969209968386869e36


def virtualised(source: Path, target: Path, format: str = "refs-v1") -> ExportReport:
    with refbrowser.open(str(source)) as dataset:
        return refbrowser.export(dataset, target, format=format)


def read_by_others(document: Path, path: str) -> np.ndarray:
    """Read an array of a reference document with fsspec and zarr-python."""
    system = fsspec.filesystem(
        "reference",
        fo=str(document),
        remote_protocol="file",
        asynchronous=True,
        simple_templates=False,
        skip_instance_cache=True,
    )
    store = zarr.storage.FsspecStore(system, path="/", read_only=True)
    return np.asarray(zarr.open_array(store, path=path.strip("/"), mode="r", zarr_format=2)[...])


def entries(document: Path, format: str = "refs-v1") -> dict[str, Any]:
    found = json.loads(document.read_text())
    return found["refs"] if format == "refs-v1" else found


def chunks(document: Path, name: str) -> dict[str, Any]:
    prefix = f"{name}/"
    found = {
        key.removeprefix(prefix): each for key, each in entries(document).items() if key.startswith(prefix)
    }
    return {key: each for key, each in found.items() if not key.startswith(".z")}


@pytest.mark.slow
@looped(
    "construct, format",
    [
        (each, format)
        for format, of in (("refs-v0", 6), ("refs-v1", 2))
        for each in some(ALL, of)
        if each.name != "sparse"
    ],
)
def test_others_read_every_construct_that_they_can(construct, format: str, tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "out.json"
    source.write_bytes(construct.stream)
    report = virtualised(source, target, format)
    lost = {loss.path for loss in report.losses if "left out" in loss.what}
    assert not [key for key in entries(target, format) for path in lost if key.startswith(f"{path[1:]}/")]
    with refbrowser.open(str(target), allow=[str(tmp_path)]) as again:
        assert again.arrays.keys() == construct.values.keys() - lost
        for path in again.arrays:
            is_told = any(loss.path == path and "backslash" in loss.what for loss in report.losses)
            assert is_told == ("\\" in path)
            if not is_told:
                assert close(plain(read_by_others(target, path)), construct.values[path]), path
            assert close(plain(np.asarray(again[path][...])), construct.values[path]), path


@pytest.mark.parametrize("deflated", [False, True])
def test_whole_tiles_are_references_and_the_short_last_one_is_padded(tmp_path: Path, deflated: bool) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "out.json"
    values = np.arange(10 * SIDE, dtype="f4").reshape(10, SIDE)
    messages = [rows_of(values[at : at + 4], deflated=deflated, start=at) for at in (0, 4, 8)]
    source.write_bytes(enc.stream(head(10), *messages))
    report = virtualised(source, target)
    assert [str(loss) for loss in report.losses] == ["/: dimension 'time' is no longer unlimited"]
    found = chunks(target, "temp")
    assert sorted(found) == ["0.0", "1.0", "2.0"]
    content = source.read_bytes()
    for key, message in zip(("0.0", "1.0"), messages, strict=False):
        url, offset, length = found[key]
        assert url == str(source) or "{{" in url
        assert message.endswith(content[offset : offset + length])
    assert found["2.0"].startswith("base64:")
    metadata = json.loads(entries(target)["temp/.zarray"])
    assert metadata["chunks"] == [4, SIDE]
    # As kerchunk writes references of files: all codecs are filters, which VirtualiZarr alone reads.
    assert metadata["compressor"] is None
    assert metadata["filters"] == ([{"id": "zlib", "level": 1}] if deflated else None)
    np.testing.assert_array_equal(read_by_others(target, "/temp"), values)


def test_of_messages_that_overlap_the_last_whole_one_is_the_reference(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "out.json"
    old, new, part = (np.full((2, SIDE), value, "f4") for value in (1, 2, 3))
    messages = [
        rows_of(old),
        rows_of(part[:1], start=1),
        rows_of(new),
        rows_of(old, start=2),
        rows_of(part[:1], start=3),
    ]
    source.write_bytes(enc.stream(head(6), *messages))
    virtualised(source, target)
    found = chunks(target, "temp")
    assert [isinstance(found[key], str) for key in ("0.0", "1.0")] == [False, True]
    assert "2.0" not in found
    wanted = np.concatenate([new, old[:1], part[:1], np.full((2, SIDE), FILL, "f4")])
    np.testing.assert_array_equal(read_by_others(target, "/temp"), wanted)


@pytest.mark.parametrize("odd", [{"order": "<"}, {"deflated": True}])
def test_messages_of_another_kind_are_written_out(tmp_path: Path, odd: dict[str, Any]) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "out.json"
    values = np.arange(6 * SIDE, dtype="f4").reshape(6, SIDE)
    messages = [rows_of(values[at : at + 2], start=at, **(odd if at == 2 else {})) for at in (0, 2, 4)]
    source.write_bytes(enc.stream(head(6), *messages))
    virtualised(source, target)
    found = chunks(target, "temp")
    assert [isinstance(found[key], str) for key in ("0.0", "1.0", "2.0")] == [False, True, False]
    np.testing.assert_array_equal(read_by_others(target, "/temp"), values)


patches = st.lists(
    st.tuples(st.integers(0, 11), st.integers(1, 4), st.sampled_from("<>"), st.booleans()), max_size=10
)


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(given=patches)
def test_whatever_was_sent_others_read_the_same(tmp_path_factory, given) -> None:
    folder = tmp_path_factory.mktemp("patched")
    source, target = folder / "a.ncs", folder / "out.json"
    wanted = np.full((15, SIDE), FILL, "f4")
    messages = [head(15)]
    for number, (start, count, order, deflated) in enumerate(given):
        values = np.full((count, SIDE), number, "f4") + np.arange(SIDE, dtype="f4") / 8
        wanted[start : start + count] = values
        messages.append(rows_of(values, order, deflated=deflated, start=start))
    source.write_bytes(enc.stream(*messages))
    virtualised(source, target)
    np.testing.assert_array_equal(read_by_others(target, "/temp"), wanted)


@pytest.mark.parametrize("room", [300, 450])
def test_what_has_no_room_is_left_out_and_told(tmp_path: Path, room: int) -> None:
    """Of texts it is known when they were read."""
    source, target = tmp_path / "a.ncs", tmp_path / "out.json"
    x = enc.dimension("x", 50)
    texts = enc.data(enc.data_body("names", enc.STRING, [(0, 50, None)]), enc.objects(["long text"] * 50))
    fixed = enc.data(enc.data_body("n", enc.INT, [(0, 50, None)], bigend=True), enc.regular(bytes(200)))
    variables = [enc.variable("names", enc.STRING, [x]), enc.variable("n", enc.INT, [x])]
    root = enc.group(dimensions=[x], variables=variables)
    source.write_bytes(enc.stream(enc.header(root), texts, fixed))
    object.__setattr__(LIMITS, "inlined_members", room)
    try:
        report = virtualised(source, target)
    finally:
        object.__setattr__(LIMITS, "inlined_members", 64 << 20)
    assert [(loss.path, loss.what) for loss in report.losses] == [("/names", NO_ROOM)]
    assert not [key for key in entries(target) if key.startswith("names/")]
    assert read_by_others(target, "/n").tolist() == [0] * 50


def test_enumerations_become_flags_and_dimensions_get_names(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "out.json"
    private = enc.dimension(None, 3, private=True)
    root = enc.group(
        variables=[enc.variable("sky", enc.ENUM1, [private], enum="sky_t")],
        enums=[enc.enumeration("sky_t", {0: "clear", 1: "partly cloudy"})],
    )
    sent = enc.data(enc.data_body("sky", enc.ENUM1, [(0, 3, None)], bigend=True), enc.regular(b"\0\1\0"))
    source.write_bytes(enc.stream(enc.header(root), sent))
    virtualised(source, target)
    attributes = json.loads(entries(target)["sky/.zattrs"])
    assert attributes["flag_values"] == [0, 1]
    assert attributes["flag_meanings"] == "clear partly_cloudy"
    assert attributes["_ARRAY_DIMENSIONS"] == ["sky_0"]
    assert read_by_others(target, "/sky").tolist() == [0, 1, 0]


def test_xarray_reads_what_others_do(tmp_path: Path) -> None:
    import xarray

    source, target = tmp_path / "a.ncs", tmp_path / "out.json"
    private, n = enc.dimension(None, 2, private=True), enc.dimension("n", 3)
    members = [enc.variable("a", enc.INT), enc.variable("b", enc.DOUBLE)]
    root = enc.group(
        dimensions=[n],
        variables=[enc.variable("v", enc.FLOAT, [private]), enc.variable("t", enc.STRING, [n])],
        structures=[enc.structure("s", shape=[n], variables=members)],
    )
    rows = enc.structure_body(enc.numbers("i", [5]) + enc.numbers("d", [0.5]), count=1, row_length=12)
    source.write_bytes(
        enc.stream(
            enc.header(root),
            enc.data(enc.data_body("v", enc.FLOAT, [(0, 2, None)]), enc.regular(enc.numbers("f", [1, 2]))),
            enc.data(enc.data_body("t", enc.STRING, [(0, 3, None)]), enc.objects(["a", "b", "ü"])),
            enc.data(enc.data_body("s", enc.STRUCTURE, [(1, 1, None)], bigend=True), enc.regular(rows)),
        )
    )
    virtualised(source, target)
    options = {"fo": str(target), "remote_protocol": "file", "simple_templates": False}
    with xarray.open_dataset(
        "reference://",
        engine="zarr",
        backend_kwargs={"storage_options": options, "consolidated": False},
    ) as dataset:
        assert dataset["v"].values.tolist() == [1, 2]
        assert dataset["t"].values.tolist() == ["a", "b", "ü"]
        assert dataset["s"].values["a"].tolist() == [-2147483647, 5, -2147483647]


def test_the_parquet_form(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    source, target = tmp_path / "a.ncs", tmp_path / "out.parq"
    values = np.arange(10 * SIDE, dtype="f4").reshape(10, SIDE)
    messages = [rows_of(values[at : at + 4], start=at) for at in (0, 4, 8)]
    source.write_bytes(enc.stream(head(10), *messages))
    virtualised(source, target, "refs-parquet")
    # fsspec reads it with fastparquet alone.
    with refbrowser.open(str(target)) as again:
        np.testing.assert_array_equal(again["/temp"][...], values)
