"""Opening what has no path: reference sets as dictionaries, and binary file objects."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest, dataset_of, open_dataset
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.sniffing import HEAD, looks_like_references
from refbrowser.io.access.access import Access
from refbrowser.io.origins import Origin, parse_storage_options
from refbrowser.references.document.document import ReferenceDocument

#: Bytes of a file object that are copied at a time, and at most.
_PORTION, _MOST = 1 << 20, 1 << 38


def open_references_in(references: Mapping[str, Any], request: OpenRequest) -> Dataset:
    """Open references as kerchunk gives them; they lie in no folder, so what they lead to needs a permission.

    Raises
    ------
    RefbrowserError
        They are none; or `E_USAGE`: they hold what JSON does not.
    """
    try:
        text = json.dumps(references).encode()
    except (TypeError, ValueError) as error:
        raise RefbrowserError(ErrorKind.USAGE, f"references are what JSON holds: {error}") from None
    document = ReferenceDocument.of(text, name=request.path, values=dict(request.templates))
    document.check_values(dict(request.templates))
    allowed = frozenset(map(Origin.parse, request.allow))
    settings = parse_storage_options(request.storage_options)
    access = Access.for_nothing(allowed, settings).lending(request.allow_codecs)
    session = Session()
    try:
        return dataset_of(request.path, document, access, session)
    except BaseException:
        session.close()
        raise


def open_stream(stream: IO[bytes], request: OpenRequest) -> Dataset:
    """Open what a binary file object holds: by its path where it has one, else a copy, which ends with it.

    Raises
    ------
    RefbrowserError
        It cannot be read, or is not binary.
    """
    path = _path_of(stream)
    if path:
        return open_dataset(replace(request, path=path))
    folder = tempfile.mkdtemp(prefix="refbrowser-")
    session = None
    try:
        copy = os.path.join(folder, _copied(stream, folder))
        dataset = open_dataset(replace(request, path=copy))
        session = dataset.session
        session.only_here = "it was opened from a file object, which has no path"
        # Archives and libraries read it as long as anybody reads.
        weakref.finalize(session, shutil.rmtree, folder, ignore_errors=True)
        return dataset
    finally:
        if session is None:
            shutil.rmtree(folder, ignore_errors=True)


def _path_of(stream: IO[bytes]) -> str:
    """Return the path of the file that a file object reads; empty where it is not known to be that."""
    name = getattr(stream, "name", None)
    try:
        if isinstance(name, str) and os.path.samestat(os.stat(name), os.fstat(stream.fileno())):
            return os.path.abspath(name)
    except (OSError, ValueError, AttributeError):
        pass
    return ""


def _copied(stream: IO[bytes], folder: str) -> str:
    """Copy what a file object holds, from its beginning, and return the name of the copy."""
    if stream.seekable():
        stream.seek(0)
    left, name = _MOST, "file"
    with open(os.path.join(folder, name), "xb") as copy:
        while portion := stream.read(_PORTION):
            if not isinstance(portion, bytes):
                raise RefbrowserError(
                    ErrorKind.USAGE, "the file object gives text", advice="open it with 'rb'"
                )
            if copy.tell() == 0 and looks_like_references(portion[:HEAD]):
                name = "file.json"
            left -= len(portion)
            if left < 0:
                raise RefbrowserError(ErrorKind.BUDGET, f"the file object holds more than {_MOST} bytes")
            copy.write(portion)
    if name != "file":
        os.rename(os.path.join(folder, "file"), os.path.join(folder, name))
    return name
