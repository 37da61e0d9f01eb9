"""How arrays are written as Awkward 0: into what, under which names, compressed or not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.registry import AWKWARD0

Kind = Literal["zip", "hdf5", "folder"]
KINDS: tuple[Kind, ...] = ("zip", "hdf5", "folder")
#: What ``save`` appends to the name of a file.
ENDING = AWKWARD0.suffixes[0]
_HDF5_ENDINGS = (".h5", ".hdf5", ".hdf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Awkward0Writing:
    """How arrays are to be written.

    Attributes
    ----------
    container
        None: as the target is called. ``.h5`` and ``.hdf5`` are HDF5, a folder that is there or a name that
        ends in ``/`` is a folder; anything else is an archive, whose name ends in ``.awkd``.
    name
        Of the array, where there is one; else what stands before the names of all. None: as the dataset names
        them.
    delimiter, suffix, schema_suffix
        Of the names of blobs; None as ``save`` has them. HDF5 has fixed ones.
    compression
        A text for each rule, as `refbrowser.formats.awkward0.writing.policy.policy_of` takes them; none: the
        usual policy.
    append
        Keep what the target has, and add to it.
    replace
        As `append`; arrays of the same name are replaced.
    removed
        Names of arrays that are removed from the target.
    """

    container: Kind | None = None
    name: str | None = None
    delimiter: str | None = None
    suffix: str | None = None
    schema_suffix: str | None = None
    compression: tuple[str, ...] = ()
    append: bool = False
    replace: bool = False
    removed: tuple[str, ...] = ()

    @property
    def keeps(self) -> bool:
        """Whether the target keeps what it has."""
        return self.append or self.replace or bool(self.removed)

    def kind_of(self, target: str) -> Kind:
        """Return what a target is written as."""
        if self.container is not None:
            return self.container
        if target.lower().endswith(_HDF5_ENDINGS):
            return "hdf5"
        if target.endswith(("/", os.sep)) or os.path.isdir(target):
            return "folder"
        return "zip"

    def target_of(self, target: str) -> str:
        """Return the name that a target gets: that of an archive ends in ``.awkd``."""
        if self.kind_of(target) == "zip" and not target.endswith(ENDING):
            return target + ENDING
        return target.rstrip("/" + os.sep) or target


def kind_named(text: str) -> Kind:
    """Return the kind of container of a name.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none of that name.
    """
    for kind in KINDS:
        if text == kind:
            return kind
    message = f"there is no container {quoted(text)}"
    raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(KINDS)}")
