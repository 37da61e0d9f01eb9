"""An array in other units than its own: the same stored values, which mean other numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from refbrowser.model.cf import Packing, TimeUnits
from refbrowser.views.plot.coordinates import attribute_text

if TYPE_CHECKING:
    from refbrowser.model.expressions.conversions import Conversion
    from refbrowser.model.nodes import ArrayNode

#: Attributes that bound physical values.
_BOUNDS = ("valid_min", "valid_max", "valid_range")


def units_of(node: ArrayNode) -> str:
    """Return the units of an array whose values can be in others; empty where they are none, or dates."""
    is_number = node.dtype is not None and node.dtype.kind in "iufc"
    if not is_number or TimeUnits.from_attributes(node.attributes) is not None:
        return ""
    return "" if "flag_meanings" in node.attributes else attribute_text(node.attributes, "units")


def conversion_of(node: ArrayNode, units: str) -> Conversion | None:
    """Return how an array is put in units; None where these are none, or it does not become them."""
    from refbrowser.errors import RefbrowserError
    from refbrowser.model.expressions.conversions import conversion, is_difference

    if not units or not units_of(node):
        return None
    try:
        difference = is_difference(node.attributes, node.name)
        return conversion(units_of(node), units, is_difference=difference)
    except RefbrowserError:
        return None


def in_units(node: ArrayNode, conversion: Conversion | None) -> ArrayNode:
    """Return an array in other units; itself where there is no conversion, or it is from other units.

    It has other attributes alone: what reads, draws and tables it needs to know nothing of it.
    """
    if conversion is None or units_of(node) != conversion.source:
        return node
    packing, scale, offset = Packing.of(node), conversion.scale, conversion.offset
    changed: dict[str, Any] = {
        "units": conversion.units,
        "scale_factor": packing.scale * scale,
        "add_offset": packing.offset * scale + offset,
    }
    if packing.bounds_are_physical:
        for name in _BOUNDS:
            bound = node.attributes.get(name)
            if isinstance(bound, list):
                changed[name] = [float(each) * scale + offset for each in bound]
            elif bound is not None:
                changed[name] = float(bound) * scale + offset
    return replace(node, attributes={**node.attributes, **changed})
