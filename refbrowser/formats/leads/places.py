"""Where the files lie that a file names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.named_bytes import place_beside
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS


@dataclass(slots=True)
class Places:
    """Where the files lie that are named at a place; those that are not followed are counted.

    Parameters
    ----------
    place
        Of what names them: a URL, or a path with links resolved.
    """

    place: str
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
            found = place_beside(self.place, name)
        except ValueError:
            self.odd += 1
            return None
        is_elsewhere = scheme_of(self.place) not in (None, "file")
        if is_elsewhere and scheme_of(found) in (None, "file"):
            self.refused += 1
            return None
        return found

    def told(self) -> Iterable[str]:
        """Return what is told of those that are not followed."""
        if self.odd:
            yield f"{self.odd} are left out: no URLs"
        if self.refused:
            yield f"{self.refused} of this computer are left out: what comes from a server may name none"
