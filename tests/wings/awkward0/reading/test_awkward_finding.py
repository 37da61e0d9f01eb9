"""Schemas are found by their names and by what is in them, whatever else a container holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from awkward0_encoder import Encoder

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.reference import Inline
from refbrowser.wings.awkward0.awkward_limits import AwkwardLimits
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.reading import arrays as arrays_module
from refbrowser.wings.awkward0.reading.arrays import FoundSchemas, blob_names, find_schemas


@dataclass
class Held:
    """Blobs in memory."""

    members: Mapping[str, bytes | RefbrowserError]
    kind: str = "zip"
    url: str = "x.awkd"
    findings: Sequence[Finding] = ()
    asked: list[str] = field(default_factory=list)

    def names(self) -> Iterable[str]:
        return self.members

    def find(self, name: str) -> Blob | None:
        data = self.members.get(name)
        if data is None:
            return None
        if isinstance(data, RefbrowserError):
            return Blob(name, Inline(b""), 0, 0, error=data)
        return Blob(name, Inline(data), len(data), len(data))

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        self.asked += names
        return {name: self.members[name] for name in names if name in self.members}


def found_in(members: Mapping[str, bytes | RefbrowserError], kind: str = "zip") -> FoundSchemas:
    return find_schemas(Held(members, kind), CancelToken())


def members_of(name: str, **options: str) -> dict[str, bytes]:
    encoder = Encoder(name, **options)
    return encoder.members(encoder.jagged([2, 0, 1], [1.0, 2.0, 3.0]))


def names(found: FoundSchemas) -> list[str]:
    return [each.name.array for each in found.schemas]


@pytest.mark.parametrize("signature", ["awkward0", "awkward"])
def test_both_signatures_are_found(signature: str) -> None:
    assert names(found_in(members_of("one", signature=signature))) == ["one"]


@pytest.mark.parametrize("kind", ["zip", "folder", "hdf5"])
def test_only_schemas_are_read_where_their_names_tell(kind: str) -> None:
    members = {**members_of("one"), **members_of("two"), "notes.json": b"[1, 2]"}
    held = Held(members, kind)
    found = find_schemas(held, CancelToken())
    assert names(found) == ["one", "two"]
    assert sorted(held.asked) == ["notes.json", "one.json", "two.json"]


def test_schemas_with_any_suffix_are_found_among_the_members_that_no_schema_names() -> None:
    members = {**members_of("one"), **members_of("two", schema_suffix=".meta"), "readme.txt": b"{}"}
    held = Held(members)
    assert names(find_schemas(held, CancelToken())) == ["one", "two"]
    assert not {name for name in held.asked if name.startswith("one-")}
    assert names(found_in(members_of("", schema_suffix=""))) == [""]


def test_folders_and_other_files_of_datasets_are_not_searched_without_a_schema() -> None:
    members = members_of("two", schema_suffix=".meta")
    for kind in ("folder", "hdf5"):
        held = Held(members, kind)
        assert names(find_schemas(held, CancelToken())) == []
        assert held.asked == []


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'["awkward0"]',
        b'{"a": "awkward0"}',
        b'{"a": {"awkward0": 1}}',
        b'{"awkward0',
        b'"awkward0": 1, "schema": {"json": 1}',
        b"\x00\x01",
    ],
)
def test_other_json_is_no_array(text: bytes) -> None:
    found = found_in({"a.json": text, **members_of("one")})
    assert names(found) == ["one"]
    assert not found.unreadable


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b'{"awkward0": "0.15.5", "schema": {"js', ErrorKind.JSON),
        (b'  { "awkward" : "0.13", "schema": {"json": "\xff"}}', ErrorKind.ENCODING),
        (b'{"awkward0": "0.15.5"}', ErrorKind.SCHEMA),
        (b'{"awkward0": "0.15.5", "schema": {"json": 1}, "prefix": 4}', ErrorKind.SCHEMA),
    ],
)
def test_schemas_that_are_damaged_are_arrays_with_an_error(text: bytes, kind: ErrorKind) -> None:
    found = found_in({"bad.json": text, **members_of("good")})
    assert names(found) == ["bad", "good"]
    bad, good = found.schemas
    assert bad.error is not None
    assert bad.error.kind is kind
    assert bad.error.place.key == "bad.json"
    assert good.error is None


def test_members_that_cannot_be_read_are_told_apart() -> None:
    error = RefbrowserError(ErrorKind.DECODE, "the CRC-32 is wrong")
    found = found_in({"bad.json": error, "bad-1.raw": error, **members_of("good")})
    assert names(found) == ["good"]
    assert [(each.member, each.error) for each in found.unreadable] == [("bad.json", error)]


def test_the_names_of_blobs_have_prefix_and_folder() -> None:
    members = {f"sub/{name}": data for name, data in members_of("one").items()}
    (found,) = found_in(members).schemas
    assert {"one-0.raw", "sub/one-0.raw"} <= set(blob_names(found))
    absolute = {"awkward0": "1", "prefix": "one-", "schema": {"read": "x", "absolute": True, "id": 0}}
    (found,) = found_in({"one.json": json.dumps(absolute).encode()}).schemas
    assert list(blob_names(found)) == ["x", "x"]


def limited(monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    monkeypatch.setattr(arrays_module, "AWKWARD_LIMITS", AwkwardLimits(**limits))


@pytest.mark.parametrize(("most", "count"), [(2, 2), (3, 3), (4, 3)])
def test_the_number_of_arrays_is_limited(monkeypatch: pytest.MonkeyPatch, most: int, count: int) -> None:
    limited(monkeypatch, awkward_arrays=most)
    found = found_in({**members_of("a"), **members_of("b"), **members_of("c")})
    assert len(found.schemas) == count
    assert [finding.kind for finding in found.findings] == [ErrorKind.BUDGET] * (most < 3)


def test_the_search_among_other_members_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    members = {"x.bin": bytes(600), **members_of("two", schema_suffix=".meta")}
    assert names(found_in(members)) == ["two"]
    limited(monkeypatch, awkward_search=600 + 48)
    found = found_in(members)
    assert names(found) == []
    assert "awkward_search" in found.findings[0].message


def test_large_members_are_never_taken_for_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, awkward_schema=500)
    held = Held({"x.bin": bytes(501), "y.bin": bytes(500)})
    find_schemas(held, CancelToken())
    assert held.asked == ["y.bin"]


def test_a_search_can_be_cancelled_and_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays_module, "_BATCH", 1)
    told: list[tuple[int, int | None]] = []
    members = {**members_of("a"), **members_of("b")}
    find_schemas(Held(members), CancelToken(), lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
    token = CancelToken()
    with pytest.raises(Cancelled):
        find_schemas(Held(members), token, lambda done, total: token.cancel())


def test_schemas_of_one_file_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    members = {**members_of("a"), **members_of("b"), **members_of("c")}
    two = len(members["a.json"]) + len(members["b.json"])
    limited(monkeypatch, awkward_schemas=two)
    found = found_in(members)
    assert names(found) == ["a", "b"]
    assert "awkward_schemas" in found.findings[0].message
    limited(monkeypatch, awkward_schemas=two + len(members["c.json"]))
    assert names(found_in(members)) == ["a", "b", "c"]


def test_a_great_many_other_documents_are_not_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of reference documents is no file of arrays."""
    monkeypatch.setattr(arrays_module, "_BATCH_BYTES", 500)
    limited(monkeypatch, awkward_search=1000)
    others = {f"{number:03}.json": b'{"refs": {}}'.ljust(100) for number in range(100)}
    held = Held({**others, **members_of("z")}, "folder")
    assert not find_schemas(held, CancelToken()).schemas
    assert len(held.asked) == 15
    held = Held({**members_of("a"), **others, **members_of("z")}, "folder")
    assert names(find_schemas(held, CancelToken())) == ["a", "z"]


def test_members_that_are_read_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them may be as large as the largest schema."""
    monkeypatch.setattr(arrays_module, "_BATCH_BYTES", 250)
    members = {f"{number}.json": b" " * 100 for number in range(7)}
    together: list[int] = []

    class Counting(Held):
        def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
            together.append(len(names))
            return super().read(names, most)

    find_schemas(Counting(members, "folder"), CancelToken())
    assert together == [2, 2, 2, 1]
