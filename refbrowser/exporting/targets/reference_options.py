"""How references are written: chunks that stand in the document, and how URLs are spelled in it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.exporting.request import Loss
from refbrowser.exporting.rewritten_document import Rewriting, rewritten
from refbrowser.exporting.saving.url_spelling import folder_of, lies_beside, named_beside
from refbrowser.formats.option_fields import Kind, Needs, documented, option
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.reference import Inline, Reference
from refbrowser.references.content.made_text import ROOT
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import ReplaceUrlPrefix
from refbrowser.references.edits.many_edits import RenameTemplateAndUses
from refbrowser.references.edits.outer_edits import SetTemplate

_PAGE = 4096


def _percent(text: str) -> int:
    number = text.strip().removesuffix("%")
    if not number.isdecimal() or not 0 <= int(number) <= 100:
        message = f"{quoted(text)} is not a number from 0 to 100 (--template-share)"
        raise RefbrowserError(ErrorKind.USAGE, message)
    return int(number)


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceOptions(ExportOptions):
    """How references are written."""

    heading = "options of references"
    only = "inline bytes, relative or full names and templates of URLs apply only to references"
    called = "References"

    inline: int = field(
        default=0,
        metadata=option(
            "--inline BYTES",
            "store chunks of at most so many bytes in the document",
            about="Store chunks of at most so many bytes in the document; never rows of rules.",
            kind=Kind.NUMBER,
            limits=(0, 1 << 20),
            unit="bytes",
            title="Store chunks of at most so many bytes in the document",
            label="&Inline up to",
            place=(0, 0),
            tip="The bytes of small chunks are stored in the document itself: nothing is read for them later",
        ),
    )
    relative: bool = field(
        default=False,
        metadata=option(
            "--relative",
            "name files relative to the document, so that both can be moved together",
            about="Name the file relative to the folder of the document.",
            kind=Kind.TICK,
            means=True,
            title="Name files relative to their documents",
            label="Name files &relative to their documents",
            place=(0, 1),
            tip="Files are named relative to the document: both can be moved together. This is the default "
            "for files in the folder of the document, or below it",
        ),
    )
    absolute: bool = field(
        default=False,
        metadata=option(
            "--absolute",
            "name files by their full paths, also where make would name them relative to the document: where "
            "they lie in its folder or below it",
            about="Name files by their full paths. Without it documents that are made or combined name them "
            "relative to their own folder if all files are there or below; the parquet form never does.",
            kind=Kind.TICK,
            means=True,
            title="Name files by their full paths",
            label="Name files by their &full paths",
            place=(2, 0),
            tip="Also for files in the folder of the document, or below it",
            needs=Needs("relative", False, "--relative and --absolute exclude each other"),
        ),
    )
    url_template: str = field(
        default="",
        metadata=option(
            "--url-template NAME=PREFIX",
            "a template for the beginning of URLs (refs-v1), for example u=s3://bucket/data",
            about="``NAME=PREFIX``: a template of this name for this beginning of the file's URL; only in "
            "Version 1.",
            kind=Kind.TEXT,
            formats=("refs-v1",),
            title="A template for the beginning of URLs",
            label="Tem&plate",
            hint="u=s3://bucket/data/ (none)",
            tip="NAME=PREFIX: a template of this name for the beginning of the URLs of files",
            is_wide=True,
            place=(1, 0),
            otherwise="Template: only in Version 1, and not for files named relative to their documents",
            needs=Needs("relative", False, "--relative and --url-template exclude each other"),
        ),
    )
    template_share: int | None = field(
        default=None,
        metadata=option(
            "--template-share PERCENT",
            "templates and gen rules if they make refs-v1 at least this many percent smaller (0: always), "
            "for readers that know them: GDAL and VirtualiZarr do not",
            about="Write templates and gen rules where they make a document of Version 1 at least so many "
            "percent smaller, 0 for always; none when None. GDAL and VirtualiZarr read none of these.",
            kind=Kind.TEXT,
            parse=_percent,
            formats=("refs-v1",),
            title="Templates and rules where they save so many percent",
            label="Te&mplates that save",
            hint="percent, 0 for always (none)",
            tip="GDAL and VirtualiZarr read no document that has templates or rules",
            place=(2, 1),
            otherwise="Templates and rules: only in Version 1",
        ),
    )


def check_options(options: ReferenceOptions, dataset: Dataset, format: str) -> None:
    """Raise `E_USAGE` where an option has no meaning for a document in a format."""
    if options.template_share is not None and format != "refs-v1":
        raise RefbrowserError(ErrorKind.USAGE, f"{format} has no templates", advice="export to refs-v1")
    if not options.relative and not options.url_template:
        return
    place = dataset.document.places.get(ROOT)
    message = advice = ""
    if dataset.document.has_keys or place is None or dataset.document.format == "references":
        message = "URLs can be respelled only for data files"
        advice = "open the document and use Replace URL prefix"
    elif options.relative and (options.url_template or options.absolute):
        other = "--url-template" if options.url_template else "--absolute"
        message = f"--relative and {other} exclude each other"
    elif "{" in place:
        message = f"{quoted(place)} has a brace, which begins a template"
    elif options.relative and scheme_of(place) is not None:
        message = f"{quoted(place)} is not a file on this computer: there is no relative path to it"
    elif options.url_template and format != "refs-v1":
        message, advice = f"{format} has no templates", "export to refs-v1"
    elif options.url_template and not place.startswith(_named_prefix(options)[1]):
        message = f"{quoted(place)} does not begin with {quoted(_named_prefix(options)[1])}"
    if message:
        raise RefbrowserError(ErrorKind.USAGE, message, Place(), advice)


def _named_prefix(options: ReferenceOptions) -> tuple[str, str]:
    name, equals, prefix = options.url_template.partition("=")
    if not equals or not prefix or not name.isidentifier():
        message = f"{quoted(options.url_template)} is not of the form NAME=PREFIX"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="for example u=s3://bucket/data")
    return name, prefix


def with_spelled_urls(document: Document, options: ReferenceOptions, place: str, target: str) -> Document:
    """Return a document of a file whose URLs are spelled as the options say.

    Parameters
    ----------
    document
        In whose text a template stands for the file.
    place
        Of the file.
    target
        Where the document is written.
    """
    if options.relative and not lies_beside(document, target):
        return document.apply(
            SetTemplate(ROOT, os.path.relpath(place, folder_of(target)).replace(os.sep, "/"))
        )
    if options.relative:
        return named_beside(document, target)
    if options.url_template:
        name, prefix = _named_prefix(options)
        file = f"{{{{{ROOT}}}}}"
        document = document.written().apply(ReplaceUrlPrefix(file, file + place[len(prefix) :]))
        document = document.apply(SetTemplate(ROOT, prefix))
        if name != ROOT:
            document = document.apply(RenameTemplateAndUses(ROOT, name))
    return document


def with_inlined(
    document: Document, dataset: Dataset, most: int, token: CancelToken
) -> tuple[Document, list[Loss]]:
    """Return a document in which the bytes of small chunks stand themselves, and what could not be read.

    Parameters
    ----------
    dataset
        Whose chunks they are, by the keys of the document.
    most
        Bytes of a chunk.
    """
    table, losses = document.refs.table, list[Loss]()
    rows = np.flatnonzero((table.url >= 0) & (table.length > 0) & (table.length <= most))
    rows = rows[~np.isin(rows, document.refs.removed)]
    room = np.cumsum(table.length[rows]) <= LIMITS.inlined_members
    if not room.all():
        losses.append(Loss("/", "not all small chunks fit into the document (inlined_members)"))
        rows = rows[room]
    found: dict[str, Reference] = {}
    fetcher, access = dataset.session.fetcher, dataset.access
    for start in range(0, len(rows), _PAGE):
        page = rows[start : start + _PAGE]
        keys = document.refs.keys_of(page.tolist())
        columns = document.view.columns(page)

        def take(row: int, data: Any, keys: list[str] = keys) -> None:
            if isinstance(data, RefbrowserError):
                losses.append(Loss(f"/{keys[row]}", f"its bytes cannot be read: {data.message}"))
            else:
                found[keys[row]] = Inline(bytes(data))

        fetcher.fetch(fetcher.plan(columns, access), access, take, cancel=token, export=True)
    if not found:
        return document, losses
    how = Rewriting(keeps=lambda key: key not in found, added=iter(found.items()))
    return rewritten(document, how, token), losses
