"""The columns of a table, and how blocks of rows become tables of Arrow of one and the same schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.engine.export.nested.choice import told_attributes
from refbrowser.engine.export.nested.conform import MissingValuesError, conformed
from refbrowser.engine.export.nested.row_reading import RowSource
from refbrowser.engine.export.nested.target_types import (
    Abilities,
    TargetType,
    TypeNote,
    TypePath,
    target_type,
)
from refbrowser.engine.export.table_options import TableOptions
from refbrowser.engine.export.tables.room import with_room
from refbrowser.errors import Place
from refbrowser.model.netcdf.attributes import json_text
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: What Arrow has in files of each format.
ABILITIES = {
    "parquet": Abilities(
        unions=False,
        complexes=False,
        units=("ms", "us", "ns"),
        missing_times=True,
        empty_records=False,
        empty_lists=False,
        floats=(2, 4, 8),
    ),
    "feather": Abilities(
        complexes=False,
        units=("s", "ms", "us", "ns"),
        missing_times=True,
        empty_lists=False,
        floats=(2, 4, 8),
        like_possibilities=False,
    ),
}
#: Member of the schema's metadata that has what Arrow has no place for.
METADATA_KEY = b"refbrowser"
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, the rows that it is made from, and its type in the target."""

    name: str
    source: RowSource
    node: ArrayNode
    type: TargetType
    notes: tuple[TypeNote, ...]

    @classmethod
    def of(
        cls, name: str, source: RowSource, node: ArrayNode, format: str, widened: frozenset[TypePath]
    ) -> Column:
        """Return the column of an array in a format.

        Parameters
        ----------
        node
            The array as a store has it, for its attributes.
        widened
            Where values could not be read although the source's type has none missing.
        """
        type, notes = target_type(source.type, ABILITIES[format], widened)
        # Unpaired surrogates have no UTF-8.
        return cls(_LONE.sub("\ufffd", name), source, node, type, tuple(notes))

    def conformed(self, content: Any) -> Any:
        """Return rows in the canonical form of the column's type.

        Raises
        ------
        MissingValuesError
            Values are missing where the type has none; names the array.
        RefbrowserError
            They are of another type.
        """
        try:
            return conformed(content, self.type)
        except MissingValuesError as error:
            raise MissingValuesError(error.where, Place(path=self.node.path)) from error


def arrow_table(
    columns: Sequence[Column], contents: Iterable[Any], length: int, options: TableOptions
) -> Any:
    """Return a ``pyarrow.Table`` of rows in canonical form, one content for each column."""
    import awkward
    from awkward.contents import RecordArray

    parts = list(map(with_room, contents))
    return awkward.to_arrow_table(
        awkward.Array(RecordArray(parts, [column.name for column in columns], length)),
        list_to32=True,
        string_to32=True,
        bytestring_to32=True,
        extensionarray=options.awkward_types,
    )


def schema_metadata(
    dataset: Dataset, columns: Sequence[Column], scalars: Mapping[str, Any]
) -> dict[bytes, bytes]:
    """Return what a file says beside its columns: where they come from, attributes, names of dimensions."""
    arrays: dict[str, Any] = {}
    for column in columns:
        facts: dict[str, Any] = {"path": column.node.path}
        if any(column.node.dimensions):
            facts["dimensions"] = list(column.node.dimensions)
        if attributes := told_attributes(column.node):
            facts["attributes"] = attributes
        arrays[column.name] = facts
    found: dict[str, Any] = {"source": dataset.path, "arrays": arrays}
    if dataset.attrs:
        found["attributes"] = dict(dataset.attrs)
    if scalars:
        found["values"] = dict(scalars)
    return {METADATA_KEY: json_text(found).encode("utf-8", "replace")}
