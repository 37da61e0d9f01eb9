"""Masked arrays: a byte, a bit or an integer tells what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.awkward0.layouts import Layout, MaskedLayout, MaskForm, NumpyLayout
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.indexes import gathered
from refbrowser.formats.awkward0.values.making import optional
from refbrowser.formats.awkward0.values.parts import Parts, Spot, beyond, wrong
from refbrowser.formats.awkward0.values.sizes import length
from refbrowser.formats.awkward0.values.steps import all_of

if TYPE_CHECKING:
    from awkward.contents import Content


async def masked(parts: Parts, layout: MaskedLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a masked array."""
    if layout.mask is None:
        return await parts.content(layout.content, extent, spot.below())
    if layout.form is MaskForm.INDEX:
        return await _by_index(parts, layout, extent, spot)
    known = await length(parts, layout.content)
    if extent.reach > known:
        raise beyond(layout.content, extent.reach, known)
    read = _bits if layout.form is MaskForm.BITS else _bytes
    truth = read(parts, layout, layout.mask, extent)
    mask, content = await all_of(truth, parts.content(layout.content, extent, spot.below()))
    return _optional(content, mask, bool(layout.masked_when))


def _optional(content: Content, mask: npt.NDArray[np.bool_], masked_when: bool) -> Content:
    from awkward.contents import ByteMaskedArray
    from awkward.index import Index8

    if content.is_union:
        return optional(content, np.where(mask == masked_when, -1, np.arange(len(mask))))
    return ByteMaskedArray.simplified(Index8(mask.view(np.int8)), content, not masked_when)


async def _mask_elements(
    parts: Parts, layout: MaskedLayout, mask: Layout, extent: Extent
) -> npt.NDArray[Any]:
    if isinstance(mask, NumpyLayout) and not mask.buffer.dtype.shape:
        values = await parts.elements(mask, extent)
        if values.dtype.kind in "biu":
            return values
    raise wrong(layout, "the mask is not one of numbers or truth values")


async def _bytes(parts: Parts, layout: MaskedLayout, mask: Layout, extent: Extent) -> npt.NDArray[np.bool_]:
    return await _mask_elements(parts, layout, mask, extent) != 0


async def _bits(parts: Parts, layout: MaskedLayout, mask: Layout, extent: Extent) -> npt.NDArray[np.bool_]:
    first, last = extent.starts // 8, -(-extent.stops // 8)
    packed = await _mask_elements(parts, layout, mask, Extent(first, last))
    if packed.dtype.itemsize != 1:
        raise wrong(layout, "the mask of bits is not one of bytes")
    order: Any = "little" if layout.is_lsb else "big"
    bits = np.unpackbits(np.ascontiguousarray(packed).view(np.uint8), bitorder=order).view(np.bool_)
    found, at = [], 0
    for (start, stop), low, high in zip(extent.runs, first.tolist(), last.tolist(), strict=True):
        found.append(bits[at + start - low * 8 : at + stop - low * 8])
        at += (high - low) * 8
    return np.concatenate(found)


async def _by_index(parts: Parts, layout: MaskedLayout, extent: Extent, spot: Spot) -> Content:
    assert layout.mask is not None
    rows: Positions = await parts.integers(layout.mask, extent)
    there = rows != int(layout.masked_when)
    content = await gathered(parts, layout.content, rows[there], spot.below())
    return optional(content, np.where(there, np.cumsum(there) - 1, -1))
