"""What it costs to read an array as it is chunked now, and as it would be chunked otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.plan import LOCAL, Link
from refbrowser.model.chunk_axes import ChunkAxis, SelectedAxis
from refbrowser.model.grid import ChunkGrid, RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.report import Report
from refbrowser.model.selection import Selection
from refbrowser.tools.bytes.report.file_source import coords_of
from refbrowser.tools.bytes.report.live_plan import link_words, seconds_words
from refbrowser.views.plot.coordinates import AxisRole
from refbrowser.views.plot.reading import coordinate_nodes, roles_of
from refbrowser.views.plot.slicing import SliceState, dimension_names, first_slice
from refbrowser.views.words import one_line
from refbrowser.words import plural, size_text

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access

#: Chunks whose stored sizes are looked at to know how well they are compressed.
_SAMPLED = 4096
#: Chunks that are planned one by one; of a selection of more the cost is computed by arithmetic.
PLANNED = 1 << 20
#: Shapes of chunks that are tried to find a balanced one.
_TRIED = 4096
#: Bytes of a chunk, decoded, that are aimed at: of the chunks there are, but within these.
_LEAST, _MOST = 1 << 20, 16 << 20


@dataclass(frozen=True, slots=True)
class Reach:
    """One thing that people read.

    Attributes
    ----------
    name
        ``map``, ``series``, ``profile`` or ``all``.
    title
        In words: ``One map``.
    detail
        What it runs along, in words.
    """

    name: str
    title: str
    detail: str
    selection: Selection


@dataclass(frozen=True, slots=True)
class Cost:
    """What one read costs.

    Attributes
    ----------
    requests
        How many.
    useful_bytes, wasted_bytes
        As those of `ReadPlan`: a chunk that is decoded whole is useful.
    used_bytes
        Of the useful bytes those that the selected elements take, about.
    chunks
        That the selection touches.
    seconds
        By the model of the link.
    is_estimate
        It was computed for chunks of one size, not planned with the references.
    unknown_sizes
        Requests for whole files whose size is not known, and is not counted.
    """

    requests: int
    useful_bytes: int
    wasted_bytes: int
    used_bytes: int
    chunks: int
    seconds: float
    is_estimate: bool = False
    unknown_sizes: int = 0

    @property
    def read_bytes(self) -> int:
        """Bytes that are requested."""
        return self.useful_bytes + self.wasted_bytes

    @property
    def time(self) -> str:
        """How long it takes, in words; with a sign before it where that is an estimate."""
        return f"{'≈ ' if self.is_estimate else ''}{seconds_words(self.seconds, self.unknown_sizes)}"

    def to_json(self) -> dict[str, object]:
        """Return it as the command line prints it."""
        return {
            "requests": self.requests,
            "useful_bytes": self.useful_bytes,
            "wasted_bytes": self.wasted_bytes,
            "used_bytes": self.used_bytes,
            "chunks": self.chunks,
            "seconds": self.seconds,
            "estimate": self.is_estimate,
        }


@dataclass(frozen=True, slots=True)
class Chunking:
    """A shape of chunks.

    Attributes
    ----------
    name
        ``now``, ``map``, ``series``, ``balanced`` or ``own``.
    """

    name: str
    title: str
    shape: tuple[int, ...]

    @property
    def text(self) -> str:
        """The shape as it is typed for an export."""
        return ",".join(map(str, self.shape))


@dataclass(frozen=True, slots=True, repr=False)
class CostTable(Report):
    """What it costs to read an array, as it is and otherwise.

    Attributes
    ----------
    path
        Of the array.
    chunkings
        The columns; the first one is what there is now.
    costs
        By the names of the chunking and of the reach; why it is not known where it is not.
    ratio
        Stored bytes for each decoded one, None where no sizes are known: it is taken for 1 then.
    link
        By which was computed.
    """

    path: str
    reaches: tuple[Reach, ...]
    chunkings: tuple[Chunking, ...]
    costs: dict[tuple[str, str], Cost | RefbrowserError]
    ratio: float | None
    link: Link

    def cost(self, chunking: Chunking, reach: Reach) -> Cost | RefbrowserError:
        """Return one cell."""
        return self.costs[chunking.name, reach.name]

    def best(self, reach: Reach) -> str:
        """Return the name of the chunking that takes the least time, one that is there already for choice."""
        times = {
            each.name: found.seconds
            for each in self.chunkings
            if isinstance(found := self.cost(each, reach), Cost)
        }
        if not times:
            return ""
        least = min(times.values())
        return next(name for name, seconds in times.items() if seconds <= least * 1.05)

    @property
    def footing(self) -> str:
        """On what the numbers stand."""
        packed = (
            "stored sizes are not known, assumed uncompressed"
            if self.ratio is None
            else f"chunks are stored at {self.ratio:.0%} of their size, assumed the same for others"
        )
        return f"Times by the link ({link_words(self.link)}), without decoding; {packed}."

    def lines(self) -> Iterator[str]:
        """Yield it as text, a line for each cell."""
        for chunking in self.chunkings:
            yield f"{chunking.title}: chunks {chunking.text}"
            for reach in self.reaches:
                cost = self.cost(chunking, reach)
                name = f"  {reach.title:<12}"
                if isinstance(cost, RefbrowserError):
                    yield f"{name} {one_line(cost.message)}"
                    continue
                sizes = (
                    "stored sizes not known"
                    if cost.unknown_sizes
                    else f"{size_text(cost.read_bytes):>8} read, {size_text(cost.wasted_bytes)} wasted, "
                    f"{size_text(cost.used_bytes)} used"
                )
                yield (
                    f"{name} {cost.time:>10}  {cost.requests:>7} {plural(cost.requests, 'request'):<8}  "
                    f"{cost.chunks:>7} {plural(cost.chunks, 'chunk'):<6}  {sizes}"
                )
        yield self.footing

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""

        def told(cost: Cost | RefbrowserError) -> dict[str, Any]:
            return {"error": cost.message} if isinstance(cost, RefbrowserError) else cost.to_json()

        link = self.link
        return {
            "array": self.path,
            "stored_ratio": self.ratio,
            "link": {
                "measured": link.is_measured,
                "latency": link.latency,
                "per_connection": link.per_connection,
                "total": link.total,
            },
            "chunkings": [
                {
                    "name": chunking.name,
                    "chunks": list(chunking.shape),
                    "costs": {reach.name: told(self.cost(chunking, reach)) for reach in self.reaches},
                }
                for chunking in self.chunkings
            ],
        }


def reaches_of(hierarchy: Hierarchy, node: ArrayNode, state: SliceState | None = None) -> tuple[Reach, ...]:
    """Return what people read of an array: one map, one series, one profile, all of it.

    Parameters
    ----------
    state
        The slice that is on the screen: its axes are those of the map, and what it shows lies in all of them.
        In the middle of the array, along the axes that attributes tell, when None.
    """
    shape = node.shape
    roles = roles_of(coordinate_nodes(hierarchy, node))
    if state is None or state.shape != shape:
        state = first_slice(node, roles)
        state = SliceState(shape, state.names, state.x, state.y, tuple(size // 2 for size in shape))
    names, found = dimension_names(node), []

    def along(axes: Sequence[int]) -> Selection:
        index = [slice(None) if axis in axes else at for axis, at in enumerate(state.indices)]
        return Selection.from_index(tuple(index), shape)

    def named(axes: Sequence[int]) -> str:
        return ", ".join(names[axis] for axis in axes)

    map_axes = state.axes if state.y is not None else ()
    if map_axes:
        found.append(Reach("map", "One map", named(map_axes), along(map_axes)))
    down = _vertical(shape, names, roles, map_axes)
    others = [axis for axis, size in enumerate(shape) if size > 1 and axis not in map_axes and axis != down]
    # Of two dimensions the first one is what is usually gone along.
    run = next(iter(others), map_axes[0] if map_axes and down is None else None)
    if run is not None:
        found.append(Reach("series", "One series", named((run,)), along((run,))))
    if down is not None:
        found.append(Reach("profile", "One profile", named((down,)), along((down,))))
    found.append(Reach("all", "Whole array", named(range(len(shape))), Selection.whole(shape)))
    return tuple(found)


def _vertical(
    shape: tuple[int, ...], names: Sequence[str], roles: Sequence[AxisRole], map_axes: Sequence[int]
) -> int | None:
    """Return the dimension that runs down: by its attributes, else of four the second one."""
    free = [axis for axis, size in enumerate(shape) if size > 1 and axis not in map_axes]
    by_role = next((axis for axis in free if roles[axis] is AxisRole.DOWN), None)
    if by_role is not None:
        return by_role
    known = next((axis for axis in free if names[axis].lower() in _VERTICAL), None)
    return known if known is not None else free[1] if len(free) > 1 else None


_VERTICAL = frozenset({"depth", "level", "lev", "height", "altitude", "z", "plev", "pressure", "sigma"})


def candidates(node: ArrayNode, reaches: Sequence[Reach], link: Link) -> Iterator[Chunking]:
    """Yield the chunks there are, and those that maps, series, and both are read well with."""
    shape, now = node.shape, node.grid.largest
    yield Chunking("now", "Now" if node.grid.is_regular else "Now, at most", now)
    itemsize = node.known_dtype.itemsize or 1
    elements = max(1, min(max(prod(now) * itemsize, _LEAST), _MOST) // itemsize)
    by_name = {reach.name: reach.selection for reach in reaches}
    axes = _free_axes(by_name.get("map"), shape)
    run = _free_axes(by_name.get("series"), shape)
    found: dict[tuple[int, ...], None] = {}
    for name, title, chunks in (
        ("map", "For maps", _filled(shape, axes, elements)),
        ("series", "For series", _filled(shape, run, elements, then=axes)),
        ("balanced", "Balanced", _balanced(shape, axes, run, elements, by_name, link, itemsize)),
    ):
        if chunks is not None and chunks not in found and chunks != now:
            found[chunks] = None
            yield Chunking(name, title, chunks)


def _free_axes(selection: Selection | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    if selection is None:
        return ()
    return tuple(axis for axis, size in enumerate(shape) if size > 1 and len(selection.axes[axis]) > 1)


def _filled(
    shape: tuple[int, ...], axes: Sequence[int], elements: int, then: Sequence[int] = ()
) -> tuple[int, ...] | None:
    """Return chunks that are as long as they may be along some axes, then along others; 1 along the rest."""
    if not axes:
        return None
    sides = [1] * len(shape)
    left = elements
    for group in (axes, [axis for axis in then if axis not in axes]):
        if not group:
            continue
        part = _shared(tuple(shape[axis] for axis in group), left)
        for axis, side in zip(group, part, strict=True):
            sides[axis] = side
        left = max(1, left // prod(part))
    return tuple(sides)


def _shared(lengths: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """Return a box of the same form of at most so many elements, that divides the lengths evenly."""
    parts = 1.0
    while True:
        counts = [min(length, ceil(parts)) for length in lengths]
        sides = tuple(ceil(length / count) for length, count in zip(lengths, counts, strict=True))
        if prod(sides) <= elements or all(side == 1 for side in sides):
            return sides
        # By a tenth at least: lengths are what files say, and one part more may be none as a float.
        wanted = (prod(sides) / elements) ** (1 / len(lengths)) * 0.9
        parts = max(parts + 1, parts * min(4.0, max(wanted, 1.1)))


def _balanced(
    shape: tuple[int, ...],
    axes: Sequence[int],
    run: Sequence[int],
    elements: int,
    selections: dict[str, Selection],
    link: Link,
    itemsize: int,
) -> tuple[int, ...] | None:
    """Return chunks with which neither maps nor series nor profiles take long."""
    free = [axis for axis in range(len(shape)) if shape[axis] > 1 and axis not in axes]
    if not axes or not run or run[0] in axes:
        return None
    best: tuple[float, tuple[int, ...]] | None = None
    for lengths in islice(_powers([shape[axis] for axis in free]), _TRIED):
        deep = prod(lengths)
        if deep > elements:
            continue
        part = _shared(tuple(shape[axis] for axis in axes), max(1, elements // deep))
        sides = [1] * len(shape)
        for axis, side in (*zip(free, lengths, strict=True), *zip(axes, part, strict=True)):
            sides[axis] = side
        grid = RegularChunkGrid(shape, tuple(sides))
        size = prod(sides) * itemsize
        counts = (grid.count(each) for name, each in selections.items() if name != "all")
        slowest = max(link.time(count * size, count) for count in counts)
        if best is None or slowest < best[0]:
            best = slowest, tuple(sides)
    return None if best is None else best[1]


def _powers(lengths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield sides that halve each length over and over, of two dimensions in every combination."""
    if not lengths:
        yield ()
        return
    side = lengths[0]
    while True:
        for rest in _powers(lengths[1:3]):
            yield (side, *rest, *([1] * (len(lengths) - 3)))
        if side == 1:
            return
        side = ceil(side / 2)


