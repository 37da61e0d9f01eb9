"""Reads the schemas of one file: of those that differ in prefix and plain numbers alone the first is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from refbrowser.errors import NOWHERE, Place, RefbrowserError
from refbrowser.formats.awkward0.expressions import SchemaDocument
from refbrowser.formats.awkward0.schema import read_schema
from refbrowser.limits import LIMITS

#: The prefix as the last member, where writers put it. In what is JSON as a whole, the comma before its name
#: cannot stand in a text: the quote that follows would end that.
_PREFIX = re.compile(
    rb',[ \t\r\n]*"prefix"[ \t\r\n]*:[ \t\r\n]*"([^"\\\x00-\x1f]*+)"[ \t\r\n]*\}[ \t\r\n]*\Z'
)
#: Whole numbers that are plain values of a schema; in a text there would be no such quotes.
_NUMBER = re.compile(rb'(?<=\{"json": )(0|[1-9][0-9]{0,17})(?=[,}])')
#: Numbers that no schema has; they tell where numbers come to stand.
_MARK = 10**17
#: Shapes that are remembered, and the bytes of the largest schema and of all.
_MOST, _LARGEST, _ALL = 1000, 64 << 10, 4 << 20


@dataclass(slots=True, eq=False)
class SchemaShape:
    """What schemas have in common that differ in their prefix and in plain whole numbers alone.

    Attributes
    ----------
    schema
        The first of them.
    places
        The expressions that the numbers are; None where they are none, or nobody asked.
    pieces
        The text between the numbers, up to the prefix.
    """

    schema: SchemaDocument
    pieces: tuple[bytes, ...]
    places: tuple[int, ...] | None = None
    is_asked: bool = False

    def numbered(self, numbers: Sequence[int], prefix: str, text: bytes) -> SchemaDocument | None:
        """Return the schema of this shape with some numbers; None where a number is no expression."""
        if not self.is_asked:
            self.is_asked = True
            self.places = self._found_places(len(numbers))
        if self.places is None:
            return None
        first = self.schema.expressions
        changed = [
            (place, number)
            for place, number in zip(self.places, numbers, strict=True)
            if first[place].value != number
        ]
        expressions = first
        if changed:
            made = list(first)
            for place, number in changed:
                made[place] = replace(first[place], value=number)
            expressions = tuple(made)
        known = self.schema
        return SchemaDocument(
            known.signature,
            known.version,
            expressions,
            known.by_id,
            prefix,
            known.doc,
            known.metadata,
            text,
            shape=self,
        )

    def _found_places(self, count: int) -> tuple[int, ...] | None:
        """Return where numbers of their own come to stand: each in one expression, and nowhere else."""
        marks = range(_MARK, _MARK + count)
        text = self.pieces[0] + b"".join(
            b"%d" % mark + piece for mark, piece in zip(marks, self.pieces[1:], strict=True)
        )
        marked, known = read_schema(text + b"}"), self.schema
        values = [expression.value for expression in marked.expressions]
        places = {value: at for at, value in enumerate(values) if type(value) is int and value in marks}
        same = [
            at in places.values() or before.value == value
            for at, (before, value) in enumerate(zip(known.expressions, values, strict=True))
        ]
        is_right = len(places) == count and all(same)
        is_same = (marked.metadata, marked.version, marked.doc) == (known.metadata, known.version, known.doc)
        return tuple(places[mark] for mark in marks) if is_right and is_same else None


class SchemaMemory:
    """Reads schemas, and remembers the shapes of those that have nothing odd in them."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, ...], SchemaShape] = {}
        self._left = _ALL

    def read(self, data: bytes, *, name: str = "", place: Place = NOWHERE) -> SchemaDocument:
        """Return what `read_schema` does.

        Raises
        ------
        RefbrowserError
            As that does.
        """
        cut = _PREFIX.search(data, max(data.rfind(b","), 0)) if len(data) <= _LARGEST else None
        if cut is None or len(cut[1]) > LIMITS.key_length:
            return read_schema(data, name=name, place=place)
        parts = _NUMBER.split(data[: cut.start()])
        pieces = tuple(parts[::2])
        known = self._known.get(pieces)
        if known is not None:
            try:
                found = known.numbered(list(map(int, parts[1::2])), cut[1].decode(), data)
            except (UnicodeDecodeError, RefbrowserError):
                found = None
            return read_schema(data, name=name, place=place) if found is None else found
        schema = read_schema(data, name=name, place=place)
        is_odd = schema.findings or any(each.error is not None for each in schema.expressions)
        if is_odd or len(self._known) >= _MOST or len(data) > self._left:
            return schema
        self._left -= len(data)
        shape = SchemaShape(schema, pieces)
        self._known[pieces] = shape
        return replace(schema, shape=shape)
