"""Layouts of schemas of one shape: what the first one builds is taken over, with the blobs of the others."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.building import Built, DecodedSize, FindBlob, build_layout
from refbrowser.formats.awkward0.container import Blob
from refbrowser.formats.awkward0.expressions import Expression, ExpressionKind, SchemaDocument
from refbrowser.formats.awkward0.functions import canonical_name
from refbrowser.formats.awkward0.layout_copies import with_parts
from refbrowser.formats.awkward0.layout_parts import walk
from refbrowser.formats.awkward0.layouts import Layout, ListIndex, ListLayout, NumpyLayout, RecordLayout
from refbrowser.limits import LIMITS
from refbrowser.model.nested import Buffer


class BuildingMemory:
    """Builds the layouts of one file.

    Parameters
    ----------
    allowed
        What the user allows beside.
    decoded_size
        Asked where only that tells how many elements a blob has.
    """

    def __init__(self, allowed: AllowList, decoded_size: DecodedSize | None = None) -> None:
        self._allowed = allowed
        self._decoded_size = decoded_size
        self._first: dict[object, tuple[SchemaDocument, Built]] = {}
        self._plans: dict[object, _Plan | None] = {}

    def built(self, schema: SchemaDocument, find_blob: FindBlob) -> Built:
        """Return what `build_layout` does."""
        shape = schema.shape
        if shape is None or shape not in self._first:
            built = self._anew(schema, find_blob)
            if shape is not None:
                self._first[shape] = schema, built
            return built
        if shape not in self._plans:
            self._plans[shape] = _plan(*self._first[shape])
        plan = self._plans[shape]
        made = None if plan is None else plan.built(schema, find_blob)
        return self._anew(schema, find_blob) if made is None else made

    def _anew(self, schema: SchemaDocument, find_blob: FindBlob) -> Built:
        return build_layout(schema, find_blob, self._allowed, decoded_size=self._decoded_size)


@dataclass(frozen=True, slots=True)
class _Basic:
    """A basic array of the first schema.

    Attributes
    ----------
    read
        The expression that names its blob.
    count
        The one that is its count; None where the blob tells it.
    """

    layout: NumpyLayout
    read: Expression
    count: int | None

    def made(self, schema: SchemaDocument, find_blob: FindBlob) -> NumpyLayout | None:
        """Return that of another schema; None where it must be looked at."""
        first, blob = self.layout.blob, self._blob(schema, find_blob)
        if blob is None or blob.error is not None or first is None:
            return None
        old = self.layout.buffer
        count = old.count
        if self.count is not None:
            count = schema.expressions[self.count].value
        elif old.codecs or blob.size != first.size:
            return None
        wanted = old.offset + count * old.dtype.itemsize
        if count > LIMITS.elements or (not old.codecs and wanted > blob.size):
            return None
        buffer = Buffer(
            blob.reference, old.dtype, count, old.codecs, old.offset, blob.stored, blob.name, old.place
        )
        same = self.layout
        return NumpyLayout(number=same.number, id=same.id, function=same.function, buffer=buffer, blob=blob)

    def _blob(self, schema: SchemaDocument, find_blob: FindBlob) -> Blob | None:
        name = self.read.value if self.read.is_absolute else schema.prefix + self.read.value
        return find_blob(name)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the layouts of a shape are made.

    Attributes
    ----------
    steps
        Layouts, each after those that it is made of.
    counts
        Expressions that may differ from those of the first schema, where both are positive.
    """

    first: SchemaDocument
    built_first: Built
    steps: tuple[_Basic | Layout, ...]
    counts: frozenset[int]

    def built(self, schema: SchemaDocument, find_blob: FindBlob) -> Built | None:
        """Return what a schema builds; None where that is not known."""
        if schema.expressions is not self.first.expressions and not self._fits(schema):
            return None
        new: dict[Layout, Layout] = {}
        for step in self.steps:
            if not isinstance(step, _Basic):
                new[step] = with_parts(step, new)
                continue
            made = step.made(schema, find_blob)
            if made is None:
                return None
            new[step.layout] = made
        known = self.built_first
        by_number = {number: new.get(layout, layout) for number, layout in known.by_number.items()}
        return Built(new[known.layout], by_number, like=known)

    def _fits(self, schema: SchemaDocument) -> bool:
        """Tell whether only counts differ from those of the first schema, and none is nothing."""
        pairs = enumerate(zip(schema.expressions, self.first.expressions, strict=True))
        changed = [at for at, (one, other) in pairs if one is not other]
        return all(
            at in self.counts and schema.expressions[at].value > 0 and self.first.expressions[at].value > 0
            for at in changed
        )


def _plan(schema: SchemaDocument, built: Built) -> _Plan | None:
    """Return how the layouts of a shape are made; None where each is to be built anew."""
    layouts = list(dict.fromkeys(built.by_number.values()))
    if built.findings or built.layout not in layouts:
        return None
    steps: list[_Basic | Layout] = []
    for layout in layouts:
        step = _basic(schema, layout) if isinstance(layout, NumpyLayout) and layout.blob else layout
        if step is None:
            return None
        steps.append(step)
    known = set(layouts)
    hidden = [part for each in layouts for part in walk(each) if part not in known]
    if any(isinstance(part, NumpyLayout) and part.blob is not None for part in hidden):
        return None
    referred = {
        schema.by_id.get(each.value) for each in schema.expressions if each.kind is ExpressionKind.REF
    }
    counts = {step.count for step in steps if isinstance(step, _Basic) and step.count is not None}
    are_free = all(_is_free(each) for each in layouts)
    return _Plan(schema, built, tuple(steps), frozenset(counts - referred if are_free else ()))


def _is_free(layout: Layout) -> bool:
    """Tell whether a layout is the same whatever the lengths of its parts are, so they are not empty."""
    if isinstance(layout, ListLayout):
        return layout.how in (ListIndex.COUNTS, ListIndex.OFFSETS)
    return isinstance(layout, NumpyLayout) or (isinstance(layout, RecordLayout) and layout.view is None)


def _basic(schema: SchemaDocument, layout: NumpyLayout) -> _Basic | None:
    call = schema.expressions[layout.number]
    if not _is_call(call, "frombuffer"):
        return None
    read = call
    while read.kind is ExpressionKind.CALL and read.children:
        read = schema.expressions[read.children[0]]
    if (
        read.kind is not ExpressionKind.READ
        or layout.blob is None
        or not layout.blob.name.endswith(read.value)
    ):
        return None
    named = dict(call.named)
    at = call.children[2] if len(call.children) > 2 else named.get("count")
    if at is None:
        return _Basic(layout, read, None)
    count = schema.expressions[at]
    if count.kind is not ExpressionKind.JSON or type(count.value) is not int:
        return None
    return _Basic(layout, read, at if count.value >= 0 else None)


def _is_call(expression: Expression, name: str) -> bool:
    return expression.kind is ExpressionKind.CALL and canonical_name(expression.value) == name
