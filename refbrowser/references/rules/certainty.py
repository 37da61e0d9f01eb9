"""Proof that an expression cannot fail: its kind and bounds over all rows, without evaluating any.

Used where a field is not lowered: a conditional or a filter whose operands are bounded needs no search for
faults. What is not known here is not wrong, only not proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.rules.dimensions import RowSpace, RuleDimension
from refbrowser.references.rules.integer_expressions import Operator, interval
from refbrowser.references.templates.evaluate import Scope
from refbrowser.references.templates.formatting import parse_braces, parse_percent
from refbrowser.references.templates.template import Template
from refbrowser.references.templates.template_syntax import text_size

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


def _integer(low: int, high: int) -> Certain | None:
    if max(abs(low), abs(high)).bit_length() > LIMITS.template_integer_bits:
        return None
    return Certain("integer", max(len(str(low)), len(str(high))), low, high)


def _values(dimension: RuleDimension) -> Certain | None:
    if not dimension.has_texts:
        return _integer(*dimension.bounds)
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
            return _integer(node.value, node.value)
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
            return None if found is None else _integer(*found)
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
        return _integer(-value.high, -value.low) if value is not None and value.kind == "integer" else None

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
            return _integer(0, value.size)
        if value.kind != "integer" or node.name not in ("abs", "int", "round"):
            return None
        if node.name != "abs":
            return value
        reach = max(abs(value.low), abs(value.high))
        return _integer(0 if value.low <= 0 <= value.high else min(abs(value.low), abs(value.high)), reach)
