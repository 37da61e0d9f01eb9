"""What a byte of the text belongs to, and where things stand."""

from __future__ import annotations

import json

import pytest

from refbrowser.formats.references import hierarchy_of
from refbrowser.references.content.finding_places import Positions
from refbrowser.references.document.document import Document, ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, ReplaceUrlPrefix, SetReference
from refbrowser.views.source.source_text import text_of
from refbrowser.views.source.text_places import (
    PlaceKind,
    TextPlace,
    key_position,
    member_position,
    node_position,
    place_at,
    rule_position,
    template_position,
)

ARRAY = {
    "zarr_format": 2, "shape": [40], "chunks": [4], "dtype": "<i2", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip
VALUE = {
    "version": 1,
    "templates": {"u": "s3://b"},
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "t/.zarray": json.dumps(ARRAY),
        **{f"t/{i}": ["s3://b/x", i, 4] for i in range(9)},
    },
    "gen": [
        {"key": "a/{{i}}", "url": "{{u}}", "dimensions": {"i": {"stop": 3}}},
        {"key": "b/{{i}}", "url": "x"},
    ],
    "more": [1],
}


def states() -> list[Document]:
    plain = ReferenceDocument.of(json.dumps(VALUE).encode())
    edited = plain.apply(SetReference("t/2", ["other", 1, 2222])).apply(RemoveReference("t/4"))
    edited = (
        edited.apply(RemoveReference("t/5")).apply(SetReference("new", "text")).apply(SetReference("n2", "x"))
    )
    return [plain, edited, edited.apply(ReplaceUrlPrefix("s3://b/", "https://elsewhere/"))]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_key_is_found_from_its_bytes_and_back(number):
    document = states()[number].written()
    positions = Positions(document)
    text = document.to_bytes()
    for key in json.loads(text)["refs"]:
        position = key_position(document, positions, key)
        assert position is not None
        assert text[position:].startswith(json.dumps(key).encode())
        for byte in (position, position + len(key) + 6):
            assert place_at(document, positions, byte) == TextPlace(PlaceKind.KEY, key)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_rules_templates_and_members_have_their_places(number):
    document = states()[number].written()
    positions, text = Positions(document), document.to_bytes()
    assert text[rule_position(document, positions, 1) :].startswith(b'{"key": "b/')
    assert rule_position(document, positions, 7) is None
    assert text[template_position(document, positions, "u") :].startswith(b'"u"')
    assert text[member_position(document, positions, "gen") :].startswith(b'"gen"')
    hierarchy = hierarchy_of(document)
    assert text[node_position(document, positions, hierarchy, "/t") :].startswith(b'"t/.zarray"')
    assert node_position(document, positions, hierarchy, "/nowhere") is None
    assert place_at(document, positions, text.index(b"b/{{")).words == "gen rule 1"
    assert place_at(document, positions, text.index(b'"u"')).words == "template u"
    assert place_at(document, positions, text.index(b'"more"')) == TextPlace(PlaceKind.TOP, "more")
    assert place_at(document, positions, 0) == TextPlace(PlaceKind.TOP)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_text_is_read_at_any_place(number):
    document = states()[number].written()
    text, whole = text_of(document), document.to_bytes()
    assert text.size == len(whole)
    assert b"".join(text.chunks()) == whole
    for start in range(0, len(whole), 7):
        assert text.read(start, start + 50) == whole[start : start + 50]
        assert b"".join(text.chunks(start)) == whole[start:]
