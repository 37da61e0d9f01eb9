"""The URLs of a service of CDM Remote (wire notes, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from refbrowser.formats.cdmremote.spec import spec_of
from refbrowser.io.origins import http_url

#: What a query holds as it is; nothing in it may be taken for a chain of URLs (``::``).
_PLAIN = "/(),:"


def endpoint_of(path: str) -> str:
    """Return the http URL that requests are sent to; a request in what was named is left out."""
    url, _, query = http_url(path).partition("#")[0].partition("?")
    kept = [part for part in query.split("&") if part and part.partition("=")[0].lower() not in _OWN]
    return f"{url}?{'&'.join(kept)}" if kept else url


#: Parameters of requests.
_OWN = frozenset({"req", "var", "deflate"})


def header_url(endpoint: str) -> str:
    """Return the URL of the description of the dataset."""
    return _asking(endpoint, "req=header")


def data_url(endpoint: str, path: str, ranges: Sequence[range], *, is_ragged: bool = False) -> str:
    """Return the URL of a section of a variable, given by its absolute path without escapes."""
    spec = spec_of(path, ranges, is_ragged=is_ragged)
    return _asking(endpoint, f"req=data&var={_colons(quote(spec, safe=_PLAIN))}")


def _asking(endpoint: str, query: str) -> str:
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"


def _colons(text: str) -> str:
    return text.replace("::", "%3A%3A")
