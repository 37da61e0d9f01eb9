import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.chunk_keys import ChunkKeyEncoding

ENCODINGS = st.builds(
    ChunkKeyEncoding,
    st.sampled_from(["v2", "draft", "default"]),
    st.sampled_from([".", "/", "-", "_"]),
    st.sampled_from([None, "", "c"]),
)


@given(ENCODINGS, st.lists(st.integers(0, 10**12), max_size=4).map(tuple))
def test_decode_is_the_inverse(encoding, coords):
    assert encoding.decode(encoding.encode(coords), len(coords)) == coords


@given(ENCODINGS, st.text("c0123./-_+ ٣", max_size=6))
def test_only_canonical_text_is_decoded(encoding, text):
    coords = encoding.decode(text)
    if coords is not None:
        assert encoding.encode(coords) == text


@given(
    ENCODINGS,
    st.lists(st.integers(1, 7), max_size=4),
    st.sampled_from([0, 10**12]),
    st.integers(0, 400),
    st.booleans(),
)
def test_many_are_the_same_as_one_by_one(encoding, shape, least, count, are_mixed):
    coords = np.array([*np.ndindex(*shape)], np.int64)[:count] + least
    coords = np.random.default_rng(count).permutation(coords) if are_mixed else coords
    expected = [f"a/{encoding.encode(tuple(row))}.z" for row in coords.tolist()]
    assert encoding.encode_many(coords, "a/", ".z") == expected


@pytest.mark.parametrize(
    ("encoding", "coords", "key"),
    [
        (ChunkKeyEncoding(), (1, 20), "1.20"),
        (ChunkKeyEncoding("v2", "/"), (1, 20), "1/20"),
        (ChunkKeyEncoding(), (), "0"),
        (ChunkKeyEncoding("default", "/"), (1, 20), "c/1/20"),
        (ChunkKeyEncoding("default", "."), (1, 20), "c.1.20"),
        (ChunkKeyEncoding("default", "/"), (), "c"),
        (ChunkKeyEncoding("v2", "-"), (1, 20), "1-20"),
        (ChunkKeyEncoding("v2", "_"), (1, 20), "1_20"),
        (ChunkKeyEncoding("v2", ".", ""), (), ""),
        (ChunkKeyEncoding("draft", "/"), (1, 20), "c1/20"),
        (ChunkKeyEncoding("draft", "."), (1, 20), "c1.20"),
        (ChunkKeyEncoding("draft", "/"), (3,), "c3"),
        (ChunkKeyEncoding("draft", "/"), (), "c0"),
        (ChunkKeyEncoding("draft", "/", "c"), (), "c"),
    ],
)
def test_spellings(encoding, coords, key):
    assert encoding.encode(coords) == key
    assert encoding.decode(key, len(coords)) == coords


def test_the_number_of_dimensions_must_fit():
    assert ChunkKeyEncoding().decode("0.0", 3) is None
    assert ChunkKeyEncoding().decode("0") == (0,)
    assert ChunkKeyEncoding().decode("01") is None
    assert ChunkKeyEncoding("default", "/").decode("0/0") is None