def own_chunking(text: str, shape: tuple[int, ...]) -> Chunking:
    """Return the chunks that a user typed: ``1,180,360``; ``:`` is a whole axis.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no shape, or one of another number of dimensions.
    """
    parts = [part.strip() for part in text.replace(" × ", ",").split(",")]
    if len(parts) != len(shape):
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"{quoted(text)} has {len(parts)} sides, the array {len(shape)} dimensions",
            advice=f"write for example {','.join(':' for _ in shape)}",
        )
    sides = []
    for part, length in zip(parts, shape, strict=True):
        if part in (":", "-1"):
            sides.append(max(length, 1))
        elif part.isascii() and part.isdecimal() and int(part[:20]) > 0:
            sides.append(min(int(part[:20]), max(length, 1)))
        else:
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(part)} is not a chunk length")
    return Chunking("own", "Yours", tuple(sides))


def own_chunkings(texts: Sequence[str], shape: tuple[int, ...]) -> tuple[Chunking, ...]:
    """Return chunks that a user typed, each with a name of its own.

    Raises
    ------
    RefbrowserError
        As `own_chunking` does.
    """
    found = [own_chunking(text, shape) for text in texts]
    return tuple(
        each if not number else Chunking(f"own{number + 1}", f"Yours {number + 1}", each.shape)
        for number, each in enumerate(found)
    )


