"""Blobs while they grow and where they go; which are compressed, and the expressions that name them."""

from __future__ import annotations

import bz2
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

#: Bytes that are taken from a spool at once.
PORTION = 4 * 1024 * 1024

#: Opens an empty file that can be written, and read again; it is gone when it is closed.
OpenSpool = Callable[[], BinaryIO]


class Sink(Protocol):
    """A container that is being written: named blobs, each once."""

    def put(self, name: str, portions: Iterable[bytes], most: int) -> None:
        """Write a blob whole.

        Parameters
        ----------
        most
            No more bytes than these.

        Raises
        ------
        OSError
            It cannot be written.
        """
        ...


class MemorySink(dict[str, bytes]):
    """A mapping of names to bytes."""

    def put(self, name: str, portions: Iterable[bytes], most: int) -> None:
        """Keep a blob."""
        self[name] = b"".join(portions)


@dataclass(frozen=True, slots=True)
class PutBlob:
    """What was put: to be found again.

    Attributes
    ----------
    crc
        CRC-32 of the bytes as they were put.
    """

    name: str
    size: int
    crc: int


class Recorder:
    """A sink that hands on to another one, and takes note of what it was given."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.blobs: list[PutBlob] = []

    def put(self, name: str, portions: Iterable[bytes], most: int) -> None:
        """Write a blob whole."""
        size = crc = 0

        def noted() -> Iterator[bytes]:
            nonlocal size, crc
            for portion in portions:
                size, crc = size + len(portion), zlib.crc32(portion, crc)
                yield portion

        self._sink.put(name, noted(), most)
        self.blobs.append(PutBlob(name, size, crc))


class GrowingBlob:
    """Bytes that are added portion by portion, on disk where they are many."""

    def __init__(self, open_spool: OpenSpool) -> None:
        self._open = open_spool
        self._spool: BinaryIO | None = None
        self.size = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """Add the elements of an array in C order."""
        if values.dtype.itemsize and values.size:
            data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
            if self._spool is None:
                self._spool = self._open()
            self._spool.write(data)
            self.size += len(data)

    def portions(self) -> Iterator[bytes]:
        """Yield all bytes from the start."""
        if self._spool is not None:
            self._spool.seek(0)
            while portion := self._spool.read(PORTION):
                yield portion


Spec = tuple[str, ...]
#: What people call the item types.
ITEM_TYPES: dict[str, type] = {
    "any": object,
    "bool": np.bool_,
    "integer": np.integer,
    "signed": np.signedinteger,
    "unsigned": np.unsignedinteger,
    "floating": np.floating,
    "complex": np.complexfloating,
    "number": np.number,
    "datetime": np.datetime64,
    "timedelta": np.timedelta64,
    "text": np.str_,
    "bytes": np.bytes_,
}


class _Stream(Protocol):
    def compress(self, data: Any, /) -> bytes: ...

    def flush(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Compression:
    """One way to compress bytes.

    Attributes
    ----------
    name
        For people.
    decompress
        Function that gives the bytes back, as ``call`` names it.
    stream
        Makes what compresses portion by portion; None where all bytes are needed at once.
    whole
        Compresses all bytes at once.
    """

    name: str
    decompress: Spec
    stream: Callable[[], _Stream] | None = None
    whole: Callable[[bytes], bytes] | None = None

    def portions(self, data: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the compressed bytes."""
        if self.stream is None:
            assert self.whole is not None
            yield bytes(self.whole(b"".join(data)))
            return
        compressor = self.stream()
        for portion in data:
            yield compressor.compress(portion)
        yield compressor.flush()


def _lz4(data: bytes) -> bytes:
    from numcodecs.lz4 import LZ4

    return bytes(LZ4().encode(data))


def _named(name: str, level: int | None) -> Compression:
    if name == "zlib":
        return Compression(
            name, ("zlib", "decompress"), lambda: zlib.compressobj(-1 if level is None else level)
        )
    if name == "lzma":
        return Compression(name, ("lzma", "decompress"), lambda: lzma.LZMACompressor(preset=level))
    if name == "bz2":
        return Compression(name, ("bz2", "decompress"), lambda: bz2.BZ2Compressor(level or 9))
    return Compression(name, ("lz4.block", "decompress"), whole=_lz4)


