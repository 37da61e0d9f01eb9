"""Edits of many entries at once (see `references.edits`), named without listing keys."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin

import numpy as np

from refbrowser.errors import RefbrowserError, quoted
from refbrowser.references.content.chunk_codes import Rows
from refbrowser.references.content.content import DocumentContent
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.refs import Patch, References, missing_key
from refbrowser.references.content.url_prefixes import (
    PrefixScope,
    Runs,
    ScopeKind,
    changed_urls,
    entries_of,
    entries_with_prefix,
    replaced_urls,
    with_new_prefix,
)
from refbrowser.references.edits.outer_edits import (
    RenameTemplate,
    SetRule,
    SetTemplate,
    refused,
    rule_values,
)
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.syntax import can_be_named, renamed_in
from refbrowser.references.text.json_edit import dump, rewrite
from refbrowser.references.text.json_text import parse
from refbrowser.words import counted

#: Keys that one edit duplicates at most.
MOST_COPIES = 10_000


@dataclass(frozen=True, slots=True)
class RemoveReferences:
    """The keys at some positions less, however often each of them is there."""

    runs: Runs

    @property
    def title(self) -> str:
        """What the history calls it."""
        count = sum(stop - start for start, stop in self.runs)
        return f"Remove {counted(count, 'reference')}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        refs = document.refs
        _check(refs, self.runs)
        slots = entries_of(refs, self.runs)
        others = np.array(_repeated(refs, slots), np.int64)
        return document.with_refs(refs.without(np.concatenate([slots, others])))


def _repeated(refs: References, slots: Rows) -> list[int]:
    """Return the other entries that have the key of one of `slots`."""
    doubles = refs.table.duplicates
    if not len(doubles):
        return []
    twice = set(refs.table.keys(doubles.tolist()))
    keys = twice.intersection(refs.keys_of(slots.tolist()))
    return [slot for key in keys for slot in refs.all_slots(key)]


def _check(refs: References, runs: Runs) -> None:
    if not runs or any(not 0 <= start < stop <= len(refs) for start, stop in runs):
        raise refused("these references do not exist")


@dataclass(frozen=True, slots=True)
class CopyReferences:
    """Entries once more under other keys, at the end: pairs of the key and the new one."""

    pairs: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """What the history calls it."""
        if len(self.pairs) == 1:
            return f"Duplicate {self.pairs[0][0]}"
        return f"Duplicate {len(self.pairs):,} references"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if len(self.pairs) > MOST_COPIES:
            raise refused(f"more than {MOST_COPIES:,} references are not duplicated at once")
        refs = document.refs
        added: dict[str, Patch] = {}
        for key, copy in self.pairs:
            slot = refs.find_slot(key)
            if slot is None:
                raise missing_key(key)
            if copy in added or refs.find_slot(copy) is not None:
                raise refused(f"a reference {quoted(copy)} exists already")
            added[copy] = Patch.of(copy, dump(copy, refs.key_text(slot)), refs.value_text(slot))
        return document.with_refs(
            References(refs.table, refs.replaced, refs.removed, {**refs.appended, **added})
        )


@dataclass(frozen=True, slots=True)
class SetReferences:
    """Values for many keys, as `SetReference` has them; those that are not there are added at the end."""

    values: tuple[tuple[str, Any], ...]

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change {counted(len(self.values), 'reference')}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        refs = document.refs
        left = {
            key: Patch.of(key, dump(key), dump(value)) for key, value in self.values if refs.is_left_at(key)
        }
        if left:
            others = tuple(pair for pair in self.values if pair[0] not in left)
            changed = document.with_refs(refs.with_keys(left))
            return SetReferences(others).apply(changed) if others else changed
        if refs.is_left:
            for key, value in self.values:
                slot = refs.find_slot(key)
                text = dump(key) if slot is None or slot < 0 else refs.key_text(slot)
                patch = Patch.of(key, text, dump(value))
                refs = refs.with_appended(patch) if slot is None else refs.with_patch(slot, patch)
            return document.with_refs(refs)
        replaced, appended = dict(refs.replaced), dict(refs.appended)
        for key, value in self.values:
            slot = refs.find_slot(key)
            if slot is None or slot < 0:
                appended[key] = Patch.of(key, dump(key), dump(value))
            else:
                replaced[slot] = Patch.of(key, refs.key_text(slot), dump(value))
        return document.with_refs(References(refs.table, replaced, refs.removed, appended))


@dataclass(frozen=True, slots=True)
class ReplacePrefixIn:
    """Another beginning for the URLs of a part of the document that begin with `old`."""

    old: str
    new: str
    scope: PrefixScope

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Replace {self.old} by {self.new}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if not self.old:
            raise refused("the prefix to replace is empty")
        if self.scope.kind is ScopeKind.ENTRIES:
            _check(document.refs, self.scope.runs)
        templates, rules = outer_with_prefix(document, self.old, self.scope)
        for name in templates:
            text = with_new_prefix(document.places[name], self.old, self.new)
            document = SetTemplate(name, text).apply(document)
        for index in rules:
            fields = rule_values(document)[index]
            url = with_new_prefix(fields["url"], self.old, self.new)
            document = SetRule(index, {**fields, "url": url}).apply(document)
        slots = entries_with_prefix(document, self.old, self.scope)
        if not len(slots):
            return document
        return document.with_refs(replaced_urls(document.refs, self.old, self.new, slots))


def outer_with_prefix(document: DocumentContent, old: str, scope: PrefixScope) -> tuple[list[str], list[int]]:
    """Return the templates and the gen rules of a part whose text begins with `old`."""
    if document.version == 0:
        return [], []
    templates = [
        name for name, text in document.places.items() if text.startswith(old) and scope.holds_template(name)
    ]
    rules = [
        index
        for index, fields in enumerate(rule_values(document))
        if isinstance(fields, dict)
        and isinstance(fields.get("url"), str)
        and fields["url"].startswith(old)
        and scope.holds_rule(document, index)
    ]
    return templates, rules


def copy_key(key: str, taken: set[str], refs: References) -> str:
    """Return a key for a copy, one that is not there: ``temp/0.0 copy``, ``temp/0.0 copy 2``..."""
    number = 1
    while True:
        found = f"{key} copy" if number == 1 else f"{key} copy {number}"
        if found not in taken and refs.find_slot(found) is None:
            return found
        number += 1


def runs_of(positions: Rows) -> Runs:
    """Return rising positions as runs of neighbours."""
    if not len(positions):
        return ()
    cuts = np.flatnonzero(np.diff(positions) != 1) + 1
    firsts, lasts = np.insert(cuts, 0, 0), np.append(cuts, len(positions)) - 1
    return tuple(zip(positions[firsts].tolist(), (positions[lasts] + 1).tolist(), strict=True))


#: Rows at either end of a rule that tell whether its URLs are relative, where its text does not.
ROWS_SEEN = 500
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!\\)|[A-Za-z]:\\")
#: A text that begins with this may still become a scheme, as what follows tells.
_SCHEME_BEGINS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*\Z|\Z")
_JINJA = ("{{", "{%", "{#")


def is_relative(url: str) -> bool:
    """Tell whether a URL, after rendering, is a path that begins at the folder of its document."""
    return bool(url) and _SCHEME.match(url) is None and not url.startswith(("/", "\\"))


@dataclass(frozen=True, slots=True)
class RemoveRepeated:
    """The last entry of a key that is there more than once: it is the one that counts; the others go."""

    key: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Remove repeated {self.key}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        slots = document.refs.all_slots(self.key)
        if not slots:
            raise missing_key(self.key)
        if len(slots) == 1:
            return document
        return document.with_refs(document.refs.without(slots[:-1]))


@dataclass(frozen=True, slots=True)
class RebaseUrls:
    """Relative URLs that mean the same from another folder: `prefix`, ending in ``/``, comes before each.

    URLs with templates in them get the prefix in their own text; templates stay as they are.
    """

    prefix: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Begin relative URLs with {self.prefix}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if any(mark in self.prefix for mark in _JINJA):
            raise refused(f"the folder {quoted(self.prefix)} holds characters that templates would render")
        # Values that the user gave are never saved: what the text itself says counts.
        plain = document.with_template_values({})
        document = document.with_refs(self._rebased(plain))
        for rule in plain.rules:
            if is_rule_relative(rule):
                fields = rule_values(document)[rule.index]
                url = self.prefix + fields["url"]
                document = SetRule(rule.index, {**fields, "url": url}).apply(document)
        return document

    def moved(self, url: str) -> str:
        """Return what a URL is then, as it is after rendering; an absolute one is the same."""
        return self.joined(url) if is_relative(url) else url

    def joined(self, url: str) -> str:
        """Return the text of a relative URL with the prefix before it."""
        if any(mark in url for mark in _JINJA):
            return self.prefix + url
        scheme, mark, rest = self.prefix.partition("://")
        if mark and _SCHEME.match(self.prefix):
            # urljoin joins only the schemes that it knows.
            return scheme + urljoin(f"http://{rest}", url).removeprefix("http")
        if _SCHEME.match(self.prefix):
            return urljoin(self.prefix, url)
        return posixpath.normpath(self.prefix + url) + ("/" if url.endswith("/") else "")

    def _rebased(self, document: DocumentContent) -> References:
        refs = document.refs
        table = refs.table
        relative = _relative_urls(document)
        if relative:
            urls = tuple(
                self.joined(url) if number in relative else url for number, url in enumerate(table.urls)
            )
            refs = replace(refs, table=replace(table, urls=urls, written=table.written or table))
        for slot in _single_slots(document.refs):
            url = rendered_url(document, slot)
            if url is not None and is_relative(url):
                raw = refs.value_text(slot)
                node = parse(raw)
                value = node.to_python()
                value[0] = self.joined(value[0])
                patch = Patch.of(refs.key_of(slot), refs.key_text(slot), rewrite(raw, node, value))
                refs = refs.with_patch(slot, patch)
        return refs


def relative_urls(document: DocumentContent) -> Iterator[str]:
    """Yield the relative URLs of a document: each of `refs` once, and the first of each gen rule."""
    for number in sorted(_relative_urls(document)):
        yield document.urls.texts[number]
    for slot in _single_slots(document.refs):
        url = rendered_url(document, slot)
        if url is not None and is_relative(url):
            yield url
    for rule in document.rules:
        if is_rule_relative(rule):
            yield next((url for url in rule.rows(0, ROWS_SEEN).urls if url is not None), rule.url or "")


def rendered_url(document: DocumentContent, slot: int) -> str | None:
    """Return the URL of an entry after rendering; None where it has none, or a fault."""
    value = document.refs.value(slot)
    if value.kind not in (None, ValueKind.LARGE) or not value.url:
        return None
    if document.version == 0:
        return value.url
    try:
        return document.templates.render(value.url)
    except RefbrowserError:
        return None


def is_rule_relative(rule: GenRule) -> bool:
    """Tell whether the URLs of a gen rule are relative: by their text, else by the rows at its ends.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: some rows are relative, others are not.
    """
    if not rule.count or rule.url is None:
        return False
    static = rule.static_origin()
    if _SCHEME.match(static):
        return False
    if not _SCHEME_BEGINS.match(static):
        return is_relative(static)
    rows = (rule.rows(0, ROWS_SEEN), rule.rows(max(0, rule.count - ROWS_SEEN), rule.count))
    found = {is_relative(url) for page in rows for url in page.urls if url is not None}
    if len(found) > 1:
        message = f"some URLs of gen rule {rule.index} are relative, others are not"
        raise refused(message, "Change the rule first, or keep the URLs as they are written.")
    return found == {True}


def _relative_urls(document: DocumentContent) -> frozenset[int]:
    """Return the numbers of the table's URLs that are relative."""
    urls = document.urls
    return frozenset(
        number for number, url in enumerate(urls.texts) if number not in urls.faults and is_relative(url)
    )


