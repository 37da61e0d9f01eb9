"""GeoZarr: the Zarr conventions Multiscales, Spatial and Proj together (zarr-conventions/multiscales, v1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import quoted
from refbrowser.findings.kinds import LEVEL_TRANSFORM
from refbrowser.model.multiscales.axis_transform import AxisTransform
from refbrowser.model.multiscales.crs import crs_of
from refbrowser.model.multiscales.described_group import DescribedGroup, is_image
from refbrowser.model.multiscales.multiscale import Axis, Level, Multiscale, finest_first
from refbrowser.model.multiscales.spatial import Placed, in_units, names_of, placed, spatial_attributes
from refbrowser.model.nodes import ArrayNode, GroupNode, Node

_KEY = "multiscales"
NAME = "GeoZarr"


@dataclass(frozen=True, slots=True)
class _Step:
    """One member of the layout: a group or array, and how it was made from another.

    Attributes
    ----------
    scale, translation
        One number per dimension of space; empty where nothing is told.
    """

    asset: str
    node: Node
    told: Mapping[str, Any]
    derived_from: str
    scale: tuple[float, ...]
    translation: tuple[float, ...]


def geozarr_multiscales(group: DescribedGroup) -> Iterator[Multiscale]:
    """Yield the pictures that a group describes, one per variable; what is wrong with them is noted."""
    written = group.attributes.get(_KEY)
    if not isinstance(written, Mapping) or "layout" not in written:
        return
    steps = list(_steps(group, written["layout"]))
    for name in _variables(steps):
        found = _picture(group, steps, name)
        if found is not None:
            yield found


def geozarr_paths(attributes: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the paths of levels that the attributes of a group name."""
    written = attributes.get(_KEY)
    layout = written.get("layout") if isinstance(written, Mapping) else None
    members = layout if isinstance(layout, list) else []
    yield from (each.get("asset") for each in members if isinstance(each, Mapping))


def _steps(group: DescribedGroup, layout: Any) -> Iterator[_Step]:
    seen: list[str] = []
    for at, told in enumerate(group.listed(layout, _KEY, f"{_KEY}/layout")):
        where = f"{_KEY}/layout[{at}]"
        if not isinstance(told, Mapping):
            group.wrong(f"{where} is not an object", _KEY)
            continue
        node = group.find(told.get("asset"), _KEY, f"{where}/asset")
        asset = str(told.get("asset"))
        source = told.get("derived_from")
        if source is not None and source not in seen:
            group.wrong(f"{where}/derived_from is {quoted(source)}, which is no level before it", _KEY)
        seen.append(asset)
        if node is None:
            continue
        transform = told.get("transform")
        if source is not None and not isinstance(transform, Mapping):
            group.wrong(f"{where} is derived from {quoted(source)} and has no transform", _KEY)
        factors = transform if isinstance(transform, Mapping) else {}
        yield _Step(
            asset,
            node,
            told,
            source if isinstance(source, str) else "",
            _factors(group, factors, "scale", where),
            _factors(group, factors, "translation", where),
        )


def _factors(group: DescribedGroup, transform: Mapping[str, Any], name: str, where: str) -> tuple[float, ...]:
    written = transform.get(name)
    if written is None:
        return ()
    # One for each axis of space, or for each dimension: checked against the array when it is known.
    count = len(written) if isinstance(written, list) and 2 <= len(written) <= 32 else 2
    check = group.steps if name == "scale" else group.numbers
    return tuple(check(written, count, _KEY, f"{where}/transform/{name}") or ())


def _variables(steps: list[_Step]) -> list[str]:
    """Return the names of the pictures: of arrays in the groups of levels; empty for arrays themselves."""
    names: dict[str, None] = {}
    for step in steps:
        if isinstance(step.node, GroupNode):
            names |= {name: None for name, each in step.node.arrays.items() if is_image(each)}
        elif is_image(step.node):
            names[""] = None
    return list(names)


def _picture(group: DescribedGroup, steps: list[_Step], name: str) -> Multiscale | None:
    found = [(step, node) for step in steps if (node := _array(step, name)) is not None]
    if not found:
        return None
    places: dict[str, Placed] = {}
    levels: list[Level] = []
    axes = None
    for step, node in found:
        place = places[step.asset] = _place(group, step, node, places)
        factors = _own_transforms(group, step, node, levels) if place.affine is None else None
        levels.append(Level(step.asset, node, factors or place.transforms(len(node.shape)), place.turned))
        axes = axes or _axes(place, node)
    first = found[0][1]
    kept = group.alike(levels, _KEY)
    _note_sizes(group, found)
    sources = [each.attributes for each in (*(node for _, node in found), *_groups(found), group.node)]
    crs = crs_of(map(spatial_attributes, sources))
    return Multiscale(
        name=name or group.node.name or first.name,
        group=group.node.path,
        convention=NAME,
        axes=in_units(axes or (), crs),
        levels=finest_first(kept),
        crs=crs,
    )


