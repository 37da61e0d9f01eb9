"""Templates lowered to algebra: a text as constant fragments and integer expressions of the dimensions.

Only what is provably the same as the closures give: constants, names of dimensions, ``+ - * // %`` and signs,
``~``, ``%d`` and ``{:03d}`` formats, the filters `string`, `int` and `format`, items of constant lists and
sums of their slices, names that are set, and calls of templates made of these. Whatever else does not depend
on a dimension is evaluated once by the closures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.rules.dimensions import RowSpace
from refbrowser.references.rules.integer_expressions import (
    Affine,
    IntegerExpression,
    Lookup,
    Operator,
    bounds,
    combine,
    dimension,
)
from refbrowser.references.templates.constant_lists import ConstantList, IntegerTable
from refbrowser.references.templates.evaluate import Compiled, Scope, compile_expression
from refbrowser.references.templates.filters import parse_braces, parse_percent
from refbrowser.references.templates.syntax import Syntax, Template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import nodes


@dataclass(frozen=True, slots=True)
class IntegerFragment:
    """An integer printed in decimal, padded with zeros to `width` (sign included)."""

    value: IntegerExpression
    width: int = 0


Fragment = str | IntegerFragment
Text = tuple[Fragment, ...]
Lowered = IntegerExpression | Text
#: What a name may be worth.
Known = Lowered | ConstantList

_OPERATORS: Mapping[str, Operator] = {"Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "Mod": "%"}
#: Digits and sign of any integer that a template may make.
_INTEGER_SIZE = 40


def lower_template(template: Template, compiled: Compiled, scope: Scope, space: RowSpace) -> Text | None:
    """Return the fragments that a template prints for the rows of a space, or None where it is not lowered.

    The space must not be empty.
    """
    if template.syntax is None:
        return (template.text,)
    lowering = _Lowering(template.syntax, scope, _dimensions(space), space)
    fragments = lowering.block(template.syntax.body)
    # The closures count the texts that they make as steps: near that limit they decide.
    if fragments is None or compiled.steps + lowering.cost // 16 > LIMITS.template_steps_entry:
        return None
    return fragments


def static_prefix(template: Template, scope: Scope, space: RowSpace) -> str:
    """Return the text that a template prints before anything that depends on a dimension."""
    from jinja2 import nodes

    if template.syntax is None:
        return template.text
    lowering = _Lowering(template.syntax, scope, _dimensions(space), space)
    prefix = ""
    for node in template.syntax.body:
        for item in node.nodes if isinstance(node, nodes.Output) else [node]:
            fragments = lowering.block([nodes.Output([item])] if isinstance(node, nodes.Output) else [node])
            first = fragments[0] if fragments else ""
            prefix += first if isinstance(first, str) else ""
            if fragments is None or len(fragments) > 1 or not isinstance(first, str):
                return prefix
    return prefix


def _dimensions(space: RowSpace) -> dict[str, Known]:
    """Return what the names of dimensions are worth; those of texts are not numbers."""
    pairs = zip(space.names, space.dimensions, strict=True)
    return {name: dimension(slot) for slot, (name, each) in enumerate(pairs) if not each.has_texts}


def merge(fragments: Sequence[Fragment]) -> Text:
    """Join constant neighbours and drop empty texts."""
    merged: list[Fragment] = []
    for fragment in fragments:
        if isinstance(fragment, str) and merged and isinstance(merged[-1], str):
            merged[-1] += fragment
        elif fragment != "":
            merged.append(fragment)
    return tuple(merged)


def most_size(fragments: Text) -> int:
    """Return a bound of the characters of a text."""
    return sum(len(each) if isinstance(each, str) else max(each.width, _INTEGER_SIZE) for each in fragments)


@dataclass(frozen=True, slots=True)
class _Position:
    """A position in a list, or an end of a slice, with its bounds over all rows."""

    value: IntegerExpression
    ends: tuple[int, int]

    @property
    def is_constant(self) -> bool:
        return self.ends[0] == self.ends[1]

    def within(self, length: int) -> range:
        """Return the positions that tell slices of a list apart; those beyond mean its ends."""
        low, high = (min(max(end, -length), length) for end in self.ends)
        return range(low, high + 1)


class _Lowering:
    """Lowers the nodes of one tree; `names` says what each name is worth."""

    def __init__(self, syntax: Syntax, scope: Scope, names: Mapping[str, Known], space: RowSpace) -> None:
        self.syntax = syntax
        self.scope = scope
        self.names = names
        self.space = space
        self.cost = 0

    def block(self, body: Sequence[nodes.Node]) -> Text | None:
        from jinja2 import nodes

        fragments: list[Fragment] = []
        for node in body:
            if isinstance(node, nodes.Assign):
                self._assign(node)
                continue
            if not isinstance(node, nodes.Output):
                return None
            for item in node.nodes:
                if isinstance(item, nodes.TemplateData):
                    fragments.append(item.data)
                    continue
                printed = self._printed(item)
                if printed is None:
                    return None
                fragments.extend(printed)
        return self._text(fragments)

    def _assign(self, node: nodes.Assign) -> None:
        name = getattr(node.target, "name", "")
        template = self._template_named(node.node)
        value = None if template is not None else self._known(node.node)
        self.names = {each: known for each, known in self.names.items() if each != name}
        if template is not None:
            self.scope = self.scope.with_template(name, template)
            return
        if value is not None:
            self.names[name] = value
        slots = {**self.scope.slots, name: max(self.scope.slots.values(), default=-1) + 1}
        self.scope = Scope(slots, self.scope.templates, self.scope.faults)

    def _template_named(self, node: nodes.Node) -> Template | None:
        name = getattr(node, "name", "") if type(node).__name__ == "Name" else ""
        if name in self.names or name in self.scope.slots or name in self.scope.faults:
            return None
        return self.scope.templates.get(name)

    def _known(self, node: nodes.Node) -> Known | None:
        items = self._list_of(node)
        return self.value(node) if items is None else items

    def _list_of(self, node: nodes.Node) -> ConstantList | None:
        """Return the items of an expression that is a list and does not depend on a dimension."""
        name = getattr(node, "name", "") if type(node).__name__ == "Name" else ""
        found: Any = self.names[name] if name in self.names else self._evaluated(node)
        return found if isinstance(found, ConstantList) else None

    def _printed(self, node: nodes.Node | None) -> Text | None:
        value = self.value(node)
        return value if value is None or isinstance(value, tuple) else (IntegerFragment(value),)

    def _text(self, fragments: Sequence[Fragment]) -> Text | None:
        text = merge(fragments)
        size = most_size(text)
        self.cost += size
        return text if 4 * size <= LIMITS.template_string else None

    def _integer(self, value: IntegerExpression) -> IntegerExpression | None:
        """Return the value where no row leaves the integers that closures allow."""
        found = bounds(value, self.space) if self.space.count else None
        if found is None or max(abs(found[0]), abs(found[1])).bit_length() > LIMITS.template_integer_bits:
            return None
        return value

    def value(self, node: nodes.Node | None) -> Lowered | None:
        """Return what an expression is worth, or None where it is not lowered."""
        assert node is not None
        lower = getattr(self, f"_{type(node).__name__.lower()}", None)
        found = lower(node) if lower is not None else None
        return self._constant(node) if found is None else found

    def _constant(self, node: nodes.Node) -> Lowered | None:
        return _as_lowered(self._evaluated(node))

    def _evaluated(self, node: nodes.Node) -> Any:
        """Return what the closures give where no dimension matters, else None; a list as one of constants."""
        compiled = compile_expression(self.syntax, node, self.scope)
        slots: list[Any] = [None] * (max(self.scope.slots.values(), default=-1) + 1)
        for name in compiled.uses:
            # A dimension that is at fault is a name of the scope and has no values.
            lowered = self.names.get(name)
            known = None if lowered is None else _constant_value(lowered)
            if known is None:
                return None
            slots[self.scope.slots[name]] = known
        try:
            found: Any = compiled.render(tuple(slots))
        except RefbrowserError:
            return None
        return ConstantList(found) if type(found) is list else found

    def _const(self, node: nodes.Const) -> Lowered | None:
        return _as_lowered(node.value)

    def _name(self, node: nodes.Name) -> Lowered | None:
        if node.name in self.names:
            known = self.names[node.name]
            return None if isinstance(known, ConstantList) else known
        template = self._template_named(node)
        if template is None or template.needed:
            return None
        if template.is_literal:
            return self._text((template.text,))
        return self._body(template, {}, {})

    def _binary(self, node: nodes.BinExpr) -> Lowered | None:
        left = self.value(node.left)
        if left is None:
            return None
        right = self.value(node.right)
        if right is None or isinstance(left, tuple) or isinstance(right, tuple):
            both = isinstance(left, tuple) and isinstance(right, tuple)
            return self._text((*left, *right)) if both and type(node).__name__ == "Add" else None  # type: ignore[misc]
        return self._integer(combine(_OPERATORS[type(node).__name__], left, right))

    _add = _sub = _mul = _floordiv = _binary

    def _mod(self, node: nodes.Mod) -> Lowered | None:
        from jinja2 import nodes

        text = _constant_text(self.value(node.left))
        if text is None:
            return self._binary(node)
        arguments = node.right.items if isinstance(node.right, nodes.Tuple) else [node.right]
        return self._percent(text, [self.value(item) for item in arguments])

    def _neg(self, node: nodes.Neg) -> Lowered | None:
        value = self.value(node.node)
        if value is None or isinstance(value, tuple):
            return None
        return self._integer(combine("-", Affine(0), value))

    def _pos(self, node: nodes.Pos) -> Lowered | None:
        value = self.value(node.node)
        return None if isinstance(value, tuple) else value

    def _concat(self, node: nodes.Concat) -> Lowered | None:
        fragments: list[Fragment] = []
        for item in node.nodes:
            printed = self._printed(item)
            if printed is None:
                return None
            fragments.extend(printed)
        return self._text(fragments)

    def _filter(self, node: nodes.Filter) -> Lowered | None:
        if node.name == "format" and not node.kwargs:
            text = _constant_text(self.value(node.node))
            return None if text is None else self._percent(text, [self.value(item) for item in node.args])
        if node.name == "string" and not node.args and not node.kwargs:
            return self._printed(node.node)
        if node.name == "int" and not node.args and not node.kwargs:
            value = self.value(node.node)
            if not isinstance(value, tuple):
                return value
            # An integer that a template gave as text.
            fragment = value[0] if len(value) == 1 else ""
            return fragment.value if isinstance(fragment, IntegerFragment) else None
        if node.name == "sum" and not node.args and not node.kwargs:
            return self._sum(node.node)
        return None

    # Constant lists

    def _getitem(self, node: nodes.Getitem) -> Lowered | None:
        items = None if type(node.arg).__name__ == "Slice" else self._list_of(node.node)
        position = None if items is None else self._position(node.arg)
        if items is None or position is None:
            return None
        low, high = position.ends
        if low < -len(items) or high >= len(items):
            return None
        if low >= 0:
            return self._looked_up(items.items_table, position.value)
        return self._looked_up(items.items_at(range(low, high + 1)), position.value, low)

    def _sum(self, node: Any) -> Lowered | None:
        """Return the sum of a slice without a step: a difference of running sums."""
        cut = getattr(node, "arg", None)
        items = self._list_of(node.node) if type(cut).__name__ == "Slice" else None
        if cut is None or items is None or items.sums_table is None or cut.step is not None:
            return None
        start = self._position(cut.start, 0)
        stop = self._position(cut.stop, len(items))
        if start is None or stop is None:
            return None
        if start.is_constant == stop.is_constant:
            return self._sum_between(items, start, stop) if not start.is_constant else None
        if start.is_constant:
            if start.ends[0] == 0 <= stop.ends[0]:
                return self._looked_up(items.sums_table, stop.value)
            run = stop.within(len(items))
            return self._looked_up(items.sums_of(start.ends[0], run), stop.value, run.start)
        run = start.within(len(items))
        return self._looked_up(items.sums_of(run, stop.ends[0]), start.value, run.start)

    def _sum_between(self, items: ConstantList, start: _Position, stop: _Position) -> Lowered | None:
        """Return the sum where both ends depend on dimensions, and never pass each other."""
        apart = bounds(combine("-", stop.value, start.value), self.space)
        if start.ends[0] < 0 or apart is None or apart[0] < 0:
            return None
        before, after = (self._looked_up(items.sums_table, end.value) for end in (start, stop))
        return None if before is None or after is None else self._integer(combine("-", after, before))

    def _position(self, node: nodes.Node | None, default: int = 0) -> _Position | None:
        value = Affine(default) if node is None else self.value(node)
        if value is None or isinstance(value, tuple):
            return None
        ends = bounds(value, self.space) if self.space.count else None
        return None if ends is None else _Position(value, ends)

    def _looked_up(
        self, table: IntegerTable | None, position: IntegerExpression, low: int = 0
    ) -> IntegerExpression | None:
        """Return the integers of a table whose first position is `low`."""
        if table is None:
            return None
        return self._integer(Lookup(table, combine("-", position, Affine(low)) if low else position))

    def _percent(self, text: str, arguments: Sequence[Lowered | None]) -> Text | None:
        try:
            form = parse_percent(text)
        except RefbrowserError:
            return None
        fragments: list[Fragment] = []
        waiting = list(arguments)
        for directive in form.directives:
            fragments.append(directive.before)
            if directive.letter == "%" and not directive.flags and not directive.width:
                fragments.append("%")
                continue
            if not waiting or directive.key is not None or directive.precision is not None:
                return None
            zeros = directive.width if directive.flags == "0" else 0
            if directive.flags not in ("", "0") or (directive.width and not zeros):
                return None
            printed = _formatted(waiting.pop(0), directive.letter, zeros)
            if printed is None:
                return None
            fragments.extend(printed)
        return None if waiting else self._text((*fragments, form.after))

    def _call(self, node: nodes.Call) -> Lowered | None:
        from jinja2 import nodes

        if isinstance(node.node, nodes.Getattr):
            return self._brace_format(node, node.node)
        assert isinstance(node.node, nodes.Name)
        template = self.scope.templates.get(node.node.name)
        if template is None or template.is_literal:
            return None
        arguments: dict[str, Known] = {}
        passed: dict[str, Template] = {}
        for item in node.kwargs:
            named = self._template_named(item.value)
            if named is not None:
                passed[item.key] = named
                continue
            value = self._known(item.value)
            if value is None:
                return None
            arguments[item.key] = value
        return self._body(template, arguments, passed)

    def _body(
        self, template: Template, arguments: Mapping[str, Known], passed: Mapping[str, Template]
    ) -> Text | None:
        assert template.syntax is not None
        scope = Scope({name: slot for slot, name in enumerate(arguments)}, passed)
        inner = _Lowering(template.syntax, scope, arguments, self.space)
        found = inner.block(template.syntax.body)
        self.cost += inner.cost
        return found

    def _brace_format(self, node: nodes.Call, method: nodes.Getattr) -> Text | None:
        try:
            fields, after = parse_braces(getattr(method.node, "value", ""))
        except RefbrowserError:
            return None
        fragments: list[Fragment] = []
        for item in fields:
            if item.index >= len(node.args) or node.kwargs:
                return None
            width, letter = _zero_padded(item.spec)
            printed = _formatted(self.value(node.args[item.index]), letter, width)
            if printed is None:
                return None
            fragments.extend((item.before, *printed))
        return self._text((*fragments, after))


def _zero_padded(spec: str) -> tuple[int, str]:
    """Return the width and type of a format like ``03d``; the type is ``?`` where it is not of that shape."""
    digits, letter = (spec[:-1], "d") if spec.endswith("d") else (spec, "s" if not spec else "d")
    if not digits:
        return 0, letter
    return (int(digits), "d") if digits.isdecimal() and digits[0] == "0" else (0, "?")


def _formatted(value: Lowered | None, letter: str, width: int) -> Text | None:
    """Return the fragments of one formatted argument: ``d`` of an integer, or anything as text."""
    if isinstance(value, tuple):
        return value if letter == "s" and not width else None
    if value is None or letter not in ("diu" if width else "dius"):
        return None
    return (IntegerFragment(value, width),)


def _as_lowered(value: Any) -> Lowered | None:
    if isinstance(value, str):
        return (value,) if value else ()
    return Affine(value) if type(value) is int else None


def _constant_text(value: Lowered | None) -> str | None:
    if not isinstance(value, tuple) or len(value) > 1:
        return None
    if not value:
        return ""
    return value[0] if isinstance(value[0], str) else None


def _constant_value(value: Known) -> str | int | ConstantList | None:
    if isinstance(value, ConstantList):
        return value
    if isinstance(value, Affine):
        return None if value.terms else value.constant
    return _constant_text(value) if isinstance(value, tuple) else None
