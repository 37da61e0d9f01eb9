"""All texts of a document are searched."""

from __future__ import annotations

import json

import pytest

from refbrowser.formats.references import hierarchy_of
from refbrowser.references.document.document import Document, ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, RenameReference, ReplaceUrlPrefix, SetReference
from refbrowser.views.searching import text_search
from refbrowser.views.searching.pattern import SearchPattern
from refbrowser.views.searching.text_search import SearchEnd, TextHit, TextKind, search_texts

ARRAY = {
    "zarr_format": 2, "shape": [40], "chunks": [4], "dtype": "<i2", "compressor": {"id": "zlib", "level": 1},
    "filters": None, "fill_value": 0, "order": "C",
}  # fmt: skip
DOCUMENT = {
    "version": 1,
    "templates": {"root": "s3://needle-bucket"},
    "gen": [{"key": "b/{{ needle }}", "url": "{{root}}", "dimensions": {"needle": {"stop": 4}}}],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        ".zattrs": json.dumps({"title": "In a Needle", "more": {"deep": ["x", "needle2"]}, "needle": 7}),
        "needles/.zarray": json.dumps(ARRAY),
        "needles/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["needleness"]}),
        "needles/0": ["s3://bucket/a.nc", 0, 8],
        "needles/1": ["s3://bucket/needle.nc", 0, 8],
        "needles/2": "base64:bmVlZGxl",
        "needles/3": "a n\u00e9edle, a needle",
    },
}


def found(document: Document, text: str, **options: bool) -> tuple[list[TextHit], SearchEnd]:
    hits: list[TextHit] = []
    end = search_texts(document, hierarchy_of(document), SearchPattern.of(text, **options), hits.extend)
    return hits, end


def told(hits: list[TextHit]) -> set[tuple[TextKind, str, str]]:
    return {(hit.kind, hit.at, hit.name) for hit in hits}


@pytest.fixture
def document() -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps(DOCUMENT).encode())


def test_every_text_is_searched(document: ReferenceDocument):
    hits, end = found(document, "needle")
    assert end == SearchEnd()
    assert told(hits) == {
        (TextKind.NAME, "/needles", ""),
        (TextKind.ATTRIBUTE, "/", "title"),
        (TextKind.ATTRIBUTE, "/", "more"),
        (TextKind.ATTRIBUTE, "/", "needle"),
        (TextKind.ATTRIBUTE, "/needles", "_ARRAY_DIMENSIONS"),
        (TextKind.TEMPLATE, "root", ""),
        (TextKind.RULE, "", "key"),
        (TextKind.RULE, "", "dimension needle"),
        *((TextKind.KEY, f"needles/{name}", "") for name in (".zarray", ".zattrs", "0", "1", "2", "3")),
        (TextKind.URL, "needles/1", ""),
        (TextKind.METADATA, ".zattrs", ""),
        (TextKind.METADATA, "needles/.zattrs", ""),
        (TextKind.INLINE, "needles/2", ""),
        (TextKind.INLINE, "needles/3", ""),
    }
    for hit in hits:
        assert all(hit.text[start:stop].lower() == "needle" for start, stop in hit.spans)
        assert hit.spans


def test_case_words_and_expressions(document: ReferenceDocument):
    assert told(found(document, "Needle", any_case=False)[0]) == {
        (TextKind.ATTRIBUTE, "/", "title"),
        (TextKind.METADATA, ".zattrs", ""),
    }
    assert (TextKind.KEY, "needles/0", "") not in told(found(document, "needle", whole_words=True)[0])
    assert told(found(document, r"needles/[01]$", is_expression=True)[0]) == {
        (TextKind.KEY, "needles/0", ""),
        (TextKind.KEY, "needles/1", ""),
    }
    assert told(found(document, "zlib")[0]) == {(TextKind.METADATA, "needles/.zarray", "")}


def test_edits_are_searched(document: ReferenceDocument):
    edited: Document = document
    for edit in (
        SetReference("needles/0", ["s3://other/pin.nc", 0, 8]),
        RemoveReference("needles/1"),
        RenameReference("needles/2", "needles/pin"),
        SetReference("needles/4", "a pin"),
        SetReference("needles/5", ["s3://bucket/z.nc", 0, 8]),
        ReplaceUrlPrefix("s3://bucket/", "s3://pin/"),
    ):
        edited = edited.apply(edit)
    assert told(found(edited, "pin")[0]) == {
        (TextKind.KEY, "needles/pin", ""),
        (TextKind.URL, "needles/0", ""),
        (TextKind.URL, "needles/5", ""),
        (TextKind.INLINE, "needles/4", ""),
    }


def test_very_many_hits_are_cut_by_kind(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_search, "LISTED", 20)
    refs = {f"t/{i}": [f"s3://t/{i}", 0, 8] for i in range(20_000)} | {"x": "t/ inline"}
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
    hits, end = found(document, "t/")
    assert end.cut == {TextKind.KEY, TextKind.URL}
    assert len(hits) == 41
    hits, end = found(document, "T/19999")
    assert told(hits) == {(TextKind.KEY, "t/19999", ""), (TextKind.URL, "t/19999", "")}


def test_time_ends_a_search(document: ReferenceDocument, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_search, "SECONDS", -1.0)
    assert not found(document, "needle")[1].is_whole


def test_a_long_text_is_shown_around_what_is_found():
    value = "x" * 500 + "needle" + "y" * 500
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": {"a": value}}).encode())
    (hit,) = found(document, "needle")[0]
    assert hit.text.startswith("…xx")
    assert hit.text.endswith("yy…")
    assert [hit.text[start:stop] for start, stop in hit.spans] == ["needle"]
    assert len(hit.text) < 200
