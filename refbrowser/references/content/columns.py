"""References as columns: the table's rows, what edits changed, and the URLs rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
)
from refbrowser.model.values import columns_of_kinds
from refbrowser.references.content.chunk_codes import Rows
from refbrowser.references.content.reference_values import Value, ValueKind, decode_inline
from refbrowser.references.content.refs import NONE, References
from refbrowser.references.templates.templates import TemplateSet

_Item = TypeVar("_Item")
#: URLs that are rendered together, where they are all simple.
_AT_ONCE = 1 << 12


class Lazy(Mapping[int, _Item], Generic[_Item]):
    """Rows to values that are made when asked for."""

    def __init__(self, sources: Mapping[int, int], make: Callable[[int], _Item]) -> None:
        self._sources = sources
        self._make = make

    def __getitem__(self, row: int) -> _Item:
        return self._make(self._sources[row])

    def __iter__(self) -> Iterator[int]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


@dataclass(frozen=True, slots=True)
class RenderedUrls:
    """The URLs of a table after rendering; `faults` tells why one could not be rendered."""

    texts: tuple[str, ...]
    faults: Mapping[int, RefbrowserError]

    @classmethod
    def of(cls, urls: tuple[str, ...], templates: TemplateSet | None) -> RenderedUrls:
        """Render URLs; without templates (Version 0) each stands for itself."""
        if templates is None or not templates.renders(urls):
            return cls(urls, {})
        texts: list[str] = []
        faults = {}
        for start in range(0, len(urls), _AT_ONCE):
            some = urls[start : start + _AT_ONCE]
            simple = templates.render_simple(some)
            texts += simple or ()
            for number, url in enumerate(() if simple else some, start):
                try:
                    texts.append(templates.render(url))
                except RefbrowserError as error:
                    texts.append(url)
                    faults[number] = error
        return cls(tuple(texts), faults)


#: Kinds of values that hold their bytes.
_INLINE = frozenset({ValueKind.TEXT, ValueKind.BASE64, ValueKind.OBJECT})


def _inline(kind: int, text: str) -> Inline:
    return Inline(text.encode("utf-8") if kind == ValueKind.OBJECT else decode_inline(text))


@dataclass(frozen=True, eq=False)
class ReferenceView:
    """What the entries of a document stand for.

    Parameters
    ----------
    refs
        The entries.
    urls
        The table's URLs rendered.
    templates
        For the URLs of edited entries; None in Version 0.
    place
        Gives the place of an entry from its key.
    """

    refs: References
    urls: RenderedUrls
    templates: TemplateSet | None
    place: Callable[[str], Place]

    @classmethod
    def of(
        cls, refs: References, templates: TemplateSet | None, place: Callable[[str], Place]
    ) -> ReferenceView:
        """Return what entries stand for, with the URLs of their table rendered for it."""
        return cls(refs, RenderedUrls.of(refs.table.urls, templates), templates, place)

    def reference(self, slot: int) -> Reference:
        """Return what one entry stands for, numbers of any size exactly.

        Raises
        ------
        RefbrowserError
            The entry is faulty.
        """
        table = self.refs.table
        if self.refs.patch(slot) is None:
            url = int(table.url[slot])
            if url >= 0:
                if url in self.urls.faults:
                    raise self._placed(self.urls.faults[url], slot)
                length = int(table.length[slot])
                text = self.urls.texts[url]
                return WholeFile(text) if length < 0 else ByteRange(text, int(table.offset[slot]), length)
            if url in _INLINE:
                return Inline(table.inline(slot))
        return self._meaning(self.refs.value(slot), slot)

    def _meaning(self, value: Value, slot: int) -> Reference:
        fault = value.fault
        if fault is not None:
            raise RefbrowserError(fault.kind, fault.message, self.place(self.refs.key_of(slot)), fault.advice)
        if value.kind in _INLINE:
            return _inline(value.kind, value.text)
        url = value.url
        if self.templates is not None:
            try:
                url = self.templates.render(url)
            except RefbrowserError as error:
                raise self._placed(error, slot) from None
        if value.offset is None or value.length is None:
            return WholeFile(url)
        return ByteRange(url, value.offset, value.length)

    def _placed(self, error: RefbrowserError, slot: int) -> RefbrowserError:
        place = self.place(self.refs.key_of(slot))
        below = replace(place, pointer=f"{place.pointer}/0", span=error.place.span)
        return RefbrowserError(error.kind, error.message, below, error.advice)

    def inline(self, slot: int) -> bytes:
        """Return the bytes of an inline entry."""
        reference = self.reference(slot)
        assert isinstance(reference, Inline)
        return reference.data

    def error(self, slot: int) -> RefbrowserError:
        """Return why an entry cannot be read."""
        try:
            reference = self.reference(slot)
        except RefbrowserError as error:
            return error
        assert isinstance(reference, ByteRange)
        return RefbrowserError(
            ErrorKind.RANGE,
            f"the range from byte {reference.offset} on ends past 2^63",
            self.place(self.refs.key_of(slot)),
        )

    def kinds(self, slots: Rows) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of slots."""
        table = self.refs.table
        kinds = np.zeros(len(slots), np.uint8)
        whole = bool(len(slots)) and bool(slots.min() >= 0)
        rows = slots if whole else slots[slots >= 0]
        found = table.kinds(rows)
        if self.urls.faults:
            found[np.isin(table.url[rows], list(self.urls.faults))] = ReferenceKind.FAULTY
        if whole:
            kinds = found
        else:
            kinds[slots >= 0] = found
        for at in self._patched(slots):
            kinds[at] = self._kind(int(slots[at]))
        return kinds

    def grid_kinds(
        self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding
    ) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk of a grid, flat in C order."""
        refs = self.refs
        if not refs.has_overlay:
            whole = refs.table.grid_slice(prefix, grid_shape, encoding)
            if whole is not None:
                kinds = refs.table.kinds(whole)
                if self.urls.faults:
                    kinds[np.isin(refs.table.url[whole], list(self.urls.faults))] = ReferenceKind.FAULTY
                return kinds
        return self.kinds(refs.grid_slots(prefix, grid_shape, encoding))

    def _patched(self, slots: Rows) -> list[int]:
        """Return where in `slots` entries of the overlay stand."""
        refs = self.refs
        if not refs.replaced and not refs.appended:
            return []
        rows = np.fromiter(refs.replaced, np.int64, len(refs.replaced))
        return np.flatnonzero((slots < NONE) | np.isin(slots, rows)).tolist()

    def _kind(self, slot: int) -> ReferenceKind:
        value = self.refs.value(slot)
        if value.kind in (ValueKind.FAULT, ValueKind.LARGE):
            return ReferenceKind.FAULTY
        if value.kind is not None:
            return ReferenceKind.INLINE
        try:
            reference = self.reference(slot)
        except RefbrowserError:
            return ReferenceKind.FAULTY
        return ReferenceKind.WHOLE if isinstance(reference, WholeFile) else ReferenceKind.RANGE

    def columns(self, slots: Rows) -> ReferenceColumns:
        """Return the references of slots; `NONE` is a missing one."""
        if (slots == NONE).all():
            # As all chunks of a store: rules give them.
            return columns_of_kinds(np.full(len(slots), ReferenceKind.MISSING, np.uint8))
        table = self.refs.table
        kinds = self.kinds(slots)
        has_url = (kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE)
        rows = np.where(slots >= 0, slots, 0)
        if not len(table):
            url = offset = length = np.full(len(slots), -1, np.int64)
        else:
            url, offset, length = table.url[rows], table.offset[rows], table.length[rows]
        urls = np.where(has_url, url, -1).astype(np.int32)
        offsets = np.where(has_url, offset, 0).astype(np.int64)
        lengths = np.where(has_url, length, -1).astype(np.int64)
        offsets[kinds == ReferenceKind.WHOLE] = 0
        texts = self.urls.texts
        extra: dict[str, int] = {}
        for at in self._patched(slots):
            if not has_url[at]:
                continue
            reference = self.reference(int(slots[at]))
            assert isinstance(reference, ByteRange | WholeFile)
            urls[at] = len(texts) + extra.setdefault(reference.url, len(extra))
            if isinstance(reference, ByteRange):
                offsets[at], lengths[at] = reference.offset, reference.length
            else:
                lengths[at] = -1
        if extra:
            texts = (*texts, *extra)
        return ReferenceColumns(
            kinds, urls, offsets, lengths, texts,
            Lazy(self._where(kinds, ReferenceKind.INLINE, slots), self.inline),
            Lazy(self._where(kinds, ReferenceKind.FAULTY, slots), self.error),
        )  # fmt: skip

    @staticmethod
    def _where(kinds: npt.NDArray[np.uint8], kind: ReferenceKind, slots: Rows) -> dict[int, int]:
        at = np.flatnonzero(kinds == kind)
        return dict(zip(at.tolist(), slots[at].tolist(), strict=True))
