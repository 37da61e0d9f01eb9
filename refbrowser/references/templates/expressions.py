"""Values and operators of templates as closures over frames: everything but names, filters and calls.

A frame is a list: the values of the names in order of their slots and, last, the evaluation steps that are
left. What texts and lists cost is taken from it as they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates import template_values as values
from refbrowser.references.templates.constant_lists import ConstantList
from refbrowser.references.templates.filters import percent
from refbrowser.references.templates.syntax import Span, Syntax, template_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import nodes


Frame = list[Any]
Closure = Callable[[Frame], Any]

#: What Python's own operators raise; those that are expected have better messages where they arise.
_REFUSALS = (ArithmeticError, LookupError, TypeError, ValueError)
#: Characters of a text that count as one step.
STEP_SIZE = 64


class UndefinedNameError(values.UndefinedValueError):
    """A name has no value."""


def spend(frame: Frame, size: int) -> None:
    """Take the steps for a text of `size` characters from the frame."""
    frame[-1] -= size // STEP_SIZE
    if frame[-1] < 0:
        raise too_many_steps(None)


def too_many_steps(span: Span | None) -> RefbrowserError:
    """Return the E_BUDGET of an entry that takes too long."""
    message = f"one entry takes more than {LIMITS.template_steps_entry} evaluation steps"
    return template_error(ErrorKind.BUDGET, message, span)


def at(error: RefbrowserError, span: Span) -> RefbrowserError:
    """Return the error with a span where it has none yet."""
    if error.place.span is not None:
        return error
    place = replace(error.place, span=span)
    return type(error)(error.kind, error.message, place, error.advice)


def raiser(error: RefbrowserError) -> Closure:
    """Return a closure that raises the error."""

    def fail(frame: Frame) -> Any:
        # A fresh error each time: an exception that is raised again would collect tracebacks.
        raise type(error)(error.kind, error.message, error.place, error.advice)

    return fail


def constant(value: Any) -> Closure:
    """Return a closure that gives a value."""
    return lambda frame: value


def joined(parts: list[str | Closure]) -> Callable[[Frame], str]:
    """Return a closure that gives texts and what closures give, one after the other."""
    if not parts:
        return lambda frame: ""
    closures = [constant(part) if isinstance(part, str) else part for part in parts]
    if len(closures) == 1:
        return closures[0]
    return lambda frame: "".join([closure(frame) for closure in closures])


def guarded(run: Callable[..., Any], span: Span, *arguments: Any) -> Any:
    """Call `run`; an error gets the span where it has none."""
    try:
        return run(*arguments)
    except RefbrowserError as error:
        raise at(error, span) from None
    except _REFUSALS as error:
        raise at(values.fault(f"not possible: {quoted(error)[1:-1]}"), span) from None


def charged(frame: Frame, result: Any, *given: Any) -> Any:
    """Take the steps that a text which was made, and what it was made of, are worth."""
    size = (len(result) if result.__class__ is str else 0) + _size(given)
    if size > STEP_SIZE:
        spend(frame, size)
    return result


def _size(given: tuple[Any, ...]) -> int:
    size = 0
    for value in given:
        if value.__class__ is str:
            size += len(value)
        elif value.__class__ is not int:
            size += values.weight(value)
    return size


def sized(frame: Frame, made: Any, span: Span) -> Any:
    """Return a list, tuple or dict that was made, or raise E_BUDGET; takes its steps."""
    size = values.weight(made)
    if size > LIMITS.template_string:
        raise at(values.too_long("a list"), span)
    spend(frame, size)
    return made


def apply(frame: Frame, run: Callable[[Any, Any], Any], left: Any, right: Any, span: Span) -> Any:
    """Return ``run(left, right)`` and take the steps that its texts are worth."""
    size = _size((left, right))
    if size > STEP_SIZE:
        spend(frame, size)
    return charged(frame, guarded(run, span, left, right))


def binary(run: Callable[[Any, Any], Any], left: Closure, right: Closure, span: Span) -> Closure:
    """Return the closure of an operator with two operands."""
    return lambda frame: apply(frame, run, left(frame), right(frame), span)


def unary(run: Callable[[Any], Any], operand: Closure, span: Span) -> Closure:
    """Return the closure of an operator with one operand."""
    return lambda frame: guarded(run, span, operand(frame))


_INTEGER_LIMIT = 2**LIMITS.template_integer_bits


class OperatorCompiler:
    """Compiles constants, containers and operators of one tree; a method for each kind of node."""

    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax
        self.steps = 0
        self.uses: set[str] = set()
        self.errors: list[RefbrowserError] = []
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

    def _fail(self, error: RefbrowserError) -> Closure:
        if not self._branches:
            self.errors.append(error)
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
        return self._fail(error)

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
