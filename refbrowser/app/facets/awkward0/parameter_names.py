"""Names of the positional arguments of the functions that files call (persistence notes, section 3)."""

from __future__ import annotations

_CONTENT = "content"
_MASKED = ("maskedwhen",)
_METHODS = {
    "fromcounts": ("counts", _CONTENT),
    "fromoffsets": ("offsets", _CONTENT),
    "fromparents": ("parents", _CONTENT, "length"),
    "fromuniques": ("uniques", _CONTENT),
    "fromlocalindex": ("index", _CONTENT, "validate"),
    "fromiter": ("iterable",),
    "fromregular": ("regular",),
    "fromfolding": (_CONTENT, "size"),
    "fromjagged": ("jagged",),
    "frompairs": ("pairs", "rowstart"),
    "fromview": ("view", "base"),
    "fromrec": ("recarray",),
    "fromtags": ("tags", "contents"),
    "fromcontent": (_CONTENT, *_MASKED),
    "fromboolmask": ("mask", _CONTENT, *_MASKED, "lsborder"),
    "fromnumpy": ("array",),
    "fromstr": ("text",),
    "from_ptetaphim": ("pt", "eta", "phi", "mass"),
}
_LISTS = ("starts", "stops", _CONTENT)
_NAMES = {
    "frombuffer": ("buffer", "dtype", "count", "offset"),
    "json2type": ("type", "whitelist"),
    "topython": ("pickle",),
    "JaggedArray": _LISTS,
    "ByteJaggedArray": (*_LISTS, "dtype"),
    "ByteJaggedArray.fromcounts": ("counts", _CONTENT, "dtype"),
    "ByteIndexedArray": ("index", _CONTENT, "dtype"),
    "Table": ("columns",),
    "UnionArray": ("tags", "index", "contents"),
    "MaskedArray": ("mask", _CONTENT, *_MASKED),
    "BitMaskedArray": ("mask", _CONTENT, *_MASKED, "lsborder"),
    "BitMaskedArray.fromcontent": (_CONTENT, *_MASKED, "lsborder"),
    "IndexedMaskedArray": ("mask", _CONTENT, *_MASKED),
    "IndexedArray": ("index", _CONTENT),
    "SparseArray": ("length", "index", _CONTENT, "default"),
    "ChunkedArray": ("chunks", "chunksizes"),
    "AppendableArray": ("chunkshape", "dtype", "chunks"),
    "ObjectArray": (_CONTENT, "generator", "args", "kwargs"),
    "StringArray": (*_LISTS, "encoding"),
    "VirtualArray": ("generator", "args", "kwargs", "cache", "persistentkey", "type", "nbytes"),
    "TVector2Array.from_cartesian": ("x", "y"),
    "TVector3Array.from_cartesian": ("x", "y", "z"),
    "TLorentzVectorArray.from_cartesian": ("x", "y", "z", "t"),
}


def parameter_names(function: str | None) -> tuple[str, ...]:
    """Return the names of the positional arguments of a function, by its canonical name; none if unknown."""
    if function is None:
        return ()
    if function.endswith(".decompress"):
        return ("data",)
    found = _NAMES.get(function)
    if found is None:
        kind, _, method = function.partition(".")
        found = _METHODS.get(method, ())
        return (*found, "encoding") if kind == "StringArray" else found
    return found
