"""Schemas: JSON to expressions, within limits, and schemas that are alike once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import NOWHERE, ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import JsonError, pointer, read_value
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.functions import Expression, ExpressionKind, SchemaDocument

#: The fields that tell a schema, the newer first (persistence notes, section 1).
SIGNATURES = ("awkward0", "awkward")
_QUOTED = tuple(b'"%s"' % each.encode() for each in SIGNATURES)
_IDENTIFYING = {kind.value: kind for kind in ExpressionKind if kind is not ExpressionKind.BROKEN}


def read_schema(data: bytes, *, name: str = "", place: Place = NOWHERE) -> SchemaDocument:
    """Read a schema.

    Parameters
    ----------
    data
        Its bytes: UTF-8 (serialization text, "Top level object").
    name
        Of the array, for messages.
    place
        Where the schema is; the places of findings have a pointer beside.

    Returns
    -------
    SchemaDocument
        Expressions that are wrong stand in it as `ExpressionKind.BROKEN`.

    Raises
    ------
    RefbrowserError
        E_JSON, E_ENCODING: it is no JSON; E_SCHEMA: it is no schema; E_BUDGET: it is too large.
    """
    what = f"the schema of {quoted(name)}" if name else "the schema"
    top, findings = _decoded(data, what, place)
    signature = next((each for each in SIGNATURES if isinstance(top, dict) and each in top), None)
    if signature is None:
        message = f"{what} has neither 'awkward0' nor 'awkward'"
        raise RefbrowserError(ErrorKind.SCHEMA, message, place, "This is not a schema of Awkward Array 0.")
    if "schema" not in top:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{what} has no member 'schema'", place)
    prefix, doc = top.get("prefix", ""), top.get("doc", "")
    if not isinstance(prefix, str) or len(prefix) > LIMITS.key_length:
        message = f"the prefix of {what} is not text, or too long"
        raise RefbrowserError(ErrorKind.SCHEMA, message, replace(place, pointer="/prefix"))
    if not isinstance(doc, str):
        findings.append(_warning("'doc' is not text", replace(place, pointer="/doc")))
        doc = json.dumps(doc, ensure_ascii=False)
    expressions, found = _Reading(place).expressions(top["schema"])
    by_id, twice = _by_id(expressions, place)
    version = top[signature]
    return SchemaDocument(
        signature=signature,
        version=version if isinstance(version, str) else json.dumps(version, ensure_ascii=False),
        expressions=expressions,
        by_id=by_id,
        prefix=prefix,
        doc=doc,
        metadata=top.get("metadata"),
        text=data,
        findings=(*findings, *found, *twice, *_dangling(expressions, by_id, place)),
    )


def has_signature(data: bytes) -> bool:
    """Tell whether bytes may be a schema, at a glance: `read_schema` decides."""
    start = data[:1] if data[:1] == b"{" else data.lstrip()[:1]
    return start == b"{" and any(each in data for each in _QUOTED)


def _decoded(data: bytes, what: str, place: Place) -> tuple[Any, list[Finding]]:
    """Return the JSON, and warnings."""
    if len(data) > AWKWARD_LIMITS.awkward_schema:
        message = f"{what} has {len(data)} bytes, more than {AWKWARD_LIMITS.awkward_schema} (awkward_schema)"
        raise RefbrowserError(ErrorKind.BUDGET, message, place)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        message = f"{what} is not UTF-8 at byte {error.start}"
        raise RefbrowserError(ErrorKind.ENCODING, message, place) from None
    try:
        value, is_json = read_value(data)
    except JsonError as error:
        where = replace(place, start=error.position) if place else place
        raise RefbrowserError(error.kind, f"{what}: {error.message}", where, error.advice) from None
    if "\\ud" in text.lower() and not _is_text(value):
        raise RefbrowserError(ErrorKind.ENCODING, f"{what} has half a character", place)
    message = f"{what} has numbers that JSON does not have"
    return value, [] if is_json else [_warning(message, place)]


def _is_text(value: Any) -> bool:
    """Tell whether all text in JSON can be encoded: an escape may be half of a character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _warning(message: str, place: Place, kind: ErrorKind = ErrorKind.SCHEMA, advice: str = "") -> Finding:
    return Finding(severity=Severity.WARNING, kind=kind, message=message, place=place, advice=advice)


def _by_id(expressions: Sequence[Expression], place: Place) -> tuple[dict[int, int], list[Finding]]:
    """Return the number of the expression of each id, and warnings of those given twice."""
    by_id: dict[int, int] = {}
    findings = []
    for each in expressions:
        if each.id is None:
            continue
        if each.id in by_id:
            message = f"the id {each.id} is given twice; the last one wins"
            findings.append(_warning(message, replace(place, pointer=each.pointer)))
        by_id[each.id] = each.number
    return by_id, findings[: AWKWARD_LIMITS.awkward_findings]


