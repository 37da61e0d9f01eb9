"""What is said of a plot of nested values: how much of the array it is of, and what is under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.facets.nested.field_facts import length_facts, memory_of, number_facts
from refbrowser.views.nested.nested_numbers import FieldChoice
from refbrowser.views.nested.nested_tally import Collected
from refbrowser.views.words import count_text, size_text

if TYPE_CHECKING:
    from refbrowser.app.facets.nested.facts_view import Fact
    from refbrowser.model.nodes import ArrayNode


def extent_words(found: Collected, are_points: bool) -> str:
    """Return which rows a plot is of; one of points may be of less than were counted."""
    if not found.of_rows:
        return "No rows"
    whole, rows = count_text(found.of_rows), found.point_rows if are_points else found.rows
    unit = "row" if found.of_rows == 1 else "rows"
    words = f"All {whole} {unit}" if rows == found.of_rows else f"First {count_text(rows)} of {whole} {unit}"
    if not found.is_complete and rows == found.rows:
        words = f"{words} (*)"
    return f"{words}; {count_text(found.skipped)} could not be read" if found.skipped else words


def facts_of(node: ArrayNode, choice: FieldChoice, found: Collected | None) -> list[Fact]:
    """Return what is told of a field."""
    assert node.nested is not None
    decoded, stored = memory_of(node.nested)
    facts = [("Rows", count_text(node.nested.length)), ("Memory", size_text(decoded))]
    if stored is not None:
        facts.append(("Stored", size_text(stored)))
    if found is None:
        return facts
    field = found.sums[0]
    first = "" if found.is_complete else " *"
    told = [("Values", count_text(field.values)), ("Missing", count_text(field.missing))]
    if field.unreadable:
        told.append(("Unreadable", count_text(field.unreadable)))
    told += length_facts(field) + number_facts(choice, field)
    return facts + [(f"{title}{first}", text) for title, text in told]
