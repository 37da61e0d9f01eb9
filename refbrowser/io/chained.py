"""URLs of members of archives, in fsspec's notation: ``zip://MEMBER::ARCHIVE_URL``."""

from __future__ import annotations

from typing import NamedTuple

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS

ZIP = "zip://"
_LINK = "::"


class Chained(NamedTuple):
    """A member of an archive, and the URL of that."""

    member: str
    archive: str


def is_chained(url: str) -> bool:
    """Return whether a URL names a member of a zip archive."""
    return url.startswith(ZIP)


def chained_url(member: str, archive: str) -> str:
    """Return the URL of a member."""
    return f"{ZIP}{member}{_LINK}{archive}"


def storage_url(url: str) -> str:
    """Return the URL of the object that is read for a URL: of a member, its archive."""
    return url.partition(_LINK)[2] if is_chained(url) else url


def split_chained(url: str) -> Chained:
    """Take the URL of a member apart; the archive's own URL is not looked at.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL`: it names no archive, or an archive within an archive; `E_BUDGET`: the name is too long.
    """
    member, link, archive = url.removeprefix(ZIP).partition(_LINK)
    if not member or not link or not archive:
        message = "the URL of a zip member is zip://MEMBER::ARCHIVE"
        raise RefbrowserError(ErrorKind.PROTOCOL, message, Place(url=url))
    if is_chained(archive):
        raise RefbrowserError(ErrorKind.PROTOCOL, "archives within archives are not read", Place(url=url))
    if len(member) > LIMITS.key_length:
        message = f"the name of a zip member has {len(member)} characters, more than {LIMITS.key_length}"
        raise RefbrowserError(ErrorKind.BUDGET, f"{message} (key_length)", Place(url=url[:200]))
    return Chained(member, archive)
