"""URLs of references by their spelling: one file under two names, and files beside the document's folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from refbrowser.engine.findings.range_findings import TOLD
from refbrowser.errors import Place, quoted
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import NOT_DECIDED, URL_OUTSIDE_FOLDER, URL_SPELLED_TWICE
from refbrowser.references.content.finding_places import in_refs
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document

#: URLs that are looked at together.
_PAGE = 10_000
#: What a URL may have that another spelling of it has not: only where one has it all are compared.
_ODD = re.compile(
    r"""(?mx)
    ^file:                                     # a path as a URL
    | ^[a-z0-9]+://[^/\n]*[A-Z:]                # a host in capitals, or with a port
    | ^[A-Z]                                    # a scheme in capitals
    | (?<!:)//                                  # an empty part of a path
    | (?:^|/)\.\.?(?:/|$)                       # the folder itself, or the one above
    | %[0-9A-Fa-f]{2}                           # an escape
    | ^(?:gcs|az|abfss)://
    | ^https?://(?:[^/\n]+\.)?s3[.-][^/\n]*amazonaws\.com/
    | ^https?://storage\.googleapis\.com/
    """
)
_BUCKET_HOST = re.compile(r"https?://([^/]+)\.s3(?:[.-][a-z0-9-]+)*\.amazonaws\.com/(.*)", re.DOTALL)
_BUCKET_PATH = re.compile(r"https?://s3(?:[.-][a-z0-9-]+)*\.amazonaws\.com/([^/]+)/(.*)", re.DOTALL)
_GOOGLE = re.compile(r"https?://storage\.googleapis\.com/([^/]+)/(.*)", re.DOTALL)
_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://([^/]*)(.*)", re.DOTALL)
_SCHEMES = {"gcs": "gs", "az": "abfs", "abfss": "abfs"}
_PORTS = {"http": ":80", "https": ":443"}


def canonical(url: str) -> str:
    """Return the spelling that all URLs of one object share; those of one bucket over http(s) too."""
    for pattern, scheme in ((_BUCKET_HOST, "s3"), (_BUCKET_PATH, "s3"), (_GOOGLE, "gs")):
        found = pattern.fullmatch(url)
        if found is not None:
            return f"{scheme}://{found[1]}/{_path(found[2])}"
    found = _PARTS.fullmatch(url)
    if found is None:
        return posixpath.normpath(url) if url.strip() else url
    scheme, host = found[1].lower(), found[2]
    scheme = _SCHEMES.get(scheme, scheme)
    if scheme == "file":
        return posixpath.normpath(unquote(found[3]))
    if scheme in _PORTS:
        host = host.lower().removesuffix(_PORTS[scheme])
    return f"{scheme}://{host}/{_path(found[3].lstrip('/'))}"


def _path(text: str) -> str:
    """Return a path without empty parts, steps and needless escapes; a query is left as it is."""
    path, mark, query = text.partition("?")
    return posixpath.normpath(unquote(path)) + mark + query if path else mark + query


def url_findings(document: Document, left: SearchTime) -> list[Finding]:
    """Return URLs of refs that name one file in two ways, or files above the document's folder.

    Parameters
    ----------
    left
        The time that there is.
    """
    if document.rules_are_made:
        return []
    urls = document.urls.texts
    found = [*_beyond(document, urls, left), *_twice(document, urls, left)]
    return in_refs(document, found)


def _beyond(document: Document, urls: tuple[str, ...], left: SearchTime) -> Iterator[Finding]:
    """Yield relative names that lead out of the folder of the document."""
    beyond = [number for number in _with_steps(urls, left) if _leads_out(urls[number])]
    if beyond:
        from refbrowser.references.edits.many_edits import is_relative  # Who only looks loads no edits.

        beyond = [number for number in beyond if is_relative(urls[number])]
    for number in beyond[:TOLD]:
        message = "the name leads outside the folder of the document"
        yield _finding(document, number, URL_OUTSIDE_FOLDER, message)
    if len(beyond) > TOLD:
        yield _rest(
            document,
            URL_OUTSIDE_FOLDER,
            f"{len(beyond) - TOLD} more names lead outside the folder",
            beyond[TOLD:],
        )


def _with_steps(urls: tuple[str, ...], left: SearchTime) -> Iterator[int]:
    for start in range(0, len(urls), _PAGE):
        if left.is_over:
            return
        page = urls[start : start + _PAGE]
        if ".." in "\n".join(page):
            yield from (start + at for at, url in enumerate(page) if ".." in url)


def _leads_out(url: str) -> bool:
    normal = posixpath.normpath(url.replace("\\", "/"))
    return not posixpath.isabs(normal) and (normal == ".." or normal.startswith("../"))


def _twice(document: Document, urls: tuple[str, ...], left: SearchTime) -> Iterator[Finding]:
    """Yield URLs that name a file which an earlier one names in other words."""
    pages = [urls[start : start + _PAGE] for start in range(0, len(urls), _PAGE)]
    texts = ("\n".join(page) for page in pages)
    if not any(_ODD.search(text) for text in texts) and not _of_both(pages):
        return
    first: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for number, url in enumerate(urls):
        if number % _PAGE == 0 and left.is_over:
            message = f"whether URLs name one file in two ways is not decided ({number} checked)"
            yield NOT_DECIDED.finding(message, Place(document=document.name), checked=number)
            break
        spelled = canonical(url)
        spelled = f"https{spelled[4:]}" if spelled.startswith("http:") else spelled
        earlier = first.setdefault(spelled, number)
        if earlier != number:
            pairs.append((number, earlier))
    for number, earlier in pairs[:TOLD]:
        message = f"the URL names the same file as {quoted(urls[earlier])}"
        yield _finding(document, number, URL_SPELLED_TWICE, message)
    if len(pairs) > TOLD:
        rest = [number for number, _ in pairs[TOLD:]]
        message = f"{len(rest)} more URLs name files that other URLs name"
        yield _rest(document, URL_SPELLED_TWICE, message, rest)


def _of_both(pages: Iterable[tuple[str, ...]]) -> bool:
    """Tell whether there are URLs of http and of https."""
    seen: set[str] = set()
    for page in pages:
        seen.update(url[:6] for url in page if url.startswith("http"))
        if {"http:/", "https:"} <= seen:
            return True
    return False


def _finding(document: Document, number: int, kind: FindingKind, message: str) -> Finding:
    url = document.urls.texts[number]
    rows = np.flatnonzero(document.refs.table.url == number)
    stands = [row for row in rows[:_PAGE].tolist() if document.refs.stands(row)]
    key = document.refs.key_of(stands[0]) if stands else None
    place = Place(document=document.name, key=key, url=url)
    return kind.finding(message, place, advice=_ADVICE[kind], count=max(1, len(stands)))


def _rest(document: Document, kind: FindingKind, message: str, numbers: list[int]) -> Finding:
    place = Place(document=document.name, url=document.urls.texts[numbers[0]])
    return kind.finding(message, place, advice=_ADVICE[kind], count=len(numbers))


_ADVICE = {
    URL_SPELLED_TWICE: "spell it one way: otherwise it is read twice, and changes are not noticed",
    URL_OUTSIDE_FOLDER: "the document can be moved only together with the folders beside its own",
}
