"""The arrays of a container: each schema, and what is built from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from refbrowser.errors import Place, RefbrowserError
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.building import Built
from refbrowser.formats.awkward0.building_memory import BuildingMemory
from refbrowser.formats.awkward0.container import Blob, Container
from refbrowser.formats.awkward0.decoded_sizes import DecodedSizes
from refbrowser.formats.awkward0.expressions import SchemaDocument
from refbrowser.formats.awkward0.finding_arrays import FoundSchema
from refbrowser.formats.awkward0.layouts import Layout
from refbrowser.formats.awkward0.naming import SchemaName, array_paths
from refbrowser.io.cancel import CancelToken

#: Arrays between two looks at the token.
_PAGE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Awkward0Array:
    """One array of a file.

    Attributes
    ----------
    name
        As a listing of the container gives it; may be empty.
    path
        Where it is shown: ``/one``.
    member
        Name of the blob that its schema is.
    schema
        None where it cannot be read.
    built
        What is made of it; None where nothing can be.
    error
        Why the whole of it cannot be read.
    """

    name: str
    path: str
    member: str
    schema: SchemaDocument | None = None
    built: Built | None = None
    error: RefbrowserError | None = None

    @property
    def layout(self) -> Layout | None:
        """What the root expression builds."""
        return None if self.built is None else self.built.layout


def build_arrays(
    container: Container, found: Sequence[FoundSchema], allowed: AllowList, token: CancelToken
) -> tuple[Awkward0Array, ...]:
    """Return the arrays of schemas that were found; one that cannot be built has its error.

    Raises
    ------
    Cancelled
        `token` was cancelled.
    """
    arrays = []
    paths = array_paths(each.name.array for each in found)
    memory = BuildingMemory(allowed, DecodedSizes(container).size)
    for number, (each, path) in enumerate(zip(found, paths, strict=True)):
        if number % _PAGE == 0:
            token.check()
        arrays.append(_array(container, each, path, memory))
    return tuple(arrays)


def _array(container: Container, found: FoundSchema, path: str, memory: BuildingMemory) -> Awkward0Array:
    name, member, schema = found.name.array, found.member, found.schema
    if schema is None:
        return Awkward0Array(name, path, member, error=found.error)
    try:
        built = memory.built(schema, blob_finder(container, found.name))
    except RefbrowserError as error:
        place = replace(error.place or Place(url=container.url, key=member), path=path)
        return Awkward0Array(name, path, member, schema, error=error.at(place))
    return Awkward0Array(name, path, member, schema, built)


def blob_finder(container: Container, name: SchemaName) -> Callable[[str], Blob | None]:
    """Return what finds the blobs of an array by the names in its schema.

    Files that were put into a folder before they were packed are found in that.
    """
    if not name.base:
        return container.find
    return lambda blob: container.find(name.base + blob) or container.find(blob)
