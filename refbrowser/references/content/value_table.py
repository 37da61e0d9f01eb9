"""References that a format gives as values: bytes by key, ranges of files as columns; no text is behind."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.content.chunk_codes import group_of_chunks, pack_many
from refbrowser.references.content.deferred_tables import Deferred
from refbrowser.references.content.reference_values import (
    BASE64_PREFIX,
    Value,
    ValueKind,
    interpret,
    key_issues,
)
from refbrowser.references.content.table import (
    ODD,
    WHOLE,
    Block,
    ReferenceTable,
    TableBuilder,
    smallest,
    with_leading,
)
from refbrowser.references.text.json_text import JsonReader

#: How numbers stand in keys unless a format says otherwise.
_DOTTED = ChunkKeyEncoding()
#: What a document has where all bytes were given.
NOTHING_MADE: Mapping[str, bytes] = {}


def inline_value(data: bytes) -> str:
    """Return what stands for bytes in a document: their text where they are one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return base64_value(data)
    return base64_value(data) if text.startswith(BASE64_PREFIX) else text


def base64_value(data: bytes) -> str:
    """Return what stands for bytes that are no text."""
    return BASE64_PREFIX + base64.b64encode(data).decode("ascii")


def json_of(value: Any) -> bytes:
    """Return a value as JSON without white space."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueTable(ReferenceTable):
    """Entries of a manifest document.

    Attributes
    ----------
    odd
        Keys that are no chunk keys, by row.
    values
        Bytes of the rows that hold some, by row.
    made
        Bytes of those that hold some which are made when they are asked for, by key.
    """

    odd: Mapping[int, str]
    values: Mapping[int, bytes]
    made: Mapping[str, bytes]

    @property
    def origin(self) -> object:
        """The values."""
        return self.values

    def odd_key(self, row: int) -> str:
        """Return the key of a row that is no chunk key."""
        return self.odd[row]

    def key_text(self, row: int) -> bytes:
        """Return the JSON text of a row's key."""
        return json_of(self.key(row))

    def value_text(self, row: int) -> bytes:
        """Return the JSON text of a row's value."""
        return json_of(self.spelled(row))

    def spelled(self, row: int) -> str | list[str | int]:
        """Return the value of a row as a document has it."""
        if self.url[row] < 0:
            data = self.inline(row)
            return base64_value(data) if self.url[row] == ValueKind.BASE64 else inline_value(data)
        url, length = self.urls[self.url[row]], int(self.length[row])
        return [url] if length == WHOLE else [url, int(self.offset[row]), length]

    def value(self, row: int) -> Value:
        """Return what a row means, with its faults and warnings."""
        raw = self.value_text(row)
        value = interpret(JsonReader(raw).value(0), raw)
        about_key = key_issues(self.key(row), 0)
        if not about_key:
            return value
        return replace(value, kind=ValueKind.FAULT, issues=about_key + value.issues)

    def inline(self, row: int) -> bytes:
        """Return the bytes of a row that holds them."""
        data = self.values.get(row)
        return self.made[self.key(row)] if data is None else data


class DeferredTable(Deferred, ValueTable):
    """A table that is made when somebody first looks at its rows; what is made of it is a plain one."""


