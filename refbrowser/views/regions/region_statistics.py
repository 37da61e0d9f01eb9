"""Statistics of the values in a region: as a value, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from refbrowser.engine.statistics.distribution import Histogram, Quantile
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.interpretation import coordinate_text, coordinate_title
from refbrowser.views.plot.series import element_text
from refbrowser.views.regions.region_reading import RegionOfArray

if TYPE_CHECKING:
    from refbrowser.engine.statistics.summarizing import ExtremeValue, Summary
    from refbrowser.io.cancel import CancelToken
    from refbrowser.views.plot.coordinates import Coordinate

Floats = npt.NDArray[np.float64]
#: A number, how many, or words.
Value: TypeAlias = float | int | str

#: Quantiles that are told where none are asked for, and bars of a histogram.
QUANTILES, BARS = (0.05, 0.25, 0.5, 0.75, 0.95), 48
#: What a standard deviation is.
DEVIATION = "standard deviation"


@dataclass(frozen=True, slots=True)
class Extremum:
    """The least or the greatest value, its index in the array and what that stands for."""

    value: float
    index: tuple[int, ...]
    place: str

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"value": self.value, "index": list(self.index), "place": self.place}


@dataclass(frozen=True, slots=True)
class Weighted:
    """What weighs each value by its cell.

    Attributes
    ----------
    by
        What the weights are.
    units, total
        Of the weights: the area of all that have a value, where the weights are areas.
    deviation
        The standard deviation, by weights as well.
    """

    by: str
    mean: float
    deviation: float
    total: float
    units: str


@dataclass(frozen=True, slots=True, eq=False)
class RegionStatistics:
    """What is known of the values of an array in a region.

    Attributes
    ----------
    selection
        What of the array was looked at, as ``--select`` takes it.
    valid, missing, not_stored, failed
        Elements with a value; stored as missing; in chunks that are not stored; in chunks that could not be
        read. Together they are all elements of the region.
    filled
        Those of the valid ones that are not stored, and have the fill value.
    deviation
        The standard deviation: of all values, divided by their number.
    weighted
        None where nothing tells what cells weigh; `note` then says what was looked for.
    is_whole
        Whether all was read; else it is what has come so far.
    series
        The same for each index along a dimension, where that was asked for.
    """

    path: str
    region: str
    selection: str
    units: str
    valid: int
    missing: int
    not_stored: int
    failed: int
    filled: int
    chunks: int
    chunks_failed: int
    errors: tuple[str, ...]
    mean: float
    deviation: float
    total: float
    least: Extremum | None
    greatest: Extremum | None
    quantiles: tuple[Quantile, ...]
    histogram: Histogram
    weighted: Weighted | None
    note: str = ""
    is_whole: bool = True
    series: RegionSeries | None = None

    @property
    def elements(self) -> int:
        """All elements of the region."""
        return self.valid + self.missing + self.not_stored + self.failed

    @property
    def weighting_text(self) -> str:
        """How values were weighted, as a sentence without its point."""
        if self.weighted is not None:
            text = f"Weighted by {self.weighted.by}"
        else:
            text = "Not weighted: the areas of its cells are not known"
        return f"{text}; {self.note}" if self.note else text

    def rows(self) -> Iterator[tuple[str, Value, str]]:
        """Yield what is told, as name, value and what else there is to it; what is lost comes first."""
        for name, count in (("could not be read", self.failed), ("in chunks not stored", self.not_stored)):
            if count:
                yield name, count, "elements"
        if self.weighted is not None:
            yield "weighted mean", self.weighted.mean, f"by {self.weighted.by}"
            yield "weighted deviation", self.weighted.deviation, f"{DEVIATION}, divided by the sum of weights"
        yield "mean", self.mean, "each value counts alike" if self.weighted is not None else ""
        yield DEVIATION, self.deviation, "divided by n"
        for name, found in (("minimum", self.least), ("maximum", self.greatest)):
            if found is not None:
                yield name, found.value, ""
                yield f"{name} at", found.place, f"[{','.join(map(str, found.index))}]"
        for part, value, error in self.quantiles:
            yield quantile_name(part), value, f"to within {value_text(error, 2)}" if error else ""
        yield "sum", self.total, ""
        if self.weighted is not None and self.weighted.units:
            yield "sum of weights", self.weighted.total, self.weighted.units
        yield "elements", self.elements, ""
        yield "with a value", self.valid, ""
        yield "missing", self.missing, ""
        if self.filled:
            yield "fill value, not stored", self.filled, "they count as values"

    def lines(self) -> Iterator[str]:
        """Yield it as lines of text."""
        yield f"{self.path}{f' [{self.units}]' if self.units else ''}"
        yield f"region: {self.region or 'everywhere'}"
        yield f"selection: {self.selection or 'all'}"
        yield self.weighting_text
        rows = [*self.rows()]
        wide = max(len(name) for name, _value, _more in rows)
        for name, value, more in rows:
            yield f"  {name:<{wide}}  {exact_text(value)}{f'  ({more})' if more else ''}"
        for error in self.errors:
            yield f"  could not be read: {error}"
        if self.series is not None:
            yield from ("\t".join(row) for row in self.series.rows())

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        weighted = self.weighted
        return {
            "array": self.path,
            "region": self.region,
            "selection": self.selection,
            "units": self.units,
            "elements": self.elements,
            "valid": self.valid,
            "missing": self.missing,
            "not_stored": self.not_stored,
            "failed": self.failed,
            "filled": self.filled,
            "chunks": self.chunks,
            "chunks_failed": self.chunks_failed,
            "errors": list(self.errors),
            "mean": _or_none(self.mean),
            "standard_deviation": _or_none(self.deviation),
            "sum": _or_none(self.total),
            "minimum": None if self.least is None else self.least.as_json(),
            "maximum": None if self.greatest is None else self.greatest.as_json(),
            "quantiles": [
                {"part": each.part, "value": _or_none(each.value), "error": each.error}
                for each in self.quantiles
            ],
            "histogram": {
                "edges": self.histogram.edges.tolist(),
                "counts": self.histogram.counts.tolist(),
            },
            "weighted": weighted
            and {
                "by": weighted.by,
                "mean": _or_none(weighted.mean),
                "standard_deviation": _or_none(weighted.deviation),
                "sum_of_weights": weighted.total,
                "units_of_weights": weighted.units,
            },
            "note": self.note,
            "series": self.series and self.series.as_json(),
        }


def exact_text(value: Value) -> str:
    """Return what a row tells, with the digits that mean something."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else number


