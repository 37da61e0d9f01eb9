"""What a derived array is computed of, as a tree: arrays that are read, and functions of their elements."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.io.cancel import CancelToken
from refbrowser.model.cf import Packing
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.reading.reader import Needed
    from refbrowser.model.nodes import ArrayNode

Values = npt.NDArray[Any]
#: What is taken along each dimension, by its name: ascending positions.
Ranges = Mapping[str, range]
_FLOAT64 = np.dtype(np.float64)
#: Elements that a reduction holds at a time, about.
HELD = 1 << 22
#: Elements that all functions are applied to together: they and what comes of them fit in a cache.
BLOCK = 1 << 17
#: Seconds after which who waits for a statistic looks whether it is still wanted.
_PATIENCE = 0.1


class Scratch(threading.local):
    """Arrays of which one is used after the other in the same memory, by each thread for itself."""

    def __init__(self) -> None:
        self._free: list[npt.NDArray[np.uint8]] = []

    @contextmanager
    def taken(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Iterator[Values]:
        """Give an array; what it holds is not known. It is given back at the end, unless that is an error.

        After an error somebody may still write to it.
        """
        size = prod(shape) * dtype.itemsize
        held = next((each for each in self._free if each.size >= size), None)
        if held is None:
            held = np.empty(size, np.uint8)
        else:
            self._free = [each for each in self._free if each is not held]
        yield held[:size].view(dtype).reshape(shape)
        self._free.append(held)


@dataclass(frozen=True, slots=True)
class How:
    """How arrays are read.

    Attributes
    ----------
    token, export, priority, passing
        As `ReadOptions` has them.
    told
        Is given the bytes and requests of each read.
    scratch
        Memory that is used again and again: to take new memory costs more than to compute with it.
    """

    token: CancelToken
    told: Callable[[int, int], None]
    export: bool = False
    priority: int = 0
    passing: bool = False
    scratch: Scratch = field(default_factory=Scratch, compare=False)


class OpenArray(Protocol):
    """An array that can be read."""

    @property
    def node(self) -> ArrayNode:
        """What it is."""
        ...

    def read(self, selection: Selection, how: How, out: Values | None = None) -> Values:
        """Return values as they are stored, in `out` where that is given.

        Raises
        ------
        RefbrowserError
            They cannot be read, or its dataset was closed.
        """
        ...

    def needed(self, selection: Selection) -> Needed:
        """Return what reading a selection needs."""
        ...


class Operation(ABC):
    """Gives values of named dimensions, block by block.

    Attributes
    ----------
    sizes
        Of each dimension by its name, in the order of its axes.
    dtype
        Of its values.
    """

    sizes: Mapping[str, int]
    dtype: np.dtype[Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its dimensions."""
        return tuple(self.sizes)

    @abstractmethod
    def block(self, ranges: Ranges, how: How) -> Any:
        """Return its values in ranges of its dimensions (there may be others), in the order of `names`.

        Raises
        ------
        RefbrowserError
            An array cannot be read.
        """

    def fill(self, out: Values, ranges: Ranges, how: How) -> None:
        """Put what `block` returns into an array."""
        out[...] = self.block(ranges, how)

    @abstractmethod
    def sources(self) -> Iterator[tuple[Source, Mapping[str, range]]]:
        """Yield the arrays that are read, with their dimensions that are read whole for any block."""

    def side(self, name: str) -> int:
        """Return how many elements along a dimension are best computed together: as chunks have them."""
        return max((source.side(name) for source, _ in self.sources()), default=1)


@dataclass(frozen=True, slots=True)
class Constant(Operation):
    """A number."""

    value: float
    sizes: Mapping[str, int] = field(default_factory=dict)
    dtype: np.dtype[Any] = _FLOAT64

    def block(self, ranges: Ranges, how: How) -> float:
        """Return the number: as one of Python it makes no values wider."""
        return self.value

    def sources(self) -> Iterator[tuple[Source, Mapping[str, range]]]:
        """Yield nothing."""
        yield from ()


