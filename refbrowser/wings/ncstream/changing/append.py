"""Appending to a stream: values and changed attributes behind its last message, in place and never torn."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.metadata import described
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.block_sides import Box, boxes
from refbrowser.exporting.work_ahead import in_order
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import LocalBytes
from refbrowser.io.files.atomic import extend_file
from refbrowser.io.origins import local_path
from refbrowser.wings.ncstream.changing.definition_trees import with_chosen, with_members
from refbrowser.wings.ncstream.changing.growth import Addition, Growth, attribute_growth, growth_of
from refbrowser.wings.ncstream.changing.soundness import check_sound, payload_faults
from refbrowser.wings.ncstream.reading.definition import StreamDefinition, StreamType
from refbrowser.wings.ncstream.reading.magics import END, START
from refbrowser.wings.ncstream.reading.messages import Payload, StreamIndex
from refbrowser.wings.ncstream.reading.opening import StreamOrigin, open_stream
from refbrowser.wings.ncstream.reading.splicing import Spliced
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.writing.definition_of import StreamedDataset, StreamedVariable, definition_of
from refbrowser.wings.ncstream.writing.encoding import Buffer, data_message, header_message
from refbrowser.wings.ncstream.writing.stream_options import StreamOptions
from refbrowser.wings.ncstream.writing.stream_plan import Block, StreamBlockReader, VariablePlan, planned

#: Blocks that are read and encoded while others are written.
_AHEAD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """How the values of one variable are sent.

    Attributes
    ----------
    streamed
        The variable as the stream has it, and the array that its values come from.
    origin
        Where the first element goes, by dimension.
    level
        Of deflate; None for elements that are stored plain.
    checksum
        Tell the CRC-32 of each payload.
    sends_missing
        Send what is missing in the source too, because something else may stand there.
    """

    streamed: StreamedVariable
    origin: tuple[int, ...] = ()
    level: int | None = None
    checksum: bool = True
    sends_missing: bool = False


def messages_of(dataset: Dataset, sending: Sending, token: CancelToken) -> Iterator[list[Buffer]]:
    """Yield the data messages of a variable, each as a list of buffers.

    Raises
    ------
    RefbrowserError
        Values cannot be read, or have no form in a message.
    """
    codec = "none" if sending.level is None else f"zlib:{sending.level}"
    node = sending.streamed.node
    plan = planned(sending.streamed, node, None, StreamOptions(codec=codec))
    reader = StreamBlockReader(dataset.session, dataset.access, plan, token)

    def made(box: Box) -> list[list[Buffer]]:
        block = reader.read(box)
        if block.errors:
            raise block.errors[0]
        return list(_messages(sending, plan, block))

    for messages in in_order(made, boxes(plan.shape, plan.block), _AHEAD, token):
        yield from messages


def _messages(sending: Sending, plan: VariablePlan, block: Block) -> Iterator[list[Buffer]]:
    """Yield the messages for the tiles of a block."""
    variable, path = sending.streamed.variable, sending.streamed.path
    if variable.type is StreamType.SEQUENCE:
        yield data_message(path, variable, (), block.values)
        return
    sides = tuple(part.stop - part.start for part in block.box)
    tile = tuple(max(1, min(side, most)) for side, most in zip(plan.tile, sides, strict=True))
    for inside in boxes(sides, tile):
        unit = tuple(part.start // side for part, side in zip(inside, tile, strict=True))
        if plan.leaves_out and not sending.sends_missing and not block.state.stored(unit):
            continue
        index: tuple[Any, ...] = (*inside, ...)
        yield data_message(
            path,
            variable,
            _section(sending, block.box, inside),
            block.values[index],
            level=plan.level if variable.type.dtype is not None else None,
            checksum=sending.checksum,
        )


def _section(sending: Sending, box: Sequence[slice], inside: Sequence[slice]) -> tuple[range, ...]:
    """Return which elements of the variable a tile gives; axes of their own come last."""
    shape = sending.streamed.variable.shape
    origin = sending.origin or (0,) * len(shape)
    taken = [
        range(first + outer.start + part.start, first + outer.start + part.stop)
        for first, outer, part in zip(origin, box, inside, strict=False)
    ]
    return (*taken, *(range(length) for length in shape[len(taken) :]))


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendRequest:
    """What is appended, and how.

    Attributes
    ----------
    along
        Name or path of the dimension that gets longer; None takes the only unlimited one of both.
    overwrite
        Lay the values over those of the stream, instead of behind them.
    arrays
        Paths of the arrays of the source that are taken; all when None.
    level
        Of deflate, 0 for none; None does as the stream does.
    force
        Drop what stands behind the end of the stream.
    """

    along: str | None = None
    overwrite: bool = False
    arrays: tuple[str, ...] | None = None
    level: int | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendReport:
    """What was appended.

    Attributes
    ----------
    messages, written_bytes
        Added to the stream.
    along, before, after
        The dimension that got longer, and its lengths; None where none did.
    added
        Variables with new values.
    kept
        Variables of both whose values are as the stream had them.
    unfilled
        Variables of the stream that got longer and hold their fill value there.
    changed
        Attributes that are new or other ones, as ``/temp@units``.
    notes
        What the stream cannot say, or says in another way.
    """

    target: str
    messages: int = 0
    written_bytes: int = 0
    along: str | None = None
    before: int = 0
    after: int = 0
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    unfilled: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def append_to(
    path: str | os.PathLike[str],
    dataset: Dataset,
    request: AppendRequest | None = None,
    control: JobControl | None = None,
) -> AppendReport:
    """Append the values of a dataset to a stream; of the stream itself, edited, the changed attributes.

    The end of the file is written behind what is there. Readers see all of it or nothing: the first bytes,
    which take the place of END, are written last, when the rest is on the disk and was read again.

    Raises
    ------
    RefbrowserError
        The stream is no local file, or is damaged; the dataset does not fit it, or cannot be read or
        written. The stream is as it was.
    Cancelled
        The control's token was cancelled; the stream is as it was.
    """
    request, control = request or AppendRequest(), control or JobControl()
    local = local_path(os.fspath(path))
    if local is None:
        message = "only local files can be appended to"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=os.fspath(path)))
    with LocalBytes(local) as source:
        index = walk_stream(source, url=source.path, token=control.token)
        check_sound(index, force=request.force)
        appending = _Appending(source, index, dataset, request, control)
        return appending.report(os.fspath(path))


class _Appending:
    """One append: planned when it is made."""

    def __init__(
        self,
        source: LocalBytes,
        index: StreamIndex,
        dataset: Dataset,
        request: AppendRequest,
        control: JobControl,
    ) -> None:
        self._source = source
        self._index = index
        self._dataset = dataset
        self._request = request
        self._control = control
        self._written = 0
        self._messages = 0
        self._streamed, self._growth = self._planned()
        self._total = len(self._growth.additions)

    def _planned(self) -> tuple[StreamedDataset, Growth]:
        dataset, stream = self._dataset, self._index.definition
        streamed = definition_of(dataset.hierarchy)
        origin = dataset.document.made_from(StreamOrigin)
        if origin is not None and origin.path == self._source.path:
            return streamed, attribute_growth(stream, self._unedited(origin), streamed.definition)
        if origin is not None:
            streamed = replace(streamed, definition=with_members(streamed.definition, origin.definition))
        if self._request.arrays is not None:
            paths = {dataset[each].path for each in self._request.arrays}
            chosen = tuple(each for each in streamed.variables if each.node.path in paths)
            left_out = tuple(each for each in streamed.left_out if each.place.path in paths)
            definition = with_chosen(streamed.definition, {each.path for each in chosen})
            streamed = replace(streamed, definition=definition, variables=chosen, left_out=left_out)
        for error in streamed.left_out:
            raise error
        along, overwrite = self._request.along, self._request.overwrite
        return streamed, growth_of(stream, streamed.definition, along, overwrite=overwrite)

    def _unedited(self, origin: StreamOrigin) -> StreamDefinition:
        """Return what the stream says without the edits of the dataset."""
        dataset, token = self._dataset, self._control.token
        document = open_stream(
            self._source.path, dataset.access, dataset.session.fetcher, options=origin.options, token=token
        )
        hierarchy, _ = described(document, dataset.access, dataset.session, token, {})
        return definition_of(hierarchy).definition

    def report(self, path: str) -> AppendReport:
        """Write everything and tell what was done."""
        growth, size, blocks = self._growth, self._end, self._blocks()
        # Variables without elements, or whose source has none of theirs, add nothing.
        if (first := next(blocks, None)) is not None:
            extend_file(
                self._source.path,
                size,
                END,
                chain((first,), blocks),
                expected=self._source.identity,
                check=self._check,
                cancel=self._control.token,
            )
        losses = (f"{loss.path}: {loss.what}" for loss in self._streamed.losses)
        return AppendReport(
            target=path,
            messages=self._messages,
            written_bytes=self._written,
            along=growth.along,
            before=growth.before,
            after=growth.after,
            added=tuple(each.path for each in growth.additions),
            kept=growth.kept,
            unfilled=growth.unfilled,
            changed=growth.changed,
            notes=(*growth.notes, *(losses if growth.additions else ())),
        )

    @property
    def _end(self) -> int:
        """Where the last message ends."""
        table = self._index.table
        return int(table.stop[-1]) if len(table) else len(START)

    def _blocks(self) -> Iterator[Buffer]:
        if self._growth.header is not None:
            yield from self._counted([header_message(self._growth.header)])
        for done, addition in enumerate(self._growth.additions):
            self._control.progress(done, self._total, note=addition.path)
            for message in messages_of(self._dataset, self._sending(addition), self._control.token):
                yield from self._counted(message)

    def _counted(self, message: list[Buffer]) -> Iterator[Buffer]:
        self._messages += 1
        for buffer in message:
            self._written += len(buffer)
            yield buffer

    def _sending(self, addition: Addition) -> Sending:
        found = self._streamed.find(addition.path)
        assert found is not None
        return Sending(
            streamed=replace(found, variable=addition.variable),
            origin=addition.origin,
            level=self._level(addition.path),
            sends_missing=self._request.overwrite,
        )

    def _level(self, path: str) -> int | None:
        """Return the level of deflate of a variable: as its last message is stored, where nothing is said."""
        if self._request.level is not None:
            return self._request.level or None
        table = self._index.table
        numbers = self._index.of_variable(path)
        regular = numbers[table.payload[numbers] == Payload.REGULAR]
        return 6 if len(regular) and table.deflated[regular[-1]] else None

    def _check(self, first: bytes, stop: int) -> None:
        """Read what was written as readers will."""
        before, token = self._index, self._control.token
        with LocalBytes(self._source.path) as file:
            made = Spliced(file, [(0, self._end), first, (self._end + len(first), stop)])
            again = walk_stream(made, url=before.url, token=token, resume=before)
            count = len(again.table) - len(before.table)
            wrong = list(payload_faults(again, made, JobControl(token), first=len(before.table)))
        bad = bool(np.any(again.table.fault[len(before.table) :])) or any(wrong)
        if count != self._messages or bad or not again.has_end:
            message = "verification failed: what was written does not read back"
            where = Place(path=self._source.path)
            raise RefbrowserError(ErrorKind.IO, message, where, "the stream is as it was; check the disk")
