"""Garbled answers: values of the right shape, or an error; nothing else, and not for long."""

from __future__ import annotations

import struct

import pytest
import stream_encoder as wire
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.remote.answers import Question

N = wire.dimension("n", 3)
ROWS = [wire.variable("a", wire.INT), wire.variable("t", wire.STRING)]
ROOT = wire.group(
    dimensions=[N],
    variables=[
        wire.variable("x", wire.INT, [N]),
        wire.variable("t", wire.STRING, [N]),
        wire.variable("v", wire.SHORT, [N, wire.VLEN]),
    ],
    structures=[
        wire.structure("s", wire.STRUCTURE, [N], variables=ROWS),
        wire.structure("q", wire.SEQUENCE, variables=ROWS),
    ],
)
VARIABLES = dict(walk_stream(MemoryBytes(wire.header(ROOT)), url="").definition.variables())
WHOLE = [(0, 3, 1)]
BODY = wire.structure_body(
    b"".join(struct.pack(">ii", value, value) for value in range(3)), heap=[["a"], ["b"], ["c"]], count=3
)


def about(name: str, kind: int, ranges: list[wire.Range], **fields: object) -> bytes:
    return wire.data_body(name, kind, ranges, bigend=True, **fields)  # type: ignore[arg-type]


ANSWERS = {
    "/x": wire.data(about("x", wire.INT, WHOLE), wire.regular(wire.numbers("i", [1, 2, 3]))),
    "/t": wire.data(about("t", wire.STRING, WHOLE), wire.objects(["a", "", "Ærø"])),
    "/v": wire.data(
        about("v", wire.SHORT, [*WHOLE, (0, wire.NO_LENGTH, 1)], vdata=True),
        wire.objects([wire.numbers("h", [1]), b"", wire.numbers("h", [2, 3])]),
    ),
    "/s": wire.data(about("s", wire.STRUCTURE, WHOLE), wire.regular(BODY)),
    "/q": wire.data(about("q", wire.SEQUENCE, []), wire.sequence([BODY])),
}


def question(path: str) -> Question:
    section = None if path == "/q" else (range(3),)
    return Question(path, VARIABLES[path], section, StreamReading())


@pytest.mark.parametrize("path", ANSWERS)
def test_whole_answers_have_their_values(path: str) -> None:
    assert question(path).values(memoryview(ANSWERS[path])).shape == (3,)


@pytest.mark.parametrize("path", ANSWERS)
def test_answers_cut_anywhere_are_errors(path: str) -> None:
    data = ANSWERS[path]
    for stop in range(len(data)):
        with pytest.raises(RefbrowserError):
            question(path).values(memoryview(data[:stop]))


@pytest.mark.parametrize("path", ANSWERS)
@given(changes=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1, max_size=4))
def test_answers_with_other_bytes(path: str, changes: list[tuple[int, int]]) -> None:
    data = bytearray(ANSWERS[path])
    for at, value in changes:
        data[at % len(data)] = value
    try:
        values = question(path).values(memoryview(bytes(data)))
    except RefbrowserError:
        return
    assert path == "/q" or values.shape == (3,)
