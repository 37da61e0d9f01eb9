"""Some of an array of a stream in either byte order, with statistics that tell a person which is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.wings.ncstream.reading.definition import StreamDefinition, StreamVariable
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin
from refbrowser.wings.ncstream.reading.message_reader import arrived_boxes
from refbrowser.wings.ncstream.reading.messages import ByteOrder, Payload, StreamIndex
from refbrowser.wings.ncstream.reading.pieces import arrived_elements
from refbrowser.wings.ncstream.reading.stream_layouts import StreamLayout
from refbrowser.wings.ncstream.views.supplied_sections import variable_of

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


Order = Literal["big", "little"]

#: Floating-point numbers of a greater or smaller magnitude are not measured.
_HUGE, _TINY = 1e30, 1e-30
#: Integers of at least so many bytes tell absurd numbers by their first byte.
_LONG = 4
#: Values that are named.
_EXAMPLES = 6
#: How strange it is that integers differ most in their first byte.
_INVERTED = 0.1
#: A reading is called the likelier one where the other is so many times stranger, and by so much.
_CLEARLY, _LEAST = 1.5, 0.001


@dataclass(frozen=True, slots=True)
class Reading:
    """What values look like that were read in one byte order.

    Attributes
    ----------
    low, high, mean
        Of the finite ones; NaN where there are none.
    not_finite
        Share of NaN and infinities.
    absurd
        Share of numbers that hardly anyone measures: of a magnitude beyond 1e30 or below 1e-30, or integers
        that use their first byte.
    roughness
        How much neighbours differ, as a share of the range of the values: 0 is smooth, 0.4 is noise.
    is_inverted
        Whether integers differ more in their first byte than in their last one, as hardly any do.
    examples
        The first few values.
    """

    order: Order
    low: float
    high: float
    mean: float
    not_finite: float
    absurd: float
    roughness: float
    is_inverted: bool
    examples: tuple[float | int, ...]

    @property
    def strangeness(self) -> float:
        """How unlikely the reading is: 0 where nothing is strange."""
        return self.not_finite + self.absurd + self.roughness + _INVERTED * self.is_inverted


@dataclass(frozen=True, slots=True)
class Readings:
    """Both readings of a sample of one array.

    Attributes
    ----------
    count
        Values of the sample.
    """

    path: str
    count: int
    big: Reading
    little: Reading

    @property
    def likelier(self) -> Order | None:
        """The order that makes more sense; None where neither clearly does."""
        big, little = self.big.strangeness, self.little.strangeness
        if big * _CLEARLY < little - _LEAST:
            return "big"
        return "little" if little * _CLEARLY < big - _LEAST else None


def readings_of(path: str, values: npt.NDArray[Any], order: Order, fill: Any = None) -> Readings | None:
    """Return both readings of values that were read in one order; None where the order means nothing.

    Parameters
    ----------
    values
        Numbers in the machine's own order.
    order
        In which their bytes were taken.
    fill
        What elements hold that no message gave: they are left out.
    """
    plain = values.ravel()
    if plain.dtype.kind not in "iuf" or plain.dtype.itemsize < 2:
        return None
    if fill is not None:
        plain = plain[plain != np.asarray(fill, plain.dtype)]
    other: Order = "little" if order == "big" else "big"
    found = {order: reading_of(plain, order), other: reading_of(plain.byteswap(), other)}
    return Readings(path, len(plain), found["big"], found["little"])


def reading_of(values: npt.NDArray[Any], order: Order) -> Reading:
    """Return the statistics of values, which were read in `order`."""
    with np.errstate(invalid="ignore"):
        numbers = values.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    count = max(1, len(numbers))
    low, high, mean = (math.nan,) * 3
    if len(finite):
        low, high = float(finite.min()), float(finite.max())
        with np.errstate(over="ignore"):
            mean = float(finite.mean())
    return Reading(
        order=order,
        low=low,
        high=high,
        mean=mean,
        not_finite=(len(numbers) - len(finite)) / count,
        absurd=float(np.count_nonzero(_absurd(finite, values.dtype))) / count,
        roughness=_roughness(finite, low, high),
        is_inverted=_is_inverted(values),
        examples=tuple(values[:_EXAMPLES].tolist()),
    )


def _absurd(finite: npt.NDArray[np.float64], dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Tell which numbers hardly anyone measures."""
    magnitude = np.abs(finite)
    if dtype.kind == "f":
        return (magnitude > _HUGE) | ((magnitude < _TINY) & (magnitude > 0))
    if dtype.itemsize < _LONG:
        return np.zeros(len(finite), bool)
    return magnitude >= 2.0 ** (8 * dtype.itemsize - 8)


