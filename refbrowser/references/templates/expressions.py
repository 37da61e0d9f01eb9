"""Values and operators of templates as closures: everything but names, filters and calls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.templates import template_values as values
from refbrowser.references.templates.constant_lists import ConstantList
from refbrowser.references.templates.formatting import percent
from refbrowser.references.templates.frames import (
    STEP_SIZE,
    Closure,
    Frame,
    apply,
    at,
    binary,
    charged,
    constant,
    guarded,
    raiser,
    sized,
    spend,
    unary,
)
from refbrowser.references.templates.template_syntax import Span, Syntax, template_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import nodes

_INTEGER_LIMIT = 2**LIMITS.template_integer_bits


class OperatorCompiler:
    """Compiles constants, containers and operators of one tree; a method for each kind of node."""

    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax
        self.steps = 0
        self.uses: set[str] = set()
        self.problems: list[RefbrowserError] = []
        self._branches = 0

    def expression(self, node: nodes.Node) -> Closure:
        """Return the closure of an expression; counts its steps."""
        self.steps += 1
        compiled: Closure = getattr(self, f"_{type(node).__name__.lower()}")(node)
        return compiled

    @contextmanager
    def _conditional(self) -> Iterator[None]:
        self._branches += 1
        try:
            yield
        finally:
            self._branches -= 1

    def _span(self, node: nodes.Node) -> Span:
        return self.syntax.span(node)

    def _problem(self, error: RefbrowserError) -> Closure:
        if not self._branches:
            self.problems.append(error)
        return raiser(error)

    def _printed(self, node: nodes.Node) -> Closure:
        run = self.expression(node)
        span = self._span(node)

        def printed(frame: Frame) -> str:
            value = run(frame)
            if value.__class__ is int:
                return str(value)
            if value.__class__ is not str:
                value = guarded(values.to_text, span, value)
            if len(value) > STEP_SIZE:
                spend(frame, len(value))
            return value

        return printed

    # Values

    def _const(self, node: nodes.Const) -> Closure:
        value = node.value
        return lambda frame: value

    def _tuple(self, node: nodes.Tuple) -> Closure:
        return self._items(node, tuple)

    def _list(self, node: nodes.List) -> Closure:
        items = constant_list(self.syntax, node)
        if items is None:
            return self._items(node, list)
        self.steps += len(node.items)
        return constant(items)

    def _items(self, node: Any, make: Callable[[list[Any]], Any]) -> Closure:
        items = [self.expression(item) for item in node.items]
        span = self._span(node)

        def build(frame: Frame) -> Any:
            return sized(frame, make([item(frame) for item in items]), span)

        return build

    def _dict(self, node: nodes.Dict) -> Closure:
        pairs = [(self.expression(item.key), self.expression(item.value)) for item in node.items]
        span = self._span(node)

        def build(frame: Frame) -> Any:
            made = {}
            for key, value in pairs:
                found = key(frame)
                if not isinstance(found, (str, int, float, type(None))):
                    raise at(values.fault(f"{values.kind_of(found)} cannot be a key"), span)
                made[found] = value(frame)
            return sized(frame, made, span)

        return build

    def _getitem(self, node: nodes.Getitem) -> Closure:
        from jinja2 import nodes

        value, span = self.expression(node.node), self._span(node)
        if isinstance(node.arg, nodes.Slice):
            return self._cut(value, node.arg, span)
        key = self.expression(node.arg)

        def item(frame: Frame) -> Any:
            return charged(frame, guarded(values.subscript, span, value(frame), key(frame)))

        return item

    def _cut(self, value: Closure, node: nodes.Slice, span: Span) -> Closure:
        ends = self._ends(node)

        def cut(frame: Frame) -> Any:
            found = guarded(values.cut, span, value(frame), *[end(frame) for end in ends])
            return charged(frame, found) if found.__class__ is str else sized(frame, found, span)

        return cut

    def _ends(self, node: nodes.Slice) -> list[Closure]:
        """Return the closures of start, stop and step; those that are not given are None."""
        ends = (node.start, node.stop, node.step)
        return [constant(None) if end is None else self.expression(end) for end in ends]

    def _getattr(self, node: nodes.Getattr) -> Closure:
        error = template_error(
            ErrorKind.UNSAFE, "'...'.format must be called, attributes are not values", self._span(node)
        )
        return self._problem(error)

    # Operators

    def _add(self, node: nodes.Add) -> Closure:
        left, right, span = self._operands(node)

        def add(frame: Frame) -> Any:
            a = left(frame)
            b = right(frame)
            if a.__class__ is int and b.__class__ is int:
                result = a + b
                if -_INTEGER_LIMIT < result < _INTEGER_LIMIT:
                    return result
            return apply(frame, values.add, a, b, span)

        return add

    def _sub(self, node: nodes.Sub) -> Closure:
        left, right, span = self._operands(node)

        def subtract(frame: Frame) -> Any:
            a = left(frame)
            b = right(frame)
            if a.__class__ is int and b.__class__ is int:
                result = a - b
                if -_INTEGER_LIMIT < result < _INTEGER_LIMIT:
                    return result
            return apply(frame, values.subtract, a, b, span)

        return subtract

    def _mul(self, node: nodes.Mul) -> Closure:
        left, right, span = self._operands(node)

        def multiply(frame: Frame) -> Any:
            a = left(frame)
            b = right(frame)
            if a.__class__ is int and b.__class__ is int:
                result = a * b
                if -_INTEGER_LIMIT < result < _INTEGER_LIMIT:
                    return result
            return apply(frame, values.multiply, a, b, span)

        return multiply

    def _div(self, node: nodes.Div) -> Closure:
        return binary(values.divide, *self._operands(node))

    def _floordiv(self, node: nodes.FloorDiv) -> Closure:
        return binary(values.floor_divide, *self._operands(node))

    def _mod(self, node: nodes.Mod) -> Closure:
        left, right, span = self._operands(node)

        def modulo(frame: Frame) -> Any:
            a = left(frame)
            b = right(frame)
            return apply(frame, percent if a.__class__ is str else values.modulo, a, b, span)

        return modulo

    def _pow(self, node: nodes.Pow) -> Closure:
        return binary(values.power, *self._operands(node))

    def _operands(self, node: nodes.BinExpr) -> tuple[Closure, Closure, Span]:
        return self.expression(node.left), self.expression(node.right), self._span(node)

    def _neg(self, node: nodes.Neg) -> Closure:
        return unary(values.negate, self.expression(node.node), self._span(node))

    def _pos(self, node: nodes.Pos) -> Closure:
        return unary(values.keep_sign, self.expression(node.node), self._span(node))

    def _not(self, node: nodes.Not) -> Closure:
        run = self.expression(node.node)
        return lambda frame: not run(frame)

    def _and(self, node: nodes.And) -> Closure:
        left = self.expression(node.left)
        with self._conditional():
            right = self.expression(node.right)
        return lambda frame: left(frame) and right(frame)

    def _or(self, node: nodes.Or) -> Closure:
        left = self.expression(node.left)
        with self._conditional():
            right = self.expression(node.right)
        return lambda frame: left(frame) or right(frame)

    def _compare(self, node: nodes.Compare) -> Closure:
        first = self.expression(node.expr)
        rest = []
        for item in node.ops:
            rest.append((values.COMPARISONS[item.op], self.expression(item.expr)))
        span = self._span(node)

        def compare(frame: Frame) -> bool:
            left = first(frame)
            for comparison, operand in rest:
                right = operand(frame)
                if not apply(frame, comparison, left, right, span):
                    return False
                left = right
            return True

        return compare

    def _concat(self, node: nodes.Concat) -> Closure:
        parts = [self._printed(item) for item in node.nodes]
        span = self._span(node)

        def concat(frame: Frame) -> str:
            texts = [part(frame) for part in parts]
            if sum(map(len, texts)) > LIMITS.template_string:
                raise at(values.too_long(), span)
            return guarded(values.checked_text, span, "".join(texts))

        return concat

    def _condexpr(self, node: nodes.CondExpr) -> Closure:
        test = self.expression(node.test)
        with self._conditional():
            first = self.expression(node.expr1)
            # jinja2 prints nothing where there is no else.
            second = self.expression(node.expr2) if node.expr2 is not None else lambda frame: ""
        return lambda frame: first(frame) if test(frame) else second(frame)


def constant_list(syntax: Syntax, node: nodes.List) -> ConstantList | None:
    """Return the items of a list where all of them stand in the template, else None."""
    from jinja2 import nodes

    if node.lineno in syntax.lists:
        return syntax.lists[node.lineno]
    items = []
    for item in node.items:
        if isinstance(item, nodes.Const):
            items.append(item.value)
        elif isinstance(item, nodes.Neg) and isinstance(item.node, nodes.Const):
            if type(item.node.value) is not int:
                return None
            items.append(-item.node.value)
        else:
            return None
    return ConstantList(items)
