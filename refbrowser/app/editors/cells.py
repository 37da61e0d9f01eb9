"""References as the texts of cells, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from refbrowser.app.editors.preview_source import Change
from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ByteRange, Inline, Reference, WholeFile

#: Stands in the column of lengths where the whole file is meant.
WHOLE_FILE = "whole file"
#: Bytes of inline text that are shown.
INLINE_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Cells:
    """URL, offset and length of a reference as texts; of inline data a part of it and its length."""

    url: str
    offset: str = ""
    length: str = ""

    @classmethod
    def of(cls, reference: Reference) -> Cells:
        """Return the cells of a reference."""
        if isinstance(reference, ByteRange):
            return cls(reference.url, str(reference.offset), str(reference.length))
        if isinstance(reference, WholeFile):
            return cls(reference.url, "", WHOLE_FILE)
        if isinstance(reference, Inline):
            shown = reference.data[:INLINE_SHOWN].decode("utf-8", "replace")
            return cls(f"inline: {shown}", "", str(len(reference.data)))
        return cls("")

    def before(self, old: Cells) -> tuple[Change, ...]:
        """Return what `old` has instead: the cells that differ, by name."""
        return differing(("url", "offset", "length"), old, self)


def differing(names: Iterable[str], old: object, new: object) -> tuple[Change, ...]:
    """Return those of the texts with these names that differ."""
    pairs = ((name, getattr(old, name) or "", getattr(new, name) or "") for name in names)
    return tuple(Change(*pair) for pair in pairs if pair[1] != pair[2])


def faulty(error: RefbrowserError) -> Cells:
    """Return the cells of an entry that cannot be read."""
    return Cells(f"cannot be read: {error.message}")
