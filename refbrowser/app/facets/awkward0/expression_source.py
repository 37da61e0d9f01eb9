"""The expressions of an array of an opened file, as a graph. Imported inside tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.facets.awkward0.expression_graph import ExpressionGraph
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.arrays import blob_finder
from refbrowser.formats.awkward0.buffer_arrays import buffer_arrays
from refbrowser.formats.awkward0.containers.zip import ZipContainer
from refbrowser.formats.awkward0.naming import schema_name
from refbrowser.io.zip_entries import LOCAL_HEADER

if TYPE_CHECKING:
    from refbrowser.formats.awkward0.arrays import Awkward0Array
    from refbrowser.formats.awkward0.container import Container
    from refbrowser.formats.awkward0.origin import Awkward0Origin


def graph_of(origin: Awkward0Origin, array: Awkward0Array) -> ExpressionGraph:
    """Return the expressions of an array.

    Raises
    ------
    RefbrowserError
        Its schema cannot be read.
    """
    schema = array.schema
    if schema is None:
        assert array.error is not None
        raise array.error
    built = {} if array.built is None else array.built.by_number
    errors: dict[int, BaseException] = {
        number: error
        for number, layout in built.items()
        if (error := getattr(layout, "error", None)) is not None
    }
    if array.built is None and array.error is not None:
        errors[0] = array.error
    find_blob = blob_finder(origin.container, schema_name(array.member, schema.prefix))

    def find_start(name: str) -> int | None:
        blob = find_blob(name)
        return None if blob is None else _start(origin.container, blob.name)

    allowed = AllowList.of_texts(origin.options.allow_functions)
    made = [] if array.layout is None else buffer_arrays(array.layout)
    buffers = {each.layout.number: each.name for each in made}
    return ExpressionGraph(schema, array.name, array.path, allowed, errors, find_blob, buffers, find_start)


def _start(container: Container, name: str) -> int | None:
    """Return where the data of a member of an archive begin; None where only its local header can tell."""
    if not isinstance(container, ZipContainer):
        return None
    directory = container.directory
    row = directory.find(name)
    if row is None or directory.error(row) is not None:
        return None
    known = container.access.memory.archives.data_start(directory.url, row)
    member = directory.member(row)
    if known is not None:
        return known
    start = member.start + LOCAL_HEADER + len(member.raw_name)
    # Nothing fits in between: the header has no extra fields.
    return start if start + member.compressed == member.stop else None
