"""The arrays of a file: their schemas found among its members, then built."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from refbrowser.codecs.base import Bytes, Room, as_bytes
from refbrowser.codecs.pipeline import FAULTS
from refbrowser.codecs.table import decoded_alone, decompressor
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.files.container import Blob, Container
from refbrowser.wings.awkward0.layouts.building import BuildingMemory, Built
from refbrowser.wings.awkward0.layouts.functions import AllowList, ExpressionKind, SchemaDocument
from refbrowser.wings.awkward0.layouts.layouts import Layout
from refbrowser.wings.awkward0.layouts.schema import SIGNATURES, SchemaMemory, has_signature
from refbrowser.wings.awkward0.reading.naming import SCHEMA_ENDING, SchemaName, array_paths, schema_name

#: Members that are read together: how many, and their bytes.
_BATCH, _BATCH_BYTES = 4096, 32 << 20
#: How schemas begin, also those that cannot be read further.
_BEGINNING = re.compile(rb'\s*\{\s*"awkward0?"\s*:')


@dataclass(frozen=True, slots=True, eq=False)
class FoundSchema:
    """The schema of one array.

    Attributes
    ----------
    member
        Name of its blob.
    name
        Of its array.
    schema
        None where it cannot be read.
    error
        Why not.
    """

    member: str
    name: SchemaName
    schema: SchemaDocument | None = None
    error: RefbrowserError | None = None


@dataclass(slots=True)
class FoundSchemas:
    """All that was found in a container, in its order.

    Attributes
    ----------
    schemas
        Those that have a signature.
    unreadable
        Those that are named as schemas are, and whose bytes cannot be read.
    findings
        What was not looked into.
    """

    schemas: list[FoundSchema]
    unreadable: list[FoundSchema]
    findings: list[Finding]


def find_schemas(
    container: Container, token: CancelToken, progress: Callable[[int, int | None], None] | None = None
) -> FoundSchemas:
    """Return the schemas in a container.

    Members that end in ``.json`` first; then, as a schema may have any suffix (persistence notes, section 5,
    "ZIP"), the members that no schema names as a blob, as far as `AWKWARD_LIMITS.awkward_search` goes.
    """
    search = _Search(container, token, progress or (lambda done, total: None))
    named = [name for name in container.names() if name.lower().endswith(SCHEMA_ENDING)]
    search.look_into(named)
    if search.is_full or (container.kind != "zip" and not search.found.schemas):
        # Folders and HDF5 files hold anything.
        return search.found
    known = set(named)
    for names in map(blob_names, search.found.schemas):
        known.update(names)
    search.look_into(search.small(name for name in container.names() if name not in known))
    return search.found


def blob_names(found: FoundSchema) -> Iterator[str]:
    """Yield the names of all blobs that a schema reads, with and without the folder that it is in."""
    schema = found.schema
    for expression in () if schema is None else schema.expressions:
        if expression.kind is ExpressionKind.READ and schema is not None:
            name = expression.value if expression.is_absolute else schema.prefix + expression.value
            yield name
            yield found.name.base + name


class _Search:
    def __init__(
        self, container: Container, token: CancelToken, progress: Callable[[int, int | None], None]
    ) -> None:
        self._container = container
        self._token = token
        self._progress = progress
        self.found = FoundSchemas([], [], [])
        self.is_full = False
        self._kept = 0
        self._schemas = SchemaMemory()

    def small(self, names: Iterable[str]) -> list[str]:
        """Return those that are small enough to be schemas, while there is room."""
        left = AWKWARD_LIMITS.awkward_search
        chosen = []
        for name in names:
            blob = self._container.find(name)
            if (
                blob is None
                or blob.error is not None
                or max(blob.size, blob.stored) > AWKWARD_LIMITS.awkward_schema
            ):
                continue
            left -= max(blob.size, blob.stored)
            if left < 0:
                message = (
                    f"schemas were searched for in {AWKWARD_LIMITS.awkward_search} bytes of members only"
                )
                self._warn(f"{message} (awkward_search)")
                break
            chosen.append(name)
        return chosen

    def look_into(self, names: Sequence[str]) -> None:
        """Read members and keep the schemas among them; a great many bytes without any are enough."""
        done = seen = 0
        for batch, size in self._batches(names):
            self._token.check()
            answers = self._container.read(batch, AWKWARD_LIMITS.awkward_schema)
            for name in batch:
                answer = answers.get(name)
                if answer is not None and not self._has_room(answer):
                    return
                if answer is not None:
                    self._judge(name, answer)
            done += len(batch)
            seen += size
            self._progress(done, len(names))
            if seen > AWKWARD_LIMITS.awkward_search and not self.found.schemas:
                return

    def _batches(self, names: Sequence[str]) -> Iterator[tuple[list[str], int]]:
        """Yield members that are read together, and their bytes."""
        batch: list[str] = []
        size = 0
        for name in names:
            blob = self._container.find(name)
            own = 0 if blob is None else min(max(blob.size, blob.stored), AWKWARD_LIMITS.awkward_schema)
            if batch and (len(batch) >= _BATCH or size + own > _BATCH_BYTES):
                yield batch, size
                batch, size = [], 0
            batch.append(name)
            size += own
        if batch:
            yield batch, size

    def _has_room(self, answer: bytes | RefbrowserError) -> bool:
        """Tell whether one more schema may be kept; what is left out is told once."""
        if len(self.found.schemas) >= AWKWARD_LIMITS.awkward_arrays:
            self._warn(f"only the first {AWKWARD_LIMITS.awkward_arrays} arrays are shown (awkward_arrays)")
            self.is_full = True
        elif self._kept + len(answer if isinstance(answer, bytes) else b"") > AWKWARD_LIMITS.awkward_schemas:
            self._warn(
                f"all schemas have more than {AWKWARD_LIMITS.awkward_schemas} bytes: only the first "
                f"{len(self.found.schemas)} arrays are shown (awkward_schemas)"
            )
            self.is_full = True
        return not self.is_full

    def _judge(self, name: str, answer: bytes | RefbrowserError) -> None:
        if isinstance(answer, RefbrowserError):
            if name.lower().endswith(SCHEMA_ENDING):
                self.found.unreadable.append(FoundSchema(name, schema_name(name, ""), error=answer))
            return
        if not has_signature(answer):
            return
        try:
            schema = self._schemas.read(answer, name=name, place=Place(url=self._container.url, key=name))
        except RefbrowserError as error:
            if _was_meant(answer, error):
                self.found.schemas.append(FoundSchema(name, schema_name(name, ""), error=error))
            return
        self._kept += len(answer)
        self.found.schemas.append(FoundSchema(name, schema_name(name, schema.prefix), schema))

    def _warn(self, message: str) -> None:
        place = Place(url=self._container.url)
        self.found.findings.append(
            Finding(severity=Severity.WARNING, kind=ErrorKind.BUDGET, message=message, place=place)
        )


def _was_meant(data: bytes, error: RefbrowserError) -> bool:
    """Tell whether what could not be read was meant to be a schema, and not other JSON with these words."""
    if error.kind is not ErrorKind.SCHEMA:
        return _BEGINNING.match(data) is not None
    top = json.loads(data)
    return isinstance(top, dict) and any(each in top for each in SIGNATURES)


#: Unpacked bytes that are counted together.
_BLOCK = 1 << 20


class DecodedSizes:
    """Counts the bytes of blobs of one container."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._known: dict[tuple[str, tuple[str, ...]], int | RefbrowserError] = {}
        self._stored_left = AWKWARD_LIMITS.awkward_measured
        self._left = LIMITS.chunk_size

    def size(self, blob: Blob, codecs: tuple[str, ...]) -> int:
        """Return the bytes that a blob unpacks to.

        Parameters
        ----------
        codecs
            In the order of decoding.

        Raises
        ------
        RefbrowserError
            It cannot be read or unpacked; `E_BUDGET`: that is too much to be found out.
        """
        key = blob.name, codecs
        if key not in self._known:
            try:
                self._known[key] = self._measured(blob, codecs)
            except RefbrowserError as error:
                self._known[key] = error
        known = self._known[key]
        if isinstance(known, RefbrowserError):
            raise known.at(known.place)
        return known

    def _measured(self, blob: Blob, codecs: tuple[str, ...]) -> int:
        if blob.size > self._stored_left:
            message = "the length of a compressed blob is known only once it is unpacked, and more than "
            message += f"{AWKWARD_LIMITS.awkward_measured} bytes of such are not read (awkward_measured)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        self._stored_left -= blob.size
        answer = self._container.read([blob.name], blob.size).get(blob.name)
        if not isinstance(answer, bytes):
            raise answer or RefbrowserError(ErrorKind.RANGE, f"there is no blob {quoted(blob.name)}")
        try:
            data = as_bytes(answer)
            for name in codecs[:-1]:
                data = decoded_alone(name, data, Room(None, self._left))
            size = self._unpacked_size(codecs[-1], data)
        except FAULTS as error:
            message = f"blob {quoted(blob.name)} cannot be decoded: {quoted(error)}"
            raise RefbrowserError(ErrorKind.DECODE, message) from None
        self._left -= size
        return size

    def _unpacked_size(self, codec: str, data: Bytes) -> int:
        stream = decompressor(codec)
        if stream is None:
            return len(decoded_alone(codec, data, Room(None, self._left)))
        size, rest = 0, data.tobytes()
        while True:
            try:
                while not stream.eof:
                    made = stream.decompress(rest, _BLOCK)
                    rest = stream.unconsumed_tail if codec == "zlib" else b""
                    size += len(made)
                    if size > self._left:
                        message = f"blobs without a count unpack to more than {LIMITS.chunk_size} bytes"
                        raise RefbrowserError(ErrorKind.BUDGET, f"{message} (chunk_size)")
                    if not made and not rest and not stream.eof:
                        raise EOFError("it ends early")
            except (OSError, lzma.LZMAError):
                # What follows a whole stream and is none is left out, as Python does.
                if not size:
                    raise
                return size
            rest = stream.unused_data
            if codec == "zlib" or not rest:
                return size
            stream = decompressor(codec)


