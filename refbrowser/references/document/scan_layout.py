"""How the writer of a document spaces its entries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from refbrowser.references.document.groups import Rows
from refbrowser.references.document.known_texts import KnownTexts
from refbrowser.references.document.words import Words, equal_to

Gap = Literal["list", "text", "after text", "after url"]

_SPACE = rb"[ \t\n\r]*"
_GAPS: dict[Gap, re.Pattern[bytes]] = {
    "list": re.compile(_SPACE + b":" + _SPACE + rb"\[" + _SPACE),
    "text": re.compile(_SPACE + b":" + _SPACE),
    "after text": re.compile(_SPACE + b"," + _SPACE),
    "after url": re.compile(_SPACE + rb"\]" + _SPACE + b"," + _SPACE),
}
_RANGE = re.compile(
    b"(" + _SPACE + b"," + _SPACE + b")[0-9]+(" + _SPACE + b"," + _SPACE + b")[0-9]+"
    b"(" + _SPACE + rb"\]" + _SPACE + b"," + _SPACE + b")"
)  # fmt: skip
#: Entries that are looked at to learn.
_SAMPLE = 16


@dataclass
class Layout:
    """What stands between the texts and numbers of entries; learned block by block.

    Attributes
    ----------
    gaps
        Text before a list's URL, before an inline value, and after each.
    range
        Text before, between and after offset and length.
    urls, known
        JSON text of URLs met so far to their number, and the same for many at a time.
    """

    gaps: dict[Gap, bytes] = field(default_factory=dict)
    range: tuple[bytes, bytes, bytes] = (b",", b",", b"],")
    urls: dict[bytes, int] = field(default_factory=dict)
    known: KnownTexts = field(default_factory=KnownTexts)

    def is_of(self, data: bytes, key_stop: Rows, value: Rows, value_stop: Rows, following: Rows) -> bool:
        """Return whether some entries of a block are spaced as this layout has it."""
        if "list" not in self.gaps:
            return False
        count = len(key_stop)
        for row in range(0, count, max(1, count // 4)):
            after = data[value_stop[row] + 1 : following[row]]
            if data[key_stop[row] + 1 : value[row]] != self.gaps["list"] or not _RANGE.fullmatch(after):
                return False
            if not (after.startswith(self.range[0]) and after.endswith(self.range[2])):
                return False
        return True

    def learn(self, data: bytes, key_stop: Rows, value: Rows, value_stop: Rows, following: Rows) -> None:
        """Learn from the first entries of a block, and from those between."""
        count = len(key_stop)
        sample = {*range(min(count, _SAMPLE)), *range(0, count, max(1, count // _SAMPLE))}
        found: dict[Gap, bytes] = {}
        ranges: tuple[bytes, ...] | None = None
        for row in sorted(sample):
            after = data[value_stop[row] + 1 : following[row]]
            self._note(found, data[key_stop[row] + 1 : value[row]], "list", "text")
            self._note(found, after, "after text", "after url")
            match = _RANGE.fullmatch(after) if ranges is None else None
            if match is not None:
                ranges = match.groups()
        self.gaps.update(found)
        if ranges is not None:
            self.range = (ranges[0], ranges[1], ranges[2])

    @staticmethod
    def _note(found: dict[Gap, bytes], text: bytes, *gaps: Gap) -> None:
        for gap in gaps:
            if gap not in found and _GAPS[gap].fullmatch(text):
                found[gap] = text

    def matches(self, words: Words, start: Rows, stop: Rows, gap: Gap) -> npt.NDArray[np.bool_]:
        """Return where what stands from `start` to `stop` is what this layout has there."""
        text = self.gaps.get(gap)
        if text is None:
            return np.zeros(len(start), bool)
        result: npt.NDArray[np.bool_] = (stop - start == len(text)) & equal_to(words, start, text)
        return result

    def control(self, gap: Gap) -> int:
        """Return how many control characters a gap holds."""
        return self.control_of(self.gaps.get(gap, b""))

    @staticmethod
    def control_of(text: bytes) -> int:
        """Return how many control characters a text holds."""
        return sum(byte < 32 for byte in text)
