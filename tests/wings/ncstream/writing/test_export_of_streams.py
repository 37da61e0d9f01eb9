"""Streams as Zarr and NCZarr: values of messages, enumerations, texts; what these cannot hold is told."""

import numpy as np
import pytest
import stream_encoder as enc
from stream_encoder import (
    data,
    data_body,
    dimension,
    group,
    header,
    numbers,
    objects,
    regular,
    stream,
    variable,
)
from zarr_versions import needs_types_of_zarr

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.options import Sides, StoreOptions

FORMATS = ("zarr-v2", "zarr-v3", "nczarr")
N3 = dimension("n", 3)
SKY = {0: "clear", 7: "heavy rain"}


def opened(folder, *variables, messages=(), structures=(), enums=()):
    root = group(dimensions=[N3], variables=variables, structures=structures, enums=enums)
    path = folder / "a.ncs"
    path.write_bytes(stream(header(root), *messages))
    return refbrowser.open(str(path))


def exported(dataset, folder, format, **more):
    target = folder / f"{format}.out"
    report = refbrowser.export(dataset, str(target), format=format, **more)
    return refbrowser.open(str(target)), [str(loss) for loss in report.losses]


def message(name, type, ranges, values, order=">"):
    body = data_body(name, type, ranges, bigend=order == ">")
    return data(body, regular(numbers(enc.LETTERS[type], values, order)))


@pytest.mark.parametrize("format", FORMATS)
def test_overlaps_gaps_and_mixed_orders_are_values(format, tmp_path):
    shape = [dimension("y", 4), dimension("x", 5)]
    parts = [
        message("v", enc.DOUBLE, [(0, 3, 1), (0, 5, 1)], range(15)),
        message("v", enc.DOUBLE, [(1, 2, 1), (1, 2, 2)], [100, 101, 102, 103], "<"),
    ]
    root = group(dimensions=shape, variables=[variable("v", enc.DOUBLE, shape)])
    (tmp_path / "a.ncs").write_bytes(stream(header(root), *parts))
    wanted = np.full((4, 5), 9.969209968386869e36)
    wanted[:3] = np.arange(15).reshape(3, 5)
    wanted[1:3, 1:5:2] = [[100, 101], [102, 103]]
    with refbrowser.open(str(tmp_path / "a.ncs")) as dataset:
        again, _ = exported(dataset, tmp_path, format)
        with again:
            np.testing.assert_array_equal(again["/v"][...], wanted)
        part = tmp_path / "part"
        choice = {"/v": np.s_[1:, ::2]}
        refbrowser.export(dataset, str(part), format=format, arrays=choice)
        with refbrowser.open(str(part)) as again:
            np.testing.assert_array_equal(again["/v"][...], wanted[1:, ::2])


@pytest.mark.parametrize("format", FORMATS)
def test_chunks_and_codecs_can_be_chosen(format, tmp_path):
    shape = [dimension("y", 40), dimension("x", 50)]
    values = np.arange(2000, dtype=">i4").reshape(40, 50)
    rows = [message("v", enc.INT, [(at, 7, 1), (0, 50, 1)], values[at : at + 7].ravel()) for at in (0, 7, 14)]
    rows.append(message("v", enc.INT, [(21, 19, 1), (0, 50, 1)], values[21:].ravel()))
    root = group(dimensions=shape, variables=[variable("v", enc.INT, shape)])
    (tmp_path / "a.ncs").write_bytes(stream(header(root), *rows))
    options = StoreOptions(chunks=Sides.from_text("40,3"), codec="zlib:1")
    with refbrowser.open(str(tmp_path / "a.ncs")) as dataset:
        again, _ = exported(dataset, tmp_path, format, options=options)
        with again:
            assert again["/v"].chunks == (40, 3)
            np.testing.assert_array_equal(again["/v"][...], values)


@pytest.mark.parametrize("format", FORMATS)
def test_names_of_values_become_flags(format, tmp_path):
    sky = variable("sky", enc.ENUM2, [N3], enum="weather")
    sent = message("sky", enc.ENUM2, [(0, 3, 1)], [0, 7, 7])
    weather = enc.enumeration("weather", SKY)
    with opened(tmp_path, sky, messages=[sent], enums=[weather]) as dataset:
        again, losses = exported(dataset, tmp_path, format)
    with again:
        array = again["/sky"]
        assert np.asarray(array[...]).tolist() == [0, 7, 7]
        assert dict(array.attrs)["flag_values"] == [0, 7]
        assert array.attrs["flag_meanings"] == "clear heavy_rain"
    told = "/sky: values of enumeration 'weather' are integers, flag_meanings has their names"
    assert told in losses


def test_flags_that_are_there_stay(tmp_path):
    flags = [enc.text_attribute("flag_meanings", "mine")]
    sky = variable("sky", enc.ENUM1, [], flags, enum="weather", immediate=b"\7")
    with opened(tmp_path, sky, enums=[enc.enumeration("weather", SKY)]) as dataset:
        again, losses = exported(dataset, tmp_path, "zarr-v2")
    with again:
        assert dict(again["/sky"].attrs)["flag_meanings"] == "mine"
    assert any("left out: flag_values exists already" in each for each in losses)


@pytest.mark.parametrize("format", FORMATS)
def test_texts_are_texts(format, tmp_path):
    words = ["", "naïve", "日本"]
    sent = data(data_body("w", enc.STRING, [(0, 3, 1)]), objects(words))
    with opened(tmp_path, variable("w", enc.STRING, [N3]), messages=[sent]) as dataset:
        again, _ = exported(dataset, tmp_path, format)
    with again:
        found = np.asarray(again["/w"][...]).tolist()
    assert [each.decode() if isinstance(each, bytes) else each for each in found] == words


