"""The expressions of a schema as they stand there, before anything is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from refbrowser.errors import Finding, RefbrowserError


class ExpressionKind(StrEnum):
    """The identifying keys."""

    CALL = "call"
    READ = "read"
    LIST = "list"
    TUPLE = "tuple"
    DICT = "dict"
    PAIRS = "pairs"
    DTYPE = "dtype"
    FUNCTION = "function"
    JSON = "json"
    PYTHON = "python"
    REF = "ref"
    #: None of them, or several: `Expression.error` tells.
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """One expression.

    Attributes
    ----------
    number
        Its place in document order, from 0: the root's.
    id
        As the schema numbers it; None where it does not.
    pointer
        JSON pointer in the schema (``/schema/args/0``).
    value
        What the identifying key holds, where that is no expressions: the function of a call as a tuple of
        text, the name to read, JSON, the base-64 text of a pickle, the id referred to.
    children
        Numbers of the expressions right below: positional arguments, items.
    named
        Numbers of those that have names: keyword arguments, entries of ``dict`` and ``pairs``, in order.
    is_absolute
        Of ``read``: the name is used as it is.
    error
        Why nothing can be made of it, as far as it alone tells.
    """

    number: int
    id: int | None
    kind: ExpressionKind
    pointer: str
    value: Any = None
    children: tuple[int, ...] = ()
    named: tuple[tuple[str, int], ...] = ()
    is_absolute: bool = False
    error: RefbrowserError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SchemaDocument:
    """One schema: the description of one array (serialization text, "Top level object").

    Attributes
    ----------
    signature
        The field that was found: ``awkward0`` or ``awkward``.
    version
        What it says: the version of the library that wrote it; for people.
    metadata
        Any JSON; None where there is none.
    prefix
        Of the names of blobs.
    expressions
        All of them by number, the root first.
    by_id
        Number of the expression of each id; of an id that was given twice, the last.
    text
        The bytes that were read.
    findings
        What is wrong or odd.
    shape
        The same of all schemas that differ in prefix and plain whole numbers alone; None where nobody looked.
    """

    signature: str
    version: str
    expressions: tuple[Expression, ...]
    by_id: dict[int, int] = field(default_factory=dict)
    prefix: str = ""
    doc: str = ""
    metadata: Any = None
    text: bytes = b""
    findings: tuple[Finding, ...] = ()
    shape: object = None

    @property
    def root(self) -> Expression:
        """The expression of the array."""
        return self.expressions[0]
