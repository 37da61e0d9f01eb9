"""Folds what stands one by one in a document into templates and gen rules (see `references.rules.folding`).

The document means the same before and after, which is compared for all of it; and its text is smaller, or
nothing is changed. Templates and rules that are there stay as they are. New rules stand before them, so that
those still count where they give the same keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS
from refbrowser.references.document.chunk_codes import BITS, unpack_many
from refbrowser.references.document.content import DocumentContent, ReferenceText
from refbrowser.references.document.table import ODD, WHOLE, ReferenceTable
from refbrowser.references.edits.edits import SetVersion
from refbrowser.references.edits.outer_edits import refused, template_texts, with_member, with_new_rules
from refbrowser.references.edits.url_prefixes import changed_urls
from refbrowser.references.rules.dimensions import Int64
from refbrowser.references.rules.folding import FEWEST, FoldedRule, WrittenOut, dimension_names, fold, gives
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.numbered_urls import NumberedUrls, is_plain, plain_urls
from refbrowser.references.templates.syntax import names_in
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.references.text.json_edit import dump
from refbrowser.references.text.json_text import parse

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument

Pause = Callable[[], None]

#: Rules and templates that are made at most, and arrays that are looked at: the largest ones.
MOST_RULES, MOST_TEMPLATES, MOST_ARRAYS = 1_000, 200, 2_000
#: Bytes of text of an array from which a rule can pay.
_LEAST_SIZE = 120
#: What a template takes in a text beside its own text, and what its name takes in a URL.
_TEMPLATE_SIZE, _NAME_SIZE = 14, len("{{u12}}")
#: Templates that folders are left of all that there may be.
_MOST_FOLDERS = 50
#: Keys that are named of those that stay for one reason.
_EXAMPLES = 3

# Why keys stay.
VALUES = "values and metadata that stand in the document"
WHOLE_FILES = "whole files"
FAULTY = "entries with a fault or a warning"
NO_CHUNKS = "keys that are no chunk keys"
TWICE = "keys that are there more than once"
ODD_TEXT = "keys or URLs with braces or control characters, which a rule would render"
IRREGULAR = "no rule for them is shorter than they are"


@dataclass(frozen=True, slots=True)
class Kept:
    """Keys that stay in `refs` for one reason, and the first of them."""

    reason: str
    count: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule that was made: its members, its keys, and bytes of text that these took and that it takes."""

    fields: Mapping[str, object]
    keys: int
    size_before: int
    size: int


@dataclass(frozen=True, eq=False)
class Folding:
    """What folding a document comes to.

    Attributes
    ----------
    before, after
        The same one where nothing gets smaller.
    rules, templates
        Those that were made.
    kept
        What stays in `refs`, by reason.
    compared
        References that were compared, by new rules and as they stay: all that have a URL.
    unproved
        Rules that did not give the same as what they stood for: these were not taken.
    """

    before: ReferenceDocument
    after: ReferenceDocument
    rules: tuple[NewRule, ...]
    templates: Mapping[str, str]
    kept: tuple[Kept, ...]
    compared: int
    unproved: int

    @property
    def is_smaller(self) -> bool:
        """Whether there is anything to be folded."""
        return self.after is not self.before

    @cached_property
    def size_before(self) -> int:
        """Bytes of the text as it is."""
        return text_size(self.before)

    @cached_property
    def size_after(self) -> int:
        """Bytes of the text folded."""
        return text_size(self.after)

    @property
    def folded(self) -> int:
        """References that rules give."""
        return sum(rule.keys for rule in self.rules)


def text_size(document: ReferenceText) -> int:
    """Return how many bytes the text of a document has."""
    return sum(map(len, document.to_chunks()))


