"""A template or rule that was edited wrongly, found by the files that it names: all of them are gone.

A file that is gone, and one that is there and named much like it, differ in a few characters. Where the same
change makes all files that are named so exist, it is the text which names them that is wrong, and not the
files. Nothing is read for it: of each file that may be meant it is asked whether it is there, and how large.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.audit.near_files import NearFiles, may_hold
from refbrowser.engine.findings.chunk_table import ChunkTable, Ints
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import URL_DEAD
from refbrowser.references.content.finding_places import located
from refbrowser.references.edits.edits import Compound
from refbrowser.references.edits.outer_edits import SetRuleField, SetTemplate
from refbrowser.references.edits.url_moves import Moved, MoveUrls
from refbrowser.references.edits.url_texts import url_tokens
from refbrowser.references.templates.syntax import names_in
from refbrowser.references.text.json_text import pointer
from refbrowser.words import plural

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule

#: Files of each array and folder from which a change is guessed, and all such guesses.
_OF_EACH, _GUESSES = 3, 60
#: Files of which it is asked whether they are there, for one change; and of which bytes are compared.
_ASKED, _COMPARED = 20_000, 3
#: Edits that are made for one guess, to see whether the document can say it; and rows that are looked at.
_MADE, _ROWS = 4, 20_000
#: Of so many files that are gone one may stay gone.
_NEARLY = 4

#: What is made of a text that is wrong.
Correction = MoveUrls | SetTemplate | SetRuleField


@dataclass(frozen=True, slots=True)
class WrongText:
    """A text that names files which are not there, and the edit that corrects it.

    Attributes
    ----------
    edit
        `MoveUrls` where the beginning of URLs is wrong.
    urls
        The files that are gone and named by it.
    words, place
        Which text it is.
    old, new
        What is wrong, and what it becomes.
    there, asked
        How many files would be there, of how many that were asked for.
    renamed
        The files by what they would be.
    """

    edit: Correction
    urls: tuple[str, ...]
    words: str
    place: Place
    old: str
    new: str
    there: int
    asked: int
    renamed: Mapping[str, str]

    def finding(self, count: int) -> Finding:
        """Return it as a finding about so many chunks."""
        first = quoted(self.urls[0])
        files = plural(
            len(self.urls),
            f"the file {first}, which does not exist",
            f"{len(self.urls)} files, {first} first, which do not exist",
        )
        there = (
            "it does" if len(self.urls) == 1 else "all of them do" if self.there == len(self.urls) else
            f"{self.there} of the {self.asked} that were looked for do"
        )  # fmt: skip
        message = (
            f"{self.words} names {files}: with {quoted(self.new)} in place of {quoted(self.old)} {there}"
        )
        title = f"Correct {self.words.rstrip(',')}"
        return URL_DEAD.finding(
            message,
            self.place,
            advice="the fix corrects that text for all of them in one step",
            count=count,
            fix=Compound(title, (self.edit,)),
        )


class WrongTexts:
    """Finds the texts because of which files are gone.

    Parameters
    ----------
    rows
        Gives the rows of the table that lead into a file.
    """

    def __init__(
        self, dataset: Dataset, table: ChunkTable, rows: Callable[[str], Ints], near: NearFiles
    ) -> None:
        self._dataset, self._table, self._rows, self._near = dataset, table, rows, near
        self._gone: dict[str, None] = {}

    @property
    def _document(self) -> Document:
        return self._dataset.document

    def of(self, gone: Sequence[str]) -> list[WrongText]:
        """Return the texts that name files which are gone; each file at most once.

        Parameters
        ----------
        gone
            The files that are not there, as the document spells them.
        """
        if self._document.rules_are_made:
            return []
        found = list(self._guessed(gone))
        # Where two texts would lead to the same bytes one of them is wrong, and nobody knows which.
        claims: dict[str, list[tuple[int, str]]] = {}
        for number, text in enumerate(found):
            for old, new in list(text.renamed.items())[:_ASKED]:
                claims.setdefault(new, []).append((number, old))
        doubtful: set[int] = set()
        for some in (each for each in claims.values() if len(each) > 1):
            if self._share_bytes([self._rows(old) for _, old in some]):
                doubtful.update(number for number, _ in some)
        return [text for number, text in enumerate(found) if number not in doubtful]

    def _guessed(self, gone: Sequence[str]) -> Iterator[WrongText]:
        left = self._gone = dict.fromkeys(gone)
        for url in self._first_of_each(gone):
            path = self._near.below(url) if url in left else None
            if path is None:
                continue
            for near in self._near.tried(path):
                found = self._because(url, path, near)
                if found is not None:
                    yield found
                    for each in found.urls:
                        del left[each]
                    break

    def _first_of_each(self, gone: Iterable[str]) -> list[str]:
        """Return the first files of each array and folder: all would be guessed from alike."""
        taken: dict[tuple[int, str], list[str]] = {}
        for url in gone:
            rows = self._rows(url)
            owner = int(self._table.owner[rows[0]]) if len(rows) else -1
            some = taken.setdefault((owner, url.rpartition("/")[0]), [])
            if len(some) < _OF_EACH:
                some.append(url)
        turns = [some[at] for at in range(_OF_EACH) for some in taken.values() if at < len(some)]
        return turns[:_GUESSES]

    def _because(self, url: str, path: str, near: str) -> WrongText | None:
        """Return the text because of which a file is not the one near it, where that explains others too."""
        meant = url[: len(url) - len(path)] + near
        change = _Change.between(url, meant)
        made = 0
        for edit, renamed in (*self._moves(change), *self._corrections(change)):
            urls = tuple(each for each in renamed if each in self._gone)
            # What is there stays as it is; one file alone may be any, unless its name is much the same.
            if url not in urls or len(urls) < len(renamed):
                continue
            if len(urls) == 1 and not self._near.is_alike(path, near):
                continue
            there, asked = self._found(renamed)
            if (asked - there) * _NEARLY > asked or self._is_taken(renamed):
                continue
            made += 1
            if made > _MADE:
                break
            try:
                if self._parts_a_rule(edit):
                    continue  # No text is wrong then: single files have moved.
                self._document.apply(edit)
                words, place = text_of(self._document, edit, self._key(url))
            except RefbrowserError:
                continue
            if len(urls) == 1 and place.key is not None:
                return None  # The entries of one file are led to another one by one.
            return WrongText(edit, urls, words, place, *self._texts_of(edit), there, asked, renamed)
        return None

    def _parts_a_rule(self, edit: Correction) -> bool:
        """Tell whether an edit changes the URLs of some rows of a rule, and leaves others."""
        if not isinstance(edit, MoveUrls):
            return False
        moved = Moved(self._document, edit)
        return any(map(moved.parts, self._document.rules))

    def _texts_of(self, edit: Correction) -> tuple[str, str]:
        """Return what stands in the document, and what a correction makes of it."""
        if isinstance(edit, MoveUrls):
            return edit.old, edit.new
        if isinstance(edit, SetTemplate):
            return self._document.places[edit.name], edit.text
        return self._document.rules[edit.index].url or "", edit.text

    def _key(self, url: str) -> str | None:
        rows = self._rows(url)
        if not len(rows):
            return None
        return self._table.owners[self._table.owner[rows[0]]].key(int(self._table.number[rows[0]]))

    # What may be wrong

    def _moves(self, change: _Change) -> Iterator[tuple[MoveUrls, Mapping[str, str]]]:
        """Yield other beginnings of URLs, the likeliest first, and what each makes of the files named so."""
        least = max(change.stop, 1)
        alike = [url for url in self._gone if url.startswith(change.url[:least])]
        common = min(alike)[: _same(min(alike), max(alike))]
        ends = sorted({len(head) for head in self._heads if change.url.startswith(head)}, reverse=True)
        stops = [len(common.rstrip("0123456789")), len(common), *ends, least]
        tried: set[int] = set()
        for stop in stops:
            if stop < least or stop in tried:
                continue
            tried.add(stop)
            old, new = change.url[:stop], change.meant[: len(change.meant) - (len(change.url) - stop)]
            move = MoveUrls(old, new)
            named = [url for url in self._named if url.startswith(old)]
            yield move, {url: move.moved(url) for url in named}

    @cached_property
    def _named(self) -> tuple[str, ...]:
        """All files that the document names, as far as they are known."""
        return tuple(dict.fromkeys((*self._table.urls, *self._document.urls.texts)))

    @cached_property
    def _heads(self) -> frozenset[str]:
        """What texts of templates, and URLs of rules, begin with before a template or dimension follows."""
        heads = {rule.static_origin() for rule in self._document.rules[:_ROWS]}
        for text in self._document.places.values():
            try:
                heads.update(token.text for token in url_tokens(text)[:1] if token.is_plain)
            except RefbrowserError:
                continue  # It is told as faulty.
        return frozenset(heads)

    def _corrections(self, change: _Change) -> Iterator[tuple[Correction, Mapping[str, str]]]:
        """Yield changes of the plain text of the rule that names a file, and of the templates it uses."""
        rule = self._rule_of(change.url)
        if rule is None or rule.count > _ROWS:
            return
        document, text = self._document, rule.url or ""
        for corrected in change.corrected(text):
            yield from self._with(SetRuleField(rule.index, "url", corrected))
        for name in sorted(names_in(text, dict(rule.dimensions)) & document.places.keys()):
            for corrected in change.corrected(document.places[name]):
                yield from self._with(SetTemplate(name, corrected))

    def _rule_of(self, url: str) -> GenRule | None:
        key = self._key(url)
        row = None if key is None else self._document.expansion.find(key)
        if not isinstance(row, int):
            return None
        number = self._document.expansion.origin(row)[0]
        return self._document.rules[number] if number >= 0 else None

    def _with(self, edit: Correction) -> Iterator[tuple[Correction, Mapping[str, str]]]:
        """Yield an edit with the URLs that it changes, and what they are then."""
        before = self._document
        try:
            after = before.apply(edit)
        except RefbrowserError:
            return
        renamed = dict(zip(before.urls.texts, after.urls.texts, strict=True))
        for old, new in zip(before.rules, after.rules, strict=True):
            if old.url is None or old.count > _ROWS:
                continue
            urls = zip(old.rows(0, _ROWS).urls, new.rows(0, _ROWS).urls, strict=True)
            renamed |= {first: second for first, second in urls if first and second}
        yield edit, {first: second for first, second in renamed.items() if first != second}

    # Whether it would be right

    def _found(self, renamed: Mapping[str, str]) -> tuple[int, int]:
        """Return how many files would be there and hold what is asked of them, and of how many that is."""
        asked = list(renamed.items())[:_ASKED]
        return sum(self._holds(new, self._rows(old)) for old, new in asked), len(asked)

    def _holds(self, url: str, rows: Ints) -> bool:
        try:
            location = self._dataset.access.resolve(url)
            found = os.stat(location.path)
        except (RefbrowserError, OSError, ValueError):
            return False
        is_file = location.scheme == "file" and not location.member and stat.S_ISREG(found.st_mode)
        return is_file and may_hold(found.st_size, self._table, rows)

    def _is_taken(self, renamed: Mapping[str, str]) -> bool:
        """Tell whether other chunks have the bytes that these would have."""
        pairs = ((self._rows(old), self._rows(new)) for old, new in list(renamed.items())[:_COMPARED])
        return any(len(others) and self._share_bytes([rows, others]) for rows, others in pairs)

    def _share_bytes(self, parts: Sequence[Ints]) -> bool:
        """Tell whether any rows would have the same bytes, were they all of one file."""
        table, rows = self._table, np.concatenate(parts)
        if (table.length[rows] < 0).any():
            return True
        order = rows[np.argsort(table.offset[rows], kind="stable")]
        reach = np.maximum.accumulate(table.offset[order] + table.length[order])
        return bool((table.offset[order][1:] < reach[:-1]).any())


@dataclass(frozen=True, slots=True)
class _Change:
    """What of a URL is another in the one that is meant: the characters from `start` to `stop`."""

    url: str
    meant: str
    start: int
    stop: int

    @classmethod
    def between(cls, url: str, meant: str) -> _Change:
        """Return the change of one URL to another."""
        start = _same(url, meant)
        end = _same(url[start:][::-1], meant[start:][::-1])
        return cls(url, meant, start, len(url) - end)

    @property
    def right(self) -> str:
        """What stands there in the URL that is meant."""
        return self.meant[self.start : len(self.meant) - (len(self.url) - self.stop)]

    def corrected(self, text: str) -> Iterator[str]:
        """Yield what a text becomes where a plain part of it gives the characters that are wrong."""
        try:
            tokens = url_tokens(text)
        except RefbrowserError:
            return
        for token in tokens:
            at = self.url.find(token.text) if token.is_plain and token.text else -1
            while at >= 0:
                if at <= self.start and self.stop <= at + len(token.text):
                    first, last = token.start + self.start - at, token.start + self.stop - at
                    yield text[:first] + self.right + text[last:]
                at = self.url.find(token.text, at + 1)


def _same(text: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))


def text_of(document: Document, edit: Edit, key: str | None = None) -> tuple[str, Place]:
    """Return in words which text a correction changes, and where that stands in the document.

    Parameters
    ----------
    key
        An entry whose URL changes: its place is given where neither template nor rule says it.
    """
    if isinstance(edit, MoveUrls):
        moved = Moved(document, edit)
        templates = list(moved.templates)
        rules = [rule.index for rule in document.rules if moved.rule_url(rule) is not None]
    else:
        templates = [edit.name] if isinstance(edit, SetTemplate) else []
        rules = [edit.index] if isinstance(edit, SetRuleField) else []
    names = [*(f"template {quoted(name)}" for name in templates), *(f"gen rule {number}" for number in rules)]
    more = f", and {len(names) - 1} more of templates and rules," if len(names) > 1 else ""
    if templates:
        place = Place(document=document.name, pointer=pointer("templates", templates[0]))
    elif rules:
        where = pointer("gen", rules[0], "url")
        place = Place(document=document.name, pointer=where, rule=rules[0], field="url")
    else:
        return "the URL of references", Place(document=document.name, key=key)
    (found,) = located(
        document, [Finding(severity=Severity.FAULT, kind=ErrorKind.IO, message="", place=place)]
    )
    return f"{names[0]}{more}", found.place


def followed_text(
    finding: Finding, before: Document, now: Document, uses: Callable[[Callable[[str], bool]], int]
) -> Finding | None:
    """Return what is left of a finding about a wrong text after edits; None where the text is another.

    Parameters
    ----------
    uses
        Gives how many chunks lie in files whose URLs are meant.
    """
    # `WrongText.finding` made it.
    assert isinstance(finding.fix, Compound)
    (edit,), count = finding.fix.edits, finding.count
    if isinstance(edit, MoveUrls):
        count = uses(edit.is_meant)
        is_there = count > 0
    elif isinstance(edit, SetTemplate):
        is_there = before.places.get(edit.name) == now.places.get(edit.name)
    else:
        assert isinstance(edit, SetRuleField)
        index = edit.index
        is_there = index < len(now.rules) and now.rules[index].url == before.rules[index].url
    if not is_there:
        return None
    try:
        _, place = text_of(now, edit, finding.place.key)
    except RefbrowserError:
        return replace(finding, count=count, fix=None, place=replace(finding.place, line=None, column=None))
    return replace(finding, count=count, fix=Compound(finding.fix.title, (edit,)), place=place)
