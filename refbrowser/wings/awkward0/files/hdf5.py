"""Files of HDF5 with arrays of Awkward 0: read in the process of the library, written in one of their own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

from refbrowser.codecs.workers.confinement import clean_environment
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.library.chunk_proof import Stored
from refbrowser.formats.library.library_source import Tree, is_stored_so, unpacked
from refbrowser.formats.library.process import HDF5, LibraryFile, library_file
from refbrowser.formats.stores.reader import is_text
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import identity_on_disk
from refbrowser.io.processes import run_program
from refbrowser.limits import LIMITS
from refbrowser.loading import to_install
from refbrowser.model.reference import ByteRange, Inline, Reference
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.files.container import Blob

#: Bytes a second that are written at least.
SLOWEST = 4 * 1024 * 1024
_SCRIPT = Path(__file__).with_name("hdf5_worker.py")
#: Size of a dataset that only reading it tells.
_UNTOLD = -1
#: Bytes before the letters of a text, which tell how many there are.
_COUNT = 4


def open_hdf5(path: str, token: CancelToken | None = None) -> Hdf5Container:
    """Open an HDF5 file: its names, sizes and places are read, and nothing of its values.

    Parameters
    ----------
    path
        Absolute, with links resolved.

    Raises
    ------
    RefbrowserError
        It cannot be read; `E_USAGE`: h5py is not installed.
    """
    if find_spec("h5py") is None:
        raise RefbrowserError(
            ErrorKind.USAGE, "HDF5 files are opened with h5py, which is not installed", Place(url=path),
            to_install("refbrowser[hdf5]"),
        )  # fmt: skip
    container = Hdf5Container(library_file(HDF5, "HDF5", path, identity=identity_on_disk(path)), token)
    container.read_names()
    return container


class Hdf5Container:
    """The datasets of an HDF5 file (`Container`).

    Those that lie in one piece are ranges of the file. Others (chunked, compressed) are read by the process
    that knows HDF5, all of them once, when the first is asked for.
    """

    kind = "hdf5"

    def __init__(self, file: LibraryFile, token: CancelToken | None = None) -> None:
        self.url = file.url
        self.findings: list[Finding] = []
        self._file = file
        self._blobs: dict[str, Blob] = {}
        self._token = token
        #: How the elements of datasets are stored, and their shapes: of those that are to be read.
        self._read_as: dict[str, tuple[Tree, list[int]]] = {}

    def read_names(self) -> None:
        """Find all datasets; raises as `open_hdf5` does."""
        size = os.path.getsize(self.url)

        def take(told: dict[str, Any], data: memoryview) -> None:
            if "cut" in told:
                raise RefbrowserError(
                    ErrorKind.FORMAT, "HDF5 cannot be read: the file was cut", Place(url=self.url)
                )
            name = str(told.get("array", "")).removeprefix("/")
            if name and is_text(name):
                self._blobs[name] = self._blob(name, told, data, size)
            elif "link" in told:
                self._find(f"a link is not followed: {quoted(told['link'].removeprefix('/'))}")
            elif "problem" in told:
                self._find(str(told["problem"]))

        request = {
            "objects": AWKWARD_LIMITS.awkward_files,
            "depth": LIMITS.group_nesting,
            "attributes": LIMITS.library_attributes,
            "attribute": LIMITS.library_attribute,
            "chunks": LIMITS.references,
        }
        self._file.ask("describe", request, take, self._token)
        self._blobs = dict(sorted(self._blobs.items(), key=lambda each: each[0].split("/")))

    def _find(self, message: str) -> None:
        place = Place(url=self.url)
        self.findings.append(
            Finding(severity=Severity.WARNING, kind=ErrorKind.FORMAT, message=message, place=place)
        )

    def _blob(self, name: str, told: Mapping[str, Any], data: memoryview, file_size: int) -> Blob:
        """Return a dataset as the library tells it."""

        def wrong(why: str) -> Blob:
            return Blob(
                name, Inline(b""), 0, 0, "hdf5", RefbrowserError(ErrorKind.FORMAT, why, self._place(name))
            )

        if "error" in told or "elsewhere" in told:
            return wrong(f"the dataset cannot be read: {told.get('error') or told['elsewhere']}")
        if "null" in told:
            return Blob(name, Inline(b""), 0, 0, "hdf5")
        tree, shape = told["type"], told["shape"]
        if tree["kind"] == "string" and not shape:
            self._read_as[name] = tree, shape
            return Blob(name, Inline(b""), _UNTOLD, 0, "hdf5")
        if not is_stored_so(tree):
            return wrong("the dataset cannot be read: its elements are not bytes")
        size = prod(shape) * told["size"]
        reference: Reference = Inline(b"")
        stored, offset = told.get("stored", len(data)), told.get("offset")
        if told["layout"] == "compact":
            reference = Inline(bytes(data))
        elif told["layout"] == "chunked":
            chunks = Stored.of(data, len(shape))
            stored = int(chunks.sizes.sum())
            is_one = len(chunks) == 1 and len(shape) == 1 and not told["filters"]
            offset = int(chunks.offsets[0]) if is_one and not chunks.coords.any() else None
        if offset is not None and stored >= size:
            reference = ByteRange(self.url, offset, size)
            if offset + size > file_size:
                return wrong("the dataset extends beyond the end of the file")
        elif told["layout"] != "compact":
            self._read_as[name] = tree, shape
        return Blob(name, reference, size, stored, "hdf5")

    def names(self) -> Iterable[str]:
        """Return the names of all datasets, ``group/1``."""
        return self._blobs

    def find(self, name: str) -> Blob | None:
        """Return a dataset, or None where there is none of that name."""
        blob = self._blobs.get(name)
        if blob is None or not _is_elsewhere(blob):
            return blob
        return self._decoded[name]

    @cached_property
    def _decoded(self) -> dict[str, Blob]:
        """The datasets that do not lie in one piece, with their bytes."""
        found = {name: blob for name, blob in self._blobs.items() if _is_elsewhere(blob)}
        wanted, left = [], LIMITS.inlined_members
        for name, blob in found.items():
            if blob.size <= left:
                wanted.append(name)
                left -= max(0, blob.size)
            else:
                message = (
                    f"a dataset that is not contiguous has {blob.size} bytes: all of these together have "
                    f"more than {LIMITS.inlined_members} (inlined_members)"
                )
                found[name] = self._broken(
                    blob, RefbrowserError(ErrorKind.BUDGET, message, self._place(name))
                )

        for name in wanted:
            try:
                data = self._bytes_of(name)
            except RefbrowserError as error:
                found[name] = self._broken(found[name], error.at(self._place(name)))
            else:
                found[name] = Blob(name, Inline(data), len(data), found[name].stored, "hdf5")
        return found

    def _bytes_of(self, name: str) -> bytes:
        """Return the bytes of a dataset that the library reads."""
        tree, shape = self._read_as[name]
        parts: list[memoryview] = []
        request = {"path": f"/{name}", "box": [[0, side] for side in shape]}
        self._file.ask("read", request, lambda answer, data: parts.append(data), self._token)
        if tree["kind"] == "string":
            data = bytes(parts[0][_COUNT:])
            if len(data) > LIMITS.inlined_members:
                message = (
                    f"a text of {len(data)} bytes is more than {LIMITS.inlined_members} (inlined_members)"
                )
                raise RefbrowserError(ErrorKind.BUDGET, message)
            return data
        return unpacked(tree, prod(shape), parts[0]).tobytes()

    def _place(self, name: str) -> Place:
        return Place(url=self.url, key=name)

    @staticmethod
    def _broken(blob: Blob, error: RefbrowserError) -> Blob:
        return Blob(blob.name, blob.reference, blob.size, blob.stored, blob.method, error)

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        """Return whole small datasets; absent ones are left out."""
        found: dict[str, bytes | RefbrowserError] = {}
        for name in names:
            blob = self.find(name)
            if blob is None:
                continue
            if blob.error is not None:
                found[name] = blob.error
            elif blob.size > most:
                message = f"a dataset of {blob.size} bytes is larger than {most}"
                found[name] = RefbrowserError(ErrorKind.BUDGET, message, self._place(name))
            else:
                found[name] = self._content(blob)
        return found

    def _content(self, blob: Blob) -> bytes | RefbrowserError:
        if isinstance(blob.reference, Inline):
            return blob.reference.data
        assert isinstance(blob.reference, ByteRange)
        with open_regular(self.url) as (descriptor, _):
            os.lseek(descriptor, blob.reference.offset, os.SEEK_SET)
            data = b""
            while len(data) < blob.size and (piece := os.read(descriptor, blob.size - len(data))):
                data += piece
        if len(data) == blob.size:
            return data
        return RefbrowserError(ErrorKind.RANGE, "the file ends early", self._place(blob.name))


def _is_elsewhere(blob: Blob) -> bool:
    """Tell whether the bytes of a dataset have no single place in the file."""
    return (
        blob.error is None
        and isinstance(blob.reference, Inline)
        and bool(blob.size)
        and not blob.reference.data
    )


def write_hdf5(
    path: Path,
    data: Path,
    added: Sequence[tuple[str, int, int]],
    removed: Sequence[str],
    *,
    changes: bool,
    size: int,
    token: CancelToken,
) -> None:
    """Remove datasets of a file and add others, within limits of memory and time.

    Parameters
    ----------
    data
        A file that has the bytes of all that are added.
    added
        Their names, and where their bytes begin and how many there are.
    changes
        Whether the file is there, and is changed.
    size
        Bytes that are written; they may take their time.

    Raises
    ------
    RefbrowserError
        `E_IO`: it cannot be written; `E_BUDGET`: it took too long.
    """
    request = {
        "path": str(path),
        "mode": "r+" if changes else "x",
        "data": str(data),
        "removed": list(removed),
        "added": list(added),
        "memory": AWKWARD_LIMITS.awkward_hdf5_memory,
    }
    place, said = Place(url=str(path)), dict[str, Any]()
    seconds = AWKWARD_LIMITS.awkward_hdf5_time + size / SLOWEST
    command = [sys.executable, "-P", str(_SCRIPT)]
    given = json.dumps(request).encode()
    ended = run_program(
        command, given, lambda line: said.update(json.loads(line)), seconds, token, clean_environment()
    )
    if not ended.in_time:
        message = f"HDF5 took more than {seconds:g} s (awkward_hdf5_time)"
        raise RefbrowserError(ErrorKind.BUDGET, message, place)
    if "done" not in said:
        fault = said.get("fault", "the process that writes it has died")
        raise RefbrowserError(ErrorKind.IO, f"HDF5 cannot be written: {quoted(fault)}", place)
