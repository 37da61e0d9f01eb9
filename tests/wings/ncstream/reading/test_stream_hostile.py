"""Streams whose lengths are right and whose contents lie: errors that say so, and no huge allocation."""

import json
import tracemalloc

import numpy as np
import pytest
import stream_encoder as enc
from looped import looped
from stream_constructs import N3, block, one
from stream_encoder import (
    column,
    column_body,
    data,
    data_body,
    dimension,
    enumeration,
    group,
    header,
    numbers,
    objects,
    regular,
    sequence,
    stream,
    structure,
    structure_body,
    variable,
    whole,
)
from structure_constructs import one as structure_stream

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import RefbrowserError

HUGE = 2**64 - 1


def nested_groups(depth):
    made = group("g")
    for _ in range(depth):
        made = group("g", groups=[made])
    return stream(header(group(groups=[made])))


def nested_structures(depth):
    made = structure("s", variables=[variable("a", enc.INT)])
    for _ in range(depth):
        made = structure("s", structures=[made])
    return stream(header(group(structures=[made])))


def rows(body, members, count=2, **facts):
    sent = data(data_body("s", enc.STRUCTURE, whole([count]), bigend=True, **facts), regular(body))
    return structure_stream([dimension("n", count)], members, sent)


def shaped(*lengths, sent=b""):
    shape = [dimension(f"d{axis}", length) for axis, length in enumerate(lengths)]
    return one("x", enc.INT, shape, sent)


def columns(**facts):
    body = column_body("x", enc.INT, whole([3]), primitives=numbers("i", [1, 2, 3], "<"), **facts)
    return one("x", enc.INT, [N3, enc.VLEN] if facts.get("vlen") else [N3], column(body))


def variables(*names):
    return stream(header(group(variables=[variable(name, enc.INT, immediate=b"\0\0\0\1") for name in names])))


