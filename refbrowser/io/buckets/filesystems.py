"""fsspec's packages for object stores (s3, gs, abfs), set as the user told for a bucket."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from inspect import signature
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.origins import ConnectionSettings, Origin, check_secure
from refbrowser.limits import LIMITS
from refbrowser.loading import load, to_install

#: Scheme to the module and class that read it: fixed, never looked up by a name from a file.
_PACKAGES = {
    "s3": ("s3fs", "S3FileSystem"),
    # Not what gcsfs exports, which asks Google over gRPC for the kind of a bucket, for up to a minute.
    "gs": ("gcsfs.core", "GCSFileSystem"),
    "abfs": ("adlfs", "AzureBlobFileSystem"),
}


def filesystem(origin: Origin, settings: ConnectionSettings) -> Any:
    """Return fsspec's file system for a bucket; it makes each request once.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL`: its package is not installed; `E_USAGE`: settings are missing, or cannot be used.
    """
    options = {**storage_options(origin.scheme, settings), **_kept_back(origin, settings)}
    key = tuple(sorted((name, repr(value)) for name, value in options.items()))
    try:
        return _filesystem(origin.scheme, key, _Box(options))
    except RefbrowserError:
        raise
    except Exception as error:  # the packages raise whatever their clients do
        message = f"cannot connect to {origin}: {type(error).__name__}: {quoted(error)}"
        raise RefbrowserError(ErrorKind.USAGE, message) from error


def _kept_back(origin: Origin, settings: ConnectionSettings) -> dict[str, Any]:
    """Return what a file system is made with besides: limits, and what is not shown."""
    connect, wait = LIMITS.http_connect, LIMITS.http_first_byte
    if origin.scheme == "s3":
        if settings.credentials is not None:
            # Keys that last sign requests, and are not sent.
            _check_endpoint(settings)
        config: dict[str, Any] = {"connect_timeout": connect, "read_timeout": wait}
        config |= {"max_pool_connections": 64, "retries": {"total_max_attempts": 1}}
        kept = {"config_kwargs": {**config, "http_session_cls": _session_without_redirects()}}
        return kept if settings.credentials is None else {**kept, "session": _SignedFor(settings)}
    if origin.scheme == "gs":
        if not settings.anonymous:
            _check_endpoint(settings)
        named = settings.profile
        if named is not None and named not in _GOOGLE and not os.path.isfile(named):
            # The package would take it for a token, and ask Google whose it is.
            message = f"there is no credentials file {quoted(named)}"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="or name one of: " + ", ".join(_GOOGLE))
        try:
            import aiohttp
        except ImportError:
            raise _needed("gs", "gcsfs") from None

        return {"requests_timeout": aiohttp.ClientTimeout(sock_connect=connect, sock_read=wait)}
    return _azure_account(origin, settings)


def _check_endpoint(settings: ConnectionSettings) -> None:
    """Raise where a token goes along with requests, and others on the way to a service could read it."""
    if settings.endpoint is not None:
        check_secure(Origin.parse(settings.endpoint))


#: What asks for credentials that expire; loaded where somebody has them, as it reads URLs itself.
_TEMPORARY = "refbrowser.io.fetching.temporary_credentials:temporary_credentials"


@dataclass(frozen=True, slots=True)
class _SignedFor:
    """Stands for a session of S3's client with credentials that expire: equal settings share one."""

    settings: ConnectionSettings

    def session(self) -> Any:
        """Return the session; its credentials are asked for when they are first used, and before they end."""
        from aiobotocore.credentials import AioDeferredRefreshableCredentials
        from aiobotocore.session import get_session

        url, settings = self.settings.credentials, self.settings.of_credentials()

        async def refreshed() -> dict[str, str]:
            # What reads URLs waits; the loop of the file system is not to.
            found = await asyncio.to_thread(load(_TEMPORARY), url, settings)
            return dict(found.as_metadata())

        session = get_session()
        session._credentials = AioDeferredRefreshableCredentials(refreshed, "refbrowser")
        return session


#: Credentials that gcsfs knows by name.
_GOOGLE = ("google_default", "cloud", "cache")


