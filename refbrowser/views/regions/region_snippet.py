"""Lines of Python that give the statistics of a region: by xarray, or by this program where that cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from refbrowser.views.plot.coordinates import AxisRole
from refbrowser.views.plot.snippet_store import literal
from refbrowser.views.regions.region import (
    Both,
    Bounds,
    Condition,
    Either,
    Outside,
    Polygon,
    Region,
    parts_of,
)
from refbrowser.views.regions.region_grid import ElementPlaces, RegionGrid

if TYPE_CHECKING:
    from refbrowser.views.regions.region_reading import RegionOfArray

_WITHIN = '''
def within(x, y, corners):
    """Return which points lie within a polygon."""
    inside = False
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        if y0 != y1:
            beside = (y >= min(y0, y1)) & (y < max(y0, y1))
            inside ^= beside & (x >= x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside

'''


def region_snippet(opened: str, ready: RegionOfArray, path: str, along: str) -> str:
    """Return lines that leave mean, standard deviation and count of a region in variables.

    Parameters
    ----------
    opened
        Lines that leave what the region is part of in ``values``, and what that is of in ``dataset`` where
        xarray opens it.
    path
        Of the document.
    along
        The dimension for each index of which they are wanted; empty for all together.
    """
    group = ready.node.path.rpartition("/")[0]
    paths = [part.path for part in parts_of(ready.region) if isinstance(part, Condition) and part.path]
    if "dataset = xr.open_dataset" not in opened or any(each.rpartition("/")[0] != group for each in paths):
        return _own(ready, path, along)
    weights = ready.weighting.weights
    inside = _inside(ready.region, ready.cells.grid)
    needs_numpy = "np." in inside or (weights is not None and "np." in weights.python)
    lines = [opened.rstrip("\n")]
    if needs_numpy and "import numpy as np" not in opened:
        lines.insert(0, "import numpy as np")
    if any(isinstance(part, Polygon) for part in parts_of(ready.region)):
        lines.append(_WITHIN)
    lines.append(f"# {ready.region or 'everywhere'}".replace("\n", " "))
    part = 'values.astype("f8")'
    lines.append(f"part = {part}.where({inside})" if inside else f"part = {part}")
    dimensions = f"[name for name in part.dims if name != {literal(along)}]" if along else "list(part.dims)"
    lines.append(f"dims = {dimensions}")
    weighted = "part"
    if weights is not None:
        lines.append(f"weights = {weights.python}")
        weighted = "part.weighted(weights.fillna(0))"
    lines += [
        f"mean = {weighted}.mean(dims)",
        f"deviation = {weighted}.std(dims)",
        "count = part.count(dims)",
        "print(mean.values, deviation.values, count.values)",
    ]
    return "\n".join(lines) + "\n"


def _own(ready: RegionOfArray, path: str, along: str) -> str:
    from refbrowser.views.regions.region_statistics import selection_text

    selection = selection_text(ready.wanted, ready.node.shape) or "..."
    index = "..." if selection == "..." else repr(selection)
    rest = f", along={along!r}" if along else ""
    lines = [
        "import refbrowser",
        "",
        "found = refbrowser.statistics(",
        f"    {path!r}, {ready.node.path!r}, {str(ready.region)!r}, {index}{rest}",
        ")",
        "print(*found.lines(), sep='\\n')",
    ]
    return "\n".join(lines) + "\n"


def _inside(region: Region, grid: RegionGrid) -> str:
    """Return an expression of which elements are in a region; empty for all."""
    if isinstance(region, Both | Either):
        sign = " & " if isinstance(region, Both) else " | "
        return sign.join(f"({_inside(part, grid)})" for part in region.parts)
    if isinstance(region, Outside):
        return f"~({_inside(region.part, grid)})"
    if isinstance(region, Condition):
        array = f"dataset[{literal(region.path.rpartition('/')[2])}]" if region.path else "values"
        holds = f"{array} {region.sign} {region.number!r}"
        # What is no number is not unequal to one here.
        return f"({holds}) & {array}.notnull()" if region.sign == "!=" else holds
    if isinstance(region, Polygon):
        return _within(region, grid)
    return " & ".join(_bounds(region, grid)) or "True"


def _bounds(bounds: Bounds, grid: RegionGrid) -> Iterator[str]:
    if bounds.by_index:
        name = grid.coordinates[grid.axis(bounds.name)].name
        size = grid.shape[grid.axis(bounds.name)]
        ends = [None if end is None else int(end) for end in (bounds.low, bounds.high)]
        start, stop, _step = slice(*ends).indices(size)
        yield f"({_indices(name)} >= {start})"
        yield f"({_indices(name)} < {stop})"
        return
    place = grid.place_of(bounds.name)
    array, role = _array(place, grid)
    if role is AxisRole.LONGITUDE and bounds.low is not None and bounds.high is not None:
        reach = bounds.high - bounds.low
        if reach < 360:
            yield f"((({array} - {bounds.low!r}) % 360) <= {reach % 360!r})"
        return
    low, high = bounds.low, bounds.high
    if low is not None and high is not None and low > high:
        low, high = high, low
    if low is not None:
        yield f"({array} >= {low!r})"
    if high is not None:
        yield f"({array} <= {high!r})"


def _within(polygon: Polygon, grid: RegionGrid) -> str:
    across, upwards = grid.polygon_places(polygon)
    corners = repr([tuple(corner) for corner in polygon.corners])
    if polygon.by_index:
        assert isinstance(across, int)
        assert isinstance(upwards, int)
        x, y = (_indices(grid.coordinates[axis].name) for axis in (across, upwards))
        return f"within({x}, {y}, {corners})"
    (x, role), (y, _role) = _array(across, grid), _array(upwards, grid)
    if role is AxisRole.LONGITUDE:
        west = min(corner[0] for corner in polygon.corners)
        x = f"({west!r} + ({x} - {west!r}) % 360)"
    return f"within({x}, {y}, {corners})"


def _array(place: int | ElementPlaces, grid: RegionGrid) -> tuple[str, AxisRole]:
    if isinstance(place, int):
        coordinate = grid.coordinates[place]
        return f"values[{literal(coordinate.name)}]", coordinate.role
    return f"dataset[{literal(place.name)}]", place.role


def _indices(name: str) -> str:
    return f"xr.DataArray(np.arange(values.sizes[{literal(name)}]), dims={literal(name)})"
