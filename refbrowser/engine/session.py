"""What reads for all opened documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.resources import Resources
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

# What describes a dataset reads none of its values: what reads is imported with the first read.
if TYPE_CHECKING:
    from refbrowser.engine.reading.parts import EndedPart, Parts, Progress, ReadOptions
    from refbrowser.engine.reading.reader import Needed, Reader, ReadPlan
    from refbrowser.io.access.access import Access

#: A read of more than this share of the cache's bytes goes past the cache: it would push out the rest.
CACHE_SHARE = 8
#: Nor are so many chunks kept: what is kept of each beside its values would be more than those.
KEPT_CHUNKS = 16_384


class Session(Resources):
    """Reads selections of arrays; may be used from any thread and by many datasets."""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(
        self,
        node: ArrayNode,
        access: Access,
        selection: Selection,
        *,
        out: npt.NDArray[Any] | None = None,
        on_part: Callable[[EndedPart], None] | None = None,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
        export: bool = False,
        priority: int = 0,
        passing: bool = False,
    ) -> npt.NDArray[Any]:
        """Read a selection of an array; returns when every chunk has ended.

        Parameters
        ----------
        out
            Where the values go: shape of the selection, any type that the array's type casts to. A new array
            when None. After `Cancelled` chunks that were being decoded may still be written to it: do not
            use it for another read.
        on_part
            Called for each chunk once its values are in `out` (or it has failed), on worker threads; the
            regions of different chunks are disjoint. Failed chunks are then told, and not raised.
        cancel
            Ends the read within 200 ms.
        progress
            Called as `progress(done, total, read_bytes=..., requests=...)`, in chunks.
        export
            Try failing requests longer, and keep nothing in the cache.
        priority
            Lower goes first.
        passing
            Keep nothing in the cache.

        Raises
        ------
        RefbrowserError
            The array is not readable; `E_BUDGET`: no memory holds the selection; or, without `on_part`, a
            chunk failed: it names key, URL, range and cause.
        """
        from refbrowser.engine.reading.parts import PartTable, ReadOptions

        grid = readable_grid(node)
        if out is None:
            out = room_for(selection, node)
        elif out.shape != selection.shape:
            raise ValueError(f"an output of shape {out.shape} where {selection.shape} is expected")
        options = ReadOptions(on_part, cancel, progress, export, priority, passing)
        box, total = selection.box(out), grid.count(selection)
        self.read_parts(node, access, [PartTable(grid, selection)], box, options, total=total)
        return out

    def read_parts(
        self,
        node: ArrayNode,
        access: Access,
        batches: Iterable[Parts],
        box: npt.NDArray[Any],
        options: ReadOptions,
        *,
        total: int,
    ) -> Reader:
        """Read chosen parts of chunks into `box`, each at its target; returns what was read and how much."""
        from refbrowser.engine.reading.reader import Reader
        from refbrowser.engine.reading_kinds import reading_of

        grid = readable_grid(node)
        chunk_size = int(np.prod(grid.largest, dtype=object)) * box.dtype.itemsize
        keep = (
            not (options.export or options.passing)
            and total <= KEPT_CHUNKS
            and min(total * chunk_size, box.nbytes * 4) <= self.cache.capacity // CACHE_SHARE
        )
        reader = Reader(reading_of(node), self, access, box, options, total=total, keep=keep)
        for parts in batches:
            reader.read(parts)
        reader.tell()
        return reader

    def needs(self, node: ArrayNode, access: Access, selection: Selection) -> Needed:
        """Return which bytes a selection needs, as far as it is known where they lie; nothing is read.

        Raises
        ------
        RefbrowserError
            The array is not readable, or the selection touches too many chunks to look at.
        """
        from refbrowser.engine.reading_kinds import reading_of

        return reading_of(node).known(access, selection)

    def plan(self, node: ArrayNode, access: Access, selection: Selection) -> ReadPlan:
        """Return the requests that reading a selection needs; nothing is read.

        Raises
        ------
        RefbrowserError
            The array is not readable.
        """
        return self.needs(node, access, selection).planned(self.fetcher, access)


def check_count(node: ArrayNode, selection: Selection) -> None:
    """Raise E_BUDGET for more values than anybody can wait for, or hold, of an array of any size."""
    if selection.size > LIMITS.read_values:
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"{selection.size} values are more than the {LIMITS.read_values} of one read (read_values)",
            Place(path=node.path),
            "read a smaller selection",
        )


def room_for(selection: Selection, node: ArrayNode) -> npt.NDArray[Any]:
    """Return an array for the values of a selection; how many there are says a file.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: no memory holds them.
    """
    check_count(node, selection)
    try:
        return np.empty(selection.shape, node.dtype)
    except (MemoryError, ValueError):  # where numpy itself cannot count the bytes
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"there is no memory for {prod(selection.shape)} elements of type {node.dtype}",
            Place(path=node.path),
            "read a smaller selection",
        ) from None


def readable_grid(node: ArrayNode) -> ChunkGrid:
    """Return the chunk grid of a readable array.

    Raises
    ------
    RefbrowserError
        Why it is not readable.
    """
    for error in (node.error, node.unreadable):
        if error is not None:
            raise error
    if not node.has_manifest or node.dtype is None:
        raise RefbrowserError(ErrorKind.META, "the array has no chunks", Place(path=node.path))
    return node.grid
