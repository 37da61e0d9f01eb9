"""What one stored element means: the value it stands for, or why it stands for none; metadata keys too."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.calibration import FACTOR, OFFSET, calibrated_value
from refbrowser.model.cf import Packing, parsed_number
from refbrowser.model.nested import TypeKind
from refbrowser.model.nodes import ArrayNode
from refbrowser.tools.explain.report.explanation import (
    Line,
    Link,
    LinkKind,
    Step,
    StepState,
    VerdictKind,
    exact_text,
    json_text,
    plain,
)
from refbrowser.views.numbers import value_text
from refbrowser.views.packing_words import packing_words
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.words import counted_plain, span_text

_MINUS = "\N{MINUS SIGN}"
#: Attributes that decide what an element means, in the order in which they are told.
CODING = (
    "_FillValue",
    "missing_value",
    "valid_range",
    "valid_min",
    "valid_max",
    "_Unsigned",
    "scale_factor",
    "add_offset",
    FACTOR,
    OFFSET,
    "flag_values",
    "flag_masks",
    "flag_meanings",
    "units",
    "calendar",
)
#: Attributes that give bounds, and where a value lies that is out of them.
_BOUNDS = {"valid_range": "outside of", "valid_min": "below", "valid_max": "above"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a stored element means under the CF conventions.

    Attributes
    ----------
    stored
        The element with all its digits, with the sign that is meant.
    shown
        What it stands for, with units; empty where it stands for no value.
    kind
        `VALUE`, or why it stands for none.
    cause
        For a sentence: ``is the fill value (_FillValue)``; empty for a value.
    """

    stored: str
    shown: str
    kind: VerdictKind
    cause: str
    step: Step


def meaning_of(node: ArrayNode, element: Any) -> Meaning:
    """Return what an element of an array means.

    Parameters
    ----------
    element
        A numpy scalar of the array's type; of ragged rows one row.
    """
    shown = Interpretation(node, decoded=True)
    value = _native(element)
    causes = _why_missing(node, shown, value)
    kind, cause = causes[0] if causes else (VerdictKind.VALUE, "")
    text = "" if kind is not VerdictKind.VALUE else _shown_text(shown, value)
    stored = exact_text(_signed(shown, value))
    as_typed = exact_text(value)
    sign = "" if as_typed == stored else f" ({as_typed} without _Unsigned)"
    lines = [Line(f"{stored}{sign}", "Stored value")]
    if packed := packing_words(node):
        lines.append(Line(plain(packed, 300), "Packing"))
    lines += [Line(_attribute(node, name), name) for name in CODING if name in node.attributes]
    if node.fill_value is not None and (node.fill_marks or "_FillValue" not in node.attributes):
        lines.append(Line(exact_text(_native(node.fill_value)), "fill_value"))
    if kind is VerdictKind.VALUE:
        lines += _computed(shown, stored)
    lines.append(Line(text or f"no value: {stored} {cause}", "Means"))
    lines += [Line(f"it {other}", "Besides") for _kind, other in causes[1:]]
    warnings = _warnings(shown, value)
    return Meaning(
        stored,
        text,
        kind,
        cause,
        Step(
            name="value",
            title="What the value means",
            state=StepState.OK if kind is VerdictKind.VALUE and not warnings else StepState.WARNING,
            lines=lines + warnings,
            facts={"stored": stored, "value": text or None, "reason": str(kind)},
            links=[Link(LinkKind.ATTRIBUTES, "Show the attributes", node.path)],
        ),
    )


def _shown_text(shown: Interpretation, value: Any) -> str:
    if not isinstance(value, np.generic):
        return exact_text(value)
    return plain(shown.text_with_units(value)).replace(_MINUS, "-")


def _native(element: Any) -> Any:
    """Return an element in the machine's byte order; a row of its own length as a list."""
    if isinstance(element, np.ndarray) and element.ndim:
        return element.tolist()
    dtype = getattr(element, "dtype", None)
    if dtype is None or dtype.hasobject:
        return element
    return np.asarray(element).astype(dtype.newbyteorder("="))[()]


