"""Two arrays of one grid: the expression of their difference or ratio, or in what their grids differ."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.expressions.conversions import conversion
from refbrowser.model.expressions.grammar import BY_POSITION, CONVERT, NamedArray, word_text
from refbrowser.model.selection import Selection
from refbrowser.views.derived.expression_operands import Operands
from refbrowser.views.derived.operands import NEAR, Axis, Operand
from refbrowser.views.plot.coordinates import Coordinate, attribute_text
from refbrowser.views.plot.slicing import dimension_names

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array, Dataset

#: What two arrays give, by the sign between them: how the result is called.
PAIRS: Mapping[str, str] = {"-": "difference", "/": "ratio"}


@dataclass(frozen=True, slots=True)
class Pair:
    """What two arrays give.

    Attributes
    ----------
    text
        The expression; empty where the grids differ.
    title
        What is shown of it: the two by what tells them apart.
    notes
        What was done so that they go together, in words.
    differences
        In what the grids differ.
    movable
        Dimensions of one size with other coordinates: they can be laid by position.
    """

    text: str = ""
    title: str = ""
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    movable: tuple[str, ...] = ()


@dataclass(slots=True)
class _Side:
    """One of the two arrays: what is taken of its dimensions, where it is held, what is laid by position."""

    named: NamedArray
    array: Array
    operand: Operand
    selection: Selection
    taken: dict[str, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the side as an expression has it."""
        written = self.named.selection
        if self.taken:
            names = dimension_names(self.array.node)
            kept = {name: self._index(axis) for axis, name in enumerate(names)}
            parts = {**{name: text for name, text in kept.items() if text}, **self.taken}
            written = ",".join(f"{name}@{index}" for name, index in parts.items())
        text = str(replace(self.named, selection=written))
        return f"{BY_POSITION}({text}, {', '.join(map(word_text, self.moved))})" if self.moved else text

    def _index(self, axis: int) -> str:
        """Return what is taken of a dimension of the array; empty for all of it."""
        taken = self.selection.axes[axis]
        if axis in self.selection.dropped:
            return str(taken.start)
        is_back = axis in self.selection.backwards
        return _slice_text(taken[::-1] if is_back else taken, self.array.shape[axis])


def paired(
    first: NamedArray,
    second: NamedArray,
    sign: str,
    datasets: Mapping[str, Dataset],
    token: CancelToken,
    by_position: Collection[str] = (),
) -> Pair:
    """Return what two arrays give, the first less or by the second.

    Dimensions go together by their names. Of one with more coordinates in one array than in the other, those
    are taken that both have; one of a single element is held there where the coordinates differ.

    Parameters
    ----------
    sign
        One of `PAIRS`.
    by_position
        Dimensions whose coordinates do not count.

    Raises
    ------
    RefbrowserError
        There is no such array or selection, or coordinates cannot be read.
    """
    one, other = _side(first, datasets, token), _side(second, datasets, token)
    notes, differences, movable = [], [], []
    for name in [name for name in one.operand.axes if name in other.operand.axes]:
        axes = one.operand.axes[name], other.operand.axes[name]
        if name in by_position and axes[0].size == axes[1].size:
            other.moved.append(name)
            notes.append(f"{name} is matched by position")
            continue
        difference = axes[0].differs(axes[1], token) if axes[0].size == axes[1].size else "sizes"
        if not difference:
            continue
        note = _aligned(name, one, other, token)
        if note:
            notes.append(note)
            continue
        differences.append(_difference(name, *axes, token))
        if axes[0].size == axes[1].size:
            movable.append(name)
    differences += _dimensions_apart(one.operand.axes, other.operand.axes)
    if differences:
        return Pair(differences=tuple(differences), movable=tuple(movable))
    name = f"{first.path.rsplit('/', 1)[-1]}_{PAIRS[sign]}"
    is_name = name.isidentifier()
    second_text, converted = _in_units_of(one, other, sign)
    notes += [converted] if converted else []
    text = f"{f'{name} = ' if is_name else ''}{one.text()} {sign} {second_text}"
    return Pair(text, _title(one, other, sign), tuple(notes))


def _side(named: NamedArray, datasets: Mapping[str, Dataset], token: CancelToken) -> _Side:
    operands = Operands(str(named), datasets, token)
    operand = operands.of(named)
    ((array, selection),) = operands.taken
    return _Side(named, array, operand, selection)


def _in_units_of(one: _Side, other: _Side, sign: str) -> tuple[str, str]:
    """Return the second side in the units of the first where they differ, with that in words."""
    wanted, own = (attribute_text(side.array.attrs, "units") for side in (one, other))
    text = other.text()
    if sign != "-" or one.operand.unit == other.operand.unit or not wanted or not own:
        return text, ""
    try:
        conversion(own, wanted)
    except RefbrowserError:
        # What does not go together is told of the expression.
        return text, ""
    return f"{CONVERT}({text}, {word_text(wanted)})", f"the second is put in {wanted}, from {own}"


def _title(one: _Side, other: _Side, sign: str) -> str:
    """Return two arrays by what tells them apart: where they are held, their datasets, or their names."""
    between = {"-": "−"}.get(sign, sign)
    names = [_label(side.array) for side in (one, other)]
    if names[0] != names[1]:
        return f"{names[0]} {between} {names[1]}"
    apart = [", ".join(side.held) for side in (one, other)]
    if not all(apart):
        apart = [_stem(side.array.dataset.path) for side in (one, other)]
    if apart[0] == apart[1]:
        apart = [side.named.selection or side.named.path for side in (one, other)]
    return f"{names[0]}: {apart[0]} {between} {apart[1]}"


