"""Schema expressions and the functions they name: the fixed table, and those that the user allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.findings.finding import Finding


@dataclass(frozen=True, slots=True)
class AllowList:
    """Patterns of functions (serialization text, "Whitelist specification").

    They open further entries of the table in `functions`, and nothing else: no name is ever looked up.

    Attributes
    ----------
    patterns
        Each compared part by part, by the rules of fnmatch, as far as it goes: ``("*",)`` allows all.
    """

    patterns: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, value: Any) -> AllowList:
        """Return the list that a text, a pattern (a list of texts) or a list of patterns is.

        A single text is promoted to a pattern of one part, a single pattern to a list of patterns.

        Raises
        ------
        RefbrowserError
            E_USAGE: it is none of these.
        """
        if isinstance(value, str):
            return cls(((value,),))
        items: list[Any] = list(value) if isinstance(value, Sequence) else [None]
        if items and all(isinstance(each, str) for each in items):
            return cls((tuple(items),))
        patterns = [AllowList.of(each).patterns for each in items if isinstance(each, Sequence)]
        if len(patterns) != len(items) or any(len(each) != 1 for each in patterns):
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(value)} is not a list of functions")
        return cls(tuple(each[0] for each in patterns))

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> AllowList:
        """Return the list of single texts, as a command line gives them: ``bz2.decompress``, ``zst*``."""
        return cls(tuple((text,) for text in texts))

    def allows(self, specification: Sequence[str]) -> bool:
        """Tell whether a pattern fits a function: one of a single part fits its module or its whole name."""
        return any(self._fits(pattern, specification) for pattern in self.patterns)

    @staticmethod
    def _fits(pattern: tuple[str, ...], specification: Sequence[str]) -> bool:
        if len(pattern) == 1 and fnmatchcase(".".join(specification), pattern[0]):
            return True
        return 0 < len(pattern) <= len(specification) and all(
            fnmatchcase(part, each) for part, each in zip(specification, pattern, strict=False)
        )


_LISTS = ("fromcounts", "fromoffsets", "fromparents", "fromuniques", "fromjagged", "fromiter")
_CLASSES = {
    "JaggedArray": ("", *_LISTS, "fromlocalindex", "fromregular", "fromfolding"),
    "ByteJaggedArray": ("", "fromcounts"),
    "ByteIndexedArray": ("",),
    "Table": ("", "frompairs", "fromview", "fromrec"),
    "UnionArray": ("", "fromtags"),
    "MaskedArray": ("", "fromcontent"),
    "BitMaskedArray": ("", "fromboolmask", "fromcontent"),
    "IndexedMaskedArray": ("", "fromcontent"),
    "IndexedArray": ("",),
    "SparseArray": ("",),
    "ChunkedArray": ("",),
    "AppendableArray": ("",),
    "ObjectArray": ("",),
    "StringArray": ("", *_LISTS, "fromnumpy", "fromstr"),
    "VirtualArray": ("",),
}
_VECTORS = {
    "TVector2Array": ("from_cartesian",),
    "TVector3Array": ("from_cartesian",),
    "TLorentzVectorArray": ("from_cartesian", "from_ptetaphim"),
}
_OURS = frozenset({"awkward", "awkward0"})
_VECTOR_MODULES = frozenset({"uproot_methods", "uproot3_methods"})
_FROMBUFFER = frozenset({"numpy", "awkward.util", "awkward0.util"})

#: Decompressors by canonical name, with the codec that a `Buffer` names.
DECOMPRESSORS = {
    "zlib.decompress": "zlib",
    "lzma.decompress": "lzma",
    "lz4.block.decompress": "lz4",
    "bz2.decompress": "bz2",
    "blosc.decompress": "blosc",
    "zstd.decompress": "zstd",
}
_SPELLINGS = {
    ("zlib", "decompress"): "zlib.decompress",
    ("lzma", "decompress"): "lzma.decompress",
    ("backports.lzma", "decompress"): "lzma.decompress",
    ("lz4.block", "decompress"): "lz4.block.decompress",
    ("bz2", "decompress"): "bz2.decompress",
    ("blosc", "decompress"): "blosc.decompress",
    ("zstd", "decompress"): "zstd.decompress",
    ("zstd", "uncompress"): "zstd.decompress",
    ("zstandard", "decompress"): "zstd.decompress",
    ("awkward.persist", "json2type"): "json2type",
    ("awkward0.persist", "json2type"): "json2type",
    ("awkward.persist", "topython"): "topython",
    ("awkward0.persist", "topython"): "topython",
}
#: What a user has to allow: not in the list of the old library, or only by a gap in it.
_ON_REQUEST = frozenset({"bz2.decompress", "blosc.decompress", "zstd.decompress", "topython"})


def canonical_name(specification: Sequence[str]) -> str | None:
    """Return the entry of the table that a function is, None where there is none.

    All spellings of old releases mean the same (persistence notes, section 2).
    """
    module, rest = specification[0], tuple(specification[1:])
    if rest == ("frombuffer",) and module in _FROMBUFFER:
        return "frombuffer"
    if module in _OURS and rest == ("numpy", "frombuffer"):
        return "frombuffer"
    library, _, inner = module.partition(".")
    if library in _OURS and (not inner or (inner.startswith("array.") and inner.count(".") == 1)):
        return _method(_CLASSES, rest)
    if library in _VECTOR_MODULES and (not inner or (inner.startswith("classes.") and inner.count(".") == 1)):
        return _method(_VECTORS, rest)
    return _SPELLINGS.get((module, *rest)) if len(rest) == 1 else None


def _method(classes: dict[str, tuple[str, ...]], rest: tuple[str, ...]) -> str | None:
    name, method = rest[0], rest[1] if len(rest) > 1 else ""
    is_known = len(rest) <= 2 and "" not in rest and method in classes.get(name, ())
    return ".".join(rest) if is_known else None


class Standing(StrEnum):
    """Whether a function is taken."""

    ALLOWED = "allowed"
    #: By the user's list.
    OPENED = "opened by the user"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is thought of one function.

    Attributes
    ----------
    name
        As the file spells it, parts joined by ``.``.
    canonical
        The entry of the table; None where there is none.
    why
        Of those refused, in a few words.
    can_be_allowed
        Whether the user's list could open it.
    """

    name: str
    standing: Standing
    canonical: str | None = None
    why: str = ""
    can_be_allowed: bool = False


