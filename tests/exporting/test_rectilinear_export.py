"""Exports of unequal chunks: kept where the target has them, else chunks of one shape, told."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress

import h5py
import numpy as np
import pytest
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rectilinear_stores import needs_zarr_with_edges, write_rectilinear

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.option_fields import Sides
from refbrowser.model.chunk_axes import axis_of
from refbrowser.model.grid import RegularChunkGrid, grid_of

pytestmark = pytest.mark.filterwarnings("ignore")

EDGES = [[31, 28, 31], [3, 4]]
VALUES = np.random.default_rng(0).integers(-1000, 1000, (90, 7), "i4")


@pytest.fixture
def dataset(tmp_path):
    write_rectilinear(tmp_path / "s" / "a", VALUES, EDGES, compressed=True, fill_value=-5)
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    (tmp_path / "s" / "zarr.json").write_text(json.dumps(group))
    return refbrowser.open(tmp_path / "s")


def chunk_grid(target, path="a"):
    return json.loads((target / path / "zarr.json").read_text())["chunk_grid"]


def chunk_shapes(target):
    grid = chunk_grid(target)
    assert (grid["name"], grid["configuration"]["kind"]) == ("rectilinear", "inline")
    return grid["configuration"]["chunk_shapes"]


def decoded(target, key, shape):
    """Return a chunk that was written, by the standard library alone."""
    data = gzip.decompress((target / "a" / key).read_bytes())
    return np.frombuffer(data, "<i4").reshape(shape)


def told(report):
    return " ".join(str(loss) for loss in report.losses)


def test_zarr_v3_keeps_edges_and_bytes(dataset, tmp_path):
    report = refbrowser.export(dataset, tmp_path / "t", format="zarr-v3")
    assert chunk_shapes(tmp_path / "t") == EDGES
    assert report.copied == report.chunks == 6
    for key in ("c/0/0", "c/1/1", "c/2/0"):
        assert (tmp_path / "t/a" / key).read_bytes() == (tmp_path / "s/a" / key).read_bytes()
    assert "ZARR_ARRAY__RECTILINEAR_CHUNKS" in told(report)
    assert np.array_equal(refbrowser.open(tmp_path / "t")["a"][...], VALUES)


@pytest.mark.parametrize(
    ("selection", "edges", "copied"),
    [
        (np.s_[31:], [[28, 31], [3, 4]], True),
        (np.s_[:59, 3:], None, True),
        (np.s_[20:80], [[11, 28, 31], [3, 4]], False),
        (np.s_[:, 4], [[31, 28, 31]], False),
        (np.s_[40:50], None, False),
    ],
    ids=str,
)
def test_a_part_is_divided_where_the_array_is(dataset, tmp_path, selection, edges, copied):
    report = refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", arrays={"/a": selection})
    assert (report.copied == report.chunks) == copied
    if edges is not None:
        assert chunk_shapes(tmp_path / "t") == edges
    assert np.array_equal(refbrowser.open(tmp_path / "t")["a"][...], VALUES[selection])


def test_every_other_element_has_chunks_of_one_shape(dataset, tmp_path):
    report = refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", arrays={"/a": np.s_[::2]})
    assert chunk_grid(tmp_path / "t")["name"] == "regular"
    assert "become chunks of one shape" in told(report)
    assert np.array_equal(refbrowser.open(tmp_path / "t")["a"][...], VALUES[::2])


def test_edges_that_are_asked_for_are_written(dataset, tmp_path):
    options = {"chunks": "[30,[25,2],10],*", "codec": "gzip:1"}
    report = refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", **options)
    assert chunk_shapes(tmp_path / "t") == [[30, [25, 2], 10], 7]
    assert np.array_equal(decoded(tmp_path / "t", "c/0/0", (30, 7)), VALUES[:30])
    assert np.array_equal(decoded(tmp_path / "t", "c/2/0", (25, 7)), VALUES[55:80])
    assert np.array_equal(decoded(tmp_path / "t", "c/3/0", (10, 7)), VALUES[80:])
    assert "zarr-python reads them from 3.2 on" in told(report)


def test_chunks_that_reach_over_the_edge_hold_the_fill_value(dataset, tmp_path):
    options = {"chunks": "[60,50],7", "codec": "gzip:1"}
    refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", **options)
    last = decoded(tmp_path / "t", "c/1/0", (50, 7))
    assert np.array_equal(last[:30], VALUES[60:])
    assert (last[30:] == -5).all()


@pytest.mark.parametrize("format", ["zarr-v2", "nczarr", "zarr-v3-draft", "netcdf4"])
def test_formats_without_edges_get_chunks_of_one_shape(dataset, tmp_path, format):
    target = tmp_path / ("t.nc" if format == "netcdf4" else "t")
    report = refbrowser.export(dataset, target, format=format)
    assert "unequal chunks, [31, 28, 31]×[3, 4], become chunks of one shape, 31×4" in told(report)
    again = refbrowser.open(target)["a"]
    assert again.chunks == (31, 4)
    assert np.array_equal(again[...], VALUES)


def test_others_read_what_has_one_shape(dataset, tmp_path):
    refbrowser.export(dataset, tmp_path / "t", format="zarr-v2")
    assert np.array_equal(zarr.open_group(tmp_path / "t", mode="r")["a"][...], VALUES)
    refbrowser.export(dataset, tmp_path / "t.nc", format="netcdf4")
    with h5py.File(tmp_path / "t.nc") as file:
        assert np.array_equal(file["a"][...], VALUES)


def test_a_stream_has_what_the_array_has(dataset, tmp_path):
    refbrowser.export(dataset, tmp_path / "t.ncs", format="ncstream")
    assert np.array_equal(refbrowser.open(tmp_path / "t.ncs")["a"][...], VALUES)


def test_formats_without_edges_refuse_to_write_them(dataset, tmp_path):
    with pytest.raises(RefbrowserError, match="unequal sides") as caught:
        refbrowser.export(dataset, tmp_path / "t", format="zarr-v2", chunks="[31,28,31],*")
    assert caught.value.kind is ErrorKind.USAGE
    assert not (tmp_path / "t").exists()


def test_edges_that_do_not_cover_the_array(dataset, tmp_path):
    with pytest.raises(RefbrowserError, match="add up to 59") as caught:
        refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", chunks="[31,28],*")
    assert caught.value.kind is ErrorKind.USAGE


def test_references_keep_the_grid_of_their_store(dataset, tmp_path):
    refbrowser.export(dataset, tmp_path / "t.json", format="refs-v1")
    again = refbrowser.open(tmp_path / "t.json", allow=[str(tmp_path)])["a"]
    assert again.chunks == ((31, 28, 31), (3, 4))
    assert np.array_equal(again[...], VALUES)


def test_an_export_is_gone_on_with(dataset, tmp_path):
    options = {"chunks": "[31,28,31],*"}
    refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", **options)
    (tmp_path / "t" / "a" / "c/1/0").unlink()
    (tmp_path / "t").rename(tmp_path / ".t.partial")
    report = refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", resume=True, **options)
    assert np.array_equal(refbrowser.open(tmp_path / "t")["a"][...], VALUES)
    assert report.verified


def test_what_is_missing_stays_so_or_is_filled(tmp_path):
    write_rectilinear(tmp_path / "s", VALUES, EDGES, missing=[(1, 1)], fill_value=3)
    expected = VALUES.copy()
    expected[31:59, 3:] = 3
    dataset = refbrowser.open(tmp_path / "s")
    report = refbrowser.export(dataset, tmp_path / "t", format="zarr-v3")
    assert report.missing == 1
    assert not (tmp_path / "t/c/1/1").exists()
    refbrowser.export(dataset, tmp_path / "u", format="zarr-v3", chunks="[31,28,31],[3,4]")
    for target in ("t", "u"):
        assert np.array_equal(refbrowser.open(tmp_path / target)["/"][...], expected)


def test_a_damaged_chunk_is_left_out_alone(dataset, tmp_path):
    (tmp_path / "s/a/c/1/0").write_bytes(b"no gzip")
    with pytest.raises(RefbrowserError):
        refbrowser.export(dataset, tmp_path / "t", format="zarr-v3")
    report = refbrowser.export(dataset, tmp_path / "u", format="zarr-v3", skip_bad=True)
    assert len(report.skipped) == 1
    assert np.array_equal(refbrowser.open(tmp_path / "u")["a"][59:], VALUES[59:])


@st.composite
def edges(draw, size):
    found = []
    while sum(found) < size:
        found.append(draw(st.integers(1, 6)))
    return found


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_edges_become_any_others(tmp_path_factory, data):
    shape = (data.draw(st.integers(1, 12)), data.draw(st.integers(1, 9)))
    values = np.arange(shape[0] * shape[1], dtype="i4").reshape(shape)
    folder = tmp_path_factory.mktemp("edges")
    compressed = data.draw(st.booleans())
    write_rectilinear(folder / "s", values, [data.draw(edges(n)) for n in shape], compressed=compressed)
    dataset = refbrowser.open(folder / "s")
    wanted = data.draw(st.none() | st.tuples(*map(edges, shape)))
    start = data.draw(st.integers(0, shape[0] - 1))
    taken = slice(start if wanted is None else 0, None, data.draw(st.integers(1, 2)) if wanted is None else 1)
    refbrowser.export(dataset, folder / "t", format="zarr-v3", arrays={"/": (taken,)}, chunks=wanted)
    assert np.array_equal(refbrowser.open(folder / "t")["/"][...], values[taken])


def test_sides_as_users_write_them():
    months = Sides.from_text("[31, 28,31], *")
    assert months.grid((90, 7), 4) == grid_of([axis_of(90, [31, 28, 31]), axis_of(7, [7])])
    assert Sides.from_text("1,:,*").grid((4, 5, 6), 1) == RegularChunkGrid((4, 5, 6), (1, 5, 6))
    runs = Sides.from_text("[[10,3],4],100")
    assert runs.grid((34, 7), 1) == grid_of([axis_of(34, [10, 4], np.array([3, 1])), axis_of(7, [7])])


NONE = """[]|[31,0]|[31,-1],2|[[3]]|[[3,2,1]]|[[[3,1],2]]|[1|1]|[1.5]|0|1:2|**|[a]|[true]||1,,2|{"a":1}|[1e3]|[9999999999999999999]"""  # noqa: E501


@pytest.mark.parametrize("text", NONE.split("|"))
def test_sides_that_are_none(text):
    with pytest.raises(RefbrowserError, match="is not a chunk shape"):
        Sides.from_text(text)


@given(st.text("[]0123456789,:*-.eE anul", max_size=20) | st.text(max_size=8))
def test_any_text_is_sides_or_an_error(text):
    with suppress(RefbrowserError):
        sides = Sides.from_text(text)
        assert set(sides.grid((7,) * max(len(sides.shape), 1), 4).shape) == {7}


def test_shards_of_unequal_sides(dataset, tmp_path):
    options = {"chunks": "10,2", "shards": "[30,40,20],[4,4]", "codec": "gzip:1"}
    report = refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", **options)
    assert chunk_shapes(tmp_path / "t") == [[30, 40, 20], 4]
    assert report.chunks == 6
    assert told(report).count("zarr-python reads them from 3.2 on") == 1
    array = refbrowser.open(tmp_path / "t")["a"]
    assert [codec.name for codec in array.node.codecs] == ["sharding_indexed"]
    assert array.node.codecs[0].configuration["chunk_shape"] == [10, 2]
    assert np.array_equal(array[...], VALUES)
    assert np.array_equal(array[29:31, 3], VALUES[29:31, 3])
    # Copied as they are, and their chunks taken out of them.
    again = refbrowser.export(tmp_path / "t", tmp_path / "u", format="zarr-v3")
    assert again.copied == again.chunks == 6
    refbrowser.export(tmp_path / "t", tmp_path / "v", format="zarr-v2")
    assert refbrowser.open(tmp_path / "v")["a"].chunks == (10, 2)
    for target in ("u", "v"):
        assert np.array_equal(refbrowser.open(tmp_path / target)["a"][...], VALUES)


def test_shards_hold_a_whole_number_of_chunks(dataset, tmp_path):
    with pytest.raises(RefbrowserError, match="not a multiple of chunks") as caught:
        refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", chunks="10,7", shards="[30,65],7")
    assert caught.value.kind is ErrorKind.USAGE


@needs_zarr_with_edges
def test_zarr_python_reads_what_is_written(dataset, tmp_path):
    refbrowser.export(dataset, tmp_path / "t", format="zarr-v3")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        assert np.array_equal(zarr.open_group(tmp_path / "t", mode="r")["a"][...], VALUES)


@needs_zarr_with_edges
def test_zarr_python_reads_shards_of_unequal_sides(dataset, tmp_path):
    refbrowser.export(dataset, tmp_path / "t", format="zarr-v3", chunks="10,2", shards="[30,40,20],*")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        assert np.array_equal(zarr.open_group(tmp_path / "t", mode="r")["a"][...], VALUES)
