"""Arrays of Awkward 0 made by hand and read from memory, with a note of what was read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import awkward
import numpy as np
import numpy.typing as npt
from awkward0_encoder import Encoder, Expression

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nested import BufferPart, NestedRows
from refbrowser.model.reference import Inline
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts.building import build_layout
from refbrowser.wings.awkward0.layouts.schema import read_schema
from refbrowser.wings.awkward0.rows.layout_values import LayoutValues


class MemoryBuffers:
    """Reads buffers that stand in their references.

    Attributes
    ----------
    rounds
        What was read together: name of the blob, start and stop.
    """

    def __init__(self, *broken: str) -> None:
        self.rounds: list[list[tuple[str, int, int]]] = []
        self.broken = broken

    @property
    def read(self) -> set[tuple[str, int, int]]:
        """What was read in all."""
        return {each for together in self.rounds for each in together}

    @property
    def bytes_of(self) -> dict[str, int]:
        """Elements that were read of each blob."""
        sizes: dict[str, int] = {}
        for name, start, stop in self.read:
            sizes[name] = sizes.get(name, 0) + stop - start
        return sizes

    def read_all(self, parts: Sequence[BufferPart]) -> list[npt.NDArray[Any] | RefbrowserError]:
        """Return the elements of each part."""
        self.rounds.append([(part.buffer.name, part.start, part.stop) for part in parts])
        return [self._read(part) for part in parts]

    def _read(self, part: BufferPart) -> npt.NDArray[Any] | RefbrowserError:
        buffer = part.buffer
        if buffer.name in self.broken:
            return RefbrowserError(ErrorKind.SOURCE, f"no {buffer.name}")
        assert isinstance(buffer.reference, Inline)
        data = buffer.reference.data
        for codec in buffer.codecs:
            assert codec == "zlib"
            data = zlib.decompress(data)
        values = np.frombuffer(data, buffer.dtype, buffer.count, buffer.offset)[part.start : part.stop]
        values.flags.writeable = False
        return values


def made(make: Callable[[Encoder], Expression]) -> LayoutValues:
    """Return the values of an array whose schema and blobs an encoder makes."""
    encoder = Encoder()
    members = encoder.members(make(encoder))
    schema = read_schema(members[".json"], name="made")
    built = build_layout(
        schema,
        lambda name: (
            Blob(name, Inline(members[name]), len(members[name]), len(members[name]))
            if name in members
            else None
        ),
    )
    return LayoutValues(built.layout, built.by_number)


def listed(rows: NestedRows) -> list[Any]:
    """Return rows as Python values; what was made must be valid."""
    array = awkward.Array(rows.content)
    # Numbers of several types are kept apart, which awkward reads, and would rather have merged.
    error = awkward.validity_error(array)
    assert not error or "mergeable" in error, error
    return awkward.to_list(array)


def read(values: LayoutValues, start: int, stop: int) -> list[Any]:
    """Return rows as Python values; all of them must be readable."""
    rows = values.rows(start, stop, MemoryBuffers())
    assert not rows.faults
    return listed(rows)
