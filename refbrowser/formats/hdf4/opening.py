"""Opening files of HDF4."""

from __future__ import annotations

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.hdf4.hdf4_arrays import Hdf4Arrays, Hdf4Contents
from refbrowser.formats.library.named_file import Library, LibraryOrigin, open_named_file
from refbrowser.formats.library.process import HDF4
from refbrowser.formats.sniffing import FileKind, NotThisError
from refbrowser.references.content.origins import Fact
from refbrowser.references.document.manifest import ManifestBuilder

_LIBRARY = Library(FileKind.HDF4, HDF4, "HDF4", "HDF4", "pyhdf", "hdf4")


def open_named_hdf4(opening: Opening) -> Opened:
    """Open a file of HDF4 at a path: what it says of itself is read, and a chunk of each way to store them.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none, or pyhdf is not installed: what leads on from data that nothing reads is
        told then; `E_USAGE`: it is not of this machine; else it cannot be read.
    """
    try:
        named = open_named_file(opening, _LIBRARY)
    except RefbrowserError as error:
        if error.kind is ErrorKind.USAGE:
            raise NotThisError.of(error) from None
        raise
    if not named.file.is_here:
        raise RefbrowserError(
            ErrorKind.USAGE,
            "HDF4 files are opened with pyhdf, which reads files of this machine alone",
            Place(document=opening.path),
            "Download it. References that are made of it here can be moved to the URL (Files and locations).",
        )
    contents = Hdf4Contents.read(named.file, named.identity, opening.token)
    manifest = ManifestBuilder(named.url)
    arrays = Hdf4Arrays(named.file, contents, opening.token)
    arrays.add_to(manifest)
    origin = LibraryOrigin(
        path=named.url,
        format="hdf4",
        file=named.file,
        findings=tuple(arrays.findings),
        sources=arrays.sources,
        facts=(Fact("Size", named.size, is_size=True), Fact("Arrays", len(contents.arrays))),
    )
    document = manifest.document(name=opening.path, origin=origin, notes=tuple(contents.findings))
    return Opened(document, named.access, named.identity)
