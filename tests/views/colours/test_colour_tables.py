"""Colour tables of other programs, and files that hold none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.colours.colour_tables import (
    COLOURS_MOST,
    FILE_MOST,
    KEPT,
    SUFFIXES,
    ColourTable,
    read_table,
    table_of_rows,
)


def ends(table: ColourTable) -> list[list[int]]:
    return table.colours[[0, -1]].tolist()


def fault(name: str, content: bytes) -> str:
    with pytest.raises(RefbrowserError) as raised:
        read_table(name, content)
    assert raised.value.kind in (ErrorKind.FORMAT, ErrorKind.BUDGET)
    return raised.value.message


RAMP = np.stack([np.arange(256), 255 - np.arange(256), np.full(256, 7)], axis=1).astype(np.uint8)


def test_tables_of_adobe() -> None:
    table = read_table("/home/me/ramp.act", RAMP.tobytes())
    assert table.title == "ramp"
    assert ends(table) == [[0, 255, 7], [255, 0, 7]]
    # Of those that say so, the first alone are colours.
    short = read_table("short.ACT", RAMP.tobytes() + (11).to_bytes(2, "big") + b"\xff\xff")
    assert ends(short) == [[0, 255, 7], [10, 245, 7]]
    assert "768 or 772" in fault("a.act", RAMP.tobytes()[:-1])
    assert "257" in fault("a.act", RAMP.tobytes() + b"\1\1\0\0")


def test_maps_of_ncview_and_ncl() -> None:
    rows = "\n".join(" ".join(map(str, row)) for row in RAMP.tolist())
    assert ends(read_table("3gauss.ncmap", rows.encode())) == [[0, 255, 7], [255, 0, 7]]
    ncl = b"ncolors = 2\n\n# r   g   b\n  255 0 0   ; red\n  0 0 255\n"
    two = read_table("two.rgb", ncl)
    # A table of few colours has steps.
    assert [tuple(colour) for colour in two.colours[[0, 127, 128, 254]].tolist()] == [
        *[(255, 0, 0)] * 2,
        *[(0, 0, 255)] * 2,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "cm_data = [[0.0, 0.5, 1.0],\n           [1.0, 0.5, 0.0],\n          ]",
        "[(0, 0.5, 1, 1), (1, 0.5, 0, 1),]",
        json.dumps({"name": "x", "colors": [[0, 0.5, 1], [1, 0.5, 0]]}),
        '["#0080FF", "#ff8000"]',
        "#0080ff\n#FF8000\n",
        "0,128,255\r\n255,128,0\r\n",
        "\N{BYTE ORDER MARK}0 .5 1\n# next\n1. 5e-1 0\n",
    ],
)
def test_rows_as_matplotlib_has_them(text: str) -> None:
    assert ends(read_table("list.txt", text.encode())) == [[0, 128, 255], [255, 128, 0]]


def test_tables_of_gmt_are_between_their_values() -> None:
    text = (
        b"# made by hand\n-10 0/0/255 0 255/255/255 L ; cold\n0 255 255 255 30 red\nB 1 1 1\nF black\nN 128\n"
    )
    table = read_table("topo.cpt", text)
    assert ends(table) == [[2, 2, 255], [255, 1, 1]]
    # White is a quarter of the way up, where zero is.
    assert table.colours[KEPT // 4].min() > 245
    steps = read_table("steps.cpt", b"0 #ff0000 1 #ff0000\n1 0 255 0 3 0 255 0\n").colours.tolist()
    assert steps == [[255, 0, 0]] * 85 + [[0, 255, 0]] * 170
    hsv = read_table("hsv.cpt", b"# COLOR_MODEL = HSV\n0 240 1 1 1 0 1 1\n")
    assert hsv.colours[0].tolist()[2] >= 254
    assert hsv.colours[-1].tolist()[0] >= 254
    assert read_table("hsv.cpt", b"0 120-1-1 1 120-1-1").colours[9].tolist() == [0, 255, 0]
    assert ends(read_table("grey.cpt", b"0 0 1 255")) == [[0, 0, 0], [254, 254, 254]]


def test_gmt_faults_name_the_line() -> None:
    assert "line 2" in fault("a.cpt", b"0 0 0 0 1 9 9 9\n0.5 9 9 9 2 9 9 9\n")
    assert "line 1" in fault("a.cpt", b"0 mauveish 1 black\n")
    assert "CMYK" in fault("a.cpt", b"# COLOR_MODEL = CMYK\n0 0 0 0 0 1 1 1 1 1\n")
    assert "rise" in fault("a.cpt", b"1 red 1 blue\n")
    assert "no line" in fault("a.cpt", b"# nothing\n")
    assert "rise" in fault("a.cpt", b"-1e308 red 1e308 blue\n")


def test_no_table() -> None:
    assert "not text" in fault("a.txt", b"\xff\xfe\x00")
    assert "no row" in fault("a.txt", b"hello\n")
    assert "line 2" in fault("a.ncmap", b"1 2 3\nhello\n")
    assert "1 colours" in fault("a.ncmap", b"1 2 3\n")
    assert "range" in fault("a.ncmap", b"1 2 3\n1 2 256\n")
    assert "range" in fault("a.ncmap", b"1 2 3\n1 2 -1\n")
    assert "list" in fault("a.json", b"[" * 100_000)
    assert "row" in fault("a.json", b"[[1, 2, 3], [1, 2, true]]")
    assert "range" in fault("a.json", b"[[0, 0, 1], [0, 0, 1e999]]")
    assert "range" in fault("a.json", b"[[0, 0, 1], [0, 0, NaN]]")
    assert str(COLOURS_MOST) in fault("a.ncmap", b"1 2 3\n" * (COLOURS_MOST + 1))
    assert str(FILE_MOST) in fault("a.ncmap", b" " * (FILE_MOST + 1))


def test_rows_of_another_program() -> None:
    assert ends(table_of_rows("x" * 200, [[0, 0.5, 1, 0.3], [1, 0, 0, 1]])) == [[0, 128, 255], [255, 0, 0]]
    assert len(table_of_rows("x" * 200, [[0, 0, 0], [1, 1, 1]]).title) == 60


_PARTS = ["B", "L", "red", "#ff0000", "1/2/3", "1-1-1", "0", "255", "1e999", "[", "]", "(", ",", "\n"]
_WORDS = st.one_of(st.sampled_from(_PARTS), st.floats().map(str), st.integers().map(str), st.text(max_size=8))
_CONTENT = st.lists(_WORDS, max_size=30).map(lambda words: " ".join(words).encode("utf-8", "replace"))


@pytest.mark.slow
@settings(max_examples=60)
@given(st.sampled_from(SUFFIXES), st.one_of(_CONTENT, st.binary(max_size=800)))
@example(".cpt", b"0 1 2 3")
@example(".json", b'{"colors": {"a": [[1]]}}')
@example(".cpt", b"0 ; 1")
def test_whatever_a_file_holds_it_is_a_table_or_the_one_error(suffix: str, content: bytes) -> None:
    try:
        kind = None
        table = read_table(f"x{suffix}", content)
    except RefbrowserError as error:
        kind = error.kind
    if kind is None:
        assert table.colours.shape == (KEPT, 3)
    assert kind in (None, ErrorKind.FORMAT, ErrorKind.BUDGET)
