"""Very many headers: the work on them is bounded, and so is what is kept of them."""

from dataclasses import replace

import stream_encoder as enc
from test_stream_walk import walked

from refbrowser.formats.ncstream import header_history, reading
from refbrowser.limits import LIMITS

MANY = enc.header(enc.group(variables=[enc.variable(f"v{number}", enc.INT) for number in range(100)]))
SMALL = enc.header(None)
EMPTY = enc.MAGIC_HEADER + b"\0"


def test_the_definition_before_counts_for_each_header(monkeypatch):
    monkeypatch.setattr(reading, "LIMITS", replace(LIMITS, stream_headers=1000))
    index = walked(enc.stream(MANY, *[EMPTY] * 50))
    assert len(index.table) == 51
    assert [number for number, _ in index.headers] == list(range(10))
    assert {fault.code for fault in index.faults} == {"length-too-large"}
    assert len(dict(index.definition.variables())) == 100


def test_trials_of_a_search_count_for_themselves_only(monkeypatch):
    monkeypatch.setattr(reading, "LIMITS", replace(LIMITS, stream_headers=1000))
    # Each of them parses, and no message follows it.
    damage = b"\xff" + (enc.MAGIC_HEADER + b"\2\x28\1" + b"\xff") * 100
    index = walked(enc.stream(MANY, damage, SMALL, SMALL))
    assert [number for number, _ in index.headers] == [0, 2, 3]


def test_large_definitions_are_not_all_kept(monkeypatch):
    monkeypatch.setattr(header_history, "_PARTS", 1000)
    index = walked(enc.stream(MANY, *[EMPTY] * 50))
    numbers = [number for number, _ in index.headers]
    assert len(numbers) <= 10
    assert (numbers[0], numbers[-1]) == (0, 50)
    assert not index.faults
