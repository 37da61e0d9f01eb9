"""Templates as closures over jinja2's parse tree (safety section 3): nothing is ever made into Python code.

A closure takes a frame: the values of the names in order of their slots and, last, the evaluation steps that
are left. Steps of the tree are counted once when it is compiled, as there are no loops; what texts cost
beyond that is taken from the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references import template_values as values
from refbrowser.references.formatting import braces, percent
from refbrowser.references.template import Template
from refbrowser.references.template_filters import FILTERS, format_filter
from refbrowser.references.template_syntax import Span, Syntax, template_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import nodes

Frame = list[Any]
Closure = Callable[[Frame], Any]

_INTEGER_LIMIT = 2**LIMITS.template_integer_bits
#: Characters of a text that count as one step.
_STEP_SIZE = 64


class UndefinedNameError(RefbrowserError):
    """A name has no value; the only error that the filter `default` takes away."""


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """What names mean: slots of the frame, the document's templates, and the faults of faulty templates."""

    slots: Mapping[str, int] = field(default_factory=dict)
    templates: Mapping[str, Template] = field(default_factory=dict)
    faults: Mapping[str, RefbrowserError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A template that can be rendered.

    Attributes
    ----------
    run
        Frame to text.
    steps
        Most evaluation steps of one run, text sizes aside.
    uses
        Names of slots that are read.
    problems
        Errors that any run raises, whatever the values are.
    """

    run: Callable[[Frame], str]
    steps: int
    uses: frozenset[str]
    problems: tuple[RefbrowserError, ...]

    def render(self, arguments: tuple[Any, ...] = ()) -> str:
        """Return the text for the values of the slots, in their order.

        Raises
        ------
        RefbrowserError
            E_TEMPLATE or E_BUDGET, with the span of the expression.
        """
        return self.run([*arguments, LIMITS.template_steps_entry - self.steps])


def compile_template(template: Template, scope: Scope) -> Compiled:
    """Turn a parsed template into closures; names without a value are problems, not exceptions."""
    if template.syntax is None:
        text = template.text
        return Compiled(lambda frame: text, 1, frozenset(), ())
    return _Compiler(template.syntax, scope).template()


def compile_expression(syntax: Syntax, node: nodes.Node, scope: Scope) -> Compiled:
    """Turn one expression of a template into a closure that gives its value."""
    compiler = _Compiler(syntax, scope)
    run = compiler.expression(node)
    return Compiled(run, compiler.steps, frozenset(compiler.uses), tuple(compiler.problems))


def spend(frame: Frame, size: int) -> None:
    """Take the steps for a text of `size` characters from the frame."""
    frame[-1] -= size // _STEP_SIZE
    if frame[-1] < 0:
        raise _too_many_steps(None)


def _too_many_steps(span: Span | None) -> RefbrowserError:
    message = f"one entry takes more than {LIMITS.template_steps_entry} evaluation steps"
    return template_error(ErrorKind.BUDGET, message, span)


def at(error: RefbrowserError, span: Span) -> RefbrowserError:
    """Return the error with a span where it has none yet."""
    if error.place.span is not None:
        return error
    place = replace(error.place, span=span)
    return type(error)(error.kind, error.message, place, error.advice)


class _Compiler:
    """Compiles the nodes of one tree; one instance per template and scope."""

    def __init__(self, syntax: Syntax, scope: Scope) -> None:
        self.syntax = syntax
        self.scope = scope
        self.steps = 0
        self.uses: set[str] = set()
        self.problems: list[RefbrowserError] = []
        self._branches = 0
        self._calls = 0

    def template(self) -> Compiled:
        run = self._block(self.syntax.body)
        if self.steps > LIMITS.template_steps_entry:
            error = _too_many_steps((0, len(self.syntax.text)))
            self.problems.append(error)
            run = _raiser(error)
        return Compiled(run, self.steps, frozenset(self.uses), tuple(self.problems))

    def expression(self, node: nodes.Node) -> Closure:
        """Return the closure of an expression; counts its steps."""
        self.steps += 1
        compiled: Closure = getattr(self, f"_{type(node).__name__.lower()}")(node)
        return compiled

    # Text

    def _block(self, body: tuple[nodes.Node, ...] | list[nodes.Node]) -> Callable[[Frame], str]:
        from jinja2 import nodes

        parts: list[str | Closure] = []
        for node in body:
            if isinstance(node, nodes.If):
                parts.append(self._if(node))
                continue
            assert isinstance(node, nodes.Output)
            for item in node.nodes:
                parts.append(item.data if isinstance(item, nodes.TemplateData) else self._printed(item))
        return _joined(parts)

    def _printed(self, node: nodes.Node) -> Closure:
        run = self.expression(node)
        span = self._span(node)

        def printed(frame: Frame) -> str:
            value = run(frame)
            if value.__class__ is int:
                return str(value)
            if value.__class__ is not str:
                value = _guarded(values.to_text, span, value)
            if len(value) > _STEP_SIZE:
                spend(frame, len(value))
            return value  # type: ignore[no-any-return]

        return printed

    def _if(self, node: nodes.If) -> Callable[[Frame], str]:
        self.steps += 1
        choices = [(self.expression(node.test), self._branch_block(node.body))]
        with self._conditional():
            for item in node.elif_:
                self.steps += 1
                choices.append((self.expression(item.test), self._block(item.body)))
            otherwise = self._block(node.else_)

        def chosen(frame: Frame) -> str:
            for test, block in choices:
                if test(frame):
                    return block(frame)
            return otherwise(frame)

        return chosen

    def _branch_block(self, body: list[nodes.Node]) -> Callable[[Frame], str]:
        with self._conditional():
            return self._block(body)

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
        return _raiser(error)

    # Values

    def _const(self, node: nodes.Const) -> Closure:
        value = node.value
        return lambda frame: value

    def _name(self, node: nodes.Name) -> Closure:
        name = node.name
        if name in self.scope.slots:
            self.uses.add(name)
            return itemgetter(self.scope.slots[name])
        if name in self.scope.faults:
            return self._problem(self._faulty_template(name, node))
        if name not in self.scope.templates:
            return self._problem(self._undefined(name, node))
        template = self.scope.templates[name]
        if template.required:
            needs = quoted(", ".join(template.required))[1:-1]
            return self._problem(
                template_error(
                    ErrorKind.TEMPLATE,
                    f"template {quoted(name)} needs arguments ({needs}) and is used without a call",
                    self._span(node),
                    f"call it: {quoted(name)[1:-1]}({quoted(template.required[0])[1:-1]}=...)",
                )
            )
        if template.is_literal:
            text = template.text
            return lambda frame: text
        return self._body(name, template, (), node)

    def _undefined(self, name: str, node: nodes.Node) -> RefbrowserError:
        error = template_error(ErrorKind.TEMPLATE, f"name {quoted(name)} is not defined", self._span(node))
        return UndefinedNameError(error.kind, error.message, error.place, error.advice)

    def _faulty_template(self, name: str, node: nodes.Node) -> RefbrowserError:
        cause = self.scope.faults[name]
        return template_error(
            cause.kind, f"template {quoted(name)} is faulty: {cause.message}", self._span(node)
        )

    def _tuple(self, node: nodes.Tuple) -> Closure:
        return self._items(node, tuple)

    def _list(self, node: nodes.List) -> Closure:
        return self._items(node, list)

    def _items(self, node: Any, make: Callable[[list[Any]], Any]) -> Closure:
        items = [self.expression(item) for item in node.items]
        span = self._span(node)

        def build(frame: Frame) -> Any:
            return _sized(frame, make([item(frame) for item in items]), span)

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
            return _sized(frame, made, span)

        return build

    def _getitem(self, node: nodes.Getitem) -> Closure:
        return _binary(
            values.subscript, self.expression(node.node), self.expression(node.arg), self._span(node)
        )

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
            return _apply(frame, values.add, a, b, span)

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
            return _apply(frame, values.subtract, a, b, span)

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
            return _apply(frame, values.multiply, a, b, span)

        return multiply

    def _div(self, node: nodes.Div) -> Closure:
        return _binary(values.divide, *self._operands(node))

    def _floordiv(self, node: nodes.FloorDiv) -> Closure:
        return _binary(values.floor_divide, *self._operands(node))

    def _mod(self, node: nodes.Mod) -> Closure:
        left, right, span = self._operands(node)

        def modulo(frame: Frame) -> Any:
            a = left(frame)
            b = right(frame)
            return _apply(frame, percent if a.__class__ is str else values.modulo, a, b, span)

        return modulo

    def _pow(self, node: nodes.Pow) -> Closure:
        return _binary(values.power, *self._operands(node))

    def _operands(self, node: nodes.BinExpr) -> tuple[Closure, Closure, Span]:
        return self.expression(node.left), self.expression(node.right), self._span(node)

    def _neg(self, node: nodes.Neg) -> Closure:
        return _unary(values.negate, self.expression(node.node), self._span(node))

    def _pos(self, node: nodes.Pos) -> Closure:
        return _unary(values.keep_sign, self.expression(node.node), self._span(node))

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
                if not _apply(frame, comparison, left, right, span):
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
            return _guarded(values.checked_text, span, "".join(texts))  # type: ignore[no-any-return]

        return concat

    def _condexpr(self, node: nodes.CondExpr) -> Closure:
        test = self.expression(node.test)
        with self._conditional():
            first = self.expression(node.expr1)
            # jinja2 prints nothing where there is no else.
            second = self.expression(node.expr2) if node.expr2 is not None else lambda frame: ""
        return lambda frame: first(frame) if test(frame) else second(frame)

    # Calls and filters

    def _filter(self, node: nodes.Filter) -> Closure:
        span = self._span(node)
        if node.name not in FILTERS:
            advice = f"known are {', '.join(sorted(FILTERS))}"
            return self._problem(
                template_error(
                    ErrorKind.TEMPLATE,
                    f"filter {quoted(node.name)} is not known",
                    self._filter_name(node),
                    advice,
                )
            )
        if node.name == "format":
            return self._format_filter(node, span)
        try:
            bound = FILTERS[node.name].bind(
                node.name,
                [self.expression(item) for item in node.args],
                {item.key: self.expression(item.value) for item in node.kwargs},
            )
        except RefbrowserError as error:
            return self._problem(at(error, span))
        arguments = [item if callable(item) else _constant(item) for item in bound]
        if node.name == "default":
            return self._default(node, *arguments)
        value = self.expression(node.node)
        run = FILTERS[node.name].run

        def apply(frame: Frame) -> Any:
            given = value(frame)
            found = _guarded(run, span, given, *[argument(frame) for argument in arguments])
            return _charged(frame, found, given)

        return apply

    def _filter_name(self, node: nodes.Filter) -> Span:
        return (node.lineno, self.syntax.stops.get(node.lineno, node.lineno + 1))

    def _default(self, node: nodes.Filter, other: Closure, boolean: Closure) -> Closure:
        with self._conditional():
            value = self.expression(node.node)
        nothing = type(node.node).__name__ == "CondExpr" and node.node.expr2 is None

        def default(frame: Frame) -> Any:
            try:
                found = value(frame)
            except UndefinedNameError:
                return other(frame)
            if not found and (boolean(frame) or (nothing and found == "")):
                return other(frame)
            return found

        return default

    def _format_filter(self, node: nodes.Filter, span: Span) -> Closure:
        value = self.expression(node.node)
        positional = [self.expression(item) for item in node.args]
        keywords = {item.key: self.expression(item.value) for item in node.kwargs}

        def apply(frame: Frame) -> Any:
            text = value(frame)
            arguments = tuple([item(frame) for item in positional])
            named = {key: item(frame) for key, item in keywords.items()}
            return _charged(frame, _guarded(format_filter, span, text, arguments, named), text)

        return apply

    def _call(self, node: nodes.Call) -> Closure:
        from jinja2 import nodes

        if isinstance(node.node, nodes.Getattr):
            return self._brace_format(node, node.node)
        assert isinstance(node.node, nodes.Name)
        name = node.node.name
        self._calls += 1
        try:
            return self._template_call(name, node)
        finally:
            self._calls -= 1

    def _brace_format(self, node: nodes.Call, method: nodes.Getattr) -> Closure:
        assert hasattr(method.node, "value")
        text = method.node.value
        span = self._span(node)
        if node.kwargs:
            return self._problem(at(values.fault("a format takes arguments by position only"), span))
        arguments = [self.expression(item) for item in node.args]

        def apply(frame: Frame) -> Any:
            given = tuple([item(frame) for item in arguments])
            return _charged(frame, _guarded(braces, span, text, given), text)

        return apply

    def _template_call(self, name: str, node: nodes.Call) -> Closure:
        span = self._span(node)
        if name in self.scope.slots:
            return self._problem(
                at(values.fault(f"{quoted(name)} is not a template, it cannot be called"), span)
            )
        if name in self.scope.faults:
            return self._problem(self._faulty_template(name, node))
        if name not in self.scope.templates:
            return self._problem(self._undefined(name, node))
        template = self.scope.templates[name]
        if template.is_literal:
            error = values.fault(
                f"template {quoted(name)} is plain text and takes no arguments", "use it without brackets"
            )
            return self._problem(at(error, span))
        if self._calls > LIMITS.template_call_depth:
            message = f"template calls nest deeper than {LIMITS.template_call_depth}"
            return self._problem(template_error(ErrorKind.BUDGET, message, span))
        arguments = tuple((item.key, self.expression(item.value)) for item in node.kwargs)
        return self._body(name, template, arguments, node)

    def _body(
        self, name: str, template: Template, arguments: tuple[tuple[str, Closure], ...], node: nodes.Node
    ) -> Closure:
        """Return the rendering of a template that sees only its arguments."""
        span = self._span(node)
        slots = {key: slot for slot, (key, _) in enumerate(arguments)}
        compiled = compile_template(template, Scope(slots))
        self.steps += compiled.steps
        if compiled.problems:
            return self._problem(_inside(name, compiled.problems[0], span))
        closures = [closure for _, closure in arguments]
        run = compiled.run

        def call(frame: Frame) -> str:
            inner = [closure(frame) for closure in closures]
            inner.append(frame[-1])
            try:
                text = run(inner)
            except RefbrowserError as error:
                raise _inside(name, error, span) from None
            frame[-1] = inner[-1]
            return _guarded(values.checked_text, span, text)  # type: ignore[no-any-return]

        return call


def _inside(name: str, error: RefbrowserError, span: Span) -> RefbrowserError:
    return template_error(error.kind, f"in template {quoted(name)}: {error.message}", span, error.advice)


def _raiser(error: RefbrowserError) -> Closure:
    def fail(frame: Frame) -> Any:
        # A fresh error each time: an exception that is raised again would collect tracebacks.
        raise type(error)(error.kind, error.message, error.place, error.advice)

    return fail


def _constant(value: Any) -> Closure:
    return lambda frame: value


def _joined(parts: list[str | Closure]) -> Callable[[Frame], str]:
    if not parts:
        return lambda frame: ""
    closures = [_constant(part) if isinstance(part, str) else part for part in parts]
    if len(closures) == 1:
        return closures[0]
    return lambda frame: "".join([closure(frame) for closure in closures])


def _guarded(run: Callable[..., Any], span: Span, *arguments: Any) -> Any:
    try:
        return run(*arguments)
    except RefbrowserError as error:
        raise at(error, span) from None


def _charged(frame: Frame, result: Any, given: Any) -> Any:
    """Take the steps that the sizes of a text, before and after, are worth."""
    size = (len(result) if result.__class__ is str else 0) + (len(given) if given.__class__ is str else 0)
    if size > _STEP_SIZE:
        spend(frame, size)
    return result


def _sized(frame: Frame, made: Any, span: Span) -> Any:
    size = values.weight(made)
    if size > LIMITS.template_string:
        raise at(values.too_long("a list"), span)
    spend(frame, size)
    return made


def _apply(frame: Frame, run: Callable[[Any, Any], Any], left: Any, right: Any, span: Span) -> Any:
    size = 0
    for value in (left, right):
        if value.__class__ is str:
            size += len(value)
        elif value.__class__ is not int:
            size += values.weight(value)
    if size > _STEP_SIZE:
        spend(frame, size)
    try:
        result = run(left, right)
    except RefbrowserError as error:
        raise at(error, span) from None
    return _charged(frame, result, None)


def _binary(run: Callable[[Any, Any], Any], left: Closure, right: Closure, span: Span) -> Closure:
    return lambda frame: _apply(frame, run, left(frame), right(frame), span)


def _unary(run: Callable[[Any], Any], operand: Closure, span: Span) -> Closure:
    return lambda frame: _guarded(run, span, operand(frame))
