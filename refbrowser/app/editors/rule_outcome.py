"""What a rule as it is typed comes to: the value of each field in one row, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from refbrowser.app.editors.draft import RANGE_MEMBERS, TEXT_FIELDS, RuleDraft
from refbrowser.app.editors.jinja_field import FaultSpan, fault_spans
from refbrowser.errors import RefbrowserError
from refbrowser.references.rules.gen import GenRule


@dataclass(frozen=True, slots=True)
class FieldOutcome:
    """One field: what it yields, or its fault and where in the text that is."""

    text: str = ""
    fault: str = ""
    spans: tuple[FaultSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The outcome of every field, and the faults of the dimensions.

    Attributes
    ----------
    fields
        By name.
    cells
        (number of the dimension, column) to the reason why that cell is wrong.
    dimensions_fault
        What is wrong with the dimensions, in words.
    dimensions_warning
        What the specification does not have.
    can_apply
        Whether the draft can be written as a rule; a faulty rule can.
    """

    fields: dict[str, FieldOutcome]
    cells: dict[tuple[int, str], str] = field(default_factory=dict)
    dimensions_fault: str = ""
    dimensions_warning: str = ""
    can_apply: bool = True

    @classmethod
    def of(cls, rule: GenRule, draft: RuleDraft, row: int) -> RuleOutcome:
        """Return the outcome of a rule made from a draft; `row` is the one that is shown."""
        fields = {name: _field(rule, name, draft.text(name), row) for name in TEXT_FIELDS}
        mistakes = draft.mistakes()
        cells = {(number, column): reason for number, column, reason in mistakes}
        for error in rule.dimension_faults:
            cells.setdefault(_cell(error, draft), error.message)
        reasons = [reason for _, _, reason in mistakes] or [error.message for error in rule.dimension_faults]
        texts = ", ".join(each.name for each in rule.space.dimensions if each.has_texts)
        warning = f"{texts}: the specification has integers only" if texts else ""
        return cls(fields, cells, "; ".join(dict.fromkeys(reasons)), warning, not mistakes)

    @property
    def fault_count(self) -> int:
        """Number of fields that are at fault in the shown row or any, the dimensions counted as one."""
        return sum(bool(each.fault) for each in self.fields.values()) + bool(self.dimensions_fault)


def _field(rule: GenRule, name: str, text: str, row: int) -> FieldOutcome:
    found = rule.fields.get(name)
    if found is None:
        return FieldOutcome("none: the rows are whole files" if name == "offset" else "")
    errors: Iterable[RefbrowserError] = found.faults
    if not found.faults and row < rule.count:
        try:
            return FieldOutcome(str(found.evaluate(rule.space.values(row))))
        except RefbrowserError as error:
            message = f"row {row}: {error.message}"
            return FieldOutcome("", message, tuple(fault_spans([error], text)))
    if not errors:
        return FieldOutcome("no rows")
    message = "; ".join(dict.fromkeys(_reason(error) for error in errors))
    return FieldOutcome("", message, tuple(fault_spans(errors, text)))


def _reason(error: RefbrowserError) -> str:
    return f"{error.message} ({error.advice})" if error.advice else error.message


def _cell(error: RefbrowserError, draft: RuleDraft) -> tuple[int, str]:
    """Return the cell that a fault's pointer (``/dimensions/i/step``) is about."""
    _, _, rest = (error.place.pointer or "").partition("/dimensions/")
    name, _, member = rest.partition("/")
    plain = name.replace("~1", "/").replace("~0", "~")
    number = next((at for at, dimension in enumerate(draft.dimensions) if dimension.name == plain), -1)
    if member in RANGE_MEMBERS:
        return number, member
    return number, "values" if member else "stop"
