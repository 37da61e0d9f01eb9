"""The edit of a document's text itself: other bytes from one place to another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.content import DocumentContent, ReferenceText
from refbrowser.references.content.finding_places import Positions
from refbrowser.references.content.reader import SPECIAL, detect
from refbrowser.references.content.refs import Patch
from refbrowser.references.text.json_text import JsonError, JsonReader, Node, NodeKind, parse

#: Of a text of at most so many bytes all is read again: what is quicker is not worth being looked for.
_SMALL = 1 << 16


@dataclass(frozen=True, slots=True)
class TextPatch:
    """Other bytes from `start` to `stop` of the document's text."""

    title: str
    start: int
    stop: int
    data: bytes

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document; of a large one only what the patch is in is read again.

        Raises
        ------
        RefbrowserError
            The text is no document any more.
        """
        whole = document.written()
        own = whole.own_text
        if own is not None:
            changed = self._in_entry(own) or self._in_outer(own)
            if changed is not None:
                return changed
        text = whole.to_bytes()
        changed_text = text[: self.start] + self.data + text[self.stop :]
        read = type(whole).of(changed_text, name=document.name, values=document.templates.values)
        return replace(read, from_parquet=document.from_parquet)

    def _in_entry(self, document: ReferenceText) -> ReferenceText | None:
        """Return the document where the patch is within the value of one entry; None elsewhere."""
        refs = document.refs
        if refs.text_table.text.size <= _SMALL or refs.table.written is not None:
            return None
        positions = Positions(document)
        slot = positions.entry_at(self.start)
        if slot is None or slot < 0 or refs.patch(slot) is not None:
            return None
        member = refs.text_table.member(slot)
        if document.version == 0 and member.key in SPECIAL:
            return None
        begin = positions.entry(slot) + member.value.start - member.start
        raw = refs.value_text(slot)
        if not begin <= self.start <= self.stop <= begin + len(raw):
            return None
        changed = raw[: self.start - begin] + self.data + raw[self.stop - begin :]
        try:
            node = parse(changed)
            if node.start or node.stop != len(changed):
                return None
            JsonReader(changed).bounded_value(0, 1 if document.version == 0 else 2)
            patch = Patch.of(member.key, refs.key_text(slot), changed)
        except (JsonError, RefbrowserError):
            # It is told with its place in the whole text.
            return None
        return document.with_refs(refs.with_patch(slot, patch))

    def _in_outer(self, document: ReferenceText) -> ReferenceText | None:
        """Return the document where the patch is beside `refs` in Version 1; None elsewhere."""
        if document.refs.text_table.text.size <= _SMALL or document.version == 0 or document.hole is None:
            return None
        positions = Positions(document)
        start, stop = positions.outer_at(self.start), positions.outer_at(self.stop)
        if start is None or stop is None or (start <= document.hole < stop) or stop < start:
            return None
        outer = document.outer[:start] + self.data + document.outer[stop:]
        reader = JsonReader(outer)
        try:
            node, _count = reader.bounded_value(reader.space(document.mark), 0)
            if reader.space(node.stop) != len(outer) or not _same_frame(document.node, node):
                return None
            special = {member.key: member.value for member in node.members if member.key in SPECIAL}
            found = detect(special, len(special) < len(node.members))
        except JsonError:
            return None
        if (found.version, found.version_missing) != (1, document.version_missing):
            return None
        return document.with_outer(outer)


def _same_frame(node: Node, changed: Node) -> bool:
    """Tell whether two texts have the same members, and `refs` is an empty object in both."""
    refs = changed.member("refs")
    if refs is None or refs.kind is not NodeKind.OBJECT or refs.members:
        return False
    return [member.key for member in node.members] == [member.key for member in changed.members]


def patch_between(before: DocumentContent, after: DocumentContent, title: str) -> TextPatch:
    """Return the smallest patch of one piece that makes the text of one document that of another."""
    return smallest_patch(before.to_bytes(), after.to_bytes(), title)


def smallest_patch(old: bytes, new: bytes, title: str, base: int = 0) -> TextPatch:
    """Return the smallest patch of one piece that makes one text another; the old one stands at `base`."""
    start = _common(old, new)
    tail = _common(old[start:][::-1], new[start:][::-1])
    return TextPatch(title, base + start, base + len(old) - tail, new[start : len(new) - tail])


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes at the beginning are the same."""
    room = min(len(one), len(other))
    differ = np.frombuffer(one, np.uint8, room) != np.frombuffer(other, np.uint8, room)
    return int(differ.argmax()) if differ.any() else room
