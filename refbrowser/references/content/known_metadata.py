"""The metadata of a document that was known before its text was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class KnownMetadata:
    """The bytes of the metadata that stands in a document, known before its text was made.

    Attributes
    ----------
    values
        By key, in document order.
    elsewhere
        Metadata keys that the document refers to elsewhere.
    parsed
        The objects that some of the values are, by key, where they were known before these.
    """

    values: Mapping[str, bytes]
    elsewhere: tuple[str, ...] = ()
    parsed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
