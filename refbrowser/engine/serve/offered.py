"""One state of a dataset as CDM Remote offers it: its description, and the sections that are asked for."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from refbrowser.engine.nested.streamable import with_streamable
from refbrowser.engine.serve.data import Message, SectionSource
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.cdmremote.spec import requests_in, spellings_of
from refbrowser.formats.ncstream.definition_of import StreamedDataset, definition_of
from refbrowser.formats.ncstream.elements import is_ragged
from refbrowser.formats.ncstream.encoding import Buffer, header_message
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.formats.ncstream.definition import StreamDefinition
    from refbrowser.io.cancel import CancelToken

#: Parts of an answer that are there before its head is sent: those before the values, and the first of them.
_FIRST = 3


class Offered:
    """A dataset that is offered; its description is made when it is first asked for. Thread-safe."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._lock = threading.Lock()
        self._made: tuple[StreamedDataset, dict[str, str]] | None = None
        self._header: bytes | None = None

    def described(self) -> StreamedDataset:
        """Return what is said of the dataset, and what of it is not as it was."""
        return self._described()[0]

    def definition(self) -> StreamDefinition:
        """Return the description of the dataset."""
        return self.described().definition

    def header(self) -> bytes:
        """Return the description as a header message."""
        if self._header is None:
            self._header = header_message(self.definition())
        return self._header

    def data(self, text: str, level: int, token: CancelToken) -> tuple[int, Iterator[Buffer]]:
        """Return the bytes of the data messages that a request asks for, after their number.

        The first values were read when this returns: what cannot be read is told by an error, as far as
        possible. Later ones are read as they are sent.

        Parameters
        ----------
        text
            Names and sections, as in ``var=``.
        level
            Of deflate, 0 for none.

        Raises
        ------
        RefbrowserError
            The request is malformed or too large, or what it asks for cannot be read.
        Cancelled
            `token` was cancelled.
        """
        streamed, spellings = self._described()
        variables = {each.path: each for each in streamed.variables}
        sources = []
        for request in requests_in(text, spellings):
            each = variables[request.path]
            section = request.ranges(each.variable.shape, is_ragged=is_ragged(each.variable))
            sources.append(SectionSource(self.dataset, each, section, token))
        # Deflated they may be few: reading and deflating them is what takes long.
        if level and sum(each.decoded for each in sources) > LIMITS.serve_answer:
            what = f"more than {LIMITS.serve_answer} bytes (serve_answer) are to be deflated"
            raise RefbrowserError(ErrorKind.BUDGET, what, advice="ask for less at once")
        messages: list[Message] = []
        total = held = 0
        for source in sources:
            message = source.message(level)
            messages.append(message)
            total, held = total + message.length, held + message.held
            if total > LIMITS.serve_answer or held > LIMITS.serve_whole:
                limit = "serve_whole" if held > LIMITS.serve_whole else "serve_answer"
                what = f"an answer of more than {getattr(LIMITS, limit)} bytes ({limit}) is asked for"
                raise RefbrowserError(ErrorKind.BUDGET, what, advice="ask for less at once")
        return total, _begun(chain.from_iterable(message.parts for message in messages))

    def _described(self) -> tuple[StreamedDataset, dict[str, str]]:
        with self._lock:
            if self._made is None:
                hierarchy, left_out = with_streamable(self.dataset.hierarchy)
                # Readers of this protocol have no sequences.
                made = definition_of(hierarchy, sequences=False)
                made = replace(made, left_out=(*made.left_out, *left_out))
                made = replace(made, definition=replace(made.definition, location=name_of(self.dataset)))
                self._made = made, spellings_of(each.path for each in made.variables)
            return self._made


def name_of(dataset: Dataset) -> str:
    """Return the last part of the name of what was opened: clients need not know where that is."""
    return PurePosixPath(re.split("[?#]", dataset.path)[0].replace("\\", "/")).name or "dataset"


def _begun(parts: Iterator[Buffer]) -> Iterator[Buffer]:
    """Return an iterator of which the first items are there already."""
    first = list(islice(parts, _FIRST))
    return chain(first, parts)
