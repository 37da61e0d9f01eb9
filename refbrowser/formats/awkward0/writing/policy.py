"""Which basic arrays are compressed, and how (serialization text, "Compression policy")."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Protocol

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

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
    """One way to compress a stretch of bytes.

    Attributes
    ----------
    name
        For people.
    decompress
        Function that gives the bytes back, as ``call`` names it.
    stream
        Makes what compresses piece by piece; None where all bytes are needed at once.
    whole
        Compresses all bytes at once.
    """

    name: str
    decompress: Spec
    stream: Callable[[], _Stream] | None = None
    whole: Callable[[bytes], bytes] | None = None

    def pieces(self, data: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the compressed bytes."""
        if self.stream is None:
            assert self.whole is not None
            yield bytes(self.whole(b"".join(data)))
            return
        compressor = self.stream()
        for piece in data:
            yield compressor.compress(piece)
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
        f"{quoted(text)} is no rule of compression: {why}",
        advice="write none, default, zlib, zlib:6, lzma, lz4 or bz2, then for example"
        " ,minsize=8192,types=integer+bool,contexts=*.counts",
    )


def pair(compress: Callable[[bytes], bytes], decompress: Sequence[str]) -> Compression:
    """Return the compression of a function and the name of its inverse (the text's ``pair``)."""
    return Compression(".".join(decompress), tuple(decompress), whole=compress)


#: What has no rule: nothing is compressed.
NO_POLICY: Policy = ()
