"""In which form references of files are written: as the user asks, or as the name of the target says."""

from __future__ import annotations

import os

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.parquet_text import PARQUET
from refbrowser.formats.registry import referring

#: Documents of references.
FORMS = ("refs-v1", "refs-v0", "refs-parquet")
#: What the names of those of JSON end with.
JSON = (".json", ".json.gz", ".json.zst")


def form_of(target: str, format: str) -> str:
    """Return the form in which references are written: the one that is asked for, else that of the suffix.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such form, or the name of the target is that of another one.
    """
    name, known = target.lower().rstrip("/"), referring()
    if not format:
        places = (each for each in known if each not in FORMS)
        named = (each for each in places if name.endswith(known[each].suffix))
        return "refs-parquet" if name.endswith(PARQUET) else next(named, FORMS[0])
    if format not in known:
        message = f"{quoted(format)} is not a form of references"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(known)}")
    if format not in FORMS:
        return format
    others = JSON if format == "refs-parquet" else PARQUET
    if name.endswith(others) and not os.path.isdir(target):
        suffixes = " or ".join(PARQUET if format == "refs-parquet" else JSON)
        message = f"{quoted(target)} is not the name of a document of {format}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"end it in {suffixes}, or leave the form out")
    return format
