"""What other software does differently with a document: facts, not faults.

Each was tried with the software that the tests install, or is in its documentation or source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document

# Their codes.
FSSPEC_DROPS_RULES = "fsspec-drops-rules"
FSSPEC_SIMPLE_TEMPLATES = "fsspec-simple-templates"
GDAL_LENGTH = "gdal-length"
GDAL_NEEDS_ZGROUP = "gdal-needs-zgroup"
GDAL_REFUSES_RULES = "gdal-refuses-rules"
GDAL_REFUSES_TEMPLATES = "gdal-refuses-templates"
VIRTUALIZARR_DROPS_RULES = "virtualizarr-drops-rules"
VIRTUALIZARR_KEEPS_TEMPLATES = "virtualizarr-keeps-templates"
NOTES = (
    FSSPEC_DROPS_RULES,
    FSSPEC_SIMPLE_TEMPLATES,
    GDAL_LENGTH,
    GDAL_NEEDS_ZGROUP,
    GDAL_REFUSES_RULES,
    GDAL_REFUSES_TEMPLATES,
    VIRTUALIZARR_DROPS_RULES,
    VIRTUALIZARR_KEEPS_TEMPLATES,
)
#: A use of a template that fsspec renders by itself: a name between braces, without blanks or calls.
_SIMPLE = re.compile(r"\{\{[A-Za-z_]\w*\}\}")
_OPENS = re.compile(r"\{\{|\{%")
#: GDAL keeps lengths in 32 bits.
_GDAL_LENGTH = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class ReaderNote:
    """One thing that a reader does differently.

    Attributes
    ----------
    code
        Its stable name, for ``--fail-on``.
    reader
        The software.
    message
        What it does.
    count
        References that it is about; 1 where it is about the document.
    """

    code: str
    reader: str
    message: str
    count: int = 1


def reader_notes(document: Document) -> tuple[ReaderNote, ...]:
    """Return what other readers make of a document that somebody wrote; of others nothing is said."""
    if document.rules_are_made or document.is_made:
        return ()
    return tuple(_notes(document))


def _notes(document: Document) -> Iterator[ReaderNote]:
    rows = sum(rule.count for rule in document.rules)
    if document.rules:
        yield ReaderNote(
            FSSPEC_DROPS_RULES,
            "fsspec",
            "leaves out all rows of gen rules without simple_templates=False: their chunks read "
            "as fill, and metadata made by rules is missing",
            rows,
        )
        yield ReaderNote(
            VIRTUALIZARR_DROPS_RULES,
            "VirtualiZarr",
            "reads only refs: rows of gen rules are missing",
            rows,
        )
        yield ReaderNote(GDAL_REFUSES_RULES, "GDAL", "refuses a document that has the member gen", 1)
    if document.version == 1 and document.templates.texts:
        yield from _of_templates(document)
    yield from _of_entries(document)
    if document.version == 1:
        return
    if document.refs.find_slot(".zgroup") is None:
        yield ReaderNote(
            GDAL_NEEDS_ZGROUP, "GDAL", "refuses a document of Version 0 that has no key .zgroup at its root"
        )


def _of_templates(document: Document) -> Iterator[ReaderNote]:
    yield ReaderNote(GDAL_REFUSES_TEMPLATES, "GDAL", "refuses a document that has the member templates", 1)
    urls = document.refs.table.urls
    uses = np.bincount(document.refs.table.url[document.refs.table.url >= 0], minlength=len(urls))
    templated = [number for number, url in enumerate(urls) if _OPENS.search(url)]
    if templated:
        yield ReaderNote(
            VIRTUALIZARR_KEEPS_TEMPLATES,
            "VirtualiZarr",
            "does not render templates: these URLs point to no file",
            int(uses[templated].sum()),
        )
    odd = [number for number in templated if _OPENS.search(_SIMPLE.sub("", urls[number]))]
    if odd:
        yield ReaderNote(
            FSSPEC_SIMPLE_TEMPLATES,
            "fsspec",
            "fails to open the document without simple_templates=False: these URLs have more than "
            "plain names between the braces",
            int(uses[odd].sum()),
        )


def _of_entries(document: Document) -> Iterator[ReaderNote]:
    table = document.refs.table
    long = int(np.count_nonzero((table.url >= 0) & (table.length > _GDAL_LENGTH)))
    if long:
        yield ReaderNote(GDAL_LENGTH, "GDAL", "refuses a document with a range of 4 GiB or more", long)