@dataclass(frozen=True, slots=True)
class FoldReferences:
    """What stands one by one folded into templates and gen rules, where that makes the text smaller.

    Attributes
    ----------
    rules
        Whether gen rules are made; templates alone are read by all software.
    """

    rules: bool = True

    @property
    def title(self) -> str:
        """What the history calls it."""
        return "Fold into rules" if self.rules else "Fold into templates"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document; the same one where nothing gets smaller."""
        folding = folded(document, rules=self.rules)
        return folding.after if folding.is_smaller else document


def folded(document: DocumentContent, pause: Pause = lambda: None, *, rules: bool = True) -> Folding:
    """Fold a document.

    Parameters
    ----------
    rules
        Whether gen rules are made, not templates alone.
    pause
        Called between steps; may raise to end the work.

    Raises
    ------
    RefbrowserError
        Members of the document are of the wrong type; or a URL of Version 0 would be rendered in Version 1.
    """
    # Of whatever kind a document is, that of its text is always the same.
    before = cast("ReferenceDocument", _one_text(document.written()))
    for name in before.wrong_members:
        raise refused(f"the member {name} is of the wrong type", "Repair it in the text first.")
    source = _Source(_version_1(before))
    found = source.rules(pause) if rules else []
    templates = source.templates(found, pause)
    proved = source.proved(found, templates, pause)
    after = source.made(proved, templates)
    pause()
    unproved = len(found) - len(proved)
    if after is None or text_size(after) >= text_size(before):
        return Folding(before, before, (), {}, source.kept([]), source.compared, unproved)
    made = tuple(
        NewRule(rule.fields, len(rule.rows), source.size_of(rule), len(dump(dict(rule.fields))))
        for rule in _with_templates(proved, templates)
    )
    after = cast("ReferenceDocument", after)
    return Folding(before, after, made, templates, source.kept(proved), source.compared, unproved)


def _one_text(document: ReferenceText) -> ReferenceText:
    """Return the document with its edits in its text: no overlay is left."""
    if not document.refs.is_edited:
        return document
    # An empty portion would be the end of the text.
    portions = filter(None, document.to_chunks())
    read = type(document).read(portions, name=document.name, values=document.values)
    return replace(document, refs=read.refs, region=read.region, outer=read.outer, said=None, known=None)


def _version_1(document: ReferenceText) -> ReferenceText:
    made = SetVersion(1).apply(document)
    assert isinstance(made, ReferenceText)
    return made


@dataclass(frozen=True, eq=False)
class _Array:
    """An array with its rows of the table."""

    written: WrittenOut
    rows: Int64


@dataclass(frozen=True, eq=False)
class _ArrayRule:
    """A rule of an array; `rows` are those of the table, in the order of the rule."""

    array: _Array
    rule: FoldedRule
    fields: Mapping[str, object]

    @property
    def rows(self) -> Int64:
        return self.array.rows[self.rule.rows]


class _Source:
    """A Version 1 document without an overlay, to be folded."""

    def __init__(self, document: ReferenceText) -> None:
        self.document = document
        self.table: ReferenceTable = document.refs.table
        self.compared = int((self.table.url >= 0).sum())
        self._renders = bool(document.templates.texts)

    @cached_property
    def _plain(self) -> npt.NDArray[np.bool_]:
        """Which URLs of the table can stand in a rule, and are not faulty."""
        plain = plain_urls(self.table.urls, may_use_templates=self._renders)
        plain[[*self.document.urls.faults]] = False
        return plain

    @cached_property
    def _why(self) -> npt.NDArray[np.uint8]:
        """Why each row stays: position in `_REASONS`; 0 where it may be folded."""
        table = self.table
        why = np.zeros(len(table), np.uint8)
        has_url = table.url >= 0
        plain = np.append(self._plain, False)[np.where(has_url, table.url, -1)]
        why[has_url & ~plain] = _REASONS.index(ODD_TEXT)
        odd = [
            number
            for number, group in enumerate(table.groups)
            if not is_plain(group[0], may_use_templates=False)
        ]
        groups = table.group.of(np.arange(len(table)))
        why[np.isin(groups, odd)] = _REASONS.index(ODD_TEXT)
        why[groups == ODD] = _REASONS.index(NO_CHUNKS)
        why[self._repeated(groups)] = _REASONS.index(TWICE)
        why[has_url & (table.length == WHOLE)] = _REASONS.index(WHOLE_FILES)
        why[table.flagged] = _REASONS.index(FAULTY)
        why[~has_url] = _REASONS.index(VALUES)
        return why

    def _repeated(self, groups: npt.NDArray[np.int32]) -> Int64:
        """Return the rows of chunk keys that are there more than once."""
        doubles = self.table.duplicates
        if not len(doubles):
            return doubles
        of_same = np.flatnonzero(np.isin(self.table.code, self.table.code[doubles]))
        pairs = groups[of_same].astype(np.int64)
        _, inverse, count = np.unique(
            np.stack([pairs, self.table.code[of_same].view(np.int64)], axis=1),
            axis=0, return_inverse=True, return_counts=True,
        )  # fmt: skip
        return of_same[count[inverse.reshape(-1)] > 1]

    @cached_property
    def _sizes(self) -> Int64:
        """Bytes of text that each entry takes, with what follows it."""
        table = self.document.refs.text_table
        starts: Int64 = table.start.astype(np.int64)
        return np.append(starts[1:], table.stop + 1) - starts

    def size_of(self, rule: _ArrayRule) -> int:
        """Return how many bytes of text the references of a rule take."""
        return int(self._sizes[rule.rows].sum())

    @cached_property
    def _spared(self) -> Int64:
        """Bytes less that each URL of the table takes where templates say what many begin with.

        A rule is to be shorter than references that are said with templates.
        """
        shorter = self._shorter(self.templates([]))
        return np.array([len(url) - len(shorter.of(url)) for url in self.table.urls], np.int64)

    def _shorter(self, templates: Mapping[str, str]) -> _Shorter:
        odd = np.flatnonzero(~self._simple).tolist()
        return _Shorter(templates, {self.table.urls[number] for number in odd})

    @cached_property
    def _simple(self) -> npt.NDArray[np.bool_]:
        """Which URLs of the table use no template, and mean the same where they use one."""
        return plain_urls(self.table.urls, may_use_templates=False)

    def arrays(self) -> Iterator[_Array]:
        """Yield the arrays with references that may be folded, the largest ones first."""
        table = self.table
        free = self._why == 0
        sizes: list[tuple[int, int]] = []
        for number, group in enumerate(table.groups):
            found = table.rows_of(group) if number != ODD else None
            if found is not None and found.stop - found.start >= FEWEST:
                sizes.append((found.stop - found.start, number))
        sizes.sort(reverse=True)
        for _, number in sizes[:MOST_ARRAYS]:
            group = table.groups[number]
            held = table.rows_of(group)
            assert held is not None
            rows = held.rows()
            rows = rows[free[rows]]
            codes = table.code[rows]
            ndims = (codes >> np.uint64(BITS)).astype(np.int64)
            for ndim in np.unique(ndims).tolist():
                some = rows[ndims == ndim]
                url = table.url[some]
                size = self._sizes[some] - self._spared[url]
                if len(some) >= FEWEST and int(size.sum()) >= _LEAST_SIZE:
                    written = WrittenOut(
                        group[0],
                        group[1],
                        tuple(unpack_many(table.code[some], ndim)),
                        self._places[url],
                        table.offset[some].astype(np.int64),
                        table.length[some].astype(np.int64),
                        size,
                    )
                    yield _Array(written, some)

    @cached_property
    def _used(self) -> Int64:
        """The URLs of references that may be folded, as positions in the table's."""
        used = np.zeros(len(self.table.urls), bool)
        used[self.table.url[self._why == 0]] = True
        return np.flatnonzero(used)

    @cached_property
    def _places(self) -> Int64:
        places = np.full(len(self.table.urls), -1, np.int64)
        places[self._used] = np.arange(len(self._used))
        return places

    @cached_property
    def _urls(self) -> list[str]:
        return [self.table.urls[number] for number in self._used.tolist()]

    @cached_property
    def _rendered(self) -> list[str]:
        texts = self.document.urls.texts
        return [texts[number] for number in self._used.tolist()]

    @cached_property
    def _names(self) -> frozenset[str]:
        """Names that mean something in the document."""
        named = set(self.document.templates.texts)
        if self._renders:
            for url in self.table.urls:
                if "{{" in url:
                    named |= names_in(url)
        return frozenset(named)

    # What is made

    def rules(self, pause: Pause) -> list[_ArrayRule]:
        """Return rules for references of arrays, those that save most."""
        names = dimension_names(self._names.__contains__, LIMITS.dimensions_per_rule)
        room = min(MOST_RULES, LIMITS.gen_rules - len(self.document.rule_nodes))
        found: list[_ArrayRule] = []
        numbered: NumberedUrls | None = None
        spared = self._spared[self._used]
        for array in self.arrays():
            pause()
            numbered = numbered or NumberedUrls.of(self._urls)
            for rule in fold(array.written, self._urls, numbered, spared, names, room, pause):
                found.append(_ArrayRule(array, rule, rule.fields))
        found.sort(key=lambda each: -each.rule.saved)
        return found[: max(room, 0)]

    def templates(self, rules: Sequence[_ArrayRule], pause: Pause = lambda: None) -> dict[str, str]:
        """Return templates for what many URLs begin with, of rules and of references that stay."""
        if not self.document.templates.templates and "{{" in "\n".join(self.table.urls):
            # Software that renders nothing where there are no templates would begin to.
            return {}
        stays = np.ones(len(self.table), bool)
        for each in rules:
            stays[each.rows] = False
        pause()
        used = self.table.url[stays & (self.table.url >= 0)]
        counts = np.bincount(used, minlength=len(self.table.urls))
        numbers = np.flatnonzero((counts > 0) & self._simple)
        urls = [self.table.urls[number] for number in numbers.tolist()]
        beginnings = Counter(_beginning(str(each.fields["url"])) for each in rules)
        urls += beginnings
        uses = np.concatenate([counts[numbers], np.array([*beginnings.values()], np.int64)])
        pause()
        taken = self._names | set(dimension_names(self._names.__contains__, LIMITS.dimensions_per_rule))
        room = min(MOST_TEMPLATES, LIMITS.templates_per_document - len(self.document.templates.texts))
        return shared_texts(urls, uses, taken, room)

    def proved(
        self, rules: Sequence[_ArrayRule], templates: Mapping[str, str], pause: Pause
    ) -> list[_ArrayRule]:
        """Return the rules that give just the references that they stand for: all of them are compared."""
        document = self.document
        known = TemplateSet({**document.templates.templates, **templates}, document.templates.values)
        seen = np.zeros(len(self.table), bool)
        found = []
        for each, with_templates in zip(rules, _with_templates(rules, templates), strict=True):
            pause()
            fields = parse(dump(dict(with_templates.fields))).to_python()
            rule = GenRule(fields, known, 0)
            rows = each.rows
            if not seen[rows].any() and gives(rule, each.array.written, each.rule.rows, self._rendered):
                seen[rows] = True
                found.append(each)
        return found

    def made(self, rules: Sequence[_ArrayRule], templates: Mapping[str, str]) -> ReferenceText | None:
        """Return the folded document; None where it would not mean the same."""
        document = self.document
        if templates:
            document = with_member(document, "templates", {**template_texts(document), **templates})
        new = [dict(each.fields) for each in _with_templates(rules, templates)]
        if new:
            document = with_new_rules(document, new)
        refs = document.refs
        if templates:
            refs = changed_urls(refs, self._shorter(templates).of)
        if rules:
            refs = refs.without(np.sort(np.concatenate([each.rows for each in rules])))
        document = document.with_refs(refs)
        return document if self._means_the_same(document, new) else None

    def _means_the_same(self, made: ReferenceText, new: Sequence[Mapping[str, object]]) -> bool:
        """Return whether URLs that stay are rendered as they were, and the rules are those proved."""
        old = self.document
        nodes = made.rule_nodes
        texts = [old.outer[node.start : node.stop] for node in old.rule_nodes]
        return (
            [node.to_python() for node in nodes[: len(new)]] == list(new)
            and [made.outer[node.start : node.stop] for node in nodes[len(new) :]] == texts
            and made.urls.texts == old.urls.texts
            and set(made.urls.faults) == set(old.urls.faults)
        )

    def kept(self, rules: Sequence[_ArrayRule]) -> tuple[Kept, ...]:
        """Return what stays, by reason."""
        stays = np.ones(len(self.table), bool)
        for each in rules:
            stays[each.rows] = False
        found = []
        for number, reason in enumerate(_REASONS):
            rows = np.flatnonzero(stays & (self._why == number))
            if len(rows):
                keys = self.table.keys(rows[:_EXAMPLES].tolist())
                found.append(Kept(reason, len(rows), tuple(keys)))
        return tuple(found)


