"""One read of parts of an array: what it is given, what has ended of it, and who is told."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from refbrowser.engine.chunk_log import ArrayLog
from refbrowser.engine.part_table import Parts
from refbrowser.engine.pieces import Piece, PieceState, ReadOptions
from refbrowser.engine.resources import Resources
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import ChunkManifest

if TYPE_CHECKING:
    from refbrowser.io.access import Access

#: Chunks that are planned together.
BATCH = 16_384


class PartReader(ABC):
    """One read of parts of one array into one box.

    Parameters
    ----------
    box
        The result with all axes kept (`Selection.box`); parts write at their `target`.
    total
        Number of parts, for the progress.
    keep
        Whether decoded chunks go to the cache.
    """

    def __init__(
        self,
        session: Resources,
        node: ArrayNode,
        access: Access,
        box: npt.NDArray[Any],
        options: ReadOptions,
        *,
        total: int,
        keep: bool,
    ) -> None:
        self.session = session
        self.node = node
        self.manifest: ChunkManifest = node.manifest
        self.access = access
        self.box = box
        self.options = options
        self.keep = keep
        self.total = total
        self.done = 0
        self.read_bytes = 0
        self.requests = 0
        self.error: RefbrowserError | None = None
        self.token = CancelToken()
        #: Where the chunks of this read are noted; those of exports are not.
        self.log: ArrayLog | None = None
        if not options.export:
            ndim = len(self.manifest.grid_shape)
            self.log = session.chunk_log.of(access.memory, node.path, ndim)
        self._lock = threading.Lock()

    def read(self, parts: Parts) -> None:
        """Read all `parts`.

        Raises
        ------
        RefbrowserError
            Without `on_piece`: the first chunk that failed.
        Cancelled
            The token of the options was cancelled.
        """
        outer = self.options.token
        forget = outer.on_cancel(self.token.cancel) if outer is not None else None
        try:
            for start in range(0, len(parts), BATCH):
                self.run_batch(parts, start, min(start + BATCH, len(parts)))
        except BaseException as end:
            self.token.cancel()
            if self.error is None or not isinstance(end, Cancelled):
                raise
        finally:
            if forget is not None:
                forget()
        if self.error is not None:
            raise self.error

    @abstractmethod
    def run_batch(self, parts: Parts, start: int, stop: int) -> None:
        """Read the parts from `start` to `stop`; returns when each has ended."""

    def region(self, part: ChunkPart) -> npt.NDArray[Any]:
        """Return the view of the result that a part fills."""
        index: tuple[Any, ...] = (*part.target, ...)
        return self.box[index]

    def ended(self, piece: Piece) -> None:
        """Tell one chunk; remember the first failure where nobody wants to be told."""
        if self.options.on_piece is not None:
            if not self.token.cancelled:
                self.options.on_piece(piece)
        elif piece.state is PieceState.FAILED and self.error is None:
            self.error = piece.error
        self.count()

    def count(self) -> None:
        """Count one chunk that has ended, where anybody wants to know."""
        if self.options.progress is not None:
            with self._lock:
                self.done += 1
            self.tell()

    def check(self) -> None:
        """Raise `Cancelled` once a chunk has failed and nobody was told."""
        if self.error is not None:
            raise Cancelled

    def tell(self) -> None:
        """Tell the progress."""
        if self.options.progress is not None:
            self.options.progress(self.done, self.total, read_bytes=self.read_bytes, requests=self.requests)