def quantile_name(part: float) -> str:
    """Return what a quantile is called."""
    return "median" if part == 0.5 else f"{value_text(part * 100, 6)} %"


def parsed_quantiles(text: str) -> tuple[float, ...]:
    """Return quantiles that a user wrote as percentages: ``5, 50, 95``.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: they are none, or too many.
    """
    try:
        parts = [float(each.strip().removesuffix("%")) / 100 for each in text.split(",") if each.strip()]
    except ValueError:
        parts = [-1.0]
    if not parts or len(parts) > 100 or not all(0 <= part <= 1 for part in parts):
        message = f"{quoted(text)} are no quantiles"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="write percentages: 5, 25, 50, 75, 95")
    return tuple(parts)


@dataclass(frozen=True, slots=True, eq=False)
class RegionSeries:
    """Statistics of a region for each index along a dimension.

    Attributes
    ----------
    indices
        Along the dimension.
    mean, deviation, low, high, total
        One for each, NaN where there is no value. Mean and standard deviation are weighted where `weighted`
        says by what; the sum never is.
    count, lost
        How many values each is of, and how many elements could not be read or are not stored.
    """

    path: str
    region: str
    units: str
    coordinate: Coordinate
    indices: range
    mean: Floats
    deviation: Floats
    low: Floats
    high: Floats
    total: Floats
    count: npt.NDArray[np.int64]
    lost: npt.NDArray[np.int64]
    weighted: str

    def of(self, measure: str) -> Floats:
        """Return the numbers of one of `MEASURES`."""
        numbers: Floats = getattr(self, MEASURES[measure])
        return numbers

    def rows(self) -> Iterator[list[str]]:
        """Yield a line of titles, then for each index its coordinate and what is known of it."""
        units = f" [{self.units}]" if self.units else ""
        of = f" weighted by {self.weighted}" if self.weighted else ""
        yield [
            coordinate_title(self.coordinate),
            *(f"{name}{of if name in _WEIGHED else ''}{units}" for name in MEASURES),
            "values",
            "not read",
        ]
        columns = [self.of(name) for name in MEASURES]
        for number, index in enumerate(self.indices):
            texts = ["" if np.isnan(each[number]) else exact_text(float(each[number])) for each in columns]
            lost = str(self.lost[number])
            yield [coordinate_text(self.coordinate, index), *texts, str(self.count[number]), lost]

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "along": self.coordinate.name,
            "coordinates": [coordinate_text(self.coordinate, index) for index in self.indices],
            **{
                field: [_or_none(each) for each in self.of(name).tolist()]
                for name, field in _JSON_NAMES.items()
            },
            "valid": self.count.tolist(),
            "lost": self.lost.tolist(),
            "weighted_by": self.weighted or None,
        }


#: What a series of a region can be of, and the attribute that has it.
MEASURES = {
    "mean": "mean",
    DEVIATION: "deviation",
    "minimum": "low",
    "maximum": "high",
    "sum": "total",
}
_WEIGHED = ("mean", DEVIATION)
_JSON_NAMES = {
    "mean": "mean",
    DEVIATION: "standard_deviation",
    "minimum": "minimum",
    "maximum": "maximum",
    "sum": "sum",
}


def statistics_of(
    ready: RegionOfArray,
    token: CancelToken,
    quantiles: Sequence[float] = QUANTILES,
    along: int | None = None,
    progress: Callable[..., None] | None = None,
    told: Callable[[RegionStatistics], None] | None = None,
) -> RegionStatistics:
    """Read the values of a region, and return their statistics.

    Parameters
    ----------
    along
        A dimension, for each index of which they are wanted alone, too.
    told
        Given what is known so far, now and then.
    """

    def made(summary: Summary, *, is_whole: bool) -> RegionStatistics:
        series = None if along is None else _series(ready, along, summary)
        return _statistics(ready, summary, quantiles, series, is_whole=is_whole)

    def tell(summary: Summary) -> None:
        if told is not None:
            told(made(summary, is_whole=False))

    return made(ready.summarizing(along).run(token, progress, tell), is_whole=True)


