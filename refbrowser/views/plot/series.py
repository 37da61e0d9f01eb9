"""The values of single elements along a dimension that is not on an axis: what they cost, and what came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.io.access.access import storage_url
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.interpretation import (
    Interpretation,
    coordinate_text,
    coordinate_title,
    exact_texts,
)
from refbrowser.views.plot.picture import STALE_NAME, Picture, have_values
from refbrowser.views.plot.plan import ViewPlan, plan_view
from refbrowser.views.plot.slicing import SliceState

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access

#: Points whose series are shown together.
MOST = 6
#: Over the network more chunks or bytes than these are read after a question only.
ASK_CHUNKS, ASK_BYTES = 64, 16_000_000
#: From files the bytes may be more.
ASK_LOCAL_BYTES = 500_000_000
#: Rows that are made text together.
_TOGETHER = 16_384


@dataclass(frozen=True, slots=True)
class SeriesCost:
    """What reading a series takes.

    Attributes
    ----------
    chunks
        Chunks that are touched.
    stored
        Those whose bytes are fetched; None where there are too many to look.
    size
        Bytes to fetch; None where the references do not tell.
    remote
        Whether any of them comes over a network.
    """

    chunks: int
    stored: int | None
    size: int | None
    remote: bool

    @property
    def asks(self) -> bool:
        """Whether to read only after a question."""
        if self.stored is None:
            return True
        if self.stored == 0:
            return False
        if not self.remote:
            return self.chunks > LIMITS.view_chunks or (self.size or 0) > ASK_LOCAL_BYTES
        return self.stored > ASK_CHUNKS or self.size is None or self.size > ASK_BYTES


def choices(state: SliceState) -> tuple[int, ...]:
    """Return the dimensions along which a series can run: those with a slider and more than one index."""
    return tuple(axis for axis in state.sliders if state.shape[axis] > 1)


def plan_series(node: ArrayNode, state: SliceState, dimension: int, index: Sequence[int]) -> ViewPlan:
    """Plan the read of an element's series along a dimension; its own index along that does not matter."""
    held = (*index[:dimension], state.indices[dimension], *index[dimension + 1 :])
    return plan_view(node, state.line(dimension, tuple(held)))


def column_of(plan: ViewPlan, node: ArrayNode) -> tuple[int, ...]:
    """Return the column of chunks that a series is in: their coordinates, -1 along the dimension."""
    state = plan.slice
    return tuple(-1 if axis == state.x else at for axis, at in enumerate(node.grid.chunk_of(state.indices)))


def cost_of(session: Session, access: Access, node: ArrayNode, plan: ViewPlan) -> SeriesCost:
    """Return what reading a series takes; nothing is read.

    Raises
    ------
    RefbrowserError
        The array is not readable.
    """
    return cost_of_selections(session, access, node, [plan.selection])


def cost_of_selections(
    session: Session, access: Access, node: ArrayNode, selections: Sequence[Selection]
) -> SeriesCost:
    """Return what reading parts of an array takes; nothing is read.

    Raises
    ------
    RefbrowserError
        The array is not readable.
    """
    chunks = sum(node.grid.count(selection) for selection in selections)
    if chunks > LIMITS.view_chunks:
        return SeriesCost(chunks, None, None, _is_remote(access, _some_urls(node, selections)))
    chunks = stored = 0
    size: int | None = 0
    urls: set[str] = set()
    for selection in selections:
        found = session.plan(node, access, selection)
        for request in found.requests:
            size = None if size is None or request.stop is None else size + request.stop - request.start
            urls.add(request.url)
        chunks += found.chunks
        stored += found.chunks - found.missing_chunks - found.inline_chunks - found.faulty_chunks
    return SeriesCost(chunks, stored, size, _is_remote(access, urls))


def _some_urls(node: ArrayNode, selections: Sequence[Selection]) -> AbstractSet[str]:
    """Return the URLs of the first chunk and the last: of very many chunks not each is looked at."""
    ends = [[part[end] for part in selection.axes] for selection in selections for end in (0, -1)]
    coords = np.array([node.grid.chunk_of(end) for end in ends])
    return set(node.manifest.columns(coords).urls)


