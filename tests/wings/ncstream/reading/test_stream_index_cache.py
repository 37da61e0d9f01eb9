"""Indexes that are kept: taken only for the stream that they are of, gone on from, bounded, never trusted."""

import json
import os
import zlib
from dataclasses import replace

import numpy as np
import pytest
import stream_encoder as enc
from test_stream_walk import HEADER, facts_of, text, tile, walked

from refbrowser.io.fetching.byte_sources import LocalBytes
from refbrowser.wings.ncstream.reading import opening
from refbrowser.wings.ncstream.reading.opening import cache_folder, indexed
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

MESSAGES = [tile("v", row, 0, 3) if row % 5 else text(row) for row in range(300)]


@pytest.fixture(autouse=True)
def always_kept(monkeypatch):
    monkeypatch.setattr(opening, "_WORTH", 0)
    monkeypatch.setattr(opening, "_recent", opening._Recent())


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.ncs"
    path.write_bytes(enc.stream(HEADER, *MESSAGES))
    return path


@pytest.fixture
def walks(monkeypatch):
    """What `walk_stream` was asked for: the index that it was to go on from, each time."""
    found = []
    walk = opening.walk_stream
    monkeypatch.setattr(
        opening,
        "walk_stream",
        lambda source, **options: found.append(options["resume"]) or walk(source, **options),
    )
    return found


def index_of(path, *, in_memory=False):
    if not in_memory:
        opening._recent = opening._Recent()
    with LocalBytes(path) as source:
        return indexed(source, url=os.fspath(path))


def files():
    return sorted(cache_folder().iterdir())


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_stream_is_walked_once(path, walks, in_memory):
    whole = walked(path.read_bytes())
    for _ in range(3):
        found = index_of(path, in_memory=in_memory)
        assert facts_of(found) == facts_of(whole)
        assert found.definition == whole.definition
        assert found.headers == whole.headers
    assert walks == [None]


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_stream_that_has_grown_is_gone_on_with(path, walks, in_memory):
    before = index_of(path)
    longer = enc.stream(HEADER, *MESSAGES, b"nonsense", *MESSAGES)
    path.write_bytes(longer)
    assert facts_of(index_of(path, in_memory=in_memory)) == facts_of(walked(longer))
    assert [each and each.size for each in walks] == [None, before.size]
    assert facts_of(index_of(path)) == facts_of(walked(longer))
    assert len(walks) == 2


@pytest.mark.parametrize("in_memory", [False, True])
def test_another_stream_of_the_same_size_is_walked(path, walks, in_memory, monkeypatch):
    monkeypatch.setitem(walk_stream.__globals__, "_TAIL", 16)
    index_of(path)
    # Its end is the same.
    other = enc.stream(HEADER, MESSAGES[1], MESSAGES[0], *MESSAGES[2:])
    assert len(other) == path.stat().st_size
    path.write_bytes(other)
    os.utime(path, ns=(1, 1))
    assert facts_of(index_of(path, in_memory=in_memory)) == facts_of(walked(other))
    assert walks == [None, None]


@pytest.mark.slow
def test_damaged_files_are_not_used(path, walks):
    expected = facts_of(index_of(path))
    (kept,) = files()
    sound = kept.read_bytes()
    for at in np.linspace(0, len(sound) - 1, 60).astype(int).tolist():
        kept.write_bytes(sound[:at] + bytes([sound[at] ^ 0x15]) + sound[at + 1 :])
        assert facts_of(index_of(path)) == expected
        kept.write_bytes(sound[:at])
        assert facts_of(index_of(path)) == expected
    kept.unlink()
    kept.mkdir()
    assert facts_of(index_of(path)) == expected


