"""Folds what stands one by one in a document into templates and gen rules (see `references.rules.folding`).

The document means the same before and after, which is compared for all of it; and its text is smaller, or
nothing is changed. Templates and rules that are there stay as they are. New rules stand before them, so that
those still count where they give the same keys.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS
from refbrowser.model.report import Report
from refbrowser.references.content.chunk_codes import BITS, unpack_many
from refbrowser.references.content.content import DocumentContent, ReferenceText
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.table import ODD, WHOLE, ReferenceTable
from refbrowser.references.edits.edits import SetVersion, urls_beside_table
from refbrowser.references.edits.outer_edits import refused, template_texts, with_member, with_new_rules
from refbrowser.references.edits.shared_texts import (
    SharedTexts,
    beginning,
    shared_calls,
    shared_texts,
    spared_sizes,
    template_names,
)
from refbrowser.references.rules.dimensions import Int64
from refbrowser.references.rules.folding import FEWEST, FoldedRule, WrittenOut, dimension_names, fold, gives
from refbrowser.references.rules.gen import RENDERED_ONLY, GenRule
from refbrowser.references.rules.numbered_urls import NumberedUrls, is_plain, plain_urls
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.references.text.json_edit import dump
from refbrowser.references.text.json_text import parse
from refbrowser.words import counted, plural

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument

#: Rules and templates that are made at most, and arrays that are looked at: the largest ones.
MOST_RULES, MOST_TEMPLATES, MOST_ARRAYS = 1_000, 200, 2_000
#: Bytes of text of an array from which a rule can pay.
_LEAST_SIZE = 120
#: What may be a name in a jinja-str.
_NAME = re.compile(r"[^\W\d]\w*")
#: Keys that are named of those that stay for one reason.
_EXAMPLES = 3

# Why keys stay.
VALUES = "inline values and metadata"
FAULTY = "entries with a fault or a warning"
NO_CHUNKS = "keys that are not chunk keys"
TWICE = "keys that occur more than once"
ODD_TEXT = "keys or URLs with braces or control characters, which a rule would render"
IRREGULAR = f"no rule gives {FEWEST} or more of them in half the bytes"
#: Where no rules were asked for.
UNASKED = "references, which are not folded"

_ADVICE = {
    IRREGULAR: "Offsets and lengths of compressed chunks follow no formula; single exceptions, and arrays of "
    "few chunks, are not shorter as rules. Templates shorten their URLs where that saves bytes.",
    FAULTY: "Repair them first: Problems shows what is wrong with each.",
    TWICE: "First remove all but one of each.",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """Keys that stay in `refs` for one reason, and the first of them."""

    reason: str
    count: int
    keys: tuple[str, ...]

    @property
    def advice(self) -> str:
        """What there is to say of the reason, or to do."""
        return _ADVICE.get(self.reason, "")


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule that was made: its members, its keys, and bytes of text that these took and that it takes."""

    fields: Mapping[str, object]
    keys: int
    size_before: int
    size: int


@dataclass(frozen=True, eq=False, repr=False)
class Folding(Report):
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
    size_before, size_after
        Bytes of the text as it is, and folded.
    references_before, references_after
        Bytes of these that references with a URL take, with the new rules and templates: what is no metadata.
    """

    before: ReferenceDocument
    after: ReferenceDocument
    rules: tuple[NewRule, ...]
    templates: Mapping[str, str]
    kept: tuple[Kept, ...]
    compared: int
    unproved: int
    size_before: int
    size_after: int
    references_before: int

    def lines(self) -> Iterator[str]:
        """Yield what it saves."""
        yield (
            f"folded: {counted(len(self.rules), 'gen rule')}, {counted(len(self.templates), 'template')}; "
            f"{self.size_before:,} bytes before, {self.size_after:,} now; "
            f"{counted(self.compared, 'reference')} compared"
        )

    @property
    def is_smaller(self) -> bool:
        """Whether there is anything to be folded."""
        return self.after is not self.before

    @property
    def folded(self) -> int:
        """References that rules give."""
        return sum(rule.keys for rule in self.rules)

    @property
    def references_after(self) -> int:
        """Bytes that references take folded, all that is new counted with them."""
        return self.references_before - (self.size_before - self.size_after)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known before it is done: what other software makes of it, above all."""
        notes = []
        if self.rules:
            notes.append(f"{RENDERED_ONLY}.")
        if self.is_smaller and self.before.version == 0:
            notes.append("The document becomes Version 1: Version 0 has neither templates nor gen rules.")
        if self.unproved:
            rules = plural(self.unproved, "One rule", f"{self.unproved} rules")
            notes.append(
                f"{rules} gave different references, and {plural(self.unproved, 'was', 'were')} not used."
            )
        return tuple(notes)