def judge(specification: Sequence[str], allowed: AllowList) -> Verdict:
    """Return whether a function is taken, and why not."""
    name, canonical = ".".join(specification), canonical_name(specification)
    if canonical is None:
        why = "it is not one of the built-in functions, and nothing else is ever run"
        return Verdict(name, Standing.REFUSED, why=why)
    if canonical not in _ON_REQUEST:
        return Verdict(name, Standing.ALLOWED, canonical)
    if allowed.allows(specification):
        return Verdict(name, Standing.OPENED, canonical, can_be_allowed=True)
    why = "it is not allowed unless the user permits it"
    return Verdict(name, Standing.REFUSED, canonical, why, can_be_allowed=True)


class ExpressionKind(StrEnum):
    """The identifying keys."""

    CALL = "call"
    READ = "read"
    LIST = "list"
    TUPLE = "tuple"
    DICT = "dict"
    PAIRS = "pairs"
    DTYPE = "dtype"
    FUNCTION = "function"
    JSON = "json"
    PYTHON = "python"
    REF = "ref"
    #: None of them, or several: `Expression.error` tells.
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """One expression.

    Attributes
    ----------
    number
        Its place in document order, from 0: the root's.
    id
        As the schema numbers it; None where it does not.
    pointer
        JSON pointer in the schema (``/schema/args/0``).
    value
        What the identifying key holds, where that is no expressions: the function of a call as a tuple of
        text, the name to read, JSON, the base-64 text of a pickle, the id referred to.
    children
        Numbers of the expressions right below: positional arguments, items.
    named
        Numbers of those that have names: keyword arguments, entries of ``dict`` and ``pairs``, in order.
    is_absolute
        Of ``read``: the name is used as it is.
    error
        Why nothing can be made of it, as far as it alone tells.
    """

    number: int
    id: int | None
    kind: ExpressionKind
    pointer: str
    value: Any = None
    children: tuple[int, ...] = ()
    named: tuple[tuple[str, int], ...] = ()
    is_absolute: bool = False
    error: RefbrowserError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SchemaDocument:
    """One schema: the description of one array (serialization text, "Top level object").

    Attributes
    ----------
    signature
        The field that was found: ``awkward0`` or ``awkward``.
    version
        What it says: the version of the library that wrote it; for people.
    metadata
        Any JSON; None where there is none.
    prefix
        Of the names of blobs.
    expressions
        All of them by number, the root first.
    by_id
        Number of the expression of each id; of an id that was given twice, the last.
    text
        The bytes that were read.
    findings
        What is wrong or odd.
    shape
        The same of all schemas that differ in prefix and plain whole numbers alone; None where nobody looked.
    """

    signature: str
    version: str
    expressions: tuple[Expression, ...]
    by_id: dict[int, int] = field(default_factory=dict)
    prefix: str = ""
    doc: str = ""
    metadata: Any = None
    text: bytes = b""
    findings: tuple[Finding, ...] = ()
    shape: object = None

    @property
    def root(self) -> Expression:
        """The expression of the array."""
        return self.expressions[0]
