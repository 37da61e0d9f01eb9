"""A gen rule being edited: its texts and dimensions, and what each field comes to in one row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.views.editing.text_marks import FaultSpan, fault_spans
from refbrowser.views.editing.typed_input import Edited, fault

if TYPE_CHECKING:
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule


TEXT_FIELDS = ("key", "url", "offset", "length")
OPTIONAL_FIELDS = frozenset({"offset", "length"})
RANGE_MEMBERS = ("start", "stop", "step")
SHOWN_VALUES = 1_000
"""Values of a list dimension that are shown and edited as text; a longer list is kept as it is."""

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
#: A text in quotation marks, or anything between commas and blanks.
_ITEM = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,]+')


class DimensionKind(StrEnum):
    """How a dimension gives its values; `OTHER` is a JSON value that the specification does not know."""

    RANGE = "range"
    LIST = "list"
    OTHER = "other"


def is_integer(value: object) -> bool:
    """Tell whether a JSON value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def integer(text: str) -> int | None:
    """Return the integer that a text spells, or None."""
    plain = text.strip()
    if len(plain) > LIMITS.json_digits or not _INTEGER.fullmatch(plain):
        return None
    return int(plain)


def json_text(value: object) -> str:
    """Return a JSON value as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@dataclass(frozen=True, slots=True)
class DimensionDraft:
    """One dimension: the texts of its cells, and the JSON value that they came from.

    Attributes
    ----------
    start, stop, step
        Texts of a range; an empty one is a member that is not there.
    values
        Text of a list: integers, and texts in quotation marks, separated by commas or blanks.
    given
        The JSON value before it was edited; it is given back while the texts say the same, and its
        unknown members are kept.
    """

    name: str
    kind: DimensionKind = DimensionKind.RANGE
    start: str = ""
    stop: str = ""
    step: str = ""
    values: str = ""
    given: Any = field(default=None, compare=False)

    @classmethod
    def of(cls, name: str, value: Any) -> DimensionDraft:
        """Return the draft of a member of `dimensions`."""
        if isinstance(value, Mapping):
            texts = {member: json_text(value[member]) for member in RANGE_MEMBERS if member in value}
            return cls(name, DimensionKind.RANGE, given=value, **texts)
        if isinstance(value, list | tuple):
            return cls(name, DimensionKind.LIST, values=list_text(value), given=value)
        return cls(name, DimensionKind.OTHER, values=json_text(value), given=value)

    @property
    def too_long(self) -> bool:
        """Whether the list has more values than are shown; it can be replaced but not edited."""
        return self.kind is DimensionKind.LIST and self.values.endswith(")")

    def value(self) -> Any:
        """Return the JSON value; a text that spells no integer stays text, for the rule to report."""
        if self.given is not None and self == DimensionDraft.of(self.name, self.given):
            return self.given
        if self.kind is DimensionKind.RANGE:
            return self._range_value()
        if self.kind is DimensionKind.LIST:
            return [_item(text) for text in _ITEM.findall(self.values)]
        return self.given

    def _range_value(self) -> dict[str, Any]:
        given = self.given if isinstance(self.given, Mapping) else {}
        value = dict(given)
        for member in RANGE_MEMBERS:
            text = getattr(self, member)
            if text.strip() == "":
                value.pop(member, None)
            elif member not in given or json_text(given[member]) != text:
                value[member] = _number(text)
        return value

    def size(self) -> int | None:
        """Return how many values the dimension has, or None where its texts give no number."""
        from refbrowser.references.rules.dimensions import parse_dimensions

        dimensions, _faults = parse_dimensions({self.name: self.value()})
        return dimensions[0].length if dimensions else None

    def as_kind(self, kind: DimensionKind) -> DimensionDraft:
        """Return the dimension given the other way, with the same values where that can be written."""
        if kind is self.kind:
            return self
        if kind is DimensionKind.LIST:
            count = self.size() if self.kind is DimensionKind.RANGE else None
            if count is None or count > SHOWN_VALUES:
                return replace(self, kind=kind, values="")
            value = self.value()
            start, step = value.get("start", 0), value.get("step", 1)
            return replace(self, kind=kind, values=list_text([start + row * step for row in range(count)]))
        return self._as_range()

    def _as_range(self) -> DimensionDraft:
        blank = replace(self, kind=DimensionKind.RANGE, start="", stop="", step="")
        values = self.value() if self.kind is DimensionKind.LIST else []
        if not values or not all(is_integer(value) for value in values):
            return blank
        step = values[1] - values[0] if len(values) > 1 else 1
        even = step != 0 and all(second - first == step for first, second in pairwise(values))
        if not even:
            return blank
        last = values[-1] + (1 if step > 0 else -1)
        return replace(
            blank,
            start=str(values[0]) if values[0] != 0 else "",
            stop=str(last),
            step=str(step) if step != 1 else "",
        )


def list_text(values: list[Any] | tuple[Any, ...]) -> str:
    """Return the values of a list dimension as the text of its cell."""
    if len(values) > SHOWN_VALUES:
        return ", ".join(map(_item_text, values[:3])) + f", … ({len(values):,} values)"
    return ", ".join(map(_item_text, values))


def _item_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _item(text: str) -> int | str:
    try:
        value = json.loads(text) if text[0] == '"' else None
    except ValueError:
        value = None
    return value if isinstance(value, str) else _number(text)


def _number(text: str) -> int | str:
    value = integer(text)
    return text if value is None else value


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A rule being edited: its texts, its dimensions, and the JSON object that it came from.

    Attributes
    ----------
    given
        What the document has.
    base
        The object that texts and dimensions are put upon: the one given, or another that was typed as JSON.
    source
        The JSON text where it was typed as such.
    fault
        Why the JSON text is no rule; texts and dimensions are then those before it.
    """

    texts: tuple[str, str, str, str]
    dimensions: tuple[DimensionDraft, ...]
    given: Mapping[str, Any] = field(compare=False)
    base: Mapping[str, Any] = field(compare=False)
    source: str | None = field(default=None, compare=False)
    fault: RefbrowserError | None = field(default=None, compare=False)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> RuleDraft:
        """Return the draft of a rule's JSON object."""
        key, url, offset, length = (json_text(fields[name]) if name in fields else "" for name in TEXT_FIELDS)
        dimensions = fields.get("dimensions")
        members = dimensions.items() if isinstance(dimensions, Mapping) else ()
        drafts = tuple(DimensionDraft.of(name, value) for name, value in members)
        return cls((key, url, offset, length), drafts, fields, fields)

    def text(self, name: str) -> str:
        """Return the text of one of `TEXT_FIELDS`."""
        return self.texts[TEXT_FIELDS.index(name)]

    def with_text(self, name: str, text: str) -> RuleDraft:
        """Return the draft with another text in the field `name`."""
        texts = list(self.texts)
        texts[TEXT_FIELDS.index(name)] = text
        return replace(self, texts=(texts[0], texts[1], texts[2], texts[3]), source=None, fault=None)

    def with_dimensions(self, dimensions: tuple[DimensionDraft, ...]) -> RuleDraft:
        """Return the draft with other dimensions."""
        return replace(self, dimensions=dimensions, source=None, fault=None)

    def with_json(self, text: str) -> RuleDraft:
        """Return the draft that a JSON text is; where it is no object, this one with text and fault."""
        from refbrowser.errors import ErrorKind, RefbrowserError
        from refbrowser.references.text.typed_values import parsed

        try:
            fields = parsed(text)
            if not isinstance(fields, Mapping):
                raise RefbrowserError(ErrorKind.SCHEMA, "a gen rule is an object: { … }")
        except RefbrowserError as error:
            return replace(self, source=text, fault=error)
        return replace(RuleDraft.of(fields), given=self.given, source=text)

    def json(self) -> str:
        """Return the JSON text: as it was typed, or laid out."""
        from refbrowser.references.text.typed_values import laid_out

        return laid_out(self.fields()) if self.source is None else self.source

    @property
    def is_changed(self) -> bool:
        """Whether the editor shows something else than the object that it came from."""
        from refbrowser.references.text.json_edit import same

        if self.fault is not None:
            return True
        if self.base is self.given:
            return self != RuleDraft.of(self.given)
        return not same(self.fields(), self.given)

    @property
    def unknown(self) -> dict[str, Any]:
        """The members that the specification does not know; they are kept."""
        return {name: self.base[name] for name in self.base if name not in (*TEXT_FIELDS, "dimensions")}

    def fields(self) -> dict[str, Any]:
        """Return the JSON object: what was not edited is the same value at the same place."""
        before = RuleDraft.of(self.base)
        result = dict(self.base)
        for name, text, old in zip(TEXT_FIELDS, self.texts, before.texts, strict=True):
            if text == old:
                continue
            if text == "" and name in OPTIONAL_FIELDS:
                result.pop(name, None)
            else:
                result[name] = text
        if self.dimensions != before.dimensions or "dimensions" not in result:
            result["dimensions"] = {draft.name: draft.value() for draft in self.dimensions}
        return result

    def rebased(self, fields: Mapping[str, Any]) -> RuleDraft:
        """Return what was typed here on top of another object: the document changed meanwhile."""
        if self.base is not self.given or self.fault is not None:
            return replace(self, given=fields)
        before, now = RuleDraft.of(self.given), RuleDraft.of(fields)
        for name, text, old in zip(TEXT_FIELDS, self.texts, before.texts, strict=True):
            if text != old:
                now = now.with_text(name, text)
        return now if self.dimensions == before.dimensions else now.with_dimensions(self.dimensions)

    # Typed and not applied, see `Draft`

    def words(self, at: int) -> str:
        """Return what is being edited."""
        return f"gen rule {at}"

    def edit(self, at: int, edited: Edited) -> Edit:
        """Return the edit, see `Draft.edit`; faults that the document's rule has already are no hindrance."""
        from refbrowser.references.edits.outer_edits import SetRule
        from refbrowser.references.rules.gen import GenRule

        for number, column, reason in self.mistakes():
            if column == "json":
                raise fault(f"gen rule {at}: {reason}", "json", self.fault.place.span if self.fault else None)
            raise fault(f"a dimension of gen rule {at}: {reason}", f"dimensions/{number}/{column}")
        before, rule = RuleDraft.of(self.given), GenRule(self.fields(), edited.document.templates, at)
        for name in TEXT_FIELDS:
            found = rule.fields.get(name)
            if found is None or self.text(name) == before.text(name):
                continue
            for error in found.faults:
                words = f"the {'URL' if name == 'url' else name} of gen rule {at}: {error.message}"
                raise fault(words, name, error.place.span)
        if self.dimensions != before.dimensions:
            for error in rule.dimension_faults:
                raise fault(f"the dimensions of gen rule {at}: {error.message}", "dimensions")
        return SetRule(at, self.fields())

    def to_json(self, at: int) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        return {"json": self.json()}

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> RuleDraft | None:
        """Return what `to_json` gave this value of; None where the document has no such rule."""
        if not isinstance(at, int) or not 0 <= at < len(document.rule_nodes):
            return None
        return cls.of(rule_fields(document, at)).with_json(str(value["json"]))

    def mistakes(self) -> list[tuple[int, str, str]]:
        """Return what cannot be written as a rule at all: (dimension number, column, reason) of each."""
        found = [] if self.fault is None else [(-1, "json", json_reason(self.fault))]
        seen: set[str] = set()
        for number, draft in enumerate(self.dimensions):
            if draft.name in seen:
                found.append((number, "name", f"two dimensions are named {draft.name}"))
            if draft.name == "":
                found.append((number, "name", "the dimension has no name"))
            seen.add(draft.name)
            found.extend((number, column, reason) for column, reason in _cell_mistakes(draft))
        return found


def json_reason(error: RefbrowserError) -> str:
    """Return why a JSON text is no rule, with its place."""
    place = error.place
    where = "" if place.line is None else f"line {place.line}, column {place.column}: "
    return f"{where}{error.message}"


def _cell_mistakes(draft: DimensionDraft) -> list[tuple[str, str]]:
    """Return (column, reason) of the cells that were typed and are no integers."""
    value = draft.value()
    if value is draft.given:
        return []
    if draft.kind is DimensionKind.LIST:
        # A text that is meant stands in quotation marks.
        items = _ITEM.findall(draft.values)
        wrong = [text for text, item in zip(items, value, strict=True) if item == text]
        return [("values", f"{wrong[0]} is not an integer")] if wrong else []
    return [
        (member, f"{value[member]} is not an integer")
        for member in RANGE_MEMBERS
        if isinstance(value.get(member), str)
    ]


def rule_fields(document: Document, index: int) -> Mapping[str, Any]:
    """Return the JSON object of a rule; of one that is none, an object without members."""
    value = document.rule_nodes[index].to_python()
    return value if isinstance(value, Mapping) else {}


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
        warning = f"{texts}: the specification allows integers only" if texts else ""
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
