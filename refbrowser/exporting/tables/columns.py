"""The columns of a table, and how blocks of rows become tables of Arrow of one and the same schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.errors import Place
from refbrowser.exporting.nested.choice import told_attributes
from refbrowser.exporting.nested.conform import MissingValuesError, conformed
from refbrowser.exporting.nested.row_reading import RowSource
from refbrowser.exporting.nested.target_types import Abilities, TargetType, TypeNote, target_type
from refbrowser.exporting.table_options import TableOptions
from refbrowser.exporting.tables.room import with_room
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.nested import TypePath
from refbrowser.model.netcdf.attributes import json_text
from refbrowser.model.nodes import ArrayNode, GroupNode

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
#: Arrays of a single value, with it, by name.
Scalars = Mapping[str, tuple[ArrayNode, Any]]
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
    dataset: Dataset,
    columns: Sequence[Column],
    groups: Iterable[GroupNode],
    scalars: Scalars,
) -> dict[bytes, bytes]:
    """Return what a file says beside its columns: where they come from, attributes, names of dimensions.

    Parameters
    ----------
    groups
        Of which attributes are told.
    scalars
        Arrays of a single value.
    """
    arrays = {column.name: _facts(column.node) for column in columns}
    arrays |= {name: _facts(node) for name, (node, _) in scalars.items()}
    found: dict[str, Any] = {"source": dataset.path, "arrays": arrays}
    told = {group.path: dict(group.attributes) for group in groups if group.attributes}
    if "/" in told:
        found["attributes"] = told.pop("/")
    if told:
        found["groups"] = told
    if scalars:
        found["values"] = {name: value for name, (_, value) in scalars.items()}
    return {METADATA_KEY: json_text(found).encode("utf-8", "replace")}


def _facts(node: ArrayNode) -> dict[str, Any]:
    facts: dict[str, Any] = {"path": node.path}
    if any(node.dimensions):
        facts["dimensions"] = list(node.dimensions)
    fill = plain_fill(node.fill_value)
    if fill is not None:
        facts["fill_value"] = fill
    if attributes := told_attributes(node):
        facts["attributes"] = attributes
    return facts
