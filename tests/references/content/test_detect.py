"""Which version a document is, exactly as the specification and its silence are read here."""

from __future__ import annotations

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetVersion


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("{}", 0),
        ('{"a": "x"}', 0),
        ('{"version": 1}', 1),
        ('{"version": 1.0, "refs": {}}', 1),
        ('{"refs": {}, "version": 1, "other": 5}', 1),
        ('{"version": "text"}', 0),
        ('{"version": ["u", 0, 1], "a": "x"}', 0),
        ('{"version": "text", "refs": "x"}', 0),
        ('{"refs": {}, "x": "data"}', 0),
        ('{"gen": [], "x": "data"}', 0),
        ('{"refs": "x"}', 0),
        ('{"gen": {}}', 0),
        ('{"templates": "t", "refs": ["u"]}', 0),
    ],
)
def test_versions(text: str, version: int) -> None:
    document = ReferenceDocument.of(text.encode())
    assert document.version == version
    assert not document.version_missing
    assert document.to_bytes() == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        '{"refs": {}}',
        '{"templates": {}}',
        '{"gen": []}',
        '{"gen": [], "refs": 5}',
        '{"refs": {"a": "x"}, "gen": "t"}',
    ],
)
def test_the_version_is_missing(text: str) -> None:
    document = ReferenceDocument.of(text.encode())
    assert document.version == 1
    [finding] = [each for each in document.findings if each.message == "the version is missing"]
    assert (finding.severity, finding.kind) == (Severity.FAULT, ErrorKind.SCHEMA)
    assert (finding.place.line, finding.place.column) == (1, 1)
    repaired = document.apply(finding.fix)
    assert repaired.to_bytes().startswith(b'{"version": 1')
    assert not [each for each in repaired.findings if "version" in each.message]
    assert ReferenceDocument.of(repaired.to_bytes()).version == 1


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"version": 2}', 1, 13),
        ('{"version": 0, "refs": {}}', 1, 13),
        ('{\n "version": true}', 2, 13),
        ('{"version": null}', 1, 13),
        ('{"version": {}}', 1, 13),
        ('{"version": 1.5}', 1, 13),
        ('{"version": "1", "refs": {}}', 1, 13),
        ('{"gen": [], "version": ["u"]}', 1, 24),
    ],
)
def test_versions_that_are_refused(text: str, line: int, column: int) -> None:
    with pytest.raises(RefbrowserError) as caught:
        ReferenceDocument.of(text.encode(), name="doc")
    error = caught.value
    assert error.kind is ErrorKind.SCHEMA
    assert (error.place.pointer, error.place.line, error.place.column) == ("/version", line, column)


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "null", " [1, 2]"])
def test_what_is_no_object(text: str) -> None:
    with pytest.raises(RefbrowserError, match="not an object") as caught:
        ReferenceDocument.of(text.encode())
    assert caught.value.kind is ErrorKind.SCHEMA


def test_the_last_of_several_members_counts() -> None:
    text = b'{"version": 2, "refs": {"a": "x"}, "version": 1, "refs": {"b": "y", "c": "z"}}'
    document = ReferenceDocument.of(text)
    assert document.version == 1
    assert document.refs.keys(0, 9) == ["b", "c"]
    assert document.to_bytes() == text
    messages = [(finding.place.pointer, finding.severity) for finding in document.findings]
    assert messages == [("/version", Severity.WARNING), ("/refs", Severity.WARNING)]


def test_version_0_becomes_version_1() -> None:
    document = ReferenceDocument.of(b' {"a/0": ["u", 1, 2],\n "b": "x"}\n')
    changed = document.apply(SetVersion(1))
    assert changed.to_bytes() == b' {"version": 1, "refs": {"a/0": ["u", 1, 2],\n "b": "x"}}\n'
    assert changed.expansion.item(0) == document.expansion.item(0)
    with pytest.raises(RefbrowserError, match="would render"):
        ReferenceDocument.of(b'{"a": ["{{u}}"]}').apply(SetVersion(1))
