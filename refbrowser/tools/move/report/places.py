"""Other spellings of one place: relative and absolute, paths and ``file:`` URLs, web addresses of buckets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.io.origins import ConnectionSettings, Origin, scheme_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refbrowser.tools.move.report.prefix_tree import PrefixNode

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
        re.compile(
            r"https://(?P<bucket>[a-z0-9.\-]+)\.s3(?:[.-](?:dualstack\.)?(?P<region>[a-z0-9\-]+))?\.amazonaws\.com/"
        ),
        "s3://{bucket}/",
    ),
    _WebPlace(
        "As a bucket of S3",
        re.compile(
            r"https://s3(?:[.-](?:dualstack\.)?(?P<region>[a-z0-9\-]+))?\.amazonaws\.com/(?P<bucket>[a-z0-9.\-]+)/"
        ),
        "s3://{bucket}/",
    ),
    _WebPlace(
        "As a bucket of Google Cloud Storage",
        re.compile(r"https://storage\.googleapis\.com/(?P<bucket>[a-z0-9._\-]+)/"),
        "gs://{bucket}/",
    ),
    _WebPlace(
        "As a container of Azure",
        re.compile(
            r"https://(?P<account>[a-z0-9]{3,24})\.(?:blob|dfs)\."
            r"(?P<cloud>core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn))/(?P<bucket>[a-z0-9\-]+)/"
        ),
        "abfs://{bucket}@{account}.dfs.{cloud}/",
    ),
)
_S3 = re.compile(r"s3a?://([a-z0-9.\-]+)/")
_GOOGLE = re.compile(r"(?:gs|gcs)://([a-z0-9._\-]+)/")
_AZURE = re.compile(r"(?:abfss?|az)://([a-z0-9\-]+)@([a-z0-9]{3,24})\.(?:dfs|blob)\.(core\.[a-z.]+)/")


def spellings(
    node: PrefixNode, base: str, settings: Mapping[Origin, ConnectionSettings] | None = None
) -> list[Spelling]:
    """Return other ways to write the place of a node.

    Web addresses are offered only where both spell every name below the node alike.

    Parameters
    ----------
    base
        Folder of the document (absolute), or the URL that it came from; empty where it lies nowhere.
    settings
        Connection settings in force: a bucket of another service has another web address.
    """
    prefix = node.prefix
    found = [*_relative(prefix, base), *_local(prefix)]
    if is_spelled_alike(node.urls()):
        found += _buckets(prefix, _settings_at(prefix, settings or {}))
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


def _buckets(prefix: str, settings: ConnectionSettings) -> list[Spelling]:
    for place in _WEB:
        match = place.pattern.match(prefix)
        if match is not None:
            parts = match.groupdict()
            region = parts.get("region")
            needed = {} if region is None else {"region": region}
            return [Spelling(place.title, place.bucket.format(**parts) + prefix[match.end() :], needed)]
    if (match := _S3.match(prefix)) is not None:
        web = _web_of_s3(match[1], settings)
    elif (match := _GOOGLE.match(prefix)) is not None:
        web = f"{settings.endpoint or 'https://storage.googleapis.com'}/{match[1]}/"
    elif (match := _AZURE.match(prefix)) is not None:
        web = f"https://{match[2]}.blob.{match[3]}/{match[1]}/"
    else:
        return []
    return [Spelling("As a web address", web + prefix[match.end() :])]


def _web_of_s3(bucket: str, settings: ConnectionSettings) -> str:
    """Return the web address of a bucket: that of the service that the user named, else of Amazon."""
    if settings.endpoint:
        return f"{settings.endpoint.rstrip('/')}/{bucket}/"
    host = f"s3.{settings.region}.amazonaws.com" if settings.region else "s3.amazonaws.com"
    # A certificate of the store covers one label before it.
    return f"https://{host}/{bucket}/" if "." in bucket else f"https://{bucket}.{host}/"


# Connection settings


@dataclass(frozen=True, slots=True)
class Carried:
    """Connection settings that go with a move to another origin.

    Attributes
    ----------
    origin
        The new one, which has none.
    words
        What they are, without any secret: those stay where the user keeps them.
    is_asked
        Whether credentials would go to another place, or reading costs the user money: only as they say.
    """

    origin: Origin
    settings: ConnectionSettings
    words: str
    is_asked: bool


def carried_settings(
    old: str, new: str, settings: Mapping[Origin, ConnectionSettings], needed: Mapping[str, str]
) -> Carried | None:
    """Return the connection settings that a new place needs, or that those of the old one suggest.

    None where it is no other origin, has settings already, or needs none.

    Parameters
    ----------
    old, new
        What URLs begin with, before and after.
    needed
        What the new spelling needs (`Spelling.settings`).
    """
    origin = _origin(new)
    if origin is None or origin in settings:
        return None
    before = _origin(old)
    found = ConnectionSettings()
    if before is not None and before != origin and before in settings:
        given = settings[before]
        if before.scheme == origin.scheme and not before.scheme.startswith("http"):
            found = given
        elif (before.scheme, origin.scheme) in (("http", "http"), ("http", "https"), ("https", "https")):
            found = ConnectionSettings(headers=given.headers)
    for name, value in needed.items():
        found = found.with_option(name, value)
    if found == ConnectionSettings():
        return None
    is_asked = not found.anonymous or bool(found.profile or found.headers) or found.requester_pays
    return Carried(origin, found, _settings_words(found), is_asked)


def _settings_words(settings: ConnectionSettings) -> str:
    words = []
    for each in fields(settings):
        value = getattr(settings, each.name)
        if value in (None, False, {}) or (each.name == "anonymous" and value):
            continue
        named = ", ".join(value) if each.name == "headers" else str(value)
        words.append("requester pays" if value is True else f"{each.name} {named}")
    if not settings.anonymous and not settings.profile:
        words.insert(0, "your credentials")
    return ", ".join(words)


def _settings_at(prefix: str, settings: Mapping[Origin, ConnectionSettings]) -> ConnectionSettings:
    origin = _origin(prefix)
    return (settings.get(origin) if origin is not None else None) or ConnectionSettings()


def _origin(prefix: str) -> Origin | None:
    """Return the origin of what URLs begin with; None where that is a path, or no URL that is read."""
    if scheme_of(prefix) in (None, "file") or not prefix.partition("://")[2].strip("/"):
        return None
    try:
        return Origin.parse(f"{prefix}x" if prefix.endswith("/") else prefix)
    except RefbrowserError:
        return None
