"""What an NcML puts together as a combination: files, along what they lie, and attributes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.combination import COMPUTED, Combination
from refbrowser.exporting.making.made_references import sources_of
from refbrowser.formats.format import Opening, Seen
from refbrowser.formats.lead import Lead, is_led
from refbrowser.formats.leads.leading import lead_named
from refbrowser.formats.sniffing import FileKind
from refbrowser.io.access.access import Access
from refbrowser.io.origins import Origin, parse_storage_options


def with_lead(request: Combination, control: JobControl) -> tuple[Combination, tuple[str, ...]]:
    """Return a combination with what an NcML says, where that is all that is named, and what is not followed.

    What is said beside it is taken in its place: along what files lie; attributes are set after its own.

    Raises
    ------
    RefbrowserError
        It cannot be read, names nothing, or names what it may not: `E_BLOCKED` where that is not allowed.
    """
    if not is_led(request.sources):
        return request, ()
    (path,) = request.sources
    allow = tuple(map(Origin.parse, request.allow))
    settings = {**request.settings, **parse_storage_options(request.storage_options)}
    with Session() as session:
        opening = Opening(
            path=path,
            seen=Seen.of(path),
            allow=allow,
            settings=settings,
            fetcher=lambda: session.fetcher,
            token=control.token,
        )
        lead = lead_named(opening, FileKind.NCML)
    if lead is None or not lead.sources:
        raise RefbrowserError(ErrorKind.FORMAT, f"{quoted(path)} names no files")
    access = Access.for_document(path, allow, settings)
    # A pattern is not looked for where it may not be; links may lead what fits it elsewhere.
    named = [each.url for each in lead.sources]
    _check(named, access)
    sources = sources_of(named, settings, control.token)
    _check(sources, access)
    texts, left = attribute_texts(lead)
    request = replace(request, sources=tuple(sources), set_attr=(*texts, *request.set_attr))
    if not (request.concat or request.new_dims or request.merge):
        request = replace(request, concat=lead.concat, new_dims=lead.new_dims, merge=lead.merge)
    return request, (*lead.unsaid, *left)


def _check(urls: Iterable[str], access: Access) -> None:
    for url in urls:
        access.check(access.locate(url))


def attribute_texts(lead: Lead) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return attributes as ``--set-attr`` takes them, and what is told of those that it does not take."""
    texts, left = [], []
    for path, name, value in lead.attributes:
        if name in COMPUTED or not name or any(letter in f"{path}{name}" for letter in ":="):
            left.append(f"the attribute {quoted(name)} of {path} is left as it is in the files")
        else:
            texts.append(f"{path}:{name}={json.dumps(value, ensure_ascii=False)}")
    return tuple(texts), tuple(left)
