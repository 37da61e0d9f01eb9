"""Credentials for a bucket that expire: asked for at the URL of an archive, and asked for again in time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.fetch import read_document
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.limits import LIMITS

#: Names of the three in answers, and characters of each at most.
_NAMES, _LONGEST = ("accessKeyId", "secretAccessKey", "sessionToken"), 8192


@dataclass(frozen=True, slots=True)
class TemporaryCredentials:
    """What signs requests for a while; it is never shown.

    Attributes
    ----------
    expires
        When, in UTC.
    """

    key: str = field(repr=False)
    secret: str = field(repr=False)
    token: str = field(repr=False)
    expires: datetime

    def as_metadata(self) -> dict[str, str]:
        """Return them as botocore takes those that it refreshes."""
        return {
            "access_key": self.key,
            "secret_key": self.secret,
            "token": self.token,
            "expiry_time": self.expires.isoformat(),
        }


def temporary_credentials(url: str, settings: ConnectionSettings) -> TemporaryCredentials:
    """Return credentials that a URL gives.

    Parameters
    ----------
    settings
        How it is asked: with a token, headers, or a login.

    Raises
    ------
    RefbrowserError
        It cannot be read, or gives none: what it answered is never told.
    """
    access = Access.for_document(url, (), {Origin.parse(url): settings})
    data = read_document(url, access, size_limit=LIMITS.credentials_answer).data
    try:
        said: Any = json.loads(bytes(data))
        key, secret, token = (_text(said[name]) for name in _NAMES)
        expires = datetime.fromisoformat(_text(said["expiration"]))
        zoned = expires if expires.tzinfo is not None else expires.replace(tzinfo=UTC)
        return TemporaryCredentials(key, secret, token, zoned.astimezone(UTC))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        message = "the answer holds no credentials: a page to log in, perhaps"
        raise RefbrowserError(ErrorKind.FORMAT, message, Place(url=url)) from None


def _text(said: Any) -> str:
    if not isinstance(said, str) or not said.isprintable() or not 0 < len(said) <= _LONGEST:
        raise ValueError
    return said
