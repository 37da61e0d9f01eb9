"""Templates as closures over jinja2's parse tree (safety section 3): nothing is ever made into Python code.

A closure takes a frame: the values of the names in order of their slots and, last, the evaluation steps that
are left. Steps of the tree are counted once when it is compiled, as there are no loops; what texts cost
beyond that is taken from the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references import template_values as values
from refbrowser.references.expressions import OperatorCompiler
from refbrowser.references.formatting import braces
from refbrowser.references.frames import (
    Closure,
    Frame,
    UndefinedNameError,
    at,
    charged,
    constant,
    guarded,
    joined,
    raiser,
    too_many_steps,
)
from refbrowser.references.template import Template
from refbrowser.references.template_filters import FILTERS, format_filter
from refbrowser.references.template_syntax import Span, Syntax, template_error

if TYPE_CHECKING:
    from jinja2 import nodes

_INTEGER_LIMIT = 2**LIMITS.template_integer_bits


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


class _Compiler(OperatorCompiler):
    """Compiles all nodes of one tree; one instance per template and scope."""

    def __init__(self, syntax: Syntax, scope: Scope) -> None:
        super().__init__(syntax)
        self.scope = scope
        self._calls = 0

    def template(self) -> Compiled:
        run = self._block(self.syntax.body)
        if self.steps > LIMITS.template_steps_entry:
            error = too_many_steps((0, len(self.syntax.text)))
            self.problems.append(error)
            run = raiser(error)
        return Compiled(run, self.steps, frozenset(self.uses), tuple(self.problems))

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
        return joined(parts)

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

    # Names

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

    # Calls and filters

    def _filter(self, node: nodes.Filter) -> Closure:
        span = self._span(node)
        # The check of the tree leaves no filter block, the only filter without an operand.
        assert node.node is not None
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
            return self._format_filter(node, node.node, span)
        try:
            bound = FILTERS[node.name].bind(
                node.name,
                [self.expression(item) for item in node.args],
                _keywords(self, node),
            )
        except RefbrowserError as error:
            return self._problem(at(error, span))
        arguments = [item if callable(item) else constant(item) for item in bound]
        if node.name == "default":
            return self._default(node.node, *arguments)
        value = self.expression(node.node)
        run = FILTERS[node.name].run

        def filtered(frame: Frame) -> Any:
            given = value(frame)
            found = guarded(run, span, given, *[argument(frame) for argument in arguments])
            return charged(frame, found, given)

        return filtered

    def _filter_name(self, node: nodes.Filter) -> Span:
        return (node.lineno, self.syntax.stops.get(node.lineno, node.lineno + 1))

    def _default(self, node: nodes.Expr, other: Closure, boolean: Closure) -> Closure:
        with self._conditional():
            value = self.expression(node)
        nothing = getattr(node, "expr2", node) is None
        is_name = type(node).__name__ == "Name"

        def default(frame: Frame) -> Any:
            try:
                found = value(frame)
            except UndefinedNameError:
                if not is_name:
                    raise
                return other(frame)
            if not found and (boolean(frame) or (nothing and found == "")):
                return other(frame)
            return found

        return default

    def _format_filter(self, node: nodes.Filter, operand: nodes.Expr, span: Span) -> Closure:
        value = self.expression(operand)
        positional = [self.expression(item) for item in node.args]
        keywords = _keywords(self, node)

        def filtered(frame: Frame) -> Any:
            text = value(frame)
            arguments = tuple([item(frame) for item in positional])
            named = {key: item(frame) for key, item in keywords.items()}
            found = guarded(format_filter, span, text, arguments, named)
            return charged(frame, found, text, arguments, named)

        return filtered

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

        def filtered(frame: Frame) -> Any:
            given = tuple([item(frame) for item in arguments])
            return charged(frame, guarded(braces, span, text, given), text, given)

        return filtered

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
        if self.steps > LIMITS.template_steps_entry:
            # Said already: what follows is not worth compiling.
            return raiser(too_many_steps(span))
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
            return guarded(values.checked_text, span, text)

        return call


def _inside(name: str, error: RefbrowserError, span: Span) -> RefbrowserError:
    return template_error(error.kind, f"in template {quoted(name)}: {error.message}", span, error.advice)


def _keywords(compiler: _Compiler, node: nodes.Filter) -> dict[str, Closure]:
    # jinja2 declares pairs here, its parser makes keywords.
    return {str(item.key): compiler.expression(item.value) for item in node.kwargs}
