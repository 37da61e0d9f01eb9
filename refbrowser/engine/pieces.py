"""What a read is asked for, and what it tells: how to read, and each chunk that has ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.grid import ChunkPart

#: Called with chunks done, chunks in all, and bytes read and requests made so far.
Progress = Callable[..., None]


class PieceState(StrEnum):
    """What became of a chunk."""

    DONE = "done"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk's part of a read, ended.

    `part.target` is where it lies in `Selection.box` of the result; a missing chunk's part holds the fill
    value, a failed one's is undefined but where `failed` tells.

    Attributes
    ----------
    failed
        Of a failed one: which of its rows could not be read, the others could; None for all.
    """

    part: ChunkPart
    state: PieceState
    error: RefbrowserError | None = None
    failed: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read.

    Attributes
    ----------
    on_piece
        Told each chunk that has ended, on a worker thread; failures are then told, not raised.
    token
        Ends the read.
    progress
        Called as `progress(done, total, read_bytes=..., requests=...)`, from worker threads.
    export
        Try failing requests longer, and keep nothing in the cache.
    priority
        Lower goes first.
    """

    on_piece: Callable[[Piece], None] | None = None
    token: CancelToken | None = None
    progress: Progress | None = None
    export: bool = False
    priority: int = 0
