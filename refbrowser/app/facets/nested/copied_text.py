"""Nested values as JSON text, to be put on the clipboard; no Qt here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from refbrowser.cli.values import json_ready
from refbrowser.engine.nested.python_values import python_values
from refbrowser.engine.nested.reading import read_rows, unread_error
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nested import NestedRows
from refbrowser.views.nested.nested_lines import LineMaker, NestedPath
from refbrowser.views.nested.nested_values import NestedColumn, NestedValue, ValueKind, fault_of

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.nodes import ArrayNode

#: Characters that one copy holds at most.
TEXT_MOST = 64_000_000


def copied(
    dataset: Dataset,
    node: ArrayNode,
    columns: Sequence[NestedColumn],
    paths: Sequence[NestedPath],
    control: JobControl,
) -> str:
    """Return the values of some lines as JSON, a line each.

    Raises
    ------
    RefbrowserError
        They cannot be read, or are too many.
    """
    maker, texts, size = LineMaker(columns), [], 0
    for row, of_row in groupby(paths, key=lambda path: path[0]):
        control.check()
        rows = read_rows(dataset.session, node, dataset.access, row, row + 1, control.token)
        for path in of_row:
            plain = json_ready(_plain(maker.value(rows, row, path), node))
            texts.append(json.dumps(plain, ensure_ascii=False))
            size += len(texts[-1])
            if size > TEXT_MOST:
                message = f"the selection is longer than {TEXT_MOST:,} characters"
                raise RefbrowserError(ErrorKind.BUDGET, message, advice="select less, or export the array")
        control.progress(len(texts), len(paths))
    return "\n".join(texts)


def _plain(value: NestedValue, node: ArrayNode) -> Any:
    if value.kind is ValueKind.UNREADABLE:
        error = fault_of(value.rows, value.path)
        raise error or RefbrowserError(ErrorKind.SOURCE, f"a value of {node.path} cannot be read")
    if value.content is None:
        return None
    content = value.content[value.at : value.at + 1]
    unread = unread_error(NestedRows(content, value.rows.faults), node)
    if unread is not None:
        raise unread
    return python_values(content)[0]
