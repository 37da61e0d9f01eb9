"""Compacting streams: one header, each element sent once, messages of a good size, checksums."""

from __future__ import annotations

import os
from collections.abc import Collection, Set
from dataclasses import dataclass, replace

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.exporting.exporter import Exporter
from refbrowser.exporting.request import ExportRequest
from refbrowser.findings.finding import Finding
from refbrowser.formats.registry import STREAM
from refbrowser.io.fetching.byte_sources import ByteSource
from refbrowser.model.nodes import ArrayNode
from refbrowser.wings.ncstream.changing.soundness import check_sound, message_faults
from refbrowser.wings.ncstream.reading.definition import StreamDimension, StreamGroup, StreamVariable
from refbrowser.wings.ncstream.reading.elements import STRUCTURES, PayloadError, stored_dtype_of
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin
from refbrowser.wings.ncstream.reading.sections import written_anew
from refbrowser.wings.ncstream.reading.splicing import copied, opened_bytes
from refbrowser.wings.ncstream.writing.definition_of import StreamedDataset, StreamedVariable
from refbrowser.wings.ncstream.writing.message_writing import StreamRun
from refbrowser.wings.ncstream.writing.stream_options import StreamOptions
from refbrowser.wings.ncstream.writing.stream_target import StreamTarget


def with_declared(group: StreamGroup, above: Set[str] = frozenset()) -> StreamGroup:
    """Return a group that has every shared dimension of its variables itself, or above it.

    One whose name already means another length becomes private.

    Parameters
    ----------
    above
        Names of the dimensions of the groups that it is in.
    """
    dimensions = dict(group.dimensions)
    variables = {name: _variable(each, dimensions, above) for name, each in group.variables.items()}
    seen = above | dimensions.keys()
    groups = {name: with_declared(each, seen) for name, each in group.groups.items()}
    return replace(group, dimensions=dimensions, variables=variables, groups=groups)


def _variable(
    variable: StreamVariable, dimensions: dict[str, StreamDimension], above: Set[str]
) -> StreamVariable:
    shape = []
    for each in variable.dimensions:
        if each.name and not (each.is_private or each.is_vlen or each.name in above):
            known = dimensions.setdefault(each.name, each)
            shape.append(each if known.length == each.length else replace(each, is_private=True))
        else:
            shape.append(each)
    return replace(variable, dimensions=tuple(shape))


#: Messages of arrays of more chunks are not made anew: nearly all would be of what was never sent.
_MOST_CHUNKS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactRequest:
    """How a stream is written anew.

    Attributes
    ----------
    target
        The file to be made; it may be the stream itself, with `force`.
    level
        Of deflate, 0 for none; None deflates what is deflated.
    checksum
        Tell the CRC-32 of each payload.
    tile_size
        Bytes of the elements of one message, at most; None for the usual.
    force
        Replace the target.
    """

    target: str
    level: int | None = None
    checksum: bool = True
    tile_size: int | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactReport:
    """What became of a stream.

    Attributes
    ----------
    messages_before, bytes_before
        Of the stream as it was.
    messages, written_bytes
        Of the stream as it is, the header among them.
    verified
        Messages that were read again and compared.
    notes
        What else is to be known.
    """

    target: str
    messages_before: int
    bytes_before: int
    messages: int
    written_bytes: int
    verified: int
    notes: tuple[str, ...] = ()


def compact(dataset: Dataset, request: CompactRequest, control: JobControl | None = None) -> CompactReport:
    """Write an opened stream anew; what is not sent stays so, and values stay the same.

    Edits of the dataset are not written: append them first.

    Raises
    ------
    RefbrowserError
        It is no stream, or is damaged; the target exists or cannot be written, or verification failed: then
        the target is as it was.
    Cancelled
        The control's token was cancelled; the target is as it was.
    """
    origin = dataset.document.made_from(StreamOrigin)
    if origin is None:
        message = "only message streams can be compacted"
        advice = "export it to ncstream"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=dataset.path), advice)
    check_sound(origin.index)
    export = Exporter(dataset, _export_request(request), _CompactTarget)
    report = export.run(control or JobControl(), lambda error: True)
    return CompactReport(
        target=request.target,
        messages_before=len(origin.index.table),
        bytes_before=origin.index.size,
        messages=report.chunks + 1,
        written_bytes=report.written_bytes,
        verified=report.verified,
        notes=tuple(f"{loss.path}: {loss.what}" for loss in report.losses),
    )


