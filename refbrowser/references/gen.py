"""Gen rules (References specification, Version 1) as algebra: counted, viewed, searched, never expanded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Reference, WholeFile
from refbrowser.references.dimensions import RowSpace, RuleDimension, parse_dimensions
from refbrowser.references.gen_columns import RuleColumns
from refbrowser.references.gen_fields import FIELDS, RuleField, placed, read_field, rule_scope
from refbrowser.references.gen_rows import FieldColumn, GenRow, GenRows
from refbrowser.references.templates import TemplateSet


@dataclass(frozen=True, slots=True)
class NotDecided:
    """The answer of a search that reached its bound: so many rows were looked at."""

    rows_checked: int


class GenRule:
    """One gen rule: four jinja-str over the cartesian product of its dimensions.

    Making one never raises: what is wrong is listed by `faults`. Immutable, safe to share across threads.

    Parameters
    ----------
    fields
        The rule's members as Python values (unknown ones are left alone).
    templates
        The document's templates.
    index
        Position of the rule in `gen`.
    """

    def __init__(self, fields: Mapping[str, Any], templates: TemplateSet, index: int) -> None:
        self.index = index
        self.templates = templates
        self._members = fields if isinstance(fields, Mapping) else {}
        self._is_object = isinstance(fields, Mapping)
        self._dimensions, self._dimension_faults = parse_dimensions(self._members.get("dimensions"))
        self.space = RowSpace(self._dimensions)
        scope = self._scope = rule_scope(self.space, templates)
        self.fields: dict[str, RuleField] = {}
        for name in FIELDS:
            found = read_field(name, self._members, scope)
            if found is not None:
                self.fields[name] = found

    @property
    def key(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("key")

    @property
    def url(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("url")

    @property
    def offset(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("offset")

    @property
    def length(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("length")

    def _text(self, name: str) -> str | None:
        found = self.fields.get(name)
        return found.text if found is not None else None

    @property
    def dimensions(self) -> tuple[tuple[str, range | tuple[int, ...]], ...]:
        """Names and values of the dimensions that are good, in document order."""
        return tuple((dimension.name, dimension.values) for dimension in self._dimensions)

    @cached_property
    def count(self) -> int:
        """Number of rows, which may exceed 2**63; 0 where a dimension is faulty."""
        return 0 if self._dimension_faults or not self._dimensions else self.space.count

    def __len__(self) -> int:
        return self.count

    @cached_property
    def columns(self) -> RuleColumns | None:
        """The fields as columns; None where there are no rows."""
        return RuleColumns(self.fields, self.space, self._scope, self.index) if self.count else None

    def row(self, row: int) -> GenRow:
        """Return one generated entry, 0 <= row < count.

        Raises
        ------
        IndexError
            There is no such row.
        """
        if not 0 <= row < self.count:
            raise IndexError(row)
        values = self.space.values(row)
        found: dict[str, Any] = {}
        first: RefbrowserError | None = None
        for name, rule_field in self.fields.items():
            try:
                found[name] = rule_field.evaluate(values)
            except RefbrowserError as error:
                first = first or placed(error, self.index, name, row)
        reference: Reference | None = None
        if first is None and "offset" in self.fields:
            reference = ByteRange(found["url"], found["offset"], found["length"])
        elif first is None:
            reference = WholeFile(found["url"])
        return GenRow(row, found.get("key"), reference, first)

    def rows(self, start: int, stop: int) -> GenRows:
        """Return the entries of rows [start, stop), cut at the ends of the rule, as columns."""
        start = max(0, min(start, self.count))
        stop = max(start, min(stop, self.count))
        if self.columns is None or start == stop:
            return GenRows(start, 0, lambda name: FieldColumn([], {}) if name in self.fields else None)
        return self.columns.window(start, stop)

    def find(self, key: str) -> int | None | NotDecided:
        """Return the last row with this key, None where there is none, or that it was not decided."""
        field_ = self.fields["key"]
        if field_.compiled is None or field_.faults:
            return None
        steps = LIMITS.template_steps_job
        checked = 0
        for row in range(self.count - 1, -1, -1):
            if steps <= 0:
                return NotDecided(checked)
            steps -= field_.compiled.steps
            checked += 1
            try:
                if field_.evaluate(self.space.values(row)) == key:
                    return row
            except RefbrowserError:
                continue
        return None

    def faults(self) -> list[Finding]:
        """Return everything that is wrong with the rule, also where it yields no row."""
        findings = [
            self._finding(placed(error, self.index, "dimensions", None)) for error in self._dimension_faults
        ]
        if not self._is_object:
            place = Place(rule=self.index, pointer=f"/gen/{self.index}")
            return [
                Finding(
                    severity=Severity.FAULT,
                    kind=ErrorKind.SCHEMA,
                    message="the rule is not an object",
                    place=place,
                )
            ]
        for name in self.space.names:
            if name in self.templates.texts:
                message = f"dimension {quoted(name)} has the name of a template"
                place = Place(
                    rule=self.index, field="dimensions", pointer=f"/gen/{self.index}/dimensions/{name}"
                )
                findings.append(
                    Finding(severity=Severity.FAULT, kind=ErrorKind.TEMPLATE, message=message, place=place)
                )
        for name, field_ in self.fields.items():
            for error in field_.faults:
                findings.append(self._finding(placed(error, self.index, name, 0 if self.count else None)))
        return findings

    def _finding(self, error: RefbrowserError) -> Finding:
        return Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=error.message,
            place=error.place,
            advice=error.advice,
        )
