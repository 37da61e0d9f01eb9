"""Opening files of FITS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from refbrowser.formats.fits.fits_arrays import FitsArrays
from refbrowser.formats.fits.fits_units import Units
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.library.named_file import Library, LibraryOrigin, open_named_file
from refbrowser.formats.library.process import FITS
from refbrowser.formats.sniffing import FileKind
from refbrowser.model.nodes import Hierarchy, Node
from refbrowser.references.content.origins import Fact
from refbrowser.references.document.manifest import ManifestBuilder

_LIBRARY = Library(FileKind.FITS, FITS, "FITS", "FITS", "astropy", "fits")


@dataclass(frozen=True, eq=False, kw_only=True)
class FitsOrigin(LibraryOrigin):
    """The file of FITS that a document was made from (`DocumentOrigin`)."""

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, Node]) -> Hierarchy:
        """Return a hierarchy with what is to be known of its arrays; single bytes are characters."""
        return replace(super().completed(hierarchy, described), has_characters=True)


def open_named_fits(opening: Opening) -> Opened:
    """Open a file of FITS at a path or URL: its headers are read, and no values.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none; `E_USAGE`: astropy is not installed; else it cannot be read.
    """
    named = open_named_file(opening, _LIBRARY)
    units = Units.read(named.file, named.identity, opening.token)
    manifest = ManifestBuilder(named.url)
    arrays = FitsArrays(named.file, units)
    arrays.add_to(manifest)
    origin = FitsOrigin(
        path=named.url,
        format="fits",
        file=named.file,
        findings=tuple(arrays.findings),
        sources=arrays.sources,
        facts=(Fact("Size", named.size, is_size=True), Fact("Header-data units", len(units.told))),
    )
    document = manifest.document(name=opening.path, origin=origin, notes=tuple(units.findings))
    return Opened(document, named.access, named.identity)
