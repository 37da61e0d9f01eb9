"""Streams cut off within the data of a message: what arrived is read, the rest stays an error."""

from __future__ import annotations

import zlib
from itertools import product
from math import prod

import numpy as np
import pytest
import stream_encoder as enc
from hypothesis import given
from hypothesis import strategies as st

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading.message_reader import arrived_boxes, lost_sections
from refbrowser.wings.ncstream.reading.messages import FaultCode, MessageKind, StreamIndex
from refbrowser.wings.ncstream.reading.walk import walk_stream

SHAPE = (6, 4, 5)
VALUES = np.arange(prod(SHAPE), dtype=">f4").reshape(SHAPE)
DIMENSIONS = [enc.dimension(name, size) for name, size in zip("tyx", SHAPE, strict=True)]
WORDS = ["word " + "x" * (at % 7) for at in range(24)]
ROWS = [np.arange(at, at + at % 4).astype(">i2") for at in range(24)]
HEADER = enc.header(
    enc.group(
        dimensions=DIMENSIONS,
        variables=[
            enc.variable("v", enc.FLOAT, DIMENSIONS),
            enc.variable("s", enc.STRING, DIMENSIONS[:2]),
            enc.variable("r", enc.SHORT, [*DIMENSIONS[:2], enc.VLEN]),
        ],
    )
)


def block(values=VALUES, ranges=None, **facts) -> bytes:
    where = enc.whole(SHAPE) if ranges is None else ranges
    return enc.data(
        enc.data_body("v", enc.FLOAT, where, bigend=True, **facts),
        enc.regular(values.astype(">f4").tobytes()),
    )


def objects(name: str) -> bytes:
    if name == "s":
        return enc.data(enc.data_body("s", enc.STRING, enc.whole(SHAPE[:2]), bigend=True), enc.objects(WORDS))
    body = enc.data_body("r", enc.SHORT, enc.whole(SHAPE[:2]), bigend=True, vdata=True)
    return enc.data(body, enc.objects([row.tobytes() for row in ROWS]))


def cut(*messages: bytes, less: int) -> bytes:
    """Return a stream that ends so many bytes before the end of its last message."""
    return enc.stream(HEADER, *messages)[: -4 - less]


def index_of(stream: bytes) -> StreamIndex:
    return walk_stream(MemoryBytes(stream), url="memory")


@pytest.fixture
def opened(tmp_path):
    def open_(stream: bytes) -> refbrowser.Dataset:
        path = tmp_path / "a.ncs"
        path.write_bytes(stream)
        return refbrowser.open(str(path))

    return open_


def element(dataset, path: str, place: tuple[int, ...]):
    """Return an element, or the code of the error in its place."""
    try:
        return dataset[path][place]
    except RefbrowserError as error:
        return error.message.split(":")[0]


axis = st.builds(
    lambda start, size, step: range(start, start + size * step, step),
    st.integers(0, 3),
    st.integers(1, 4),
    st.integers(1, 3),
)


@given(st.lists(axis, max_size=4), st.data())
def test_a_section_falls_into_what_arrived_and_what_did_not(section, data):
    elements = list(product(*section))
    arrived = data.draw(st.integers(0, len(elements) - 1))
    boxes = arrived_boxes(tuple(section), arrived)
    given_ = [each for box in boxes for each in product(*box.section)]
    lost = [each for box in lost_sections(tuple(section), arrived) for each in product(*box)]
    assert given_ == elements[:arrived]
    assert lost == elements[arrived:]
    sizes = [prod(map(len, box.section)) for box in boxes]
    assert [box.first for box in boxes] == np.cumsum([0, *sizes])[: len(sizes)].tolist()


@pytest.mark.parametrize("less", [1, 3, 4, 5, 33, 200, 475, 480])
def test_the_row_and_the_fault_tell_how_much_arrived(less):
    index = index_of(cut(block(), less=less))
    table, arrived = index.table, (480 - less) // 4
    assert (table.cut, table.kind[1], table.fault[1]) == (1, MessageKind.DAMAGED, FaultCode.TRUNCATED)
    assert (table.count[1], table.payload_length[1]) == (arrived, 4 * arrived)
    (fault,) = index.faults
    assert fault.message.endswith(f"of which {arrived} of 120 elements arrived")