def forged(kept, change):
    """Give a file of the folder other facts and columns, with a checksum that is right."""
    _, _, body = kept.read_bytes().removeprefix(opening._MARK).partition(b"\n")
    line, _, packed = body.partition(b"\n")
    facts, data, at = json.loads(line), zlib.decompress(packed), 0
    columns = {}
    for name, dtype, count in facts["columns"]:
        columns[name] = np.frombuffer(data, dtype, count, at).copy()
        at += columns[name].nbytes
    change(facts, columns)
    facts["columns"] = [[name, each.dtype.str, len(each)] for name, each in columns.items()]
    packed = zlib.compress(b"".join(each.tobytes() for each in columns.values()) + data[at:])
    body = json.dumps(facts).encode() + b"\n" + packed
    kept.write_bytes(opening._MARK + b"%08x\n" % zlib.crc32(body) + body)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts, columns: columns.update(kind=columns["kind"][:3]),
        lambda facts, columns: columns.update(sizes=columns["sizes"][:3]),
        lambda facts, columns: columns["variable"].fill(77),
        lambda facts, columns: columns["section"].fill(-9),
        lambda facts, columns: columns["rank"].fill(3000),
        lambda facts, columns: columns["payload_offset"].fill(2**60),
        lambda facts, columns: columns["stop"].fill(2**62),
        lambda facts, columns: columns["offset"].fill(4),
        lambda facts, columns: columns["kind"].fill(99),
        lambda facts, columns: columns.update(start=columns["starts"].astype(float)),
        lambda facts, columns: facts.update(names=[1, 2]),
        lambda facts, columns: facts.update(state=None, names=None),
    ],
)
def test_forged_files_are_not_used(path, walks, change):
    expected = facts_of(index_of(path))
    (kept,) = files()
    forged(kept, lambda facts, columns: None)
    assert facts_of(index_of(path)) == expected
    assert len(walks) == 1
    forged(kept, change)
    assert facts_of(index_of(path)) == expected
    assert len(walks) == 2


def test_facts_that_are_nested_too_deeply_are_not_used(path):
    expected = facts_of(index_of(path))
    (kept,) = files()
    body = b"[" * 100_000 + b"\n"
    kept.write_bytes(opening._MARK + b"%08x\n" % zlib.crc32(body) + body)
    assert facts_of(index_of(path)) == expected


def test_links_are_not_followed(path, tmp_path):
    expected = facts_of(index_of(path))
    (kept,) = files()
    other = tmp_path / "other"
    other.write_bytes(b"not to be touched")
    kept.unlink()
    kept.symlink_to(other)
    assert facts_of(index_of(path)) == expected
    assert other.read_bytes() == b"not to be touched"
    assert not kept.is_symlink()


def test_what_is_walked_at_once_is_not_kept(path, monkeypatch):
    monkeypatch.setattr(opening, "_WORTH", 3600)
    index_of(path)
    assert not cache_folder().exists()


def test_all_indexes_together_are_bounded(tmp_path, monkeypatch):
    paths = [tmp_path / f"{number}.ncs" for number in range(6)]
    for path in paths:
        path.write_bytes(enc.stream(HEADER, *MESSAGES))
    index_of(paths[0])
    size = files()[0].stat().st_size
    object.__setattr__(STREAM_LIMITS, "stream_cache", 3 * size + size // 2)
    try:
        for moment, path in enumerate(paths):
            index_of(path)
            for each in files():
                if each.stat().st_mtime_ns > 10**12:
                    os.utime(each, ns=(moment, moment))
        assert len(files()) == 3
    finally:
        object.__setattr__(STREAM_LIMITS, "stream_cache", 256 << 20)


def test_a_large_index_is_not_kept(path):
    object.__setattr__(STREAM_LIMITS, "stream_index", 1000)
    try:
        index_of(path)
        assert not cache_folder().exists()
    finally:
        object.__setattr__(STREAM_LIMITS, "stream_index", 128 << 20)


def test_those_in_memory_that_were_used_least_make_room(path, tmp_path, walks, monkeypatch):
    monkeypatch.setattr(opening, "_keep", lambda *_: None)
    monkeypatch.setattr(opening, "_loaded", lambda *_: None)
    paths = [tmp_path / f"{name}.ncs" for name in "bcd"]
    for each in paths:
        each.write_bytes(path.read_bytes())
    size = opening._size(index_of(path).table)
    monkeypatch.setattr(opening, "_recent", opening._Recent())
    monkeypatch.setattr(opening, "STREAM_LIMITS", replace(STREAM_LIMITS, stream_recent=2 * size + size // 2))
    walks.clear()
    first, second, third = paths
    for each, walked_so_far in ((first, 1), (second, 2), (first, 2), (third, 3), (first, 3), (second, 4)):
        index_of(each, in_memory=True)
        assert len(walks) == walked_so_far, each
    monkeypatch.setattr(opening, "STREAM_LIMITS", replace(STREAM_LIMITS, stream_recent=size - 1))
    for walked_so_far in (5, 6):
        index_of(third, in_memory=True)
        assert len(walks) == walked_so_far