def _is_remote(access: Access, urls: AbstractSet[str]) -> bool:
    schemes = {scheme_of(storage_url(url)) for url in urls}
    return (access.from_network and None in schemes) or not schemes <= {None, "file"}


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One series as far as it has come.

    Attributes
    ----------
    indices
        Along the dimension.
    numbers
        One for each, NaN where there is no value.
    states
        `ChunkState` of the chunk of each value.
    stale
        Which values are of files that are not those of the lock.
    """

    indices: range
    numbers: npt.NDArray[Any]
    states: npt.NDArray[np.uint8]
    stale: npt.NDArray[np.bool_]


def series_of(picture: Picture, shown: Interpretation) -> Series:
    """Return the numbers of a series that fills."""
    taken = picture.plan.ranges[0]
    # The states first: what they say is done is then whole.
    states, stale = _of_values(picture, picture.states), _of_values(picture, picture.stale_done)
    numbers = shown.numbers(picture.values)
    known = have_values(states)
    if not known.all():
        numbers = np.where(known, numbers, np.nan)
    return Series(taken, numbers, states, stale)


def _of_values(picture: Picture, chunks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what is known of chunks for each value of a line; of millions of values in milliseconds."""
    taken = picture.plan.ranges[0]
    first = np.rint((picture.chunk_edges(0) - taken.start) / taken.step + 0.5).astype(np.int64)
    return np.repeat(chunks, np.diff(first))


def point_text(
    coordinates: Sequence[Coordinate], axes: Sequence[int], dimension: int, index: Sequence[int]
) -> str:
    """Return where the element of a series is: its other coordinates, those on the plot's axes first."""
    others = [axis for axis, each in enumerate(coordinates) if axis != dimension and each.size > 1]
    others.sort(key=lambda axis: axis not in axes)
    return element_text([coordinates[axis] for axis in others], [index[axis] for axis in others])


def element_text(coordinates: Sequence[Coordinate], index: Sequence[int]) -> str:
    """Return where an element is, in short: ``45.5°N, 12°E``.

    Units that follow each other stand once; a number that says nothing by itself has the dimension's name.
    """
    texts = [_named(coordinate, at) for coordinate, at in zip(coordinates, index, strict=True)]
    for number, (one, other) in enumerate(pairwise(coordinates)):
        ending = f" {one.units}"
        together = one.units and one.units == other.units and texts[number + 1].endswith(ending)
        if together:
            texts[number] = texts[number].removesuffix(ending)
    return ", ".join(texts)


def _named(coordinate: Coordinate, index: int) -> str:
    text = coordinate.text(index)
    tells = coordinate.texts is not None or coordinate.dates is not None or not _is_number(text)
    return text if text and tells else f"{coordinate.name} {text or index}"


def _is_number(text: str) -> bool:
    try:
        float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return False
    return True


def series_rows(
    pictures: Sequence[Picture], shown: Interpretation, coordinate: Coordinate, titles: Sequence[str]
) -> Iterator[list[str]]:
    """Yield a line of titles, then for each index its coordinate and the value of each series.

    What has no value, is missing or could not be read is empty. All series run over the same indices. After
    one with values of stale files a column marks these.
    """
    units = f" [{shown.units}]" if shown.units else ""
    marks = [_of_values(picture, picture.stale_done) for picture in pictures]
    heads: list[str] = []
    for title, stale in zip(titles, marks, strict=True):
        heads += [f"{title}{units}", *([stale_title(title)] if stale.any() else [])]
    yield [coordinate_title(coordinate), *heads]
    taken = pictures[0].plan.ranges[0]
    for start in range(0, len(taken), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        columns = []
        for picture, stale in zip(pictures, marks, strict=True):
            columns.append(_texts(picture, shown, part))
            if stale.any():
                columns.append([STALE_NAME if each else "" for each in stale[part].tolist()])
        for index, *cells in zip(taken[part], *columns, strict=True):
            yield [coordinate_text(coordinate, index), *cells]


def stale_title(title: str) -> str:
    """Return the title of the column that marks which values are of stale files."""
    return f"{title}: file"


def _texts(picture: Picture, shown: Interpretation, part: slice) -> list[str]:
    positions = np.arange(len(picture.values), dtype=np.int64)[part]
    return known_texts(shown, picture.values[part], have_values(picture.element_states([positions])))


def known_texts(shown: Interpretation, values: npt.NDArray[Any], known: npt.NDArray[np.bool_]) -> list[str]:
    """Return elements with all their digits, empty where they are not known."""
    texts = iter(exact_texts(shown, values[known][:, np.newaxis]))
    return [next(texts)[0] if each else "" for each in known.tolist()]
