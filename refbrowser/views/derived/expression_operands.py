"""From the parts of an expression to operands: arrays are found, and dimensions and units are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.derived.operations import Constant, Elementwise, How, Reduction, Source
from refbrowser.errors import NotInstalledError, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.model.expressions.conversions import conversion, is_difference
from refbrowser.model.expressions.functions import ELEMENT_FUNCTIONS, REDUCTIONS, UnitRule, unit_after
from refbrowser.model.expressions.grammar import (
    CONVERT,
    UNITS,
    Call,
    Expression,
    NamedArray,
    Number,
    Operation,
    usage,
)
from refbrowser.model.expressions.units import Unit
from refbrowser.views.derived.operands import Axis, OpenedArray, Operand
from refbrowser.views.plot.named_selection import selection_of
from refbrowser.views.plot.reading import coordinate_nodes
from refbrowser.views.plot.resolution import named_node
from refbrowser.views.plot.slicing import dimension_names

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array, Dataset
    from refbrowser.model.selection import Selection


def _power(base: Any, exponent: Any) -> Any:
    """Return a power; numpy knows squares and roots by the operator alone."""
    is_plain = isinstance(base, np.ndarray) and isinstance(exponent, float)
    return base**exponent if is_plain else np.power(base, exponent)


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": _power,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")


class Operands:
    """Makes the operands of one expression.

    Parameters
    ----------
    text
        The expression, for errors.
    datasets
        By their labels; the one without a label is what the expression is about.
    """

    def __init__(self, text: str, datasets: Mapping[str, Dataset], token: CancelToken) -> None:
        self._text, self._datasets, self._token = text, datasets, token
        #: The arrays that were found, and what is taken of each.
        self.taken: list[tuple[Array, Selection]] = []

    def of(self, expression: Expression) -> Operand:
        """Return the operand of a part.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such array, dimension or element, or what does not fit is put together; or
            coordinates cannot be read.
        """
        match expression:
            case Number(value=value):
                return Operand(Constant(value), is_number=True)
            case NamedArray():
                return self._array(expression)
            case Operation():
                return self._operation(expression)
            case Call(name=name) if name in ELEMENT_FUNCTIONS:
                return self._function(expression)
            case Call(name=name) if name in REDUCTIONS:
                return self._reduction(expression)
            case Call(name=name, words=words):
                operand = self.of(expression.operands[0])
                if name == UNITS:
                    return replace(operand, unit=Unit.parsed(words[0]), is_number=False)
                if name == CONVERT:
                    return self._converted(expression, operand)
                return self._by_position(expression, operand)

    def _array(self, named: NamedArray) -> Operand:
        dataset = self._datasets.get(named.label)
        if dataset is None:
            there = ", ".join(sorted(filter(None, self._datasets))) or "none"
            raise self._wrong(named, f"there is no dataset {quoted(named.label)}", f"there is {there}")
        array = dataset.array(named.path)
        node = named_node(dataset.hierarchy, array.node)
        if node.known_dtype.kind not in "biufc":
            raise self._wrong(named, f"{named.path} has no numbers: its type is {node.known_dtype}")
        selection = selection_of(array, named.selection, self._token)
        self.taken.append((array, selection))
        names = dimension_names(node)
        if len(set(names)) < len(names):
            raise self._wrong(named, f"two dimensions of {named.path} have one name")
        axes = {}
        for axis, (name, coordinate) in enumerate(
            zip(names, coordinate_nodes(dataset.hierarchy, node), strict=True)
        ):
            if axis not in selection.dropped:
                taken = selection.axes[axis]
                taken = taken[::-1] if axis in selection.backwards else taken
                axes[name] = Axis(len(taken), dataset, coordinate, taken)
        units = node.attributes.get("units")
        unit = Unit.parsed(units) if isinstance(units, str) else None
        return Operand(Source(OpenedArray(array), selection, names), axes, unit)

    def _operation(self, part: Operation) -> Operand:
        operands = [self.of(each) for each in part.operands]
        if len(operands) == 1:
            return replace(operands[0], operation=self._elementwise(part, np.negative, operands))
        symbol = part.symbol
        if symbol in ("*", "/"):
            unit = self._product(operands, divided=symbol == "/")
        elif symbol == "**":
            unit = self._power(part, operands)
        else:
            unit = self._common_unit(part, operands)
            unit = Unit() if symbol in _COMPARED else unit
        return self._joined(part, _OPERATORS[symbol], operands, unit)

    def _function(self, call: Call) -> Operand:
        function = ELEMENT_FUNCTIONS[call.name]
        operands = [self.of(each) for each in call.operands]
        alike = operands[1:] if call.name == "where" else operands
        unit = self._common_unit(call, alike) if len(alike) > 1 else alike[0].unit
        if function.units is UnitRule.ANGLE and unit is not None and unit.is_degrees:
            message = f"{call.name} takes radians, and this is in degrees"
            raise self._wrong(call, message, f"write {call.name}(deg2rad(...))")
        return self._joined(call, function.apply, operands, unit_after(function.units, unit))

    def _reduction(self, call: Call) -> Operand:
        operand = self.of(call.operands[0])
        for name in call.words:
            if name not in operand.axes:
                there = ", ".join(operand.axes) or "none"
                raise self._wrong(call, f"there is no dimension {quoted(name)}", f"there are: {there}")
        over = call.words or tuple(operand.axes)
        if not over:
            raise self._wrong(call, f"{call.name} is over dimensions, and this has none")
        kept = {name: axis for name, axis in operand.axes.items() if name not in over}
        unit = unit_after(REDUCTIONS[call.name], operand.unit)
        return Operand(Reduction(call.name, operand.operation, over), kept, unit, operand.is_number)

    def _converted(self, call: Call, operand: Operand) -> Operand:
        """Return an operand in other units.

        Raises
        ------
        RefbrowserError
            It has none, or they do not become those; or the package that knows is not installed.
        """
        if operand.unit is None:
            raise self._wrong(call, "this has no units", "units(..., 'K') says which it has")
        source, target = str(operand.unit) or "1", call.words[0]
        try:
            found = conversion(source, target, is_difference=self.is_difference(call.operands[0]))
        except NotInstalledError:
            raise
        except RefbrowserError as error:
            raise self._wrong(call, error.message, error.advice) from None
        apply = partial(_scaled, found.scale, found.offset)
        converted = Elementwise(apply, [operand.operation])
        return replace(operand, operation=converted, unit=Unit.parsed(target), is_number=False)

    def is_difference(self, part: Expression) -> bool:
        """Whether a part is a difference, so that no zero is moved where it is put in other units."""
        match part:
            case NamedArray():
                array = self._datasets[part.label].array(part.path)
                return is_difference(array.attrs, array.name)
            case Operation(symbol="-", operands=(one, other)):
                return not isinstance(one, Number) and not isinstance(other, Number)
            case Call(name="std"):
                return True
            case Operation(symbol="*" | "/" | "-") | Call():
                return any(self.is_difference(operand) for operand in part.operands)
            case _:
                return False

    def _by_position(self, call: Call, operand: Operand) -> Operand:
        axes = dict(operand.axes)
        for name in call.words:
            if name not in axes:
                there = ", ".join(axes) or "none"
                raise self._wrong(call, f"there is no dimension {quoted(name)}", f"there are: {there}")
            axes[name] = Axis(axes[name].size)
        return replace(operand, axes=axes)

    def _joined(
        self,
        part: Operation | Call,
        apply: Callable[..., Any],
        operands: Sequence[Operand],
        unit: Unit | None,
    ) -> Operand:
        axes: dict[str, Axis] = {}
        for operand in operands:
            for name, axis in operand.axes.items():
                if name in axes:
                    self._check_axis(part, name, axes[name], axis)
                if name not in axes or axes[name].node is None:
                    axes[name] = axis
        is_number = all(operand.is_number for operand in operands)
        return Operand(self._elementwise(part, apply, operands), axes, unit, is_number)

    def _check_axis(self, part: Operation | Call, name: str, one: Axis, other: Axis) -> None:
        if one.size != other.size:
            message = f"{name} has {one.size} elements in one operand and {other.size} in another"
            raise self._wrong(
                part, message, f"select the same of both, as in [{name}@0:{min(one.size, other.size)}]"
            )
        unlike = one.differs(other, self._token)
        if unlike:
            advice = f"by_position(..., {name}) lays an operand by position"
            raise self._wrong(part, f"the coordinates of {name} differ: {unlike}", advice)

    def _elementwise(
        self, part: Operation | Call, apply: Callable[..., Any], operands: Sequence[Operand]
    ) -> Elementwise:
        """Return a function of operands; truth counts as 1 where it is computed with."""
        is_truth = any(operand.operation.dtype == np.bool_ for operand in operands)
        if isinstance(part, Operation) and part.symbol not in _COMPARED and is_truth:
            apply = partial(_of_numbers, apply)
        try:
            return Elementwise(apply, [operand.operation for operand in operands])
        except TypeError:
            named = part.symbol if isinstance(part, Operation) else part.name
            kinds = ", ".join(str(operand.operation.dtype) for operand in operands)
            raise self._wrong(part, f"{named} takes no values of type {kinds}") from None

    def _common_unit(self, part: Operation | Call, operands: Sequence[Operand]) -> Unit | None:
        """Return the unit of operands that are added or compared.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: they differ.
        """
        known = [operand.unit for operand in operands if operand.unit is not None and not operand.is_number]
        for unit in known[1:]:
            if unit != known[0]:
                message = f"{_named(known[0])} and {_named(unit)} do not go together"
                advice = "units(..., 'K') says which units something has, convert(..., 'K') puts it in others"
                raise self._wrong(part, message, advice)
        return known[0] if known else None

    def _product(self, operands: Sequence[Operand], *, divided: bool) -> Unit | None:
        one, other = (Unit() if operand.is_number else operand.unit for operand in operands)
        if one is None or other is None:
            return None
        return one.over(other) if divided else one.times(other)

    def _power(self, part: Operation, operands: Sequence[Operand]) -> Unit | None:
        base, exponent = operands
        if exponent.unit is not None and not exponent.unit.is_number:
            raise self._wrong(part, f"an exponent is a plain number, and this is in {exponent.unit}")
        operation = exponent.operation
        if base.unit is None or base.unit.is_number:
            return base.unit
        if not exponent.is_number or operation.sizes:
            raise self._wrong(part, f"{base.unit} to a power that is no number has no units")
        number = operation.block({}, How(self._token, lambda size, requests: None))
        return base.unit.power(float(number))

    def _wrong(self, part: Expression, message: str, advice: str = "") -> RefbrowserError:
        return usage(self._text, part.at, message, advice)


def _scaled(scale: float, offset: float, values: Any) -> Any:
    result = np.multiply(values, scale)
    return result if offset == 0 else np.add(result, offset)


def _named(unit: Unit) -> str:
    return "plain numbers" if unit.is_number else quoted(str(unit))


def _of_numbers(apply: Callable[..., Any], *operands: Any) -> Any:
    """Apply an operator of numbers; truth counts as 1."""
    return apply(
        *(each.astype(np.float64) if getattr(each, "dtype", None) == np.bool_ else each for each in operands)
    )