STRING = [variable("w", enc.STRING)]
STREAMS = {
    "a dimension of 2^63": shaped(2**63),
    "a product beyond 2^64": shaped(2**40, 2**40, 2**40),
    "fifty dimensions": shaped(*[2] * 50),
    "two hundred dimensions": shaped(*[1] * 200),
    "no elements": shaped(0, 5),
    "a start of 2^64": shaped(3, sent=block(enc.INT, [(HUGE, 1, 1)], [1])),
    "a size of 2^63": shaped(3, sent=block(enc.INT, [(0, 2**63, 1)], [1])),
    "a stride of 2^64": shaped(3, sent=block(enc.INT, [(0, 3, HUGE)], [1, 2, 3])),
    "a single element by a stride of 2^64": shaped(3, sent=block(enc.INT, [(1, 1, HUGE)], [1])),
    "sizes whose product overflows to 0": shaped(
        2**32, 2**32, sent=block(enc.INT, whole([2**32, 2**32]), [])
    ),
    "groups nested ninety deep": nested_groups(90),
    "groups nested five thousand deep": nested_groups(5000),
    "structures nested ninety deep": nested_structures(90),
    "structures nested five thousand deep": nested_structures(5000),
    "a structure without members": structure_stream([N3], []),
    "members that share a name": structure_stream([N3], [variable("a", enc.INT)] * 2),
    "members without names": structure_stream([N3], [variable("", enc.INT)]),
    "rows that are claimed": rows(structure_body(b"\0" * 8, count=2**63), [variable("a", enc.INT)]),
    "a row length that is a lie": rows(
        structure_body(b"\0" * 8, count=2, row_length=2**31), [variable("a", enc.INT)]
    ),
    "members that are not there": rows(
        structure_body(b"\0" * 8, members=[0, 2**31, 7], count=2), [variable("a", enc.INT)]
    ),
    "a member that is listed twice": rows(
        structure_body(b"\0" * 16, members=[0, 0], count=2), [variable("a", enc.INT)]
    ),
    "a heap that is claimed": rows(
        enc.sized(2, b"\0" * 8) + enc.number(3, 2**32 - 1) + enc.number(5, 2), STRING
    ),
    "an index of 2^32": rows(structure_body(b"\xff" * 8, heap=[["a"]], count=2), STRING),
    "a member of many elements": rows(
        structure_body(b"\0" * 8, count=2), [variable("a", enc.INT, [dimension("m", 2**40)])]
    ),
    "a sequence of claims": structure_stream(
        [],
        [variable("a", enc.INT)],
        data(data_body("s", enc.SEQUENCE), sequence([structure_body(b"\0" * 4, count=2**63)] * 3)),
        type=enc.SEQUENCE,
    ),
    "lengths of rows that are claimed": columns(vlen=True, elements=3, lengths=[2**32 - 1, 0, 0]),
    "elements that are claimed": columns(elements=2**32 - 1),
    "fewer rows than the section": columns(vlen=True, elements=3, lengths=[3]),
    "values of another kind": one(
        "x", enc.STRING, [N3], column(column_body("x", enc.INT, whole([3]), primitives=b"\0" * 12))
    ),
    "a column of a structure without members": structure_stream(
        [N3], [variable("a", enc.INT)], column(column_body("s", enc.STRUCTURE, whole([3]), elements=3))
    ),
    "names that are paths": variables("/", "..", "a/b", "/etc/passwd", ".zarray", "x"),
    "names that share": variables("x", "x"),
    "an empty name": variables("", "x"),
    "names of controls": variables("a\nb", "\x1b[31m", "\u202e", "x" * 70000),
    "names of what documents keep": variables(".zgroup", ".zattrs", "zarr.json"),
    "a variable named as a group": stream(
        header(group(variables=[variable("x", enc.INT)], groups=[group("x", groups=[group("x")])]))
    ),
    "codes beyond their type": stream(
        header(
            group(
                enums=[enumeration("e", {300: "far", 2**32 - 1: "a", 0: ""})],
                variables=[variable("x", enc.ENUM1, enum="e", immediate=b"\0")],
            )
        )
    ),
    "an enumeration that is not there": one("x", enc.ENUM1, [], enum="none", immediate=b"\1"),
    "immediate values that are too few": one("x", enc.INT, [N3], immediate=b"\0" * 11),
    "immediate texts": one("x", enc.STRING, [N3], immediate=b"abc"),
    "texts that are no UTF-8": one(
        "x",
        enc.STRING,
        [N3],
        data(data_body("x", enc.STRING, whole([3])), objects([b"\xff", b"", b"\xed\xa0"])),
    ),
    "attributes that are no UTF-8": stream(
        header(group(attributes=[enc.attribute("a", type=0, length=1, texts=[b"\xff\xfe"])]))
    ),
    "a dimension of rows alone": one("x", enc.INT, [enc.VLEN, enc.VLEN], b""),
    "rows of structures": structure_stream([N3, enc.VLEN], [variable("a", enc.INT)]),
    "a header of nothing": stream(enc.MAGIC_HEADER + b"\0", header(None)),
    "ten thousand errors": stream(header(group()), *[enc.error("again")] * 10_000),
    "ten thousand damaged bytes": stream(header(group()), enc.MAGIC_DATA * 2500),
}


def read_all(dataset):
    """Read what can be read; errors must be ours."""
    for array in dataset.arrays.values():
        if np.prod(array.shape, dtype=float) < 10**6:
            try:
                np.asarray(array[...])
            except RefbrowserError:
                continue


@pytest.mark.slow
@looped("name", STREAMS)
def test_lies_end_in_errors_of_ours(name, tmp_path):
    path = tmp_path / "a.ncs"
    path.write_bytes(STREAMS[name])
    # What is loaded with the first stream is not the stream's.
    refbrowser.open(str(path)).close()
    tracemalloc.start()
    try:
        with refbrowser.open(str(path)) as dataset:
            read_all(dataset)
            dataset.cdl()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


@pytest.mark.slow
@looped("name", STREAMS)
def test_the_command_line_tells_of_them(name, tmp_path, capsys):
    path = tmp_path / "a.ncs"
    path.write_bytes(STREAMS[name])
    assert main(["info", "--json", str(path)]) in (0, 2)
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "ncstream"
    assert main(["check", str(path)]) in (0, 2)
    assert main(["cdl", str(path)]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