@cache
def _session_without_redirects() -> type:
    """Return the class of sessions of S3's client that ask only where they were told to.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL`: the client is too old for it.
    """
    try:
        from aiobotocore.config import AioConfig
        from aiobotocore.httpsession import AIOHTTPSession
    except ImportError:
        raise _needed("s3", "s3fs") from None

    class DirectSession(AIOHTTPSession):
        async def _get_session(self, proxy_url: str | None) -> Any:
            session = await super()._get_session(proxy_url)
            session.request = partial(type(session).request, session, allow_redirects=False)
            return session

    if (
        not hasattr(AIOHTTPSession, "_get_session")
        or "http_session_cls" not in signature(AioConfig).parameters
    ):
        message = "the installed aiobotocore follows redirects to hosts that were not allowed"
        raise RefbrowserError(
            ErrorKind.PROTOCOL, message, advice="update it with:  pip install --upgrade s3fs aiobotocore"
        )
    return DirectSession


def _needed(scheme: str, package: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.PROTOCOL,
        f"reading {scheme} needs the package {package}",
        advice=to_install("refbrowser[cloud]"),
    )


#: Host of a storage account, in the clouds that there are.
_ACCOUNT = re.compile(
    r"([a-z0-9]{3,24})\.(?:dfs|blob)\.(core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn))"
)


def _azure_account(origin: Origin, settings: ConnectionSettings) -> dict[str, Any]:
    """Return where a container lies and what is sent there.

    Always a connection string: without one, the package takes that of the environment, with its secrets, for
    anonymous reading too.
    """
    if settings.profile is not None:
        text = os.environ.get(settings.profile)
        if not text:
            message = f"the environment variable {quoted(settings.profile)} holds no connection string"
            raise RefbrowserError(ErrorKind.USAGE, message)
        return {"connection_string": text}
    environment = {} if settings.anonymous else os.environ
    host = _ACCOUNT.fullmatch(origin.host.partition("@")[2])
    account = host[1] if host else settings.account or environment.get("AZURE_STORAGE_ACCOUNT_NAME")
    if settings.endpoint is None and "AZURE_STORAGE_CONNECTION_STRING" in environment and not account:
        return {}
    suffix = host[2] if host else "core.windows.net"
    if account is None:
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"the storage account of {origin} is not known",
            advice=f"give --storage-option {origin}:account=NAME",
        )
    endpoint = settings.endpoint or f"https://{account}.blob.{suffix}"
    parts = {"BlobEndpoint": endpoint, "AccountName": account}
    if not settings.anonymous:
        key, token = environment.get("AZURE_STORAGE_ACCOUNT_KEY"), environment.get("AZURE_STORAGE_SAS_TOKEN")
        if key:
            parts["AccountKey"] = key
        elif token:
            _check_endpoint(settings)
            parts["SharedAccessSignature"] = token.removeprefix("?")
        elif settings.endpoint is None:
            # Who is logged in on this machine.
            return {"account_name": account, "account_host": f"{account}.blob.{suffix}"}
    return {"connection_string": ";".join(f"{name}={value}" for name, value in parts.items())}


class _Box:
    """Carries the options past the cache's key, where their printed form stands for them."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Box)


@lru_cache(maxsize=64)
def _filesystem(scheme: str, key: tuple[tuple[str, str], ...], box: _Box) -> Any:
    module, name = _PACKAGES[scheme]
    try:
        kind = getattr(import_module(module), name)
    except ImportError:
        raise _needed(scheme, module.partition(".")[0]) from None
    options = dict(box.options)
    if isinstance(options.get("session"), _SignedFor):
        options["session"] = options["session"].session()
    return kind(skip_instance_cache=True, **options)


def options_with_secrets(origin: Origin, settings: ConnectionSettings) -> dict[str, Any]:
    """Return what other software on this computer makes fsspec's file system for a bucket with.

    Azure's credentials are among them: nothing else than a connection string says where and with what.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: settings are missing.
    """
    known = storage_options(origin.scheme, settings)
    return known | _azure_account(origin, settings) if origin.scheme == "abfs" else known


def storage_options(scheme: str, settings: ConnectionSettings) -> dict[str, Any]:
    """Return what fsspec's file system for one of ``s3 gs abfs`` is made with; it holds no secrets."""
    if scheme == "s3":
        client = {"region_name": settings.region} if settings.region else {}
        return {
            "anon": settings.anonymous,
            "profile": settings.profile,
            "endpoint_url": settings.endpoint,
            "requester_pays": settings.requester_pays,
            "client_kwargs": client,
        }
    if scheme == "gs":
        token = "anon" if settings.anonymous else settings.profile or "google_default"
        return {"token": token, "requester_pays": settings.requester_pays, "endpoint_url": settings.endpoint}
    return {"anon": settings.anonymous, "account_name": settings.account}
