"""Opening files of TIFF."""

from __future__ import annotations

from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.library.named_file import Library, LibraryOrigin, open_named_file
from refbrowser.formats.library.process import TIFF
from refbrowser.formats.sniffing import FileKind
from refbrowser.formats.tiff.tiff_arrays import TiffArrays
from refbrowser.formats.tiff.tiff_contents import TiffContents
from refbrowser.references.content.origins import Fact
from refbrowser.references.document.manifest import ManifestBuilder

FORMAT = "tiff"
_LIBRARY = Library(FileKind.TIFF, TIFF, "TIFF", "TIFF", "tifffile", "tiff")


def open_named_tiff(opening: Opening) -> Opened:
    """Open a file of TIFF at a path or URL: its metadata is read, and no values.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none; `E_USAGE`: tifffile is not installed; else it cannot be read.
    """
    named = open_named_file(opening, _LIBRARY)
    contents = TiffContents.read(named.file, named.identity, opening.token)
    manifest = ManifestBuilder(named.url)
    arrays = TiffArrays(named.file, contents, named.size, not named.file.is_here, opening.token)
    arrays.add_to(manifest)
    origin = LibraryOrigin(
        path=named.url,
        format=FORMAT,
        file=named.file,
        findings=tuple(arrays.findings),
        facts=_facts(contents, named.size),
        sources=arrays.sources,
    )
    document = manifest.document(name=opening.path, origin=origin, notes=tuple(contents.findings))
    return Opened(document, named.access, named.identity)


def _facts(contents: TiffContents, size: int) -> tuple[Fact, ...]:
    head = contents.head
    version = "BigTIFF" if head.get("big") else "classic"
    order = "big-endian" if head.get("order") == ">" else "little-endian"
    return Fact("Version", f"{version}, {order}"), Fact("Size", size, is_size=True)