def _signed(shown: Interpretation, value: Any) -> Any:
    is_integer = getattr(value, "dtype", np.dtype("O")).kind in "iu"
    return shown.stored(value)[()] if is_integer else value


def _why_missing(node: ArrayNode, shown: Interpretation, value: Any) -> list[tuple[VerdictKind, str]]:
    """Return every reason why an element stands for no value; each attribute is tried alone."""
    kind = getattr(value, "dtype", np.dtype("O")).kind
    if kind in "mM" and np.isnat(value):
        return [(VerdictKind.NAN, f"is not a date{_or_missing(node)}")]
    if kind not in "iufc" or not shown.is_missing(value):
        return []
    if value != value:
        return [(VerdictKind.NAN, f"is not a number{_or_missing(node)}")]
    causes: list[tuple[VerdictKind, str]] = []
    if _is_fill(node, value):
        named = " (_FillValue)" if _alone(node, value, "_FillValue") else " of the array"
        causes.append((VerdictKind.FILL, f"is the fill value{named}, which means no data"))
    if _alone(node, value, "missing_value"):
        causes.append((VerdictKind.MISSING_VALUE, "is a missing_value, which means no data"))
    for name, where in _BOUNDS.items():
        if _alone(node, value, name):
            causes.append((VerdictKind.OUT_OF_RANGE, f"lies {where} {name} {_bound(shown.packing, name)}"))
    if shown.packing.default_fill is not None and shown.stored(value)[()] == shown.packing.default_fill:
        causes.append((VerdictKind.NEVER_WRITTEN, "is netCDF's fill for values never written"))
    return causes or [(VerdictKind.FILL, "means no data")]


def _or_missing(node: ArrayNode) -> str:
    """Return what else NaN stands for where values may be missing: nested values tell the two apart."""
    may_be = node.nested is not None and node.nested.type.kind is TypeKind.OPTION
    return ", or the value is missing" if may_be else ""


def _is_fill(node: ArrayNode, value: Any) -> bool:
    """Tell whether `_FillValue`, or the fill value where it marks, makes an element missing."""
    # Without either, the default of netCDF would count.
    kept: dict[str, Any] = {"_FillValue": []}
    kept |= {name: node.attributes[name] for name in ("_Unsigned", "_FillValue") if name in node.attributes}
    return bool(Packing.of(replace(node, attributes=kept)).missing_mask(np.asarray(value)))


def _unused_fill(node: ArrayNode) -> Any:
    """Return the value of `_FillValue` where the array's own fill value takes its place; None for none."""
    if node.fill_value is None or not node.fill_marks or "_FillValue" not in node.attributes:
        return None
    bare = replace(node, attributes={**node.attributes, "missing_value": []})
    own, said = Packing.of(bare).missing, Packing.of(replace(bare, fill_value=None)).missing
    return said[0] if own and said and said != own else None


def _bound(packing: Packing, name: str) -> str:
    """Return the bounds as they are compared: read without sign where `_Unsigned` says so."""
    low, high = packing.valid_min, packing.valid_max
    if name == "valid_range":
        return f"{exact_text(low)} to {exact_text(high)}"
    return exact_text(low if name == "valid_min" else high)


def _alone(node: ArrayNode, value: Any, name: str) -> bool:
    """Tell whether one attribute by itself makes an element missing."""
    if name not in node.attributes:
        return False
    helping = ("_Unsigned", "scale_factor", "add_offset") if name in _BOUNDS else ("_Unsigned",)
    # No fill value at all, so that the default of netCDF does not count here.
    attributes: dict[str, Any] = {"_FillValue": []}
    attributes |= {each: node.attributes[each] for each in (name, *helping) if each in node.attributes}
    packing = Packing.from_attributes(attributes, value.dtype, None)
    return bool(packing.missing_mask(np.asarray(value)))


def _attribute(node: ArrayNode, name: str) -> str:
    value = node.attributes[name]
    if name == "_FillValue" and isinstance(value, str) and isinstance(number := parsed_number(value), float):
        # Readers see the number, not how xarray writes it in Zarr v3.
        return plain(f"{exact_text(number)} (written {value})", 200)
    return plain(value, 200) if isinstance(value, str) else plain(json_text(value), 200)


