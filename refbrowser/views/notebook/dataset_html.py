"""A dataset, a group or an array as a notebook shows it: made of what is known, in bounded time and size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from refbrowser.engine.dataset import Array, Dataset, Group, damage_of
from refbrowser.findings.finding import Finding
from refbrowser.markup import Content, Markup, element, folded
from refbrowser.model.nodes import ArrayNode, GroupNode, Node
from refbrowser.views.hierarchy import type_text
from refbrowser.views.notebook.node_parts import (
    DIMENSIONS,
    array_body,
    attribute_part,
    chunk_sides,
    dimension_words,
    problem_lines,
    size_words_of,
)
from refbrowser.views.notebook.theme import head, part, shown
from refbrowser.views.notebook.tree import Room, counts_below
from refbrowser.words import count_text, counted_spaced

#: Arrays and groups that are shown of the first group, arrays of those below, rows of all; arrays that can be
#: unfolded; levels of groups.
_OF_GROUP, _BELOW, _ALL, _UNFOLDABLE, _LEVELS = 50, 20, 200, 40, 8
#: Groups that are unfolded from the beginning have at most so many arrays.
_SMALL = 12
#: Characters for which a cell has room, about.
_CUT = 24


def dataset_html(dataset: Dataset) -> str:
    """Return a dataset as HTML: its groups and arrays, to be unfolded, and what is wrong with it."""
    root = dataset.hierarchy.root
    counts = counts_below(root).words if isinstance(root, GroupNode) else ""
    problems = problems_of(dataset, "/")
    return shown(
        head("Dataset", dataset.path, format_words(dataset), counts),
        problem_lines(problems),
        _node(root, _by_path(problems), Room(_ALL, _UNFOLDABLE)),
    )


def group_html(group: Group) -> str:
    """Return a group as HTML, as `dataset_html`."""
    problems = problems_of(group.dataset, group.path)
    return shown(
        head("Group", group.path, counts_below(group.node).words),
        problem_lines(problems),
        _node(group.node, _by_path(problems), Room(_ALL, _UNFOLDABLE)),
    )


def array_html(array: Array) -> str:
    """Return an array as HTML: its chunk grid as a drawing, what is known of it, its attributes."""
    node = array.node
    return shown(
        head("Array", array.path, dimension_words(node), element("span", type_text(node), class_="rb-type")),
        array_body(node, problems_of(array.dataset, array.path), is_alone=True),
    )


def problems_of(dataset: Dataset, path: str) -> tuple[Finding, ...]:
    """Return what is known to be wrong with a node and what is below it: damage, and in metadata."""
    below = f"{path.rstrip('/')}/"
    told = dataset.hierarchy.findings
    of_metadata = [each for each in told if f"{(each.place.path or '').rstrip('/')}/".startswith(below)]
    paths = None if path == "/" else (path,)
    return (*damage_of(dataset, paths, known=True), *of_metadata)


_ByPath = Mapping[str | None, list[Finding]]


def _by_path(problems: Iterable[Finding]) -> _ByPath:
    found: dict[str | None, list[Finding]] = {}
    for each in problems:
        found.setdefault(each.place.path, []).append(each)
    return found


def format_words(dataset: Dataset) -> str:
    """Return the format of a dataset, and whose rules its metadata follows where that does not tell."""
    flavour = dataset.hierarchy.flavour
    is_told = not dataset.document.has_keys or dataset.format == str(flavour)
    edited = ", edited" if dataset.document.is_edited else ""
    return f"{dataset.format}{'' if is_told else f' ({flavour.label})'}{edited}"


def _node(root: Node, problems: _ByPath, room: Room) -> Markup:
    if isinstance(root, ArrayNode):
        return array_body(root, is_alone=True)
    return element("div", _inside(root, problems, room, 0))


def _inside(group: GroupNode, problems: _ByPath, room: Room, level: int) -> Iterator[Content]:
    """Yield what is in a group: problems, dimensions, attributes, arrays, groups."""
    if group.error is not None:
        yield from problem_lines([group.error])
    yield from _dimensions(group)
    yield attribute_part(group)
    before = room.rows
    yield [_array(node, problems, room) for node in room.first(group.arrays, _BELOW if level else _OF_GROUP)]
    yield _more(len(group.arrays) - (before - room.rows), "array")
    seen = 0
    for child in room.first(group.groups, _OF_GROUP):
        seen += 1
        yield _group(child, problems, room, level + 1)
    yield _more(len(group.groups) - seen, "group")


def _more(count: int, noun: str) -> Markup:
    if count <= 0:
        return Markup("")
    return element("div", f"and {counted_spaced(count, f'more {noun}')}", class_="rb-plain rb-soft")


def _dimensions(group: GroupNode) -> Iterator[Markup]:
    if not group.dimensions:
        return
    told = [
        f"{each.name} {count_text(each.size)}{' (unlimited)' if each.unlimited else ''}"
        for each in islice(group.dimensions.values(), DIMENSIONS)
    ]
    more = len(group.dimensions) - len(told)
    words = ", ".join([*told, *([f"and {more:,} more"] if more else [])])
    yield element("p", element("span", "Dimensions ", class_="rb-soft"), words)


def _group(group: GroupNode, problems: _ByPath, room: Room, level: int) -> Markup:
    counts = counts_below(group)
    summary = [
        element("code", f"{group.name}/", class_="rb-name"),
        " ",
        element("span", counts.words, class_="rb-soft"),
    ]
    if level >= _LEVELS:
        return element("div", summary, class_="rb-plain")
    is_open = level == 1 and len(group.arrays) <= _SMALL
    return part(summary, _inside(group, problems, room, level), is_open=is_open)


def _cell(name: str, words: str, kind: str | None = None) -> Markup:
    """Return a cell of a row; one that may be cut says all of it under the pointer."""
    return element(name, words, class_=kind, title=words if len(words) > _CUT else None)


def _array(node: ArrayNode, problems: _ByPath, room: Room) -> Markup:
    is_faulty = node.error is not None or node.unreadable is not None
    cells = [
        _cell("code", node.name or "/", "rb-name rb-fault" if is_faulty else "rb-name"),
        _cell("span", dimension_words(node)),
        element("span", type_text(node), class_="rb-mono rb-type"),
        element("span", chunk_sides(node), class_="rb-soft", title="sides of its chunks"),
        element("span", size_words_of(node), class_="rb-soft", title="bytes of all elements in memory"),
    ]
    # Blanks are for those who copy the text, or see it without the sheet.
    row = element("span", ([cell, " "] for cell in cells), class_="rb-cells")
    if not room.has_body():
        return element("div", row, class_="rb-plain")
    return folded(row, array_body(node, problems.get(node.path, ())))