_REASONS = (IRREGULAR, VALUES, WHOLE_FILES, FAULTY, NO_CHUNKS, TWICE, ODD_TEXT)


def _with_templates(rules: Sequence[_ArrayRule], templates: Mapping[str, str]) -> list[_ArrayRule]:
    shorter = _Shorter(templates)
    return [
        replace(each, fields={**each.rule.fields, "url": shorter.of_rule(str(each.rule.fields["url"]))})
        for each in rules
    ]


# Templates


class _Shorter:
    """Says URLs with templates: each with that of the longest text that it begins with.

    Parameters
    ----------
    odd
        URLs that stay as they are: they use templates, or would mean something else.
    """

    def __init__(self, templates: Mapping[str, str], odd: Collection[str] = ()) -> None:
        self._names = {text: name for name, text in templates.items()}
        self._odd = odd
        self._sizes = sorted({len(text) for text in self._names}, reverse=True)

    def of(self, url: str) -> str:
        """Return a URL of `refs` said with a template."""
        for size in self._sizes:
            name = self._names.get(url[:size])
            if name is not None and url not in self._odd:
                return f"{{{{{name}}}}}{url[size:]}"
        return url

    def of_rule(self, url: str) -> str:
        """Return the URL of a rule said with a template."""
        plain = _beginning(url)
        return self.of(plain) + url[len(plain) :]


