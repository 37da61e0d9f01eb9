"""What is shown of one array or group: facts, drawing, attributes, problems; nothing is read for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import prod

from refbrowser.errors import RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.markup import Content, Markup, element, folded, table
from refbrowser.model.grid import sides_text
from refbrowser.model.nodes import ArrayNode, Node
from refbrowser.views.attributes import array_pairs, field_sections, nested_pairs
from refbrowser.views.hierarchy import nested_text
from refbrowser.views.notebook.attribute_words import attribute_rows
from refbrowser.views.notebook.chunk_drawing import chunk_drawing
from refbrowser.views.notebook.theme import more_words
from refbrowser.words import count_text, counted_spaced, size_text

#: Attributes that are shown unfolded, of an array that is shown by itself.
_UNFOLDED = 12
#: Problems, fields of structures, dimensions of a group that are listed.
_PROBLEMS, _FIELDS, DIMENSIONS = 10, 20, 12
#: Characters of a fact.
_FACT = 400
#: Facts that stand in the head of an array already, or that have a section of their own.
_ELSEWHERE = ("Path",)


def dimension_words(node: ArrayNode) -> str:
    """Return the dimensions of an array: ``time 12, lat 180``; of a nested one its type as Awkward has it."""
    if node.nested is not None:
        return nested_text(node)
    names = (*node.dimensions, *[None] * (len(node.shape) - len(node.dimensions)))
    told = [
        f"{name} {count_text(size)}" if name else count_text(size)
        for name, size in zip(names, node.shape, strict=False)
    ]
    return ", ".join(told) or "scalar"


def chunk_sides(node: ArrayNode) -> str:
    """Return the sides of the chunks of an array: ``1×90×90``; empty where they are not known."""
    return sides_text(node.grid) if node.has_grid and node.shape and node.nested is None else ""


def size_words_of(node: ArrayNode) -> str:
    """Return the bytes of all elements in memory; empty where that is not known before they are read."""
    if node.dtype is None or node.dtype.hasobject:
        return ""
    return size_text(prod(node.shape) * node.dtype.itemsize)


def fact_pairs(node: ArrayNode) -> list[tuple[str, str]]:
    """Return what is known of an array, in the words of the window."""
    pairs = nested_pairs(node) if node.nested is not None else array_pairs(node)
    return [(name, text[:_FACT]) for name, text in pairs if name not in _ELSEWHERE and text]


def pair_table(pairs: Iterable[tuple[Content, Content]]) -> Markup:
    """Return names with values beside them; nothing where there are none."""
    rows = list(pairs)
    return table([], rows, class_="rb-pairs") if rows else Markup("")


def problem_lines(problems: Sequence[Finding | RefbrowserError]) -> Iterator[Markup]:
    """Yield what is wrong, a line each; of many the first."""
    for each in problems[:_PROBLEMS]:
        is_fault = not isinstance(each, Finding) or each.severity is Severity.FAULT
        word = "Fault" if is_fault else "Warning"
        advice = f"; {each.advice}" if each.advice else ""
        yield element(
            "p",
            element("b", word, class_="rb-fault" if is_fault else "rb-warning"),
            f" {each.message}{advice}",
        )
    yield more_words(len(problems) - _PROBLEMS)


def attribute_part(node: Node, *, is_open: bool = False) -> Markup:
    """Return the attributes of a node behind their number; nothing where it has none."""
    count = len(node.attributes)
    if not count:
        return Markup("")
    rows = pair_table(
        (element("code", name), element("span", words)) for name, words in attribute_rows(node.attributes)
    )
    return folded(counted_spaced(count, "attribute"), rows, is_open=is_open)


def array_body(node: ArrayNode, problems: Sequence[Finding] = (), *, is_alone: bool = False) -> Markup:
    """Return all that is shown of an array below its head.

    Parameters
    ----------
    problems
        What is damaged that may concern it.
    is_alone
        It is all that is shown: a few attributes are not folded.
    """
    errors = [each for each in (node.error, node.unreadable) if each is not None]
    drawing = Markup("")
    if node.has_grid and node.nested is None:
        drawing = chunk_drawing(node.grid, node.dimensions)
    fields = [
        folded(section.title, pair_table((row.name, f"{row.type}, {row.value}") for row in rows))
        for section in field_sections(node)
        if (rows := list(islice(section.rows, _FIELDS)))
    ]
    return element(
        "div",
        drawing,
        element(
            "div",
            problem_lines([*errors, *problems]),
            pair_table(fact_pairs(node)),
            fields,
            attribute_part(node, is_open=is_alone and len(node.attributes) <= _UNFOLDED),
        ),
        class_="rb-body",
    )