def _statistics(
    ready: RegionOfArray,
    summary: Summary,
    quantiles: Sequence[float],
    series: RegionSeries | None,
    *,
    is_whole: bool,
) -> RegionStatistics:
    moments, weights = summary.moments.together(), ready.weighting.weights
    weighted = None
    if weights is not None and summary.weighted is not None:
        means = summary.weighted.together()
        mean, deviation = float(means.known_mean[0]), float(means.deviation[0])
        weighted = Weighted(weights.words, mean, deviation, float(means.weight[0]), weights.units)
    low, high = (np.nan if each is None else each.value for each in (summary.least, summary.greatest))
    return RegionStatistics(
        path=ready.node.path,
        region=str(ready.region),
        selection=selection_text(ready.wanted, ready.node.shape),
        units=ready.shown.units,
        valid=summary.valid,
        missing=summary.missing,
        not_stored=summary.not_stored,
        failed=summary.failed,
        filled=summary.filled,
        chunks=summary.chunks,
        chunks_failed=summary.chunks_failed,
        errors=tuple(str(error) for error in summary.errors),
        mean=float(moments.known_mean[0]),
        deviation=float(moments.deviation[0]),
        total=float(moments.total[0]),
        least=_extremum(ready, summary.least),
        greatest=_extremum(ready, summary.greatest),
        quantiles=summary.distribution.quantiles(quantiles),
        histogram=summary.distribution.histogram(low, high, BARS),
        weighted=weighted,
        note=ready.weighting.note,
        is_whole=is_whole,
        series=series,
    )


def _extremum(ready: RegionOfArray, found: ExtremeValue | None) -> Extremum | None:
    if found is None:
        return None
    pairs = zip(ready.cells.grid.coordinates, found.index, ready.wanted, strict=True)
    told = [(coordinate, index) for coordinate, index, wanted in pairs if len(wanted) > 1]
    place = element_text([each for each, _index in told], [index for _each, index in told])
    return Extremum(found.value, found.index, place)


def selection_text(wanted: Sequence[range], shape: Sequence[int]) -> str:
    """Return ranges as ``--select`` takes them; empty for the whole array."""
    texts = []
    for part, size in zip(wanted, shape, strict=True):
        if part == range(size):
            texts.append(":")
        else:
            texts.append(str(part.start) if len(part) == 1 else f"{part.start}:{part.stop}")
    return "" if all(text == ":" for text in texts) else ",".join(texts)


def _series(ready: RegionOfArray, along: int, summary: Summary) -> RegionSeries:
    weights = ready.weighting.weights
    moments = summary.moments if summary.weighted is None else summary.weighted
    count = summary.moments.weight
    return RegionSeries(
        ready.node.path,
        str(ready.region),
        ready.shown.units,
        ready.cells.grid.coordinates[along],
        ready.reached(along),
        moments.known_mean,
        moments.deviation,
        summary.extremes.low.copy(),
        summary.extremes.high.copy(),
        np.where(count > 0, summary.moments.total, np.nan),
        count.astype(np.int64),
        summary.lost_in.copy(),
        "" if weights is None or summary.weighted is None else weights.words,
    )


def table_rows(regions: Sequence[RegionStatistics]) -> Iterator[list[str]]:
    """Yield a row for each statistic, with a column for each region; the first has the titles."""
    names = dict.fromkeys(name for region in regions for name, _value, _more in region.rows())
    yield ["", *map(_title, regions)]
    for name in names:
        texts = [exact_text({row[0]: row[1] for row in region.rows()}.get(name, "")) for region in regions]
        yield [name, *texts]


def series_rows(regions: Sequence[RegionStatistics]) -> Iterator[list[str]]:
    """Yield a row for each place along the dimension, with the measures of each region beside each other."""
    found = [region.series for region in regions if region.series is not None]
    titles = [_title(region) for region in regions if region.series is not None]
    tables = [[*series.rows()] for series in found]
    heads = [
        [f"{measure}: {title}" for measure in table[0][1:]]
        for title, table in zip(titles, tables, strict=True)
    ]
    yield [tables[0][0][0], *(title for head in heads for title in head)]
    by_index = [
        dict(zip(series.indices, table[1:], strict=True)) for series, table in zip(found, tables, strict=True)
    ]
    for index in sorted({index for series in found for index in series.indices}):
        place = next(rows[index][0] for rows in by_index if index in rows)
        cells = [
            cell
            for rows, head in zip(by_index, heads, strict=True)
            for cell in (rows[index][1:] if index in rows else [""] * len(head))
        ]
        yield [place, *cells]


def _title(region: RegionStatistics) -> str:
    """Return what a column of a file is called."""
    name = region.region or "everywhere"
    return name if region.is_whole else f"{name} (not all was read)"
