"""Names of the blobs of arrays, and whether they can stand beside each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0.writing.parts import Part


@dataclass(frozen=True, slots=True)
class Naming:
    """How blobs are named (serialization text, "Persistence functions"); usually as ``save`` does.

    Attributes
    ----------
    delimiter
        Between the name of an array, where it has one, and the number of a blob.
    """

    delimiter: str = "-"
    suffix: str = ".raw"
    schema_suffix: str = ".json"

    def prefix(self, array: str) -> str:
        """Return what stands before the numbers of an array's blobs."""
        return f"{array}{self.delimiter}" if array else ""

    def schema(self, array: str) -> str:
        """Return the name of the blob that describes an array."""
        return f"{array}{self.schema_suffix}"

    def blobs(self, array: str, part: Part) -> list[str]:
        """Return the names of all blobs that an array may have, its description last."""
        prefix = self.prefix(array)
        names = [f"{prefix}{leaf.blob_name(self.suffix)}" for leaf in part.leaves()]
        return [*names, self.schema(array)]


#: In HDF5, where the blobs of an array are the datasets of a group.
HDF5_NAMING = Naming("/", "", "/schema.json")


def check_names(new: Mapping[str, Iterable[str]], there: Collection[str]) -> None:
    """Make sure that no blob of one array has the name of another's, or one that is there already.

    Parameters
    ----------
    new
        For the name of each array those of its blobs.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: two have one name; nothing was written yet.
    """
    owners: dict[str, str] = {}
    for array, names in new.items():
        for name in names:
            if name in there:
                raise _collision(array, f"there is a blob {quoted(name)} already")
            other = owners.setdefault(name, array)
            if other != array:
                raise _collision(array, f"array {quoted(other)} has a blob {quoted(name)} too")


def _collision(array: str, what: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.USAGE,
        f"array {quoted(array)} cannot be written: {what}",
        advice="give it another name or delimiter, or replace the array that is there",
    )
