"""One stream walked in several ways gives one index: by small windows, continued, up to a message."""

import numpy as np
import pytest
import stream_encoder as enc
from deep import places
from looped import looped
from stream_constructs import N3, block
from stream_encoder import group, header, variable
from structure_constructs import ALL

from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading import bytes as window
from refbrowser.wings.ncstream.reading.walk import walk_stream

COLUMNS = [
    "kind",
    "offset",
    "stop",
    "payload",
    "payload_offset",
    "payload_length",
    "count",
    "data_type",
    "byte_order",
    "version",
    "deflated",
    "uncompressed",
    "crc32",
    "rank",
]


def index_of(stream, **more):
    return walk_stream(MemoryBytes(stream), url="memory", **more)


def facts_of(index):
    """Return all that an index says, as values that can be compared."""
    table = index.table
    names = [table.names[at] if at >= 0 else "" for at in table.variable]
    return {
        "columns": [getattr(table, name).tolist() for name in COLUMNS],
        "names": names,
        "ranges": [table.ranges(row) for row in range(len(table))],
        "definition": index.definition,
        "headers": index.headers,
        "faults": index.faults,
        "walked": (index.size, index.walked, index.has_start, index.has_end),
    }


@pytest.mark.slow
@looped("construct", ALL)
def test_windows_of_any_size_see_the_same(construct, monkeypatch):
    whole = facts_of(index_of(construct.stream))
    for least, most in ((1, 1), (1, 13), (7, 64)):
        monkeypatch.setattr(window, "_LEAST", least)
        monkeypatch.setattr(window, "_MOST", most)
        assert facts_of(index_of(construct.stream)) == whole


@pytest.mark.long
@looped("construct", ALL)
def test_a_stream_that_has_grown_is_gone_on_with(construct):
    stream = construct.stream
    whole = facts_of(index_of(stream))
    for cut in places(5, len(stream), whole["columns"][COLUMNS.index("stop")]):
        begun = index_of(stream[:cut])
        assert facts_of(index_of(stream, resume=begun)) == whole, cut


@pytest.mark.slow
@looped("construct", ALL)
def test_a_walk_up_to_a_message_has_no_more(construct):
    whole = index_of(construct.stream)
    for until in range(len(whole.table)):
        part = index_of(construct.stream, until=until)
        assert len(part.table) == until + 1
        assert part.table.stop.tolist() == whole.table.stop[: until + 1].tolist()


def test_another_stream_in_the_place_of_one_is_walked_anew():
    shape = [enc.dimension("n", 3)]
    first = header(group(dimensions=shape, variables=[variable("x", enc.INT, [N3])]))
    other = header(group(dimensions=shape, variables=[variable("y", enc.INT, [N3])]))
    sent = block(enc.INT, [(0, 3, 1)], [1, 2, 3])
    before = index_of(enc.stream(first, sent))
    after = enc.stream(other, sent.replace(b"\x01x", b"\x01y"), sent.replace(b"\x01x", b"\x01y"))
    assert facts_of(index_of(after, resume=before)) == facts_of(index_of(after))


def test_many_messages_of_many_variables():
    names = [f"v{number}" for number in range(50)]
    shape = [enc.dimension("t", 40, unlimited=True)]
    made = header(group(dimensions=shape, variables=[variable(name, enc.SHORT, shape) for name in names]))
    messages = [
        enc.data(
            enc.data_body(name, enc.SHORT, [(at, 1, 1)], bigend=True), enc.regular(enc.numbers("h", [at]))
        )
        for at in range(40)
        for name in names
    ]
    index = index_of(enc.stream(made, *messages))
    assert len(index.table) == 2001
    for number, name in enumerate(names):
        np.testing.assert_array_equal(index.of_variable(f"/{name}"), np.arange(40) * 50 + number + 1)
    row = int(index.of_variable("/v7")[5])
    assert index.table.ranges(row) == (range(5, 6),)
