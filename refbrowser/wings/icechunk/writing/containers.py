"""Virtual chunk containers: where the chunks of a repository lie, and how their buckets are reached.

Nothing of it holds credentials: a repository says where its sources are, the reader brings the rest.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.buckets.filesystems import options_with_secrets
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access, Location

#: Where a service of one's own is, for those who must name a region.
_REGION = "us-east-1"


# Where chunks lie


def chunk_location(location: Location) -> str:
    """Return how a repository names the object of a reference.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL`: it cannot.
    """
    if location.member:
        raise _unnamed(location, "it cannot refer to archive members")
    if location.scheme == "file":
        # The folder below the root is what a container is of, at most.
        if _plain_part(os.path.dirname(location.path)) == "/":
            raise _unnamed(location, "none of its folders has a plain name")
        return "file://" + quote(location.path)
    if location.scheme in ("http", "https"):
        parts = urlsplit(location.url)
        if parts.query:
            raise _unnamed(location, "its library drops what follows a question mark in a URL")
        if parts.port is not None:
            raise _unnamed(location, "its library drops the port from what it stores")
        return location.url
    return f"{location.scheme}://{quote(location.origin.host)}/{quote(location.path)}"


def _unnamed(location: Location, why: str) -> RefbrowserError:
    message = f"a repository cannot refer to {quoted(location.url)}: {why}"
    return RefbrowserError(ErrorKind.PROTOCOL, message, Place(url=location.url))


@dataclass(frozen=True, slots=True)
class Container:
    """A virtual chunk container: what the locations of some chunks begin with, and how it is reached.

    Attributes
    ----------
    prefix
        Ends with a slash.
    origin, settings
        Of the sources, as the user has set them.
    """

    prefix: str
    origin: Origin
    settings: ConnectionSettings

    def store(self, icechunk: Any) -> Any:
        """Return how it is reached, without credentials."""
        kinds, settings = icechunk.ObjectStoreConfig, self.settings
        if self.origin.scheme == "file":
            return kinds.LocalFileSystem("/")
        plain = {"allow_http": "true"} if _is_plain(settings.endpoint or self.prefix) else {}
        if self.origin.scheme in ("http", "https"):
            return icechunk.http_store(plain)
        if self.origin.scheme == "gs":
            return kinds.Gcs(google_options(settings))
        if self.origin.scheme == "abfs":
            facts = azure_facts(self.origin, settings)
            return kinds.Azure({"account": facts["AccountName"], **azure_service(facts)})
        options = icechunk.S3Options(**s3_options(settings), anonymous=settings.anonymous)
        return (kinds.S3Compatible if settings.endpoint else kinds.S3)(options)

    def credentials(self, icechunk: Any) -> str:
        """Return Python that makes the credentials with which a reader gets there."""
        if self.origin.scheme in ("file", "http", "https"):
            kind = _kind_without_credentials(self.origin.scheme)
            return f"icechunk.credentials.{kind}" if hasattr(icechunk.credentials, kind) else "None"
        name = {"gs": "gcs", "abfs": "azure"}.get(self.origin.scheme, "s3")
        anonymous = self.settings.anonymous and self.origin.scheme != "abfs"
        return f"icechunk.{name}_credentials({'anonymous' if anonymous else 'from_env'}=True)"

    def granted(self, icechunk: Any) -> Any:
        """Return the credentials with which this program gets there."""
        settings = self.settings
        if self.origin.scheme == "s3":
            return icechunk.s3_credentials(**s3_keys(settings))
        if self.origin.scheme == "gs":
            return icechunk.gcs_credentials(**google_keys(settings))
        if self.origin.scheme == "abfs":
            return icechunk.azure_credentials(**azure_keys(azure_facts(self.origin, settings)))
        return getattr(icechunk.credentials, _kind_without_credentials(self.origin.scheme), None)


def _kind_without_credentials(scheme: str) -> str:
    """Return what newer versions of the library call access without credentials; in older ones it is None."""
    return "LocalFileSystemAccess" if scheme == "file" else "HttpAccess"


def containers_of(locations: Iterable[Location], access: Access) -> list[Container]:
    """Return the containers that the chunks of some objects need: one a bucket, host, or folder."""
    origins: dict[str, Origin] = {}
    folders: dict[str, Origin] = {}
    for location in locations:
        origin = location.origin
        if origin.scheme == "file":
            folders.setdefault(os.path.dirname(location.path), origin)
        elif origin.scheme in ("http", "https"):
            origins.setdefault(f"{origin}/", origin)
        else:
            origins.setdefault(f"{origin.scheme}://{quote(origin.host)}/", origin)
    for folder, origin in _common(folders).items():
        origins[f"file://{folder}/"] = origin
    return [Container(prefix, origin, access.connection(origin)) for prefix, origin in origins.items()]


def _common(folders: Mapping[str, Origin]) -> dict[str, Origin]:
    """Return the folders above all: one for each that lies directly below the root at most."""
    tops: dict[str, list[str]] = {}
    for folder in folders:
        tops.setdefault(folder.strip("/").split("/")[0], []).append(folder)
    return {_plain_part(os.path.commonpath(some)): folders[some[0]] for some in tops.values()}


def _plain_part(folder: str) -> str:
    """Return the beginning of a folder's path that is the same in a URL: others the library does not find."""
    parts = list(takewhile(lambda part: quote(part) == part, folder.split("/")))
    return "/".join(parts) or "/"


# How a bucket is reached


def _is_plain(url: str) -> bool:
    return url.startswith("http:")


def s3_options(settings: ConnectionSettings) -> dict[str, Any]:
    """Return where a bucket of S3 is, by the library's names."""
    endpoint = settings.endpoint
    return {
        "region": settings.region or (_REGION if endpoint else None),
        "endpoint_url": endpoint,
        "allow_http": _is_plain(endpoint or ""),
        "force_path_style": endpoint is not None,
        "requester_pays": settings.requester_pays,
    }


def s3_keys(settings: ConnectionSettings) -> dict[str, Any]:
    """Return what requests to S3 are signed with; never stored.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the named profile has no credentials.
    """
    if settings.anonymous:
        return {"anonymous": True}
    if settings.profile is None:
        return {"from_env": True}
    from botocore.session import Session

    found = Session(profile=settings.profile).get_credentials()
    if found is None:
        message = f"profile {quoted(settings.profile)} has no credentials"
        raise RefbrowserError(ErrorKind.USAGE, message)
    frozen = found.get_frozen_credentials()
    return {
        "access_key_id": frozen.access_key,
        "secret_access_key": frozen.secret_key,
        "session_token": frozen.token,
    }


def google_options(settings: ConnectionSettings) -> dict[str, str]:
    """Return where a bucket of Google is, by the library's names."""
    if settings.endpoint is None:
        return {}
    plain = {"allow_http": "true"} if _is_plain(settings.endpoint) else {}
    return {"google_base_url": settings.endpoint, **plain}


def google_keys(settings: ConnectionSettings) -> dict[str, Any]:
    """Return what requests to Google are signed with; never stored."""
    if settings.anonymous:
        return {"anonymous": True}
    if settings.profile is not None and os.path.isfile(settings.profile):
        return {"application_credentials": settings.profile}
    return {"from_env": True}


def azure_facts(origin: Origin, settings: ConnectionSettings) -> dict[str, str]:
    """Return what a connection string says, by its names."""
    options = options_with_secrets(origin, settings)
    text = options.get("connection_string") or os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")
    facts = dict(part.split("=", 1) for part in text.split(";") if "=" in part)
    return {"AccountName": str(options.get("account_name") or ""), **facts}


def azure_service(facts: Mapping[str, str]) -> dict[str, str]:
    """Return where a container of Azure is, by the library's names."""
    endpoint = facts.get("BlobEndpoint", "")
    plain = {"allow_http": "true"} if _is_plain(endpoint) else {}
    return {"azure_storage_endpoint": endpoint, **plain} if endpoint else {}


def azure_keys(facts: Mapping[str, str]) -> dict[str, Any]:
    """Return what requests to Azure are signed with; never stored."""
    if "AccountKey" in facts:
        return {"access_key": facts["AccountKey"]}
    if "SharedAccessSignature" in facts:
        return {"sas_token": facts["SharedAccessSignature"]}
    return {"from_env": True}


# Chunks that it holds


@dataclass(frozen=True, slots=True)
class HeldRanges(Mapping[int, bytes]):
    """The bytes of rows, read when they are asked for.

    Attributes
    ----------
    columns
        What lies where.
    rows
        Those that are ranges of files of this computer which are taken in.
    """

    columns: ReferenceColumns
    rows: frozenset[int]

    def __getitem__(self, row: int) -> bytes:
        if row not in self.rows:
            return self.columns.inline[row]
        path = self.columns.urls[int(self.columns.url[row])]
        begin, size = int(self.columns.offset[row]), int(self.columns.length[row])
        try:
            with open(path, "rb") as file:
                file.seek(begin)
                data = file.read(size)
        except OSError as error:
            raise RefbrowserError(ErrorKind.IO, "own chunks cannot be read", Place(path=path)) from error
        if len(data) != size:
            raise RefbrowserError(ErrorKind.IO, "own chunks are cut off", Place(path=path))
        return data

    def __iter__(self) -> Iterator[int]:
        yield from self.rows
        yield from self.columns.inline

    def __len__(self) -> int:
        return len(self.rows) + len(self.columns.inline)


def held_columns(columns: ReferenceColumns, taken_in: Collection[str]) -> ReferenceColumns:
    """Return references with those to some files as if their bytes stood in the document."""
    numbers = [number for number, url in enumerate(columns.urls) if url in taken_in]
    if not numbers:
        return columns
    held = np.isin(columns.url, numbers)
    return replace(
        columns,
        kind=np.where(held, ReferenceKind.INLINE, columns.kind).astype(np.uint8),
        url=np.where(held, -1, columns.url).astype(np.int32),
        inline=HeldRanges(columns, frozenset(np.flatnonzero(held).tolist())),
    )