#: Arrays between two looks at the token.
_PAGE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Awkward0Array:
    """One array of a file.

    Attributes
    ----------
    name
        As a listing of the container gives it; may be empty.
    path
        Where it is shown: ``/one``.
    member
        Name of the blob that its schema is.
    schema
        None where it cannot be read.
    built
        What is made of it; None where nothing can be.
    error
        Why the whole of it cannot be read.
    """

    name: str
    path: str
    member: str
    schema: SchemaDocument | None = None
    built: Built | None = None
    error: RefbrowserError | None = None

    @property
    def layout(self) -> Layout | None:
        """What the root expression builds."""
        return None if self.built is None else self.built.layout


def build_arrays(
    container: Container, found: Sequence[FoundSchema], allowed: AllowList, token: CancelToken
) -> tuple[Awkward0Array, ...]:
    """Return the arrays of schemas that were found; one that cannot be built has its error."""
    arrays = []
    paths = array_paths(each.name.array for each in found)
    memory = BuildingMemory(allowed, DecodedSizes(container).size)
    for number, (each, path) in enumerate(zip(found, paths, strict=True)):
        if number % _PAGE == 0:
            token.check()
        arrays.append(_array(container, each, path, memory))
    return tuple(arrays)


def _array(container: Container, found: FoundSchema, path: str, memory: BuildingMemory) -> Awkward0Array:
    name, member, schema = found.name.array, found.member, found.schema
    if schema is None:
        return Awkward0Array(name, path, member, error=found.error)
    try:
        built = memory.built(schema, blob_finder(container, found.name))
    except RefbrowserError as error:
        place = replace(error.place or Place(url=container.url, key=member), path=path)
        return Awkward0Array(name, path, member, schema, error=error.at(place))
    return Awkward0Array(name, path, member, schema, built)


def blob_finder(container: Container, name: SchemaName) -> Callable[[str], Blob | None]:
    """Return what finds the blobs of an array by the names in its schema.

    Files that were put into a folder before they were packed are found in that.
    """
    if not name.base:
        return container.find
    return lambda blob: container.find(name.base + blob) or container.find(blob)
