"""Very many headers: the work on them is bounded, and so is what is kept of them."""

import sys
from dataclasses import replace

import pytest
import stream_encoder as enc
from test_stream_walk import walked

from refbrowser.io.fetching.byte_sources import LocalBytes, MemoryBytes
from refbrowser.wings.ncstream.reading import headers, message_reader, opening
from refbrowser.wings.ncstream.reading.definition import StreamDefinition
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

MANY = enc.header(enc.group(variables=[enc.variable(f"v{number}", enc.INT) for number in range(100)]))
SMALL = enc.header(None)
#: Headers that say little, each something else.
TITLES = [enc.header(None, title=f"{number}") for number in range(50)]


def test_the_definition_before_counts_for_each_header(monkeypatch):
    monkeypatch.setattr(message_reader, "STREAM_LIMITS", replace(STREAM_LIMITS, stream_headers=1000))
    index = walked(enc.stream(MANY, *TITLES))
    assert len(index.table) == 51
    assert [number for number, _ in index.headers] == list(range(10))
    assert {fault.code for fault in index.faults} == {"length-too-large"}
    assert len(dict(index.definition.variables())) == 100


def test_trials_of_a_search_count_for_themselves_only(monkeypatch):
    monkeypatch.setattr(message_reader, "STREAM_LIMITS", replace(STREAM_LIMITS, stream_headers=1000))
    # Each of them parses, and no message follows it.
    damage = b"\xff" + (enc.MAGIC_HEADER + b"\2\x28\1" + b"\xff") * 100
    index = walked(enc.stream(MANY, damage, SMALL, SMALL))
    assert [number for number, _ in index.headers] == [0, 2, 3]


def test_large_definitions_are_not_all_kept(monkeypatch):
    monkeypatch.setattr(headers, "_PARTS", 1000)
    index = walked(enc.stream(MANY, *TITLES))
    numbers = [number for number, _ in index.headers]
    assert len(numbers) <= 10
    assert (numbers[0], numbers[-1]) == (0, 50)
    assert not index.faults


@pytest.mark.parametrize("again", [enc.MAGIC_HEADER + b"\0", MANY], ids=["empty", "large"])
def test_headers_that_say_nothing_new_are_read_many_at_once(again, monkeypatch):
    merges = []
    merged = headers.merged
    monkeypatch.setattr(headers, "merged", lambda *given: merges.append(1) or merged(*given))

    def calls(count):
        """Return how many functions are called for so many headers: of Python and of C."""
        stream, found = MemoryBytes(enc.stream(MANY, *[again] * count, SMALL)), []
        sys.setprofile(lambda frame, event, _: found.append(1) if event in ("call", "c_call") else None)
        try:
            index = walk_stream(stream, url="memory")
        finally:
            sys.setprofile(None)
        assert len(index.table) == count + 2
        assert index.table.offset[1:].tolist() == index.table.stop[:-1].tolist()
        assert [path for path, _ in index.definition.variables()] == [f"/v{number}" for number in range(100)]
        return len(found)

    few, many = calls(100), calls(3000)
    assert many - few < 300
    assert len(merges) <= 10


def test_a_header_that_comes_again_is_what_it_is_one_by_one(monkeypatch):
    n = enc.dimension("n", 3, unlimited=True)
    grown = enc.header(enc.group(dimensions=[n], variables=[enc.variable("v", enc.INT, [n])]))
    wrong = enc.header(enc.group(variables=[enc.variable("w", enc.INT, [enc.dimension("nowhere", 2)])]))
    messages = [SMALL, *[grown] * 5, *[wrong] * 4, MANY, *[grown] * 3, *TITLES[:3], *[TITLES[2]] * 4]
    index = walked(enc.stream(*messages))
    with monkeypatch.context() as patch:
        patch.setattr(message_reader.MessageReader, "_same_headers", lambda self, offset, most: offset)
        alone = walked(enc.stream(*messages))
    said = StreamDefinition()
    for each in messages:
        said = headers.merged(said, each[6 if each[4] & 0x80 else 5 :])
    assert alone.definition == said
    assert index.definition == alone.definition
    assert index.faults == alone.faults
    assert len(index.faults) == 4
    for name in ("kind", "offset", "stop", "payload_offset", "payload_length", "section"):
        assert getattr(index.table, name).tolist() == getattr(alone.table, name).tolist()
    for until in range(len(messages)):
        then = [[each for number, each in found.headers if number <= until][-1] for found in (index, alone)]
        assert then[0] == then[1]


def test_an_index_that_was_kept_is_loaded_without_merging_what_comes_again(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "_WORTH", 0.0)
    monkeypatch.setattr(opening, "cache_folder", lambda: tmp_path / "cache")
    path = tmp_path / "a.ncs"
    path.write_bytes(enc.stream(MANY, *[enc.MAGIC_HEADER + b"\0"] * 500))
    with LocalBytes(str(path)) as source:
        walked_ = opening.indexed(source, url=str(path))
        monkeypatch.setattr(opening, "_recent", opening._Recent())
        monkeypatch.setattr(opening, "walk_stream", None)
        merges = []
        merged = headers.merged
        monkeypatch.setattr(headers, "merged", lambda *given: merges.append(1) or merged(*given))
        loaded = opening.indexed(source, url=str(path))
    assert loaded.definition == walked_.definition
    assert len(merges) <= 3
