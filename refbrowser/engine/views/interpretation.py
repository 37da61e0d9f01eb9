"""What the stored elements of an array mean: numbers to draw, text to read, with or without the CF coding."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.views.coordinates import attribute_text
from refbrowser.engine.views.dates import DateScale
from refbrowser.engine.views.numbers import value_text
from refbrowser.model.nodes import ArrayNode

#: Kinds of numpy types that a plot can show.
NUMBER_KINDS = "biufcmM"


class Interpretation:
    """How one array's elements are shown.

    Parameters
    ----------
    decoded
        Apply scale, offset and fill value of the CF conventions; else elements are shown as they are stored.
    """

    def __init__(self, node: ArrayNode, decoded: bool) -> None:
        self.node = node
        self.decoded = decoded
        self._scale = _number(node.attributes, "scale_factor") if decoded else None
        self._offset = _number(node.attributes, "add_offset") if decoded else None
        self._fills = _fills(node) if decoded else ()

    @property
    def is_number(self) -> bool:
        """Whether a line or an image can show the elements."""
        return self.node.dtype is not None and self.node.dtype.kind in NUMBER_KINDS

    @property
    def units(self) -> str:
        """Of the numbers; empty where there are none or they are those of packed numbers."""
        kind = self.node.dtype.kind if self.node.dtype is not None else ""
        if kind in "mM":
            return ""
        return attribute_text(self.node.attributes, "units") if self.decoded or not self.has_coding else ""

    @property
    def has_coding(self) -> bool:
        """Whether the array has a scale, an offset or a fill value that can be applied or not."""
        attributes = self.node.attributes
        packed = any(_number(attributes, name) is not None for name in ("scale_factor", "add_offset"))
        return packed or bool(_fills(self.node))

    @property
    def dates(self) -> DateScale | None:
        """How the numbers become dates, for a time coordinate."""
        units = attribute_text(self.node.attributes, "units")
        if " since " not in units or not self.decoded:
            return None
        return DateScale(units, attribute_text(self.node.attributes, "calendar") or "standard")

    def numbers(self, raw: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return elements as float32 or float64, NaN where there is no value; complex ones by magnitude."""
        if raw.dtype.kind in "mM":
            return np.where(np.isnat(raw), np.nan, raw.astype(np.int64).astype(np.float64))
        if raw.dtype.kind == "c":
            return np.abs(raw)
        small = raw.dtype.itemsize <= 2 or raw.dtype.str[1:] == "f4"
        values: npt.NDArray[np.floating[Any]] = raw.astype(np.float32 if small else np.float64)
        for fill in self._fills:
            np.copyto(values, np.nan, where=raw == fill)
        if self._scale is not None:
            values *= values.dtype.type(self._scale)
        if self._offset is not None:
            values += values.dtype.type(self._offset)
        return values

    def text(self, raw: Any) -> str:
        """Return one element as text, without units."""
        if self.is_fill(raw):
            return f"no value (fill value {value_text(raw.item())})"
        if raw.dtype.kind in "biuf" and (self._scale is not None or self._offset is not None):
            value = float(raw) * (1.0 if self._scale is None else self._scale) + (self._offset or 0.0)
            return value_text(value)
        return value_text(raw.item() if raw.dtype.kind in "biufc" else raw)

    def text_with_units(self, raw: Any) -> str:
        """Return one element as text with its units, where it has a value."""
        dated = "" if self.dates is None or self.is_fill(raw) else self.dates.text(float(self.numbers(raw)))
        text = dated or self.text(raw)
        return text if dated or not self.units or self.is_fill(raw) else f"{text} {self.units}"

    def is_fill(self, raw: Any) -> bool:
        """Whether one element stands for no value."""
        return any(bool(raw == fill) for fill in self._fills)


def _number(attributes: Any, name: str) -> float | None:
    value = attributes.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _fills(node: ArrayNode) -> tuple[Any, ...]:
    if node.dtype is None or node.dtype.kind not in "iuf":
        return ()
    found = []
    for value in (node.fill_value, node.attributes.get("_FillValue"), node.attributes.get("missing_value")):
        if isinstance(value, int | float | np.number) and value == value:
            found.append(np.float64(value))
    return tuple(dict.fromkeys(found))
