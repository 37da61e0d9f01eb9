"""Arrays of unequal chunks compared with each other, and with those of one shape."""

import numpy as np
import pytest
import zarr
from rectilinear_stores import write_rectilinear

import refbrowser

EDGES = [[31, 28, 31], [3, 4]]
VALUES = np.random.default_rng(0).integers(-1000, 1000, (90, 7), "i4")
CHANGED = VALUES.copy()
CHANGED[59, 2] += 1
CHANGED[60:62, 3:5] += 100


@pytest.fixture
def months(tmp_path):
    return write_rectilinear(tmp_path / "months", VALUES, EDGES)


def compared(here, there, **options):
    (found,) = refbrowser.diff(here, there, values="all", **options).arrays
    return found


def test_values_that_differ_are_told_by_chunk(months, tmp_path):
    other = write_rectilinear(tmp_path / "other", CHANGED, EDGES)
    values = compared(months, other).values
    assert values.different == 5
    assert {each.coords: (each.different, each.index) for each in values.chunks} == {
        (2, 0): (1, (59, 2)),
        (2, 1): (4, (60, 3)),
    }


def test_chunks_of_one_shape_hold_the_same(months, tmp_path):
    regular = zarr.create_array(tmp_path / "regular", shape=(90, 7), chunks=(40, 7), dtype="i4")
    regular[...] = CHANGED
    found = compared(months, tmp_path / "regular")
    assert found.values.different == 5
    assert found.chunks.why == "the chunk shapes differ"
    assert {each.coords for each in found.values.chunks} == {(2, 0), (2, 1)}
    back = compared(tmp_path / "regular", months)
    assert {each.coords for each in back.values.chunks} == {(1, 0)}


def test_edges_that_differ_are_told(months, tmp_path):
    other = write_rectilinear(tmp_path / "other", VALUES, [[31, 29, 30], [3, 4]])
    found = refbrowser.diff(months, other)
    texts = [(each.name, each.here, each.there) for each in found.differences if "chunk" in each.name]
    assert texts == [("chunk shape", "[31, 28, 31]×[3, 4]", "[31, 29, 30]×[3, 4]")]


def test_a_month_more_is_compared_as_far_as_both_reach(months, tmp_path):
    longer = np.concatenate([VALUES, VALUES[:30]])
    other = write_rectilinear(tmp_path / "other", longer, [[31, 28, 31, 30], [3, 4]])
    found = compared(months, other)
    assert found.chunks.why == ""
    assert found.values.different == 0


def test_missing_chunks_are_told_from_values(tmp_path):
    here = write_rectilinear(tmp_path / "here", np.zeros((90, 7), "i4"), EDGES)
    there = write_rectilinear(tmp_path / "there", np.zeros((90, 7), "i4"), EDGES, missing=[(1, 1)])
    values = compared(here, there).values
    assert (values.different, values.absent_there) == (0, 28 * 4)
