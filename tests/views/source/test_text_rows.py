"""Rows by their numbers, folded and not."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.text.document_text import DocumentText
from refbrowser.views.source.row_scan import LaidOutRows, LineRows, scan_rows
from refbrowser.views.source.text_rows import TextRows, is_wide

VALUE = {"a": {"b": [{"c": 1}, {"d": {"e": "x" * 130}}]}, "f": {"g": 1, "h": ["y" * 130]}}


def rows_of(text: bytes, layout: type[LineRows | LaidOutRows] = LaidOutRows) -> TextRows:
    rows = TextRows(DocumentText(text))
    for some in scan_rows([text], layout()):
        rows.add(some)
    return rows


def texts(rows: TextRows) -> list[bytes]:
    return [rows.read(rows.span(rows.row_of_seen(place))).strip() for place in range(rows.seen)]


def test_what_is_folded_is_not_seen():
    rows = rows_of(json.dumps(VALUE).encode())
    assert rows.is_complete
    first = texts(rows).index(b'"a": {')
    rows.fold([first])
    assert texts(rows)[:3] == [b"{", b'"a": {', b"},"]
    assert rows.folded_rows(first) == rows.end_of(first) - first - 1
    assert all(rows.seen_place(rows.row_of_seen(place)) == place for place in range(rows.seen))
    inside = first + 3
    assert rows.seen_place(inside) == rows.seen_place(first)
    rows.reveal(inside)
    assert not rows.has_folds
    assert rows.seen == rows.count


def test_all_of_a_depth_is_folded():
    rows = rows_of(json.dumps(VALUE).encode())
    rows.fold_at(1)
    assert texts(rows) == [b"{", b'"a": {', b"},", b'"f": {', b"}", b"}"]
    rows.unfold_all()
    assert rows.seen == rows.count


def test_lines_fold_too():
    rows = rows_of(json.dumps(VALUE, indent=2).encode(), LineRows)
    rows.fold_at(1)
    assert texts(rows) == [b"{", b'"a": {', b"},", b'"f": {', b"}", b"}"]


def test_characters_belong_to_one_row():
    text = ("é" * 500).encode()
    rows = rows_of(b'"' + text + b'"', LineRows)
    shown = [rows.read(rows.span(row)) for row in range(rows.count)]
    assert b"".join(shown) == b'"' + text + b'"'
    assert all(part.decode() for part in shown)
    assert [rows.number(row) for row in range(rows.count)] == [1] * rows.count


@given(st.binary(max_size=900))
def test_rows_tile_any_bytes(data):
    for layout in (LineRows, LaidOutRows):
        rows = rows_of(data, layout)
        spans = [rows.span(row) for row in range(rows.count)]
        assert b"".join(rows.read(span) for span in spans) == data
        assert all(
            rows.row_at(span.start) == row for row, span in enumerate(spans) if span.start < span.stop
        ) or any(byte >= 0x80 for byte in data)


def test_wide_texts_are_laid_out():
    assert is_wide(b'{"a": "' + b"x" * 500 + b'"}')
    assert not is_wide(json.dumps(VALUE, indent=1).encode())
    assert not is_wide(b"")