def _dangling(expressions: Sequence[Expression], by_id: Mapping[int, int], place: Place) -> list[Finding]:
    """Return what refers to nothing: writers lose ids of virtual arrays (persistence notes, section 1)."""
    lost = [each for each in expressions if each.kind is ExpressionKind.REF and each.value not in by_id]
    return [
        Finding(
            severity=Severity.FAULT,
            kind=ErrorKind.SCHEMA,
            message=f"the id {each.value}, which is referred to, does not exist",
            place=replace(place, pointer=each.pointer),
            advice="The writer may have left out a virtual array; what refers to it cannot be read.",
        )
        for each in lost[: AWKWARD_LIMITS.awkward_findings]
    ]


@dataclass(slots=True)
class _Draft:
    """An expression whose children are still being numbered."""

    number: int
    pointer: str
    kind: ExpressionKind = ExpressionKind.BROKEN
    id: int | None = None
    value: Any = None
    is_absolute: bool = False
    error: RefbrowserError | None = None
    children: list[int] = field(default_factory=list)
    named: list[tuple[str, int]] = field(default_factory=list)

    def finished(self) -> Expression:
        return Expression(
            number=self.number,
            id=self.id,
            kind=self.kind,
            pointer=self.pointer,
            value=self.value,
            children=tuple(self.children),
            named=tuple(self.named),
            is_absolute=self.is_absolute,
            error=self.error,
        )


@dataclass(frozen=True, slots=True)
class _Pending:
    """JSON that is to become an expression."""

    json: Any
    pointer: str
    depth: int
    parent: _Draft | None = None
    name: str | None = None


class _WrongError(Exception):
    """An expression is not what the serialization text says."""


