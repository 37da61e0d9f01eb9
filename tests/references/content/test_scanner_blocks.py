"""The scanner against the exact reader where blocks end: small blocks, every style, texts of any length."""

from __future__ import annotations

import json
import random
import string
from typing import Any

import pytest
from deep import some
from test_scanner import ODD_KEYS, ODD_VALUES, assert_same, corrupted, read, refuse

from refbrowser.references.content import reader as reading
from refbrowser.references.content import scanner

DOCUMENTS = 240
#: Documents of one test: a failure names few.
GROUP = 12


class Writer:
    """Writes one random document: a style for all of it, and now and then an entry that differs."""

    def __init__(self, seed: int) -> None:
        self.choices = random.Random(seed)
        self.odd = self.choices.choice([0, 0, 0.01, 0.1])
        self.colon = self.choices.choice([":", ": ", " : ", ":\n\t"])
        self.comma = self.choices.choice([",", ", ", ",\n    ", " ,"])
        self.inner = self.choices.choice([",", ", ", ",\n      "])
        self.open, self.close = self.choices.choice([("[", "]"), ("[ ", " ]"), ("[\n      ", "\n    ]")])
        self.slash = self.choices.random() < 0.3
        self.ascii = self.choices.random() < 0.7
        self.urls = [self.url() for _ in range(self.choices.choice([1, 3, 50, 400]))]
        self.interleaved = self.choices.random() < 0.5
        self.digits = self.choices.choice([3, 7, 9, 14, 18])

    def word(self, most: int) -> str:
        letters = string.ascii_letters + string.digits + "-_.{} "
        return "".join(self.choices.choices(letters, k=self.choices.randrange(1, most)))

    def url(self) -> str:
        # Many differ in their last bytes only, or are the beginning of another.
        size = self.choices.choice([4, 8, 9, 40, 70, 130])
        return "s3://bucket/path"[:size] + self.word(size) * self.choices.choice([0, 1, 1, 2])

    def number(self) -> int:
        return self.choices.randrange(10 ** self.choices.randrange(1, self.digits + 1))

    def key(self, number: int) -> str:
        kind = self.choices.random()
        if kind < self.odd:
            return self.choice_of(ODD_KEYS)
        if kind < 2 * self.odd:
            return self.word(40)
        form = (number // 60) % 4
        if form == 0:
            return f"a{number // 240}/{number // 7}.{number % 7}"
        if form == 1:
            return f"group/long name of an array/{number}"
        if form == 2:
            return f"g/c/{number}/{number % 3}/{number % 5}"
        return ".".join(str(number % side) for side in (3, 5, 7, 11, 10**9)[: 1 + number % 5])

    def choice_of(self, items: list[Any]) -> Any:
        return self.choices.choice(items)

    def text(self, value: Any) -> str:
        written = json.dumps(value, ensure_ascii=self.ascii)
        return written.replace("/", "\\/") if self.slash else written

    def value(self, number: int) -> str:
        kind = self.choices.random()
        if kind < self.odd:
            return self.text(self.choice_of(ODD_VALUES))
        if kind < 0.05:
            return self.text(
                self.choice_of(["base64:" + "QUJD" * self.choices.randrange(60), self.word(300)])
            )
        at = self.choices.randrange(len(self.urls)) if self.interleaved else number // 40 % len(self.urls)
        url = self.text(self.urls[at])
        items = [url] if kind < 0.08 else [url, str(self.number()), str(self.number())]
        return self.open + self.inner.join(items) + self.close

    def entry(self, number: int) -> str:
        return self.text(self.key(number)) + self.colon + self.value(number)

    def document(self) -> bytes:
        count = self.choices.choice([30, 200, 600])
        text = self.comma.join(self.entry(number) for number in range(count))
        whole = self.choices.random() < 0.7
        text = '{"version":1,"refs":{' + text + "}}" if whole else "{" + text + "}"
        return text.encode("utf-8", "surrogatepass").replace(b"\xed\xa0\x80", b"\\ud800")


@pytest.mark.slow
@pytest.mark.parametrize("first", some(range(0, DOCUMENTS, GROUP), 12))
def test_blocks_of_any_size_give_what_the_exact_reader_gives(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = 0

    def counted(data: bytes, at: int, *rest: Any) -> int:
        nonlocal taken
        count = scanner.scan(data, at, *rest)
        taken += count
        return count

    monkeypatch.setattr(scanner, "_LEAST", 2)
    monkeypatch.setattr(reading, "_SCAN_LEAST", 64)
    for seed in range(first, first + GROUP):
        writer = Writer(seed)
        data = writer.document()
        chooser = random.Random(seed)
        for text in (data, corrupted(chooser, data)):
            size = chooser.choice([chooser.randrange(300, 1200), chooser.randrange(1200, 9000), 4096])
            monkeypatch.setattr(scanner, "BLOCK", size)
            monkeypatch.setattr(reading, "BLOCK", size)
            piece = chooser.choice([size, size - 1, size + 1, 3 * size, len(text)])
            exact = read(text, piece, refuse, monkeypatch)
            scanned = read(text, piece, counted, monkeypatch)
            if isinstance(exact, tuple) or isinstance(scanned, tuple):
                assert exact == scanned, seed
                continue
            assert_same(exact.refs, scanned.refs)
            assert_same(exact.top, scanned.top)
    assert taken > 20_000, "the scanner was asked and took what it can"
