"""VRT of GDAL and lists of URLs: the files that they name."""

from __future__ import annotations

import re

from refbrowser.formats.lead import Lead, NamedSource
from refbrowser.formats.leads.places import Places
from refbrowser.formats.named_bytes import place_beside
from refbrowser.formats.xml_elements import XmlReader
from refbrowser.limits import LIMITS

#: File systems of GDAL that stand for URLs, as their names begin.
_VIRTUAL = {"/vsicurl/": "", "/vsis3/": "s3://", "/vsigs/": "gs://", "/vsiaz/": "abfs://"}
#: An array within a file, as GDAL names it: ``NETCDF:"a.nc":t``.
_WITHIN = re.compile(r'[A-Z0-9_]+:"?([^"]+?)"?(?::[^:"/]*|://[^"]*)?')
#: The elements that name a file.
_FILES = ("SourceFilename", "SourceDataset")


def lead_of_vrt(data: bytes, place: str) -> Lead:
    """Return the files that a VRT names, each once.

    Raises
    ------
    RefbrowserError
        It is no XML, declares entities, or names too many.
    """
    root = XmlReader(place, LIMITS.lead_elements).read((data,))
    # GDAL takes names for paths, not for URL references.
    places = Places(place, place_beside)
    urls: dict[str, None] = {}
    pending = [root]
    while pending:
        element = pending.pop()
        pending += reversed(element.children)
        if element.name in _FILES and (name := element.text.strip()):
            url = places.of(_file_of(name))
            if url is not None:
                urls[url] = None
    return Lead(sources=tuple(map(NamedSource, urls)), unsaid=tuple(places.told()))


def _file_of(name: str) -> str:
    """Return the file that a name of GDAL means."""
    within = _WITHIN.fullmatch(name)
    if within is not None:
        name = within[1]
    for beginning, scheme in _VIRTUAL.items():
        if name.startswith(beginning):
            return scheme + name.removeprefix(beginning)
    return name


def lead_of_list(data: bytes, place: str) -> Lead:
    """Return the files that a list names, one a line; what follows ``#`` at the beginning of one is a remark.

    Raises
    ------
    RefbrowserError
        It names too many.
    """
    places = Places(place)
    lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
    found = [places.of(line) for line in lines if line and not line.startswith("#")]
    urls = dict.fromkeys(url for url in found if url is not None)
    return Lead(sources=tuple(map(NamedSource, urls)), is_one=True, unsaid=tuple(places.told()))
