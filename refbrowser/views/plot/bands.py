"""Which dimension of an array holds the colours of a picture, and what of it is red, green and blue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.cf import Packing
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import Coordinate, attribute_text

if TYPE_CHECKING:
    from refbrowser.views.plot.interpretation import Interpretation

#: Names of dimensions that hold colours, and of those that do where there are three or four small integers.
_COLOURS = re.compile(r"(rgba?|bgra?|colou?rs?)([_ ]?(bands?|channels?|components?|samples?))?")
_CHANNELS = re.compile(r"bands?|channels?|chan|ch|c|samples?|s|components?")
#: Names that are made up where a file gives none.
_NO_NAME = re.compile(r"(phony_)?dim[_ ]?\d+")
_WORDS = {"r": 0, "red": 0, "g": 1, "green": 1, "b": 2, "blue": 2, "a": 3, "alpha": 3}
_NAMES = ("red", "green", "blue", "alpha")
#: PhotometricInterpretation of TIFF 6.0 (section 8, and 16, 21, 23 for colours of other kinds).
_PHOTOMETRIC, _RGB, _YCBCR = "PhotometricInterpretation", 2, 6
#: ExtraSamples of TIFF 6.0 (section 18) that are an alpha channel.
_EXTRA, _IS_ALPHA = "ExtraSamples", (1, 2)
#: The HDF5 Image and Palette Specification (1.2) calls pictures in colour so.
_SUBCLASS, _TRUE_COLOUR = "IMAGE_SUBCLASS", "IMAGE_TRUECOLOR"


@dataclass(frozen=True, slots=True)
class Bands:
    """The bands of a picture in colour.

    Attributes
    ----------
    dimension
        Of the array.
    order
        Indices along it of red, green and blue.
    alpha
        That of the opacity, None where there is none.
    is_sure
        Whether the array says that they are colours, or is of a form that nothing else has: such are shown in
        colour at first.
    """

    dimension: int
    order: tuple[int, int, int] = (0, 1, 2)
    alpha: int | None = None
    is_sure: bool = True

    @property
    def colours(self) -> tuple[int, ...]:
        """The indices of red, green and blue, and of the opacity where there is one."""
        return self.order if self.alpha is None else (*self.order, self.alpha)

    def names(self, dimension: str, size: int) -> tuple[str, ...]:
        """Return what each band is called; one that is no colour by its dimension's name and its index."""
        called = dict(zip(self.colours, _NAMES, strict=False))
        return tuple(called.get(index, f"{dimension} {index}") for index in range(size))

    def name_in(self, coordinates: tuple[Coordinate, ...]) -> tuple[Coordinate, ...]:
        """Return the coordinates of an array with names for its bands, where they have no coordinate."""
        found = coordinates[self.dimension]
        if found.values is not None or found.texts is not None or not self.is_sure:
            return coordinates
        named = replace(found, texts=self.names(found.name, found.size))
        return (*coordinates[: self.dimension], named, *coordinates[self.dimension + 1 :])

    @staticmethod
    def names_colours(texts: Sequence[str] | None) -> bool:
        """Whether texts name red, green and blue."""
        return {_WORDS.get(text.strip().lower()) for text in texts or ()} >= {0, 1, 2}

    def called(self, texts: Sequence[str] | None) -> Bands:
        """Return the bands in the order that the texts of their coordinate give, where these name colours."""
        places = {_WORDS.get(text.strip().lower()): place for place, text in enumerate(texts or ())}
        if not places.keys() >= {0, 1, 2}:
            return self
        return replace(self, order=(places[0], places[1], places[2]), alpha=places.get(3))


def bands_of(node: ArrayNode, names: Sequence[str], beside: Mapping[str, Any] | None = None) -> Bands | None:
    """Return the bands of an array of pictures, None where it holds none.

    Parameters
    ----------
    names
        One per dimension, made up where the array has none.
    beside
        Attributes of the coordinate of that dimension, by the dimension's name.
    """
    found = [axis for axis, size in enumerate(node.shape) if size in (3, 4)]
    if sum(size > 1 for size in node.shape) < 3 or not found or not _are_plain_numbers(node):
        return None
    for axis in reversed(found):
        bands = _bands_along(node, axis, names[axis].strip().lower(), len(names))
        if bands is not None:
            about = (beside or {}).get(names[axis], {})
            # Wavelengths, frequencies: bands of an instrument.
            is_measured = attribute_text(about, "units") not in ("", "1")
            return replace(bands, is_sure=bands.is_sure and not is_measured)
    return None


