"""Archives without their directory: every member that is whole is found, and what is lost is told."""

from __future__ import annotations

import io
import random
import struct
import zipfile

import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from zip_made import Unseekable, archive

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.archives.directory import ZipDirectory
from refbrowser.io.archives.entries import find_end
from refbrowser.io.archives.rescued_members import BLOCK, Rescued, rescue
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.archive_reading import unpack

MEMBERS = [(f"dir/{number}", bytes([number]) * (number * 37), number % 2 == 0) for number in range(12)]
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def made(
    members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED, *, streamed: bool = False
) -> bytes:
    target = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as writing:
        for name, data in members:
            writing.writestr(name, data)
    return target.getvalue()


def rescued(data: bytes, most: int = 1 << 40) -> Rescued:
    return rescue(lambda start, stop: data[start:stop], len(data), "x.zip", most)


def content(directory: ZipDirectory, data: bytes, name: str) -> bytes:
    row = directory.find(name)
    assert row is not None
    member = directory.member(row)
    return bytes(unpack(member, memoryview(data)[member.start : member.stop], "x.zip").data)


def readable(data: bytes) -> dict[str, bytes]:
    directory = rescued(data).directory
    found = {}
    for name in directory.names():
        try:
            found[name] = content(directory, data, name)
        except RefbrowserError:
            continue
    return found


def without_directory(data: bytes) -> bytes:
    return data[: find_end(lambda start, stop: data[start:stop], len(data), "x").start]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_all_members_are_found_without_a_directory(method: int, streamed: bool) -> None:
    members = [(name, data) for name, data, _ in MEMBERS]
    data = without_directory(made(members, method, streamed=streamed))
    assert readable(data) == dict(members)
    assert rescued(data).findings == ()
    starts = rescued(data).data_starts
    assert [data[start - 5 : start - 1] for start in starts[:9]] == [b"dir/"] * 9


def test_what_stands_behind_the_members_is_not_lost() -> None:
    data = archive(MEMBERS, comment=b"a comment")
    broken = data.replace(b"PK\x01\x02", b"PK\x01\x03", 1)
    assert rescued(data[:-1]).findings == ()
    found = rescued(broken)
    assert [name for name, _, _ in MEMBERS] == list(found.directory.names())
    assert [finding.message for finding in found.findings] == [
        "no member is found in these bytes: they are lost"
    ]


@pytest.mark.parametrize("form", ["<3L", "<L2Q"])
@pytest.mark.parametrize("mark", [b"", b"PK\x07\x08"])
def test_sizes_behind_the_data_are_found_in_every_form(form: str, mark: bytes) -> None:
    body = b""
    members = {f"m{number}": b"PK\x07\x08 and PK" * number for number in range(3)}
    for name, data in members.items():
        crc = zipfile.crc32(data)
        body += struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 8, 0, 0, 33, 0, 0, 0, len(name), 0)
        body += name.encode() + data + mark + struct.pack(form, crc, len(data), len(data))
    end = b"PK\x05\x06" + bytes(18)
    assert readable(body + end) == members


def test_a_member_that_is_cut_short_is_told_and_refused() -> None:
    data = made([("whole", b"1" * 50), ("cut", b"2" * 50)])
    at = data.index(b"2" * 50) + 20
    found = rescued(data[:at])
    (lost,) = found.findings
    assert lost.kind is ErrorKind.RANGE
    assert lost.place.key == "cut"
    assert "20 of its 50 bytes" in lost.message
    assert content(found.directory, data, "whole") == b"1" * 50
    row = found.directory.find("cut")
    assert row is not None
    with pytest.raises(RefbrowserError):
        found.directory.member(row)


def test_bytes_between_members_that_are_damaged_are_told() -> None:
    data = made([("a", b"1" * 50), ("b", b"2" * 50), ("c", b"3" * 50)])
    at = data.index(b"PK\x03\x04", 1)
    stop = data.index(b"PK\x03\x04", at + 1)
    found = rescued(data[:at] + b"\0" * 30 + data[at + 30 :])
    assert list(found.directory.names()) == ["a", "c"]
    (lost,) = found.findings
    assert (lost.place.start, lost.place.stop) == (at, stop)


