"""The text of `refs` after edits: the text as it was read, changed only where an entry changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from refbrowser.references.content.chunk_codes import Rows
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.refs import References
from refbrowser.references.content.scan_texts import text_quotes
from refbrowser.references.content.table import TextTable
from refbrowser.references.text.json_edit import dump, dump_texts
from refbrowser.references.text.json_text import skip_space

#: The text from `start` to `stop` becomes this.
Splice = tuple[int, int, bytes]

_ROWS_AT_ONCE = 8192
#: Bytes that are given at a time where many changes stand close together.
_PORTION = 256 * 1024


def region_chunks(refs: References, region: tuple[int, int]) -> Iterator[bytes]:
    """Yield the text between the brackets of `refs`.

    Parameters
    ----------
    refs
        The entries.
    region
        Where they stand in the text that was read.
    """
    at = region[0]
    text = refs.text_table.text
    gathered: list[bytes] = []
    size = 0
    for start, stop, data in splices(refs, region):
        if start - at > _PORTION:
            yield from gathered
            yield from text.chunks(at, start)
            gathered, size = [], 0
        else:
            gathered.append(text.read(at, start))
        gathered.append(data)
        size += start - at + len(data)
        at = stop
        if size > _PORTION:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield from gathered
    yield from text.chunks(at, region[1])


def splices(refs: References, region: tuple[int, int]) -> Iterator[Splice]:
    """Yield what differs from the text that was read, in its order."""
    if not refs.is_edited:
        return iter(())
    return merge(_replaced(refs), _renamed_urls(refs), _removed_and_appended(refs, region))


def _replaced(refs: References) -> Iterator[Splice]:
    for row, patch in sorted(refs.replaced.items()):
        member = refs.text_table.member(row)
        between = refs.text_table.text.read(member.key_stop, member.value.start)
        yield member.start, member.value.stop, patch.key_text + between + patch.raw


def _changed_urls(table: TextTable) -> Rows:
    """Return the rows whose URL is another than in the text."""
    written = table.written
    if written is None:
        return np.zeros(0, np.int64)
    if table.url is written.url:
        differs = [new != old for new, old in zip(table.urls, written.urls, strict=False)]
        # Behind them what has no URL finds its place, whose numbers are below zero.
        differs += [False] * len(ValueKind)
        return np.flatnonzero(np.array(differs)[table.url])
    numbers = {text: number for number, text in enumerate(table.urls)}
    # What each URL of the text would be numbered now, -1 where it is used no more.
    now = np.array([numbers.get(text, -1) for text in written.urls] or [0], np.int64)
    has_url = written.url >= 0
    expected = np.where(has_url, now[np.where(has_url, written.url, 0)], -1)
    return np.flatnonzero(has_url & (expected != table.url))


def _renamed_urls(refs: References) -> Iterator[Splice]:
    table = refs.text_table
    rows = _changed_urls(table)
    standing = refs.standing()
    rows = rows[standing[rows]]
    others = np.flatnonzero(~standing)
    # Rows that stand next to one another but for what is not edited.
    is_next = np.diff(others.searchsorted(rows), prepend=-1) == 0
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(first, first + _ROWS_AT_ONCE)
        cuts = np.flatnonzero(np.diff(rows[part]) > _ROWS_AT_ONCE) + 1
        for group, joined in zip(np.split(rows[part], cuts), np.split(is_next[part], cuts), strict=True):
            yield from _in_group(table, group, joined)


def _in_group(table: TextTable, rows: Rows, is_next: npt.NDArray[np.bool_]) -> Iterator[Splice]:
    """Yield the changes of URLs of rows near one another, as one where each `is_next` to the last."""
    base = int(table.start[rows[0]])
    data = table.text.read(base, table.next_start(int(rows[-1])))
    # Of an entry with a URL the first two quotes are those of its key, and the next two those of the URL.
    quotes = text_quotes(data)
    key = quotes.searchsorted(table.start[rows].astype(np.int64) - base)
    begins, ends = quotes[key + 2].tolist(), (quotes[key + 3] + 1).tolist()
    parts = [b""] * (2 * len(rows) - 1)
    if data.isascii():
        numbers, which = np.unique(table.url[rows], return_inverse=True)
        spelled = dump_texts(table.urls[number] for number in numbers.tolist())
        parts[::2] = [spelled[place] for place in which.tolist()]
    else:
        each = zip(table.url[rows].tolist(), begins, ends, strict=True)
        parts[::2] = [dump(table.urls[number], data[begin:end]) for number, begin, end in each]
    parts[1::2] = [data[end:begin] for end, begin in zip(ends[:-1], begins[1:], strict=True)]
    runs = [0, *(np.flatnonzero(~is_next[1:]) + 1).tolist(), len(rows)]
    for first, stop in pairwise(runs):
        yield begins[first] + base, ends[stop - 1] + base, b"".join(parts[2 * first : 2 * stop - 1])


def _last_kept(refs: References) -> int:
    """Return the last row of the table that is not removed, -1 where there is none."""
    removed = refs.removed
    last = len(refs.text_table) - 1
    # Of the rows that are removed, those at the end are as far from the last row as from the last of them.
    kept = np.flatnonzero(removed != last - np.arange(len(removed))[::-1])
    return last - (len(removed) - 1 - int(kept[-1]) if len(kept) else len(removed))


def _removed_and_appended(refs: References, region: tuple[int, int]) -> Iterator[Splice]:
    table = refs.text_table
    count = len(table)
    last = _last_kept(refs)
    tail = count - 1 - last
    removed = refs.removed[: len(refs.removed) - tail]
    for rows in np.split(removed, np.flatnonzero(np.diff(removed) > 1) + 1) if len(removed) else ():
        yield int(table.start[rows[0]]), table.next_start(int(rows[-1])), b""
    new = appended(refs).data
    if not tail and not new:
        return
    if last >= 0:
        yield table.member(last).value.stop, table.stop, new
    elif count:
        yield int(table.start[0]), table.stop, new
    else:
        yield region[0], region[0], new


@dataclass(frozen=True, slots=True)
class Appended:
    """The text of the entries at the end that are not in the text that was read.

    Attributes
    ----------
    starts
        Where in `data` the key of each of them begins.
    between
        What stands between a key and its value.
    """

    data: bytes
    starts: tuple[int, ...]
    between: bytes


def appended(refs: References) -> Appended:
    """Return the text of the entries that edits put at the end, spaced as the last entry is."""
    before, between = _style(refs.text_table)
    data = bytearray()
    starts: list[int] = []
    follows = _last_kept(refs) >= 0
    for patch in refs.appended.values():
        if follows or starts:
            data += b"," + before
        starts.append(len(data))
        data += patch.key_text + between + patch.raw
    return Appended(bytes(data), tuple(starts), between)


def _style(table: TextTable) -> tuple[bytes, bytes]:
    """Return what stands between a comma and the next key, and between a key and its value."""
    if not len(table):
        return b" ", b": "
    row = len(table) - 1
    member = table.member(row)
    between = table.text.read(member.key_stop, member.value.start)
    start = member.start
    if row == 0:
        before = _space_before(table, start)
        return before if b"\n" in before else b" ", between
    return _space_before(table, start), between


def _space_before(table: TextTable, start: int) -> bytes:
    head = table.text.read(max(0, start - 4096), start)
    kept = head.rstrip(b" \t\n\r")
    return head[len(kept) :] if skip_space(head, len(kept)) == len(head) else b""
