"""Zip directories against the standard library as writer, and archives that are damaged or hostile."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zip_made import archive, contents, directory_of

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.io.archives import directory as zip_directory
from refbrowser.io.archives import entries as zip_entries
from refbrowser.io.archives.directory import kept_members, read_directory

part = st.text(
    st.characters(codec="utf-8", exclude_characters="/\\:", exclude_categories=("C",)), min_size=1, max_size=6
)
name = st.lists(part.filter(lambda text: text not in (".", "..")), min_size=1, max_size=3).map("/".join)
member = st.tuples(
    name, st.binary(max_size=300) | st.integers(0, 9).map(lambda n: bytes(n * 500)), st.booleans()
)
members = st.lists(member, max_size=8, unique_by=lambda each: each[0])
EVIL = [
    "../up",
    "a/../b",
    "/abs",
    "a\\b",
    "a//b",
    "data//x",
    "data//0/../1",
    "./a",
    "a/./b",
    "nul\x01",
    "zip::chain",
]


def patched(data: bytes, at: int, form: str, value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


def entry(data: bytes, number: int = 0) -> int:
    """Where an entry of the directory begins."""
    at = -1
    for _ in range(number + 1):
        at = data.index(b"PK\x01\x02", at + 1)
    return at


@pytest.mark.slow
@given(members, st.binary(max_size=40), st.booleans(), st.booleans())
def test_what_the_standard_library_writes(
    wanted: list[tuple[str, bytes, bool]], comment: bytes, zip64: bool, streamed: bool
) -> None:
    data = archive(wanted, comment=comment, zip64=zip64, streamed=streamed)
    directory = directory_of(data)
    assert list(directory.names()) == [name for name, _, _ in wanted]
    assert not list(directory.findings())
    for name, content, deflated in wanted:
        row = directory.find(name)
        assert row is not None
        assert (directory.size_of(row), directory.method_of(row)) == (len(content), 8 if deflated else 0)
        assert contents(data, name) == content


@pytest.mark.slow
@given(members, st.lists(name, max_size=4), st.integers(0, 2**32))
def test_many_members_are_found_as_each_is(
    wanted: list[tuple[str, bytes, bool]], others: list[str], seed: int
) -> None:
    data = archive(wanted)
    for at in range(len(wanted)):
        # Some of them cannot be read: their method is none, or they lie outside.
        if seed >> at & 1:
            data = patched(data, entry(data, at) + (10 if seed >> at & 2 else 42), "<H", 77)
    directory = directory_of(data)
    names = [*(each for each, _, _ in wanted), *others, "half \ud800"] * 2
    rows = directory.find_all(names)
    assert rows.tolist() == [-1 if (row := directory.find(each)) is None else row for each in names]
    there = rows[rows >= 0]
    assert directory.is_readable(there).tolist() == [directory.error(row) is None for row in there.tolist()]
    readable = there[directory.is_readable(there)]
    found = [directory.member(row) for row in readable.tolist()]
    starts, stops = directory.extents(readable)
    assert starts.tolist() == [each.start for each in found]
    assert stops.tolist() == [each.stop for each in found]


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "a/", "b/", "b/c/", "é/", "a" * 300 + "/"]), st.integers(0, 12))
        | st.tuples(st.sampled_from(["", "a/", "b/"]), st.sampled_from([".zarray", "x1", "7z", "٣", ".0"])),
        unique=True,
    ),
    st.integers(1, 5),
)
def test_of_chunks_in_one_folder_only_the_first_are_named(named: list[tuple[str, object]], few: int) -> None:
    names = [f"{folder}{last}" for folder, last in named]
    directory = directory_of(archive([(name, b"", False) for name in names]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zip_directory, "_FEW", few)
        found = [name for page in directory.names_but_chunks() for name in page]
    left_out = {
        name
        for at, name in enumerate(names)
        if at % few
        and name[-1] in "0123456789"
        and len(named[at][0]) <= 256
        and named[at][0] == named[at - 1][0]
    }
    assert found == [name for name in names if name not in left_out]
    assert directory.find_all(names).tolist() == [*range(len(names))]
    assert list(directory.names()) == names


def test_marks_within_entries_begin_none() -> None:
    comments = [b"", b"PK\x01\x02" * 20, b"PK\x01", b""] * 3
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for at, comment in enumerate(comments):
            info = zipfile.ZipInfo(f"m{at}")
            info.comment, info.extra = comment, comment and struct.pack("<HH", 0x4B50, 4) + b"PK\x01\x02"
            made.writestr(info, b"x" * at)
    directory = directory_of(data.getvalue())
    assert list(directory.names()) == [f"m{at}" for at in range(12)]
    assert [directory.size_of(at) for at in range(12)] == [*range(12)]


def test_names_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_directory, "hash", lambda name: 7, raising=False)
    directory = directory_of(archive([(f"m{at}", b"", False) for at in range(4)]))
    assert directory.find_all(["m2", "m0", "m9", "m3"]).tolist() == [2, 0, -1, 3]


def test_members_that_the_end_does_not_count_are_read_and_told() -> None:
    wanted = [(f"m{at}", b"x" * at, False) for at in range(5)]
    data = archive(wanted)
    end = data.rindex(b"PK\x05\x06")
    for count in range(5):
        lying = patched(patched(data, end + 8, "<H", count), end + 10, "<H", count)
        directory = directory_of(lying)
        assert list(directory.names()) == [name for name, _, _ in wanted]
        (finding,) = directory.findings()
        assert finding.severity is Severity.FAULT
        assert f"counts {count} members, its directory has 5" in finding.message
        assert contents(lying, "m4") == b"xxxx"
        with pytest.raises(RefbrowserError, match="more members"):
            list(kept_members(lambda start, stop, data=lying: data[start:stop], len(lying), "x.zip"))
    lying = patched(patched(data, end + 8, "<H", 6), end + 10, "<H", 6)
    with pytest.raises(RefbrowserError, match="ends early"):
        directory_of(lying)


def test_zip64_records_of_large_offsets() -> None:
    """Entries and end that say "see zip64", as archives beyond 4 GiB have them."""
    data = archive([("a", b"12345", False)])
    at = entry(data)
    end = data.index(b"PK\x05\x06")
    extra = struct.pack("<HHQQQ", 1, 24, 5, 5, 0)
    head = bytearray(data[at : at + 46])
    struct.pack_into("<LL", head, 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", head, 30, len(extra))
    struct.pack_into("<L", head, 42, 0xFFFFFFFF)
    directory = bytes(head) + b"a" + extra
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(directory), at)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at + len(directory), 1)
    last = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    assert end > at
    made = data[:at] + directory + record + locator + last
    assert zipfile.ZipFile(io.BytesIO(made)).read("a") == b"12345"
    assert contents(made, "a") == b"12345"
    assert contents(b"#!/bin/sh\n" + made, "a") == b"12345"


def test_bytes_before_the_archive_are_told() -> None:
    made = b"#!/bin/sh\n" + archive([("a", b"abc", True)])
    assert contents(made, "a") == b"abc"
    (finding,) = directory_of(made).findings()
    assert finding.severity is Severity.WARNING
    assert "10 bytes" in finding.message


def test_names_of_other_code_pages() -> None:
    data = archive([("caf\xe9", b"1", False)])
    raw = data.replace("caf\xe9".encode(), b"caf\x82\x82")  # cp437, without the flag of UTF-8
    raw = patched(raw, entry(raw) + 8, "<H", 0)
    raw = patched(raw, 6, "<H", 0)
    assert contents(raw, "caf\xe9\xe9") == b"1"
    wrong = patched(raw, entry(raw) + 8, "<H", 0x0800)
    assert not list(directory_of(wrong).names())


def test_the_comment_may_look_like_an_end() -> None:
    data = archive([("a", b"1", False)], comment=b"x" * 70 + b"PK\x05\x06" + b"y" * 60)
    assert contents(data, "a") == b"1"
    longest = archive([("a", b"1", False)], comment=b"z" * 0xFFFF)
    assert contents(longest, "a") == b"1"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_members_with_one_name_the_last_counts() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for value in (b"old", b"older", b"new"):
            made.writestr("a", value)
    data = target.getvalue()
    assert contents(data, "a") == b"new"
    directory = directory_of(data)
    assert list(directory.names()) == ["a"]
    assert [finding.severity for finding in directory.findings()] == [Severity.WARNING] * 2


@pytest.mark.parametrize("name", EVIL)
def test_names_that_are_no_keys_are_stray(name: str) -> None:
    directory = directory_of(archive([(name, b"1", False), ("good", b"2", False)]))
    assert list(directory.names()) == ["good"]
    assert directory.find(name) is None
    (finding,) = directory.findings()
    assert (finding.kind, finding.place.key) == (ErrorKind.UNSAFE, name)


def test_folders_are_no_members() -> None:
    directory = directory_of(archive([("d/", b"", False), ("d/a", b"1", False)]))
    assert list(directory.names()) == ["d/a"]
    assert directory.find("d/") is None
    assert not list(directory.findings())


@pytest.mark.parametrize(
    ("field", "form", "value", "kind"),
    [
        (8, "<H", 1, ErrorKind.PROTOCOL),  # encrypted
        (10, "<H", 9, ErrorKind.PROTOCOL),  # bzip2
        (20, "<L", 400, ErrorKind.FORMAT),  # a stored member's two sizes
        (42, "<L", 10**6, ErrorKind.RANGE),
    ],
)
def test_faults_of_one_member_leave_the_others(field: int, form: str, value: int, kind: ErrorKind) -> None:
    data = archive([("bad", b"1" * 20, False), ("good", b"2" * 20, False)])
    broken = patched(data, entry(data) + field, form, value)
    directory = directory_of(broken)
    row = directory.find("bad")
    assert row is not None
    with pytest.raises(RefbrowserError) as caught:
        directory.member(row)
    assert caught.value.kind is kind
    assert [finding.place.key for finding in directory.findings()] == ["bad"]
    assert contents(broken, "good") == b"2" * 20


def test_members_that_share_bytes_are_refused() -> None:
    data = archive([("a", b"1" * 100, False), ("b", b"2" * 100, False), ("c", b"3", False)])
    broken = patched(data, entry(data, 1) + 42, "<L", 40)
    directory = directory_of(broken)
    assert {finding.place.key for finding in directory.findings()} == {"a", "b"}
    assert contents(broken, "c") == b"3"


def test_no_member_can_inflate_beyond_what_deflate_can() -> None:
    data = archive([("a", bytes(100_000), True)])
    bomb = patched(data, entry(data) + 24, "<L", 4_000_000_000)
    directory = directory_of(bomb)
    with pytest.raises(RefbrowserError, match="contradict"):
        directory.member(directory.find("a") or 0)
    more = patched(data, entry(data) + 24, "<L", 99_999)
    with pytest.raises(RefbrowserError, match="more bytes when unpacked"):
        contents(more, "a")
    fewer = patched(data, entry(data) + 24, "<L", 100_001)
    with pytest.raises(RefbrowserError, match="has 100000 bytes"):
        contents(fewer, "a")


@pytest.mark.parametrize("deflated", [False, True])
def test_bytes_are_only_shown_when_they_were_confirmed(deflated: bool) -> None:
    data = archive([("some", b"values of a chunk" * 5, deflated)])
    for at, message in (
        (0, "no local header"),
        (30, "another name"),
        (8, "another compression"),
        (18, "another size"),
    ):
        with pytest.raises(RefbrowserError, match=message):
            contents(patched(data, at, "<B", data[at] ^ 1), "some")
    with pytest.raises(RefbrowserError, match="CRC-32"):
        contents(patched(data, entry(data) + 16, "<L", 5), "some")
    with pytest.raises(RefbrowserError):
        contents(patched(data, 40, "<B", data[40] ^ 0x55), "some")


def test_wrong_extra_fields_do_not_move_the_data_out_of_the_member() -> None:
    data = archive([("a", b"1" * 9, False), ("b", b"2" * 9, False)])
    with pytest.raises(RefbrowserError, match="what follows"):
        contents(patched(data, 28, "<H", 5), "a")


def test_every_cut_is_told_and_none_hangs() -> None:
    data = archive([("a", b"1" * 50, False), ("b", bytes(50), True)])
    for size in range(len(data)):
        with pytest.raises(RefbrowserError) as caught:
            directory_of(data[:size])
        assert caught.value.kind is ErrorKind.FORMAT


@given(st.integers(0, 10**9))
def test_damaged_archives_give_errors_and_nothing_else(seed: int) -> None:
    data = bytearray(archive([("a", b"1" * 30, False), ("b/c", bytes(90), True)], zip64=bool(seed % 2)))
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 6)):
        data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
    try:
        directory = directory_of(bytes(data))
        for key in directory.names():
            assert contents(bytes(data), key) is not None
    except RefbrowserError:
        pass


def test_limits_of_members_and_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive([(str(number), b"", False) for number in range(3)])
    limits = zip_directory.LIMITS
    monkeypatch.setattr(zip_directory, "LIMITS", replace(limits, zip_members=3))
    assert len(directory_of(data)) == 3
    for small in (replace(limits, zip_members=2), replace(limits, zip_directory=20)):
        monkeypatch.setattr(zip_directory, "LIMITS", small)
        with pytest.raises(RefbrowserError) as caught:
            directory_of(data)
        assert caught.value.kind is ErrorKind.BUDGET


def test_the_directory_is_read_in_few_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [(f"temp/{number}.0", b"1", False) for number in range(5000)]
    data = archive(members)
    asked: list[tuple[int, int]] = []

    def read(start: int, stop: int) -> bytes:
        asked.append((start, stop))
        return data[start:stop]

    directory = read_directory(read, len(data), "x.zip")
    assert len(asked) == 2
    monkeypatch.setattr(zip_entries, "BLOCK", 1000)
    again = read_directory(read, len(data), "x.zip")
    assert list(again.names()) == list(directory.names()) == [name for name, _, _ in members]
    # A small one comes with the end.
    asked.clear()
    small = archive(members[:100])
    read_directory(
        lambda start, stop: (asked.append((start, stop)), small[start:stop])[1], len(small), "x.zip"
    )
    assert len(asked) == 1
