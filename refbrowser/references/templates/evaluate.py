"""Templates as closures over jinja2's parse tree (safety section 3): nothing is ever made into Python code.

A closure takes a frame: the values of the names in order of their slots, those of the names that the template
sets, and, last, the evaluation steps that are left. Steps of the tree are counted once when it is compiled,
as there are no loops; what texts and lists cost beyond that is taken from the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates import template_values as values
from refbrowser.references.templates.constant_lists import ConstantList
from refbrowser.references.templates.expressions import (
    Closure,
    Frame,
    OperatorCompiler,
    UndefinedNameError,
    at,
    charged,
    constant,
    guarded,
    joined,
    raiser,
    spend,
    too_many_steps,
)
from refbrowser.references.templates.filters import FILTERS, TAKE_ITEMS, braces, format_filter
from refbrowser.references.templates.syntax import Span, Syntax, Template, check_integer, template_error

if TYPE_CHECKING:
    from jinja2 import nodes

#: The value of a name that is set, before it is.
_UNSET = object()


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """What names mean: slots of the frame, the document's templates, and the faults of faulty templates."""

    slots: Mapping[str, int] = field(default_factory=dict)
    templates: Mapping[str, Template] = field(default_factory=dict)
    faults: Mapping[str, RefbrowserError] = field(default_factory=dict)

    def with_template(self, name: str, template: Template) -> Scope:
        """Return the scope in which a name means a template."""
        slots = {each: slot for each, slot in self.slots.items() if each != name}
        faults = {each: error for each, error in self.faults.items() if each != name}
        return Scope(slots, {**self.templates, name: template}, faults)


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
    errors
        Errors that any run raises, whatever the values are.
    """

    run: Callable[[Frame], str]
    steps: int
    uses: frozenset[str]
    errors: tuple[RefbrowserError, ...]

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
    return Compiled(run, compiler.steps, frozenset(compiler.uses), tuple(compiler.errors))


class _Compiler(OperatorCompiler):
    """Compiles all nodes of one tree; one instance per template and scope.

    A template that another one calls goes on with the steps and the depth of that one.
    """

    def __init__(self, syntax: Syntax, scope: Scope, caller: _Compiler | None = None) -> None:
        super().__init__(syntax)
        self.scope = scope
        self._calls = 0
        #: Names that are set anywhere to their slots, counted from the end of the frame.
        self._locals = {name: -2 - number for number, name in enumerate(syntax.names_set)}
        #: Those that are set before the place at hand, and whether they are whatever the conditions.
        self._set: dict[str, bool] = {}
        #: Operands of filters that take items one after the other.
        self._taken: set[int] = set()
        self._is_called = caller is not None
        if caller is not None:
            self.steps, self._calls = caller.steps, caller._calls

    def template(self) -> Compiled:
        run = self._block(self.syntax.body)
        if self._locals:
            run = _with_locals(run, len(self._locals))
        if self.steps > LIMITS.template_steps_entry and not self._is_called:
            error = too_many_steps((0, len(self.syntax.text)))
            self.errors.append(error)
            run = raiser(error)
        return Compiled(run, self.steps, frozenset(self.uses), tuple(self.errors))

    # Text

    def _block(self, body: tuple[nodes.Node, ...] | list[nodes.Node]) -> Callable[[Frame], str]:
        from jinja2 import nodes

        parts: list[str | Closure] = []
        for node in body:
            if isinstance(node, (nodes.If, nodes.Assign)):
                parts.append(self._if(node) if isinstance(node, nodes.If) else self._assign(node))
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

    def _assign(self, node: nodes.Assign) -> Callable[[Frame], str]:
        # The check of the tree leaves names alone.
        name = getattr(node.target, "name", "")
        slot = self._locals[name]
        template = None if self._branches else self._template_named(node.node)
        if template is not None:
            self.scope = self.scope.with_template(name, template)
            self._set.pop(name, None)
            return lambda frame: ""
        value = self.expression(node.node)
        self._set[name] = self._set.get(name, False) or not self._branches

        def assign(frame: Frame) -> str:
            frame[slot] = value(frame)
            return ""

        return assign

    # Names

    def _template_named(self, node: nodes.Node) -> Template | None:
        """Return the template that an expression is the name of, so that it can be called by another name."""
        name = node.name if type(node).__name__ == "Name" else None  # type: ignore[attr-defined]
        if name is None or name in self._set or name in self.scope.slots or name in self.scope.faults:
            return None
        return self.scope.templates.get(name)

    def _name(self, node: nodes.Name) -> Closure:
        if node.name not in self._set:
            return self._given_name(node)
        found = itemgetter(self._locals[node.name])
        if self._set[node.name]:
            return found
        with self._conditional():
            otherwise = self._given_name(node)

        def either(frame: Frame) -> Any:
            value = found(frame)
            return otherwise(frame) if value is _UNSET else value

        return either

    def _given_name(self, node: nodes.Name) -> Closure:
        name = node.name
        if name in self.scope.slots:
            self.uses.add(name)
            return itemgetter(self.scope.slots[name])
        if name in self.scope.faults:
            return self._fail(self._faulty_template(name, node))
        if name not in self.scope.templates:
            return self._fail(self._undefined(name, node))
        template = self.scope.templates[name]
        if template.needed:
            needs = quoted(", ".join(template.needed))[1:-1]
            return self._fail(
                template_error(
                    ErrorKind.TEMPLATE,
                    f"template {quoted(name)} needs arguments ({needs}) and is used without a call",
                    self._span(node),
                    f"call it: {quoted(name)[1:-1]}({quoted(template.needed[0])[1:-1]}=...)",
                )
            )
        if template.is_literal:
            text = template.text
            return lambda frame: text
        return self._body(name, template, {}, node)

    def _undefined(self, name: str, node: nodes.Node, advice: str = "") -> RefbrowserError:
        message = f"name {quoted(name)} is not defined"
        error = template_error(ErrorKind.TEMPLATE, message, self._span(node), advice)
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
            return self._fail(
                template_error(
                    ErrorKind.TEMPLATE,
                    f"filter {quoted(node.name)} is not known",
                    self._filter_name(node),
                    advice,
                )
            )
        if node.name == "format":
            return self._format_filter(node, node.node, span)
        if node.name in TAKE_ITEMS:
            self._taken.add(id(node.node))
        if node.name == "unique" and id(node) not in self._taken:
            return self._fail(_not_alone(span))
        if node.name == "sum" and not node.args and not node.kwargs and _plain_slice(node.node) is not None:
            return self._sum_of_slice(node.node, span)
        try:
            bound = FILTERS[node.name].bind(
                node.name,
                [self.expression(item) for item in node.args],
                _keywords(self, node),
            )
        except RefbrowserError as error:
            return self._fail(at(error, span))
        arguments = [item if callable(item) else constant(item) for item in bound]
        if node.name == "default":
            return self._default(node.node, *arguments)
        value = self.expression(node.node)
        run, reads_all = FILTERS[node.name].run, FILTERS[node.name].reads_all

        def filtered(frame: Frame) -> Any:
            given = value(frame)
            if given.__class__ is ConstantList:
                # Longer than any other value may be: paid for before it is read.
                spend(frame, given.size if reads_all else 0)
                return charged(frame, guarded(run, span, given, *[argument(frame) for argument in arguments]))
            found = guarded(run, span, given, *[argument(frame) for argument in arguments])
            return charged(frame, found, given)

        return filtered

    def _sum_of_slice(self, node: Any, span: Span) -> Closure:
        """Return the closure of ``value[start:stop]|sum``: of a list of constants the slice is not made."""
        value = self.expression(node.node)
        ends = self._ends(node.arg)
        whole = self._cut(value, node.arg, self._span(node))
        add = FILTERS["sum"].run

        def added(frame: Frame) -> Any:
            given = value(frame)
            if given.__class__ is ConstantList and given.is_integers:
                start, stop, _ = [end(frame) for end in ends]
                if all(isinstance(end, (int, type(None))) for end in (start, stop)):
                    return guarded(check_integer, span, given.sum_of(start, stop))
            found = whole(frame)
            return charged(frame, guarded(add, span, found, None, 0), found)

        return added

    def _filter_name(self, node: nodes.Filter) -> Span:
        return (node.lineno, self.syntax.stops.get(node.lineno, node.lineno + 1))

    def _default(self, node: nodes.Expr, other: Closure, boolean: Closure) -> Closure:
        with self._conditional():
            value = self.expression(node)
        nothing = getattr(node, "expr2", node) is None
        span = self._span(node)

        def default(frame: Frame) -> Any:
            try:
                found = value(frame)
            except values.UndefinedValueError as error:
                # What is done with something that is not there is an error all the same.
                if error.place.span != span:
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
            return self._fail(at(values.fault("a format takes arguments by position only"), span))
        arguments = [self.expression(item) for item in node.args]

        def filtered(frame: Frame) -> Any:
            given = tuple([item(frame) for item in arguments])
            return charged(frame, guarded(braces, span, text, given), text, given)

        return filtered

    def _template_call(self, name: str, node: nodes.Call) -> Closure:
        span = self._span(node)
        if name in self.scope.slots or name in self._set:
            return self._fail(
                at(values.fault(f"{quoted(name)} is not a template, it cannot be called"), span)
            )
        if name in self.scope.faults:
            return self._fail(self._faulty_template(name, node))
        if name not in self.scope.templates:
            advice = (
                "a template sees only its arguments: pass the other one, f(c=g), or its text, f(c=g(d=1))"
            )
            return self._fail(self._undefined(name, node, advice if self._is_called else ""))
        template = self.scope.templates[name]
        if template.is_literal:
            error = values.fault(
                f"template {quoted(name)} is plain text and takes no arguments", "use it without brackets"
            )
            return self._fail(at(error, span))
        if self._calls > LIMITS.template_call_depth:
            message = f"template calls nest deeper than {LIMITS.template_call_depth}"
            return self._fail(template_error(ErrorKind.BUDGET, message, span))
        arguments: dict[str, Closure | Template] = {}
        for item in node.kwargs:
            arguments[item.key] = self._template_named(item.value) or self.expression(item.value)
        return self._body(name, template, arguments, node)

    def _body(
        self, name: str, template: Template, arguments: Mapping[str, Closure | Template], node: nodes.Node
    ) -> Closure:
        """Return the rendering of a template that sees only its arguments: values, and other templates."""
        span = self._span(node)
        if self.steps > LIMITS.template_steps_entry:
            # Said already: what follows is not worth compiling.
            return raiser(too_many_steps(span))
        closures = [closure for closure in arguments.values() if not isinstance(closure, Template)]
        keys = [key for key, closure in arguments.items() if not isinstance(closure, Template)]
        passed = {key: each for key, each in arguments.items() if isinstance(each, Template)}
        assert template.syntax is not None
        scope = Scope({key: slot for slot, key in enumerate(keys)}, passed)
        compiled = _Compiler(template.syntax, scope, self).template()
        self.steps = compiled.steps
        if compiled.errors:
            return self._fail(_inside(name, compiled.errors[0], span))
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


def _with_locals(run: Callable[[Frame], str], count: int) -> Callable[[Frame], str]:
    """Return a closure that runs in a frame with places for names that are set."""
    unset = [_UNSET] * count

    def inner(frame: Frame) -> str:
        wider = [*frame[:-1], *unset, frame[-1]]
        text = run(wider)
        frame[-1] = wider[-1]
        return text

    return inner


def _plain_slice(node: nodes.Expr) -> nodes.Slice | None:
    """Return the slice without a step that an expression is a subscript with."""
    from jinja2 import nodes

    arg = node.arg if isinstance(node, nodes.Getitem) else None
    return arg if isinstance(arg, nodes.Slice) and arg.step is None else None


def _not_alone(span: Span) -> RefbrowserError:
    message = "filter 'unique' gives its items to another filter only"
    return template_error(ErrorKind.TEMPLATE, message, span, f"known are {', '.join(sorted(TAKE_ITEMS))}")


def _inside(name: str, error: RefbrowserError, span: Span) -> RefbrowserError:
    return template_error(error.kind, f"in template {quoted(name)}: {error.message}", span, error.advice)


def _keywords(compiler: _Compiler, node: nodes.Filter) -> dict[str, Closure]:
    # jinja2 declares pairs here, its parser makes keywords.
    return {str(item.key): compiler.expression(item.value) for item in node.kwargs}
