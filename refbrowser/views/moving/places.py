"""Other spellings of one place: relative and absolute, paths and ``file:`` URLs, web addresses of buckets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from refbrowser.io.origins import scheme_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refbrowser.views.moving.prefix_tree import PrefixNode

#: URLs of a place that are looked at for characters that two spellings write in different ways.
_LOOKED_AT = 100_000
#: Characters that a web address and the name of an object write alike.
_ALIKE = re.compile(r"[A-Za-z0-9/._~=@:,;!$'()*\-]*")


@dataclass(frozen=True, slots=True)
class Spelling:
    """Another way to write one place.

    Attributes
    ----------
    title
        What it is, in words of a menu.
    prefix
        What URLs begin with then.
    settings
        What connecting there needs beside the defaults: names of `ConnectionSettings` to values.
    """

    title: str
    prefix: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _WebPlace:
    """A web address that serves a bucket: a pattern, and the two ways to write the place."""

    title: str
    pattern: re.Pattern[str]
    bucket: str


#: Virtual-hosted and path-style addresses of S3, those of Google and of Azure.
_WEB = (
    _WebPlace(
        "As a bucket of S3",
        re.compile(r"https://(?P<bucket>[a-z0-9.\-]+)\.s3(?:[.-](?P<region>[a-z0-9\-]+))?\.amazonaws\.com/"),
        "s3://{bucket}/",
    ),
    _WebPlace(
        "As a bucket of S3",
        re.compile(r"https://s3(?:[.-](?P<region>[a-z0-9\-]+))?\.amazonaws\.com/(?P<bucket>[a-z0-9.\-]+)/"),
        "s3://{bucket}/",
    ),
    _WebPlace(
        "As a bucket of Google Cloud Storage",
        re.compile(r"https://storage\.googleapis\.com/(?P<bucket>[a-z0-9._\-]+)/"),
        "gs://{bucket}/",
    ),
    _WebPlace(
        "As a container of Azure",
        re.compile(r"https://(?P<account>[a-z0-9]+)\.blob\.core\.windows\.net/(?P<bucket>[a-z0-9\-]+)/"),
        "abfs://{bucket}@{account}.dfs.core.windows.net/",
    ),
)
_S3 = re.compile(r"s3a?://([a-z0-9.\-]+)/")
_GOOGLE = re.compile(r"(?:gs|gcs)://([a-z0-9._\-]+)/")


def spellings(node: PrefixNode, base: str) -> list[Spelling]:
    """Return other ways to write the place of a node.

    Web addresses are offered only where both spell every name below the node alike.

    Parameters
    ----------
    base
        Folder of the document (absolute), or the URL that it came from; empty where it lies nowhere.
    """
    prefix = node.prefix
    found = [*_relative(prefix, base), *_local(prefix)]
    if is_spelled_alike(node.urls()):
        found += _buckets(prefix)
    return [each for each in found if each.prefix != prefix]


def is_spelled_alike(urls: Iterable[str]) -> bool:
    """Tell whether no URL has a character that is escaped in web addresses and not in names of objects."""
    return all(number < _LOOKED_AT and _ALIKE.fullmatch(url) for number, url in enumerate(urls))


def _relative(prefix: str, base: str) -> list[Spelling]:
    if not base:
        return []
    if scheme_of(base) is not None:
        folder = base.rpartition("/")[0] + "/"
        if not prefix:
            return [Spelling("As absolute URLs", folder)]
        inside = prefix.startswith(folder) and len(prefix) > len(folder)
        return [Spelling("Relative to the document", prefix[len(folder) :])] if inside else []
    folder = base.rstrip("/") + "/"
    if not prefix:
        return [Spelling("As absolute paths", folder)]
    if not prefix.startswith("/"):
        return []
    relative = os.path.relpath(prefix, base).replace(os.sep, "/")
    relative = "" if relative == "." else relative + ("/" if prefix.endswith("/") else "")
    # From far away a relative name leads through the root: nobody wants that.
    return [] if relative.count("../") > 2 else [Spelling("Relative to the document", relative)]


def _local(prefix: str) -> list[Spelling]:
    if prefix.startswith("/"):
        return [Spelling("As a file: URL", f"file://{prefix}")]
    if prefix.startswith("file:///"):
        return [Spelling("As a path", prefix.removeprefix("file://"))]
    return []


def _buckets(prefix: str) -> list[Spelling]:
    for place in _WEB:
        match = place.pattern.match(prefix)
        if match is not None:
            parts = match.groupdict()
            region = parts.get("region")
            settings = {} if region is None else {"region": region}
            return [Spelling(place.title, place.bucket.format(**parts) + prefix[match.end() :], settings)]
    if (match := _S3.match(prefix)) is not None:
        # A certificate of the store covers one label before it.
        host = f"s3.amazonaws.com/{match[1]}" if "." in match[1] else f"{match[1]}.s3.amazonaws.com"
        return [Spelling("As a web address", f"https://{host}/{prefix[match.end() :]}")]
    if (match := _GOOGLE.match(prefix)) is not None:
        web = f"https://storage.googleapis.com/{match[1]}/"
        return [Spelling("As a web address", web + prefix[match.end() :])]
    return []
