"""Templates for what URLs share: folders, beginnings of names, whole URLs, and URLs of several rules.

A template is made where it saves more bytes than it takes itself, so that a reader is not sent to look up a
name for next to nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
        self._names = {text: name for name, text in templates.items()}
        self._odd = odd
        self._sizes = sorted({len(text) for text in self._names}, reverse=True)

    def of(self, url: str) -> str:
        """Return a URL of `refs` said with the longest template that it begins with."""
        for size in self._sizes:
            name = self._names.get(url[:size])
            if name is not None and url not in self._odd:
                return f"{{{{{name}}}}}{url[size:]}"
        return url

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
    above = _beginnings(urls, uses, pause)
    begun = Counter[str]()
    for start in range(0, len(urls), _AT_ONCE):
        pause()
        begun.update(above[start : start + _AT_ONCE])
    gains: Counter[str] = Counter()
    for place in np.flatnonzero(uses > 1).tolist():
        url, text, count = urls[place], above[place], int(uses[place])
        begun[text] += count - 1
        # Beside that of its beginning, a template of its own says only the rest of it less.
        gain = count * (len(url) - max(len(text), _NAME_SIZE))
        if gain > 2 * _size(url):
            gains[url] = gain
    alone = dict(gains.most_common(max(most - _MOST_BEGINNINGS, 0)))
    gains.clear()
    for place in np.flatnonzero(uses > 1).tolist() if alone else ():
        if urls[place] in alone:
            count = int(uses[place])
            begun[above[place]] -= count
            gains[urls[place]] = count * (len(urls[place]) - _NAME_SIZE)
    gains.update({text: count * (len(text) - _NAME_SIZE) for text, count in begun.items()})
    return [text for text, gain in gains.most_common(max(most, 0)) if gain > 2 * _size(text)]


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
    kinds, first, count = np.unique(numbered.kind, return_index=True, return_counts=True)
    begun = np.zeros(len(kinds), np.int64)
    for number in np.flatnonzero(count > 1).tolist():
        words = _WORDS.match(_DIGIT.split(urls[int(first[number])], maxsplit=1)[0])
        begun[number] = 0 if words is None else words.end()
    place = kinds.searchsorted(numbered.kind)
    of_kind = np.bincount(place, uses, len(kinds)).astype(np.int64)
    by_kind = np.where(of_kind * (begun - _NAME_SIZE) > 2 * (begun + _TEMPLATE_SIZE), begun - _NAME_SIZE, 0)
    spared: Int64 = np.maximum(by_kind, 0)[place]
    alone = np.maximum(sizes - _NAME_SIZE, 0)
    gain = uses * (alone - spared)
    whole = np.flatnonzero((uses > 1) & (gain > 2 * (sizes + _TEMPLATE_SIZE)))
    whole = whole[np.argsort(-gain[whole], kind="stable")][: max(most - _MOST_BEGINNINGS, 0)]
    spared[whole] = alone[whole]
    return spared


def _size(text: str) -> int:
    """Return how many bytes a template takes."""
    return len(text) + _TEMPLATE_SIZE


def _beginnings(urls: Sequence[str], uses: Int64, pause: Callable[[], None]) -> list[str]:
    """Return of each URL its folder, or more: the words that names in it begin with, where that pays."""
    folders: dict[str, list[int]] = {}
    for start in range(0, len(urls), _AT_ONCE):
        pause()
        for place, url in enumerate(urls[start : start + _AT_ONCE], start):
            # Names that begin with another letter have nothing in common.
            folders.setdefault(url[: url.rfind("/") + 2], []).append(place)
    found = [""] * len(urls)
    for letter, places in folders.items():
        pause()
        folder = letter[: letter.rfind("/") + 1]
        least, most = urls[places[0]], urls[places[0]]
        for place in places:
            least, most = min(least, urls[place]), max(most, urls[place])
        same = next((at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), 0)
        words = _WORDS.match(least[:same])
        text = words[0] if words is not None else ""
        count = int(uses[places].sum())
        if len(places) < 2 or count * (len(text) - len(folder)) <= 2 * _size(text):
            text = folder
        for place in places:
            found[place] = text
    return found
