"""Nested values as JSON text, to be put on the clipboard."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from refbrowser.cli.values import json_values
from refbrowser.engine.views.nested_columns import NestedColumn
from refbrowser.engine.views.nested_folds import NestedPath
from refbrowser.engine.views.nested_lines import LineMaker
from refbrowser.engine.views.nested_values import NestedValue, ValueKind
from refbrowser.errors import ErrorKind, RefbrowserError

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.nodes import ArrayNode

#: Values that one copy holds at most.
VALUES_MOST = 2_000_000


class _Room:
    """How many values there is still room for."""

    def __init__(self) -> None:
        self._left = VALUES_MOST

    def take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise RefbrowserError(
                ErrorKind.BUDGET,
                f"the selection has more than {VALUES_MOST:,} values",
                advice="select less, or export the array",
            )


def copied(
    dataset: Dataset,
    node: ArrayNode,
    columns: Sequence[NestedColumn],
    paths: Sequence[NestedPath],
    control: JobControl,
) -> str:
    """Return the values of some lines as JSON, a line each; what cannot be read is null.

    Raises
    ------
    RefbrowserError
        They cannot be read, or are too many.
    """
    from refbrowser.engine.nested.reading import read_rows

    maker, room, texts = LineMaker(columns), _Room(), []
    for row, of_row in groupby(paths, key=lambda path: path[0]):
        control.check()
        rows = read_rows(dataset.session, node, dataset.access, row, row + 1, control.token)
        texts += [
            json.dumps(plain_value(maker.value(rows, row, path), room), ensure_ascii=False) for path in of_row
        ]
        control.progress(len(texts), len(paths))
    return "\n".join(texts)


def plain_value(value: NestedValue, room: _Room) -> Any:
    """Return a value as what JSON has: lists, objects, numbers, texts, null."""
    room.take(1)
    if value.kind is ValueKind.LIST:
        return [plain_value(value.item(number), room) for number in range(value.length)]
    if value.kind is ValueKind.RECORD:
        items = [plain_value(value.item(number), room) for number in range(value.length)]
        return items if value.is_tuple else dict(zip(value.fields, items, strict=True))
    if value.kind in (ValueKind.MISSING, ValueKind.UNREADABLE):
        return None
    return json_values(value.scalar())
