"""What a file leads on to, by its kind; its command line as advice."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import replace

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.format import Opening
from refbrowser.formats.lead import Lead
from refbrowser.formats.leads.ncml import lead_of_ncml
from refbrowser.formats.leads.stac import lead_of_stac
from refbrowser.formats.leads.texts import lead_of_list, lead_of_vrt
from refbrowser.formats.named_bytes import named_bytes
from refbrowser.formats.sniffing import FileKind, NotReferencesError
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.words import counted_plain

#: What reads the files that lead on.
_READ: dict[FileKind, Callable[[bytes, str], Lead]] = {
    FileKind.NCML: lead_of_ncml,
    FileKind.VRT: lead_of_vrt,
    FileKind.STAC: lead_of_stac,
    # What searches answer does not say itself that its items are those of STAC.
    FileKind.GEOJSON: lead_of_stac,
    FileKind.URL_LIST: lead_of_list,
}
#: Bytes that are read at a time.
_PORTION = 1 << 20


def lead_named(opening: Opening, kind: FileKind) -> Lead | None:
    """Return what the file at a path or URL leads on to; None where files of its kind lead nowhere.

    Raises
    ------
    RefbrowserError
        It cannot be read, or is too large.
    """
    read = _READ.get(kind)
    if read is None:
        return None
    with named_bytes(opening) as named:
        size = named.source.size
        if size > LIMITS.lead_size:
            message = f"it has {size} bytes, more than {LIMITS.lead_size} (lead_size)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        data = bytearray()
        for start in range(0, size, _PORTION):
            opening.token.check()
            data += named.source.read(start, _PORTION)
        return read(bytes(data), named.url)


def led_on(error: NotReferencesError, opening: Opening) -> NotReferencesError:
    """Return the error of a file without references with what the file names, where it names anything."""
    kind = error.found.kind
    try:
        lead = lead_named(opening, kind)
    except RefbrowserError as why:
        if kind is FileKind.GEOJSON:
            return error
        said = f"{error.advice} What it names was not read: {why.message}.".strip()
        return _advised(error, said, None)
    if lead is None or (kind is FileKind.GEOJSON and not lead.sources):
        return error
    return _advised(error, advice_of(kind, lead, opening.path), lead)


def _advised(error: NotReferencesError, advice: str, lead: Lead | None) -> NotReferencesError:
    told = RefbrowserError(error.kind, error.message, error.place, advice)
    return NotReferencesError(told, replace(error.found, lead=lead))


def advice_of(kind: FileKind, lead: Lead, path: str) -> str:
    """Return the command line that goes on, and what it does not do."""
    best = lead.best
    count = counted_plain(len(lead.sources), "file")
    if best is None:
        listed = f"; it lists {counted_plain(len(lead.sources), 'asset')}" if lead.sources else ""
        return f"It names nothing that can be opened{listed}."
    if kind in (FileKind.STAC, FileKind.GEOJSON):
        what = quoted(best.name or best.kind)
        said = f"Open what it lists, best of all {what}: refbrowser info {shlex.quote(best.url)}"
    elif not lead.is_one:
        said = f"Open what it names ({count}), for example: refbrowser info {shlex.quote(best.url)}"
    else:
        stem = os.path.splitext(os.path.basename(path.partition("?")[0]))[0]
        # A list takes no more than files; along what they lie it does not say.
        along = " --concat DIMENSION" if kind is FileKind.URL_LIST else ""
        named = f"@{path}" if along and scheme_of(path) is None else path
        made = shlex.quote(f"{stem}.json")
        said = f"Combine what it names ({count}): refbrowser make {shlex.quote(named)}{along} -o {made}"
    return f"{said}. {'; '.join(lead.unsaid)}".rstrip(". ")