@pytest.mark.parametrize("size", [BLOCK - 40, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_headers_are_found_wherever_blocks_end(size: int) -> None:
    noise = random.Random(size).randbytes(size)
    inner = made([("late", b"1" * 50)])
    found = rescued(noise + inner)
    assert list(found.directory.names()) == ["late"]
    assert found.findings[0].place.stop == size
    assert content(found.directory, noise + inner, "late") == b"1" * 50


def test_sizes_beyond_32_bits_are_those_of_the_extra_field() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as writing, writing.open("a", "w", force_zip64=True) as member:
        member.write(b"1" * 50)
    data = without_directory(target.getvalue())
    assert readable(data) == {"a": b"1" * 50}


def test_huge_members_are_not_read_to_get_to_the_next() -> None:
    """Reads what headers need: 20 members of 1 GiB, as a sparse archive."""
    name, size = b"big", 1 << 30
    header = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, size, size, len(name), 0) + name
    each = len(header) + size
    asked = []

    def read(start: int, stop: int) -> bytes:
        asked.append(stop - start)
        data = bytearray(stop - start)
        first = start // each * each
        for at in range(first, stop, each):
            for place in range(max(at, start), min(at + len(header), stop)):
                data[place - start] = header[place - at]
        return bytes(data)

    found = rescue(read, 20 * each, "x.zip", 1 << 30)
    assert len(found.directory) == 20
    assert sum(asked) < 20 * BLOCK


def test_members_behind_four_gib_have_the_offsets_that_they_have() -> None:
    """Their local headers have extra fields with sizes alone; a directory has offsets there, too."""
    size = 1 << 33
    extra = struct.pack("<HHQQ", 1, 16, size, size)
    full = 0xFFFFFFFF
    head = (
        struct.pack("<4s5H3L2H", b"PK\x03\x04", 45, 0, 0, 0, 33, 0, full, full, 1, len(extra)) + b"a" + extra
    )
    each = len(head) + size

    def read(start: int, stop: int) -> bytes:
        inside = start % each
        return (head[inside:] + bytes(stop - start))[: stop - start]

    found = rescue(read, 2 * each, "x.zip", 1 << 30)
    assert found.data_starts == [len(head), each + len(head)]
    assert found.directory.size_of(1) == size
    assert found.directory.member(1).start == each


def test_the_search_ends_where_its_limit_says() -> None:
    data = without_directory(made([("a", b"1" * 50)])) + bytes(5 * BLOCK) + made([("b", b"2")])
    assert list(rescued(data).directory.names()) == ["a", "b"]
    found = rescued(data, most=2 * BLOCK)
    assert list(found.directory.names()) == ["a"]
    assert found.findings[-1].kind is ErrorKind.BUDGET


@pytest.mark.slow
def test_descriptors_that_are_nowhere_cost_no_more_than_the_limit() -> None:
    """Every header wants a search to the end: the work is that of the limit, not the square of the size."""
    header = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 8, 8, 0, 33, 0, 0, 0, 1, 0) + b"a"
    data = header * 100_000
    read = []

    def reading(start: int, stop: int) -> bytes:
        read.append(stop - start)
        return data[start:stop]

    rescue(reading, len(data), "x.zip", 8 << 20)
    assert sum(read) <= (8 << 20) + 2 * BLOCK


def test_a_rescue_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    data = made([("a", b"1" * 50)])
    with pytest.raises(Cancelled):
        rescue(lambda start, stop: data[start:stop], len(data), "x.zip", 1 << 30, token)


@given(st.binary(max_size=400), st.integers(0, 2000), st.integers(0, 2000), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_no_bytes_are_shown_that_were_not_confirmed(noise: bytes, at: int, stop: int, streamed: bool) -> None:
    """Whatever is overwritten or cut: what is still readable is what was written."""
    members = [(name, data) for name, data, _ in MEMBERS]
    data = made(members, zipfile.ZIP_STORED, streamed=streamed)
    broken = data[:at] + noise + data[at + len(noise) : len(data) - stop]
    written = dict(members)
    for name, found in readable(broken).items():
        assert found in (written.get(name), b"") or name not in written