def _note_sizes(group: DescribedGroup, found: list[tuple[_Step, ArrayNode]]) -> None:
    """Note levels that are made larger or smaller than another, and are not."""
    nodes = {step.asset: node for step, node in found}
    for step, node in found:
        source = nodes.get(step.derived_from)
        if source is None or len(source.shape) != len(node.shape) or not step.scale:
            continue
        if max(step.scale) > 1 and min(step.scale) >= 1:
            group.note_growth(source, node, _KEY)
        elif min(step.scale) < 1 and max(step.scale) <= 1:
            group.note_growth(node, source, _KEY)


def _array(step: _Step, name: str) -> ArrayNode | None:
    node = step.node.arrays.get(name) if isinstance(step.node, GroupNode) else None if name else step.node
    return node if isinstance(node, ArrayNode) and is_image(node) else None


def _groups(found: list[tuple[_Step, ArrayNode]]) -> list[Node]:
    return [step.node for step, _ in found if isinstance(step.node, GroupNode)]


def _place(group: DescribedGroup, step: _Step, node: ArrayNode, before: Mapping[str, Placed]) -> Placed:
    """Return where a level lies: as it says, else as it was made from another, else as the group says."""
    own = [spatial_attributes(node.attributes), spatial_attributes(step.told)]
    if isinstance(step.node, GroupNode):
        own.append(spatial_attributes(step.node.attributes))
    shared = spatial_attributes(group.attributes)
    # The place of the whole group is that of the level that all others are made from.
    everywhere = {key: value for key, value in shared.items() if key not in _OF_ONE_LEVEL}
    first = [shared] if not step.derived_from and not before else [everywhere]
    found = placed(group, node, [*own, *first], _KEY)
    source = before.get(step.derived_from)
    if found.affine is not None or source is None or not step.scale:
        return found
    scale = _of_space(step.scale, found, node)
    translation = _of_space(step.translation, found, node) if step.translation else (0.0, 0.0)
    if scale is None or translation is None:
        return found
    made = source.resampled(scale, translation)
    return Placed(found.rows, found.columns, made.affine, made.is_node)


_OF_ONE_LEVEL = ("spatial:transform", "spatial:shape", "spatial:bbox")


def _of_space(numbers: tuple[float, ...], place: Placed, node: ArrayNode) -> tuple[float, float] | None:
    """Return those of rows and columns out of numbers for the axes of space, or for all dimensions."""
    if len(numbers) == len(node.shape):
        return numbers[place.rows], numbers[place.columns]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def _own_transforms(
    group: DescribedGroup, step: _Step, node: ArrayNode, before: list[Level]
) -> tuple[AxisTransform | None, ...] | None:
    """Return where elements lie in pixels of the level that all are made from, where no space is told.

    Without the convention Spatial scale and translation are of the centres of elements, as those of OME-Zarr.
    """
    rank = len(node.shape)
    start: tuple[AxisTransform | None, ...] = (AxisTransform(),) * rank
    if step.derived_from:
        found = next((level.transforms for level in before if level.name == step.derived_from), None)
        if found is None or len(found) != rank:
            return None
        start = found
    if not step.scale:
        return None if step.derived_from else start
    scale, translation = _padded(step.scale, rank, 1.0), _padded(step.translation, rank, 0.0)
    if scale is None or translation is None:
        message = f"the transform of {step.asset} has {len(step.scale)} numbers, its array {rank} dimensions"
        group.note(LEVEL_TRANSFORM, message, _KEY)
        return None
    return tuple(
        None if one is None else AxisTransform(one.step * by, one.origin + one.step * offset)
        for one, by, offset in zip(start, scale, translation, strict=True)
    )


def _padded(numbers: tuple[float, ...], rank: int, default: float) -> tuple[float, ...] | None:
    """Return a number per dimension: those that are told are of the last ones."""
    if len(numbers) == rank or len(numbers) in (0, 2):
        return (default,) * (rank - len(numbers)) + numbers
    return None


def _axes(place: Placed, node: ArrayNode) -> tuple[Axis, ...]:
    if place.affine is not None:
        return place.axes(node)
    return tuple(Axis(name or "") for name in names_of(node))


def spatial_picture(group: DescribedGroup, above: Mapping[str, Any]) -> Multiscale | None:
    """Return an array that says itself where it lies as a picture of one level; None where it does not.

    Parameters
    ----------
    above
        Attributes of its group, which are defaults.
    """
    node = group.node
    if not isinstance(node, ArrayNode) or not is_image(node):
        return None
    own, shared = spatial_attributes(node.attributes), spatial_attributes(above)
    if not any(name.startswith("spatial:") for name in (*own, *shared)):
        return None
    place = placed(group, node, [own, shared])
    if place.affine is None:
        return None
    level = Level(node.name, node, place.transforms(len(node.shape)), place.turned)
    crs = crs_of([own, shared])
    return Multiscale(node.name, node.path, NAME, in_units(place.axes(node), crs), (level,), crs)