@pytest.mark.parametrize("format", ["zarr-v2", "zarr-v3"])
def test_opaque_values_are_bytes(format, tmp_path):
    blobs = [b"\0\1\0", b"", b"\xff" * 300]
    sent = data(data_body("o", enc.OPAQUE, [(0, 3, 1)]), objects(blobs))
    with opened(tmp_path, variable("o", enc.OPAQUE, [N3]), messages=[sent]) as dataset:
        again, _ = exported(dataset, tmp_path, format)
        with pytest.raises(RefbrowserError, match="NCZarr has no type"):
            exported(dataset, tmp_path, "nczarr")
    with again:
        assert np.asarray(again["/o"][...]).tolist() == blobs


@pytest.mark.parametrize("format", FORMATS)
def test_rows_of_their_own_length_are_refused_or_left_out(format, tmp_path):
    ragged = variable("r", enc.INT, [N3, enc.VLEN])
    sent = data(data_body("r", enc.INT, [(0, 3, 1)]), objects([b"", numbers("i", [1]), b""]))
    plain = variable("p", enc.BYTE, [], immediate=b"\5")
    with opened(tmp_path, ragged, plain, messages=[sent]) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            exported(dataset, tmp_path, format, arrays=["r"])
        assert caught.value.kind is ErrorKind.META
        assert "--skip-bad leaves the array out" in caught.value.advice
        again, losses = exported(dataset, tmp_path, format)
        assert any("left out" in each for each in losses)
    with again:
        assert list(again.arrays) == ["/p"]
        assert int(again["/p"][...]) == 5


def structures(folder):
    weather = enc.enumeration("weather", SKY)
    members = [
        variable("a", enc.INT),
        variable("sky", enc.ENUM1, enum="weather"),
        variable("w", enc.STRING),
    ]
    made = [
        enc.structure("s", shape=[N3], variables=members[:2]),
        enc.structure("log", enc.SEQUENCE, variables=members),
    ]
    rows = enc.structure_body(b"\0\0\0\1\0\0\0\0\2\7\0\0\0\3\0", count=3)
    logged = enc.structure_body(
        b"\0\0\0\5\7\0\0\0\0" + b"\0\0\0\6\0\0\0\0\1", count=2, heap=[["one"], ["two"]]
    )
    sent = [
        data(data_body("s", enc.STRUCTURE, [(0, 3, 1)], bigend=True), regular(rows)),
        data(data_body("log", enc.SEQUENCE, bigend=True), enc.sequence([logged])),
    ]
    return opened(folder, messages=sent, structures=made, enums=[weather])


@needs_types_of_zarr
@pytest.mark.parametrize("format", ["zarr-v2", "zarr-v3"])
def test_structures_of_numbers_are_compounds(format, tmp_path):
    with structures(tmp_path) as dataset:
        again, losses = exported(dataset, tmp_path, format, arrays=["/s"])
    with again:
        assert np.asarray(again["/s"][...]).tolist() == [(1, 0), (2, 7), (3, 0)]
    assert "/s: names of the values of fields are left out: 'sky'" in losses


def test_structures_and_sequences_are_split_for_nczarr(tmp_path):
    with structures(tmp_path) as dataset:
        options = StoreOptions(split_compounds=True)
        again, losses = exported(dataset, tmp_path, "nczarr", options=options)
    with again:
        found = {path: np.asarray(array[...]).tolist() for path, array in again.arrays.items()}
        assert found == {
            "/s_a": [1, 2, 3],
            "/s_sky": [0, 7, 0],
            "/log_a": [5, 6],
            "/log_sky": [7, 0],
            "/log_w": [b"one", b"two"],
        }
        assert again["/s_sky"].attrs["flag_meanings"] == "clear heavy_rain"
    assert any("the sequence is written as an array of its 2 rows" in each for each in losses)


@needs_types_of_zarr
def test_an_estimate_reads_nothing(tmp_path):
    from refbrowser.exporting.exporter import Exporter
    from refbrowser.exporting.request import ExportRequest
    from refbrowser.io.cancel import CancelToken

    with structures(tmp_path) as dataset:
        request = ExportRequest(str(tmp_path / "t"), "zarr-v3", skip_bad=True)
        estimate = Exporter(dataset, request).estimate(CancelToken())
    assert estimate.chunks == 1
    assert any(loss.path == "/log" and "left out" in loss.what for loss in estimate.losses)


@pytest.mark.parametrize("format", FORMATS[:2])
def test_texts_that_are_no_utf8_are_refused(format, tmp_path):
    sent = data(data_body("w", enc.STRING, [(0, 3, 1)]), objects([b"\xff", b"", b"a"]))
    texts = variable("w", enc.STRING, [N3])
    refused = pytest.raises(RefbrowserError, match="not Unicode text")
    with opened(tmp_path, texts, messages=[sent]) as dataset, refused:
        exported(dataset, tmp_path, format)


@pytest.mark.parametrize("length", [2**62, 2**63 - 1])
@pytest.mark.parametrize("format", FORMATS)
def test_arrays_of_more_chunks_than_memory_are_refused(format, length, tmp_path):
    sparse = variable("x", enc.INT, [dimension("n", length, private=True)])
    with opened(tmp_path, sparse) as dataset, pytest.raises(RefbrowserError) as caught:
        exported(dataset, tmp_path, format)
    assert caught.value.kind is ErrorKind.BUDGET
