"""What is wrong with arrays, and what old writers are known to have got wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from refbrowser.errors import ErrorKind, Finding, Place, Severity, quoted
from refbrowser.formats.awkward0.arrays import Awkward0Array
from refbrowser.formats.awkward0.building import Built
from refbrowser.formats.awkward0.functions import SchemaDocument
from refbrowser.formats.awkward0.layouts import (
    Layout,
    ListIndex,
    ListLayout,
    ObjectLayout,
    VirtualLayout,
    length_of,
    walk,
)
from refbrowser.limits import LIMITS

#: The release that wrote lists without cutting their content (persistence notes, section 3).
_SHIFTING = "0.12."


def findings_of(array: Awkward0Array) -> tuple[Finding, ...]:
    """Return what is wrong with an array: in its schema, in what was built, and by the age of its writer."""
    schema, built = array.schema, array.built
    found = [*(() if schema is None else schema.findings), *(() if built is None else built.findings)]
    if built is not None:
        found += _refused(built)
        found += _foreign(schema, built)
    if schema is not None and built is not None and schema.version.startswith(_SHIFTING):
        found += _shifted(built.layout)
    return tuple(replace(each, place=_located(each.place, array)) for each in _distinct(found))


def _located(place: Place, array: Awkward0Array) -> Place:
    return replace(place, path=array.path, key=place.key or array.member)


def _distinct(found: list[Finding]) -> Iterator[Finding]:
    """Yield each message of a place once; of many alike the first ones."""
    seen: set[tuple[str, str | None]] = set()
    counts: dict[ErrorKind, int] = defaultdict(int)
    for each in found:
        what = each.message, each.place.pointer
        counts[each.kind] += 1
        if what not in seen and counts[each.kind] <= LIMITS.awkward_findings:
            seen.add(what)
            yield each


def _refused(built: Built) -> list[Finding]:
    """Return the virtual arrays whose functions are not run."""
    errors = [each.error for each in built.by_number.values() if isinstance(each, VirtualLayout)]
    return [
        Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=error.message,
            place=error.place,
            advice=error.advice,
        )
        for error in errors
        if error is not None
    ]


def _foreign(schema: SchemaDocument | None, built: Built) -> Iterator[Finding]:
    """Yield a warning for each array of objects whose generator is not known: just its content is shown."""
    for number, each in built.by_number.items():
        if isinstance(each, ObjectLayout) and each.is_foreign:
            pointer = None if schema is None else schema.expressions[number].pointer
            yield Finding(
                severity=Severity.WARNING,
                kind=ErrorKind.UNSAFE,
                message=f"the generator {quoted(each.generator)} is not known and not run",
                place=Place(pointer=pointer),
                advice="What its objects would be made of is shown.",
            )


def _shifted(layout: Layout) -> list[Finding]:
    """Return warnings of lists that the writer may have shifted against their content.

    Whether the counts add up to less than the content is only known when they are read: `values` checks.
    """
    lists = [
        each
        for each in walk(layout)
        if isinstance(each, ListLayout) and each.how is ListIndex.COUNTS and length_of(each.content)
    ]
    if not lists:
        return []
    message = "release 0.12 wrote the lists of a part of an array with the content of all of it"
    advice = "Where the counts add up to less than the content, the values may belong to other lists."
    return [
        Finding(
            severity=Severity.WARNING,
            kind=ErrorKind.FORMAT,
            message=message,
            place=Place(),
            advice=advice,
            count=len(lists),
        )
    ]
