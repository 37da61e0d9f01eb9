"""Where redirects led, so that each range of an object need not be redirected again."""

from __future__ import annotations

import time
from urllib.parse import urljoin

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.access import Access, Location
from refbrowser.io.http_head import AttemptError
from refbrowser.io.origins import DEFAULT_PORTS, scheme_of

#: Signed addresses expire, and redirects change.
_KEPT = 60.0
_MOST = 10_000


class Redirects:
    """The last target of each URL; used on the loop's thread only."""

    def __init__(self) -> None:
        self._targets: dict[str, tuple[float, Location]] = {}

    def keep(self, url: str, target: Location) -> None:
        """Remember where a good answer for `url` came from."""
        if len(self._targets) >= _MOST:
            self._targets.clear()
        self._targets[url] = (time.monotonic() + _KEPT, target)

    def forget(self, url: str) -> None:
        """Ask for `url` itself the next time."""
        self._targets.pop(url, None)

    def target(self, location: Location, access: Access) -> Location:
        """Return where to ask for `location`: a target that this document may read, or itself."""
        expires, target = self._targets.get(location.url, (0.0, location))
        return target if expires > time.monotonic() and access.permits(target) else location


def _as_utf8(text: str) -> str:
    """Return a header's text as most servers mean it where they break the rule that it be ASCII."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def next_hop(current: Location, target: str, access: Access) -> Location:
    """Return where a redirect leads, checked like a new URL.

    Raises
    ------
    AttemptError
        It leads to another protocol, or from https to http.
    RefbrowserError
        The errors of `Access.resolve`.
    """
    try:
        url = urljoin(current.url, _as_utf8(target))
    except ValueError:
        raise AttemptError(f"a redirect to {quoted(target)} is refused", ErrorKind.UNSAFE) from None
    scheme = scheme_of(url)
    if scheme not in DEFAULT_PORTS:
        raise AttemptError(f"a redirect to {quoted(url)} is refused", ErrorKind.UNSAFE)
    if current.scheme == "https" and scheme == "http":
        raise AttemptError("a redirect from https to http is refused", ErrorKind.UNSAFE)
    try:
        location = access.locate(url)
    except RefbrowserError as error:
        raise AttemptError(error.message, error.kind) from error
    if not access.permits(location):
        access.memory.meet(location.origin, private=False)
    access.check(location)
    return location
