"""The text of a document as it is now, read at any place: nothing is written out where nothing was edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from refbrowser.references.content.content import ReferenceText
from refbrowser.references.text.document_text import DocumentText, TextBuilder


class SourceText(Protocol):
    """Bytes that are read at any place; immutable."""

    @property
    def size(self) -> int:
        """Bytes in all."""

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes from `start` on, in portions of bounded size."""


class _AroundRefs:
    """What stands before `refs`, `refs` as they were read, and what stands behind them."""

    def __init__(self, head: bytes, text: DocumentText, region: tuple[int, int], tail: bytes) -> None:
        self._head, self._text, self._tail = head, text, tail
        self._start, self._stop = region
        self.size = len(head) + self._stop - self._start + len(tail)

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""
        stop = min(stop, self.size)
        first, behind = len(self._head), self.size - len(self._tail)
        if start >= stop:
            return b""
        if first <= start and stop <= behind:
            return self._text.read(start - first + self._start, stop - first + self._start)
        inside = b""
        if start < behind and stop > first:
            moved = self._start - first
            inside = self._text.read(max(start, first) + moved, min(stop, behind) + moved)
        return self._head[start:stop] + inside + self._tail[max(0, start - behind) : max(0, stop - behind)]

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes from `start` on, in portions of bounded size."""
        first, behind = len(self._head), self.size - len(self._tail)
        yield self._head[start:]
        if start < behind:
            yield from self._text.chunks(max(start - first, 0) + self._start, self._stop)
        yield self._tail[max(0, start - behind) :]


def text_of(document: ReferenceText, pause: Callable[[], None] = lambda: None) -> SourceText:
    """Return the text of a document as it is now.

    Parameters
    ----------
    pause
        Called for each portion of a text that has to be written out; may raise to end the work.
    """
    if document.hole is None:
        return DocumentText.of(document.outer)
    if not document.refs.is_edited:
        head, tail = document.outer[: document.hole], document.outer[document.hole :]
        return _AroundRefs(head, document.refs.text_table.text, document.span, tail)
    return written_out(document.to_chunks(), pause)


def written_out(portions: Iterable[bytes], pause: Callable[[], None] = lambda: None) -> DocumentText:
    """Return the text that comes in portions."""
    builder = TextBuilder()
    for portion in portions:
        pause()
        builder.append(portion)
    return builder.finish()