@pytest.mark.slow
@pytest.mark.parametrize("less", [1, 4, 90, 481])
def test_each_element_that_arrived_is_read_and_no_other(less, opened):
    dataset = opened(cut(block(), less=less))
    arrived = max(480 - less, 0) // 4
    for at, place in enumerate(np.ndindex(SHAPE)):
        found = element(dataset, "/v", place)
        assert found == (VALUES[place] if at < arrived else "truncated"), place


@pytest.mark.parametrize(("name", "wanted"), [("s", WORDS), ("r", ROWS)])
@pytest.mark.parametrize("less", [1, 30, 70])
def test_objects_that_arrived_are_read(name, wanted, less, opened):
    stream = cut(objects(name), less=less)
    arrived = int(index_of(stream).table.count[1])
    assert 0 < arrived < 24
    dataset = opened(stream)
    for at, place in enumerate(np.ndindex(SHAPE[:2])):
        found = element(dataset, f"/{name}", place)
        assert np.array_equal(found, wanted[at] if at < arrived else "truncated"), place


def test_of_very_many_objects_some_are_read_alone(opened):
    count = 20_000
    n = enc.dimension("n", count)
    header = enc.header(enc.group(dimensions=[n], variables=[enc.variable("s", enc.STRING, [n])]))
    body = enc.data_body("s", enc.STRING, enc.whole([count]), bigend=True)
    words = [f"word {at}" for at in range(count)]
    stream = enc.stream(header, enc.data(body, enc.objects(words)))[: -4 - 60_000]
    index = index_of(stream)
    arrived = int(index.table.count[1])
    assert len(index.table.checkpoints[1]) > 2
    dataset = opened(stream)
    assert dataset["/s"][9000:9003].tolist() == words[9000:9003]
    assert dataset["/s"][arrived - 1] == words[arrived - 1]
    assert element(dataset, "/s", (arrived,)) == "truncated"


