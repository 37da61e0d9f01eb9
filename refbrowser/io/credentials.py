"""Names, passwords and tokens of the user: read when they are sent, from where the user said, never kept."""

from __future__ import annotations

import base64
import netrc
import os
from functools import lru_cache

from refbrowser.errors import quoted, usage_error

#: Where they are looked for when no other file is named.
_NETRC = "~/.netrc"
#: Bytes of such a file.
_LARGEST = 1 << 20


def bearer(variable: str) -> str:
    """Return the header that sends the token in an environment variable.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the variable holds none.
    """
    value = (os.environ.get(variable) or "").strip()
    if not value or not value.isprintable() or not value.isascii() or " " in value:
        raise usage_error(f"environment variable {quoted(variable)} holds no token")
    return f"Bearer {value}"


def basic(host: str, file: str) -> str:
    """Return the header that sends the name and password of a host, as a netrc file has them.

    Parameters
    ----------
    file
        Its path; empty for the usual one, or what the variable ``NETRC`` names.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it cannot be read, or has no entry for exactly this host.
    """
    path = os.path.expanduser(file or os.environ.get("NETRC") or _NETRC)
    try:
        status = os.stat(path)
        if status.st_size > _LARGEST:
            raise usage_error(f"the file {quoted(path)} is too large for a netrc file")
        found = _entries(path, status.st_mtime_ns, status.st_size).get(host)
    except OSError as error:
        raise usage_error(f"the netrc file {quoted(path)} cannot be read: {error.strerror}") from None
    except netrc.NetrcParseError as error:
        # Its words are told, which name a line, and not its text.
        raise usage_error(f"the netrc file {quoted(path)} is faulty in line {error.lineno}") from None
    if found is None:
        raise usage_error(f"the netrc file {quoted(path)} has no entry for {quoted(host)}")
    name, password = found
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode("ascii")


@lru_cache(maxsize=4)
def _entries(path: str, _modified: int, _size: int) -> dict[str, tuple[str, str]]:
    """Return the entries of hosts; that of all others is left out: nobody bound it to a host."""
    hosts = netrc.netrc(path).hosts
    return {host: (entry[0], entry[2] or "") for host, entry in hosts.items() if host != "default"}
