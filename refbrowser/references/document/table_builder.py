"""Collects the rows of a `ReferenceTable`, one by one or in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind
from refbrowser.limits import LIMITS
from refbrowser.references.document.chunk_code import Group, pack, split_key
from refbrowser.references.document.groups import GroupColumn
from refbrowser.references.document.table import ODD, WHOLE, ReferenceTable, key_bytes, odd_code
from refbrowser.references.document.values import Value, ValueKind, interpret, key_issues
from refbrowser.references.text.document_text import DocumentText
from refbrowser.references.text.json_text import JsonError, Member

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

    def _add(self, start: int, key: str, url: int, offset: int, length: int) -> None:
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

    def snapshot(self, text: DocumentText, stop: int) -> ReferenceTable:
        """Return a table of the rows so far; more can be added to the builder."""
        self._flush()
        return self._table(text, stop, [column.copy() for column in self._columns])

    def finish(self, text: DocumentText, stop: int) -> ReferenceTable:
        """Return the table of all rows; the builder is at its end.

        Parameters
        ----------
        text
            Of the whole document.
        stop
            Where the last entry ends.
        """
        self._flush()
        return self._table(text, stop, [column.take() for column in self._columns])

    @property
    def _columns(self) -> tuple[Column, ...]:
        return (self._start, self._code, self._url, self._offset, self._length)

    def _table(self, text: DocumentText, stop: int, columns: list[npt.NDArray[Any]]) -> ReferenceTable:
        start, code, url, offset, length = columns
        kind = np.int8 if len(self._urls) < 2**7 else np.int16 if len(self._urls) < 2**15 else np.int32
        return ReferenceTable(
            text=text,
            start=start,
            stop=stop,
            group=self._group_column(),
            groups=tuple(self._groups),
            code=code,
            url=url.astype(kind, copy=False),
            offset=offset,
            length=length,
            urls=tuple(self._urls),
            flagged=np.array(sorted(set(self._flagged)), np.int64),
        )

    def _group_column(self) -> GroupColumn:
        if not self._runs:
            return GroupColumn(np.zeros(0, np.int64), np.zeros(0, np.int32), 0)
        groups = np.concatenate(self._run_groups)
        heads = np.flatnonzero(np.diff(groups, prepend=-1))
        return GroupColumn(np.concatenate(self._runs)[heads], groups[heads], self._placed)
