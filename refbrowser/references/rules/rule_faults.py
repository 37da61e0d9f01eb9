"""What is wrong with a gen rule: exactly where arithmetic tells, else by a bounded look at its rows.

Where a field is not lowered, a proof that it cannot fail (its kind and bounds over all rows, without
evaluating any) makes the look needless: a conditional or a filter whose operands are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from refbrowser.errors import Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import NOT_DECIDED, RULE_FAULTY, RULE_TEXTS
from refbrowser.limits import LIMITS
from refbrowser.references.rules.dimensions import Int64, RowSpace, RuleDimension, member_pointer
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.integer_expressions import (
    Affine,
    Operator,
    bounds,
    count_below_zero,
    evaluate,
    first_below_zero,
    interval,
)
from refbrowser.references.rules.rule_rows import RuleColumns, RuleField, below_zero, placed
from refbrowser.references.rules.rule_search import FieldSpace, SearchTime
from refbrowser.references.templates.evaluate import Scope
from refbrowser.references.templates.expressions import UndefinedNameError
from refbrowser.references.templates.filters import parse_braces, parse_percent
from refbrowser.references.templates.syntax import Template, text_size

if TYPE_CHECKING:
    from jinja2 import nodes


_OPERATORS: Mapping[str, Operator] = {"Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "Mod": "%"}
#: Characters of any number but a huge integer, and of any integer in base 2.
_NUMBER_SIZE = 140


@dataclass(frozen=True, slots=True)
class Certain:
    """What is known of a value: an integer within bounds, a text, or something that prints; and its size.

    Attributes
    ----------
    size
        Most bytes that it prints.
    """

    kind: Literal["integer", "text", "printable"]
    size: int
    low: int = 0
    high: int = 0


def certain_text(template: Template, scope: Scope, space: RowSpace, steps: int) -> int | None:
    """Return the most bytes that a template prints, where it is proved that it prints at every row."""
    found = _proof(template, scope, space, steps)
    return None if found is None else found.size


def certain_integer(template: Template, scope: Scope, space: RowSpace, steps: int) -> bool:
    """Whether it is proved that a template prints an integer not below 0 at every row."""
    found = _proof(template, scope, space, steps)
    return found is not None and found.kind == "integer" and found.low >= 0


def _proof(template: Template, scope: Scope, space: RowSpace, steps: int) -> Certain | None:
    if template.syntax is None:
        return None
    names = {
        name: _values(space.dimensions[slot]) for slot, name in enumerate(space.names) if name in scope.slots
    }
    prover = _Prover(scope, {name: value for name, value in names.items() if value is not None})
    found = prover.block(template.syntax.body)
    # Each text is also worth steps; near the limit the closures decide.
    return found if steps + prover.cost // 16 <= LIMITS.template_steps_entry else None


def _certain_integer(low: int, high: int) -> Certain | None:
    if max(abs(low), abs(high)).bit_length() > LIMITS.template_integer_bits:
        return None
    return Certain("integer", max(len(str(low)), len(str(high))), low, high)


def _values(dimension: RuleDimension) -> Certain | None:
    if not dimension.has_texts:
        return _certain_integer(*dimension.bounds)
    kinds = {type(value) for value in dimension.values}
    sizes = [text_size(value) if isinstance(value, str) else _NUMBER_SIZE for value in dimension.values]
    return Certain("text" if kinds == {str} else "printable", max(sizes))


def _either(first: Certain | None, second: Certain | None) -> Certain | None:
    if first is None or second is None:
        return None
    size = max(first.size, second.size)
    if first.kind == second.kind:
        return Certain(first.kind, size, min(first.low, second.low), max(first.high, second.high))
    return Certain("printable", size)


class _Prover:
    """Walks a tree with what is known of each name."""

    def __init__(self, scope: Scope, names: Mapping[str, Certain]) -> None:
        self.scope = scope
        self.names = names
        self.cost = 0

    def block(self, body: Sequence[nodes.Node]) -> Certain | None:
        """Return what a sequence of texts, expressions and conditions prints."""
        from jinja2 import nodes

        parts: list[Certain | None] = []
        for node in body:
            if isinstance(node, nodes.Assign):
                if not self._assign(node):
                    return None
                continue
            if isinstance(node, nodes.If):
                parts.append(self._if(node))
                continue
            if not isinstance(node, nodes.Output):
                return None
            for item in node.nodes:
                parts.append(self.value(item))
        if len(parts) == 1:
            return parts[0]
        return self._joined(parts)

    def _assign(self, node: nodes.Assign) -> bool:
        """Take in a name that is set; whether its value is certain."""
        value = self.value(node.node)
        if value is None:
            return False
        self.names = {**self.names, getattr(node.target, "name", ""): value}
        return True

    def _if(self, node: nodes.If) -> Certain | None:
        from jinja2 import nodes as kinds

        if node.find(kinds.Assign) is not None:
            # What the name is worth afterwards depends on the condition.
            return None
        found = self.block(node.body)
        for branch in node.elif_:
            found = _either(found, self.block(branch.body) if self.value(branch.test) is not None else None)
        found = _either(found, self.block(node.else_))
        return found if self.value(node.test) is not None else None

    def _text(self, text: str) -> Certain | None:
        return self._sized(len(text.encode("utf-8", "surrogatepass")))

    def _sized(self, size: int) -> Certain | None:
        self.cost += size
        return Certain("text", size) if size <= LIMITS.template_string else None

    def _joined(self, parts: Sequence[Certain | None]) -> Certain | None:
        known = [part for part in parts if part is not None]
        return self._sized(sum(part.size for part in known)) if len(known) == len(parts) else None

    def value(self, node: nodes.Node) -> Certain | None:
        """Return what is known of an expression, or None where it may fail."""
        prove = getattr(self, f"_{type(node).__name__.lower()}", None)
        found: Certain | None = prove(node) if prove is not None else None
        return found

    def _templatedata(self, node: nodes.TemplateData) -> Certain | None:
        return self._text(node.data)

    def _const(self, node: nodes.Const) -> Certain | None:
        if type(node.value) is int:
            return _certain_integer(node.value, node.value)
        if isinstance(node.value, str):
            return self._text(node.value)
        return Certain("printable", _NUMBER_SIZE)

    def _name(self, node: nodes.Name) -> Certain | None:
        if node.name in self.names:
            return self.names[node.name]
        template = self.scope.templates.get(node.name)
        if (
            node.name in self.scope.slots
            or node.name in self.scope.faults
            or template is None
            or template.needed
        ):
            return None
        return self._text(template.text) if template.is_literal else self._body(template, {})

    def _body(self, template: Template, names: Mapping[str, Certain]) -> Certain | None:
        inner = _Prover(Scope(), names)
        found = inner.block(template.syntax.body if template.syntax is not None else ())
        self.cost += inner.cost
        return None if found is None else Certain("text", found.size)

    def _call(self, node: nodes.Call) -> Certain | None:
        from jinja2 import nodes

        if isinstance(node.node, nodes.Getattr):
            return self._brace_format(node, node.node)
        name = getattr(node.node, "name", "")
        template = None if name in self.names else self.scope.templates.get(name)
        arguments = {item.key: self.value(item.value) for item in node.kwargs}
        known = {name: value for name, value in arguments.items() if value is not None}
        if template is None or template.is_literal or len(known) < len(arguments):
            return None
        return self._body(template, known)

    def _brace_format(self, node: nodes.Call, method: nodes.Getattr) -> Certain | None:
        values = [self.value(item) for item in node.args]
        try:
            fields, after = parse_braces(getattr(method.node, "value", ""))
        except RefbrowserError:
            return None
        size = len(after) * 4
        for field in fields:
            value = values[field.index] if field.index < len(values) else None
            plain = not field.spec or field.spec[-1] in "bdoxX0123456789"
            if value is None or (field.spec and (value.kind != "integer" or not plain or "." in field.spec)):
                return None
            size += len(field.before) * 4 + max(
                field.width * 4, value.size, _NUMBER_SIZE if field.spec else 0
            )
        return self._sized(size)

    def _binary(self, node: nodes.BinExpr) -> Certain | None:
        left, right = self.value(node.left), self.value(node.right)
        name = type(node).__name__
        if left is None or right is None:
            return None
        if left.kind == right.kind == "integer":
            found = interval(_OPERATORS[name], (left.low, left.high), (right.low, right.high))
            return None if found is None else _certain_integer(*found)
        if name == "Add" and left.kind == right.kind == "text":
            return self._sized(left.size + right.size)
        return None

    _add = _sub = _mul = _floordiv = _binary

    def _mod(self, node: nodes.Mod) -> Certain | None:
        from jinja2 import nodes

        if isinstance(node.left, nodes.Const) and isinstance(node.left.value, str):
            arguments = node.right.items if isinstance(node.right, nodes.Tuple) else [node.right]
            return self._percent(node.left.value, arguments)
        return self._binary(node)

    def _percent(self, text: str, arguments: Sequence[nodes.Node]) -> Certain | None:
        try:
            form = parse_percent(text)
        except RefbrowserError:
            return None
        values = [self.value(item) for item in arguments]
        used = [directive for directive in form.directives if directive.letter != "%"]
        if len(used) != len(values):
            return None
        size = len(text) * 4
        for directive, value in zip(used, values, strict=True):
            is_integer = value is not None and value.kind == "integer" and directive.precision is None
            if value is None or directive.key or not (directive.letter == "s" or is_integer):
                return None
            if directive.letter not in "sdiuxXo":
                return None
            size += max(directive.width, value.size, _NUMBER_SIZE)
        return self._sized(size)

    def _neg(self, node: nodes.Neg) -> Certain | None:
        value = self.value(node.node)
        return (
            _certain_integer(-value.high, -value.low)
            if value is not None and value.kind == "integer"
            else None
        )

    def _concat(self, node: nodes.Concat) -> Certain | None:
        return self._joined([self.value(item) for item in node.nodes])

    def _condexpr(self, node: nodes.CondExpr) -> Certain | None:
        second = self.value(node.expr2) if node.expr2 is not None else Certain("text", 0)
        found = _either(self.value(node.expr1), second)
        return found if self.value(node.test) is not None else None

    def _not(self, node: nodes.Not) -> Certain | None:
        return Certain("printable", 5) if self.value(node.node) is not None else None

    def _and(self, node: nodes.And) -> Certain | None:
        return _either(self.value(node.left), self.value(node.right))

    def _or(self, node: nodes.Or) -> Certain | None:
        return _either(self.value(node.left), self.value(node.right))

    def _compare(self, node: nodes.Compare) -> Certain | None:
        values = [self.value(node.expr), *(self.value(item.expr) for item in node.ops)]
        kinds = {value.kind for value in values if value is not None}
        ordered = all(item.op in ("eq", "ne", "lt", "lteq", "gt", "gteq") for item in node.ops)
        if None in values or not ordered or len(kinds) != 1 or "printable" in kinds:
            return None
        self.cost += sum(value.size for value in values if value is not None)
        return Certain("printable", 5)

    def _filter(self, node: nodes.Filter) -> Certain | None:
        from jinja2 import nodes

        if node.name == "format" and isinstance(node.node, nodes.Const) and isinstance(node.node.value, str):
            return None if node.kwargs else self._percent(node.node.value, node.args)
        value = self.value(node.node) if node.node is not None and not node.args and not node.kwargs else None
        if value is None:
            return None
        if node.name in ("string", "upper", "lower"):
            # A letter in capitals may be three, and twice the bytes.
            return self._sized(value.size if node.name == "string" else value.size * 6)
        if node.name == "length" and value.kind == "text":
            return _certain_integer(0, value.size)
        if value.kind != "integer" or node.name not in ("abs", "int", "round"):
            return None
        if node.name != "abs":
            return value
        reach = max(abs(value.low), abs(value.high))
        return _certain_integer(
            0 if value.low <= 0 <= value.high else min(abs(value.low), abs(value.high)), reach
        )


_EXAMPLES = 3
_BLOCK = 1 << 16
#: Rows that are looked at even where the time is over.
_LEAST = 64
#: Evaluation steps of the search for keys that are not known.
_HIDDEN_STEPS = LIMITS.template_steps_job // 100
#: Steps that one row of a numpy column counts for.
_COLUMN_STEPS = 8


def find_faults(
    rule: GenRule, steps: int = LIMITS.template_steps_job, left: SearchTime | None = None
) -> list[Finding]:
    """Return everything that is wrong with a rule, also where it yields no row.

    Exact with counts where a field is affine, or depends on few enough combinations to look at all of them;
    else what a bounded search of `steps` evaluation steps for each field finds in the time `left`, and a
    warning that the rest was not decided.
    """
    if steps != LIMITS.template_steps_job:
        return list(_faults(rule, steps, left or SearchTime()))
    return list(rule.remembered("faults", lambda left: tuple(_faults(rule, steps, left)), left))


def _faults(rule: GenRule, steps: int, left: SearchTime) -> Iterator[Finding]:
    yield from static_faults(rule)
    for dimension in rule.space.dimensions:
        if dimension.has_texts:
            yield _texts(rule.index, dimension)
    if rule.columns is None:
        return
    for name, field in rule.fields.items():
        if field.faults:
            continue
        if name in rule.columns.integers:
            yield from _integer(rule.columns, field, steps, left)
        elif not _is_certain(rule.columns, field):
            yield from _searched(rule.columns, field, steps, left)


def static_faults(rule: GenRule) -> Iterator[Finding]:
    """Yield what is wrong with a rule whatever its rows are: no row is looked at for it."""
    yield from map(_fault, (*rule.structure_faults, *rule.clashes))
    if not rule.is_object:
        return
    for field in rule.fields.values():
        if field.faults:
            yield from _static(rule, field)
        elif rule.columns is None:
            yield from _without_rows(rule, field)


def hidden_key(rule: GenRule) -> RefbrowserError | None:
    """Return why some key of a rule is not known, as far as a bounded look tells; else None.

    A key that the rule may give and does not may be that one.
    """
    return rule.remembered("hidden key", lambda left: _hidden_key(rule, left))


def _hidden_key(rule: GenRule, left: SearchTime) -> RefbrowserError | None:
    if rule.structure_faults:
        return rule.structure_faults[0]
    if rule.columns is None:
        return None
    key = rule.fields["key"]
    if key.faults:
        return placed(key.faults[0], rule.index, "key", None)
    if _is_certain(rule.columns, key):
        return None
    found = _searched(rule.columns, key, _HIDDEN_STEPS, left)
    return next((each.error() for each in found if each.severity is Severity.FAULT), None)


def _texts(index: int, dimension: RuleDimension) -> Finding:
    position = next(place for place, value in enumerate(dimension.values) if isinstance(value, str))
    pointer = f"/gen/{index}{member_pointer(dimension.name)}/{position}"
    return RULE_TEXTS.finding(
        f"dimension {quoted(dimension.name)} lists texts, the specification allows integers only",
        Place(rule=index, field="dimensions", pointer=pointer),
        count=sum(isinstance(value, str) for value in dimension.values),
    )


def _static(rule: GenRule, field: RuleField) -> Iterator[Finding]:
    for error in field.faults:
        if isinstance(error, UndefinedNameError) and rule.dimension_faults and not rule.space.dimensions:
            continue
        found = placed(error, rule.index, field.name, 0 if rule.count else None)
        yield replace(_fault(found), count=max(1, rule.count))


def _without_rows(rule: GenRule, field: RuleField) -> Iterator[Finding]:
    """Look at what does not depend on a dimension: it is wrong whether there are rows or not."""
    assert field.compiled is not None
    if field.compiled.uses:
        return
    try:
        field.evaluate([0] * len(rule.dimension_names))
    except RefbrowserError as error:
        yield _fault(placed(error, rule.index, field.name, None))


def _integer(columns: RuleColumns, field: RuleField, steps: int, left: SearchTime) -> Iterator[Finding]:
    value = columns.integers[field.name]
    found = bounds(value, columns.space)
    if found is not None and found[0] >= 0:
        return
    if not isinstance(value, Affine):
        yield from _searched(columns, field, steps, left)
        return
    first = first_below_zero(value, columns.space)
    if first is None:
        return
    count = count_below_zero(value, columns.space)
    error = below_zero(field.name, evaluate(value, columns.space.values(first)))
    examples = _next_below_zero(columns, field.name, first)
    yield _group(columns, field.name, _Group(error, [first, *examples], count))


def _next_below_zero(columns: RuleColumns, name: str, first: int) -> list[int]:
    stop = min(columns.space.count, first + 4096)
    column = columns.window(first + 1, stop).column(name)
    faults = column.faults if column is not None else {}
    return [first + 1 + position for position in list(faults)[: _EXAMPLES - 1]]


def _is_certain(columns: RuleColumns, field: RuleField) -> bool:
    """Whether it is proved that the field is good at every row."""
    if field.template is None or field.compiled is None:
        return False
    if field.name in ("key", "url") and field.name in columns.texts:
        return True
    if field.name in ("offset", "length"):
        return certain_integer(field.template, columns.scope, columns.space, field.compiled.steps)
    size = certain_text(field.template, columns.scope, columns.space, field.compiled.steps)
    return size is not None and size <= (LIMITS.key_length if field.name == "key" else LIMITS.url_length)


@dataclass
class _Group:
    """Faults of one field with the same cause; `count` None where it is not known."""

    error: RefbrowserError
    rows: list[int]
    count: int | None


class _Look:
    """A look at rows: how many there were, and whether there is time for more."""

    def __init__(self, left: SearchTime, row_steps: int) -> None:
        self._left = left
        self.block = min(max(left.steps // row_steps, _LEAST), _BLOCK)
        self.rows = 0

    def take(self, rows: int) -> int:
        """Return how many of so many rows may be looked at now; 0 where the time is over."""
        if self.rows >= _LEAST and self._left.is_over:
            return 0
        taken = min(rows, self.block if self.rows else _LEAST)
        self.rows += taken
        return taken


def _searched(columns: RuleColumns, field: RuleField, steps: int, left: SearchTime) -> Iterator[Finding]:
    """Look at the combinations of the dimensions that the field depends on."""
    where = FieldSpace(columns.space, tuple(sorted(columns.slots(field.name))))
    groups: dict[Any, _Group] = {}
    each = _row_steps(columns, field)
    look = _Look(left, each)
    most = max(1, steps // each)
    count = where.inner.count
    if count <= most:
        found = _faulty_rows(columns, field, where, range(count), look)
    else:
        found = _sampled(columns, field, where, most, look)
    for fault in found:
        key = (fault.error.kind, fault.error.place.span)
        group = groups.setdefault(key, _Group(fault.error, [], 0))
        assert group.count is not None
        group.count += where.repeats * fault.count
        if len(group.rows) < _EXAMPLES:
            group.rows.append(where.first_row(fault.row))
    for group in groups.values():
        yield _group(columns, field.name, group)
    if look.rows < count:
        yield _not_decided(columns, field.name, look.rows)


def _row_steps(columns: RuleColumns, field: RuleField) -> int:
    if field.name in columns.by_numpy:
        return _COLUMN_STEPS
    return max(1, field.compiled.steps) if field.compiled is not None else 1


@dataclass(frozen=True, slots=True)
class _Fault:
    """An error at a combination, which stands for `count` combinations with the same cause."""

    row: int
    error: RefbrowserError
    count: int = 1


def _sampled(
    columns: RuleColumns, field: RuleField, where: FieldSpace, most: int, look: _Look
) -> Iterator[_Fault]:
    """Yield faults of the ends, of the first rows, and of the last rows."""
    start = most * 3 // 4
    stop = where.inner.count - (most - start)
    for row in where.probes():
        if start <= row < stop:
            if not look.take(1):
                return
            error = _error(field, where.values(row))
            if error is not None:
                yield _Fault(row, error)
    yield from _faulty_rows(columns, field, where, range(start), look)
    yield from _faulty_rows(columns, field, where, range(stop, where.inner.count), look)


def _faulty_rows(
    columns: RuleColumns, field: RuleField, where: FieldSpace, rows: range, look: _Look
) -> Iterator[_Fault]:
    begin = rows.start
    while begin < rows.stop:
        size = look.take(rows.stop - begin)
        if not size:
            return
        if columns.is_wide:
            for row in range(begin, begin + size):
                error = _error(field, where.values(row))
                if error is not None:
                    yield _Fault(row, error)
            begin += size
            continue
        positions = [np.zeros(size, dtype=np.int64)] * len(columns.space.dimensions)
        for slot, column in zip(where.slots, where.inner.index_window(begin, begin + size), strict=True):
            positions[slot] = column
        if field.name in columns.by_numpy:
            found = _negative_rows(columns, field, positions, size)
        else:
            faults = columns.column(field.name, positions, size).faults
            found = (_Fault(row, error) for row, error in faults.items())
        for fault in found:
            yield replace(fault, row=begin + fault.row)
        begin += size


def _negative_rows(
    columns: RuleColumns, field: RuleField, positions: Sequence[Int64], size: int
) -> Iterator[_Fault]:
    """Yield the first rows below 0, the last of them for all that follow."""
    values = columns.values(field.name, positions)
    found = np.broadcast_to(evaluate(columns.integers[field.name], values), (size,))
    rows = np.flatnonzero(found < 0)
    for number, row in enumerate(rows[:_EXAMPLES].tolist(), 1):
        count = 1 if number < _EXAMPLES else len(rows) - number + 1
        yield _Fault(row, below_zero(field.name, int(found[row])), count)


def _error(field: RuleField, values: list[int]) -> RefbrowserError | None:
    try:
        field.evaluate(values)
    except RefbrowserError as error:
        return error
    return None


def _group(columns: RuleColumns, name: str, group: _Group) -> Finding:
    error = placed(group.error, columns.index, name, group.rows[0])
    message = error.message
    if group.count is None:
        message += f"; the number of such rows was not decided, among them {_listed(group.rows)}"
    elif group.count > 1:
        message += f"; so are {group.count} rows, among them {_listed(group.rows)}"
    return replace(_fault(error), message=message, count=group.count or 1)


def _listed(rows: list[int]) -> str:
    return ", ".join(map(str, rows))


def _not_decided(columns: RuleColumns, name: str, checked: int) -> Finding:
    place = Place(rule=columns.index, field=name, pointer=f"/gen/{columns.index}/{name}")
    message = f"whether {quoted(name)[1:-1]} has other faults is not decided ({checked} rows checked)"
    return NOT_DECIDED.finding(message, place, checked=checked)


def _fault(error: RefbrowserError) -> Finding:
    return RULE_FAULTY.finding(error.message, error.place, error=error.kind, advice=error.advice)
