"""What a replacement of URL prefixes would change, counted before it is made."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import translate
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.references.edits import ReplaceUrlPrefix

if TYPE_CHECKING:
    from refbrowser.references.document import ReferenceDocument

#: Keys that are compared with the pattern between two looks at the cancel token.
STEP = 4_096


@dataclass(frozen=True, slots=True)
class PrefixChanges:
    """The edit, and how many references, templates and gen rules it changes; `example` is the first key."""

    edit: ReplaceUrlPrefix
    references: int
    templates: int = 0
    rules: int = 0
    example: str = ""

    @property
    def count(self) -> int:
        """Number of things that change."""
        return self.references + self.templates + self.rules


def prefix_changes(
    document: ReferenceDocument, old: str, new: str, pattern: str | None, check: Callable[[], None]
) -> PrefixChanges:
    """Return what replacing the prefix `old` would change; `check` raises when the work is cancelled.

    Parameters
    ----------
    pattern
        Shell pattern (``temp/*``) of the keys; None for all, and for templates and gen rules too.
    """
    slots = _slots(document, old)
    check()
    if pattern is not None:
        keys = _matching(document, slots, pattern, check)
        edit = ReplaceUrlPrefix(old, new, tuple(keys))
        return PrefixChanges(edit, len(keys), example=keys[0] if keys else "")
    templates = document.templates.templates.values() if document.version == 1 else ()
    return PrefixChanges(
        ReplaceUrlPrefix(old, new),
        len(slots),
        sum(isinstance(text, str) and text.startswith(old) for text in templates),
        sum((rule.url or "").startswith(old) for rule in document.rules),
        document.refs.key_of(slots[0]) if slots else "",
    )


def _slots(document: ReferenceDocument, old: str) -> list[int]:
    """Return the slots of the entries whose URL begins with `old`."""
    refs = document.refs
    wanted = [number for number, url in enumerate(refs.table.urls) if url.startswith(old)]
    rows = np.flatnonzero(np.isin(refs.table.url, wanted)) if wanted else np.zeros(0, np.int64)
    touched = np.array([*refs.removed.tolist(), *refs.replaced], np.int64)
    slots: list[int] = rows[~np.isin(rows, touched)].tolist()
    for slot in (*refs.replaced, *(-2 - number for number in range(len(refs.appended)))):
        if refs.value(slot).kind is None and refs.value(slot).url.startswith(old):
            slots.append(slot)
    return slots


def _matching(
    document: ReferenceDocument, slots: list[int], pattern: str, check: Callable[[], None]
) -> list[str]:
    matches = re.compile(translate(pattern)).match
    found: list[str] = []
    for start in range(0, len(slots), STEP):
        check()
        found += [key for key in document.refs.keys_of(slots[start : start + STEP]) if matches(key)]
    return found