def cost_table(
    session: Session,
    access: Access,
    node: ArrayNode,
    reaches: Sequence[Reach],
    own: Sequence[Chunking] = (),
) -> CostTable:
    """Return what it costs to read an array; nothing is read.

    Other chunks are taken for objects of their own, behind the same link, and as well compressed.
    """
    ratio, url = _stored(node)
    link = session.fetcher.links([url], access)[0] if url else LOCAL
    chunkings = (*candidates(node, reaches, link), *own)
    costs: dict[tuple[str, str], Cost | RefbrowserError] = {}
    for reach in reaches:
        for chunking in chunkings:
            if chunking.name == "now":
                found = _cost_now(session, access, node, reach.selection, ratio or 1.0, link)
            else:
                found = cost_with(node, chunking.shape, reach.selection, ratio or 1.0, link)
            costs[chunking.name, reach.name] = found
    return CostTable(node.path, tuple(reaches), chunkings, costs, ratio, link)


def _stored(node: ArrayNode) -> tuple[float | None, str]:
    """Return how many bytes chunks take for each decoded one, and the URL of one of them."""
    grid = node.grid
    decoded = prod(grid.largest) * node.known_dtype.itemsize
    count = min(grid.size, _SAMPLED)
    if not count:
        return None, ""
    # In Python's integers: how many chunks there are says a file.
    numbers = [at * (grid.size - 1) // max(count - 1, 1) for at in range(count)]
    coords = np.array([coords_of(number, grid.grid_shape) for number in numbers], np.int64)
    columns = node.manifest.columns(coords.reshape(count, len(grid.grid_shape)))
    has_url = np.flatnonzero(columns.url >= 0)
    url = columns.urls[columns.url[has_url[0]]] if len(has_url) else ""
    sizes = columns.length[columns.kind == ReferenceKind.RANGE]
    sizes = sizes[(sizes > 0) & (sizes < 1 << 40)]
    return (float(sizes.mean()) / decoded if len(sizes) and decoded else None), url


def _cost_now(
    session: Session, access: Access, node: ArrayNode, selection: Selection, ratio: float, link: Link
) -> Cost | RefbrowserError:
    if node.grid.count(selection) > PLANNED:
        return cost_with(node, node.grid.largest, selection, ratio, link)
    try:
        plan = session.plan(node, access, selection)
        is_raw = node.values.encoded is None or CodecPipeline.for_array(node).is_raw
    except RefbrowserError as error:
        return error
    share = 1.0 if is_raw else _share(node, node.grid, selection)
    return Cost(
        plan.ranges.request_count,
        plan.useful_bytes,
        plan.wasted_bytes,
        round(plan.useful_bytes * share),
        plan.chunks,
        plan.seconds,
        unknown_sizes=plan.ranges.unknown_sizes,
    )


def cost_with(
    node: ArrayNode, chunks: tuple[int, ...], selection: Selection, ratio: float, link: Link
) -> Cost:
    """Return what a selection would cost if each chunk of another shape were an object of its own."""
    grid = RegularChunkGrid(node.shape, chunks)
    count = grid.count(selection)
    size = max(1, round(prod(chunks) * node.known_dtype.itemsize * ratio))
    read = count * size
    used = round(read * _share(node, grid, selection))
    return Cost(count, read, 0, used, count, link.time(read, count), is_estimate=True)


def _held(along: ChunkAxis, axis: SelectedAxis) -> int:
    """Return the elements along a dimension of the chunks that are touched."""
    if along.regular_side is not None or axis.count() > PLANNED:
        return axis.count() * along.largest
    return int(along.sides(axis.column()).sum())


def _share(node: ArrayNode, grid: ChunkGrid, selection: Selection) -> float:
    """Return which share of the elements of the touched chunks is selected."""
    touched = zip(grid.dimensions, grid.axes(selection), strict=True)
    held = prod(_held(along, axis) for along, axis in touched)
    return min(1.0, selection.size / held) if held else 1.0
