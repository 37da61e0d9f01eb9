"""OME-Zarr (NGFF): images of microscopes, with axes and a scale for each level.

NGFF 0.4, 3.1 (axes), 3.3 (coordinateTransformations), 3.4 (multiscales); 0.5 has the same below the attribute
``ome`` of Zarr v3. Versions before 0.4 have axes as names or none, and no transformations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from refbrowser.errors import quoted
from refbrowser.findings.kinds import LEVEL_TRANSFORM
from refbrowser.model.multiscales.axis_transform import AxisTransform
from refbrowser.model.multiscales.described_group import DescribedGroup, is_image, text_in
from refbrowser.model.multiscales.multiscale import Axis, Direction, Level, Multiscale, finest_first
from refbrowser.model.nodes import ArrayNode

_KEY = "multiscales"
#: The axes of versions 0.1 and 0.2, which do not name them.
_FIVE = ("t", "c", "z", "y", "x")
_DIRECTIONS = {"x": Direction.RIGHT, "y": Direction.DOWN}
_TRANSFORMATIONS = "coordinateTransformations"


def ome_multiscales(group: DescribedGroup) -> Iterator[Multiscale]:
    """Yield the images that a group describes; what is wrong with them is noted."""
    ome = group.attributes.get("ome")
    is_nested = isinstance(ome, Mapping) and _KEY in ome
    source = ome if isinstance(ome, Mapping) and is_nested else group.attributes
    written, attribute = source.get(_KEY), "ome" if is_nested else _KEY
    if not is_nested and not _is_described(written):
        return
    for at, entry in enumerate(group.listed(written, attribute, _KEY)):
        where = f"{_KEY}[{at}]"
        if not isinstance(entry, Mapping):
            group.wrong(f"{where} is not an object", attribute)
            continue
        version = text_in(entry, "version") or text_in(source, "version")
        found = _Image(group, entry, where, attribute, _labels(source)).multiscale(version)
        if found is not None:
            yield found


def ome_paths(attributes: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the paths that an image, a group of labels or a well names: of levels, labels and images.

    An image may have a group of labels, which is not named (NGFF 0.4, 2.1). Those of a plate are too many.
    """
    ome = attributes.get("ome")
    source = ome if isinstance(ome, Mapping) else attributes
    for image in _objects(source.get(_KEY)):
        levels = _objects(image.get("datasets"))
        yield from (level.get("path") for level in levels)
        yield from ("labels",) if levels else ()
    labels = source.get("labels")
    yield from labels if isinstance(labels, list) else ()
    well = source.get("well")
    yield from (
        image.get("path") for image in _objects(well.get("images") if isinstance(well, Mapping) else ())
    )


def _objects(written: Any) -> list[Mapping[str, Any]]:
    members = written if isinstance(written, list) else []
    return [each for each in members if isinstance(each, Mapping)]


def _is_described(written: Any) -> bool:
    """Whether this is the attribute of OME, and not something else that is called so."""
    entries = written if isinstance(written, list) else []
    return any(isinstance(each, Mapping) and "datasets" in each for each in entries)


