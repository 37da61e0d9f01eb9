"""The declarations that hold for a document: of a file that was named, or of that beside the document."""

from __future__ import annotations

from refbrowser.engine.expectations.expect_beside import expect_path, read_expect
from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.origins import local_path
from refbrowser.references.declarations.declared_arrays import Declarations, parse_declarations


def read_declarations(path: str) -> Declarations:
    """Return what a file of this computer declares.

    Raises
    ------
    RefbrowserError
        As `read_expect` and `parse_declarations`; `E_SCHEMA`: it declares nothing.
    """
    said = read_expect(path)[0].declares
    if said is None:
        advice = 'it has a member "declares": see "Declared properties" in the manual'
        raise RefbrowserError(ErrorKind.SCHEMA, "it declares no properties", Place(document=path), advice)
    try:
        return parse_declarations(said)
    except RefbrowserError as error:
        raise error.at(Place(document=path)) from None


def declarations_of(named: str, document: str = "") -> Declarations:
    """Return what holds for a document: what is named, else what the file beside it says, else nothing.

    Parameters
    ----------
    document
        Its path; there is no file beside one that has none, or lies at a URL.

    Raises
    ------
    RefbrowserError
        As `read_declarations`; where the file beside the document declares nothing that is no error.
    """
    if named:
        return read_declarations(named)
    local = local_path(document) if document else None
    if local is None:
        return Declarations()
    path = expect_path(local)
    try:
        said = read_expect(path)[0].declares
        return Declarations() if said is None else parse_declarations(said)
    except AbsentError:
        return Declarations()
    except RefbrowserError as error:
        raise error.at(Place(document=path)) from None
