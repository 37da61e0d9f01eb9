"""An edit that replaces a part of a document's whole text: it leads to states that no other edit tells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from refbrowser.references.document.content import DocumentContent


@dataclass(frozen=True, slots=True)
class TextPatch:
    """Other bytes from `start` to `stop` of the document's text."""

    title: str
    start: int
    stop: int
    data: bytes

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document.

        Raises
        ------
        RefbrowserError
            The text is no document any more.
        """
        text = document.to_bytes()
        changed = text[: self.start] + self.data + text[self.stop :]
        read = type(document).of(changed, name=document.name, values=document.values)
        return replace(read, from_parquet=document.from_parquet)


def patch_between(before: DocumentContent, after: DocumentContent, title: str) -> TextPatch:
    """Return the smallest patch of one piece that makes the text of one document that of another."""
    old, new = before.to_bytes(), after.to_bytes()
    start = _common(old, new)
    tail = _common(old[start:][::-1], new[start:][::-1])
    return TextPatch(title, start, len(old) - tail, new[start : len(new) - tail])


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes at the beginning are the same."""
    room = min(len(one), len(other))
    differ = np.frombuffer(one, np.uint8, room) != np.frombuffer(other, np.uint8, room)
    return int(differ.argmax()) if differ.any() else room
