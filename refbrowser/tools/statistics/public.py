"""Statistics of a region as a function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, control_of, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, native_errors, quoted

if TYPE_CHECKING:
    from refbrowser.views.regions.region_statistics import RegionStatistics


@native_errors()
def statistics(
    dataset: Dataset | Path,
    array: str,
    region: str = "",
    index: Any = ...,
    *,
    along: str = "",
    quantiles: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95),
    allow: Iterable[str] = (),
    progress: Progress | None = None,
) -> RegionStatistics:
    """Return statistics of the values in a region of an array, read chunk by chunk.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array
        Path of the array.
    region
        Bounds by coordinates, ``lat 30..60, lon -10..30``, by indices, ``y@10:20``; corners of a polygon,
        ``polygon(-10 30, 30 30, 10 60)``, longitude and latitude of each; conditions on values, ``> 273.15``,
        and on those of another array of the grid, ``/lsm > 0.5``; joined by ``and``, ``or``, ``not`` and
        brackets. Empty for everywhere.
    index
        Integers, slices and ``...`` as in ``array[index]``, or text as ``--select`` takes it: what of the
        array is looked at.
    along
        A dimension, for each index of which they are wanted alone, too: `series` of the result.
    quantiles
        From 0 to 1.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total)`, in chunks.

    Returns
    -------
    RegionStatistics
        `valid`, `missing`, `not_stored`, `failed`, `mean`, `deviation`, `least`, `greatest`, `quantiles`,
        `total`, `histogram`, and `weighted` by the areas of cells where CF tells them. Decoded values are
        meant. Chunks that cannot be read are counted, and never filled.

    Raises
    ------
    RefbrowserError
        There is no such array, it has no numbers, or nothing of it can be read; `E_USAGE`: the region names
        what is not there.

    Examples
    --------
    >>> import refbrowser
    >>> found = refbrowser.statistics("sea_surface.json", "/ocean/sst", "lat 0..30", "0,:,:")
    >>> found.valid, round(found.weighted.mean, 3)
    (7646, 23.691)
    """
    from refbrowser.views.plot.named_selection import selection_at
    from refbrowser.views.plot.slicing import dimension_names
    from refbrowser.views.regions.region import parsed_region
    from refbrowser.views.regions.region_reading import region_of_array
    from refbrowser.views.regions.region_statistics import statistics_of

    control = control_of(progress)
    asked = parsed_region(region)
    with dataset_of(dataset, allow) as opened:
        found = opened.array(array)
        names = dimension_names(found.node)
        if along and along not in names:
            message = f"there is no dimension {quoted(along)}"
            place = Place(path=found.path)
            raise RefbrowserError(ErrorKind.USAGE, message, place, f"there are {', '.join(names)}")
        selection = selection_at(found, index, control.token)
        ready = region_of_array(opened, found.node, asked, selection, control.token)
        number = names.index(along) if along else None
        return statistics_of(ready, control.token, quantiles, number, control.progress)
