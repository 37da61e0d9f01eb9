"""The text of a document, read and checked: all that is needed before its first references can be shown.

What a document means, and how it is edited, is in `document`: many modules that are not loaded for this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from refbrowser.errors import Place, RefbrowserError
from refbrowser.references.document.detect import Detected, detect
from refbrowser.references.document.reader import DocumentReader, ReadProgress, ReadResult
from refbrowser.references.text.json_text import JsonError


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """What was read, which version of the specification it follows, and what messages call it."""

    result: ReadResult
    found: Detected
    name: str | None


def read_source(
    pieces: Iterable[bytes],
    *,
    name: str | None = None,
    on_progress: Callable[[ReadProgress], None] | None = None,
    pause: Callable[[], None] = lambda: None,
) -> DocumentSource:
    """Read the pieces of a document's text.

    Parameters
    ----------
    name
        For messages.
    on_progress
        Called in this thread after each piece; once with the first references.
    pause
        Called between short slices of work.

    Raises
    ------
    RefbrowserError
        E_JSON, E_ENCODING, E_SCHEMA or E_BUDGET, with line and column.
    """
    reader = DocumentReader(pieces, on_progress, pause)
    try:
        result = reader.read()
        return DocumentSource(result, detect(result.special, result.others), name)
    except JsonError as error:
        line, column = reader.locate(error.position)
        place = Place(document=name, pointer=error.pointer, line=line, column=column)
        raise RefbrowserError(error.kind, error.message, place, error.advice) from None
