"""What was found in all files that are combined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.properties import Ints, ScannedSource, ScanSettings, is_named

#: What most files have, which nobody changes.
_NO_BEGINS: Mapping[str, int] = {}
_NO_POSITIONS: dict[int, Ints] = {}
_NO_BYTES: dict[int, bytes] = {}


@dataclass(slots=True, eq=False)
class FileSet:
    """What was found in all files, in the order in which they were named.

    Attributes
    ----------
    left_out
        Files that were not looked at, or cannot be read, with why.
    journal
        The document in whose journal it is, too; empty where it is in none.
    """

    looking: ScanSettings
    files: list[ScannedSource] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    journal: str = ""
    _same: dict[Any, Any] = field(default_factory=dict)

    def add(self, file: ScannedSource) -> None:
        """Add a file; what it says that another one said is kept once."""
        keep = self._same.setdefault
        file.arrays = keep(file.arrays, tuple(keep(each, each) for each in file.arrays))
        file.groups = keep(file.groups, file.groups)
        file.chunks.counts = keep(file.chunks.counts, file.chunks.counts)
        file.digests = {path: keep(each, each) for path, each in file.digests.items()}
        # An empty one for each of a hundred thousand files would take as much as a chunk or two.
        file.begins = file.begins or _NO_BEGINS
        chunks = file.chunks
        chunks.positions, chunks.inline = chunks.positions or _NO_POSITIONS, chunks.inline or _NO_BYTES
        for path in file.digests.keys() & file.values.keys():
            file.values[path] = keep((path, file.digests[path]), file.values[path])
        self.files.append(file)

    def sort_as(self, sources: list[str]) -> None:
        """Put files into the order in which they were named."""
        order = {source: number for number, source in enumerate(sources)}
        self.files.sort(key=lambda each: order[each.source])

    def named(self, text: str) -> list[str]:
        """Return the files that a text names, as `is_named` tells.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is none.
        """
        sources = [*(each.source for each in self.files), *(source for source, _ in self.left_out)]
        found = [source for source in sources if is_named(source, text)]
        if not found:
            message = f"there is no file {quoted(text)} among those to combine"
            raise RefbrowserError(ErrorKind.USAGE, message)
        return found
