"""Where files that are combined are otherwise than declared: differences that stand against it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from refbrowser.exporting.combining.combination import ODD, REENCODED, Combination, Remedy
from refbrowser.exporting.combining.mismatches import Mismatch, OddValue, named
from refbrowser.exporting.combining.properties import ArrayProperties, ScannedSource
from refbrowser.model.cf import Packing
from refbrowser.references.declarations.declared_arrays import (
    ArrayFacts,
    Declarations,
    Deviation,
    is_codec,
    outside_bounds,
    plain_codec,
)

#: What the kind of such a difference begins with.
DECLARED = "declared"
#: What is declared under another name than that under which files differ in it.
_NAMES = {"type": "dtype"}


def declared_mismatches(files: Sequence[ScannedSource], request: Combination) -> list[Mismatch]:
    """Return where files are otherwise than declared; what they are added to is not looked at."""
    declared = request.declared.without([each.name for each in request.new_dimensions()])
    if not declared:
        return []
    new = files[1:] if request.extends else files
    found: dict[tuple[str, Deviation], list[str]] = {}
    known: dict[ArrayProperties, list[Deviation]] = {}
    lacking: dict[tuple[str, ...], list[str]] = {}
    for file in new:
        told = {each.path: each for each in file.arrays if _is_taken(each, request)}
        missing = lacking.setdefault(tuple(told), declared.missing(told))
        for name in missing:
            found.setdefault((name, Deviation("array", "there", "missing")), []).append(file.source)
        for path, each in told.items():
            if each not in known:
                known[each] = declared.deviations(_facts(each))
            deviations = [*known[each], *_outside(declared, file, each)]
            for deviation in deviations:
                found.setdefault((path, deviation), []).append(file.source)
    return _gathered(found, len(new))


def told_once(
    declared: Sequence[Mismatch], others: Sequence[Mismatch], request: Combination
) -> list[Mismatch]:
    """Return differences from what is declared and from other files; what both tell stands once."""
    found = {(each.path, each.name): each for each in declared}
    left = []
    for other in others:
        key = other.path, _NAMES.get(other.name, other.name)
        same = found.get(key)
        if same is None:
            left.append(other)
        elif request.reencode and other.kind in REENCODED and not other.is_blocking:
            # The odd ones are written anew as most are, which may be as declared.
            left.append(other)
            if set(same.files) <= set(other.files):
                del found[key]
        elif set(other.files) <= set(same.files):
            # What is declared is neither given up for what most files have, nor met by groups of them.
            more = (each for each in other.remedies if each.kind not in ("accept", "split"))
            found[key] = replace(same, remedies=tuple(dict.fromkeys((*more, *same.remedies))))
        else:
            left.append(other)
    return [*found.values(), *left]


def _gathered(found: dict[tuple[str, Deviation], list[str]], count: int) -> list[Mismatch]:
    """Return a difference for each property of an array."""
    by: dict[tuple[str, str, str, str], list[OddValue]] = {}
    for (path, each), sources in found.items():
        odd = by.setdefault((path, each.name, each.verb, each.declared), [])
        odd.append(OddValue(each.found, tuple(sources)))
    mismatches = []
    for (path, name, verb, common), odd in by.items():
        sources = [source for each in odd for source in each.files]
        several = f" and {len(odd) - 1} other values" if len(odd) > 1 else ""
        message = f"{path}: {name} {verb} declared {common}, but {odd[0].value}{several} in {named(sources)}"
        remedies = [Remedy("leave_out", sources[0] if len(sources) == 1 else ODD)]
        if name != "array":
            remedies.append(Remedy("leave_out_var", path))
        mismatches.append(
            Mismatch(
                kind=DECLARED,
                path=path,
                name=name,
                message=message,
                common=common,
                common_files=count - len(sources),
                odd=tuple(odd),
                remedies=tuple(remedies) if len(sources) < count else tuple(remedies[1:]),
            )
        )
    return mismatches


def _is_taken(told: ArrayProperties, request: Combination) -> bool:
    return not {told.path, told.name} & {*request.leave_out_var}


def _facts(told: ArrayProperties) -> ArrayFacts:
    """Return what is known of an array of a file, as of those of datasets (`facts_of`)."""
    attributes = {name: json.loads(text) for name, text in told.attributes}
    equal = told.grid.spelling if told.edges else told.chunks
    return ArrayFacts(
        path=told.path,
        dtype=f"{told.byte_order}{told.dtype}" if told.itemsize else told.dtype,
        dimensions=told.dimensions,
        shape=told.shape,
        chunks=tuple(side if isinstance(side, int) else None for side in equal),
        codecs=tuple(_codec(each) for each in json.loads(told.codecs) if is_codec(_name(each))),
        fill=json.loads(told.fill),
        attributes=attributes,
    )


def _name(codec: Any) -> str:
    return str(codec.get("id") or codec.get("name")) if isinstance(codec, dict) else str(codec)


def _codec(codec: Any) -> dict[str, Any]:
    if not isinstance(codec, dict):
        return plain_codec(str(codec), {})
    rest = {name: value for name, value in codec.items() if name not in ("id", "name", "configuration")}
    return plain_codec(_name(codec), {**rest, **(codec.get("configuration") or {})})


def _outside(declared: Declarations, file: ScannedSource, told: ArrayProperties) -> list[Deviation]:
    """Return where values lie that were read and are not within declared bounds."""
    said, values = declared.bounded(told.path), file.values.get(told.path)
    if said is None or said.bounds is None or values is None or values.dtype.kind not in "iuf":
        return []
    attributes = {name: json.loads(text) for name, text in told.attributes}
    found = outside_bounds(said.bounds, values, Packing.from_attributes(attributes, values.dtype))
    return [] if found is None else [found]