def _single_slots(refs: References) -> list[int]:
    """Return the entries whose URL is not in the table: of the overlay, and with numbers beyond 64 bits."""
    large = (refs.table.url == ValueKind.LARGE).nonzero()[0].tolist()
    single = [row for row in large if row not in refs.replaced and refs.stands(row)]
    return [*single, *refs.replaced, *(-2 - number for number in range(len(refs.appended)))]


def prefix_between(old: str, new: str) -> str:
    """Return what relative URLs of folder (or base URL) `old` begin with when seen from folder `new`.

    Empty where nothing changes.
    """
    if _SCHEME.match(old) and not re.match(r"[A-Za-z]:\\", old):
        return old if old.endswith("/") else old.rpartition("/")[0] + "/"
    old, new = os.path.realpath(old), os.path.realpath(new)
    if old == new:
        return ""
    try:
        relative = os.path.relpath(old, new)
    except ValueError:
        relative = old  # Another drive.
    return relative.replace(os.sep, "/").rstrip("/") + "/"


#: Fields of a gen rule that are jinja-str.
RULE_FIELDS = ("key", "url", "offset", "length")


@dataclass(frozen=True, slots=True)
class RenameTemplateAndUses:
    """Another name for a template, in its place, and wherever URLs of refs and gen rules name it.

    Names in a template are those of its arguments.
    """

    old: str
    new: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Rename template {self.old} to {self.new} with its uses"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if not can_be_named(self.new):
            raise refused(f"Jinja does not allow the template name {quoted(self.new)}")
        renamed = RenameTemplate(self.old, self.new).apply(document)
        renamed = self._in_rules(renamed)
        return renamed.with_refs(changed_urls(renamed.refs, lambda url: renamed_in(url, self.old, self.new)))

    def _in_rules(self, document: DocumentContent) -> DocumentContent:
        for index, fields in enumerate(rule_values(document)):
            changed = self._renamed_rule(index, fields)
            if changed is not fields:
                document = SetRule(index, changed).apply(document)
        return document

    def _renamed_rule(self, index: int, fields: Any) -> Any:
        if not isinstance(fields, Mapping):
            return fields
        dimensions = fields.get("dimensions")
        hidden = frozenset(dimensions) if isinstance(dimensions, Mapping) else frozenset()
        result: dict[str, Any] = dict(fields)
        if self.new in hidden:
            message = f"gen rule {index} has a dimension {quoted(self.new)}: a name cannot be both"
            raise refused(message, "Choose another name, or rename the dimension first.")
        for name in RULE_FIELDS:
            text = fields.get(name)
            if isinstance(text, str):
                result[name] = renamed_in(text, self.old, self.new, only_calls=self.old in hidden)
        return fields if result == dict(fields) else result
