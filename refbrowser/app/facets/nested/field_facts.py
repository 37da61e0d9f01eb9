"""What is told of a field beside its plots: how much there is of it, what is missing, how long lists are."""

from __future__ import annotations

from refbrowser.model.nested import NestedValues, TypeKind
from refbrowser.views.nested.nested_numbers import FieldChoice, dates_of
from refbrowser.views.nested.nested_tally import FieldTally
from refbrowser.views.numbers import value_text
from refbrowser.views.words import count_text


def memory_of(values: NestedValues) -> tuple[int, int | None]:
    """Return how many bytes the buffers of an array are, decoded and stored; None where that is not known."""
    buffers = values.buffers
    stored = [buffer.stored for buffer in buffers]
    known = [size for size in stored if size is not None]
    return sum(buffer.nbytes for buffer in buffers), sum(known) if len(known) == len(stored) else None


def number_facts(choice: FieldChoice, found: FieldTally) -> list[tuple[str, str]]:
    """Return least, greatest and mean of the numbers of a field; nothing where there is none."""
    numbers = found.numbers
    if not numbers.count:
        return []
    dates = dates_of(choice.kind)
    ends = (numbers.low, numbers.high, numbers.mean)
    texts = [value_text(each, 6) if dates is None else dates.text(each) for each in ends]
    facts = list(zip(("Least", "Greatest", "Mean"), texts, strict=True))
    # Of a union others of its values are no numbers at all.
    nans = found.values - numbers.count if choice.kind.kind is TypeKind.NUMBER else 0
    return [*facts, ("Not finite", count_text(nans))] if nans > 0 else facts


def length_facts(found: FieldTally) -> list[tuple[str, str]]:
    """Return how many lists there are on each level, and how long they are."""
    facts = []
    for level, lengths in enumerate(found.lengths):
        of = "" if len(found.lengths) == 1 else f"Level {level + 1} "
        facts.append((f"{of}lists".capitalize(), count_text(lengths.count)))
        if lengths.count:
            low, high = count_text(int(lengths.low)), count_text(int(lengths.high))
            facts.append((f"{of}length".capitalize(), low if low == high else f"{low} to {high}"))
            if low != high:
                facts.append((f"{of}mean length".capitalize(), value_text(lengths.mean, 4)))
    return facts
