"""Connection settings that the user gives for an origin; never from a file (safety design, section 5)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.origins import Origin

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+")
#: Headers that belong to the client: setting them would defeat its checks.
_OWN_HEADERS = frozenset(
    {"host", "range", "accept-encoding", "connection", "content-length", "transfer-encoding"}
)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How to connect to one origin.

    Attributes
    ----------
    anonymous
        Object stores: send no credentials (the default).
    profile, endpoint, region, account
        Object stores: named credentials, address of the service, region, storage account.
    requester_pays
        The reader agrees to be charged.
    headers
        Header name to the environment variable that holds its value; read when a request is sent.
    """

    anonymous: bool = True
    profile: str | None = None
    endpoint: str | None = None
    region: str | None = None
    account: str | None = None
    requester_pays: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_option(self, key: str, value: str) -> ConnectionSettings:
        """Return the settings with one ``KEY=VALUE`` of ``--storage-option`` applied.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: no such setting, or a value that it cannot have.
        """
        if key.startswith("header."):
            name = key.removeprefix("header.")
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _OWN_HEADERS:
                raise RefbrowserError(ErrorKind.USAGE, f"{quoted(name)} is not a header that can be set")
            return replace(self, headers={**self.headers, name: value})
        if key == "anonymous":
            return replace(self, anonymous=_boolean(key, value))
        if key == "requester_pays":
            return replace(self, requester_pays=_boolean(key, value))
        if key in ("profile", "endpoint", "region", "account"):
            changes: dict[str, Any] = {key: value}
            if key == "profile":
                changes["anonymous"] = False
            return replace(self, **changes)
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"{quoted(key)} is not a storage option",
            advice="known: anonymous, profile, endpoint, region, account, requester_pays, header.NAME",
        )

    def header_values(self) -> dict[str, str]:
        """Return the headers with their values from the environment.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: a variable is not set or cannot stand in a header.
        """
        values = {}
        for name, variable in self.headers.items():
            value = os.environ.get(variable)
            if value is None or not value.isprintable() or not value.isascii():
                message = f"environment variable {quoted(variable)} holds no value for the header {name}"
                raise RefbrowserError(ErrorKind.USAGE, message)
            values[name] = value
        return values


def parse_storage_options(texts: Iterable[str]) -> dict[Origin, ConnectionSettings]:
    """Return the settings per origin from ``ORIGIN:KEY=VALUE`` texts.

    Raises
    ------
    RefbrowserError
        `E_USAGE` for a malformed text; the errors of `Origin.parse`.
    """
    settings: dict[Origin, ConnectionSettings] = {}
    for text in texts:
        left, equals, value = text.partition("=")
        origin_text, colon, key = left.rpartition(":")
        if not equals or not colon or not origin_text:
            message = f"{quoted(text)} is not of the form ORIGIN:KEY=VALUE"
            raise RefbrowserError(ErrorKind.USAGE, message)
        origin = Origin.parse(origin_text)
        settings[origin] = settings.get(origin, ConnectionSettings()).with_option(key, value)
    return settings


def _boolean(key: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise RefbrowserError(ErrorKind.USAGE, f"{key} is true or false, not {quoted(value)}")
    return value.lower() == "true"
