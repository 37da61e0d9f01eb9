"""References as the texts of cells, and what differs between two of them."""

from __future__ import annotations

from dataclasses import dataclass

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

    def before(self, old: Cells) -> str:
        """Return what `old` has instead: the cells that differ, by name."""
        names = ("url", "offset", "length")
        different = [name for name in names if getattr(self, name) != getattr(old, name)]
        return ", ".join(f"{name} {getattr(old, name) or 'none'}" for name in different)


def faulty(error: RefbrowserError) -> Cells:
    """Return the cells of an entry that cannot be read."""
    return Cells(f"cannot be read: {error.message}")