def _computed(shown: Interpretation, stored: str) -> list[Line]:
    packing = shown.packing
    if not packing.is_scaled:
        return []
    scale = f" × {packing.scale:g}" if packing.scale != 1.0 else ""
    offset = f" + {packing.offset:g}".replace("+ -", "- ") if packing.offset != 0.0 else ""
    return [Line(f"{stored}{scale}{offset}", "Computed")]


def _warnings(shown: Interpretation, value: Any) -> list[Line]:
    lines = [
        Line(f"{plain(name)} is not used: its kind or its value does not fit the type", "Ignored")
        for name in dict.fromkeys(shown.packing.ignored)
    ]
    if (unused := _unused_fill(shown.node)) is not None:
        text = f"_FillValue {unused} is not used: readers of Zarr v2 go by the fill_value of the array"
        lines.append(Line(text, "Ignored"))
    if (calibrated := calibrated_value(shown.node.attributes, value)) is not None:
        text = (
            f"{FACTOR} × (stored {_MINUS} {OFFSET}) = {calibrated:g}: the file means so, CF does not say it"
        )
        lines.append(Line(f"{text}, and it is not applied", "Note"))
    kind = getattr(value, "dtype", np.dtype("O")).kind
    if kind in "if" and not shown.is_missing(value) and shown.never_written(np.asarray([value])):
        text = "netCDF libraries put this value where nothing was written; no attribute declares it here"
        lines.append(Line(text, "Note"))
    return lines


#: A longest metadata document that is parsed to say what is in it.
LARGEST_JSON = 2_000_000
_MINUS_SIGN = "\N{MINUS SIGN}"


def contents_step(node: ArrayNode, coords: tuple[int, ...], values: npt.NDArray[Any]) -> Step:
    """Return the step that sums up the elements of a chunk, without those beyond the array's edge."""
    extent = node.grid.extent(coords)
    inside = values[tuple(slice(0, size) for size in extent)]
    lines = [Line(counted_plain(inside.size, "element"), "Contents")]
    cut = values.size - inside.size
    if cut:
        lines.append(
            Line(f"{counted_plain(cut, 'element')} beyond the edge of the array, not shown", "Besides")
        )
    facts: dict[str, Any] = {"elements": inside.size, "beyond_edge": cut}
    shown = Interpretation(node, decoded=True)
    state = StepState.OK
    if shown.is_number and inside.dtype.kind != "c":
        numbers = shown.numbers(inside.astype(inside.dtype.newbyteorder("="), copy=False))
        empty = int(np.isnan(numbers).sum())
        facts["without_value"] = empty
        state = StepState.WARNING if empty == inside.size else StepState.OK
        lines.append(Line(f"{empty} of them", "No value"))
        if empty < inside.size:
            low, high = _number(shown, np.nanmin(numbers)), _number(shown, np.nanmax(numbers))
            units = f" {plain(shown.units, 60)}" if shown.units else ""
            lines.append(Line(span_text(low, high) + units, "Values"))
    elif inside.size:
        lines.append(Line(exact_text(inside.reshape(-1)[0]), "First"))
    return Step(name="contents", title="What the chunk holds", state=state, lines=lines, facts=facts)


def _number(shown: Interpretation, value: Any) -> str:
    if shown.dates is not None:
        return plain(shown.dates.text(float(value)), 60)
    return value_text(value).replace(_MINUS_SIGN, "-")


def document_step(data: bytes) -> Step:
    """Return the step that looks at a metadata document."""
    title = "The document"
    if len(data) > LARGEST_JSON:
        return Step(name="document", title=title, lines=[Line("too large to be checked here")])
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        lines = [Line(f"it is not JSON: {plain(error)}")]
        return Step(name="document", title=title, state=StepState.FAULT, lines=lines, facts={"json": False})
    lines = [Line(plain(value if isinstance(value, str) else json.dumps(value)), "JSON")]
    if isinstance(value, dict):
        names = ", ".join(plain(name, 40) for name in list(value)[:30])
        lines.insert(0, Line(names or "none", "Members"))
    return Step(name="document", title=title, lines=lines, facts={"json": True})
