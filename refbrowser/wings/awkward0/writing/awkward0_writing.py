"""How arrays are written as Awkward 0: one field for each option."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal

from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.formats.option_fields import Item, Kind, documented, one_of, option
from refbrowser.formats.registry import AWKWARD0

Container = Literal["zip", "hdf5", "folder"]
CONTAINERS: tuple[Container, ...] = ("zip", "hdf5", "folder")
#: What ``save`` appends to the name of a file.
ENDING = AWKWARD0.suffixes[0]
_HDF5_ENDINGS = (".h5", ".hdf5", ".hdf")


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Awkward0Writing(ExportOptions):
    """How arrays are to be written as Awkward 0."""

    heading = "options of awkward0"
    only = "names, compression rules and appending apply only to awkward0"
    called = "Awkward"

    container: Container | None = field(
        default=None,
        metadata=option(
            "--container KIND",
            "zip (.awkd, default), hdf5 (for a target that ends in .h5), or folder (for one that ends in /)",
            about="None: as the target is called. ``.h5`` and ``.hdf5`` are HDF5, a folder that is there or "
            "a name "
            "that ends in ``/`` is a folder; anything else is an archive, whose name ends in ``.awkd``.",
            kind=Kind.CHOICE,
            parse=one_of("container", CONTAINERS),
            title="Container",
            label="C&ontainer",
            items=(
                Item("", "As the target is called"),
                Item("zip", "Archive (.awkd)"),
                Item("hdf5", "HDF5"),
                Item("folder", "Folder of blobs"),
            ),
            place=(0, 0),
        ),
    )
    name: str | None = field(
        default=None,
        metadata=option(
            "--name NAME",
            "of the array; for several, the prefix of their names",
            about="Of the array, where there is one; else the prefix of all names. None: as the "
            "dataset "
            "names them.",
            title="Name of the array, or before all names",
            label="&Name",
            hint="as in the dataset",
            place=(1, 1),
        ),
    )
    delimiter: str | None = field(
        default=None,
        metadata=option(
            "--delimiter TEXT",
            "between the name of an array and the numbers of its blobs (-)",
            about="Between the name of an array and the numbers of its blobs; None as ``save`` has it. HDF5 "
            "has a "
            "fixed one.",
        ),
    )
    suffix: str | None = field(
        default=None,
        metadata=option(
            "--suffix TEXT",
            "of the names of blobs (.raw)",
            about="Of the names of blobs; None as ``save`` has it. HDF5 has none.",
        ),
    )
    schema_suffix: str | None = field(
        default=None,
        metadata=option(
            "--schema-suffix TEXT",
            "of the names of descriptions (.json)",
            about="Of the names of descriptions; None as ``save`` has it. HDF5 has none.",
        ),
    )
    codec: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--codec RULE",
            "none, default, or zlib:6,minsize=8192,types=integer+bool,contexts=*.counts; also lzma, lz4 and "
            "bz2 "
            "(repeatable: the first rule that fits)",
            about="A text for each rule, as `refbrowser.wings.awkward0.writing.blobs.policy_of` takes "
            "them; none: "
            "the usual policy.",
            kind=Kind.TEXTS,
            title="Compression",
            label="Co&mpression",
            widget="exportAwkwardCompression",
            tip="Or your own rule, for example zlib:6,minsize=8192,types=integer+bool,contexts=*.counts",
            items=(
                Item("", "Default: large integers"),
                Item("none", "None"),
                Item("zlib:6", "zlib, everything"),
                Item("lzma", "LZMA, everything"),
                Item("lz4", "LZ4, everything"),
            ),
            place=(1, 0),
        ),
    )
    append: bool = field(
        default=False,
        metadata=option(
            "--append",
            "keep the target, and add arrays to it",
            about="Keep what the target has, and add to it.",
            kind=Kind.CHOICE,
            means=True,
            title="Where there is a file",
            label="&Existing file",
            widget="exportAwkwardExisting",
            items=(
                Item(
                    "",
                    "Make a new file",
                    "A file that awkward 0.15 reads; older releases read its ZIP and HDF5 too.",
                ),
                Item(
                    "append",
                    "Add to the existing file",
                    "Existing arrays stay; a name that is taken is an error before anything is written.",
                    sets="append",
                ),
                Item(
                    "replace",
                    "Add, and replace the same names",
                    "Existing arrays stay, except those of the same name.",
                    sets="replace",
                ),
            ),
            place=(0, 1),
        ),
    )
    replace: bool = field(
        default=False,
        metadata=option(
            "--replace-arrays",
            "as --append, replacing arrays of the same name",
            about="As `append`; arrays of the same name are replaced.",
            kind=Kind.TICK,
            means=True,
        ),
    )
    removed: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--delete-array NAME",
            "remove an array from the target, which is kept (repeatable); nothing is added if the target is "
            "what was opened",
            about="Names of arrays that are removed from the target.",
            kind=Kind.TEXTS,
        ),
    )

    def check(self, format: str) -> None:
        """Raise `E_USAGE` where a rule of compression has no meaning."""
        # Not before: help has the options alone.
        from refbrowser.wings.awkward0.writing.blobs import policy_of

        _ = policy_of(self.codec)

    @property
    def keeps(self) -> bool:
        """Whether the target keeps what it has."""
        return self.append or self.replace or bool(self.removed)

    def kind_of(self, target: str) -> Container:
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
