"""Nested arrays written to streams: rows of numbers, texts and structures; fields of other records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from awkward0_encoder import Encoder, zipped

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.ncstream.serving.offered_state import Offered
from refbrowser.wings.ncstream.writing.stream_options import Profile, StreamOptions

MAKES = {
    "rows": lambda e: e.jagged([2, 0, 1], [1.5, 2.5, 3.5]),
    "texts": lambda e: e.strings(["a", "ö"]),
    "bytes": lambda e: e.strings([b"\xff", b""], None),
    "optional": lambda e: e.make("MaskedArray", e.basic([True, False]), e.basic([1, 2])),
    "points": lambda e: e.table(x=[1.5, 2.5], y=np.array([[1, 2], [3, 4]], "i4")),
    "mixed": lambda e: e.table(
        n=[1, 2], deep=e.jagged([1, 1], e.jagged([1, 1], [1, 2])), s=e.strings(["a", "b"])
    ),
    "deep": lambda e: e.jagged([1], e.jagged([2], [1, 2])),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    members: dict[str, bytes] = {}
    for name, make in MAKES.items():
        encoder = Encoder(name)
        members |= encoder.members(make(encoder))
    (tmp_path / "made.awkd").write_bytes(zipped(members))
    return tmp_path / "made.awkd"


@pytest.mark.parametrize("profile", ["full", "compatible"])
def test_all_that_fits(path: Path, tmp_path: Path, profile: Profile) -> None:
    target = tmp_path / "made.ncs"
    with refbrowser.open(path) as dataset:
        report = refbrowser.export(dataset, target, format="ncstream", options=StreamOptions(profile=profile))
    losses = {loss.path: loss.what for loss in report.losses}
    assert "NaN" in losses["/optional"]
    assert {"/mixed/deep", "/deep"} <= losses.keys()
    with refbrowser.open(target) as stream:
        assert {*stream.arrays} == {
            "/rows", "/texts", "/bytes", "/optional", "/points", "/mixed/n", "/mixed/s"
        }  # fmt: skip
        assert [row.tolist() for row in stream["/rows"][...]] == [[1.5, 2.5], [], [3.5]]
        assert stream["/texts"][...].tolist() == ["a", "ö"]
        assert stream["/bytes"][...].tolist() == [b"\xff", b""]
        assert np.isnan(stream["/optional"][0])
        points = stream["/points"][...]
        assert points["x"].tolist() == [1.5, 2.5]
        assert points["y"].tolist() == [[1, 2], [3, 4]]
        assert stream["/mixed/s"][...].tolist() == ["a", "b"]


def test_what_is_served(path: Path) -> None:
    with refbrowser.open(path) as dataset:
        described = Offered(dataset).described()
        assert {each.path for each in described.variables} >= {"/rows", "/points", "/mixed/s"}
        assert {error.place.path for error in described.left_out} == {"/mixed/deep", "/deep"}


def test_what_is_named_must_fit(path: Path, tmp_path: Path) -> None:
    with refbrowser.open(path) as dataset:
        with pytest.raises(RefbrowserError, match=r"var \* var") as caught:
            refbrowser.export(dataset, tmp_path / "x.ncs", format="ncstream", arrays=["/deep"])
        assert caught.value.kind is ErrorKind.META
        refbrowser.export(dataset, tmp_path / "x.ncs", format="ncstream", arrays={"/rows": "1:"})
    with refbrowser.open(tmp_path / "x.ncs") as stream:
        assert [row.tolist() for row in stream["/rows"][...]] == [[], [3.5]]
