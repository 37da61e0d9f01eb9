"""The expressions of an array of an opened file, as a graph. Imported inside tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.awkward0.expression_graph import ExpressionGraph
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.arrays import blob_finder
from refbrowser.formats.awkward0.naming import schema_name

if TYPE_CHECKING:
    from refbrowser.formats.awkward0.arrays import Awkward0Array
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
    return ExpressionGraph(
        schema,
        array.name,
        array.path,
        AllowList.of_texts(origin.options.allow_functions),
        errors,
        blob_finder(origin.container, schema_name(array.member, schema.prefix)),
    )