def _label(array: Array) -> str:
    return attribute_text(array.attrs, "long_name") or array.name


def _stem(path: str) -> str:
    return os.path.splitext(path.rstrip("/").rsplit("/", 1)[-1])[0]


def _aligned(name: str, one: _Side, other: _Side, token: CancelToken) -> str:
    """Take of a dimension what both sides have; return that in words, nothing where they have not that."""
    axes = one.operand.axes[name], other.operand.axes[name]
    places = [axis.coordinate(token) for axis in axes]
    few, many = (one, other) if axes[0].size <= axes[1].size else (other, one)
    small, large = (places[0], places[1]) if few is one else (places[1], places[0])
    if small is not None and large is not None:
        found = _places(small, large)
        if found is not None:
            whole = many.operand.axes[name].taken
            size = many.array.shape[dimension_names(many.array.node).index(name)]
            many.taken[name] = _slice_text(whole[found.start : _stop(found) : found.step], size)
            if small.size == large.size:
                return f"{name} of the second is turned round"
            return f"{name} is taken where both have it: {_ends(small)}"
    if axes[0].size == axes[1].size == 1 or few.operand.axes[name].size == 1:
        for side, axis in zip((one, other), axes, strict=True):
            if axis.size == 1:
                side.taken[name] = str(axis.taken.start)
        if axes[0].size == axes[1].size:
            told = [place.text(0) if place is not None else "?" for place in places]
            one.held.append(told[0])
            other.held.append(told[1])
            return f"{name} is {told[0]} in the first and {told[1]} in the second"
        of = "first" if few is one else "second"
        return f"the {of} has one {name}, which goes with each of the other"
    return ""


def _places(small: Coordinate, large: Coordinate) -> range | None:
    """Return where the elements of a coordinate are in a larger one, or in one that runs the other way."""
    if small.size > large.size:
        return None
    keys, there = _comparable(small, large)
    if keys is None or there is None:
        return None
    firsts = [place for key in keys[:2] if (place := _place(key, there)) is not None]
    if len(firsts) < min(small.size, 2):
        return None
    first, step = firsts[0], firsts[-1] - firsts[0] or 1
    if not 0 <= first + step * (small.size - 1) < large.size:
        return None
    found = range(first, first + step * small.size, step)
    index = np.arange(small.size) * step + first
    return found if _alike(keys, there[index]).all() else None


def _comparable(
    small: Coordinate, large: Coordinate
) -> tuple[npt.NDArray[np.generic] | None, npt.NDArray[np.generic] | None]:
    """Return what is compared of two coordinates: their numbers, or texts of dates and of texts."""
    if small.dates is not None and large.dates is not None and small.dates != large.dates:
        return tuple(np.array([each.text(index) for index in range(each.size)]) for each in (small, large))  # type: ignore[return-value]
    if small.values is not None and large.values is not None:
        return (small.values, large.values) if small.units == large.units else (None, None)
    if small.texts is not None and large.texts is not None:
        return np.array(small.texts), np.array(large.texts)
    return None, None


def _alike(one: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    if one.dtype.kind == "U":
        return np.asarray(one == other)
    numbers, others = one.astype(np.float64), other.astype(np.float64)
    return np.asarray(np.abs(numbers - others) <= NEAR * np.maximum(np.abs(numbers), np.abs(others)))


def _place(key: np.generic, there: npt.NDArray[np.generic]) -> int | None:
    found = np.flatnonzero(_alike(np.broadcast_to(np.asarray(key), there.shape), there))
    return int(found[0]) if len(found) else None


def _difference(name: str, one: Axis, other: Axis, token: CancelToken) -> str:
    """Return in words in what a dimension differs."""
    places = [axis.coordinate(token) for axis in (one, other)]
    told = [
        f"{axis.size}" if place is None else f"{axis.size} from {_ends(place)}"
        for axis, place in zip((one, other), places, strict=True)
    ]
    if told[0] == told[1]:
        return f"{name}: {one.differs(other, token)}"
    return f"{name}: {told[0]} in the first, {told[1]} in the second"


def _dimensions_apart(one: Collection[str], other: Collection[str]) -> list[str]:
    """Return that each of two arrays has dimensions of its own."""
    mine, theirs = ([name for name in a if name not in b] for a, b in ((one, other), (other, one)))
    if not mine or not theirs:
        return []
    return [f"only the first has {_listed(mine)}, only the second {_listed(theirs)}"]


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


def _ends(place: Coordinate) -> str:
    return place.text(0) if place.size == 1 else f"{place.text(0)} to {place.text(place.size - 1)}"


def _stop(places: range) -> int | None:
    """Return the end of a slice of these: None where it runs down to the first element."""
    return None if places.step < 0 and places.stop < 0 else places.stop


def _slice_text(taken: range, size: int) -> str:
    """Return indices as Python's slices are written; empty for all of a dimension."""
    if taken == range(size):
        return ""
    stop = _stop(taken)
    step = "" if taken.step == 1 else f":{taken.step}"
    return f"{taken.start}:{'' if stop is None else stop}{step}"
