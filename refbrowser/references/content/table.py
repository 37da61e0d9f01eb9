"""The references that stand one by one in a document, as columns: about 30 bytes each, no object for each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.content.chunk_codes import (
    BITS,
    Group,
    GroupColumn,
    GroupRows,
    Rows,
    grid_codes,
    group_of_chunks,
    index_groups,
    join_key,
    join_keys,
    pack,
    pack_many,
    split_key,
    unpack_many,
)
from refbrowser.references.content.reference_values import (
    Value,
    ValueKind,
    decode_inline,
    interpret,
    key_issues,
)
from refbrowser.references.text.document_text import DocumentText
from refbrowser.references.text.json_edit import rewrite
from refbrowser.references.text.json_text import JsonError, JsonReader, Member, parse

#: Number of the group of keys that are no chunk keys; their code is a hash of the key.
ODD = 0
#: Keys are made column by column where this many are alike.
_ALIKE = 16
#: `length` of a row that is a whole file.
WHOLE = -1


def key_bytes(key: str) -> bytes:
    """Return a key as UTF-8; lone surrogates too, since a faulty key must still be findable."""
    return key.encode("utf-8", "surrogatepass")


def odd_code(key: bytes) -> int:
    """Return the code of a key that is no chunk key (different from process to process)."""
    return hash(key) & 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, eq=False, kw_only=True)
class ReferenceTable(ABC):
    """Entries of a document in its order: what their keys are and what they refer to, as columns.

    Attributes
    ----------
    group, groups
        Group of each row; the groups' texts by number (number `ODD`: keys that are no chunk keys).
    code
        Packed coordinates, or the hash of an odd key, uint64.
    url
        Position in `urls`, or a `ValueKind`, signed.
    offset, length
        Of rows with a URL; `length` is `WHOLE` for a whole file. For all others what finds the value.
    urls
        The distinct URLs, as spelled after JSON, before rendering.
    flagged
        Rows that have a fault or a warning of their own, rising.
    written
        The table as the text has it, where `urls` or `url` were changed by an edit.
    """

    group: GroupColumn
    groups: tuple[Group, ...]
    code: npt.NDArray[np.uint64]
    url: npt.NDArray[np.signedinteger[Any]]
    offset: npt.NDArray[np.signedinteger[Any]]
    length: npt.NDArray[np.signedinteger[Any]]
    urls: tuple[str, ...]
    flagged: npt.NDArray[np.int64]
    written: ReferenceTable | None = None

    def __len__(self) -> int:
        return len(self.code)

    @property
    def held(self) -> int:
        """Bytes of memory that columns and index take, without the URLs' text."""
        columns = (self.code, self.url, self.offset, self.length, self.flagged)
        orders = {id(rows.order): rows.order for rows in self._index if rows.order is not None}
        index = sum(order.nbytes for order in orders.values())
        return sum(column.nbytes for column in columns) + self.group.held + index

    # What each kind of table finds its own way

    @property
    @abstractmethod
    def origin(self) -> object:
        """What its rows were read from: tables of one origin have the same rows, but for their URLs."""

    @abstractmethod
    def odd_key(self, row: int) -> str:
        """Return the key of a row that is no chunk key."""

    @abstractmethod
    def key_text(self, row: int) -> bytes:
        """Return the JSON text of a row's key."""

    @abstractmethod
    def value_text(self, row: int) -> bytes:
        """Return the JSON text of a row's value."""

    def value_beginning(self, row: int, most: int) -> bytes:
        """Return the JSON text of a row's value, cut after so many bytes; less is read where that can be."""
        return self.value_text(row)[:most]

    @abstractmethod
    def value(self, row: int) -> Value:
        """Return what a row means, with its faults and warnings."""

    @abstractmethod
    def inline(self, row: int) -> bytes:
        """Return the bytes of a row that holds them."""

    # Keys

    @cached_property
    def _index(self) -> list[GroupRows]:
        return index_groups(self.group, self.code, len(self.groups), ODD)

    @cached_property
    def _numbers(self) -> dict[Group, int]:
        return {group: number for number, group in enumerate(self.groups) if number != ODD}

    def rows_of(self, group: Group) -> GroupRows | None:
        """Return the rows of a group, or None where there is no such group."""
        number = self._numbers.get(group)
        return None if number is None else self._index[number]

    @property
    def odd_rows(self) -> Rows:
        """Rows whose keys are no chunk keys, in document order."""
        return np.sort(self._index[ODD].rows())

    def find(self, key: str) -> int | None:
        """Return the row that counts for `key` (the last one), or None."""
        parts = split_key(key)
        code = None if parts is None else pack(parts[1])
        if parts is None or code is None:
            return self._find_odd(key)
        rows = self.rows_of(parts[0])
        if rows is None:
            return None
        row = rows.find(self.code, code)
        return None if row < 0 else row

    def _find_odd(self, key: str) -> int | None:
        rows = self._odd_candidates(key)
        return rows[-1] if rows else None

    def _odd_candidates(self, key: str) -> list[int]:
        wanted = np.uint64(odd_code(key_bytes(key)))
        group = self._index[ODD]
        codes = self._odd_codes
        low = int(codes.searchsorted(wanted, side="left"))
        high = int(codes.searchsorted(wanted, side="right"))
        if low == high or group.order is None:
            return []
        rows = group.order[group.start + low : group.start + high].tolist()
        return [row for row in rows if self.odd_key(row) == key]

    @cached_property
    def _odd_codes(self) -> npt.NDArray[np.uint64]:
        return self._index[ODD].codes(self.code)

    def find_all(self, key: str) -> list[int]:
        """Return every row with `key`, in document order."""
        parts = split_key(key)
        code = None if parts is None else pack(parts[1])
        if parts is None or code is None:
            return self._odd_candidates(key)
        rows = self.rows_of(parts[0])
        if rows is None:
            return []
        if rows.order is None:
            row = rows.find(self.code, code)
            return [] if row < 0 else [row]
        held = rows.codes(self.code)
        low = int(held.searchsorted(np.uint64(code), side="left"))
        high = int(held.searchsorted(np.uint64(code), side="right"))
        return [int(row) for row in rows.order[rows.start + low : rows.start + high]]

    def find_chunks(self, prefix: str, coords: npt.NDArray[np.int64], encoding: ChunkKeyEncoding) -> Rows:
        """Return the row of each chunk of an array, or -1; `coords` has shape (n, ndim)."""
        found = group_of_chunks(prefix, coords.shape[1], encoding)
        if found is None:
            keys = encoding.encode_many(coords, prefix)
            rows = [self.find(key) for key in keys]
            return np.array([-1 if row is None else row for row in rows], np.int64)
        group, leading = found
        rows_of_group = self.rows_of(group)
        if rows_of_group is None:
            return np.full(len(coords), -1, np.int64)
        codes, fit = pack_many(with_leading(coords, leading))
        result = rows_of_group.find_many(self.code, codes)
        result[~fit] = -1
        return result

    def grid_rows(self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding) -> Rows:
        """Return the row of every chunk of a grid, or -1, flat in C order."""
        size = math.prod(grid_shape)
        found = group_of_chunks(prefix, len(grid_shape), encoding)
        if found is None:
            coords = np.stack(np.unravel_index(np.arange(size), grid_shape), axis=1) if grid_shape else None
            return self.find_chunks(
                prefix, np.zeros((1, 0), np.int64) if coords is None else coords, encoding
            )
        group, leading = found
        whole = self._whole_grid(found, grid_shape)
        if whole is not None:
            return np.arange(whole.start, whole.stop)
        result = np.full(size, -1, np.int64)
        rows_of_group = self.rows_of(group)
        if rows_of_group is not None:
            flat, kept = grid_positions(rows_of_group.codes(self.code), leading, grid_shape)
            rows = rows_of_group.rows()
            result[flat] = rows if kept is None else rows[kept]
        return result

    def grid_slice(
        self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding
    ) -> slice | None:
        """Return the rows of a grid all of whose chunks are there and stand in its order, else None."""
        found = group_of_chunks(prefix, len(grid_shape), encoding)
        return None if found is None else self._whole_grid(found, grid_shape)

    def _whole_grid(self, found: tuple[Group, tuple[int, ...]], grid_shape: tuple[int, ...]) -> slice | None:
        rows = self.rows_of(found[0])
        if rows is None or rows.order is not None:
            return None
        if rows.stop - rows.start != math.prod(grid_shape):
            return None
        expected = grid_codes(found[1], grid_shape)
        if not np.array_equal(self.code[rows.start : rows.stop], expected):
            return None
        return slice(rows.start, rows.stop)

    def key(self, row: int) -> str:
        """Return the key of a row."""
        number = self.group.at(row)
        if number == ODD:
            return self.odd_key(row)
        return join_key(self.groups[number], int(self.code[row]))

    def keys(self, rows: Sequence[int]) -> list[str]:
        """Return the keys of many rows."""
        wanted = np.asarray(rows, np.int64)
        numbers = self.group.of(wanted)
        codes = self.code[wanted]
        kinds, kind = np.unique(
            numbers * 16 + (codes >> np.uint64(BITS)).astype(np.int64), return_inverse=True
        )
        if len(kinds) * _ALIKE > len(wanted):
            parts = zip(wanted.tolist(), numbers.tolist(), codes.tolist(), strict=True)
            return [
                join_key(self.groups[number], code) if number != ODD else self.odd_key(row)
                for row, number, code in parts
            ]
        result = np.empty(len(wanted), object)
        for at, found in enumerate(kinds.tolist()):
            which = np.flatnonzero(kind == at)
            if found // 16 == ODD:
                result[which] = [self.odd_key(row) for row in wanted[which].tolist()]
            else:
                result[which] = join_keys(self.groups[found // 16], codes[which], found % 16)
        keys: list[str] = result.tolist()
        return keys

    # Values

    def kinds(self, rows: Rows | slice) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of rows; whether a URL can be rendered is not asked."""
        url = self.url[rows]
        kinds = np.full(len(url), ReferenceKind.RANGE, np.uint8)
        if isinstance(rows, slice) or len(rows):
            kinds[self.length[rows] == WHOLE] = ReferenceKind.WHOLE
        without = url < 0
        if without.any():
            kinds[without] = _KIND_OF_CODE[-url[without]]
        return kinds

    @cached_property
    def duplicates(self) -> Rows:
        """Rows whose key comes again later, in document order: they do not count."""
        found: list[Rows] = []
        for number, rows in enumerate(self._index):
            if rows.order is None or rows.stop - rows.start < 2:
                continue
            held = rows.codes(self.code)
            same = np.flatnonzero(held[1:] == held[:-1])
            if number == ODD:
                found.append(self._odd_duplicates(rows, same))
            elif len(same):
                found.append(rows.order[rows.start + same].astype(np.int64))
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def _odd_duplicates(self, rows: GroupRows, same: Rows) -> Rows:
        assert rows.order is not None
        early: set[int] = set()
        for at in same.tolist():
            row = int(rows.order[rows.start + at])
            if row not in early:
                early.update(self._odd_candidates(self.key(row))[:-1])
        return np.array(sorted(early), np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class TextTable(ReferenceTable):
    """Entries of `refs` in the text of a document.

    Attributes
    ----------
    text
        Of the document; spans are positions in it. Of rows without a URL `offset` and `length` are one.
    start
        Where the key of each row begins, uint32.
    stop
        Where the last entry ends: white space and the closing bracket follow.
    """

    text: DocumentText
    start: npt.NDArray[np.uint32]
    stop: int

    @property
    def held(self) -> int:
        """Bytes of memory that columns, index and text take, without the URLs' text."""
        return super().held + self.start.nbytes + self.text.held

    @property
    def origin(self) -> object:
        """The text."""
        return self.text

    def odd_key(self, row: int) -> str:
        """Return the key of a row that is no chunk key."""
        stop = int(self.offset[row]) if self.url[row] < 0 else self.next_start(row)
        data = self.text.read(int(self.start[row]), stop)
        plain = data[1 : data.index(b'"', 1)]
        if plain.isascii() and b"\\" not in plain:
            return plain.decode("ascii")
        return JsonReader(data).string(0)[0]

    def next_start(self, row: int) -> int:
        """Return where the next row begins, or the last entry ends."""
        return int(self.start[row + 1]) if row + 1 < len(self.start) else self.stop

    def member(self, row: int) -> Member:
        """Return the entry of a row read again from the text."""
        start = int(self.start[row])
        reader = JsonReader(self.text.read(start, self.next_start(row)), start)
        return reader.read_member(0)[0]

    def value(self, row: int) -> Value:
        """Return what a row means, with its faults and warnings."""
        member = self.member(row)
        node = member.value
        if self._url_changed(row):
            raw = self.value_text(row)
            node = JsonReader(raw, node.start).value(0)
        else:
            raw = self.text.read(node.start, node.stop)
        value = interpret(node, raw)
        about_key = key_issues(member.key, member.start)
        if not about_key:
            return value
        return replace(value, kind=ValueKind.FAULT, issues=about_key + value.issues)

    def inline(self, row: int) -> bytes:
        """Return the bytes of a row that holds them."""
        data = self.value_text(row)
        if self.url[row] == _OBJECT:
            return data
        text = data.decode()
        return decode_inline(scanstring(text, 1, True)[0] if "\\" in text else text[1:-1])

    def _url_changed(self, row: int) -> bool:
        """Return whether a row has another URL than in the text."""
        written = self.written
        if written is None or self.url[row] < 0:
            return False
        return self.urls[self.url[row]] != written.urls[written.url[row]]

    def key_text(self, row: int) -> bytes:
        """Return the JSON text of a row's key."""
        member = self.member(row)
        return self.text.read(member.start, member.key_stop)

    def value_text(self, row: int) -> bytes:
        """Return the JSON text of a row's value."""
        if self.url[row] < 0:
            return self.value_beginning(row, int(self.length[row]))
        node = self.member(row).value
        raw = self.text.read(node.start, node.stop)
        if not self._url_changed(row):
            return raw
        value = node.to_python()
        return rewrite(raw, parse(raw), [self.urls[self.url[row]], *value[1:]])

    def value_beginning(self, row: int, most: int) -> bytes:
        """Return the JSON text of a row's value, cut after so many bytes."""
        if self.url[row] >= 0:
            return self.value_text(row)[:most]
        start = int(self.offset[row])
        return self.text.read(start, start + min(int(self.length[row]), most))


#: To look a member of an enumeration up takes several calls; inline values are read by the thousand.
_OBJECT = int(ValueKind.OBJECT)
_KIND_OF_CODE = np.zeros(6, np.uint8)
_KIND_OF_CODE[-ValueKind.TEXT] = ReferenceKind.INLINE
_KIND_OF_CODE[-ValueKind.BASE64] = ReferenceKind.INLINE
_KIND_OF_CODE[-ValueKind.OBJECT] = ReferenceKind.INLINE
_KIND_OF_CODE[-ValueKind.FAULT] = ReferenceKind.FAULTY
_KIND_OF_CODE[-ValueKind.LARGE] = ReferenceKind.FAULTY


def with_leading(coords: npt.NDArray[np.int64], leading: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return coordinates with the same numbers put in front of each."""
    if not leading:
        return coords
    front = np.broadcast_to(np.array(leading, np.int64), (len(coords), len(leading)))
    return np.concatenate([front, coords], axis=1)


def grid_positions(
    codes: npt.NDArray[np.uint64], leading: tuple[int, ...], grid_shape: tuple[int, ...]
) -> tuple[Rows, npt.NDArray[np.bool_] | None]:
    """Return the flat position in a grid of the codes that lie in it, and which do (None: all of them)."""
    ndim = len(leading) + len(grid_shape)
    inside = codes >> np.uint64(BITS) == ndim
    columns = unpack_many(codes, ndim)
    for column, number in zip(columns, leading, strict=False):
        inside &= column == number
    for column, size in zip(columns[len(leading) :], grid_shape, strict=True):
        inside &= column < size
    kept = None if inside.all() else inside
    flat = np.zeros(len(codes) if kept is None else int(kept.sum()), np.int64)
    for column, size in zip(columns[len(leading) :], grid_shape, strict=True):
        flat *= size
        flat += column if kept is None else column[kept]
    return flat, kept


#: Entries added one by one that are kept as objects before they become columns.
_FLUSH = 16_384
#: Rows of one part of a column.
_PART = 32_768


@dataclass(frozen=True, slots=True)
class Block:
    """Rows as columns; `runs` and `run_groups` are the first row (within the block) and group of each run."""

    start: npt.NDArray[np.uint32]
    code: npt.NDArray[np.uint64]
    url: npt.NDArray[np.int32]
    offset: npt.NDArray[np.signedinteger[Any]]
    length: npt.NDArray[np.signedinteger[Any]]
    runs: npt.NDArray[np.int64]
    run_groups: npt.NDArray[np.int32]


def smallest(column: npt.NDArray[np.int64]) -> npt.NDArray[np.signedinteger[Any]]:
    """Return a column in 32 bits where it fits."""
    if len(column) and (column.max() > 2**31 - 1 or column.min() < -(2**31)):
        return column
    return column.astype(np.int32)


class Column:
    """Numbers that are added block by block, kept in parts of one size until all are there.

    An array that grew by being copied would need twice its memory at its last step.
    """

    def __init__(self, kind: type[np.generic]) -> None:
        self._kind = kind
        self._parts: list[npt.NDArray[Any]] = []
        self._used = _PART

    def extend(self, values: npt.NDArray[Any]) -> None:
        """Add numbers at the end."""
        start = 0
        while start < len(values):
            if self._used == _PART:
                self._parts.append(np.empty(_PART, self._kind))
                self._used = 0
            part = self._parts[-1]
            if part.dtype.itemsize < values.dtype.itemsize:
                part = self._parts[-1] = part.astype(values.dtype)
            count = min(len(values) - start, _PART - self._used)
            part[self._used : self._used + count] = values[start : start + count]
            self._used += count
            start += count

    def copy(self) -> npt.NDArray[Any]:
        """Return the numbers so far, in 32 bits where all of them were."""
        if not self._parts:
            return np.zeros(0, self._kind)
        return np.concatenate([*self._parts[:-1], self._parts[-1][: self._used]])

    def take(self) -> npt.NDArray[Any]:
        """Return the numbers and forget them."""
        numbers = self.copy()
        self._parts, self._used = [], _PART
        return numbers


class TableBuilder:
    """Rows in document order; `finish` makes the table."""

    def __init__(self) -> None:
        self.count = 0
        self._start = Column(np.uint32)
        self._code = Column(np.uint64)
        self._url = Column(np.int32)
        self._offset = Column(np.int32)
        self._length = Column(np.int32)
        self._runs: list[npt.NDArray[np.int64]] = []
        self._run_groups: list[npt.NDArray[np.int32]] = []
        self._placed = 0
        self._rows: list[tuple[int, int, int, int, int, int]] = []
        self._flagged: list[int] = []
        self._groups: dict[Group, int] = {("", ""): ODD}
        self._urls: dict[str, int] = {}

    def group_number(self, group: Group) -> int:
        """Return the number of a group, new or not."""
        return self._groups.setdefault(group, len(self._groups))

    def url_number(self, url: str) -> int:
        """Return the number of a URL, new or not."""
        return self._urls.setdefault(url, len(self._urls))

    def add_member(self, member: Member, raw: bytes) -> None:
        """Add an entry that was read exactly; `raw` is the text of its value."""
        value = interpret(member.value, raw)
        about_key = key_issues(member.key, member.start)
        if about_key or value.issues:
            self._flagged.append(self.count)
        if about_key:
            value = Value(ValueKind.FAULT)
        if value.kind is None:
            self.add_range(member.start, member.key, value.url, value.offset or 0, value.length)
            return
        size = member.value.stop - member.value.start
        self._add(member.start, member.key, int(value.kind), member.value.start, size)

    def add_range(self, start: int, key: str, url: str, offset: int, length: int | None) -> None:
        """Add an entry with a URL; `length` None is the whole file."""
        self._add(start, key, self.url_number(url), offset, WHOLE if length is None else length)

    def add_text(self, start: int, key: str, position: int, size: int) -> None:
        """Add an inline value of plain ASCII text whose JSON text is at `position`."""
        self._add(start, key, ValueKind.TEXT, position, size)

    def _add(self, start: int, key: str, url: int, offset: int, length: int) -> bool:
        """Add a row; tell whether its key is that of a chunk."""
        parts = split_key(key)
        code = None if parts is None else pack(parts[1])
        if parts is None or code is None:
            group, code = ODD, odd_code(key_bytes(key))
        else:
            group = self.group_number(parts[0])
        self._rows.append((start, group, code, url, offset, length))
        self._counted(1, start)
        if len(self._rows) >= _FLUSH:
            self._flush()
        return group != ODD

    def _counted(self, more: int, position: int) -> None:
        self.count += more
        if self.count > LIMITS.references:
            raise JsonError(
                position, f"there are more than {LIMITS.references} references", kind=ErrorKind.BUDGET
            )

    def add_block(self, block: Block) -> None:
        """Add rows that were read as columns."""
        self._flush()
        self._place(block)
        self._counted(len(block.start), int(block.start[0]) if len(block.start) else 0)

    def _place(self, block: Block) -> None:
        self._start.extend(block.start)
        self._code.extend(block.code)
        self._url.extend(block.url)
        self._offset.extend(block.offset)
        self._length.extend(block.length)
        self._runs.append(block.runs + self._placed)
        self._run_groups.append(block.run_groups)
        self._placed += len(block.start)

    def _flush(self) -> None:
        if not self._rows:
            return
        start, group, code, url, offset, length = zip(*self._rows, strict=True)
        self._rows = []
        owners = np.array(group, np.int32)
        runs = np.flatnonzero(np.diff(owners, prepend=-1))
        self._place(
            Block(
                np.array(start, np.uint32),
                np.array(code, np.uint64),
                np.array(url, np.int32),
                smallest(np.array(offset, np.int64)),
                smallest(np.array(length, np.int64)),
                runs,
                owners[runs],
            )
        )

    def snapshot(self, text: DocumentText, stop: int) -> TextTable:
        """Return a table of the rows so far; more can be added to the builder."""
        self._flush()
        return self._table(text, stop, [column.copy() for column in self._columns])

    def finish(self, text: DocumentText, stop: int) -> TextTable:
        """Return the table of all rows; the builder is at its end.

        Parameters
        ----------
        text
            Of the whole document.
        stop
            Where the last entry ends.
        """
        return self._table(text, stop, self.take())

    def take(self) -> list[npt.NDArray[Any]]:
        """Return where rows start, their codes, URLs, offsets and lengths; the builder is at its end."""
        self._flush()
        return [column.take() for column in self._columns]

    @property
    def _columns(self) -> tuple[Column, ...]:
        return (self._start, self._code, self._url, self._offset, self._length)

    def _table(self, text: DocumentText, stop: int, columns: list[npt.NDArray[Any]]) -> TextTable:
        return TextTable(text=text, start=columns[0], stop=stop, **self.fields(columns[1:]))

    def fields(self, columns: list[npt.NDArray[Any]]) -> dict[str, Any]:
        """Return what every table has, of the columns of codes, URLs, offsets and lengths."""
        code, url, offset, length = columns
        kind = np.int8 if len(self._urls) < 2**7 else np.int16 if len(self._urls) < 2**15 else np.int32
        return {
            "group": self._group_column(),
            "groups": tuple(self._groups),
            "code": code,
            "url": url.astype(kind, copy=False),
            "offset": offset,
            "length": length,
            "urls": tuple(self._urls),
            "flagged": np.array(sorted(set(self._flagged)), np.int64),
        }

    def _group_column(self) -> GroupColumn:
        if not self._runs:
            return GroupColumn(np.zeros(0, np.int64), np.zeros(0, np.int32), 0)
        groups = np.concatenate(self._run_groups)
        heads = np.flatnonzero(np.diff(groups, prepend=-1))
        return GroupColumn(np.concatenate(self._runs)[heads], groups[heads], self._placed)