class _Reading:
    """Numbers the expressions of one schema in document order."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._drafts: list[_Draft] = []
        self._findings: list[Finding] = []
        #: Characters of all pointers: with deep nesting and long names they outgrow the text.
        self._written = 0

    def expressions(self, root: Any) -> tuple[tuple[Expression, ...], list[Finding]]:
        """Return the expressions, the root first, and what is odd in them."""
        pending = [_Pending(root, "/schema", 1)]
        while pending:
            pending.extend(reversed(self._read(pending.pop())))
        return tuple(draft.finished() for draft in self._drafts), self._findings

    def _read(self, item: _Pending) -> list[_Pending]:
        """Give one expression its number and return those below."""
        draft = _Draft(len(self._drafts), item.pointer)
        self._check_budgets(item)
        self._drafts.append(draft)
        if item.parent is not None and item.name is not None:
            item.parent.named.append((item.name, draft.number))
        elif item.parent is not None:
            item.parent.children.append(draft.number)
        try:
            below = self._fill(draft, item.json)
        except _WrongError as error:
            place = replace(self._place, pointer=draft.pointer)
            draft.kind, draft.error = (
                ExpressionKind.BROKEN,
                RefbrowserError(ErrorKind.SCHEMA, str(error), place),
            )
            self._note(Severity.FAULT, str(error), draft)
            return []
        return [_Pending(json, draft.pointer + at, item.depth + 1, draft, name) for json, at, name in below]

    def _check_budgets(self, item: _Pending) -> None:
        self._written += len(item.pointer)
        limits = (
            (len(self._drafts) + 1, AWKWARD_LIMITS.awkward_nodes, "expressions", "awkward_nodes"),
            (item.depth, AWKWARD_LIMITS.awkward_nesting, "levels of expressions", "awkward_nesting"),
            (self._written, 4 * AWKWARD_LIMITS.awkward_schema, "characters of pointers", "awkward_schema"),
        )
        for value, most, what, name in limits:
            if value > most:
                message = f"the schema has more than {most} {what} ({name})"
                raise RefbrowserError(ErrorKind.BUDGET, message, replace(self._place, pointer=item.pointer))

    def _note(self, severity: Severity, message: str, draft: _Draft) -> None:
        if len(self._findings) < AWKWARD_LIMITS.awkward_findings:
            place = replace(self._place, pointer=draft.pointer)
            finding = Finding(severity=severity, kind=ErrorKind.SCHEMA, message=message, place=place)
            self._findings.append(finding)

    def _fill(self, draft: _Draft, json: Any) -> list[tuple[Any, str, str | None]]:
        """Set what an expression says; return the JSON of those below, where it is, and its name."""
        if not isinstance(json, dict):
            raise _WrongError(f"an expression is an object, not {_kind_of(json)}")
        identity = json.get("id")
        if _is_natural(identity):
            draft.id = identity
        elif identity is not None:
            self._note(Severity.WARNING, f"an id is a whole number from 0, not {quoted(identity)}", draft)
        keys = [_IDENTIFYING[key] for key in json if key in _IDENTIFYING]
        if len(keys) != 1:
            names = ", ".join(repr(key.value) for key in keys) or "none"
            raise _WrongError(f"an expression has exactly one identifying key; this one has {names}")
        draft.kind = keys[0]
        return _FILLING[draft.kind](draft, json)


def _kind_of(value: Any) -> str:
    names = {bool: "true or false", str: "text", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), "a number")


def _is_natural(value: Any) -> bool:
    return type(value) is int and value >= 0


_Below = list[tuple[Any, str, str | None]]


def _call(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    draft.value = _specification(json["call"])
    arguments, keywords = json.get("args", []), json.get("kwargs", {})
    if not isinstance(arguments, list):
        raise _WrongError(f"'args' of a call is a list, not {_kind_of(arguments)}")
    if not isinstance(keywords, dict):
        raise _WrongError(f"'kwargs' of a call is an object, not {_kind_of(keywords)}")
    return [
        *((each, f"/args/{at}", None) for at, each in enumerate(arguments)),
        *((each, pointer("kwargs", name), name) for name, each in keywords.items()),
    ]


def _specification(json: Any) -> tuple[str, ...]:
    is_right = isinstance(json, list) and all(isinstance(part, str) for part in json)
    if not is_right or len(json) < 2:
        raise _WrongError("a function is a list of two or more texts: a module, and what is in it")
    if len(json) > AWKWARD_LIMITS.awkward_nesting or any(len(part) > LIMITS.key_length for part in json):
        raise _WrongError("the name of a function is too long")
    return tuple(json)


def _function(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    draft.value = _specification(json["function"])
    return []


def _blob(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    name, is_absolute = json["read"], json.get("absolute", False)
    if not isinstance(name, str) or len(name) > LIMITS.key_length:
        raise _WrongError("the name of a blob is text, and not too long")
    if not isinstance(is_absolute, bool):
        raise _WrongError(f"'absolute' is true or false, not {_kind_of(is_absolute)}")
    draft.value, draft.is_absolute = name, is_absolute
    return []


def _items(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    items = json[draft.kind.value]
    if not isinstance(items, list):
        raise _WrongError(f"{draft.kind.value!r} holds a list, not {_kind_of(items)}")
    return [(each, f"/{draft.kind.value}/{at}", None) for at, each in enumerate(items)]


def _dict(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    entries = json["dict"]
    if not isinstance(entries, dict):
        raise _WrongError(f"'dict' holds an object, not {_kind_of(entries)}")
    return [(each, pointer("dict", name), name) for name, each in entries.items()]


def _pairs(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    pairs = json["pairs"]
    is_right = isinstance(pairs, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    )
    if not is_right:
        raise _WrongError("'pairs' holds a list of pairs: a name and an expression")
    return [(pair[1], f"/pairs/{at}/1", pair[0]) for at, pair in enumerate(pairs)]


def _value(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    draft.value = json[draft.kind.value]
    return []


def _python(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    if not isinstance(json["python"], str):
        raise _WrongError(f"'python' holds text, not {_kind_of(json['python'])}")
    return _value(draft, json)


def _ref(draft: _Draft, json: Mapping[str, Any]) -> _Below:
    if not _is_natural(json["ref"]):
        raise _WrongError(f"'ref' holds a whole number from 0, not {quoted(json['ref'])}")
    return _value(draft, json)


_FILLING = {
    ExpressionKind.CALL: _call,
    ExpressionKind.READ: _blob,
    ExpressionKind.LIST: _items,
    ExpressionKind.TUPLE: _items,
    ExpressionKind.DICT: _dict,
    ExpressionKind.PAIRS: _pairs,
    ExpressionKind.DTYPE: _value,
    ExpressionKind.FUNCTION: _function,
    ExpressionKind.JSON: _value,
    ExpressionKind.PYTHON: _python,
    ExpressionKind.REF: _ref,
}


#: The prefix as the last member, where writers put it. In what is JSON as a whole, the comma before its name
#: cannot stand in a text: the quote that follows would end that.
_PREFIX = re.compile(
    rb',[ \t\r\n]*"prefix"[ \t\r\n]*:[ \t\r\n]*"([^"\\\x00-\x1f]*+)"[ \t\r\n]*\}[ \t\r\n]*\Z'
)
#: Whole numbers that are plain values of a schema, and what stands before them: in a text there would be no
#: such quotes.
_BEFORE_NUMBER = b'{"json": '
_NUMBER = re.compile(rb'\{"json": (0|[1-9][0-9]{0,17})(?=[,}])')
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
                old = made[place]
                made[place] = Expression(
                    old.number,
                    old.id,
                    old.kind,
                    old.pointer,
                    number,
                    old.children,
                    old.named,
                    old.is_absolute,
                    old.error,
                )
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
            _BEFORE_NUMBER + b"%d" % mark + piece for mark, piece in zip(marks, self.pieces[1:], strict=True)
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
