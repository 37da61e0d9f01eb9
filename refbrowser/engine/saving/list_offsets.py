"""Offsets of lists that are told by counts: other software has no lists of counts."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.formats.awkward0.arrays import Awkward0Array
from refbrowser.formats.awkward0.layout_parts import walk
from refbrowser.formats.awkward0.layouts import ListIndex, ListLayout
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

_LEVEL = 6


@dataclass(frozen=True, slots=True)
class OffsetsArray:
    """An array of offsets that a form names, and the array of counts that it is made from."""

    name: str
    counts: str


def offsets_of(array: Awkward0Array) -> list[OffsetsArray]:
    """Return the arrays of offsets that the form of an array names, and its schema does not have."""
    if array.layout is None:
        return []
    lists = [
        each for each in walk(array.layout) if isinstance(each, ListLayout) and each.how is ListIndex.COUNTS
    ]
    return [OffsetsArray(f"{each.key}-offsets", f"{each.key}-counts") for each in lists]


def zarr_of_offsets(dataset: Dataset, counts: ArrayNode, token: CancelToken) -> tuple[bytes, bytes] | None:
    """Return the metadata and the one chunk of the offsets; None where counts are no lengths.

    Raises
    ------
    RefbrowserError
        The counts cannot be read.
    """
    box = tuple(range(0, size) for size in counts.shape)
    read = dataset.session.read(counts, dataset.access, Selection(box), cancel=token, export=True)
    if len(read) and (int(read.min()) < 0 or int(read.max()) > (2**63 - 1) // len(read)):
        return None
    offsets = np.concatenate([np.zeros(1, "<i8"), np.cumsum(read, dtype="<i8")])
    metadata = {
        "zarr_format": 2,
        "shape": [len(offsets)],
        "chunks": [len(offsets)],
        "dtype": "<i8",
        "compressor": {"id": "zlib", "level": 1},
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    return json.dumps(metadata).encode(), zlib.compress(offsets.astype("<i8").tobytes(), _LEVEL)
