"""URLs taken apart into text and numbers, as columns: what a gen rule may count in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.references.rules.dimensions import Int64

Bools = npt.NDArray[np.bool_]

#: Numbers of more digits are text: what is computed of them would not fit.
_MOST_DIGITS = 15
#: A URL of more numbers is text: a hash or an identity, which nothing counts.
_MOST_NUMBERS = 12
#: Columns of each number.
_COLUMNS = 4
_ZERO, _NINE, _OPEN, _CLOSE, _END = b"09{}\n"
#: URLs that are taken apart between two calls of `pause`: no step holds up the window.
_AT_ONCE = 1 << 15
#: Of so many of them more than half must differ in more than numbers, that all are text: names by chance.
_TRIED = 1 << 10
#: Stands for a number in the text that URLs have in common; no URL that is taken apart holds it.
_MARK = 1
#: A jinja-str without nested braces, or one character that has no place in a URL that is taken apart.
_EXPRESSION = re.compile(r"\{\{[^{}%#]*\}\}")
_ODD = re.compile(r"[{}\x00-\x1f\x7f\ud800-\udfff]")


def is_plain(url: str, *, may_use_templates: bool) -> bool:
    """Return whether a URL can be part of a jinja-str, and means the same there.

    Parameters
    ----------
    may_use_templates
        ``{{name}}`` in it is rendered already, so that it is in a rule as well.
    """
    if _ODD.search(url) is None:
        return True
    return may_use_templates and _ODD.search(_EXPRESSION.sub("", url)) is None


def plain_urls(urls: Sequence[str], pause: Callable[[], None] = lambda: None) -> Bools:
    """Return which URLs `is_plain` without templates; one look at many where there is nothing odd."""
    plain = np.ones(len(urls), bool)
    for start in range(0, len(urls), _AT_ONCE):
        pause()
        some = urls[start : start + _AT_ONCE]
        if _ODD.search("".join(some)) is not None:
            plain[start : start + len(some)] = [is_plain(url, may_use_templates=False) for url in some]
    return plain


@dataclass(frozen=True)
class NumberedUrls:
    """URLs as kinds that differ in numbers alone.

    Attributes
    ----------
    kind
        Of each URL, shape (n,): URLs of one kind have the same text around their numbers, and each number is
        padded with zeros to one width, or not padded at all.
    numbers
        Column for each number, 0 in URLs that have fewer.
    widths
        Column for each number: digits to which it is padded, 0 for none.
    starts, stops
        Columns: where each number stands in the UTF-8 of its URL.
    """

    kind: Int64
    numbers: tuple[Int64, ...]
    widths: tuple[Int64, ...]
    starts: tuple[Int64, ...]
    stops: tuple[Int64, ...]

    @classmethod
    def of(cls, urls: Sequence[str], pause: Callable[[], None] = lambda: None) -> NumberedUrls:
        """Take URLs apart; each `is_plain`. `pause` may raise to end it."""
        known: dict[bytes, int] = {}
        kinds = []
        found: list[list[Int64]] = []
        for start in range(0, len(urls), _AT_ONCE):
            pause()
            some = urls[start : start + _AT_ONCE]
            is_chance = len(set(_taken_apart(some[:_TRIED], {})[0].tolist())) > _TRIED // 2
            kind, numbers = (np.full(len(some), -1), []) if is_chance else _taken_apart(some, known)
            kinds.append(kind)
            found.append(numbers)
        most = max(map(len, found), default=0) // _COLUMNS
        columns = [
            np.concatenate(
                [
                    each[place] if place < len(each) else np.zeros(len(kind), np.int64)
                    for each, kind in zip(found, kinds, strict=True)
                ]
            )
            for place in range(most * _COLUMNS)
        ]
        values, begin, end, is_padded = (columns[place::_COLUMNS] for place in range(_COLUMNS))
        kind = np.concatenate(kinds) if kinds else np.zeros(0, np.int64)
        kind[kind < 0] = len(known) + np.arange((kind < 0).sum())
        pause()
        kind, widths = _widths(kind, begin, end, is_padded)
        return cls(kind, tuple(values), tuple(widths), tuple(begin), tuple(end))

    def texts(self, position: int, url: str) -> list[str]:
        """Return the texts around the numbers of one of the URLs: one more than it has numbers."""
        data, at, found = url.encode("utf-8"), 0, []
        for start, stop in zip(self.starts, self.stops, strict=True):
            if stop[position]:
                found.append(data[at : int(start[position])].decode("utf-8"))
                at = int(stop[position])
        return [*found, data[at:].decode("utf-8")]


def _taken_apart(urls: Sequence[str], known: dict[bytes, int]) -> tuple[Int64, list[Int64]]:
    """Return the kinds of URLs, of those `known` by their texts, and for each number `_COLUMNS` columns.

    These are what it is worth, where it begins and ends, and whether zeros stand before it.
    """
    data = np.frombuffer(("\n".join(urls) + "\n").encode("utf-8"), np.uint8)
    ends = np.flatnonzero(data == _END)
    digit = (data >= _ZERO) & (data <= _NINE)
    digit &= ~_inside_braces(data)
    starts, stops = _runs(digit)
    owner = ends.searchsorted(starts)
    count = np.bincount(owner, minlength=len(urls))
    good = (stops - starts <= _MOST_DIGITS) & (count[owner] <= _MOST_NUMBERS)
    starts, stops, owner = starts[good], stops[good], owner[good]
    first = owner.searchsorted(np.arange(len(urls)))
    place = np.arange(len(owner)) - first[owner]
    beginnings = np.concatenate([[0], ends[:-1] + 1])[owner]
    values, padded = _values(data, starts, stops)
    columns: list[Int64] = []
    for number in range(int(place.max()) + 1 if len(place) else 0):
        which = place == number
        for found in (values, starts - beginnings, stops - beginnings, padded):
            whole = np.zeros(len(urls), np.int64)
            whole[owner[which]] = found[which]
            columns.append(whole)
    return _texts(data, starts, stops, known), columns


def _inside_braces(data: npt.NDArray[np.uint8]) -> Bools:
    """Return which bytes stand within braces; none is open at the end of a URL."""
    opened = data == _OPEN
    if not opened.any():
        return opened
    depth = np.cumsum(opened, dtype=np.int32) - np.cumsum(data == _CLOSE, dtype=np.int32)
    return depth > 0


def _runs(digit: Bools) -> tuple[Int64, Int64]:
    """Return where runs of digits begin and end; the last byte is none."""
    edges = np.flatnonzero(digit[1:] != digit[:-1]) + 1
    if len(digit) and digit[0]:
        edges = np.concatenate([[0], edges])
    return edges[::2].astype(np.int64), edges[1::2].astype(np.int64)


def _texts(data: npt.NDArray[np.uint8], starts: Int64, stops: Int64, known: dict[bytes, int]) -> Int64:
    """Return a number for each URL: the same one where nothing but numbers differs."""
    marked = data.copy()
    marked[starts] = _MARK
    depth = np.zeros(len(data) + 1, np.int8)
    depth[starts + 1] += 1
    depth[stops] -= 1
    texts = marked[np.cumsum(depth[:-1], dtype=np.int8) == 0].tobytes().split(b"\n")
    texts.pop()
    for text in dict.fromkeys(texts):
        known.setdefault(text, len(known))
    return np.fromiter(map(known.__getitem__, texts), np.int64, len(texts))


def _values(data: npt.NDArray[np.uint8], starts: Int64, stops: Int64) -> tuple[Int64, Int64]:
    """Return what runs of digits are worth, and 1 where zeros stand before the number."""
    values = np.zeros(len(starts), np.int64)
    lengths = stops - starts
    for place in range(int(lengths.max()) if len(lengths) else 0):
        there = np.flatnonzero(lengths > place)
        values[there] = values[there] * 10 + (data[starts[there] + place].astype(np.int64) - _ZERO)
    padded = (lengths > 1) & (data[starts] == _ZERO) if len(starts) else lengths.astype(bool)
    return values, padded.astype(np.int64)


def _widths(
    kind: Int64, begin: Sequence[Int64], end: Sequence[Int64], is_padded: Sequence[Int64]
) -> tuple[Int64, list[Int64]]:
    """Return kinds in which each number has one width, and the widths.

    Where numbers of a kind cannot all be padded to the same width, those of different lengths are told apart.
    """
    widths: list[Int64] = []
    for start, stop, padded in zip(begin, end, is_padded, strict=True):
        lengths = stop - start
        many = int(kind.max(initial=-1)) + 1
        widest, least = np.zeros(many, np.int64), np.full(many, _MOST_DIGITS + 1, np.int64)
        shortest = least.copy()
        rows = np.flatnonzero(padded)
        np.maximum.at(widest, kind[rows], lengths[rows])
        np.minimum.at(least, kind[rows], lengths[rows])
        np.minimum.at(shortest, kind, lengths)
        apart = (widest > 0) & ((widest != least) | (shortest < widest))
        if apart.any():
            split = kind * (_MOST_DIGITS + 1) + np.where(apart[kind], lengths, 0)
            kind = np.unique(split, return_inverse=True)[1].astype(np.int64)
            widest = np.zeros(int(kind.max()) + 1, np.int64)
            np.maximum.at(widest, kind[rows], lengths[rows])
        widths.append(widest[kind])
    return kind, widths
