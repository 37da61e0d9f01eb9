"""The conventions that describe multiscale images: one table, and what is found by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import LEVEL_TRANSFORM
from refbrowser.limits import LIMITS
from refbrowser.model.multiscales.crs import Crs, crs_of, crs_of_mapping
from refbrowser.model.multiscales.described_group import DescribedGroup, text_in
from refbrowser.model.multiscales.geozarr import geozarr_multiscales, geozarr_paths, spatial_picture
from refbrowser.model.multiscales.marks import says_where
from refbrowser.model.multiscales.multiscale import Multiscale
from refbrowser.model.multiscales.ome import ome_multiscales, ome_paths
from refbrowser.model.multiscales.overviews import overview_multiscales
from refbrowser.model.multiscales.spatial import spatial_attributes
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy

#: Yields the pictures that a group describes, and notes what is wrong with the description.
Convention = Callable[[DescribedGroup], Iterator[Multiscale]]
#: The first that knows an array says what it is a level of.
CONVENTIONS: tuple[Convention, ...] = (ome_multiscales, geozarr_multiscales, overview_multiscales)
#: Groups above an array that may describe it: the paths of levels have no more parts.
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class DescribedPictures:
    """The pictures that a group describes, and what is wrong with its description."""

    pictures: tuple[Multiscale, ...]
    findings: tuple[Finding, ...]


def pictures_of(group: GroupNode) -> DescribedPictures:
    """Return the pictures that a group describes, and those that the groups below it are overviews of."""
    described = DescribedGroup(group)
    found = (each for convention in CONVENTIONS for each in convention(described))
    pictures = tuple(islice(found, LIMITS.multiscale_pictures))
    return DescribedPictures(pictures, tuple(described.findings))


def level_paths(group: GroupNode) -> set[str]:
    """Return the paths of the arrays that are levels of a picture that a group describes."""
    return {level.node.path for picture in pictures_of(group).pictures for level in picture.levels}


def named_paths(attributes: Mapping[str, Any]) -> list[str]:
    """Return the paths of groups and arrays that the attributes of a group name, relative to it.

    They are those of levels, and of what goes with images: as they are written, with nothing checked.
    """
    found = (*ome_paths(attributes), *geozarr_paths(attributes))
    paths = dict.fromkeys(path.strip("/") for path in found if isinstance(path, str))
    return list(islice(paths, LIMITS.multiscale_levels))


def multiscale_of(hierarchy: Hierarchy, node: ArrayNode) -> Multiscale | None:
    """Return the picture that an array is a level of; None where it is none, and says not where it lies.

    An array that says where it lies, without other levels, is a picture of one level.
    """
    above = _groups_above(hierarchy, node.path)
    for group in above:
        for picture in pictures_of(group).pictures:
            if picture.number(node.path) is not None:
                return picture
    return spatial_picture(DescribedGroup(node), _attributes(above))


def crs_beside(hierarchy: Hierarchy, node: ArrayNode) -> Crs | None:
    """Return the coordinate system that an array or its group tells, or the grid mapping that it names.

    None where none of them does.
    """
    groups = _groups_above(hierarchy, node.path)
    told = crs_of(spatial_attributes(each) for each in (node.attributes, _attributes(groups)))
    if told is not None:
        return told
    name = text_in(node.attributes, "grid_mapping")
    # With several, each is followed by a colon and its coordinates (CF 1.11, 5.6).
    name = name.split(":")[0].split(" ")[0]
    for group in groups if name else ():
        if name in group.arrays:
            return crs_of_mapping(group.arrays[name].attributes)
    return None


def multiscale_findings(hierarchy: Hierarchy) -> Iterator[Finding]:
    """Yield what is wrong with the descriptions of multiscale images, and with where arrays say they lie."""
    levels: set[str] = set()
    alone: list[tuple[ArrayNode, Mapping[str, Any]]] = []
    for node in hierarchy.walk():
        if isinstance(node, GroupNode):
            found = pictures_of(node)
            yield from found.findings
            yield from _elsewhere(node, found.pictures)
            levels.update(level.node.path for picture in found.pictures for level in picture.levels)
            is_default = says_where(node.attributes)
            alone += [
                (array, node.attributes)
                for array in node.arrays.values()
                if is_default or says_where(array.attributes)
            ]
    for array, attributes in alone:
        if array.path not in levels:
            described = DescribedGroup(array)
            spatial_picture(described, attributes)
            yield from described.findings


def _elsewhere(group: GroupNode, pictures: Iterable[Multiscale]) -> Iterator[Finding]:
    """Yield levels whose transforms put them outside of the finest level of their picture."""
    described = DescribedGroup(group)
    for picture in pictures:
        for number, level in enumerate(picture.levels):
            at = picture.lies_elsewhere(number)
            if at is not None:
                name = picture.axes[at].name or f"dim {at}"
                message = (
                    f"{level.node.path} is told to lie outside of {picture.levels[0].node.path} along {name}"
                )
                described.note(LEVEL_TRANSFORM, message, "multiscales")
    yield from described.findings


def _groups_above(hierarchy: Hierarchy, path: str) -> list[GroupNode]:
    """Return the groups that an array is in, the nearest first."""
    parts = [part for part in path.split("/") if part][:-1]
    found: list[GroupNode] = []
    node: Any = hierarchy.root
    for part in [*parts, None]:
        if not isinstance(node, GroupNode):
            break
        found.append(node)
        node = None if part is None else node.groups.get(part)
    return found[: -_DEPTH - 1 : -1]


def _attributes(above: list[GroupNode]) -> Mapping[str, Any]:
    return above[0].attributes if above else {}
