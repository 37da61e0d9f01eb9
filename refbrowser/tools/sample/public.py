"""The bundled sample, written by a function."""

from __future__ import annotations

from refbrowser.api import Path, path_of
from refbrowser.errors import native_errors


@native_errors()
def sample(folder: Path = ".", *, which: str = "small", force: bool = False) -> str:
    """Write the bundled sample into a folder, and return the path of its reference document.

    Parameters
    ----------
    folder
        Made where it is not there.
    which
        ``small``, a year of monthly fields (2 MB); ``large``, a file for each day (47 MB); or ``broken``, the
        small one with five faults to find.
    force
        Replace files of the same names.

    Raises
    ------
    RefbrowserError
        There is no such sample, files of these names are there (`TargetExistsError`), or cannot be written.

    Examples
    --------
    >>> import refbrowser
    >>> path = refbrowser.sample("trial")
    >>> refbrowser.open(path)["/ocean/sst"].shape
    (12, 180, 360)
    """
    from refbrowser.tools.sample.sets import write_sample

    return write_sample(path_of(folder), which, force=force)
