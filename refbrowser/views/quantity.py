"""What kind of numbers an array holds, as far as its names tell: for the colour map that fits them."""

from __future__ import annotations

import re
from enum import StrEnum

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.coordinates import attribute_text

#: Longer names are not looked through.
_NAME_LENGTH = 300


class Quantity(StrEnum):
    """How the numbers of an array relate to zero."""

    PLAIN = "plain"
    #: Both signs mean something, and zero is the middle: anomalies, components of wind.
    SIGNED = "signed"
    #: The greatest number is next to the least: directions.
    CYCLIC = "cyclic"


_SIGNED = re.compile(
    r"(anomal|difference|\bbias\b|tendency|vorticity|divergence|increment|residual"
    r"|\b(east|north)ward\b|\b[xy] (wind|velocity|component)|\b[uv] component|velocity component"
    r"|\b(zonal|meridional|upward air|vertical) (wind|velocity)|lagrangian tendency)"
)
_CYCLIC = re.compile(r"(\bdirection\b|\bazimuth|\bphase angle\b|wave phase)")
_SPEED = re.compile(r"\b(speed|magnitude|variance|deviation|absolute|count|number)\b")


def quantity_of(node: ArrayNode) -> Quantity:
    """Return the kind of an array's numbers by its standard name, long name and name."""
    names = [attribute_text(node.attributes, "standard_name"), attribute_text(node.attributes, "long_name")]
    text = " ; ".join(name[:_NAME_LENGTH] for name in (*names, node.name))
    text = text.replace("_", " ").replace("-", " ").lower()
    if _SPEED.search(text):
        return Quantity.PLAIN
    if _CYCLIC.search(text):
        return Quantity.CYCLIC
    return Quantity.SIGNED if _SIGNED.search(text) else Quantity.PLAIN
