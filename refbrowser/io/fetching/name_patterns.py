"""Patterns of file names, as a shell has them: on this machine, in object stores, in listings of web servers.

``*`` and ``?`` are characters of one name, ``**`` any folders, ``[...]`` one of some characters.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.origins import ConnectionSettings, Origin, in_object_store, local_path, split_url

if TYPE_CHECKING:
    from refbrowser.io.cancel import CancelToken

#: Bytes of a listing of a web server that are read, and links of it that are looked at.
_LISTING_SIZE, _LINKS = 16 << 20, 200_000
_LIST = "name a list of files instead: @LIST"


def is_pattern(text: str) -> bool:
    """Tell whether a path or URL is a pattern: elsewhere by ``*`` alone, as names have others."""
    if local_path(text) is not None:
        return glob.has_magic(text)
    return "*" in (text if in_object_store(text) else text.partition("?")[0])


def fitting(
    text: str, settings: Mapping[Origin, ConnectionSettings], token: CancelToken | None = None
) -> Iterator[str]:
    """Yield the files that fit a pattern, sorted; on this machine there may be none.

    Raises
    ------
    RefbrowserError
        `E_SOURCE`: the place cannot be listed, or nothing there fits (`AbsentError`).
    """
    if local_path(text) is not None:
        yield from sorted(glob.glob(text, recursive=True))
        return
    found = sorted(
        _of_bucket(text, settings, token) if in_object_store(text) else _of_server(text, settings, token)
    )
    if not found:
        raise AbsentError(ErrorKind.SOURCE, "nothing there fits the pattern", Place(url=text), _LIST)
    yield from found


def _of_bucket(
    text: str, settings: Mapping[Origin, ConnectionSettings], token: CancelToken | None
) -> Iterator[str]:
    from refbrowser.io.buckets.bucket import Bucket

    url = split_url(text)
    bucket = Bucket(url.origin, settings.get(url.origin, ConnectionSettings()), token, export=False)
    wanted = text.removeprefix(bucket.url(""))
    fits = re.compile(_regular(wanted))
    before = re.split(r"[*?\[]", wanted, maxsplit=1)[0]
    for facts in bucket.objects(before):
        if fits.fullmatch(facts.key):
            yield bucket.url(facts.key)


def _of_server(
    text: str, settings: Mapping[Origin, ConnectionSettings], token: CancelToken | None
) -> Iterator[str]:
    """Yield what the listing of a folder links to: a page as Apache, nginx and others write it.

    What follows ``?`` is a query, which goes with the listing and with each file.
    """
    from refbrowser.io.access.access import Access
    from refbrowser.io.fetching.fetch import Fetcher, read_document

    path, mark, query = text.partition("?")
    folder, _, name = path.rpartition("/")
    place = Place(url=text)
    if "*" in folder:
        message = "a pattern of a web server is one of names in one folder"
        raise RefbrowserError(ErrorKind.USAGE, message, place, _LIST)
    page = f"{folder}/{mark}{query}"
    with Fetcher() as fetcher:
        access = Access.for_document(page, (), settings)
        data = read_document(page, access, fetcher=fetcher, cancel=token, size_limit=_LISTING_SIZE).data
    links = _Links()
    links.feed(bytes(data).decode("utf-8", "replace"))
    fits = re.compile(_regular(name))
    for link in links.found:
        target = urljoin(page, link).partition("#")[0].partition("?")[0]
        parent, _, last = target.rpartition("/")
        # Names as they are meant; only what lies in the folder itself.
        if parent == folder and last and fits.fullmatch(unquote(last)):
            yield target + mark + query


def _regular(pattern: str) -> str:
    """Return a pattern as a regular expression: ``*`` does not cross folders, ``**/`` does."""
    parts = []
    for item in re.findall(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|.", pattern, re.S):
        if item == "**/":
            parts.append("(?:[^/]+/)*")
        elif item == "**":
            parts.append(".*")
        elif item == "*":
            parts.append("[^/]*")
        elif item == "?":
            parts.append("[^/]")
        elif len(item) > 2 and item[0] == "[":
            inverted = item[1] in "!^"
            inner = item[2 if inverted else 1 : -1].replace("\\", r"\\").replace("[", r"\[")
            parts.append(f"(?!/)[{'^' if inverted else ''}{inner}]")
        else:
            parts.append(re.escape(item))
    return "".join(parts)


class _Links(HTMLParser):
    """Gathers where the links of a page lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the target of a link."""
        if tag != "a" or len(self.found) >= _LINKS:
            return
        for name, value in attrs:
            if name == "href" and value:
                self.found[value] = None
