"""The functions that files name, in all their spellings, and whether they are allowed. None is ever run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from refbrowser.formats.awkward0.allow_list import AllowList

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
        why = "it is not one of the functions that are built here, and nothing else is ever run"
        return Verdict(name, Standing.REFUSED, why=why)
    if canonical not in _ON_REQUEST:
        return Verdict(name, Standing.ALLOWED, canonical)
    if allowed.allows(specification):
        return Verdict(name, Standing.OPENED, canonical, can_be_allowed=True)
    why = "it is not allowed unless the user says so"
    return Verdict(name, Standing.REFUSED, canonical, why, can_be_allowed=True)