def _is_inverted(values: npt.NDArray[Any]) -> bool:
    """Tell whether the first byte of integers has more different values than the last one."""
    if values.dtype.kind not in "iu" or not len(values):
        return False
    stored = np.ascontiguousarray(values, values.dtype.newbyteorder(">"))
    digits = stored.view(np.uint8).reshape(-1, values.dtype.itemsize)
    return len(np.unique(digits[:, 0])) > len(np.unique(digits[:, -1]))


def _roughness(finite: npt.NDArray[np.float64], low: float, high: float) -> float:
    """Return the typical (root mean square) step between neighbours as a share of the range.

    In squares, as of short integers read the wrong way round only the leaps are strange.
    """
    if len(finite) < 2 or not high > low:
        return 0.0
    # Halved, so that the range of all doubles is finite.
    steps = np.diff(finite / 2) / (high / 2 - low / 2)
    return float(np.sqrt((steps**2).mean()))


def doubtful_arrays(index: StreamIndex) -> tuple[str, ...]:
    """Return the paths of variables whose flag and payload may disagree.

    Servers of versions 2 and 3 write the order of their machine into the flag, and big-endian numbers
    (wire notes, section 4); structures follow the flag.
    """
    table = index.table
    doubtful = (table.byte_order == ByteOrder.LITTLE) & np.isin(table.version, (2, 3))
    doubtful &= np.isin(table.payload, (Payload.REGULAR, Payload.VARIABLE)) & (table.variable >= 0)
    numbers = np.unique(table.variable[doubtful])
    return tuple(table.names[at] for at in numbers.tolist() if _has_order(index.definition, table.names[at]))


def ordered_arrays(index: StreamIndex) -> tuple[str, ...]:
    """Return the paths of all variables whose elements have a byte order, in the order of the definition."""
    return tuple(path for path, variable in index.definition.variables() if _is_ordered(variable))


def _has_order(definition: StreamDefinition, path: str) -> bool:
    variable = variable_of(definition, path)
    return variable is not None and _is_ordered(variable)


def _is_ordered(variable: StreamVariable) -> bool:
    dtype = variable.type.dtype
    return dtype is not None and dtype.itemsize > 1


#: Values that are looked at.
MOST = 1 << 17


def sample_readings(dataset: Dataset, path: str, control: JobControl) -> Readings | None:
    """Return both readings of some of an array; None where its elements have no byte order.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    """
    node, origin = dataset.hierarchy.find(path), dataset.document.made_from(StreamOrigin)
    if not isinstance(node, ArrayNode) or origin is None:
        return None
    layout = origin.layouts.by_path.get(node.path)
    region = _region(origin.index, layout, node)
    taken = tuple(
        slice(of.start + part.start, of.start + part.stop)
        for of, part in zip(region, sample_of([of.stop - of.start for of in region]), strict=True)
    )
    values = dataset.session.read(
        node, dataset.access, Selection.from_index(taken, node.shape), cancel=control.token
    )
    order: Order = "little" if layout is not None and layout.order == "<" else "big"
    return readings_of(path, plain_values(values), order, fill_of(node))


def _region(index: StreamIndex, layout: StreamLayout | None, node: ArrayNode) -> tuple[slice, ...]:
    """Return where a sample is taken: anywhere, or of what arrived where the stream was cut off."""
    cut = index.table.cut
    if layout is not None and cut is not None and cut in layout.sections.numbers:
        section = index.table.ranges(cut) or ()
        found = arrived_boxes(section, arrived_elements(index.table, layout.variable))
        if found:
            return tuple(slice(each.start, each[-1] + 1) for each in found[0].section)
    return tuple(slice(0, length) for length in node.shape)


def sample_of(shape: Sequence[int], most: int = MOST) -> tuple[slice, ...]:
    """Return a block from the middle of an array: whole last dimensions, as far as there is room."""
    room, found = most, list[slice]()
    for length in reversed(shape):
        taken = max(1, min(length, room))
        start = (length - taken) // 2
        found.append(slice(start, start + taken))
        room //= taken
    return tuple(reversed(found))


def plain_values(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the numbers of an array: of rows of their own length all together."""
    if values.dtype != object:
        return values
    rows = [row for row in values.ravel() if isinstance(row, np.ndarray) and len(row)]
    return np.concatenate(rows)[:MOST] if rows else np.zeros(0)


def fill_of(node: ArrayNode) -> Any:
    """Return what elements hold that were never sent; None where that is no number."""
    fill = node.fill_value
    return fill if isinstance(fill, np.number | int | float) else None
