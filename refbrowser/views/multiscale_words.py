"""A multiscale image in words, for `refbrowser info` and the attributes pane, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from refbrowser.model.multiscales.multiscale import Axis, Level, Multiscale
from refbrowser.views.numbers import value_text
from refbrowser.views.words import one_line
from refbrowser.words import counted_plain


def level_size(level: Level, dimensions: Sequence[int] | None = None) -> str:
    """Return ``2048 × 1024``: the size of a level along some dimensions, all of them when None."""
    shape = level.node.shape
    return " × ".join(str(shape[at]) for at in (range(len(shape)) if dimensions is None else dimensions))


def step_words(picture: Multiscale, level: Level) -> str:
    """Return ``y 10 m, x 10 m``: from one element of a level to the next; empty where nothing is told."""
    told = zip(picture.axes, level.transforms, strict=True)
    words = [_step(axis, transform.step) for axis, transform in told if transform is not None]
    return ", ".join(word for word in words if word)


def _step(axis: Axis, step: float) -> str:
    if axis.labels or not (axis.units or axis.direction or step != 1):
        return ""
    return one_line(f"{axis.name} {value_text(abs(step))} {axis.units}".strip())


def picture_lines(picture: Multiscale, indent: str = "  ") -> Iterator[str]:
    """Yield a line about an image, and one for each of its levels."""
    many = counted_plain(len(picture.levels), "level")
    crs = "" if picture.crs is None else f", {picture.crs.name}"
    yield one_line(f"{indent}image {picture.name} ({picture.convention}): {many}{crs}")
    for level in picture.levels:
        steps = step_words(picture, level)
        steps = f"  {steps}" if steps else ""
        yield one_line(f"{indent}    {level.node.path}  {level_size(level)}{steps}")


def picture_pairs(picture: Multiscale) -> list[tuple[str, str]]:
    """Return what is known of an image beside its levels, as names and values."""
    pairs = [("Name", picture.name), ("Convention", picture.convention)]
    pairs.append(("CRS", "" if picture.crs is None else picture.crs.name))
    return pairs


def picture_json(picture: Multiscale) -> dict[str, Any]:
    """Return an image as JSON has it.

    Of each level the ``step`` and the ``origin`` along every dimension, in units of its axis, the second of
    the centre of the first element; null where nothing is told.
    """
    return {
        "name": picture.name,
        "convention": picture.convention,
        "crs": None if picture.crs is None else picture.crs.name,
        "axes": [{"name": axis.name, "units": axis.units} for axis in picture.axes],
        "levels": [
            {
                "path": level.node.path,
                "shape": list(level.node.shape),
                "step": [None if each is None else each.step for each in level.transforms],
                "origin": [None if each is None else each.origin for each in level.transforms],
            }
            for level in picture.levels
        ],
    }