class ValueTableBuilder(TableBuilder):
    """Collects entries of a manifest document, in its order."""

    def __init__(self) -> None:
        super().__init__()
        self._odd: dict[int, str] = {}
        self._values: dict[int, bytes] = {}

    def add_bytes(self, key: str, data: bytes, kind: ValueKind = ValueKind.BASE64) -> None:
        """Add an entry that holds its bytes; of `TEXT` they stand in a document as their text."""
        self._values[self.count] = data
        self._add_entry(key, kind if len(data) <= LIMITS.inline_value else ValueKind.FAULT, 0, 0)

    def add_made(self, key: str) -> None:
        """Add an entry that holds a text which is made when it is asked for."""
        self._add_entry(key, ValueKind.TEXT, 0, 0)

    def add_reference(self, key: str, url: str, offset: int = 0, length: int | None = None) -> None:
        """Add an entry with a URL; `length` None is the whole file."""
        self._add_entry(key, self.url_number(url), offset, WHOLE if length is None else length)

    def _add_entry(self, key: str, url: int, offset: int, length: int) -> None:
        if url == ValueKind.FAULT or key_issues(key, 0):
            self._flagged.append(self.count)
        if not self._add(0, key, url, offset, length):
            self._odd[self.count - 1] = key

    def _counted(self, more: int, position: int) -> None:
        self.count += more
        if self.count > LIMITS.references:
            message = f"there are more than {LIMITS.references} references"
            raise RefbrowserError(ErrorKind.BUDGET, message)

    def add_ranges(
        self,
        prefix: str,
        coords: npt.NDArray[np.int64],
        urls: Sequence[str],
        url: npt.NDArray[np.integer[Any]],
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        encoding: ChunkKeyEncoding = _DOTTED,
    ) -> None:
        """Add the ranges of files that are chunks of an array.

        Parameters
        ----------
        prefix
            What stands before the chunks' own keys: ``temp/``.
        coords
            Of the chunks, shape (n, ndim).
        urls
            The distinct URLs.
        url
            Position of the URL of each chunk in `urls`, shape (n,).
        """
        numbers = np.array([self.url_number(each) for each in urls], np.int32)
        self.add_columns(prefix, coords, numbers[url], offsets, lengths, encoding)

    def add_columns(
        self,
        prefix: str,
        coords: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        encoding: ChunkKeyEncoding = _DOTTED,
    ) -> None:
        """Add the ranges of files that are chunks of an array.

        Parameters
        ----------
        numbers
            Of the URLs, as `url_number` gives them.
        lengths
            `WHOLE` for a whole file.
        """
        found = (
            group_of_chunks(prefix, coords.shape[1], encoding)
            if len(prefix) < LIMITS.key_length // 2
            else None
        )
        codes, fit = pack_many(with_leading(coords, found[1])) if found is not None else (None, None)
        if not len(coords) or found is None or codes is None or fit is None or not fit.all():
            keys = encoding.encode_many(coords, prefix)
            rows = zip(keys, numbers.tolist(), offsets.tolist(), lengths.tolist(), strict=True)
            for key, number, offset, length in rows:
                self._add_entry(key, number, offset, length)
            return
        self.add_block(
            Block(
                np.zeros(len(coords), np.uint32),
                codes,
                numbers,
                smallest(offsets),
                smallest(lengths),
                np.zeros(1, np.int64),
                np.array([self.group_number(found[0])], np.int32),
            )
        )

    def add_table(self, table: ValueTable) -> None:
        """Add all entries of another table, none of which is made when it is asked for."""
        self._flush()
        first = self.count
        numbers = np.array([self.url_number(each) for each in table.urls], np.int32)
        url = table.url.astype(np.int32)
        url[url >= 0] = numbers[url[url >= 0]]
        runs, groups = table.group.runs()
        named = np.array([ODD, *map(self.group_number, table.groups[1:])], np.int32)
        self.add_block(
            Block(
                np.zeros(len(table), np.uint32),
                table.code,
                url,
                table.offset,
                table.length,
                runs,
                named[groups],
            )
        )
        self._odd |= {first + row: key for row, key in table.odd.items()}
        self._values |= {first + row: data for row, data in table.values.items()}
        self._flagged += (table.flagged + first).tolist()

    def table(self, made: Mapping[str, bytes] = NOTHING_MADE) -> ValueTable:
        """Return the table of all entries; the builder is at its end.

        Parameters
        ----------
        made
            Gives the bytes of the entries of `add_made`, by key.

        Raises
        ------
        RefbrowserError
            E_BUDGET: there are too many.
        """
        columns = self.take()
        return ValueTable(odd=self._odd, values=self._values, made=made, **self.fields(columns[1:]))
