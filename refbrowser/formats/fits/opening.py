"""Opening files of FITS."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError
from refbrowser.formats.fits.fits_arrays import FitsArrays
from refbrowser.formats.fits.fits_units import read_units
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.library.process import FITS, LibraryFile, library_file
from refbrowser.formats.sniffing import HEAD, FileKind, NotThisError, file_kind
from refbrowser.io.access import Access
from refbrowser.model.nodes import Hierarchy
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.references.document.origins import Fact, PlainAnswers


@dataclass(frozen=True, eq=False)
class FitsOrigin(PlainAnswers):
    """The file that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    path
        Its URL, or its path with links resolved.
    file
        What reads values that no byte range gives.
    problems
        Which arrays cannot be referenced, and why.
    facts
        What is told of it.
    """

    path: str
    file: LibraryFile
    problems: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    format: str = "fits"

    def completed(self, hierarchy: Hierarchy, described: object) -> Hierarchy:
        """Return a hierarchy with what is to be known of its arrays."""
        return replace(hierarchy, problems=(*hierarchy.problems, *self.problems), has_characters=True)

    def told(self) -> Sequence[Fact]:
        """Return its size, and how many units it has."""
        return self.facts


def open_named_fits(opening: Opening) -> Opened:
    """Open a file of FITS at a path or URL: its headers are read, and no values.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none; `E_USAGE`: astropy is not installed; else it cannot be read.
    Cancelled
        The opening was cancelled.
    """
    local = opening.seen.local
    url = opening.path if local is None else os.path.realpath(local)
    identity = opening.identity()
    source = None
    if local is not None:
        access = Access.for_document(opening.path, opening.allow, opening.settings)
        head = opening.seen.head or b""
    else:
        source = opening.remote()
        access = source.access
        head = bytes(source.read(0, HEAD))
    if file_kind(head) is not FileKind.FITS:
        message = f"what is there is no FITS: {file_kind(head)}"
        raise NotThisError(ErrorKind.FORMAT, message, Place(document=opening.path))
    if find_spec("astropy") is None:
        raise RefbrowserError(
            ErrorKind.USAGE,
            "FITS files are opened with astropy, which is not installed",
            Place(document=opening.path),
            "pip install 'refbrowser[fits]'",
        )
    file = library_file(FITS, "FITS", url, source, identity)
    units = read_units(file, opening.token)
    manifest = ManifestBuilder(url)
    arrays = FitsArrays(file, units)
    arrays.add_to(manifest)
    size = source.size if source is not None else os.path.getsize(url)
    facts = Fact("Size", size, is_size=True), Fact("Header-data units", len(units.told))
    origin = FitsOrigin(url, file, tuple(arrays.problems), facts)
    document = manifest.document(name=opening.path, origin=origin, notes=tuple(units.findings))
    return Opened(document, access, identity if source is None else source.identity)