def _labels(source: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of channels that the transitional member ``omero`` gives."""
    omero = source.get("omero")
    channels = omero.get("channels") if isinstance(omero, Mapping) else None
    if not isinstance(channels, list):
        return ()
    return tuple(text_in(each, "label") if isinstance(each, Mapping) else "" for each in channels[:10_000])


class _Image:
    """One member of the list `multiscales`."""

    def __init__(
        self,
        group: DescribedGroup,
        entry: Mapping[str, Any],
        where: str,
        attribute: str,
        labels: tuple[str, ...],
    ) -> None:
        self._group, self._entry = group, entry
        self._where, self._attribute = where, attribute
        self._labels = labels
        self._has_origins = False

    def multiscale(self, version: str) -> Multiscale | None:
        """Return the image; None where none of its levels can be used."""
        arrays = list(self._arrays())
        if not arrays:
            return None
        rank = len(arrays[0][1].shape)
        made = [self._level(name, node, told, where) for name, node, told, where in arrays]
        levels = self._group.alike(made, self._attribute)
        for before, level in pairwise(levels):
            self._group.note_growth(before.node, level.node, self._attribute)
        return Multiscale(
            name=text_in(self._entry, "name").strip("/") or self._group.node.name or "image",
            group=self._group.node.path,
            convention=f"OME-Zarr {version}".rstrip(),
            axes=self._axes(rank, arrays[0][1]),
            levels=finest_first(levels),
            shares_corner=not self._has_origins,
        )

    def _arrays(self) -> Iterator[tuple[str, ArrayNode, Mapping[str, Any], str]]:
        where = f"{self._where}/datasets"
        for at, told in enumerate(self._group.listed(self._entry.get("datasets"), self._attribute, where)):
            place = f"{where}[{at}]"
            if not isinstance(told, Mapping):
                self._group.wrong(f"{place} is not an object", self._attribute)
                continue
            node = self._group.find(told.get("path"), self._attribute, f"{place}/path")
            if node is not None and is_image(node):
                assert isinstance(node, ArrayNode)
                yield str(told["path"]), node, told, place
            elif isinstance(node, ArrayNode) and node.error is None:
                self._group.wrong(f"{place}/path leads to {node.path}, which is no image", self._attribute)

    def _axes(self, rank: int, node: ArrayNode) -> tuple[Axis, ...]:
        written = self._entry.get("axes")
        if written is None:
            return tuple(map(_axis_of_name, _FIVE)) if rank == len(_FIVE) else (Axis(),) * rank
        if not isinstance(written, list) or len(written) != rank:
            count = len(written) if isinstance(written, list) else quoted(written)
            message = f"{self._where}/axes has {count} members, the array {node.path} {rank} dimensions"
            self._group.wrong(message, self._attribute)
            return (Axis(),) * rank
        return tuple(self._axis(told, at) for at, told in enumerate(written))

    def _axis(self, told: Any, at: int) -> Axis:
        if isinstance(told, str):
            return _axis_of_name(told[:100])
        if not isinstance(told, Mapping) or not text_in(told, "name"):
            self._group.wrong(f"{self._where}/axes[{at}] has no name", self._attribute)
            return Axis()
        kind, named = text_in(told, "type"), _axis_of_name(text_in(told, "name"))
        is_space = kind in ("space", "")
        labels = self._labels if kind == "channel" else ()
        direction = named.direction if is_space else Direction.NONE
        return Axis(named.name, text_in(told, "unit"), direction, labels)

    def _level(self, name: str, node: ArrayNode, told: Mapping[str, Any], where: str) -> Level:
        transforms: list[AxisTransform] | None = None
        if _TRANSFORMATIONS in told:
            whole = [AxisTransform()] * len(node.shape)
            transforms = self._transformed(whole, told.get(_TRANSFORMATIONS), where)
        if transforms is not None and _TRANSFORMATIONS in self._entry:
            transforms = self._transformed(transforms, self._entry.get(_TRANSFORMATIONS), self._where)
        return Level(name, node, tuple(transforms or [None] * len(node.shape)))

    def _transformed(
        self, before: list[AxisTransform], written: Any, where: str
    ) -> list[AxisTransform] | None:
        """Return transforms with others applied after them, in their order; None where these are wrong."""
        place, rank = f"{where}/{_TRANSFORMATIONS}", len(before)
        for at, each in enumerate(self._group.listed(written, self._attribute, place)):
            kind = each.get("type") if isinstance(each, Mapping) else None
            if kind == "scale":
                of = f"{place}[{at}]/scale"
                factors = self._group.steps(each.get("scale"), rank, self._attribute, of)
                if factors is None:
                    return None
                before = [one.scaled(by) for one, by in zip(before, factors, strict=True)]
            elif kind == "translation":
                of = f"{place}[{at}]/translation"
                offsets = self._group.numbers(each.get("translation"), rank, self._attribute, of)
                if offsets is None:
                    return None
                self._has_origins = True
                before = [one.shifted(by) for one, by in zip(before, offsets, strict=True)]
            elif kind != "identity":
                message = f"{place}[{at}] is of the type {quoted(kind)}, not a scale or translation"
                self._group.note(LEVEL_TRANSFORM, message, self._attribute)
                return None
        return before


def _axis_of_name(name: str) -> Axis:
    return Axis(name, direction=_DIRECTIONS.get(name.lower(), Direction.NONE))
