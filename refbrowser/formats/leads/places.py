"""Where the files lie that a file names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urljoin

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.named_bytes import place_beside
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS


def referred(place: str, name: str) -> str:
    """Return where a URL reference leads from a place (RFC 3986, section 5.2); in a file here it is a path.

    Raises
    ------
    ValueError
        It is malformed.
    """
    if not _is_elsewhere(place) or scheme_of(name):
        return place_beside(place, name)
    scheme, _, rest = place.partition("://")
    # urljoin joins only the schemes that it knows.
    joined = urljoin(f"http://{rest}", name)
    return f"{scheme}{joined.removeprefix('http')}" if joined.startswith("http://") else joined


def _is_elsewhere(place: str) -> bool:
    return scheme_of(place) not in (None, "file")


@dataclass(slots=True)
class Places:
    """Where the files lie that are named at a place; those that are not followed are counted.

    Parameters
    ----------
    place
        Of what names them: a URL, or a path with links resolved.
    meant
        Returns what a name means at a place.
    """

    place: str
    meant: Callable[[str, str], str] = referred
    refused: int = 0
    odd: int = 0
    count: int = 0

    def of(self, name: str) -> str | None:
        """Return where a file lies; None of one that is not followed.

        Raises
        ------
        RefbrowserError
            `BUDGET`: too many are named.
        """
        self.count += 1
        if self.count > LIMITS.lead_sources:
            message = f"it names more than {LIMITS.lead_sources} files (lead_sources)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        try:
            found = self.meant(self.place, name)
        except ValueError:
            self.odd += 1
            return None
        if _is_elsewhere(self.place) and not _is_elsewhere(found):
            self.refused += 1
            return None
        return found

    def told(self) -> Iterable[str]:
        """Return what is told of those that are not followed."""
        if self.odd:
            yield f"{self.odd} are left out: no URLs"
        if self.refused:
            yield f"{self.refused} of this computer are left out: what comes from a server may name none"
