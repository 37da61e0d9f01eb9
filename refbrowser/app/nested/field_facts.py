"""What is told of a field beside its plots: how much there is of it, what is missing, how long lists are."""

from __future__ import annotations

import numpy as np

from refbrowser.app.theme import count_text
from refbrowser.engine.views.nested_numbers import FieldChoice, FieldNumbers, dates_of
from refbrowser.engine.views.numbers import value_text
from refbrowser.model.nested import NestedValues, TypeKind


def memory_of(values: NestedValues) -> tuple[int, int | None]:
    """Return how many bytes the buffers of an array are, decoded and stored; None where that is not known."""
    buffers = values.buffers
    stored = [buffer.stored for buffer in buffers]
    known = [size for size in stored if size is not None]
    return sum(buffer.nbytes for buffer in buffers), sum(known) if len(known) == len(stored) else None


def number_facts(choice: FieldChoice, found: FieldNumbers) -> list[tuple[str, str]]:
    """Return least, greatest and mean of the numbers of a field; nothing where there is none."""
    known = found.numbers[np.isfinite(found.numbers)]
    if not len(known):
        return []
    low, high, mean = (float(number) for number in (known.min(), known.max(), known.mean(dtype=np.float64)))
    dates = dates_of(choice.kind)
    texts = [value_text(each, 6) if dates is None else dates.text(each) for each in (low, high, mean)]
    facts = list(zip(("Least", "Greatest", "Mean"), texts, strict=True))
    # Of a union others of its values are no numbers at all.
    nans = found.values - len(known) if choice.kind.kind is TypeKind.NUMBER else 0
    return [*facts, ("Not finite", count_text(nans))] if nans > 0 else facts


def length_facts(found: FieldNumbers) -> list[tuple[str, str]]:
    """Return how many lists there are on each level, and how long they are."""
    facts = []
    for level, lengths in enumerate(found.lengths):
        title = "Lists" if len(found.lengths) == 1 else f"Lists, level {level + 1}"
        facts.append((title, count_text(len(lengths))))
        if len(lengths):
            low, high = int(lengths.min()), int(lengths.max())
            span = (
                str(low) if low == high else f"{low} to {high}, mean {value_text(float(lengths.mean()), 4)}"
            )
            facts.append(("Length" if len(found.lengths) == 1 else f"Length, level {level + 1}", span))
    return facts
