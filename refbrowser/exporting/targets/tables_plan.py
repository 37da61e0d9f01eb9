"""Which arrays become the columns of which table, as awkward's conversion to Arrow needs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.layout import names_left_out, plain_names, stored_form
from refbrowser.exporting.nested.conformed_rows import MissingValuesError, conformed
from refbrowser.exporting.nested.row_arrays import chosen_nodes, told_attributes
from refbrowser.exporting.nested.row_reader import RowSource
from refbrowser.exporting.nested.target_types import (
    Abilities,
    TargetType,
    TypeNote,
    check_readable,
    target_type,
)
from refbrowser.exporting.options import TableOptions
from refbrowser.exporting.paths import escaped_key
from refbrowser.exporting.request import ExportRequest, Loss
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.nested import TypePath
from refbrowser.model.netcdf.attributes import json_text
from refbrowser.model.nodes import ArrayNode, GroupNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def with_room(content: Any) -> Any:
    """Return a content in canonical form with an element behind missing values where there was none.

    Awkward takes the first element for all that is missing; where everything is missing there is none, and
    its arrays of Arrow are then shorter than they say (seen with awkward 2.14).
    """
    from awkward.contents import IndexedOptionArray, ListOffsetArray, RecordArray, RegularArray, UnionArray

    if content.is_option:
        inner = with_room(content.content)
        if content.length and not inner.length and not inner.is_unknown:
            inner = with_room(inner.form.length_one_array(highlevel=False))
        return IndexedOptionArray(content.index, inner)
    if content.is_record:
        parts = [with_room(part) for part in content.contents]
        fields = None if content.is_tuple else content.fields
        return RecordArray(parts, fields, content.length, parameters=content.parameters)
    if content.is_union:
        return UnionArray(content.tags, content.index, [with_room(part) for part in content.contents])
    if content.is_regular:
        return RegularArray(with_room(content.content), content.size, content.length)
    if content.is_list and content.parameter("__array__") is None:
        return ListOffsetArray(content.offsets, with_room(content.content))
    return content


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


#: Name of the only array of a dataset, where it has none.
_UNNAMED = "values"
#: Rows that are written together, at most: what readers of Parquet expect.
_MOST_ROWS = 1 << 20

#: By path of an array: where values could not be read although its type has none missing.
Widened = dict[str, frozenset[TypePath]]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One file.

    Attributes
    ----------
    name
        Of the file below the target; empty where the target is the file.
    length
        Rows.
    """

    name: str
    columns: tuple[Column, ...]
    length: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in memory, on average."""
        return sum(column.source.row_bytes for column in self.columns)

    def block_rows(self, group_size: int) -> int:
        """Return how many rows are written together: whole chunks of the largest array where these fit."""
        rows = max(1, min(group_size // self.row_bytes, _MOST_ROWS))
        largest = max(self.columns, key=lambda column: column.source.row_bytes).source.unit
        return rows // largest * largest or rows


@dataclass(frozen=True, slots=True)
class TablesPlan:
    """All files of an export.

    Attributes
    ----------
    values
        Arrays of a single value beside others that have rows: they are kept in the metadata of the file.
    """

    tables: tuple[TablePlan, ...]
    values: tuple[RowSource, ...]
    is_folder: bool
    skipped: tuple[RefbrowserError, ...]
    losses: tuple[Loss, ...]

    @property
    def paths(self) -> list[str]:
        """Those of the arrays that are written."""
        sources = [column.source for table in self.tables for column in table.columns]
        return [each.node.path for each in (*sources, *self.values)]


def planned(dataset: Dataset, request: ExportRequest, widened: Widened) -> TablesPlan:
    """Return the files that an export makes.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set), or there is none.
    """
    skipped: list[RefbrowserError] = []
    sources: list[RowSource] = []
    for node, selection in chosen_nodes(dataset.hierarchy, request.arrays):
        try:
            source = RowSource.of(node, selection)
            check_readable(source.type, skip_bad=request.skip_bad)
        except RefbrowserError as error:
            placed = replace(error.place, path=node.path)
            told = RefbrowserError(error.kind, error.message, placed, error.advice)
            if not request.skip_bad:
                raise told from error
            skipped.append(told)
            continue
        sources.append(source)
    if not sources:
        raise RefbrowserError(ErrorKind.META, "there is no array to write", Place(path="/"))
    return _files(sources, plain_names(dataset), request, widened, tuple(skipped))


def _files(
    sources: list[RowSource],
    name: Callable[[str], str],
    request: ExportRequest,
    widened: Widened,
    skipped: tuple[RefbrowserError, ...],
) -> TablesPlan:
    rows = [source for source in sources if not source.is_single]
    is_folder = len({source.length for source in rows}) > 1
    values = [source for source in sources if source.is_single and rows and not is_folder]
    held = [source for source in sources if source not in values]
    losses: list[Loss] = []

    def column(source: RowSource, title: str) -> Column:
        node, told = _as_stored(source.node)
        where = widened.get(source.node.path, frozenset())
        made = Column.of(title or _UNNAMED, source, node, request.format, where)
        losses.extend(Loss(source.node.path, what) for what in (*told, *map(str, made.notes)))
        return made

    if is_folder:
        losses.append(
            Loss("/", "arrays have different numbers of rows: they are written to a folder with a file each")
        )
        tables = [
            TablePlan(
                _file_name(name(source.node.path.strip("/")), request.format),
                (column(source, name(source.node.name)),),
                source.length,
            )
            for source in held
        ]
    else:
        columns = tuple(column(source, name(source.node.path.strip("/"))) for source in held)
        tables = [TablePlan("", columns, held[0].length)]
    losses.extend(
        Loss(each.node.path, "the single value is kept in the metadata of the file") for each in values
    )
    return TablesPlan(tuple(tables), tuple(values), is_folder, skipped, tuple(losses))


def _as_stored(node: ArrayNode) -> tuple[ArrayNode, Sequence[str]]:
    """Return an array without what only its format has."""
    if node.nested is not None:
        return node, ()
    stored, told = stored_form(node)
    return stored, [*told, *names_left_out(node.dtype)]


def _file_name(name: str, format: str) -> str:
    return f"{escaped_key(name or _UNNAMED)}.{format}"
