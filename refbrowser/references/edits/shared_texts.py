"""Templates for what URLs share: folders, beginnings of names, whole URLs, and URLs of several rules.

A template is made where it saves more bytes than it takes itself, so that a reader is not sent to look up a
name for next to nothing.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from refbrowser.references.rules.dimensions import Int64
from refbrowser.references.rules.numbered_urls import NumberedUrls
from refbrowser.references.templates.syntax import names_in

#: What a template takes in a text beside its own text, and what its name takes in a URL.
_TEMPLATE_SIZE, _NAME_SIZE = 14, len("{{u12}}")
#: Templates that beginnings of URLs are left of all that there may be.
_MOST_BEGINNINGS = 50
#: URLs that are looked at between two calls of `pause`.
_AT_ONCE = 1 << 15
#: What a name begins with, up to the end of a word.
_WORDS = re.compile(r".*[^0-9A-Za-z%]", re.DOTALL)
_DIGIT = re.compile(r"[0-9]")


class SharedTexts:
    """Templates, and URLs said with them.

    Parameters
    ----------
    templates
        What URLs begin with, by name.
    odd
        URLs that stay as they are: they use templates, or would mean something else.
    calls
        URLs of rules that are templates of their own: name, text, and how rules say it, by text.
    """

    def __init__(
        self,
        templates: Mapping[str, str],
        odd: Collection[str] = (),
        calls: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self._calls = calls or {}
        #: All of them, by name.
        self.texts = {**templates, **{name: text for text, (name, _) in self._calls.items()}}
        self._names = {text: f"{{{{{name}}}}}" for name, text in templates.items()}
        self._odd = odd
        self._sorted = ["", *sorted(self._names)]
        # What a text begins with itself, of those before it.
        self._within = {"": ""}
        for before, text in pairwise(self._sorted):
            self._within[text] = self._longest(text, before)

    def _longest(self, url: str, text: str) -> str:
        """Return what a URL begins with: `text`, the last one before it, or one that this begins with."""
        while not url.startswith(text):
            text = self._within[text]
        return text

    def said(self, urls: Sequence[str], pause: Callable[[], None]) -> tuple[str, ...]:
        """Return URLs of `refs`, each as `of` says it; `pause` may raise to end the work."""
        found: list[str] = []
        for start in range(0, len(urls), _AT_ONCE):
            pause()
            found += map(self.of, urls[start : start + _AT_ONCE])
        return tuple(found)

    def of(self, url: str) -> str:
        """Return a URL of `refs` said with the longest template that it begins with."""
        text = self._sorted[bisect(self._sorted, url) - 1]
        if not url.startswith(text):
            text = self._longest(url, text)
        return self._names[text] + url[len(text) :] if text and url not in self._odd else url

    def of_rule(self, url: str) -> str:
        """Return the URL of a rule said with a template."""
        if url in self._calls:
            return self._calls[url][1]
        plain = beginning(url)
        return self.of(plain) + url[len(plain) :]


def beginning(url: str) -> str:
    """Return the text of a jinja-str before its first expression."""
    return url.partition("{{")[0]


def template_names(taken: Collection[str]) -> Iterator[str]:
    """Yield names for templates, none of which is taken: ``u``, ``u1``, ``u2``..."""
    number = 0
    while True:
        name = f"u{number or ''}"
        number += 1
        if name not in taken:
            yield name


def shared_calls(
    urls: Mapping[str, int], dimensions: Sequence[str], names: Iterator[str], most: int
) -> dict[str, tuple[str, str]]:
    """Return templates for URLs that several rules have: those of files that several arrays lie in.

    Parameters
    ----------
    urls
        URLs of rules, and how many rules have each.
    dimensions
        Names of dimensions. What uses any other name has a template already, which none can be within.
    names
        For the templates.
    most
        How many there may be.

    Returns
    -------
    Mapping[str, tuple[str, str]]
        The name of each, and what rules say in its place: ``{{u(i=i)}}``.
    """
    gains: Counter[str] = Counter()
    calls = {}
    for url, count in urls.items():
        used = names_in(url)
        if count < 2 or not used or not used.issubset(dimensions):
            continue
        calls[url] = f"({','.join(f'{name}={name}' for name in sorted(used))})"
        spared = max(len(beginning(url)) - _NAME_SIZE, 0)
        gains[url] = count * (len(url) - spared - len(calls[url]) - _NAME_SIZE)
    best = [url for url, gain in gains.most_common(max(most, 0)) if gain > 2 * _size(url)]
    return {url: (name, f"{{{{{name}{calls[url]}}}}}") for url, name in zip(best, names, strict=False)}


def shared_texts(
    urls: Sequence[str], uses: Int64, most: int, pause: Callable[[], None] = lambda: None
) -> list[str]:
    """Return texts of templates that make URLs shorter: what many begin with, or all of one.

    Parameters
    ----------
    urls
        Distinct URLs, or what URLs of rules begin with.
    uses
        How often each is there.
    most
        How many templates there may be.
    pause
        Called between steps; may raise to end the work.
    """
    texts, above = _beginnings(urls, uses, pause)
    begun = np.bincount(above, uses, len(texts)).astype(np.int64)
    lengths, sizes = _lengths(urls), _lengths(texts)
    pause()
    # Beside that of its beginning, a template of its own says only the rest of it less.
    gain = np.where(uses > 1, uses * (lengths - np.maximum(sizes[above], _NAME_SIZE)), 0)
    alone = _largest(gain, lengths, most - _MOST_BEGINNINGS)
    np.subtract.at(begun, above[alone], uses[alone])
    gains: Counter[str] = Counter()
    for place in alone.tolist():
        gains[urls[place]] = int(uses[place]) * (len(urls[place]) - _NAME_SIZE)
    gain = begun * (sizes - _NAME_SIZE)
    for place in _largest(gain, sizes, most).tolist():
        gains[texts[place]] += int(gain[place])
    return [text for text, _ in gains.most_common(max(most, 0))]


def _lengths(texts: Sequence[str]) -> Int64:
    return np.fromiter(map(len, texts), np.int64, len(texts))


def _largest(gain: Int64, lengths: Int64, most: int) -> Int64:
    """Return of texts, by what templates of them gain, the best ones that pay, the best one first."""
    pays = np.flatnonzero(gain > 2 * (lengths + _TEMPLATE_SIZE))
    return pays[np.argsort(-gain[pays], kind="stable")][: max(most, 0)]


def spared_sizes(urls: Sequence[str], uses: Int64, numbered: NumberedUrls, most: int) -> Int64:
    """Return about how many bytes less each URL takes where `shared_texts` are templates, without them.

    Parameters
    ----------
    urls, numbered
        Distinct URLs.
    uses
        How often each is there.
    most
        How many templates there may be.
    """
    if not urls:
        return np.zeros(0, np.int64)
    sizes = np.fromiter(map(len, urls), np.int64, len(urls))
    # URLs of one kind begin alike up to their first number.
    kind = numbered.kind
    count = np.bincount(kind)
    first, begun = np.zeros((2, len(count)), np.int64)
    first[kind[::-1]] = np.arange(len(kind))[::-1]
    for number in np.flatnonzero(count > 1).tolist():
        words = _WORDS.match(_DIGIT.split(urls[int(first[number])], maxsplit=1)[0])
        begun[number] = 0 if words is None else words.end()
    of_kind = np.bincount(kind, uses).astype(np.int64)
    by_kind = np.where(of_kind * (begun - _NAME_SIZE) > 2 * (begun + _TEMPLATE_SIZE), begun - _NAME_SIZE, 0)
    spared: Int64 = np.maximum(by_kind, 0)[kind]
    alone = np.maximum(sizes - _NAME_SIZE, 0)
    gain = uses * (alone - spared)
    whole = np.flatnonzero((uses > 1) & (gain > 2 * (sizes + _TEMPLATE_SIZE)))
    whole = whole[np.argsort(-gain[whole], kind="stable")][: max(most - _MOST_BEGINNINGS, 0)]
    spared[whole] = alone[whole]
    return spared


def _size(text: str) -> int:
    """Return how many bytes a template takes."""
    return len(text) + _TEMPLATE_SIZE


def _beginnings(urls: Sequence[str], uses: Int64, pause: Callable[[], None]) -> tuple[list[str], Int64]:
    """Return what URLs begin with, and which of these each has.

    That is its folder, or more: the words that names in it begin with, where that pays.
    """
    heads: dict[str, int] = {}
    head = np.zeros(len(urls), np.int64)
    for start in range(0, len(urls), _AT_ONCE):
        pause()
        # Names that begin with another letter have nothing in common.
        some = [url[: url.rfind("/") + 2] for url in urls[start : start + _AT_ONCE]]
        for each in dict.fromkeys(some):
            heads.setdefault(each, len(heads))
        head[start : start + len(some)] = np.fromiter(map(heads.__getitem__, some), np.int64, len(some))
    pause()
    begun = [each[: each.rfind("/") + 1] for each in heads]
    pause()
    order = np.argsort(head.astype(np.min_scalar_type(len(heads))), kind="stable")
    stops = np.cumsum(np.bincount(head, minlength=len(heads)))
    pause()
    # Nothing longer pays where all of the longest one would not.
    count = np.bincount(head, uses, len(heads)).astype(np.int64)
    longest = np.maximum.reduceat(_lengths(urls)[order], np.append(0, stops[:-1])) if urls else count
    pays = count * (longest - _lengths(begun)) > 2 * (longest + _TEMPLATE_SIZE)
    for number in np.flatnonzero(pays).tolist():
        pause()
        some = [urls[place] for place in order[stops[number - 1] if number else 0 : stops[number]].tolist()]
        least, most = min(some), max(some)
        same = next((at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), 0)
        words = _WORDS.match(least[:same])
        text = words[0] if words is not None else ""
        if int(count[number]) * (len(text) - len(begun[number])) > 2 * _size(text):
            begun[number] = text
    pause()
    numbers = {text: number for number, text in enumerate(dict.fromkeys(begun))}
    pause()
    return [*numbers], np.fromiter(map(numbers.__getitem__, begun), np.int64, len(begun))[head]
