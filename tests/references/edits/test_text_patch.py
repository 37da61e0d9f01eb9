"""Patches of the text: quick within one entry or beside refs, and always what reading it all gives."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits import text_patch
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.references.edits.text_patch import TextPatch, smallest_patch

VALUE = {
    "version": 1,
    "templates": {"u": "s3://b"},
    "gen": [{"key": "a/{{i}}", "url": "{{u}}", "dimensions": {"i": {"stop": 3}}}],
    "refs": {".zgroup": '{"zarr_format": 2}', **{f"t/{i}": ["{{u}}/x", i, 4] for i in range(9)}},
    "more": [1],
}
TEXT = json.dumps(VALUE).encode()
FLAT = json.dumps({"version": "a text", **VALUE["refs"]}).encode()


@pytest.fixture(autouse=True)
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_patch, "_SMALL", 0)


def documents() -> list[ReferenceDocument]:
    plain = ReferenceDocument.of(TEXT)
    edited = plain.apply(SetReference("t/2", ["other", 1, 2])).apply(RemoveReference("t/4"))
    return [plain, edited.apply(SetReference("new", "text")), ReferenceDocument.of(FLAT)]


TYPED = [b"", b"7", b'"', b"s", b"{}", b",", b" ", b"[1]"]
SPLICES = st.tuples(st.integers(0, len(TEXT)), st.integers(0, 6), st.sampled_from(TYPED))


@settings(deadline=None)
@given(SPLICES, st.integers(0, 2))
def test_a_patch_gives_what_reading_the_text_gives(splice, number):
    start, size, data = splice
    document = documents()[number]
    text = document.to_bytes()
    start = min(start, len(text))
    stop = min(start + size, len(text))
    patch = TextPatch("typed", start, stop, data)
    expected = text[:start] + data + text[stop:]
    read = document_or_fault(expected)
    if isinstance(read, str):
        with pytest.raises(RefbrowserError, match=re.escape(read)):
            document.apply(patch)
        return
    changed = document.apply(patch)
    assert changed.to_bytes() == expected
    assert changed.version == read.version
    assert [*changed.expansion.to_version0(skip_bad=True)] == [*read.expansion.to_version0(skip_bad=True)]
    assert [each.message for each in changed.findings] == [each.message for each in read.findings]


def document_or_fault(text: bytes) -> ReferenceDocument | str:
    try:
        return ReferenceDocument.of(text)
    except RefbrowserError as error:
        return error.message


def test_what_is_quick_shares_its_table():
    document = documents()[0]
    at = TEXT.index(b"3, 4]")
    changed = document.apply(TextPatch("typed", at, at + 1, b"33"))
    assert changed.refs.table is document.refs.table
    at = TEXT.index(b"s3://b")
    changed = document.apply(TextPatch("typed", at, at + 2, b"https"))
    assert changed.refs is document.refs
    assert changed.templates.texts == {"u": "https://b"}


def test_the_smallest_patch_is_where_texts_differ():
    assert smallest_patch(b"abcdef", b"abXdef", "t", 10) == TextPatch("t", 12, 13, b"X")
    assert smallest_patch(b"aa", b"aaa", "t") == TextPatch("t", 2, 2, b"a")
