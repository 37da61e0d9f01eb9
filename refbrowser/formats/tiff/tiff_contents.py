"""What the library tells of a file of TIFF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from refbrowser.formats.library.library_contents import LibraryContents
from refbrowser.limits import LIMITS

#: What is told of one image.
Told = Mapping[str, Any]


@dataclass(eq=False)
class TiffContents(LibraryContents):
    """What the library tells of a file."""

    head: Told = field(default_factory=dict)
    arrays: dict[str, Told] = field(default_factory=dict)
    chunks: dict[str, memoryview] = field(default_factory=dict)

    @staticmethod
    def bounds() -> Mapping[str, Any]:
        """Return how much is told at most."""
        return {
            "objects": LIMITS.library_objects,
            "attribute": LIMITS.library_attribute,
            "chunks": LIMITS.references,
            # What can be read changes with it.
            "codecs": find_spec("imagecodecs") is not None,
        }

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "array" in told:
            self.arrays[told["array"]] = told
            self.chunks[told["array"]] = data
        elif "head" in told:
            self.head = told["head"]
        else:
            super().take(told, data)
