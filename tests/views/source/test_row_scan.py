"""Where the rows of a text begin, whatever portions it comes in."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.source import row_scan
from refbrowser.views.source.row_scan import (
    GOES_ON,
    IN_STRING,
    SHORT,
    WIDEST,
    LaidOutRows,
    Layout,
    LineRows,
    scan_rows,
)

DOCUMENT = {
    "version": 1,
    "gen": [{"key": "a{{i}}", "url": "{{u}}", "dimensions": {"i": {"stop": 10}}}],
    "refs": {".zgroup": '{"zarr_format": 2}', "a/0": ["s3://x", 0, 100], "e": {}, "l": list(range(80))},
}


def rows_of(text: bytes, layout: type[Layout]) -> list[tuple[int, bytes]]:
    starts, depths = scanned([text], layout)
    stops = [*starts[1:], len(text)]
    return [(depth, text[start:stop]) for start, stop, depth in zip(starts, stops, depths, strict=True)]


def scanned(portions: list[bytes], layout: type[Layout]) -> tuple[list[int], list[int]]:
    starts: list[int] = []
    depths: list[int] = []
    for rows in scan_rows(portions, layout()):
        starts += rows.starts.tolist()
        depths += rows.depths.tolist()
    return starts, depths


def test_one_line_is_laid_out():
    rows = rows_of(json.dumps(DOCUMENT).encode(), LaidOutRows)
    assert rows[:7] == [
        (0, b"{"),
        (1, b'"version": 1, '),
        (1, b'"gen": ['),
        (2, b"{"),
        (3, b'"key": "a{{i}}", '),
        (3, b'"url": "{{u}}", '),
        (3, b'"dimensions": {'),
    ]
    assert (2, b'"a/0": ["s3://x", 0, 100], ') in rows
    assert (2, b'"e": {}, ') in rows
    # A long list is filled into rows.
    assert [row.count(b",") for depth, row in rows if depth == 3 and row[:1].isdigit()] == [27, 24, 24, 4]
    assert rows[-1] == (0, b"}")


def test_lines_stand_as_deep_as_they_are():
    rows = rows_of(json.dumps(DOCUMENT, indent=1).encode(), LineRows)
    assert rows == [
        (len(line) - len(line.lstrip()), line)
        for line in json.dumps(DOCUMENT, indent=1).encode().splitlines(keepends=True)
    ]


def test_long_strings_go_on_in_rows_of_their_own():
    text = b'{"k": "' + b"x" * 600 + b'", "' + b"y" * 200 + b'": 1}'
    starts, depths = scanned([text], LineRows)
    assert starts == [0, WIDEST, 2 * WIDEST, 3 * WIDEST]
    assert depths == [0, IN_STRING, IN_STRING, IN_STRING]
    spaces = b'{"k": 1' + b" " * 300 + b"}"
    assert scanned([spaces], LineRows)[1] == [0, GOES_ON]


def test_a_string_that_is_not_closed_spoils_its_line_alone():
    rows = rows_of(b'{"a": "x,\n"b": [\n1\n],\n"c": 2}', LineRows)
    assert [depth for depth, _ in rows] == [0, 1, 2, 1, 1]


_BYTES = st.lists(st.sampled_from(list(b'{}[],:" a1\\\n')), max_size=60).map(bytes)


@given(_BYTES, st.integers(1, 9))
@pytest.mark.parametrize("layout", [LaidOutRows, LineRows])
def test_rows_do_not_depend_on_the_portions(layout, text, size):
    expected = scanned([text], layout)
    before = row_scan.SHORT, row_scan.PORTION, row_scan.WIDEST
    row_scan.PORTION = size
    try:
        assert scanned([text], layout) == expected
    finally:
        row_scan.SHORT, row_scan.PORTION, row_scan.WIDEST = before


_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)


@given(_VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_rows_of_any_value_tile_its_text(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    for layout in (LaidOutRows, LineRows):
        starts, depths = scanned([text], layout)
        assert starts == sorted(set(starts))
        assert starts[:1] == [0]
        assert all(start < len(text) for start in starts)
        assert len(starts) == len(depths)
        assert max(b - a for a, b in zip(starts, [*starts[1:], len(text)], strict=True)) <= max(WIDEST, SHORT)
    if indent is None:
        assert depths_are_those_of_brackets(text)


def depths_are_those_of_brackets(text: bytes) -> bool:
    """Whether each row that begins anew is as deep as brackets outside of strings say."""
    starts, depths = scanned([text], LaidOutRows)
    opened, in_string, escaped = 0, False, False
    deep = {}
    for at, byte in enumerate(text):
        deep[at] = opened - (byte in b"]}" and not in_string)
        if in_string:
            in_string = escaped or byte != ord('"')
            escaped = not escaped and byte == ord("\\")
        elif byte == ord('"'):
            in_string = True
        else:
            opened += (byte in b"[{") - (byte in b"]}")
    return all(depth >= GOES_ON or depth == deep[start] for start, depth in zip(starts, depths, strict=True))


def test_there_are_only_so_many_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(row_scan, "MOST", 50)
    monkeypatch.setattr(row_scan, "PORTION", 1000)
    text = b"[" * 100_000
    starts, _depths = scanned([text], LaidOutRows)
    assert len(starts) <= 2 * 1000 + len(text) // WIDEST + 1
    assert starts == sorted(set(starts))


@pytest.mark.parametrize("text", [b"\n" * 300_000, b" \n" * 150_000, b"[" + b"[],\n\n" * 60_000])
@pytest.mark.parametrize("layout", [LaidOutRows, LineRows])
def test_very_many_empty_lines_take_no_time(layout: type[Layout], text: bytes):
    begun = time.process_time()
    scanned([text], layout)
    assert time.process_time() - begun < 2
