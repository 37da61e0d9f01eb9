"""Elements that are stored as a type which numpy has not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refbrowser.codecs.base import Bytes, DType, Room, flat_bytes
from refbrowser.codecs.elements import elements_of, resized
from refbrowser.model.narrow_types import NarrowType


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Values as whole numbers of the bits that a type has.

    Attributes
    ----------
    type
        The type.
    stored
        Of the whole numbers.
    """

    type: NarrowType
    stored: DType

    def encoded(self, room: Room) -> Room:
        """Return the room of as many elements."""
        return resized(room, np.dtype(self.type.wide).itemsize, self.stored.itemsize)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the values."""
        stored = elements_of(data, self.stored)
        room.check(stored.size * np.dtype(self.type.wide).itemsize)
        return flat_bytes(np.ascontiguousarray(self.type.widened(stored)))

    def encode(self, data: Bytes) -> Bytes:
        """Return the values as nearly as the type has them."""
        return flat_bytes(self.type.narrowed(elements_of(data, np.dtype(self.type.wide))))
