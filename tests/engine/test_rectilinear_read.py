"""Unequal chunks: read, planned, explained, audited, drawn and given to xarray."""

import json
import shutil

import numpy as np
import pytest
import xarray
import zarr
from rectilinear_stores import (
    BYTES,
    GZIP,
    needs_zarr_with_edges,
    rectilinear_json,
    rectilinear_keys,
    write_rectilinear,
)

import refbrowser
from refbrowser.engine.findings.chunk_table import stored_sizes
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.selection import Selection

EDGES = [[31, 28, 31], [3, 4], 5]
VALUES = np.random.default_rng(0).integers(-1000, 1000, (90, 7, 5), "i4")
INDICES = [
    ...,
    5,
    (slice(30, 60), 3),
    (slice(None, None, 7), slice(1, 7, 2)),
    (slice(80, 2, -3), slice(None), 4),
    (slice(31, 59), slice(0, 3)),
    (slice(5, 5),),
]


@pytest.fixture(params=[False, True], ids=["raw", "gzip"])
def array(tmp_path, request):
    write_rectilinear(tmp_path / "s", VALUES, EDGES, compressed=request.param)
    return refbrowser.open(tmp_path / "s")["/"]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_elements_are_those_that_were_stored(array, index):
    assert np.array_equal(array[index], VALUES[index])


def test_chosen_elements_and_points(array):
    rows, columns = [0, 30, 31, 58, 59, 89], [6, 0]
    assert np.array_equal(array.oindex[rows, :, [4, 1]], VALUES[rows][:, :, [4, 1]])
    assert np.array_equal(array[rows, [0, 2, 3, 6, 3, 0]], VALUES[rows, [0, 2, 3, 6, 3, 0]])
    assert np.array_equal(array.oindex[:, columns], VALUES[:, columns])


def test_chunks_are_told_as_dask_tells_them(array):
    assert array.chunks == ((31, 28, 31), (3, 4), 5)


def test_chunks_that_are_not_stored_hold_the_fill_value(tmp_path):
    write_rectilinear(tmp_path / "s", VALUES, EDGES, compressed=True, missing=[(1, 0, 0)], fill_value=7)
    expected = VALUES.copy()
    expected[31:59, :3] = 7
    assert np.array_equal(refbrowser.open(tmp_path / "s")["/"][...], expected)


def test_none_stored_at_all(tmp_path):
    missing = [(n, m, 0) for n in range(3) for m in range(2)]
    write_rectilinear(tmp_path / "s", VALUES, EDGES, missing=missing, fill_value=7)
    assert (refbrowser.open(tmp_path / "s")["/"][...] == 7).all()


def test_edges_reach_over_the_array(tmp_path):
    write_rectilinear(tmp_path / "s", VALUES, [[31, 28, 40, 9], [3, [9, 5]], 8])
    array = refbrowser.open(tmp_path / "s")["/"]
    assert array.node.grid.grid_shape == (3, 2, 1)
    assert np.array_equal(array[...], VALUES)
    assert np.array_equal(array[60:, 5], VALUES[60:, 5])


def test_a_plan_reads_what_is_selected(tmp_path):
    write_rectilinear(tmp_path / "s", VALUES, EDGES)
    array = refbrowser.open(tmp_path / "s")["/"]
    plan = array.plan(Selection.from_index(np.s_[30:32, 2:4], array.shape))
    found = {request.url.rpartition("/s/")[2]: (request.start, request.stop) for request in plan.requests}
    # A chunk of the first column is 3 rows of 5 numbers of 4 bytes wide, one of the second 4.
    last, first = 30 * 3 * 20 + 2 * 20, 30 * 4 * 20
    assert found == {
        "c/0/0/0": (last, last + 20),
        "c/0/1/0": (first, first + 20),
        "c/1/0/0": (40, 60),
        "c/1/1/0": (0, 20),
    }
    assert (plan.chunks, plan.useful_bytes, plan.wasted_bytes) == (4, 80, 0)


def test_a_chunk_of_another_size_is_a_fault_of_its_own(tmp_path):
    write_rectilinear(tmp_path / "s", VALUES, EDGES)
    # As long as the chunks beside it.
    chunk = tmp_path / "s" / "c/1/0/0"
    chunk.write_bytes(bytes(31 * 3 * 5 * 4))
    array = refbrowser.open(tmp_path / "s")["/"]
    assert np.array_equal(array[:31], VALUES[:31])
    with pytest.raises(RefbrowserError) as caught:
        array[31:59]
    assert caught.value.kind is ErrorKind.DECODE


def test_an_element_is_explained_in_its_chunk(array):
    explained = refbrowser.explain(array.dataset, "/", (31 + 5, 4, 2))
    facts = {step.name: step.facts for step in explained.steps}
    assert facts["key"]["chunk"] == [1, 1, 0]
    assert facts["key"]["inside"] == [5, 1, 2]
    assert str(VALUES[36, 4, 2]) in str(explained)


def test_an_audit_reads_all_chunks(array):
    assert refbrowser.audit(array.dataset, level="full").findings == []


def test_an_audit_tells_which_chunk_is_damaged(tmp_path):
    write_rectilinear(tmp_path / "s", VALUES, EDGES, compressed=True)
    (tmp_path / "s" / "c/2/1/0").write_bytes(b"not gzip")
    (finding,) = refbrowser.audit(refbrowser.open(tmp_path / "s"), level="full").findings
    assert "c/2/1/0" in str(finding)


