"""Members that bzip2 and LZMA packed: unpacked within what is announced, and refused otherwise."""

from __future__ import annotations

import io
import lzma
import struct
import tracemalloc
import zipfile

import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from zip_made import contents, directory_of

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.archives.entries import BZIP2, DEFLATED, LOCAL_HEADER, LZMA, METHODS, PackedError, unpacked
from refbrowser.limits import LIMITS

PACKED = [DEFLATED, BZIP2, LZMA]


def packed_archive(data: bytes, method: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as made:
        made.writestr("a", data)
    return target.getvalue()


def packed(data: bytes, method: int) -> memoryview:
    archive = packed_archive(data, method)
    size = zipfile.ZipFile(io.BytesIO(archive)).infolist()[0].compress_size
    return memoryview(archive)[LOCAL_HEADER + 1 :][:size]


def patched(data: bytes, at: int, form: str, value: int) -> bytes:
    made = bytearray(data)
    struct.pack_into(form, made, at, value)
    return bytes(made)


@pytest.mark.parametrize("method", PACKED)
@given(data=st.binary(max_size=3000), repeats=st.integers(1, 50))
@settings(max_examples=examples(30), deadline=None)
def test_what_was_packed_comes_back(method: int, data: bytes, repeats: int) -> None:
    data *= repeats
    assert bytes(unpacked(method, packed(data, method), len(data))) == data
    assert contents(packed_archive(data, method), "a") == data


@pytest.mark.parametrize("method", PACKED)
@pytest.mark.parametrize("by", [-1, 1])
def test_more_or_less_than_announced_is_refused(method: int, by: int) -> None:
    data = bytes(range(256)) * 100
    with pytest.raises(PackedError, match="has"):
        unpacked(method, packed(data, method), len(data) + by)


@pytest.mark.parametrize("method", PACKED)
@given(noise=st.binary(max_size=200), size=st.integers(0, 1 << 62))
@settings(max_examples=examples(50), deadline=None)
def test_bytes_that_nobody_packed_are_refused_without_much_memory(
    method: int, noise: bytes, size: int
) -> None:
    try:
        data = unpacked(method, memoryview(noise), size)
    except PackedError:
        return
    assert len(data) == size


def test_a_dictionary_is_no_larger_than_what_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """LZMA allocates what its header asks for: 4 GiB here."""
    asked = []
    decompressor = lzma.LZMADecompressor

    def asking(form: int, filters: list[dict[str, int]]) -> lzma.LZMADecompressor:
        asked.append(filters[0]["dict_size"])
        return decompressor(form, filters=filters)

    data = b"some values " * 1000
    raw = bytearray(packed(data, LZMA))
    raw[5:9] = b"\xff\xff\xff\xff"
    monkeypatch.setattr(lzma, "LZMADecompressor", asking)
    assert bytes(unpacked(LZMA, memoryview(raw), len(data))) == data
    assert asked == [len(data)]


@pytest.mark.slow
@pytest.mark.parametrize("method", PACKED)
def test_no_more_is_unpacked_than_is_announced(method: int) -> None:
    bomb = packed(bytes(64 << 20), method)
    tracemalloc.start()
    try:
        with pytest.raises(PackedError):
            unpacked(method, bomb, 10)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("at", [2, 4])
def test_properties_that_lzma_does_not_have_are_refused(at: int) -> None:
    raw = bytearray(packed(b"values", LZMA))
    raw[at] = 0xFF
    with pytest.raises(PackedError, match="properties"):
        unpacked(LZMA, memoryview(raw), 6)


@pytest.mark.parametrize("method", [BZIP2, LZMA])
def test_members_that_grow_without_measure_are_refused_before_they_are_unpacked(method: int) -> None:
    archive = packed_archive(bytes(100), method)
    entry = archive.rindex(b"PK\x01\x02")
    compressed = struct.unpack_from("<L", archive, entry + 20)[0]
    most = max(LIMITS.zip_growth_from, LIMITS.zip_growth * (compressed + 1) - 1)
    for size, kind in ((most, ErrorKind.DECODE), (most + 1, ErrorKind.BUDGET)):
        with pytest.raises(RefbrowserError) as caught:
            contents(patched(archive, entry + 24, "<L", size), "a")
        assert caught.value.kind is kind


def test_methods_have_their_names() -> None:
    for method, name in METHODS.items():
        directory = directory_of(packed_archive(b"1", method))
        assert METHODS[directory.method_of(0)] == name
        assert directory.member(0).is_packed == (name != "stored")
