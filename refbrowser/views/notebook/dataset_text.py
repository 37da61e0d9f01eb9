"""A dataset, a group or an array as text for a terminal: short, in columns, and acting on nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refbrowser.engine.dataset import Array, Dataset, Group
from refbrowser.errors import quoted
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.views.hierarchy import type_text
from refbrowser.views.notebook.attribute_words import attribute_rows
from refbrowser.views.notebook.dataset_html import format_words, problems_of
from refbrowser.views.notebook.node_parts import (
    chunk_sides,
    dimension_words,
    fact_pairs,
    size_words_of,
)
from refbrowser.views.notebook.tree import Room, counts_below
from refbrowser.words import counted_spaced

#: Rows of arrays and groups, of one group and of all; characters of a cell and of a line.
_OF_GROUP, _ALL, _CELL, _LINE = 12, 30, 44, 100
#: Attributes that are shown of one array, and problems.
_ATTRIBUTES, _PROBLEMS = 8, 3


def dataset_text(dataset: Dataset) -> str:
    """Return a dataset in a few lines: what it is, and its groups with their arrays in columns."""
    root = dataset.hierarchy.root
    return _joined(
        [
            f"<refbrowser.Dataset {quoted(dataset.path)}>",
            *_summary(dataset, root if isinstance(root, GroupNode) else None),
            *(_tree(root) if isinstance(root, GroupNode) else _facts(root)),
            *_problems(dataset, "/"),
        ]
    )


def group_text(group: Group) -> str:
    """Return a group in a few lines, as `dataset_text`."""
    return _joined(
        [
            f"<refbrowser.Group {quoted(group.path)}>",
            counts_below(group.node).words,
            *_tree(group.node),
            *_problems(group.dataset, group.path),
        ]
    )


def group_line(group: Group) -> str:
    """Return a group in one line."""
    return f"<refbrowser.Group {quoted(group.path)}: {_plain(counts_below(group.node).words)}>"


def array_line(array: Array) -> str:
    """Return an array in one line."""
    sides = chunk_sides(array.node)
    chunks = f", chunks {sides}" if sides else ""
    about = _plain(f"({dimension_words(array.node)}) {type_text(array.node)}{chunks}")
    return f"<refbrowser.Array {quoted(array.path)} {about}>"


def array_text(array: Array) -> str:
    """Return an array in lines: what is known of it, and its first attributes."""
    problems = _problems(array.dataset, array.path)
    return _joined([f"<refbrowser.Array {quoted(array.path)}>", *_facts(array.node), *problems])


def _summary(dataset: Dataset, root: GroupNode | None) -> Iterator[str]:
    yield ", ".join([format_words(dataset), *([] if root is None else [counts_below(root).words])])


def _facts(node: ArrayNode) -> Iterator[str]:
    for error in (node.error, node.unreadable):
        if error is not None:
            yield f"fault: {error.message}"
    pairs = fact_pairs(node)
    attributes = list(attribute_rows(node.attributes))
    shown = [(f":{name}", words) for name, words in attributes[:_ATTRIBUTES]]
    more = len(node.attributes) - _ATTRIBUTES
    yield from _columns([*pairs, *shown], "  ")
    if more > 0:
        yield f"  and {counted_spaced(more, 'more attribute')}"


def _problems(dataset: Dataset, path: str) -> Iterator[str]:
    found = problems_of(dataset, path)
    yield from (f"{each.severity}: {each.message}" for each in found[:_PROBLEMS])
    if len(found) > _PROBLEMS:
        yield f"and {counted_spaced(len(found) - _PROBLEMS, 'more problem')}"


def _tree(root: GroupNode) -> Iterator[str]:
    """Yield groups by their paths, each with its arrays, in columns that all groups share."""
    lines = list(_tree_lines(root, Room(_ALL)))
    rows = _columns([line for line in lines if not isinstance(line, str)], "  ")
    yield from (line if isinstance(line, str) else next(rows) for line in lines)


def _tree_lines(group: GroupNode, room: Room) -> Iterator[str | Sequence[str]]:
    """Yield what is in a group and below: cells of arrays, and lines of all else."""
    before = room.rows
    yield from (_cells(node) for node in room.first(group.arrays, _OF_GROUP))
    left = len(group.arrays) - (before - room.rows)
    if left > 0:
        yield f"  and {counted_spaced(left, 'more array')}"
    left = len(group.groups)
    # Each level takes a row: none of them is deep.
    for child in room.first(group.groups, _OF_GROUP):
        left -= 1
        yield child.path
        yield from _tree_lines(child, room)
    if left > 0:
        yield f"  and {counted_spaced(left, 'more group')}"


def _cells(node: ArrayNode) -> tuple[str, ...]:
    is_faulty = node.error is not None or node.unreadable is not None
    sides = chunk_sides(node)
    told = "cannot be read" if is_faulty else f"chunks {sides}" if sides else ""
    return node.name or "/", type_text(node), dimension_words(node), told, size_words_of(node)


def _columns(rows: Sequence[Sequence[str]], indent: str) -> Iterator[str]:
    """Yield rows with their cells below each other."""
    cells = [[_cell(cell) for cell in row[:-1]] + [_plain(row[-1])] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield indent + (line if len(line) <= _LINE else f"{line[: _LINE - 1]}…")


def _cell(text: str) -> str:
    plain = _plain(text)
    return plain if len(plain) <= _CELL else f"{plain[: _CELL - 1]}…"


def _plain(text: str) -> str:
    """Return foreign text that acts on no terminal; a narrow space of ours is a plain one there."""
    return quoted(text.replace("\N{NARROW NO-BREAK SPACE}", " "), 400)[1:-1]


def _joined(lines: Sequence[str]) -> str:
    return "\n".join([lines[0], *map(_plain, lines[1:])])