def _are_plain_numbers(node: ArrayNode) -> bool:
    """Whether elements are numbers that measure nothing."""
    if node.dtype is None or node.dtype.kind not in "uf":
        return False
    has_units = attribute_text(node.attributes, "units") not in ("", "1")
    has_flags = "flag_values" in node.attributes or "flag_masks" in node.attributes
    return not (has_units or has_flags or Packing.of(node).is_scaled)


def _bands_along(node: ArrayNode, axis: int, name: str, rank: int) -> Bands | None:
    assert node.dtype is not None
    attributes, is_integer = node.attributes, node.dtype.kind == "u" and node.dtype.itemsize <= 2
    is_byte, has_four = is_integer and node.dtype.itemsize == 1, node.shape[axis] == 4
    photometric = attributes.get(_PHOTOMETRIC)
    if photometric is not None and _CHANNELS.fullmatch(name):
        extra = np.atleast_1d(np.asarray(attributes.get(_EXTRA, 0)))
        alpha = 3 if has_four and extra[0] in _IS_ALPHA else None
        # Of other colour spaces no band is a colour; grey values are bands of an instrument.
        is_rgb = photometric in (_RGB, _YCBCR)
        return Bands(axis, alpha=alpha, is_sure=is_rgb) if is_rgb or photometric in (0, 1) else None
    colours = _COLOURS.fullmatch(name)
    if colours is not None:
        has_alpha = has_four and colours[1] not in ("rgb", "bgr")
        order = (2, 1, 0) if colours[1].startswith("bgr") else (0, 1, 2)
        return Bands(axis, order, 3 if has_alpha else None)
    is_told = attribute_text(attributes, _SUBCLASS) == _TRUE_COLOUR
    is_unnamed = axis == rank - 1 and is_byte and _NO_NAME.fullmatch(name) is not None
    if is_told or is_unnamed:
        return Bands(axis, alpha=3 if has_four else None)
    if _CHANNELS.fullmatch(name) and is_integer:
        is_alpha = has_four and is_byte and not name.startswith(("band", "s"))
        return Bands(axis, alpha=3 if is_alpha else None)
    return None


def white_of(sample: npt.NDArray[Any], dtype: np.dtype[Any]) -> float:
    """Return the number that is full intensity.

    Bytes fill their range. Of wider numbers often fewer bits are used, as a camera has them (10, 12, 14):
    white is the largest number of as many bits as the largest of `sample` needs; floats go from 0 to 1 where
    none is greater.
    """
    if dtype.kind == "u" and dtype.itemsize == 1:
        return 255.0
    known = sample[np.isfinite(sample)]
    most = float(known.max()) if len(known) else 0.0
    if dtype.kind == "f" and most <= 1.0:
        return 1.0
    return float((1 << max(8, min(int(most), (1 << 62)).bit_length())) - 1)


@dataclass(frozen=True, slots=True)
class TrueColouring:
    """Elements as the colours that they are (`Colouring`); without a value they are transparent.

    Attributes
    ----------
    white
        The number that is full intensity.
    """

    bands: Bands
    white: float

    def blank(self, rows: int, columns: int) -> npt.NDArray[np.uint8]:
        """Return nothing but transparent elements."""
        return np.zeros((rows, columns, 4), np.uint8)

    def positions(self, raw: npt.NDArray[Any], shown: Interpretation) -> npt.NDArray[np.uint8]:
        """Return the colour of each element as RGBA, (rows, columns, 4); bands are the last axis."""
        taken = raw[..., list(self.bands.order)]
        # Where a value stands for none, it is a shade too: only an element without any is none.
        missing = shown.packing.missing_mask(taken).all(axis=-1)
        result = np.empty((*taken.shape[:-1], 4), np.uint8)
        result[..., :3] = self._scaled(taken, shown)
        alpha = self.bands.alpha
        result[..., 3] = 255 if alpha is None else self._scaled(raw[..., alpha], shown)
        result[missing] = 0
        return result

    def _scaled(self, raw: npt.NDArray[Any], shown: Interpretation) -> npt.NDArray[np.uint8]:
        if raw.dtype == np.uint8 and self.white == 255:
            return raw
        numbers = np.nan_to_num(shown.numbers(raw), nan=0.0, posinf=self.white, neginf=0.0)
        return np.rint(np.clip(numbers * (255.0 / self.white), 0, 255)).astype(np.uint8)