def _export_request(request: CompactRequest) -> ExportRequest:
    options = StreamOptions(checksum=request.checksum)
    if request.level is not None:
        options = replace(options, codec=f"zlib:{request.level}" if request.level else "none")
    if request.tile_size is not None:
        options = replace(options, tile_size=request.tile_size)
    target = os.fspath(request.target)
    return ExportRequest(target, STREAM.name, force=request.force, options=options)


class _CompactTarget(StreamTarget):
    """A stream whose header says what its headers said together."""

    def described(self) -> StreamedDataset:
        """Return the definition as it is, but for values that stood in it: they become messages."""
        variables, left_out = [], []
        for path, variable in self._origin.definition.variables():
            node = self.dataset.hierarchy.find(path)
            if not isinstance(node, ArrayNode):
                message = "the variable cannot be read: its name is used by something else"
                left_out.append(RefbrowserError(ErrorKind.META, message, Place(path=path)))
                continue
            error = node.error or node.unreadable
            if error is not None:
                left_out.append(error)
            elif not self._stays(path, variable, node):
                variables.append(StreamedVariable(path=path, variable=variable, node=node))
        kept = {each.path for each in variables}
        stay = {path for path, _ in self._origin.definition.variables()} - kept
        definition = written_anew(self._origin.definition, stay)
        return StreamedDataset(
            definition=replace(definition, root=with_declared(_without_values(definition.root, "/", kept))),
            variables=tuple(variables),
            left_out=tuple(left_out),
        )

    @property
    def _origin(self) -> StreamOrigin:
        origin = self.dataset.document.made_from(StreamOrigin)
        assert origin is not None
        return origin

    def _stays(self, path: str, variable: StreamVariable, node: ArrayNode) -> bool:
        """Tell whether the messages of a variable stay as they are.

        Those of an array of which nearly nothing was sent, or something was lost before it was repaired, and
        of structures that only columns can hold.
        """
        if node.grid.size > _MOST_CHUNKS or self._origin.layouts.by_path[path].lost is not None:
            return True
        try:
            return variable.type in STRUCTURES and not stored_dtype_of(variable.members)
        except PayloadError:
            return True

    def write_data(self, run: StreamRun) -> None:
        """Write the data messages; those that stay are copied."""
        super().write_data(run)
        made = {plan.streamed.path for plan in self.plans}
        index, options, session = self._origin.index, self._origin.options, self.dataset.session
        last = len(index.table) if options.until is None else options.until + 1
        with opened_bytes(index.url, run.access, session.fetcher, run.token) as source:
            for path, variable in self._origin.definition.variables():
                numbers = index.of_variable(path)
                for number in [] if path in made else numbers[numbers < last].tolist():
                    for fault in message_faults(index, source, number, variable):
                        _tell(index.finding(fault), run)
                    self._copy(run, source, path, number)

    def _copy(self, run: StreamRun, source: ByteSource, path: str, number: int) -> None:
        run.token.check()
        table = self._origin.index.table
        start, payload = int(table.offset[number]), int(table.payload_offset[number])
        head = list(copied(source, start, payload))
        stop = int(table.stop[number])
        run.file.whole(path, table.ranges(number), head, copied(source, payload, stop))
        run.tally.chunks += 1
        run.tally.copied += 1


def _tell(finding: Finding, run: StreamRun) -> None:
    """Raise what makes a message that would be copied unreadable; note all else."""
    if finding.severity is Severity.FAULT:
        raise finding.error()
    run.access.memory.warn(finding)


def _without_values(group: StreamGroup, path: str, made: Collection[str]) -> StreamGroup:
    """Return a group without the values of variables for which messages are made."""
    prefix = path.rstrip("/") + "/"
    return replace(
        group,
        variables={
            name: replace(each, immediate=None) if prefix + name in made else each
            for name, each in group.variables.items()
        },
        groups={name: _without_values(below, prefix + name, made) for name, below in group.groups.items()},
    )
