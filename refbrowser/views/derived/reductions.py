"""Statistics of an array over some of its dimensions, or ranges of these: their expression and their name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refbrowser.model.expressions.grammar import Call, NamedArray, parsed, word_text

#: What is taken over a dimension, by the function of expressions that takes it.
STATISTICS: Mapping[str, str] = {
    "mean": "mean",
    "min": "minimum",
    "max": "maximum",
    "std": "spread",
    "sum": "sum",
}


@dataclass(frozen=True, slots=True)
class AxisReduction:
    """A statistic over one dimension.

    Attributes
    ----------
    name
        Of the dimension.
    statistic
        One of `STATISTICS`.
    part
        What of the dimension is taken, as a selection has it behind its name: ``2024-03..2024-05``, or
        ``@0:10`` by index; empty for all of it.
    """

    name: str
    statistic: str
    part: str = ""

    @property
    def selection(self) -> str:
        """What is taken of the dimension as a selection; empty for all of it."""
        if not self.part:
            return ""
        return f"{self.name}{self.part if self.part[0] in '@~' else f'={self.part}'}"

    @property
    def words(self) -> str:
        """The statistic with what it is over: ``mean over time (2024-03..2024-05)``."""
        part = f" ({self.part})" if self.part else ""
        return f"{STATISTICS[self.statistic]} over {self.name}{part}"


def reduced_text(array: NamedArray, reductions: Sequence[AxisReduction]) -> str:
    """Return the expression of an array with statistics over its dimensions, the first one taken first."""
    parts = [each.selection for each in reductions if each.selection]
    text = str(replace(array, selection=",".join(parts)))
    for each in reductions:
        text = f"{each.statistic}({text}, {word_text(each.name)})"
    name = f"{array.path.rsplit('/', 1)[-1]}_{'_'.join(each.statistic for each in reductions)}"
    return f"{name} = {text}" if name.isidentifier() else text


def reductions_of(text: str) -> tuple[str, tuple[AxisReduction, ...]] | None:
    """Return the path of an array and its statistics, where `reduced_text` wrote its text; else None."""
    expression, taken = parsed(text).expression, []
    while isinstance(expression, Call) and expression.name in STATISTICS and len(expression.words) == 1:
        taken.append((expression.words[0], expression.name))
        expression = expression.operands[0]
    if not taken or not isinstance(expression, NamedArray):
        return None
    parts = {}
    for each in filter(None, expression.selection.split(",")):
        name = next((name for name, _ in taken if each.startswith((f"{name}=", f"{name}@", f"{name}~"))), "")
        parts[name] = each[len(name) :].removeprefix("=")
    found = tuple(AxisReduction(name, statistic, parts.get(name, "")) for name, statistic in reversed(taken))
    is_such = reduced_text(NamedArray("", expression.path), found) == text
    return (expression.path, found) if is_such else None


def with_reduction(reductions: Sequence[AxisReduction], wanted: AxisReduction) -> tuple[AxisReduction, ...]:
    """Return statistics with that over one dimension in the place of another over it, or last."""
    if all(each.name != wanted.name for each in reductions):
        return (*reductions, wanted)
    return tuple(wanted if each.name == wanted.name else each for each in reductions)


def without_reduction(reductions: Sequence[AxisReduction], name: str) -> tuple[AxisReduction, ...]:
    """Return statistics without that over a dimension."""
    return tuple(each for each in reductions if each.name != name)
