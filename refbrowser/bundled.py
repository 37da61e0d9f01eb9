"""Files that come with the program: in the wheel a part of the package, in a checkout beside it."""

from __future__ import annotations

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
