"""Streams that are cut, and with absurd lengths in the place of bytes: what is sound stays.

A normal run tries the bounds of all that a stream is made of and places between; a long one every byte.
"""

import tracemalloc

import numpy as np
import pytest
import stream_encoder as enc
from deep import is_long, places
from looped import looped
from structure_constructs import ALL

from refbrowser.errors import Severity
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading.messages import MessageKind
from refbrowser.wings.ncstream.reading.walk import walk_stream

#: Lengths that are lies: of all that is left and one more, too large to hold, to count, to be a number.
ABSURD = [2**20, 2**31, 2**63, 2**64 - 1]
COLUMNS = ("kind", "offset", "stop", "payload_offset", "payload_length", "count", "crc32", "rank")
RUN_ON = b"\xff" * 12


def index_of(stream):
    return walk_stream(MemoryBytes(stream), url="memory")


def rows_of(index, count):
    return [getattr(index.table, name)[:count].tolist() for name in COLUMNS]


def bounds_of(index):
    """Return where messages, and what they hold, begin and end."""
    table = index.table
    ends = table.payload_offset + table.payload_length
    return {*table.offset.tolist(), *table.stop.tolist(), *table.payload_offset.tolist(), *ends.tolist()}


def variables_of(index):
    return [path for path, _ in index.definition.variables()]


@looped("construct", ALL)
def test_a_whole_stream_has_no_fault(construct):
    index = index_of(construct.stream)
    assert index.walked == len(construct.stream)
    faults = [fault for fault in index.faults if fault.severity is Severity.FAULT]
    assert {fault.code for fault in faults} <= {"stream-error"}
    assert MessageKind.DAMAGED not in index.table.kind


@pytest.mark.slow
@looped("construct", ALL)
def test_all_before_a_cut_stays(construct):
    stream = construct.stream
    whole = index_of(stream)
    start = len(enc.MAGIC_START) if whole.has_start else 0
    for cut in places(start + 1, len(stream), bounds_of(whole)):
        found = index_of(stream[:cut])
        sound = int(np.count_nonzero(whole.table.stop <= cut))
        assert rows_of(found, sound) == rows_of(whole, sound)
        ends = {start, *whole.table.stop.tolist()}
        if cut in ends:
            assert len(found.table) == sound
            continue
        faults = [fault for fault in found.faults if fault.severity is Severity.FAULT]
        torn = [fault for fault in faults if fault.number == sound]
        begin = int(whole.table.stop[sound - 1]) if sound else start
        assert [fault.offset for fault in torn] == [begin], cut
        assert torn[0].code in ("truncated", "length-too-large"), cut
        assert not found.has_end


@pytest.mark.long
@looped("construct", ALL)
def test_absurd_lengths_harm_no_message_before(construct):
    stream = construct.stream
    whole = index_of(stream)
    names = variables_of(whole)
    lies = [*map(enc.varint, ABSURD), RUN_ON]
    for number, place in enumerate(places(len(enc.MAGIC_START), len(stream), bounds_of(whole))):
        stop = next(at for at in range(place, len(stream)) if stream[at] < 0x80 or at == len(stream) - 1) + 1
        sound = int(np.count_nonzero(whole.table.stop <= place))
        for lie in lies if is_long() else lies[number % len(lies) :][:2]:
            found = index_of(stream[:place] + lie + stream[stop:])
            assert rows_of(found, sound) == rows_of(whole, sound), (place, lie)
            if sound:
                assert variables_of(found)[: len(names)] == names or found.headers != whole.headers


@pytest.mark.slow
def test_absurd_lengths_take_no_memory():
    chosen = [each for each in ALL if each.name in ("strings", "sequence", "structure-of-everything")]
    tracemalloc.start()
    try:
        for construct in chosen:
            stream = construct.stream
            whole = index_of(stream)
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            for place in places(4, len(stream), bounds_of(whole)):
                for lie in map(enc.varint, ABSURD):
                    index_of(stream[:place] + lie + stream[place + 1 :])
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@looped("construct", ALL)
def test_what_follows_damage_is_found_again(construct):
    stream = construct.stream
    whole = index_of(stream)
    damage = b"\xad\xec\xce\xda\xff\xff" + b"\0nonsense" * 3
    messages = len(whole.table)
    for number in range(1, messages):
        if whole.table.kind[number] == MessageKind.HEADER:
            continue
        at = int(whole.table.offset[number])
        found = index_of(stream[:at] + damage + stream[at:])
        kinds = found.table.kind.tolist()
        assert kinds[:number] == whole.table.kind[:number].tolist()
        assert kinds[number] == MessageKind.DAMAGED
        assert kinds[number + 1 :] == whole.table.kind[number:].tolist()
        assert found.has_end == whole.has_end