def test_xarray_has_the_chunks_of_dask(tmp_path):
    write_rectilinear(tmp_path / "s" / "a", VALUES, EDGES, dimension_names=["t", "y", "x"])
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    (tmp_path / "s" / "zarr.json").write_text(json.dumps(group))
    opened = xarray.open_dataset(tmp_path / "s", engine="refbrowser", chunks={})
    assert opened["a"].chunks == ((31, 28, 31), (3, 4), (5,))
    assert np.array_equal(opened["a"].values, VALUES)
    assert opened["a"].encoding["preferred_chunks"] == {"t": (31, 28, 31), "y": (3, 4), "x": 5}


def test_xarray_opens_more_chunks_than_can_be_written_down(tmp_path):
    document = rectilinear_json(np.zeros(1), [[[1, 10**12], 2]], shape=[10**12 + 1], dimension_names=["x"])
    (tmp_path / "s" / "a").mkdir(parents=True)
    (tmp_path / "s" / "a" / "zarr.json").write_text(json.dumps(document))
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    (tmp_path / "s" / "zarr.json").write_text(json.dumps(group))
    opened = xarray.open_dataset(tmp_path / "s", engine="refbrowser")
    assert "preferred_chunks" not in opened["a"].encoding
    assert opened["a"][10**12 - 3 :].values.tolist() == [0, 0, 0, 0]


def test_dask_has_a_block_for_each_chunk(array):
    made = array.to_dask()
    assert made.chunks == ((31, 28, 31), (3, 4), (5,))
    assert np.array_equal(made[20:40].compute(), VALUES[20:40])


def test_the_description_tells_the_edges(array):
    found = refbrowser.info(array.dataset)
    assert "chunks [31, 28, 31]×[3, 4]×5 C, 6 stored, 0 missing" in str(found)
    assert found.to_json()["arrays"]["/"]["chunks"] == EDGES


def test_what_is_read_costs_what_the_touched_chunks_hold(array):
    (now, *_) = refbrowser.cost(array.dataset, "/").chunkings
    assert (now.title, now.shape) == ("Now, at most", (31, 4, 5))


def test_stored_sizes_are_known_at_most(array):
    exact, most, least = stored_sizes(array.node)
    assert exact is None
    assert most >= 31 * 4 * 5 * 4
    assert least == 1


def shard(values, inner):
    """Return a shard of raw inner chunks, its index at the end, without a checksum."""
    parts, offsets, at = [], [], 0
    for y in range(0, values.shape[0], inner[0]):
        for x in range(0, values.shape[1], inner[1]):
            data = values[y : y + inner[0], x : x + inner[1]].tobytes()
            offsets += [at, len(data)]
            parts.append(data)
            at += len(data)
    return b"".join(parts) + np.array(offsets, "<u8").tobytes()


def shards_of(folder, edges, inner, values):
    settings = {"chunk_shape": inner, "codecs": [BYTES], "index_codecs": [BYTES]}
    codec = {"name": "sharding_indexed", "configuration": settings}
    keys = rectilinear_keys(values, edges, codecs=[codec])
    starts = [np.cumsum([0, *along]) for along in edges]
    for key in list(keys):
        if key.startswith("c/"):
            y, x = map(int, key.split("/")[1:])
            part = values[starts[0][y] : starts[0][y + 1], starts[1][x] : starts[1][x + 1]]
            keys[key] = shard(part, inner)
    for key, data in keys.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(data)
    return refbrowser.open(folder)["/"]


def test_shards_of_unequal_sides(tmp_path):
    values = VALUES[:, :6, 0].copy()
    array = shards_of(tmp_path / "s", [[30, 28, 32], [2, 4]], [2, 2], values)
    for index in (..., np.s_[29:31, 3], np.s_[::9, ::5]):
        assert np.array_equal(array[index], values[index])
    assert array.chunks == ((30, 28, 32), (2, 4))


def test_shards_that_hold_no_whole_number_of_chunks_are_told_where_none_is_stored(tmp_path):
    values = VALUES[:59, :6, 0].copy()
    shards_of(tmp_path / "s", [[32, 27], [2, 4]], [2, 2], values)
    shutil.rmtree(tmp_path / "s" / "c")
    array = refbrowser.open(tmp_path / "s")["/"]
    assert array.node.unreadable.kind is ErrorKind.META
    with pytest.raises(RefbrowserError, match=r"tiles the shard \(27, 4\)"):
        array[:32]
    assert any("tiles the shard (27, 4)" in each.message for each in refbrowser.check(tmp_path / "s"))


@needs_zarr_with_edges
@pytest.mark.parametrize("compressed", [False, True])
def test_zarr_python_reads_and_writes_the_same(tmp_path, compressed):
    with zarr.config.set({"array.rectilinear_chunks": True}):
        write_rectilinear(tmp_path / "ours", VALUES, EDGES, compressed=compressed)
        assert np.array_equal(zarr.open_array(tmp_path / "ours", mode="r")[...], VALUES)
        compressors = "auto" if compressed else None
        theirs = zarr.create_array(
            tmp_path / "theirs", shape=VALUES.shape, dtype="i4", chunks=EDGES, compressors=compressors
        )
        theirs[...] = VALUES
    array = refbrowser.open(tmp_path / "theirs")["/"]
    assert array.chunks == ((31, 28, 31), (3, 4), 5)
    assert np.array_equal(array[...], VALUES)


def test_gzip_is_what_the_store_says(array):
    names = [codec.name for codec in array.node.codecs]
    assert names == (["bytes"] if len(names) == 1 else ["bytes", GZIP["name"]])
