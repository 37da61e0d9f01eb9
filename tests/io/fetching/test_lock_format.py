"""Locks as files: written in one order, read whoever wrote them, and refused where they are none."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError
from refbrowser.io.access.access import lock_path
from refbrowser.io.fetching import lock_format
from refbrowser.io.fetching.lock_format import lock_text, parse_lock, read_lock, write_lock
from refbrowser.io.files.atomic import ChangedOnDiskError
from refbrowser.io.locks.lock import Lock, LockEntry
from refbrowser.limits import LIMITS, Limits

SUM = "sha256:" + "0f" * 32
#: As the page of the manual has it.
BY_HAND = """
{
  "lock": 1,
  "files": {
    "data/a.nc": {"size": 1200, "modified": "2025-01-01T01:00:00+01:00"},
    "https://host/b.nc": {"size": 5, "etag": "W/\\"x\\"", "head": "SUM", "tail": "SUM", "owner": {"id": 3}}
  },
  "not_locked": {"c.nc": "there is no such file"},
  "comment": ["anything"]
}
""".replace("SUM", SUM)

urls = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
sums = st.none() | st.binary(min_size=32, max_size=32)
entries = st.builds(
    LockEntry,
    size=st.integers(0, 2**63 - 1),
    etag=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    modified=st.none() | st.just("2025-01-01T00:00:00.5Z"),
    head=sums,
    tail=sums,
    at=st.just("") | st.just("2025-01-01T00:00:00Z"),
    by=st.just("") | st.just("hand"),
    others=st.none() | st.just({"owner": [1, None]}),
)
locks = st.builds(
    Lock,
    entries=st.dictionaries(urls, entries, max_size=5),
    not_locked=st.dictionaries(
        urls, st.text(st.characters(exclude_categories=["Cs"]), max_size=9), max_size=3
    ),
    at=st.just("") | st.just("2025-01-01T00:00:00Z"),
    by=st.just("refbrowser 1"),
    others=st.just({}) | st.just({"comment": {"deep": [[1]]}}),
)


def text_of(lock: Lock) -> bytes:
    return b"".join(lock_text(lock))


@pytest.mark.slow
@given(locks)
def test_a_lock_is_read_as_it_was_written(lock: Lock) -> None:
    text = text_of(lock)
    assert parse_lock(text) == lock
    # Whatever order the files came in, and again.
    backwards = dataclasses.replace(lock, entries=dict(reversed(lock.entries.items())))
    assert text_of(backwards) == text == text_of(parse_lock(text))
    assert json.loads(text)["lock"] == 1


def test_a_lock_by_hand_is_read_and_its_own_members_stay() -> None:
    lock = parse_lock(BY_HAND.encode())
    assert lock.entries["data/a.nc"] == LockEntry(1200, modified="2025-01-01T01:00:00+01:00")
    other = lock.entries["https://host/b.nc"]
    assert (other.etag, other.head, other.others) == ('W/"x"', bytes.fromhex("0f" * 32), {"owner": {"id": 3}})
    assert lock.not_locked == {"c.nc": "there is no such file"}
    said = json.loads(text_of(lock))
    assert said == json.loads(BY_HAND)


def test_each_file_has_a_line() -> None:
    lock = Lock({"b": LockEntry(1), "a": LockEntry(2)}, at="2025-01-01T00:00:00Z", by="x")
    assert text_of(lock).decode() == (
        '{\n  "lock": 1,\n  "made": {"at": "2025-01-01T00:00:00Z", "by": "x"},\n  "files": {\n'
        '    "a": {"size": 2},\n    "b": {"size": 1}\n  }\n}\n'
    )
    assert text_of(Lock({})) == b'{\n  "lock": 1,\n  "files": {}\n}\n'


def with_entry(**said: Any) -> str:
    return json.dumps({"lock": 1, "files": {"a": {"size": 1, **said}}})


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("", ErrorKind.JSON, "it is not JSON"),
        ("{", ErrorKind.JSON, "it is not JSON"),
        ("[]", ErrorKind.SCHEMA, "not a JSON object"),
        ("{}", ErrorKind.SCHEMA, "its version, the member 'lock', is none"),
        ('{"lock": 2, "files": {}}', ErrorKind.SCHEMA, "is '2': 1 is understood"),
        ('{"lock": true, "files": {}}', ErrorKind.SCHEMA, "is 'True': 1 is understood"),
        ('{"lock": 1}', ErrorKind.SCHEMA, "no object 'files'"),
        ('{"lock": 1, "files": []}', ErrorKind.SCHEMA, "no object 'files'"),
        ('{"lock": 1, "files": {}, "not_locked": 3}', ErrorKind.SCHEMA, "'not_locked' is not an object"),
        ('{"lock": 1, "files": {}, "not_locked": {"a": 3}}', ErrorKind.SCHEMA, "why 'a' is not locked"),
        ('{"lock": 1, "files": {"": {"size": 1}}}', ErrorKind.SCHEMA, "a URL is empty"),
        ('{"lock": 1, "files": {"\\ud800": {"size": 1}}}', ErrorKind.SCHEMA, "is not text"),
        ('{"lock": 1, "files": {"a": 3}}', ErrorKind.SCHEMA, "is not an object"),
        (
            '{"lock": 1, "files": {"a": {"size": 1}, "a": {"size": 2}}}',
            ErrorKind.SCHEMA,
            "'a' occurs twice",
        ),
        ('{"lock": 1, "files": {"a": {"size": 1, "size": 2}}}', ErrorKind.SCHEMA, "'size' occurs twice"),
        ('{"lock": 1, "files": {"a": {"size": NaN}}}', ErrorKind.JSON, "NaN is not JSON"),
        ('{"lock": 1, "files": {"a": {"size": 1%s}}}' % ("0" * 5000), ErrorKind.JSON, "it is not JSON"),
        ('{"lock": 1, "files": {"a": {}}}', ErrorKind.SCHEMA, "the size of 'a'"),
        (with_entry(size=-1), ErrorKind.SCHEMA, "the size of 'a'"),
        (with_entry(size=1.0), ErrorKind.SCHEMA, "the size of 'a'"),
        (with_entry(size=True), ErrorKind.SCHEMA, "the size of 'a'"),
        (with_entry(size=2**63), ErrorKind.SCHEMA, "the size of 'a'"),
        (with_entry(etag=3), ErrorKind.SCHEMA, "'etag' of 'a'"),
        (with_entry(etag="x" * 2000), ErrorKind.SCHEMA, "'etag' of 'a'"),
        (with_entry(modified="yesterday"), ErrorKind.SCHEMA, "'yesterday'"),
        (with_entry(head="sha256:00"), ErrorKind.SCHEMA, "'head' of 'a' is not a SHA-256"),
        (with_entry(tail=[SUM]), ErrorKind.SCHEMA, "'tail' of 'a'"),
        (with_entry(made="now"), ErrorKind.SCHEMA, "'made' of 'a' is not an object"),
        (with_entry(made={"at": 3}), ErrorKind.SCHEMA, "when and by what 'a' was made"),
        ("[" * 100_000, ErrorKind.BUDGET, "nested too deep"),
        (with_entry(more=json.loads("[" * 300 + "]" * 300)), ErrorKind.BUDGET, "(json_nesting)"),
        (json.dumps({"lock": 1, "files": {"a" * 20_000: {"size": 1}}}), ErrorKind.BUDGET, "(url_length)"),
    ],
)
def test_what_is_no_lock_is_refused(text: str, kind: ErrorKind, words: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        parse_lock(text.encode("utf-8", "surrogatepass"))
    assert caught.value.kind is kind
    assert words in caught.value.message
    assert len(caught.value.message) < 400


def test_digests_of_other_kinds_are_as_if_there_were_none() -> None:
    assert parse_lock(with_entry(head="sha512:abc").encode()).entries["a"].head is None


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(RefbrowserError, match="byte 0 is not UTF-8"):
        parse_lock(b"\xff{}")
    assert parse_lock(b"\xef\xbb\xbf" + BY_HAND.encode()).entries


def test_size_and_number_of_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.lock.json"
    path.write_text(with_entry())
    size = path.stat().st_size

    def limit(**changes: int) -> None:
        monkeypatch.setattr(lock_format, "LIMITS", dataclasses.replace(LIMITS, **changes))

    limit(lock_size=size, lock_files=1)
    assert read_lock(path)[0].entries
    limit(lock_size=size - 1)
    with pytest.raises(RefbrowserError, match=r"\(lock_size\)") as caught:
        read_lock(path)
    assert caught.value.place.document == str(path)
    limit(lock_files=0)
    with pytest.raises(RefbrowserError, match=r"\(lock_files\)"):
        read_lock(path)


def test_a_lock_is_replaced_whole_or_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.lock.json"
    with pytest.raises(AbsentError):
        read_lock(path)
    first = write_lock(path, Lock({"a": LockEntry(1)}))
    before = path.read_bytes()
    assert read_lock(path) == (Lock({"a": LockEntry(1)}), first)
    broken = Lock({"a": LockEntry(1, others={"x": {1, 2}})})
    with pytest.raises(TypeError):
        write_lock(path, broken)
    assert path.read_bytes() == before
    write_lock(path, Lock({}))
    with pytest.raises(ChangedOnDiskError):
        write_lock(path, Lock({}), expected=first)
    assert [each.name for each in tmp_path.iterdir()] == ["x.lock.json"]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ("/a/doc.json", "/a/doc.json.lock.json"),
        ("/a/refs.parquet/", "/a/refs.parquet.lock.json"),
        ("https://h/doc.json?v=1", "https://h/doc.json.lock.json?v=1"),
        ("s3://b/refs.parquet/", "s3://b/refs.parquet.lock.json"),
    ],
)
def test_where_the_lock_of_a_document_is(document: str, path: str) -> None:
    assert lock_path(document) == path


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ('{"lock": 1, "files": {}, "x": [%s[]]}' % ("[]," * 20), {"lock_objects": 10}),
        ('{"lock": 1, "files": {}, "x": [%s{}]}' % ("{}," * 20), {"lock_objects": 10}),
        ('{"lock": 1, "files": {}, "x": [%s0]}' % ("0," * 20), {"lock_values": 10}),
    ],
)
def test_values_are_counted_before_they_are_made(
    monkeypatch: pytest.MonkeyPatch, text: str, limit: dict[str, int]
) -> None:
    assert parse_lock(text.encode()).others
    monkeypatch.setattr(lock_format, "LIMITS", Limits(**limit))
    monkeypatch.setattr(lock_format.json, "loads", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(RefbrowserError, match=next(iter(limit))) as caught:
        parse_lock(text.encode())
    assert caught.value.kind is ErrorKind.BUDGET
