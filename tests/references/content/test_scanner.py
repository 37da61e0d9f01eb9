"""The scanner against the exact reader: the same rows, the same faults, the same errors."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from deep import some
from looped import looped

from refbrowser.references.content import reader as reading
from refbrowser.references.content import scanner
from refbrowser.references.content.chunk_codes import split_key
from refbrowser.references.content.reader import DocumentReader, ReadResult
from refbrowser.references.content.table import ReferenceTable
from refbrowser.references.text.json_text import JsonError

ODD_KEYS = [
    "a1.2", "a/01.2", "a/1..2", "a/.1", "7/8/9", "a/b7", "/0", "/1/2", "a//3/4", "0/0", "c.0", "x1", "9x",
    "a/1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16", "a/99999999999999999999", "a/" + "1." * 30 + "2", "ü/0.1",
    "a/12345678901234567", "a/123456789.1", 'q"/1.1', "t\\/2.2", "", "a/-1", "a/1.2.", "b\n/1", "ab12/0/1",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    "\x00\x01", "é", "plain", "tab\t", "\u007f", "\x80", "", "base64:QUJD", "base64:Q$$$", "a\\/b", "\ud800",
    {"a": {"b": [1, "]"]}}, [], ["u", 1], ["u", -1, 2], ["u", 1.5, 2], [1, 2, 3], ["{{u}}", 1, 2],
    ["é", 1, 2],
    ['a\\b"', 1, 2], 5, None, True, ["u", 10**29, 5], ["u", 10**15, 1], ["u", 10**16 + 1, 1], ["u", 2**63, 1],
    ["x/y"], '{"a": "http://x/\\"y"}',
]  # fmt: skip


def entries(chooser: random.Random, count: int, odd: float) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for number in range(count):
        key = f"v{number * 3 // count}/{number // 10}.{number % 10}"
        if chooser.random() < odd / 2:
            key = chooser.choice(
                [f"g/w/{number}/{number % 7}", f"{number}", f"x{number}/.zattrs", f"key{number}"]
            )
        value: Any = [
            f"s3://b/f{number // 40}",
            chooser.choice([0, 5, number * 1000, 10**9 + number]),
            number * 7,
        ]
        if chooser.random() < odd:
            key = chooser.choice([key, *ODD_KEYS])
        if chooser.random() < odd:
            value = chooser.choice(ODD_VALUES)
        found.append((key, value))
    return found


def document(chooser: random.Random) -> bytes:
    odd = chooser.choice([0, 0, 0.02, 0.5])
    style: Any = chooser.choice(
        [{}, {"separators": (",", ":")}, {"indent": 1}, {"indent": 4}, {"ensure_ascii": False}]
    )
    texts = [
        json.dumps({key: value}, **style).strip()[1:-1]
        for key, value in entries(chooser, chooser.choice([40, 400, 2500]), odd)
    ]
    text = ",".join(texts)
    text = '{"version":1,"refs":{' + text + "}}" if chooser.random() < 0.7 else "{" + text + "}"
    if chooser.random() < 0.3:
        text = text.replace("/", "\\/")  # As ujson writes it.
    return text.encode("utf-8", "surrogatepass").replace(b"\xed\xa0\x80", b"\\ud800")


def corrupted(chooser: random.Random, data: bytes) -> bytes:
    at = chooser.randrange(len(data))
    kind = chooser.random()
    if kind < 0.5:
        return (
            data[:at]
            + chooser.choice([b'"', b"\\", b",", b":", b"}", b"]", b"x", b"0", b"\n", b"\x01", b"\xff"])
            + data[at + 1 :]
        )
    if kind < 0.8:
        return data[:at] + data[at + chooser.randrange(1, 4) :]
    return data[:at]


def refuse(*_: Any) -> int:
    return 0


def read(data: bytes, piece: int, scan: Any, monkeypatch: pytest.MonkeyPatch) -> ReadResult | tuple[str, int]:
    monkeypatch.setattr(reading, "scan", scan)
    try:
        return DocumentReader(data[start : start + piece] for start in range(0, len(data), piece)).read()
    except JsonError as error:
        return error.message, error.position


def assert_same(exact: ReferenceTable | None, scanned: ReferenceTable | None) -> None:
    if exact is None or scanned is None:
        assert exact is scanned
        return
    for name in ("start", "code", "offset", "length", "flagged"):
        assert np.array_equal(getattr(exact, name), getattr(scanned, name)), name
    for table in (exact, scanned):
        assert len(table) == table.group.count
    assert [exact.groups[number] for number in exact.group.of(np.arange(len(exact)))] == [
        scanned.groups[number] for number in scanned.group.of(np.arange(len(scanned)))
    ]
    assert urls(exact) == urls(scanned)


def urls(table: ReferenceTable) -> list[str | int]:
    return [table.urls[number] if number >= 0 else number for number in table.url.tolist()]


@pytest.mark.slow
@looped("seed", some(range(40), 6))
def test_scanner_reads_what_the_exact_reader_reads(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chooser = random.Random(seed)
    data = document(chooser)
    piece = chooser.choice([1 << 22, 5000, 20_000])
    for text in (data, *(corrupted(chooser, data) for _ in range(3))):
        exact = read(text, piece, refuse, monkeypatch)
        scanned = read(text, piece, scanner.scan, monkeypatch)
        if isinstance(exact, tuple) or isinstance(scanned, tuple):
            assert exact == scanned
            continue
        json.loads(text)
        assert_same(exact.refs, scanned.refs)
        assert_same(exact.top, scanned.top)


@pytest.mark.parametrize("style", ["plain", "compact", "indent", "ujson", "spaces"])
def test_scanner_takes_the_common_styles(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refs = {".zgroup": '{"zarr_format": 2}'}
    refs |= {f"temp/{row // 50}.{row % 50}": ["s3://b/file.nc", row * 1000, 1000] for row in range(3000)}  # type: ignore[misc]
    options: dict[str, Any] = {
        "plain": {},
        "compact": {"separators": (",", ":")},
        "ujson": {"separators": (",", ":")},
        "indent": {"indent": 2},
        "spaces": {"separators": (" , ", " : ")},
    }
    text = json.dumps({"version": 1, "refs": refs}, **options[style])
    if style == "ujson":
        text = text.replace("/", "\\/")
    taken = 0

    def counting(*arguments: Any) -> int:
        nonlocal taken
        count = scanner.scan(*arguments)
        taken += count
        return count

    result = read(text.encode(), 1 << 20, counting, monkeypatch)
    assert isinstance(result, ReadResult)
    assert taken > 0.95 * len(text)
    assert result.refs is not None
    assert result.refs.keys(range(len(result.refs))) == list(refs)


@pytest.mark.parametrize("separator", [".", "/"])
def test_scanner_takes_first_coordinates_of_any_size(separator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    firsts = [first for bits in (19, 20, 23) for first in range(2**bits - 50, 2**bits + 50)]
    keys = [f"a/c/{separator.join(map(str, (first, 3, first % 7)))}" for first in firsts]
    # What takes more bits than are left to it, and other numbers of dimensions beside.
    large = "a/c/" + separator.join(("9000000", "65536", "1"))
    keys += [large, *(f"a/c/{first}{separator}5" for first in firsts)]
    refs = {key: ["s3://b/f", 1000 * at, 5] for at, key in enumerate(keys)}
    text = json.dumps({"version": 1, "refs": refs}).encode()
    exact = read(text, 1 << 20, refuse, monkeypatch)
    read_exactly: list[str] = []

    def splitting(key: str) -> Any:
        read_exactly.append(key)
        return split_key(key)

    monkeypatch.setattr(scanner, "split_key", splitting)
    found = read(text, 1 << 20, scanner.scan, monkeypatch)
    assert isinstance(exact, ReadResult)
    assert isinstance(found, ReadResult)
    assert_same(exact.refs, found.refs)
    assert found.refs is not None
    assert found.refs.keys(range(len(keys))) == keys
    assert found.refs.odd_rows.tolist() == [keys.index(large)]
    assert large in read_exactly
    assert len(read_exactly) < 4


@pytest.mark.parametrize("style", [{}, {"indent": 1}])
def test_a_control_character_within_a_text_is_found(style: Any) -> None:
    refs = {f"a/{row}": ["s3://b/file.nc", row, 1] for row in range(500)}
    text = json.dumps({"version": 1, "refs": refs}, **style).encode()
    at = text.index(b'"a/300"') + 2
    with pytest.raises(JsonError, match="control character") as caught:
        DocumentReader([text[:at] + b"\x01" + text[at:]]).read()
    assert caught.value.position == at
