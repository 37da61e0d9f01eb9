"""Keys of a document as a store sees them: what one key refers to, and which keys there are."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.reference import ByteRange, Inline, Reference, WholeFile
from refbrowser.references.content.reference_values import BASE64_PREFIX
from refbrowser.references.rules.layouts import NotDecided

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document

#: Rows that are looked at together.
PAGE = 4096


def reference_of(document: Document, key: str) -> Reference | None:
    """Return what counts for `key`, None where there is no such key.

    Raises
    ------
    RefbrowserError
        The entry is faulty, or whether there is such a key was not decided.
    """
    found = document.expansion.reference(key)
    if isinstance(found, NotDecided):
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"whether there is a key {quoted(key)} was not decided ({found.rows_checked} rows checked)",
            Place(document=document.name, key=key),
        )
    return found


def keys_below(document: Document, prefix: str = "") -> Iterator[str]:
    """Yield the keys that begin with `prefix`, each once, in the order of their first rows."""
    expansion = document.expansion
    seen: set[str] = set()
    for start in range(0, expansion.rows, PAGE):
        for key in expansion.items(start, start + PAGE).keys:
            if key is not None and key.startswith(prefix) and key not in seen:
                seen.add(key)
                yield key


def some_keys(document: Document) -> Iterator[str]:
    """Yield keys of metadata and the first of all others, where those need not be read for it: few in all."""
    yield from islice(document.expansion.metadata_keys(), PAGE)
    if not document.is_unread:
        yield from (key for key in document.expansion.items(0, PAGE).keys if key is not None)


def written_value(reference: Reference | None) -> str:
    """Return what counts for a key as a Version 0 document writes it; empty where there is none.

    Text stands as it is, bytes that are no text as base64.
    """
    if isinstance(reference, ByteRange):
        return json.dumps([reference.url, reference.offset, reference.length], ensure_ascii=False)
    if isinstance(reference, WholeFile):
        return json.dumps([reference.url], ensure_ascii=False)
    if not isinstance(reference, Inline):
        return ""
    try:
        text = reference.data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text and not text.startswith(BASE64_PREFIX):
        return text
    return BASE64_PREFIX + b64encode(reference.data).decode("ascii")