class Source(Operation):
    """Physical values of an array, or of what a selection takes of it.

    Parameters
    ----------
    names
        Of all dimensions of the array; what the selection drops has no axis.
    """

    def __init__(self, array: OpenArray, selection: Selection, names: Sequence[str]) -> None:
        self.array, self.selection = array, selection
        self._axes = {name: axis for axis, name in enumerate(names) if axis not in selection.dropped}
        self.sizes = {name: len(selection.axes[axis]) for name, axis in self._axes.items()}
        self._packing = Packing.of(array.node)
        self.dtype = self.made(np.empty((0,), self.stored)).dtype

    def block(self, ranges: Ranges, how: How) -> Values:
        """Return values; missing ones are NaN."""
        return self.made(self.array.read(self.taken(ranges), how))

    def fill(self, out: Values, ranges: Ranges, how: How) -> None:
        """Put values into an array, and only as many as are worked on at a time elsewhere on the way."""
        if out.dtype == self.stored:
            made = self.made(self.array.read(self.taken(ranges), how, out))
            if made is not out:
                out[...] = made
            return
        with how.scratch.taken(out.shape, self.stored) as stored:
            self.array.read(self.taken(ranges), how, stored)
            for block in blocks(out.shape):
                out[block] = self.made(stored[block])

    @property
    def stored(self) -> np.dtype[Any]:
        """The type of its values as they are stored."""
        return self.array.node.known_dtype.newbyteorder("=")

    @property
    def key(self) -> Hashable:
        """The same for all that read the same."""
        return type(self), id(self.array.node), self.selection

    def taken(self, ranges: Ranges) -> Selection:
        """Return what is read of the array for ranges of its dimensions."""
        axes, backwards = list(self.selection.axes), set(self.selection.backwards)
        for name, axis in self._axes.items():
            base = axes[axis][::-1] if axis in backwards else axes[axis]
            taken = base[ranges[name].start : ranges[name].stop : ranges[name].step]
            axes[axis] = taken[::-1] if taken.step < 0 else taken
        return Selection(tuple(axes), self.selection.dropped, frozenset(backwards))

    def sources(self) -> Iterator[tuple[Source, Mapping[str, range]]]:
        """Yield itself."""
        yield self, {}

    def side(self, name: str) -> int:
        """Return how many of its elements along a dimension a chunk has."""
        if name not in self._axes:
            return 1
        axis = self._axes[name]
        step = self.selection.axes[axis].step
        return max(min(self.array.node.grid.largest[axis] // step, self.sizes[name]), 1)

    def made(self, values: Values) -> Values:
        """Return what stored values mean, which may be changed in place."""
        return self._packing.decode_own(values)


class StoredSource(Source):
    """Values of an array as they are stored: coordinates, with what their own attributes say of them."""

    def made(self, values: Values) -> Values:
        """Return the values."""
        return values


class Elementwise(Operation):
    """A function of the elements of operands, which are laid by the names of their dimensions.

    What it is computed of is read whole, once though it is named twice, and then all its functions are
    applied to as much as the caches of a processor hold.
    """

    def __init__(self, apply: Callable[..., Any], operands: Sequence[Operation]) -> None:
        self._apply, self._operands = apply, tuple(operands)
        sizes: dict[str, int] = {}
        for operand in operands:
            sizes |= operand.sizes
        self.sizes = sizes
        with np.errstate(all="ignore"):
            self.dtype = np.asarray(apply(*(_sample(operand) for operand in operands))).dtype

    def block(self, ranges: Ranges, how: How) -> Values:
        """Return the values of the function."""
        out = np.empty([len(ranges[name]) for name in self.names], self.dtype)
        self.fill(out, ranges, how)
        return out

    def fill(self, out: Values, ranges: Ranges, how: How) -> None:
        """Put the values of the function into an array."""
        with ExitStack() as stack:
            whole: dict[Hashable, Values] = {}
            stored: dict[Hashable, tuple[Source, Values]] = {}
            for key, leaf in self._leaves().items():
                shape = [len(ranges[name]) for name in leaf.names]
                if isinstance(leaf, Source) and len(shape) == out.ndim:
                    values = stack.enter_context(how.scratch.taken(shape, leaf.stored))
                    stored[key] = leaf, self._laid(leaf, leaf.array.read(leaf.taken(ranges), how, values))
                else:
                    values = stack.enter_context(how.scratch.taken(shape, leaf.dtype))
                    leaf.fill(values, ranges, how)
                    whole[key] = self._laid(leaf, values)
            with np.errstate(all="ignore"):
                for block in blocks(out.shape):
                    part = {key: source.made(values[block]) for key, (source, values) in stored.items()}
                    part |= {key: values[_within(block, values.shape)] for key, values in whole.items()}
                    self._compute(part, out[block])

    def sources(self) -> Iterator[tuple[Source, Mapping[str, range]]]:
        """Yield those of the operands."""
        for operand in self._operands:
            yield from operand.sources()

    def _leaves(self) -> dict[Hashable, Operation]:
        """Return what is no function of elements among the operands, and theirs; each once."""
        found: dict[Hashable, Operation] = {}
        for operand in self._operands:
            if isinstance(operand, Elementwise):
                found |= operand._leaves()
            elif not isinstance(operand, Constant):
                found[_key(operand)] = operand
        return found

    def _compute(self, leaves: Mapping[Hashable, Values], out: Values | None = None) -> Any:
        """Return the values of the function for values of the leaves, laid as those of the outermost one."""
        operands = [
            operand._compute(leaves)
            if isinstance(operand, Elementwise)
            else operand.value
            if isinstance(operand, Constant)
            else leaves[_key(operand)]
            for operand in self._operands
        ]
        if out is None:
            return self._apply(*operands)
        if isinstance(self._apply, np.ufunc):
            return self._apply(*operands, out=out)
        out[...] = self._apply(*operands)
        return out

    def _laid(self, operand: Operation, values: Values) -> Values:
        """Return the values of an operand with its axes at the places of this one's."""
        order = [operand.names.index(name) for name in self.names if name in operand.sizes]
        index = tuple(slice(None) if name in operand.sizes else None for name in self.names)
        return values.transpose(order)[index]


def _sample(operand: Operation) -> Any:
    return operand.value if isinstance(operand, Constant) else np.ones(1, operand.dtype)


def _key(operand: Operation) -> Hashable:
    return operand.key if isinstance(operand, Source) else id(operand)


def blocks(shape: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield the places of parts of an array that caches hold, as indices that keep all axes."""
    if prod(shape) <= BLOCK:
        yield (...,)
        return
    axis = next(axis for axis in range(len(shape)) if prod(shape[axis + 1 :]) <= BLOCK)
    step = max(BLOCK // max(prod(shape[axis + 1 :]), 1), 1)
    for outer in product(*(range(size) for size in shape[:axis])):
        for start in range(0, shape[axis], step):
            yield (*(slice(at, at + 1) for at in outer), slice(start, min(start + step, shape[axis])))


def _within(block: tuple[Any, ...], shape: Sequence[int]) -> tuple[Any, ...]:
    """Return a place in an array that has single elements along some axes, which are laid along them."""
    # What is beyond the block is whole, and so are single elements.
    return tuple(
        part if part is ... or size > 1 else slice(None) for part, size in zip(block, shape, strict=False)
    )


class Reduction(Operation):
    """A statistic over whole dimensions, part by part of these; missing values are left out."""

    def __init__(self, statistic: str, operand: Operation, over: Sequence[str]) -> None:
        self._statistic, self._operand, self._over = statistic, operand, tuple(over)
        self.sizes = {name: size for name, size in operand.sizes.items() if name not in self._over}
        self._kept: OrderedDict[Hashable, Values] = OrderedDict()
        self._lock = threading.Lock()
        keeps = statistic in ("min", "max") and operand.dtype.kind == "f"
        self.dtype = np.dtype(np.complex128) if operand.dtype.kind == "c" else np.dtype(np.float64)
        if keeps:
            self.dtype = operand.dtype

    def block(self, ranges: Ranges, how: How) -> Values:
        """Return the statistic; the last ones are kept: for each chunk beside it, it is asked again."""
        kept = {name: ranges[name] for name in self.sizes}
        key = tuple(kept.values())
        while not self._lock.acquire(timeout=_PATIENCE):
            how.token.check()
        try:
            if key not in self._kept:
                self._kept[key] = self._computed(kept, how)
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(each.size for each in self._kept.values()) > HELD:
                self._kept.popitem(last=False)
            return self._kept[key]
        finally:
            self._lock.release()

    def _computed(self, kept: Ranges, how: How) -> Values:
        gathered = _Gathered(self._statistic, self.dtype)
        axes = tuple(self._operand.names.index(name) for name in self._over)
        for part in self._parts(prod(map(len, kept.values()))):
            how.token.check()
            ranges = {**kept, **part}
            shape = [len(ranges[name]) for name in self._operand.names]
            with how.scratch.taken(shape, self._operand.dtype) as values, np.errstate(all="ignore"):
                self._operand.fill(values, ranges, how)
                gathered.add(values, axes)
        with np.errstate(all="ignore"):
            return np.asarray(gathered.result(), self.dtype)

    def sources(self) -> Iterator[tuple[Source, Mapping[str, range]]]:
        """Yield those of the operand, with the dimensions that are read whole."""
        whole = {name: range(self._operand.sizes[name]) for name in self._over}
        for source, inner in self._operand.sources():
            yield source, {**inner, **whole}

    def _parts(self, kept: int) -> Iterator[dict[str, range]]:
        """Yield ranges of the dimensions that it goes over: whole chunks, as many as fit in memory."""
        room, steps = max(HELD // max(kept, 1), 1), {}
        for name in reversed(self._over):
            size, side = self._operand.sizes[name], self._operand.side(name)
            steps[name] = max(size if size <= room else room // side * side or min(side, room), 1)
            room = max(room // max(steps[name], 1), 1)
        runs = [
            [range(start, min(start + steps[name], size)) for start in range(0, size, steps[name])]
            for name, size in ((name, self._operand.sizes[name]) for name in self._over)
        ]
        for chosen in product(*runs):
            yield dict(zip(self._over, chosen, strict=True))


class _Gathered:
    """A statistic of values that come in parts.

    Means and squared deviations are joined as Chan, Golub and LeVeque do (*Updating Formulae and a Pairwise
    Algorithm for Computing Sample Variances*, 1979): sums of squares would lose the digits of large values.
    """

    def __init__(self, statistic: str, dtype: np.dtype[Any]) -> None:
        self._statistic, self._dtype = statistic, dtype
        self._count: Any = 0.0
        self._value: Any = None
        self._squares: Any = 0.0

    def add(self, values: Values, axes: tuple[int, ...]) -> None:
        if self._statistic in ("min", "max"):
            # They pass over NaN, and are NaN where there is nothing else.
            function = np.fmin if self._statistic == "min" else np.fmax
            found = function.reduce(values, axis=axes).astype(self._dtype, copy=False)
            self._value = found if self._value is None else function(self._value, found)
            return
        count: Any = float(prod(values.shape[axis] for axis in axes))
        known: Any = True
        total = values.sum(axis=axes, dtype=self._dtype)
        if np.isnan(total).any():
            known = ~np.isnan(values)
            count = known.sum(axis=axes, dtype=np.float64)
            total = np.where(known, values, 0).sum(axis=axes, dtype=self._dtype)
        if self._statistic == "sum":
            self._value = total if self._value is None else self._value + total
        elif self._statistic != "count":
            self._moments(values, total, known, count, axes)
        self._count = self._count + (count if known is not True else np.broadcast_to(count, total.shape))

    def result(self) -> Any:
        count = self._count
        match self._statistic:
            case "count":
                return count
            case "sum":
                return 0.0 if self._value is None else self._value
            case "mean":
                return np.nan if self._value is None else np.where(count > 0, self._value, np.nan)
            case "var" | "std":
                variance = np.where(count > 0, self._squares / count, np.nan)
                return variance if self._statistic == "var" else np.sqrt(variance)
            case _:
                return np.nan if self._value is None else self._value

    def _moments(self, values: Values, total: Values, known: Any, count: Any, axes: tuple[int, ...]) -> None:
        mean = np.where(count > 0, total / count, 0)
        squares: Any = 0.0
        if self._statistic != "mean":
            apart = np.subtract(values, np.expand_dims(mean, axes), dtype=self._dtype)
            if known is not True:
                apart[~known] = 0
            apart = np.abs(apart, out=apart if apart.dtype.kind == "f" else None)
            squares = np.square(apart, out=apart).sum(axis=axes)
        if self._value is None:
            self._value, self._squares = mean, squares
            return
        both = np.maximum(self._count + count, 1)
        difference = mean - self._value
        self._squares = self._squares + squares + np.abs(difference) ** 2 * self._count * count / both
        self._value = self._value + difference * count / both
