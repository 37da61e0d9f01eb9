"""Sequences of a service: how many rows they have only their data tell, so these are asked for first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.cdmremote.answers import Question
from refbrowser.formats.cdmremote.naming import data_url
from refbrowser.formats.ncstream.definition import DataType, StreamDefinition
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.io.fetch import read_document
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import Inline, ReferenceKind
from refbrowser.model.values import SourcePiece

if TYPE_CHECKING:
    from refbrowser.io.access import Access
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetch import Fetcher

#: Sequences that are asked for when a service is opened; no service is known that has more than a few.
_MOST = 16


@dataclass(frozen=True, slots=True, eq=False)
class SequenceSource:
    """The rows of a sequence, from the answer that told how many there are (`ArraySource`)."""

    question: Question
    data: bytes
    rows: int

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Yield the one piece that gives the rows of a part: the sequence has one tile."""
        yield SourcePiece(
            reference=Inline(self.data),
            shape=(self.rows,),
            inside=part.inside,
            target=part.target,
            decode=self.question.values,
            name="the answer",
            place=Place(path=self.question.path),
        )

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that the tile is derived."""
        return np.full((min(self.rows, 1),), ReferenceKind.DERIVED, np.uint8)

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some tiles, shape (n, 1)."""
        return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)

    def stored(self) -> int | None:
        """Return how many tiles there are."""
        return min(self.rows, 1)


#: What became of the sequences of a service, by path.
Sequences = Mapping[str, SequenceSource | RefbrowserError]


def read_sequences(
    endpoint: str,
    definition: StreamDefinition,
    options: StreamOptions,
    access: Access,
    fetcher: Fetcher,
    token: CancelToken | None = None,
) -> Sequences:
    """Return the rows of all sequences of a service, or why they cannot be had.

    Raises
    ------
    Cancelled
        `token` was cancelled.
    """
    found: dict[str, SequenceSource | RefbrowserError] = {}
    for path, variable in definition.variables():
        if variable.type is not DataType.SEQUENCE:
            continue
        question = Question(path, variable, None, options)
        if len(found) >= _MOST:
            message = f"the service has more than {_MOST} sequences; others are not read"
            found[path] = RefbrowserError(ErrorKind.BUDGET, message)
            continue
        try:
            answer = read_document(
                data_url(endpoint, path, ()),
                access,
                fetcher=fetcher,
                cancel=token,
                size_limit=LIMITS.remote_header,
            )
            found[path] = SequenceSource(question, bytes(answer.data), len(question.values(answer.data)))
        except RefbrowserError as error:
            found[path] = error
    return found