def test_tiles_are_so_small_that_only_the_last_one_is_not_shown(opened):
    dataset = opened(cut(block(), less=203))
    node = dataset["/v"].node
    sides = node.grid.chunk_shape
    arrived = (480 - 203) // 4
    hidden = 0
    for coords in np.ndindex(node.grid.grid_shape):
        box = tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, sides, strict=True))
        places = [
            at
            for at, place in enumerate(np.ndindex(SHAPE))
            if all(part.start <= each < part.stop for part, each in zip(box, place, strict=True))
        ]
        if min(places) < arrived <= max(places):
            hidden += 1
    assert hidden <= 1
    assert prod(sides) <= max(prod(SHAPE) // 100, 1)


@pytest.mark.parametrize(
    "last",
    [
        enc.data(
            enc.data_body("v", enc.FLOAT, enc.whole(SHAPE), bigend=True, compress=enc.DEFLATE),
            enc.regular(zlib.compress(VALUES.tobytes(), 0)),
        ),
        enc.data(enc.data_body("v", enc.INT, enc.whole(SHAPE), bigend=True), enc.regular(VALUES.tobytes())),
        enc.data(
            enc.data_body("v", enc.FLOAT, enc.whole(SHAPE), bigend=True, compress=7),
            enc.regular(VALUES.tobytes()),
        ),
    ],
    ids=["deflated", "another type", "unknown compression"],
)
def test_data_that_cannot_be_told_apart_are_an_error_and_never_fill(last, opened):
    dataset = opened(cut(last, less=100))
    assert element(dataset, "/v", (0, 0, 0)) == "truncated"
    assert element(dataset, "/v", (5, 3, 4)) == "truncated"


def test_a_section_that_is_none_of_the_variable_may_have_held_any_element(opened):
    dataset = opened(cut(block(ranges=[(2, 6, None), (0, 4, None), (0, 5, None)]), less=100))
    assert element(dataset, "/v", (2, 0, 0)) == "truncated"
    assert element(dataset, "/v", (0, 0, 0)) == "truncated"


def test_what_other_messages_gave_shows_where_nothing_arrived(opened):
    dataset = opened(cut(block(VALUES + 1000), block(), less=203))
    flat = dataset["/v"][...].reshape(-1)
    arrived = (480 - 203) // 4
    assert np.array_equal(flat[:arrived], VALUES.reshape(-1)[:arrived])
    assert np.array_equal(flat[arrived:], VALUES.reshape(-1)[arrived:] + 1000)


@pytest.mark.parametrize("little", [False, True])
def test_regular_chunks_before_the_cut_one_are_whole(little, opened):
    dtype = "<f4" if little else ">f4"
    rows = [
        enc.data(
            enc.data_body("v", enc.FLOAT, [(at, 1, None), *enc.whole(SHAPE[1:])], bigend=not little),
            enc.regular(VALUES[at].astype(dtype).tobytes()),
        )
        for at in range(4)
    ]
    dataset = opened(cut(*rows, less=42))
    assert np.array_equal(dataset["/v"][:3], VALUES[:3])
    assert np.array_equal(dataset["/v"][3, :1, :], VALUES[3, :1, :])
    assert element(dataset, "/v", (3, 3, 0)) == "truncated"
    # What would have come behind the cut is not known to have been left out.
    assert element(dataset, "/v", (4, 0, 0)) == "truncated"
    assert element(dataset, "/s", (0, 0)) == "truncated"


@pytest.mark.long
def test_very_many_small_messages_before_the_cut_one_are_read(opened):
    dims = [enc.dimension("t", 5000), enc.dimension("x", 8)]
    header = enc.header(enc.group(dimensions=dims, variables=[enc.variable("v", enc.FLOAT, dims)]))
    values = np.arange(40_000, dtype=">f4").reshape(5000, 8)
    rows = [
        enc.data(
            enc.data_body("v", enc.FLOAT, [(at, 1, None), (0, 8, None)], bigend=True),
            enc.regular(values[at].tobytes()),
        )
        for at in range(4500)
    ]
    dataset = opened(enc.stream(header, *rows)[: -4 - 10])
    assert dataset["/v"].node.assembled.layout.is_fine
    for few in (np.s_[:300], np.s_[4200:4490]):
        assert np.array_equal(dataset["/v"][few], values[few])
    assert np.array_equal(dataset["/v"][4499, :5], values[4499, :5])
    assert element(dataset, "/v", (4499, 6)) == "truncated"


def test_strides_and_a_scalar(opened):
    every = [(0, 3, 2), (1, 2, 2), (0, 5, None)]
    dataset = opened(cut(block(VALUES[::2, 1::2], ranges=every), less=40))
    assert np.array_equal(dataset["/v"][0:3:2, 1::2], VALUES[0:3:2, 1::2])
    assert element(dataset, "/v", (4, 3, 4)) == "truncated"
    header = enc.header(enc.group(variables=[enc.variable("c", enc.DOUBLE)]))
    one = enc.data(enc.data_body("c", enc.DOUBLE, None, bigend=True), enc.regular(bytes(8)))
    dataset = opened(enc.stream(header, one)[: -4 - 3])
    assert element(dataset, "/c", ()) == "truncated"


def test_what_is_cut_and_followed_by_messages_is_lost(opened):
    torn = block()[:-100]
    dataset = opened(enc.stream(HEADER, torn, objects("s")))
    assert element(dataset, "/v", (0, 0, 0)) in ("truncated", "length-too-large")
    assert dataset["/s"][...].reshape(-1).tolist() == WORDS


def test_the_whole_message_replaces_the_cut_one_when_the_stream_grows():
    whole = enc.stream(HEADER, block(), objects("s"))
    found = None
    for size in [*range(len(HEADER) + 20, len(whole), 37), len(whole)]:
        found = walk_stream(MemoryBytes(whole[:size]), url="memory", resume=found)
    anew = index_of(whole)
    assert found.faults == anew.faults == ()
    assert found.table.cut is None
    for name in ("kind", "offset", "stop", "payload_offset", "payload_length", "count", "fault"):
        assert getattr(found.table, name).tolist() == getattr(anew.table, name).tolist()


def test_an_opened_stream_that_has_grown_is_read_as_a_whole_one(opened):
    whole = enc.stream(HEADER, block(), objects("s"))
    half = opened(whole[: len(HEADER) + 300])
    assert element(half, "/v", (5, 3, 4)) == "truncated"
    dataset = opened(whole)
    assert dataset["/v"].node.assembled is None
    assert np.array_equal(dataset["/v"][...], VALUES)
    assert dataset["/s"][...].reshape(-1).tolist() == WORDS


def test_as_it_was_before_the_cut_message_nothing_of_it_is_there(tmp_path):
    path = tmp_path / "a.ncs"
    path.write_bytes(cut(block(VALUES + 1000), block(), less=203))
    with refbrowser.open(path, until=1) as dataset:
        assert np.array_equal(dataset["/v"][...], VALUES + 1000)
