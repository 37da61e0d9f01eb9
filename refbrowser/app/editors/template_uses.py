"""Which references and rules use a template."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.references.document.refs import References
from refbrowser.references.templates.syntax import names_in

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule

#: Distinct URLs or rules that are looked at between two looks at the cancel token.
STEP = 1_000
#: Uses that are listed one by one.
LISTED = 500
RULE_FIELDS = ("key", "url", "offset", "length")


@dataclass(frozen=True, slots=True)
class TemplateUses:
    """What uses one template.

    Attributes
    ----------
    slots
        Entries of `refs` whose URL names it, in document order.
    rules
        Numbers of the gen rules of which a field names it.
    """

    slots: npt.NDArray[np.int64]
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """One use: a field of a gen rule, or the URL of a reference."""

    text: str
    key: str | None = None
    rule: int | None = None
    field: str | None = None

    @property
    def title(self) -> str:
        """Where it is, in a few words."""
        return str(self.key) if self.rule is None else f"gen rule {self.rule}, {self.field}"


@dataclass(frozen=True, slots=True)
class UsesListed:
    """The first uses of a template, those of gen rules first, and how many there are in all."""

    uses: tuple[TemplateUse, ...]
    rule_fields: int
    references: int

    @property
    def count(self) -> int:
        """Number of all uses."""
        return self.rule_fields + self.references


def count_uses(document: Document, check: Callable[[], None]) -> dict[str, int]:
    """Return how many references and rule fields use each template; `check` raises when cancelled."""
    found = dict.fromkeys([*document.templates.texts, *document.places], 0)
    refs = document.refs
    counts = np.bincount(refs.table.url[refs.table.url >= 0], minlength=len(refs.table.urls)).tolist()
    for slot in (*refs.removed.tolist(), *refs.replaced):
        if refs.table.url[slot] >= 0:
            counts[refs.table.url[slot]] -= 1
    texts = chain(
        zip(refs.table.urls, counts, strict=True),
        ((url, 1) for _slot, url in _patched_urls(refs)),
    )
    for number, (text, count) in enumerate(texts):
        if number % STEP == 0:
            check()
        names = document.places if document.is_at_place(text) else names_in(text)
        for name in names:
            if name in found:
                found[name] += count
    for layout in document.layouts:
        for name in document.places if document.is_at_place(layout.head + layout.tail) else ():
            found[name] += 1
    for rule in document.rules:
        for _field, text in _rule_texts(rule):
            for name in names_in(text, _dimensions(rule)):
                if name in found:
                    found[name] += 1
    return found


def listed_uses(document: Document, name: str, uses: TemplateUses) -> UsesListed:
    """Return the first uses of a template one by one, and count all of them."""
    found: list[TemplateUse] = []
    fields = 0
    for number in uses.rules:
        rule = document.rules[number]
        for field, text in _rule_texts(rule):
            if name in names_in(text, _dimensions(rule)):
                fields += 1
                if len(found) < LISTED:
                    found.append(TemplateUse(text, rule=number, field=field))
    slots = [int(slot) for slot in uses.slots[: LISTED - len(found)]]
    for slot, key in zip(slots, document.refs.keys_of(slots), strict=True):
        found.append(TemplateUse(str(document.refs.value(slot).url), key=key))
    return UsesListed(tuple(found), fields, len(uses.slots))


def uses_of(document: Document, name: str, check: Callable[[], None]) -> TemplateUses:
    """Return what uses one template; `check` raises when the work is cancelled."""
    refs = document.refs
    wanted = [number for number, url in enumerate(refs.table.urls) if name in names_in(url)]
    check()
    rows = np.flatnonzero(np.isin(refs.table.url, wanted)) if wanted else np.zeros(0, np.int64)
    check()
    rows = rows[~np.isin(rows, np.array([*refs.removed.tolist(), *refs.replaced], np.int64))]
    patched = [slot for slot, url in _patched_urls(refs) if name in names_in(url)]
    written = np.array([slot for slot in patched if slot >= 0], np.int64)
    appended = np.array([slot for slot in patched if slot < 0], np.int64)
    rules = tuple(
        number
        for number, rule in enumerate(document.rules)
        if any(name in names_in(text, _dimensions(rule)) for _field, text in _rule_texts(rule))
    )
    return TemplateUses(np.concatenate([np.sort(np.concatenate([rows, written])), appended]), rules)


def _patched_urls(refs: References) -> Iterator[tuple[int, str]]:
    """Yield slot and URL of the entries that edits left, those at the end last."""
    for slot, patch in refs.replaced.items():
        yield slot, patch.value.url
    for number, patch in enumerate(refs.appended.values()):
        yield -2 - number, patch.value.url


def _rule_texts(rule: GenRule) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each field that is there."""
    texts = zip(RULE_FIELDS, (rule.key, rule.url, rule.offset, rule.length), strict=True)
    return ((field, text) for field, text in texts if text is not None)


def _dimensions(rule: GenRule) -> frozenset[str]:
    return frozenset(name for name, _values in rule.dimensions)
