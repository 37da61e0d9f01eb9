"""Buffers that forms of Awkward 2 name and schemas of Awkward 0 do not have: made from those they have."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.dataset import Dataset
from refbrowser.formats.awkward0.arrays import Awkward0Array
from refbrowser.formats.awkward0.layouts import Layout, ListIndex, ListLayout, UnionLayout, walk
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

_LEVEL = 6
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MadeBuffer:
    """A buffer that is made.

    Attributes
    ----------
    source
        Name of the array that it is made from.
    make
        Makes it; None where the source is not what it should be.
    """

    name: str
    source: str
    make: Callable[[npt.NDArray[Any]], Ints | None]


def made_buffers(array: Awkward0Array) -> list[MadeBuffer]:
    """Return the buffers that the form of an array names, and its schema does not have."""
    found = [] if array.layout is None else [_made_buffer(each) for each in walk(array.layout)]
    return [each for each in found if each is not None]


def _made_buffer(layout: Layout) -> MadeBuffer | None:
    if isinstance(layout, ListLayout) and layout.how is ListIndex.COUNTS:
        return MadeBuffer(f"{layout.key}-offsets", f"{layout.key}-counts", offsets_of_counts)
    if isinstance(layout, UnionLayout) and layout.index is None:
        return MadeBuffer(f"{layout.key}-index", f"{layout.key}-tags", running_numbers)
    return None


def offsets_of_counts(counts: npt.NDArray[Any]) -> Ints | None:
    """Return where lists of these lengths begin and end; None where one is no length."""
    if len(counts) and (int(counts.min()) < 0 or int(counts.max()) > (2**63 - 1) // len(counts)):
        return None
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def running_numbers(tags: npt.NDArray[Any]) -> Ints:
    """Return for each tag how many of its value stand before it."""
    index = np.empty(len(tags), np.int64)
    for tag in np.unique(tags):
        where = np.flatnonzero(tags == tag)
        index[where] = np.arange(len(where))
    return index


def zarr_of_buffer(
    dataset: Dataset, source: ArrayNode, wanted: MadeBuffer, token: CancelToken
) -> tuple[bytes, bytes] | None:
    """Return the metadata and the one chunk of a buffer; None where it cannot be made.

    Raises
    ------
    RefbrowserError
        The source cannot be read.
    """
    box = tuple(range(0, size) for size in source.shape)
    read = dataset.session.read(source, dataset.access, Selection(box), cancel=token, export=True)
    made = wanted.make(read)
    if made is None:
        return None
    metadata = {
        "zarr_format": 2,
        "shape": [len(made)],
        "chunks": [max(len(made), 1)],
        "dtype": "<i8",
        "compressor": {"id": "zlib", "level": 1},
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    return json.dumps(metadata).encode(), zlib.compress(made.astype("<i8").tobytes(), _LEVEL)
