"""What replacing the beginning of URLs changes: which texts, and the rows of it for the preview."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.table import WHOLE
from refbrowser.references.content.url_prefixes import (
    PrefixScope,
    ScopeKind,
    entries_of_scope,
    entries_with_prefix,
    with_new_prefix,
)
from refbrowser.references.edits.many_edits import ReplacePrefixIn, outer_with_prefix
from refbrowser.views.editing.preview import (
    WHOLE_FILE,
    CheckReport,
    PreviewChange,
    PreviewMark,
    PreviewRow,
    PreviewTally,
)

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document


#: Changes that are shown as examples.
EXAMPLES = 3
#: The template whose text a URL begins with: ``{{u}}/a.nc``, ``{{ f(n=1) }}``.
_LEADING = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)\s*(?:-?\}\}|\()")


@dataclass(frozen=True, slots=True)
class Example:
    """One thing that changes: its name, and its URL as written before and after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class PrefixChanges:
    """The edit, and what it changes.

    Attributes
    ----------
    slots
        Entries of `refs`.
    templates, rules
        Names and numbers.
    elsewhere
        How many templates and gen rules begin so too, but do not belong to the part that was chosen.
    uses
        How often references and fields of gen rules use the templates.
    """

    edit: ReplacePrefixIn
    slots: npt.NDArray[np.int64]
    templates: tuple[str, ...] = ()
    rules: tuple[int, ...] = ()
    elsewhere: int = 0
    uses: int = 0
    examples: tuple[Example, ...] = ()

    @property
    def count(self) -> int:
        """Number of things that change."""
        return len(self.slots) + len(self.templates) + len(self.rules)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The part of a document in which a prefix stands, and the prefix; empty where there is none."""

    scope: PrefixScope
    prefix: str


def prefix_changes(
    document: Document, old: str, new: str, scope: PrefixScope, check: Callable[[], None]
) -> PrefixChanges:
    """Return what replacing the prefix `old` would change; `check` raises when the work is cancelled."""
    slots = entries_with_prefix(document, old, scope, check)
    check()
    templates, rules = outer_with_prefix(document, old, scope)
    everywhere = outer_with_prefix(document, old, PrefixScope())
    changes = PrefixChanges(
        ReplacePrefixIn(old, new, scope),
        slots,
        tuple(templates),
        tuple(rules),
        sum(len(each) for each in everywhere) - len(templates) - len(rules),
        _uses(document, templates, check),
    )
    return replace(changes, examples=tuple(_examples(document, changes)))


def _uses(document: Document, templates: Sequence[str], check: Callable[[], None]) -> int:
    from refbrowser.views.editing.template_source import count_uses

    uses = count_uses(document, check) if templates else {}
    return sum(uses.get(name, 0) for name in templates)


def _examples(document: Document, changes: PrefixChanges) -> Iterable[Example]:
    old, new, left = changes.edit.old, changes.edit.new, EXAMPLES
    found = outer_urls(document, changes)[:left]
    room = max(1, left - len(found))
    refs = document.refs
    found += [(refs.key_of(slot), refs.value(slot).url) for slot in changes.slots[:room].tolist()]
    return (Example(name, url, with_new_prefix(url, old, new)) for name, url in found[: max(left, room)])


def outer_urls(document: Document, changes: PrefixChanges) -> list[tuple[str, str]]:
    """Return names and URLs of the templates and gen rules that change."""
    found = [(template_name(document, name), document.places[name]) for name in changes.templates]
    for number in changes.rules:
        rule = document.rules[number]
        path = (rule.key or "").partition("{{")[0].rpartition("/")[0]
        name = f"chunks of {path}" if document.rules_are_made else f"gen rule {number}"
        found.append((name, rule.url or ""))
    return found


def template_name(document: Document, name: str) -> str:
    """Return what a template is called; one that nobody wrote is what it stands for."""
    if not document.rules_are_made:
        return f"template {name}"
    return "place of the store" if document.store is not None else "place of the file"


def suggested_prefix(
    document: Document, scope: PrefixScope, check: Callable[[], None] = lambda: None
) -> Suggestion:
    """Return the longest prefix that the URLs of a part have in common, up to a slash.

    Where all of them begin with the same template, that is the part in which the prefix stands.
    """
    texts = _urls(document, scope, check)
    heads = {_place_of(document, text) for text in texts}
    named = document.places if document.version == 1 else {}
    if len(heads) == 1 and (name := next(iter(heads))) in named:
        inner = PrefixScope(ScopeKind.TEMPLATE, name)
        return Suggestion(inner, _common([named[name]]))
    plain = [text for text in texts if not _place_of(document, text)]
    if scope.kind is ScopeKind.ALL:
        plain += [named[name] for name in sorted(heads) if name in named]
    return Suggestion(scope, _common(plain))


def _place_of(document: Document, url: str) -> str:
    """Return the name of the template, or place, that a URL begins with; empty where there is none."""
    if document.is_at_place(url):
        return next(iter(document.places))
    match = _LEADING.match(url)
    return match[1] if match else ""


def _urls(document: Document, scope: PrefixScope, check: Callable[[], None]) -> list[str]:
    """Return the distinct URLs of a part as written."""
    refs = document.refs
    if scope.kind is ScopeKind.TEMPLATE:
        return [document.places[scope.text]] if scope.text in document.places else []
    slots = entries_of_scope(refs, scope, check)
    single = (slots < 0) | np.isin(slots, np.array([*refs.replaced], np.int64))
    numbers = refs.table.url[slots[~single]]
    texts = {refs.table.urls[number]: None for number in np.unique(numbers[numbers >= 0]).tolist()}
    others = np.concatenate([slots[single], slots[~single][numbers < 0]])
    texts.update((refs.value(slot).url, None) for slot in others.tolist())
    texts.update(
        (document.rules[index].url or "", None) for index in outer_with_prefix(document, "", scope)[1]
    )
    made = (each for at, each in enumerate(document.layouts) if scope.holds_rule(document, at))
    texts.update((each.head + each.tail, None) for each in made)
    return list(texts)


def _common(texts: list[str]) -> str:
    """Return what texts begin with, up to the first expression and the last slash of that."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    same = next(
        (at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    prefix = first[:same]
    whole = len(set(texts)) == 1 and "{" not in prefix and "/" not in prefix
    if whole:
        return prefix
    prefix = prefix.partition("{")[0]
    return prefix[: prefix.rfind("/") + 1]


@dataclass(frozen=True, eq=False)
class PrefixSource:
    """Templates, gen rules and entries of `refs` whose URL changes, in this order."""

    document: Document
    changes: PrefixChanges
    title: str = "URLs"
    is_quick: bool = True
    finds_quickly: bool = False

    @property
    def count(self) -> int:
        """Number of things that change."""
        return self.changes.count

    @property
    def _outer(self) -> list[tuple[str, str]]:
        return outer_urls(self.document, self.changes)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        outer = self._outer
        found = [
            self._row(number, name, url, "", "") for number, (name, url) in list(enumerate(outer))[start:stop]
        ]
        first = max(start, len(outer))
        slots = self.changes.slots[first - len(outer) : max(stop - len(outer), 0)].tolist()
        keys = self.document.refs.keys_of(slots)
        for number, (slot, key) in enumerate(zip(slots, keys, strict=True), first):
            found.append(self._row(number, key, *self._cells(slot)))
        return found

    def _cells(self, slot: int) -> tuple[str, str, str]:
        """Return URL, offset and length of an entry; those of the table without reading its text again."""
        refs = self.document.refs
        table = refs.table
        if refs.patch(slot) is None and table.url[slot] >= 0:
            url, offset, length = (
                table.urls[table.url[slot]],
                int(table.offset[slot]),
                int(table.length[slot]),
            )
            return (url, "", WHOLE_FILE) if length == WHOLE else (url, str(offset), str(length))
        value = refs.value(slot)
        return (
            (value.url, "", WHOLE_FILE)
            if value.length is None
            else (value.url, str(value.offset), str(value.length))
        )

    def _row(self, number: int, name: str, url: str, offset: str, length: str) -> PreviewRow:
        edit = self.changes.edit
        after = self.document.shown_url(with_new_prefix(url, edit.old, edit.new))
        if edit.old == edit.new:
            return PreviewRow(number, name, after, offset, length)
        change = PreviewChange("url", self.document.shown_url(url), after)
        return PreviewRow(number, name, after, offset, length, (change,), mark=PreviewMark.CHANGED)

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key, a template (``template u``) or a rule, or that it does not change."""
        outer = [name for name, _url in self._outer]
        if key in outer:
            return outer.index(key)
        slot = self.document.refs.find_slot(key)
        found = [] if slot is None else np.flatnonzero(self.changes.slots == slot).tolist()
        return len(outer) + found[0] if found else "the URL of this key does not change"

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Count what changes: every row; and whether the first URLs can be rendered then."""
        none = PreviewTally()
        same = self.changes.edit.old == self.changes.edit.new
        changed = none if same or not self.count else PreviewTally(self.count, 0)
        return CheckReport(
            changed=changed, added=none, removed=none, faults=none, duplicates=none, collisions=none
        )


def mistake_in(document: Document, changes: PrefixChanges) -> str:
    """Return why the first URL that changes could not be written so, or nothing."""
    from refbrowser.references.templates.syntax import Template

    if document.version == 0:
        return ""
    for example in changes.examples:
        try:
            Template.parse(example.after)
        except RefbrowserError as error:
            return error.message
    return ""
