"""What a whole chunk, or a metadata document, holds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.explain.explanation import Line, Step, StepState
from refbrowser.views.explain.texts import counted, exact_text, plain
from refbrowser.views.interpretation import Interpretation
from refbrowser.views.numbers import value_text

#: A longest metadata document that is parsed to say what is in it.
LARGEST_JSON = 2_000_000
_MINUS = "\N{MINUS SIGN}"


def contents_step(node: ArrayNode, coords: tuple[int, ...], values: npt.NDArray[Any]) -> Step:
    """Return the step that sums up the elements of a chunk, without those beyond the array's edge."""
    assert node.grid is not None
    extent = node.grid.extent(coords)
    inside = values[tuple(slice(0, size) for size in extent)]
    lines = [Line(counted(inside.size, "element"), "Contents")]
    cut = values.size - inside.size
    if cut:
        lines.append(Line(f"{counted(cut, 'element')} beyond the edge of the array, not shown", "Besides"))
    facts: dict[str, Any] = {"elements": inside.size, "beyond_edge": cut}
    shown = Interpretation(node, decoded=True)
    state = StepState.OK
    if shown.is_number and inside.dtype.kind != "c":
        numbers = shown.numbers(inside.astype(inside.dtype.newbyteorder("="), copy=False))
        empty = int(np.isnan(numbers).sum())
        facts["without_value"] = empty
        state = StepState.WARNING if empty == inside.size else StepState.OK
        lines.append(Line(f"{empty} of them", "No value"))
        if empty < inside.size:
            low, high = _number(shown, np.nanmin(numbers)), _number(shown, np.nanmax(numbers))
            units = f" {plain(shown.units, 60)}" if shown.units else ""
            lines.append(Line((low if low == high else f"{low} to {high}") + units, "Values"))
    elif inside.size:
        lines.append(Line(exact_text(inside.reshape(-1)[0]), "First"))
    return Step(name="contents", title="What the chunk holds", state=state, lines=lines, facts=facts)


def _number(shown: Interpretation, value: Any) -> str:
    if shown.dates is not None:
        return plain(shown.dates.text(float(value)), 60)
    return value_text(value).replace(_MINUS, "-")


def document_step(data: bytes) -> Step:
    """Return the step that looks at a metadata document."""
    title = "The document"
    if len(data) > LARGEST_JSON:
        return Step(name="document", title=title, lines=[Line("too large to be looked at here")])
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        lines = [Line(f"it is not JSON: {plain(error)}")]
        return Step(name="document", title=title, state=StepState.FAULT, lines=lines, facts={"json": False})
    lines = [Line(plain(value if isinstance(value, str) else json.dumps(value)), "JSON")]
    if isinstance(value, dict):
        names = ", ".join(plain(name, 40) for name in list(value)[:30])
        lines.insert(0, Line(names or "none", "Members"))
    return Step(name="document", title=title, lines=lines, facts={"json": True})
