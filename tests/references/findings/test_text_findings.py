"""Faults and warnings, each with its place; also after edits moved things."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.references.content.refs import References
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetReference, SetTemplate

TEXT = """{
  "version": 1,
  "templates": {"u": "s3://b", "bad": "{{ x", "n": 5},
  "gen": [{"key": "g{{i}}", "url": "u", "dimensions": {"i": {"stop": 2, "stride": 1}}, "note": NaN}],
  "refs": {
    "ok/0": ["{{u}}/f", 0, 10],
    "é/1": ["u", -1, 10], "after": 5,
    "short": ["u", 1],
    "undefined": ["{{nope}}", 1, 2],
    "text": "é",
    "object": {"a": 1},
    "b64": "base64:?",
    "ok/0": "again",
    "half": "\\ud800"
  },
  "extra": 1
}
"""

#: Severity, pointer, the text that stands at line and column.
EXPECTED = [
    ("warning", "/extra", '"extra"'),
    ("warning", "/gen/0/note", '"note"'),
    ("warning", "/gen/0/dimensions/i/stride", '"stride"'),
    ("warning", "/gen/0/note", "NaN"),
    ("fault", "/templates/bad", None),
    ("fault", "/templates/n", "5"),
    ("fault", "/refs/é~11".replace("~11", "~11"), "-1"),
    ("fault", "/refs/after", "5"),
    ("fault", "/refs/short", '["u", 1]'),
    ("fault", "/refs/undefined/0", '"undefined"'),
    ("warning", "/refs/text", '"é"'),
    ("warning", "/refs/object", '{"a": 1}'),
    ("fault", "/refs/b64", '"base64:?"'),
    ("warning", "/refs/ok~10", '"ok/0": "again"'),
    ("fault", "/refs/half", '"\\ud800"'),
]


def at(text: str, finding: Finding) -> str:
    """Return what stands at the place of a finding."""
    line, column = finding.place.line, finding.place.column
    assert line is not None
    assert column is not None
    return text.splitlines()[line - 1][column - 1 :]


def summary(document: ReferenceDocument) -> list[tuple[str, str | None]]:
    return [(finding.severity.value, finding.place.pointer) for finding in document.findings]


def test_every_fault_and_warning_has_its_place() -> None:
    document = ReferenceDocument.of(TEXT.encode(), name="doc.json")
    found = list(document.findings)
    for severity, where, text in EXPECTED:
        where = "/refs/é~11/1" if "é" in where else where
        matches = [
            finding
            for finding in found
            if (finding.severity.value, finding.place.pointer) == (severity, where)
            and (text is None or at(TEXT, finding).startswith(text))
        ]
        assert len(matches) == 1, (where, [(f.place.pointer, at(TEXT, f)[:20]) for f in found])
        found.remove(matches[0])
        assert matches[0].place.document == "doc.json"
    assert not found


def test_a_faulty_entry_cannot_be_read_and_the_others_can() -> None:
    expansion = ReferenceDocument.of(TEXT.encode()).expansion
    for key in ("é/1", "after", "short", "undefined", "b64", "half"):
        with pytest.raises(RefbrowserError) as caught:
            expansion.reference(key)
        assert caught.value.place.key == key
    assert expansion.value("ok/0") == b"again"
    assert expansion.value("text") == "é".encode()
    assert expansion.value("object") == b'{"a": 1}'
    assert expansion.reference("missing") is None


def test_places_follow_edits() -> None:
    document = ReferenceDocument.of(TEXT.encode())
    before = {finding.place.pointer: at(TEXT, finding)[:6] for finding in document.findings}
    edited = (
        document.apply(SetTemplate("u", "a much longer text"))
        .apply(SetReference("ok/0", ["a\nlong", 1, 2]))
        .apply(RemoveReference("short"))
        .apply(SetReference("newer", ["x", "new", '"new": ']))
        .apply(SetReference("new", [1, 2]))
        .apply(SetReference("text", "ü\né"))
    )
    text = edited.to_bytes().decode()
    after = {finding.place.pointer: at(text, finding)[:6] for finding in edited.findings}
    del before["/refs/short"]
    assert after.pop("/refs/new") == "[1, 2]"
    assert [after.pop("/refs/newer/1"), after.pop("/refs/newer/2")] == ['"new",', '"\\"new']
    assert after.pop("/refs/text").startswith('"ü\\né"')
    before.pop("/refs/text")
    assert after == before


def test_the_same_findings_after_saving() -> None:
    document = (
        ReferenceDocument.of(TEXT.encode()).apply(SetReference("new", [1, 2])).apply(RemoveReference("after"))
    )
    again = ReferenceDocument.of(document.to_bytes())
    assert [(f.message, f.place) for f in again.findings] == [(f.message, f.place) for f in document.findings]


@pytest.mark.parametrize(
    ("members", "where", "kind"),
    [
        ('"templates": []', "/templates", ErrorKind.SCHEMA),
        ('"gen": {}', "/gen", ErrorKind.SCHEMA),
        ('"refs": "x"', "/refs", ErrorKind.SCHEMA),
        ('"refs": null', "/refs", ErrorKind.SCHEMA),
    ],
)
def test_members_of_the_wrong_type(members: str, where: str, kind: ErrorKind) -> None:
    document = ReferenceDocument.of(('{"version": 1, ' + members + "}").encode())
    [finding] = document.findings
    assert (finding.severity, finding.kind, finding.place.pointer) == (Severity.FAULT, kind, where)
    assert document.expansion.rows == 0


def of_refs(refs: dict[str, Any]) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())


def warned(document: ReferenceDocument) -> list[str | None]:
    assert all(finding.severity is Severity.WARNING for finding in document.findings)
    return [finding.place.key for finding in document.findings]


def test_keys_that_only_case_or_normalisation_tells_apart() -> None:
    assert warned(of_refs({"Temp/.zattrs": "{}", "temp/.zattrs": "{}", "x": "1"})) == ["temp/.zattrs"]
    assert warned(of_refs({"T/0.0": "a", "t/0.0": "b", "t/0.1": "c"})) == ["t/0.0"]
    assert warned(of_refs({"caf\u00e9": "a", "cafe\u0301": "b"})) == ["cafe\u0301"]
    assert not warned(of_refs({"T/0.0": "a", "t/0.1": "c"}))


def test_keys_that_are_file_and_folder() -> None:
    assert warned(of_refs({"a": "x", "a/0.0": "y"})) == ["a"]
    assert warned(of_refs({"a/b/.zarray": "{}", "a": "y"})) == ["a"]
    assert warned(of_refs({"a/0": "x", "a/0/1": "y", "a/2/3": "z"})) == ["a/0"]
    assert not warned(of_refs({"a/0": "x", "a/1/1": "y"}))


def test_consolidated_metadata_is_compared() -> None:
    consolidated = {
        "metadata": {".zgroup": {"zarr_format": 2}, "a/.zattrs": {"units": "m"}},
        "zarr_consolidated_format": 1,
    }
    refs = {
        ".zmetadata": json.dumps(consolidated),
        ".zgroup": '{"zarr_format":2}',
        "a/.zattrs": '{"units": "m"}',
    }
    assert not of_refs(refs).findings
    refs["a/.zattrs"] = '{"units": "km"}'
    [finding] = of_refs(refs).findings
    assert (finding.severity, finding.kind, finding.place.key) == (
        Severity.WARNING,
        ErrorKind.META,
        ".zmetadata",
    )
    assert "'a/.zattrs'" in finding.message


def test_a_byte_order_mark_is_a_warning_and_stays() -> None:
    data = b'\xef\xbb\xbf{"version": 1, "refs": {"a": "x"}}'
    document = ReferenceDocument.of(data)
    assert [finding.kind for finding in document.findings] == [ErrorKind.ENCODING]
    assert document.to_bytes() == data
    changed = document.apply(SetReference("b", "y"))
    assert changed.to_bytes() == data[:-2] + b', "b": "y"}}'


def test_many_findings_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.references.findings import text_findings

    monkeypatch.setattr(text_findings, "MOST", 10)
    found = of_refs({f"k{number}": number for number in range(25)}).findings
    assert len(found) == 10
    assert sum(finding.count for finding in found) == 25


def repeated(**times: int) -> ReferenceDocument:
    entries = ",".join(f'"{key}":"{turn}"' for key, count in times.items() for turn in range(count))
    return ReferenceDocument.of(f'{{"version":1,"refs":{{{entries}}}}}'.encode())


def test_a_repeated_key_is_one_finding_however_often_it_comes() -> None:
    document = repeated(a=2, b=500, c=1)
    twice, often = document.findings
    assert "the key 'a' occurs more than once: the last one wins" in twice.message
    assert "the key 'b' occurs 500 times: the last one wins" in often.message
    assert [twice.place.key, often.place.key, often.count] == ["a", "b", 1]
    text = document.to_bytes().decode()
    assert at(text, often).startswith('"b":"1"')
    fixed = often.fix.apply(document)
    assert [fixed.refs.key(at) for at in range(len(fixed.refs))] == ["a", "a", "b", "c"]
    assert json.loads(fixed.to_bytes())["refs"]["b"] == "499"


@pytest.mark.parametrize("name", ["k{}", "t/{}"])
def test_many_repeated_keys_are_counted_and_not_looked_up(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from refbrowser.references.findings import text_findings

    monkeypatch.setattr(text_findings, "MOST", 3)
    document = repeated(**{name.format(number): 3 for number in range(200)})
    looked_up: list[str] = []
    all_slots = References.all_slots

    def looked(refs: References, key: str) -> list[int]:
        looked_up.append(key)
        return all_slots(refs, key)

    monkeypatch.setattr(References, "all_slots", looked)
    found = document.findings
    assert [finding.code for finding in found] == ["key-repeated"] * 3
    assert sum(finding.count for finding in found) == 200
    assert len(looked_up) == 4


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00}\x00", b"\xfe\xff\x00{\x00}", b"{\x00}\x00"])
def test_other_encodings_are_refused(data: bytes) -> None:
    with pytest.raises(RefbrowserError) as caught:
        ReferenceDocument.of(data)
    assert caught.value.kind is ErrorKind.ENCODING


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        (".zarray", "{not json", ErrorKind.JSON),
        ("zarr.json", "", ErrorKind.JSON),
        (".zattrs", "base64:gICA", ErrorKind.JSON),
        (".zgroup", "[" * 300 + "]" * 300, ErrorKind.BUDGET),
    ],
)
def test_metadata_that_is_not_json_is_a_fault(name: str, text: str, kind: ErrorKind) -> None:
    found = of_refs({"a/0": ["u", 0, 1], f"a/{name}": text, "b/.zattrs": "{}"}).findings
    faults = [finding for finding in found if finding.severity is Severity.FAULT]
    (fault,) = faults
    assert (fault.kind, fault.place.pointer, fault.place.key) == (kind, f"/refs/a~1{name}", f"a/{name}")
    assert fault.place.line is not None