class Watch(Protocol):
    """Who is told how far the work is, and may end it by an exception: a `JobControl` is one."""

    def check(self) -> None:
        """Raise where the work is to end."""

    def stage(self, note: str) -> None:
        """Another part of the work begins."""

    def progress(self, done: int, total: int | None = None) -> None:
        """So many references of so many are done, in this part of the work."""


class _Unwatched:
    def check(self) -> None:
        pass

    def stage(self, note: str) -> None:
        pass

    def progress(self, done: int, total: int | None = None) -> None:
        pass


def text_size(document: ReferenceText, pause: Callable[[], None] = lambda: None) -> int:
    """Return how many bytes the text of a document has; `pause` may raise to end the counting."""
    size = 0
    for portion in document.to_chunks():
        pause()
        size += len(portion)
    return size


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


def folded(document: DocumentContent, watch: Watch | None = None, *, rules: bool = True) -> Folding:
    """Fold a document.

    Parameters
    ----------
    rules
        Whether gen rules are made, not templates alone.
    watch
        Is told how far the work is, and may end it.

    Raises
    ------
    RefbrowserError
        Members of the document are of the wrong type; or a URL of Version 0 would be rendered in Version 1.
    """
    watch = watch or _Unwatched()
    watch.stage("reading")
    # Of whatever kind a document is, that of its text is always the same.
    before = cast("ReferenceDocument", _one_text(document.written()))
    for name in before.wrong_members:
        raise refused(f"the member {name} is of the wrong type", "Repair it in the text first.")
    size_before = text_size(before, watch.check)
    source = _Source(_version_1(before), watch)
    found = source.rules() if rules else []
    templates = source.templates(found)
    proved = source.proved(found, templates)
    watch.stage("writing")
    after = source.made(proved, templates)
    size_after = size_before if after is None else text_size(after, watch.check)
    unproved = len(found) - len(proved)
    if after is None or size_after >= size_before:
        after, proved, templates = before, [], SharedTexts({})
        size_after = size_before
    made = tuple(
        NewRule(rule.fields, len(rule.rows), source.size_of(rule), len(dump(dict(rule.fields))))
        for rule in _with_templates(proved, templates)
    )
    return Folding(
        before=before,
        after=cast("ReferenceDocument", after),
        rules=made,
        templates=templates.texts,
        kept=source.kept(proved, asked=rules),
        compared=source.compared,
        unproved=unproved,
        size_before=size_before,
        size_after=size_after,
        references_before=source.size,
    )


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

    def __init__(self, document: ReferenceText, watch: Watch) -> None:
        self.document = document
        self._watch = watch
        self.table: ReferenceTable = document.refs.table
        self.compared = int((self.table.url >= 0).sum())
        self._renders = bool(document.templates.texts)

    @cached_property
    def _plain(self) -> npt.NDArray[np.bool_]:
        """Which URLs of the table can stand in a rule, and are not faulty."""
        plain = self._simple.copy()
        for number in np.flatnonzero(~plain).tolist() if self._renders else ():
            plain[number] = is_plain(self.table.urls[number], may_use_templates=True)
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
    def size(self) -> int:
        """Bytes of text that all references with a URL take."""
        return int(self._sizes[self.table.url >= 0].sum())

    @cached_property
    def _simple(self) -> npt.NDArray[np.bool_]:
        """Which URLs of the table use no template, and mean the same where they use one."""
        return plain_urls(self.table.urls, self._watch.check)

    @cached_property
    def _odd(self) -> frozenset[str]:
        """The URLs that stay as they are, those of entries with numbers beyond 64 bits among them."""
        odd = np.flatnonzero(~self._simple).tolist()
        return frozenset(self.table.urls[number] for number in odd).union(
            urls_beside_table(self.document.refs)
        )

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
            # What is of no one kind is in no one rule: ranges of bytes, and whole files.
            kinds = 2 * ndims + (table.length[rows] == WHOLE)
            for kind in np.unique(kinds).tolist():
                some = rows[kinds == kind]
                url = self._places[table.url[some]]
                size = self._sizes[some] - self._spared[url]
                if len(some) >= FEWEST and int(size.sum()) >= _LEAST_SIZE:
                    whole = bool(kind % 2)
                    written = WrittenOut(
                        group[0],
                        group[1],
                        tuple(unpack_many(table.code[some], kind // 2)),
                        url,
                        np.zeros(len(some), np.int64) if whole else table.offset[some].astype(np.int64),
                        np.zeros(len(some), np.int64) if whole else table.length[some].astype(np.int64),
                        size,
                        whole,
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
    def _numbered(self) -> NumberedUrls:
        return NumberedUrls.of(self._urls, self._watch.check)

    @cached_property
    def _spared(self) -> Int64:
        """Bytes less that each URL in use takes, about, where templates say what many begin with.

        A rule is to be shorter than references that are said with templates.
        """
        uses = np.bincount(self.table.url[self.table.url >= 0], minlength=len(self.table.urls))
        return spared_sizes(self._urls, uses[self._used], self._numbered, MOST_TEMPLATES)

    @cached_property
    def _names(self) -> frozenset[str]:
        """All that may be a name in the document: whatever is new must mean nothing in what is there."""
        document = self.document
        texts = [
            json.dumps(each, ensure_ascii=False)
            for each in (document.templates.templates, *(node.to_python() for node in document.rule_nodes))
        ]
        texts += (url for url in self.table.urls if "{{" in url)
        return frozenset(document.templates.texts).union(*map(_NAME.findall, texts))

    @cached_property
    def _dimensions(self) -> tuple[str, ...]:
        """Names for the dimensions of new rules."""
        return dimension_names(self._names.__contains__, LIMITS.dimensions_per_rule)

    # What is made

    def rules(self) -> list[_ArrayRule]:
        """Return rules for references of arrays, those that save most."""
        self._watch.stage("looking for rules")
        room = min(MOST_RULES, LIMITS.gen_rules - len(self.document.rule_nodes))
        found: list[_ArrayRule] = []
        total, done = int((self._why == 0).sum()), 0
        for array in self.arrays():
            count = len(array.rows)

            def told(part: float, count: int = count, done: int = done) -> None:
                self._watch.check()
                self._watch.progress(done + int(part * count), total)

            told(0)
            numbered, spared = self._numbered, self._spared
            for rule in fold(array.written, self._urls, numbered, spared, self._dimensions, room, told):
                found.append(_ArrayRule(array, rule, rule.fields))
            done += count
        found.sort(key=lambda each: -each.rule.saved)
        return found[: max(room, 0)]

    def templates(self, rules: Sequence[_ArrayRule]) -> SharedTexts:
        """Return templates for what URLs share, of rules and of references that stay."""
        is_first = not self.document.templates.templates
        if is_first and ("{{" in "\n".join(self._odd) or (self.table.url == ValueKind.FAULT).any()):
            # Software that renders nothing where there are no templates would begin to: also what is faulty,
            # at which fsspec opens nothing of the document then.
            return SharedTexts({})
        names = template_names(self._names.union(self._dimensions))
        room = min(MOST_TEMPLATES, LIMITS.templates_per_document - len(self.document.templates.texts))
        of_rules = Counter(str(each.fields["url"]) for each in rules)
        calls = shared_calls(of_rules, self._dimensions, names, room)
        stays = np.ones(len(self.table), bool)
        for each in rules:
            stays[each.rows] = False
        used = self.table.url[stays & (self.table.url >= 0)]
        counts = np.bincount(used, minlength=len(self.table.urls))
        numbers = np.flatnonzero((counts > 0) & self._simple)
        urls = [self.table.urls[number] for number in numbers.tolist()]
        beginnings: Counter[str] = Counter()
        for url, count in of_rules.items():
            beginnings[beginning(url)] += 0 if url in calls else count
        uses = counts[numbers]
        for place, url in enumerate(urls):
            if url in beginnings:
                uses[place] += beginnings.pop(url)
        urls += beginnings
        uses = np.concatenate([uses, np.array([*beginnings.values()], np.int64)])
        texts = shared_texts(urls, uses, room - len(calls), self._watch.check)
        return SharedTexts(dict(zip(names, texts, strict=False)), self._odd, calls)

    def proved(self, rules: Sequence[_ArrayRule], templates: SharedTexts) -> list[_ArrayRule]:
        """Return the rules that give just the references that they stand for: all of them are compared."""
        self._watch.stage("comparing")
        document = self.document
        known = TemplateSet({**document.templates.templates, **templates.texts}, document.templates.values)
        seen = np.zeros(len(self.table), bool)
        found = []
        total, done = sum(len(each.rows) for each in rules), 0
        for each, with_templates in zip(rules, _with_templates(rules, templates), strict=True):
            fields = parse(dump(dict(with_templates.fields))).to_python()
            rule = GenRule(fields, known, 0)
            rows = each.rows

            def told(count: int, done: int = done) -> None:
                self._watch.check()
                self._watch.progress(done + count, total)

            told(0)
            if not seen[rows].any() and gives(rule, each.array.written, each.rule.rows, self._rendered, told):
                seen[rows] = True
                found.append(each)
            done += len(rows)
        return found

    def made(self, rules: Sequence[_ArrayRule], templates: SharedTexts) -> ReferenceText | None:
        """Return the folded document; None where it would not mean the same."""
        document = self.document
        if templates.texts:
            document = with_member(document, "templates", {**template_texts(document), **templates.texts})
        new = [dict(each.fields) for each in _with_templates(rules, templates)]
        if new:
            document = with_new_rules(document, new)
        refs = document.refs
        if templates.texts:
            # What stands beside the table stays to the letter.
            table = self.table
            urls = templates.said(table.urls, self._watch.check)
            refs = replace(refs, table=replace(table, urls=urls, written=table.written or table))
        folded_rows = np.sort(np.concatenate([np.zeros(0, np.int64), *(each.rows for each in rules)]))
        if len(folded_rows):
            refs = refs.without(folded_rows)
        document = document.with_refs(refs)
        return document if self._means_the_same(document, new, folded_rows) else None

    def _means_the_same(
        self, made: ReferenceText, new: Sequence[Mapping[str, object]], folded_rows: Int64
    ) -> bool:
        """Return whether all that stays is as it was and renders as it did, and rules are those proved."""
        old, nodes = self.document, made.rule_nodes
        texts = [old.outer[node.start : node.stop] for node in old.rule_nodes]
        table, was = made.refs.table, self.table
        return (
            [node.to_python() for node in nodes[: len(new)]] == list(new)
            and [made.outer[node.start : node.stop] for node in nodes[len(new) :]] == texts
            and not made.refs.replaced
            and not made.refs.appended
            and np.array_equal(made.refs.removed, folded_rows)
            and all(
                np.array_equal(getattr(table, name), getattr(was, name))
                for name in ("code", "url", "offset", "length")
            )
            and table.groups == was.groups
            and made.urls.texts == old.urls.texts
            and set(made.urls.faults) == set(old.urls.faults)
        )

    def kept(self, rules: Sequence[_ArrayRule], *, asked: bool) -> tuple[Kept, ...]:
        """Return what stays, by reason; whether rules were `asked` for."""
        stays = np.ones(len(self.table), bool)
        for each in rules:
            stays[each.rows] = False
        found = []
        for number, reason in enumerate(_REASONS):
            rows = np.flatnonzero(stays & (self._why == number))
            if len(rows):
                keys = self.table.keys(rows[:_EXAMPLES].tolist())
                found.append(Kept(reason if number or asked else UNASKED, len(rows), tuple(keys)))
        return tuple(found)


_REASONS = (IRREGULAR, VALUES, FAULTY, NO_CHUNKS, TWICE, ODD_TEXT)


def _with_templates(rules: Sequence[_ArrayRule], templates: SharedTexts) -> list[_ArrayRule]:
    return [
        replace(each, fields={**each.rule.fields, "url": templates.of_rule(str(each.rule.fields["url"]))})
        for each in rules
    ]