#: Levels of each compression; the library that these files are of allows ``bz2`` only where it is told to.
COMPRESSIONS: dict[str, range] = {
    "zlib": range(10),
    "lzma": range(10),
    "lz4": range(0),
    "bz2": range(1, 10),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy.

    Attributes
    ----------
    minsize
        Smaller arrays, in bytes, are not compressed by it.
    types
        Items are of a subclass of one of these.
    contexts
        Wildcards; one of them fits the parameter that the array is for (``JaggedArray.counts``).
    """

    compression: Compression
    minsize: int = 0
    types: tuple[type, ...] = (object,)
    contexts: tuple[str, ...] = ("*",)

    def fits(self, nbytes: int, item: type, context: str) -> bool:
        """Tell whether an array is compressed by this rule."""
        if nbytes < self.minsize or (self.compression.stream is None and nbytes > LIMITS.chunk_size):
            return False
        return issubclass(item, self.types) and any(fnmatchcase(context, each) for each in self.contexts)


Policy = tuple[Rule, ...]
#: What the last release of the library does.
DEFAULT_POLICY: Policy = (Rule(_named("zlib", None), 8192, (np.bool_, np.integer)),)


def compression_for(policy: Policy, nbytes: int, item: type, context: str) -> Compression | None:
    """Return how an array is compressed: by the first rule that fits; None where none does."""
    return next((rule.compression for rule in policy if rule.fits(nbytes, item, context)), None)


def policy_of(texts: Sequence[str]) -> Policy:
    """Return the policy that a user wrote, a text for each rule; none at all is the default.

    ``none``, ``default``, or ``zlib:6,minsize=8192,types=integer+bool,contexts=*.counts+*.offsets``: a
    compression with its level, and what it is for; all parts but the first may be left out.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: a rule has no meaning.
    """
    if not texts:
        return DEFAULT_POLICY
    rules: list[Rule] = []
    for text in texts:
        if text.strip() == "default":
            rules += DEFAULT_POLICY
        elif text.strip() != "none":
            rules.append(_rule(text))
    return tuple(rules)


def _rule(text: str) -> Rule:
    first, *rest = (part.strip() for part in text.split(","))
    name, colon, level = first.partition(":")
    if name not in COMPRESSIONS or (colon and not _is_level(level, COMPRESSIONS[name])):
        raise _wrong(text, "no such compression or level")
    conditions = dict(part.partition("=")[::2] for part in rest)
    unknown = conditions.keys() - {"minsize", "types", "contexts"}
    if (
        unknown
        or len(conditions) < len(rest)
        or not re.fullmatch(r"[0-9]{1,18}", conditions.get("minsize", "0"))
    ):
        raise _wrong(text, "conditions are minsize, types and contexts, each once")
    names = conditions.get("types", "any").split("+")
    if not set(names) <= ITEM_TYPES.keys():
        raise _wrong(text, f"types are {', '.join(ITEM_TYPES)}")
    return Rule(
        _named(name, int(level) if colon else None),
        int(conditions.get("minsize", "0")),
        tuple(ITEM_TYPES[each] for each in names),
        tuple(conditions.get("contexts", "*").split("+")),
    )


def _is_level(text: str, levels: range) -> bool:
    return bool(re.fullmatch(r"[0-9]", text)) and int(text) in levels


def _wrong(text: str, why: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.USAGE,
        f"{quoted(text)} is not a compression rule: {why}",
        advice="write none, default, zlib, zlib:6, lzma, lz4 or bz2, then for example"
        " ,minsize=8192,types=integer+bool,contexts=*.counts",
    )


def pair(compress: Callable[[bytes], bytes], decompress: Sequence[str]) -> Compression:
    """Return the compression of a function and the name of its inverse (the text's ``pair``)."""
    return Compression(".".join(decompress), tuple(decompress), whole=compress)


Json = dict[str, Any]
#: The release whose expressions these are; readers look only whether it is there.
PROTOCOL = "0.15.5"
#: The module that has the constructors.
MODULE = "awkward0"


class Numbering:
    """Gives out identifiers, from 0."""

    def __init__(self) -> None:
        self._next = 0

    def take(self) -> int:
        """Return the next one."""
        self._next += 1
        return self._next - 1


def call(number: int, function: Sequence[str], *arguments: Json) -> Json:
    """Return the call of a function."""
    return {"call": list(function), "args": list(arguments), "id": number}


def constructor(number: int, name: str, *arguments: Json) -> Json:
    """Return the call of a constructor: ``JaggedArray.fromcounts``."""
    return call(number, (MODULE, *name.split(".")), *arguments)


def plain(number: int, value: Any) -> Json:
    """Return a plain value."""
    return {"json": value, "id": number}


@dataclass(frozen=True, slots=True)
class BufferNumbers:
    """Identifiers of the expressions that one basic array is made of; its blob is named after `array`."""

    array: int
    packed: int
    read: int
    dtype: int
    count: int

    @classmethod
    def of(cls, numbering: Numbering) -> BufferNumbers:
        """Take them."""
        return cls(*(numbering.take() for _ in range(5)))


def buffer(
    numbers: BufferNumbers, suffix: str, dtype: np.dtype[Any], count: int, decompress: Spec | None
) -> Json:
    """Return the expression of a basic array."""
    data: Json = {"read": f"{numbers.array}{suffix}", "id": numbers.read}
    if decompress is not None:
        data = call(numbers.packed, decompress, data)
    return call(
        numbers.array,
        (MODULE, "numpy", "frombuffer"),
        data,
        {"dtype": dtype_json(dtype), "id": numbers.dtype},
        plain(numbers.count, count),
    )


def dtype_json(dtype: np.dtype[Any]) -> Any:
    """Return a type as JSON (persistence notes, section 3)."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return [dtype_json(base), list(shape)]
    return str(dtype)


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of an array beside its values.

    Attributes
    ----------
    metadata
        Any JSON; None for nothing.
    """

    doc: str = ""
    metadata: Any = None


def schema_text(root: Json, prefix: str, said: Said) -> bytes:
    """Return the object that describes an array, as the bytes of its blob (serialization text, top level)."""
    top: Json = {"awkward0": PROTOCOL}
    if said.doc:
        top["doc"] = said.doc
    if said.metadata:
        top["metadata"] = said.metadata
    if prefix:
        top["prefix"] = prefix
    top["schema"] = root
    # The library that these files are of reads ASCII.
    return json.dumps(top, allow_nan=False).encode("ascii")
