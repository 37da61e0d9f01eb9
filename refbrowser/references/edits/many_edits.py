"""Edits of many entries of `refs` at once (see `references.edits`), named without listing keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refbrowser.errors import quoted
from refbrowser.references.document.content import DocumentContent
from refbrowser.references.document.groups import Rows
from refbrowser.references.document.refs import Patch, References, missing_key
from refbrowser.references.edits.edits import SetRule, SetTemplate
from refbrowser.references.edits.outer_edit import refused, rule_values, template_texts
from refbrowser.references.edits.prefix_scope import (
    PrefixScope,
    Runs,
    ScopeKind,
    entries_of,
    entries_with_prefix,
)
from refbrowser.references.edits.replace_urls import replaced_urls, with_new_prefix
from refbrowser.references.text.json_edit import dump

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
        return f"Remove {count:,} reference{'' if count == 1 else 's'}"

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
        raise refused("there are no such references")


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
                raise refused(f"there is a reference {quoted(copy)} already")
            added[copy] = Patch.of(copy, dump(copy, refs.key_text(slot)), refs.value_text(slot))
        return document.with_refs(
            References(refs.table, refs.replaced, refs.removed, {**refs.appended, **added})
        )


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
            text = with_new_prefix(template_texts(document)[name], self.old, self.new)
            document = SetTemplate(name, text).apply(document)
        for index in rules:
            fields = rule_values(document)[index]
            url = with_new_prefix(fields["url"], self.old, self.new)
            document = SetRule(index, {**fields, "url": url}).apply(document)
        slots = entries_with_prefix(document.refs, self.old, self.scope)
        if not len(slots):
            return document
        return document.with_refs(replaced_urls(document.refs, self.old, self.new, slots))


def outer_with_prefix(document: DocumentContent, old: str, scope: PrefixScope) -> tuple[list[str], list[int]]:
    """Return the templates and the gen rules of a part whose text begins with `old`."""
    if document.version == 0:
        return [], []
    templates = [
        name
        for name, text in template_texts(document).items()
        if isinstance(text, str) and text.startswith(old) and scope.holds_template(name)
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
