"""Which references and rules use a template."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.references.refs import References
from refbrowser.references.template import Template

if TYPE_CHECKING:
    from refbrowser.references.document import ReferenceDocument
    from refbrowser.references.gen import GenRule

#: Distinct URLs or rules that are looked at between two looks at the cancel token.
STEP = 1_000


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


def names_in(text: str) -> frozenset[str]:
    """Return the names that a jinja-str uses; none where it cannot be parsed."""
    if "{" not in text:
        return frozenset()
    try:
        template = Template.parse(text)
    except RefbrowserError:
        return frozenset()
    return frozenset(template.names) | frozenset(template.calls)


def count_uses(document: ReferenceDocument, check: Callable[[], None]) -> dict[str, int]:
    """Return how many references and rule fields use each template; `check` raises when cancelled."""
    found = dict.fromkeys(document.templates.texts, 0)
    refs = document.refs
    counts = np.bincount(refs.table.url[refs.table.url >= 0], minlength=len(refs.table.urls)).tolist()
    for slot in (*refs.removed.tolist(), *refs.replaced):
        if refs.table.url[slot] >= 0:
            counts[refs.table.url[slot]] -= 1
    texts = chain(
        zip(refs.table.urls, counts, strict=True),
        ((url, 1) for _slot, url in _patched_urls(refs)),
        ((text, 1) for rule in document.rules for text in _rule_texts(rule)),
    )
    for number, (text, count) in enumerate(texts):
        if number % STEP == 0:
            check()
        for name in names_in(text):
            if name in found:
                found[name] += count
    return found


def uses_of(document: ReferenceDocument, name: str, check: Callable[[], None]) -> TemplateUses:
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
        if any(name in names_in(text) for text in _rule_texts(rule))
    )
    return TemplateUses(np.concatenate([np.sort(np.concatenate([rows, written])), appended]), rules)


def _patched_urls(refs: References) -> Iterator[tuple[int, str]]:
    """Yield slot and URL of the entries that edits left, those at the end last."""
    for slot, patch in refs.replaced.items():
        yield slot, patch.value.url
    for number, patch in enumerate(refs.appended.values()):
        yield -2 - number, patch.value.url


def _rule_texts(rule: GenRule) -> Iterator[str]:
    return (text for text in (rule.key, rule.url, rule.offset, rule.length) if text is not None)
