"""What astropy tells of the header-data units of a file of FITS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from refbrowser.formats.library.library_contents import LibraryContents
from refbrowser.limits import LIMITS

Told = Mapping[str, Any]


@dataclass(eq=False)
class Units(LibraryContents):
    """What the library tells of a file.

    Attributes
    ----------
    told
        Header-data units, in the order of the file.
    """

    told: list[Told] = field(default_factory=list)

    @staticmethod
    def bounds() -> Mapping[str, Any]:
        """Return how much is told at most."""
        return {
            "objects": LIMITS.library_objects,
            "attributes": LIMITS.library_attributes,
            "attribute": LIMITS.library_attribute,
        }

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "unit" in told:
            self.told.append(told)
        else:
            super().take(told, data)


def attributes_of(told: Told) -> dict[str, Any]:
    """Return the fields of a node that tell its cards."""
    return {
        "attributes": dict(told.get("cards", ())),
        "internal_attributes": dict(told.get("structure", ())),
    }
