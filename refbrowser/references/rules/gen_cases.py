"""Keys that are not lowered as a whole, but are once the values of a dimension are told apart.

``{{ 'a' if i < 5 else 'b' }}/{{ j }}`` is ``a/{{ j }}`` for some values of i and ``b/{{ j }}`` for the rest:
two lowered keys over parts of the space, each searched by arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.references.rules.dimensions import Int64, RowSpace, RuleDimension
from refbrowser.references.rules.gen_keys import KeyPattern
from refbrowser.references.rules.lowering import Text, lower_template, merge
from refbrowser.references.templates.evaluate import Compiled, Scope, compile_template
from refbrowser.references.templates.template import Template

if TYPE_CHECKING:
    from jinja2 import nodes

#: Different texts that one dimension may be told apart by, and cases in all.
_MOST_CASES = 64
#: Values of a dimension that are looked at.
_MOST_VALUES = 1_000_000


@dataclass(frozen=True)
class KeyCase:
    """A lowered key over a part of the space.

    Attributes
    ----------
    positions
        For each dimension the positions in the whole space that belong to the part.
    """

    pattern: KeyPattern
    whole: RowSpace
    positions: tuple[Sequence[int], ...]

    def find(self, key: str) -> int | None:
        """Return the last row of the rule with this key within the case, or None; raises as `KeyPattern`."""
        row = self.pattern.find(key)
        if row is None:
            return None
        indices = self.pattern.space.indices(row)
        return self.whole.row(part[index] for part, index in zip(self.positions, indices, strict=True))

    def rows(self, rows: Int64) -> Int64:
        """Return rows of the rule for rows of the case; negative ones stay."""
        columns = self.pattern.space.index_columns(np.maximum(rows, 0))
        found = np.zeros_like(rows)
        for part, column, length in zip(self.positions, columns, self.whole.lengths, strict=True):
            place = (
                column + part.start if isinstance(part, range) else np.asarray(part, dtype=np.int64)[column]
            )
            found = found * length + place
        return np.where(rows < 0, rows, found)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the key: lowered, or a closure that depends on the dimension `slot`."""

    text: Text = ()
    compiled: Compiled | None = None
    slot: int = -1


def key_cases(template: Template, scope: Scope, space: RowSpace) -> tuple[KeyCase, ...] | None:
    """Return the cases of a key over a space that is not empty, or None where there are none or too many.

    Rows at which the key is faulty are in no case.
    """
    parts = _parts(template, scope, space)
    if parts is None:
        return None
    choices = []
    for slot in sorted({part.slot for part in parts if part.compiled is not None}):
        found = _tell_apart([part for part in parts if part.slot == slot], slot, space)
        if found is None:
            return None
        choices.append([(slot, *choice) for choice in found.items()])
    if np.prod([len(choice) for choice in choices]) > _MOST_CASES:
        return None
    return tuple(_case(parts, space, chosen) for chosen in product(*choices))


def _parts(template: Template, scope: Scope, space: RowSpace) -> list[_Part] | None:
    from jinja2 import nodes

    parts = []
    for body in _printed_nodes(template):
        if body[-1].find(nodes.Assign) is not None:
            # What it sets under a condition reaches the parts behind it.
            return None
        assert template.syntax is not None
        alone = replace(template, syntax=replace(template.syntax, body=body))
        compiled = compile_template(alone, scope)
        text = lower_template(alone, compiled, scope, space)
        if text is not None:
            parts.append(_Part(text))
        elif len(compiled.uses) == 1:
            (name,) = compiled.uses
            parts.append(_Part((), compiled, space.names.index(name)))
        else:
            return None
    return parts


def _printed_nodes(template: Template) -> Iterator[tuple[nodes.Node, ...]]:
    """Yield each node that prints, after the statements before it that set a name."""
    from jinja2 import nodes

    before: tuple[nodes.Node, ...] = ()
    for node in template.syntax.body if template.syntax is not None else ():
        if isinstance(node, nodes.Output):
            yield from ((*before, nodes.Output([item])) for item in node.nodes)
        else:
            if isinstance(node, nodes.Assign):
                before = (*before, node)
            else:
                yield (*before, node)


def _tell_apart(
    parts: Sequence[_Part], slot: int, space: RowSpace
) -> dict[tuple[str, ...], list[int]] | None:
    """Return the texts that parts give for the values of a dimension, each with its positions."""
    dimension = space.dimensions[slot]
    if dimension.length > _MOST_VALUES:
        return None
    found: dict[tuple[str, ...], list[int]] = {}
    values: list[Any] = [each.values[0] for each in space.dimensions]
    for position, value in enumerate(dimension.values):
        values[slot] = value
        try:
            texts = tuple(part.compiled.render(tuple(values)) for part in parts if part.compiled is not None)
        except RefbrowserError:
            continue
        if texts not in found and len(found) == _MOST_CASES:
            return None
        found.setdefault(texts, []).append(position)
    return found


def _case(
    parts: Sequence[_Part], space: RowSpace, chosen: Sequence[tuple[int, tuple[str, ...], list[int]]]
) -> KeyCase:
    texts = {slot: iter(found) for slot, found, _ in chosen}
    pieces = [
        piece for part in parts for piece in ((next(texts[part.slot]),) if part.compiled else part.text)
    ]
    positions: list[Sequence[int]] = [range(length) for length in space.lengths]
    dimensions = list(space.dimensions)
    for slot, _, found in chosen:
        whole = space.dimensions[slot]
        if found[-1] - found[0] + 1 == len(found):
            positions[slot] = range(found[0], found[-1] + 1)
            dimensions[slot] = RuleDimension(whole.name, whole.values[found[0] : found[-1] + 1])
        else:
            positions[slot] = found
            dimensions[slot] = RuleDimension(whole.name, tuple(whole.values[place] for place in found))
    return KeyCase(KeyPattern(merge(pieces), RowSpace(tuple(dimensions))), space, tuple(positions))
