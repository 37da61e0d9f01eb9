"""Makes layouts of the expressions of a schema: on demand, with memory, nothing run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.errors import NOWHERE, ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.building_call import Call, wrong
from refbrowser.formats.awkward0.building_meanings import Bytes, FunctionName, Items
from refbrowser.formats.awkward0.building_table import TABLE
from refbrowser.formats.awkward0.container import Blob
from refbrowser.formats.awkward0.dtypes import dtype_of
from refbrowser.formats.awkward0.expressions import Expression, ExpressionKind, SchemaDocument
from refbrowser.formats.awkward0.functions import Standing, judge
from refbrowser.formats.awkward0.layout_parts import parts
from refbrowser.formats.awkward0.layouts import BrokenLayout, Layout, LinkLayout, PlainLayout
from refbrowser.formats.awkward0.literals import literal_layout
from refbrowser.formats.awkward0.pickles import plain_value
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType

#: How often the values of a schema may be gathered.
_PLAIN_VALUES = 4
FindBlob = Callable[[str], Blob | None]
#: Gives the bytes that a blob unpacks to by its codecs.
DecodedSize = Callable[[Blob, tuple[str, ...]], int]


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """What the expressions of one schema build.

    Attributes
    ----------
    layout
        Of the root.
    by_number
        The layout of each expression that is an array; the targets of all links are among them.
    findings
        What could not be built.
    like
        What another schema builds that differs in blobs and counts alone: types, forms and the names of
        buffers are the same.
    """

    layout: Layout
    by_number: Mapping[int, Layout]
    findings: tuple[Finding, ...] = ()
    like: Built | None = None

    @property
    def pattern(self) -> Built:
        """The same for all that differ in blobs and counts alone."""
        return self.like or self


def build_layout(
    schema: SchemaDocument,
    find_blob: FindBlob,
    allowed: AllowList | None = None,
    *,
    place: Place = NOWHERE,
    decoded_size: DecodedSize | None = None,
) -> Built:
    """Return what a schema builds (persistence notes, sections 1 to 3).

    Parameters
    ----------
    find_blob
        Gives a blob by its whole name, or None where there is none of that name.
    allowed
        What the user allows beside.
    place
        Where the schema is.
    decoded_size
        Asked where only that tells how many elements a blob has.
    """
    return _Building(schema, find_blob, allowed or AllowList(), place, decoded_size).built()


class _Building:
    """Evaluates the expressions of one schema (`Meanings`)."""

    def __init__(
        self,
        schema: SchemaDocument,
        find_blob: FindBlob,
        allowed: AllowList,
        place: Place,
        decoded_size: DecodedSize | None,
    ) -> None:
        self.allowed = allowed
        self._decoded_size = decoded_size
        self._schema = schema
        self._find_blob = find_blob
        self._place = place
        self._known: dict[int, Any] = {}
        self._open: set[int] = set()
        self._depth = 0
        #: How many plain values may still be gathered: lists refer to lists, and to themselves.
        self._left = _PLAIN_VALUES * LIMITS.awkward_nodes
        self._links: list[LinkLayout] = []
        #: Of how many layouts each consists, those shared counted as often as they are there.
        self._weights: dict[Layout, int] = {}
        self._findings: list[Finding] = []

    def built(self) -> Built:
        """Build the root."""
        layout = self._root()
        by_number = {number: made for number, made in self._known.items() if isinstance(made, Layout)}
        for link in self._links:
            if not isinstance(by_number.get(link.target), Layout):
                error = wrong("what is referred to is not an array").at(self.place_of(link.target))
                by_number[link.target] = BrokenLayout(number=link.target, error=error)
        return Built(layout, by_number, tuple(self._findings[: LIMITS.awkward_findings]))

    def _root(self) -> Layout:
        root = self._schema.root
        try:
            meaning = self.meaning(root.number)
            if isinstance(meaning, Layout):
                return meaning
            return PlainLayout(number=root.number, id=root.id, value=self.plain(root.number))
        except RefbrowserError as error:
            return self._broken(root, error)

    def place_of(self, number: int) -> Place:
        """Return where an expression is."""
        return replace(self._place, pointer=self._schema.expressions[number].pointer)

    def decoded_size(self, data: Bytes) -> int:
        """Return the bytes that a compressed blob unpacks to.

        Raises
        ------
        RefbrowserError
            That cannot be found out.
        """
        if self._decoded_size is None:
            raise wrong(f"how many elements {quoted(data.blob.name)} has is not said, and it is compressed")
        return self._decoded_size(data.blob, data.codecs)

    # What an expression is for those that use it

    def layout(self, number: int) -> Layout:
        """Return the array that an expression is; a broken one where it is none."""
        try:
            meaning = self.meaning(number)
            return meaning if isinstance(meaning, Layout) else self.literal(self.plain(number), number)
        except RefbrowserError as error:
            return self._broken(self._schema.expressions[number], error)

    def literal(self, value: Any, number: int) -> Layout:
        """Return the array that stands in the schema as plain values."""
        expression = self._schema.expressions[number]
        return literal_layout(value, expression.number, expression.id)

    def plain(self, number: int) -> Any:
        """Return the plain value that an expression is: lists and dicts of expressions as such of values."""
        meaning = self.meaning(number)
        self._left -= 1
        if self._left < 0 or self._depth > LIMITS.awkward_depth:
            message = "plain values are too many, or nested too deep (awkward_nodes, awkward_depth)"
            raise RefbrowserError(ErrorKind.BUDGET, message, self.place_of(number))
        if isinstance(meaning, PlainLayout):
            return meaning.value
        if isinstance(meaning, Items):
            self._depth += 1
            try:
                return self._plain_items(meaning)
            finally:
                self._depth -= 1
        if isinstance(meaning, Layout | Bytes | NestedType | FunctionName | np.dtype):
            raise wrong(f"{_what(meaning)} stands where a plain value belongs").at(self.place_of(number))
        return meaning

    def _plain_items(self, items: Items) -> Any:
        values = [self.plain(each) for each in items.numbers]
        if items.kind is ExpressionKind.DICT:
            return dict(zip(items.names, values, strict=True))
        if items.kind is ExpressionKind.PAIRS:
            return list(zip(items.names, values, strict=True))
        return tuple(values) if items.kind is ExpressionKind.TUPLE else values

    def layouts_in(self, number: int) -> list[Layout]:
        """Return the arrays of a list."""
        meaning = self.meaning(number)
        if isinstance(meaning, Items) and not meaning.names:
            return [self.layout(each) for each in meaning.numbers]
        if not isinstance(meaning, list | tuple):
            raise wrong(f"{_what(meaning)} stands where a list of arrays belongs").at(self.place_of(number))
        return [self.literal(each, number) for each in meaning]

    def named_layouts_in(self, number: int) -> list[tuple[str, Layout]]:
        """Return the arrays of pairs or a dict."""
        meaning = self.meaning(number)
        if isinstance(meaning, Items) and len(meaning.names) == len(meaning.numbers):
            pairs = zip(meaning.names, meaning.numbers, strict=True)
            return [(name, self.layout(each)) for name, each in pairs]
        if isinstance(meaning, dict):
            return [(name, self.literal(each, number)) for name, each in meaning.items()]
        if isinstance(meaning, list | tuple) and all(_is_pair(each) for each in meaning):
            return [(name, self.literal(each, number)) for name, each in meaning]
        raise wrong(f"{_what(meaning)} stands where named arrays belong").at(self.place_of(number))

    # What an expression means

    def meaning(self, number: int) -> Any:
        """Return a layout, plain value, type, `Bytes`, `Items` or `FunctionName`.

        Raises
        ------
        RefbrowserError
            It has none; the same error each time.
        """
        if number not in self._known:
            self._known[number] = self._evaluated(self._schema.expressions[number])
        known = self._known[number]
        if isinstance(known, RefbrowserError):
            raise known
        return known

    def _evaluated(self, expression: Expression) -> Any:
        """Return a meaning or the error instead."""
        self._open.add(expression.number)
        self._depth += 1
        try:
            if self._depth > LIMITS.awkward_depth:
                message = f"arrays are nested more than {LIMITS.awkward_depth} times (awkward_depth)"
                raise RefbrowserError(ErrorKind.BUDGET, message)
            made = self._made(expression)
            return self._weighed(made) if isinstance(made, Layout) else made
        except RefbrowserError as error:
            located = error if error.place.pointer is not None else error.at(self.place_of(expression.number))
            self._note(expression, located)
            return self._broken(expression, located) if expression.kind is ExpressionKind.CALL else located
        finally:
            self._depth -= 1
            self._open.discard(expression.number)

    def _made(self, expression: Expression) -> Any:
        if expression.error is not None:
            raise expression.error
        match expression.kind:
            case ExpressionKind.CALL:
                return self.called(expression)
            case ExpressionKind.REF:
                return self._referred(expression)
            case ExpressionKind.READ:
                return self._blob(expression)
            case ExpressionKind.DTYPE:
                return dtype_of(expression.value)
            case ExpressionKind.FUNCTION:
                return FunctionName(expression.value, judge(expression.value, self.allowed))
            case ExpressionKind.PYTHON:
                return plain_value(expression.value)
            case ExpressionKind.JSON:
                return expression.value
        numbers = tuple(number for _, number in expression.named) or expression.children
        return Items(expression.kind, numbers, tuple(name for name, _ in expression.named))

    def called(self, expression: Expression) -> Any:
        """Return what a call means: a layout, type or `Bytes`; only entries of the table are built."""
        verdict = judge(expression.value, self.allowed)
        if verdict.standing is Standing.REFUSED or verdict.canonical is None:
            advice = "Allow it to have it built here." if verdict.can_be_allowed else ""
            message = f"the function {quoted(verdict.name)} is refused: {verdict.why}"
            raise RefbrowserError(ErrorKind.UNSAFE, message, advice=advice)
        entry = TABLE[verdict.canonical]
        if expression.id is not None and self._schema.by_id.get(expression.id) != expression.number:
            # Of an id that is given twice the last one counts; buffers are named by ids.
            expression = replace(expression, id=None)
        return entry.build(Call.bound(self, expression, verdict.canonical, entry.parameters))

    def _referred(self, expression: Expression) -> Any:
        target = self._schema.by_id.get(expression.value)
        if target is None:
            raise wrong(f"nothing has the id {expression.value} that is referred to")
        if target not in self._open:
            return self.meaning(target)
        if self._schema.expressions[target].kind is not ExpressionKind.CALL:
            raise wrong(f"the id {expression.value} is a part of itself and no array")
        link = LinkLayout(number=expression.number, target=target)
        self._links.append(link)
        return link

    def _blob(self, expression: Expression) -> Bytes:
        name = expression.value if expression.is_absolute else self._schema.prefix + expression.value
        blob = self._find_blob(name)
        if blob is None:
            raise RefbrowserError(ErrorKind.RANGE, f"there is no blob {quoted(name)}")
        if blob.error is not None:
            raise blob.error
        return Bytes(blob)

    # Bookkeeping

    def _weighed(self, layout: Layout) -> Layout:
        if layout not in self._weights:
            weight = 1 + sum(self._weights.get(part, 1) for _, part in parts(layout))
            if weight > LIMITS.awkward_parts:
                message = f"an array is made of more than {LIMITS.awkward_parts} others (awkward_parts)"
                raise RefbrowserError(ErrorKind.BUDGET, message)
            self._weights[layout] = weight
        return layout

    def _broken(self, expression: Expression, error: RefbrowserError) -> BrokenLayout:
        located = error if error.place.pointer is not None else error.at(self.place_of(expression.number))
        function = ".".join(expression.value) if expression.kind is ExpressionKind.CALL else ""
        return BrokenLayout(number=expression.number, id=expression.id, function=function, error=located)

    def _note(self, expression: Expression, error: RefbrowserError) -> None:
        """List an error where it comes from: not where it only passes."""
        # What nothing has the id of is listed where the schema was read.
        is_dangling = expression.kind is ExpressionKind.REF and expression.value not in self._schema.by_id
        is_listed = expression.error is not None or is_dangling
        if not is_listed and error.place.pointer == expression.pointer:
            finding = Finding(
                severity=Severity.FAULT,
                kind=error.kind,
                message=error.message,
                place=error.place,
                advice=error.advice,
            )
            self._findings.append(finding)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _what(meaning: Any) -> str:
    if isinstance(meaning, Layout):
        return "an array"
    if isinstance(meaning, Bytes):
        return "a blob"
    if isinstance(meaning, np.dtype | NestedType):
        return "a type"
    if isinstance(meaning, FunctionName):
        return f"the function {quoted(meaning)}"
    return "a list of expressions" if isinstance(meaning, Items) else quoted(meaning)
