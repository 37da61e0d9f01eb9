"""What is typed over rows, as bytes: rows that are as they were keep theirs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.text.document_text import DocumentText
from refbrowser.views.source.row_edit import EDITED, EditedRows, NotEditableError, edited_rows, rows_around
from refbrowser.views.source.row_scan import LaidOutRows, LineRows, scan_rows
from refbrowser.views.source.text_rows import RowSpan, TextRows

VALUE = {"version": 1, "refs": {f"t/{i}": ["s3://b/x", i, 4] for i in range(9)}, "more": list(range(90))}
LINES = st.lists(st.sampled_from(["a", "b", "c", "aé", ""]), max_size=8)


def scanned(text: bytes, *, is_laid_out: bool) -> TextRows:
    rows = TextRows(DocumentText(text))
    for some in scan_rows([text], LaidOutRows() if is_laid_out else LineRows()):
        rows.add(some)
    return rows


def whole(text: bytes, *, is_laid_out: bool) -> EditedRows:
    rows = scanned(text, is_laid_out=is_laid_out)
    return edited_rows(rows, 0, rows.count - 1, is_laid_out=is_laid_out)


def typed_over(text: bytes, edited: EditedRows, typed: str) -> bytes:
    patch = edited.patch(typed, "typed")
    return text[: patch.start] + patch.data + text[patch.stop :]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("is_laid_out", [True, False])
def test_only_the_line_that_was_typed_over_is_another(indent, is_laid_out):
    text = json.dumps(VALUE, indent=indent).encode()
    edited = whole(text, is_laid_out=is_laid_out)
    assert typed_over(text, edited, edited.text) == text
    changed = edited.text.replace("t/3", "t/three").replace("t/7", "t/seven")
    assert typed_over(text, edited, changed) == text.replace(b"t/3", b"t/three").replace(b"t/7", b"t/seven")


def test_lines_are_added_and_removed_as_their_neighbours_are_spaced():
    text = json.dumps(VALUE).encode()
    edited = whole(text, is_laid_out=True)
    lines = edited.text.split("\n")
    at = next(number for number, line in enumerate(lines) if "t/3" in line)
    lines.insert(at + 1, '    "t/new": ["u"],')
    del lines[at - 1]
    expected = text.replace(b'"t/2": ["s3://b/x", 2, 4], ', b"").replace(b'"t/4"', b'"t/new": ["u"], "t/4"')
    assert typed_over(text, edited, "\n".join(lines)) == expected


def test_lines_are_added_at_the_end_of_lines():
    text = b'{\r\n "a": 1\r\n}'
    edited = whole(text, is_laid_out=False)
    assert typed_over(text, edited, edited.text + "\n") == text + b"\n"
    assert typed_over(text, edited, '{\n "a": 2\n}') == b'{\r\n "a": 2\r\n}'


def test_what_turns_text_around_is_typed_as_an_escape():
    text = '{"a": "x\u202ey"}'.encode()
    edited = whole(text, is_laid_out=False)
    assert edited.text == '{"a": "x\\u202ey"}'
    assert typed_over(text, edited, edited.text) == text
    assert typed_over(text, edited, edited.text + " ") == b'{"a": "x\\u202ey"} '


def test_a_part_of_a_large_text_is_what_begins_in_the_row():
    value = {"refs": {f"t/{i}": ["s3://b/x" * 9, i, 4] for i in range(5000)}, "gen": [{"a": 1}, {"b": 2}]}
    text = json.dumps(value).encode()
    assert len(text) > EDITED
    rows = scanned(text, is_laid_out=True)
    first, last = rows_around(rows, text.index(b'"gen"'))
    edited = edited_rows(rows, first, last, is_laid_out=True)
    assert edited.text == '"gen": [\n  {"a": 1},\n  {"b": 2}\n]'
    assert typed_over(text, edited, edited.text.replace("2", "3")) == text.replace(b'"b": 2', b'"b": 3')
    row, same = rows_around(rows, text.index(b'"refs"'))
    assert row == same
    assert edited.character(text.index(b'{"b"')) == edited.text.index('{"b"')
    assert edited.position(edited.text.index('{"b"')) == text.index(b'{"b"')


def test_a_line_of_any_length_is_refused_without_being_gone_through(monkeypatch: pytest.MonkeyPatch):
    rows = scanned(b'{"a": "' + b"x" * 3_000_000 + b'"}', is_laid_out=True)
    asked: list[int] = []
    span = TextRows.span

    def counted(rows: TextRows, row: int) -> RowSpan:
        asked.append(row)
        return span(rows, row)

    monkeypatch.setattr(TextRows, "span", counted)
    for row in (1, rows.count // 2, rows.count - 2):
        with pytest.raises(NotEditableError):
            edited_rows(rows, row, row, is_laid_out=True)
    assert len(asked) < rows.count


def test_what_is_too_long_or_no_text_is_refused():
    rows = scanned(b'{"a": "' + b"x" * (EDITED + 10) + b'"}', is_laid_out=False)
    with pytest.raises(NotEditableError):
        edited_rows(rows, 0, 0, is_laid_out=False)
    rows = scanned(b'{"a": "' + b"x" * 30_000 + b'"}', is_laid_out=True)
    with pytest.raises(NotEditableError):
        edited_rows(rows, 0, rows.count - 1, is_laid_out=True)
    with pytest.raises(NotEditableError):
        whole(b'{"a": "\xff"}', is_laid_out=False)


@given(LINES, LINES)
def test_lines_become_any_other_lines(old, new):
    text = "\n".join(old).encode()
    if not text:
        return
    edited = whole(text, is_laid_out=False)
    assert typed_over(text, edited, "\n".join(new)) == "\n".join(new).encode()
