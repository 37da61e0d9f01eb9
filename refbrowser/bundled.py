"""Files that come with the program: in the wheel a part of the package, in a checkout beside it."""

from __future__ import annotations

import os
from pathlib import Path

#: The sample: a reference document, and below it the files that it refers to.
SAMPLE = "sample/sea_surface.json"


def resource(name: str) -> Path:
    """Return the path of a file below the resources.

    Raises
    ------
    RefbrowserError
        It is not installed.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "resources", package.parent / "resources"):
        if (folder / name).is_file():
            return folder / name
    from refbrowser.errors import ErrorKind, RefbrowserError

    raise RefbrowserError(ErrorKind.IO, f"{name} is not installed")


def write_sample(folder: str, *, force: bool) -> str:
    """Write the sample into a folder, and return the path of its document.

    Raises
    ------
    RefbrowserError
        Files of these names are there (`TargetExistsError`), or cannot be written.
    """
    from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError
    from refbrowser.io.files.atomic import write_atomically

    document = resource(SAMPLE)
    data = sorted((document.parent / "data").iterdir())
    target = Path(folder).expanduser()
    there = [path for path in (target / document.name, target / "data") if os.path.lexists(path)]
    if there and not force:
        advice = "give another folder, or --force to replace it"
        raise TargetExistsError(ErrorKind.IO, "the target exists already", Place(path=str(there[0])), advice)
    try:
        (target / "data").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder cannot be made: {error.strerror}"
        raise RefbrowserError(ErrorKind.IO, message, Place(path=str(target))) from error
    for source in (*data, document):
        write_atomically(target / source.relative_to(document.parent), [source.read_bytes()])
    return str(target / document.name)