def _beginning(url: str) -> str:
    """Return the text of a jinja-str before its first expression."""
    return url.partition("{{")[0]


def shared_texts(urls: Sequence[str], uses: Int64, taken: Iterable[str], most: int) -> dict[str, str]:
    """Return templates that make the text of URLs smaller: for the folders of many, or for all of one.

    Parameters
    ----------
    urls
        Distinct URLs, or what URLs of rules begin with.
    uses
        How often each is there.
    taken
        Names that no template may have.
    most
        How many templates there may be.
    """
    names = _template_names(taken)
    whole: Counter[str] = Counter()
    above = [url[: url.rfind("/") + 1] for url in urls]
    folders = Counter(above)
    for place in np.flatnonzero(uses > 1).tolist():
        url, folder, count = urls[place], above[place], int(uses[place])
        folders[folder] += count - 1
        # Beside that of its folder, a template of its own says only the rest of it less.
        gain = _gain(url, count) - count * max(len(folder) - _NAME_SIZE, 0)
        if gain > 0:
            whole[url] = gain
    alone = dict(whole.most_common(max(most - _MOST_FOLDERS, 0)))
    gains: Counter[str] = Counter()
    for place in np.flatnonzero(uses > 1).tolist() if alone else ():
        if urls[place] in alone:
            folders[above[place]] -= int(uses[place])
            gains[urls[place]] = _gain(urls[place], int(uses[place]))
    gains.update({folder: _gain(folder, count) for folder, count in folders.items()})
    best = [text for text, gain in gains.most_common(max(most, 0)) if gain > 0]
    return {next(names): text for text in best}


def _gain(text: str, count: int) -> int:
    """Return about how many bytes less the text takes where a template stands for so many of a beginning."""
    return count * (len(text) - _NAME_SIZE) - len(text) - _TEMPLATE_SIZE


def _template_names(taken: Iterable[str]) -> Iterator[str]:
    known = set(taken)
    number = 0
    while True:
        name = f"u{number or ''}"
        number += 1
        if name not in known:
            yield name
