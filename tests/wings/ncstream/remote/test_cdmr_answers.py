"""Answers of services to values: recorded ones, and those that are not what was asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_encoder as wire

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading.definition import StreamDefinition
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.remote.answers import Question


def definition_in(header: bytes) -> StreamDefinition:
    return walk_stream(MemoryBytes(header), url="").definition


def question(
    definition: StreamDefinition, path: str, section: tuple[range, ...] | None = None, **options: Any
) -> Question:
    """Return a question for a section, all of the variable where None."""
    variable = dict(definition.variables())[path]
    taken = tuple(map(range, variable.shape)) if section is None else section
    return Question(path, variable, taken, StreamReading(**options))


def recorded(folder: Path, name: str, path: str) -> np.ndarray:
    header = (folder / "ncstream" / f"{name}.header.bin").read_bytes()
    data = (folder / "ncstream" / f"{name}.data.bin").read_bytes()
    return question(definition_in(header), path).values(memoryview(data))


def test_recorded_ragged_rows_are_big_endian_whatever_the_flag_says(shared_data: Path) -> None:
    rows = recorded(shared_data, "tst_vl", "/var")
    assert [row.tolist() for row in rows] == [[-99], [-99, -99], [-99, -99, -99]]


def test_recorded_structures_are_in_the_order_that_the_flag_says(shared_data: Path) -> None:
    rows = recorded(shared_data, "ref_tst_compounds", "/obs")
    assert rows["time"].tolist() == [3600.01, -99, 5000.01]
    assert [tuple(row)[:3] for row in rows] == [(15, 2, 1), (-99, -99, -99), (20, 6, 3)]


def test_a_recorded_column_of_a_newer_server(shared_data: Path) -> None:
    values = recorded(shared_data, "nc4_sfc_pres_temp", "/temperature")
    assert np.array_equal(values, 9 + 0.25 * np.arange(6)[:, None] + 1.5 * np.arange(12))


def test_a_recorded_deflated_answer(shared_data: Path) -> None:
    data = (shared_data / "ncstream" / "latitude_deflate.data.bin").read_bytes()
    root = wire.group(variables=[wire.variable("latitude", wire.FLOAT, [wire.dimension("latitude", 6)])])
    asked = question(definition_in(wire.header(root)), "/latitude")
    assert asked.values(memoryview(data)).tolist() == [25, 30, 35, 40, 45, 50]


ROOT = wire.group(
    dimensions=[wire.dimension("n", 6)],
    variables=[
        wire.variable("x", wire.INT, [wire.dimension("n", 6)]),
        wire.variable("y", wire.INT, [wire.dimension("n", 6)]),
        wire.variable("s", wire.DOUBLE, []),
    ],
)
DEFINITION = definition_in(wire.header(ROOT))


def answer(name: str = "x", section: Any = ((1, 3, 2),), values: Any = (1, 2, 3), **fields: Any) -> bytes:
    body = wire.data_body(name, wire.INT, section, **{"bigend": True, **fields})
    return wire.data(body, wire.regular(wire.numbers("i", values)))


def test_a_section_with_a_stride() -> None:
    asked = question(DEFINITION, "/x", (range(1, 6, 2),))
    assert asked.values(memoryview(answer())).tolist() == [1, 2, 3]
    assert asked.values(memoryview(answer("/x"))).tolist() == [1, 2, 3]
    little = replace(asked, options=StreamReading(byte_order="little"))
    assert little.values(memoryview(answer())).tolist() == [1 << 24, 2 << 24, 3 << 24]


def test_a_variable_of_a_group() -> None:
    inner = wire.group("b", variables=[wire.variable("x", wire.INT)])
    root = wire.group(groups=[wire.group("a", groups=[inner])])
    asked = question(definition_in(wire.header(root)), "/a/b/x")
    for name in ("a/b/x", "/a/b/x"):
        assert asked.values(memoryview(answer(name, (), (7,)))).tolist() == 7
    with pytest.raises(RefbrowserError):
        asked.values(memoryview(answer("b/x", (), (7,))))


def test_a_scalar() -> None:
    for section in ((), None):
        body = wire.data_body("s", wire.DOUBLE, section, bigend=True)
        data = wire.data(body, wire.regular(wire.numbers("d", [2.5])))
        assert question(DEFINITION, "/s").values(memoryview(data)).tolist() == 2.5


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "not-ncstream|0 messages"),
        (b"<html>", "not-ncstream|bad-magic"),
        (answer()[:-1], "length-too-large|truncated"),
        (answer()[:5], "bad-varint|truncated|length-too-large"),
        (answer("y"), "unknown-variable|another variable"),
        (answer("z"), "unknown-variable|another variable"),
        (answer(section=((0, 3, 2),)), "another section"),
        (answer(section=((1, 3, 1),)), "another section"),
        (answer(section=((1, 2, 2),), values=(1, 2)), "another section"),
        (answer(values=(1, 2)), "size-mismatch"),
        (answer(values=(1, 2, 3, 4)), "size-mismatch"),
        (answer() + answer(), "2 messages"),
        (answer() + b"rest", "bad-magic"),
        (wire.header(ROOT), "without data"),
        (wire.error("no such thing"), "no such thing"),
    ],
)
def test_anything_else_is_no_answer(data: bytes, told: str) -> None:
    asked = question(DEFINITION, "/x", (range(1, 6, 2),))
    with pytest.raises(RefbrowserError, match=told) as caught:
        asked.values(memoryview(data))
    assert caught.value.kind in (ErrorKind.FORMAT, ErrorKind.SOURCE)
