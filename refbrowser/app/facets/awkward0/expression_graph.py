"""The expressions of one array as a graph: what is below what, which refers to which, and where bytes are.

No Qt here. Every expression has one row, below the one that it is a part of; a `ref` is a row of its own that
leads elsewhere, so that cycles have an end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from refbrowser.app.facets.awkward0.parameter_names import parameter_names
from refbrowser.app.widgets.plain_text import one_line
from refbrowser.app.widgets.theme import count_text, size_text
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.expressions import ExpressionKind
from refbrowser.formats.awkward0.functions import DECOMPRESSORS, Standing, canonical_name, judge
from refbrowser.model.reference import ByteRange, Inline, WholeFile

if TYPE_CHECKING:
    from refbrowser.formats.awkward0.container import Blob
    from refbrowser.formats.awkward0.expressions import Expression, SchemaDocument
    from refbrowser.formats.awkward0.functions import Verdict

#: Characters of a value that a row shows.
_VALUE = 120
#: The call that makes a basic array.
_FROMBUFFER = "frombuffer"
#: What names functions.
_NAMING = (ExpressionKind.CALL, ExpressionKind.FUNCTION)


@dataclass(eq=False)
class ExpressionGraph:
    """One schema, with what its expressions are to each other.

    Attributes
    ----------
    name
        Of the array.
    path
        Of the array in the tree.
    allowed
        What the user allows beside what is always built.
    errors
        Why nothing can be made of an expression, by expression: what only evaluating it tells.
    find_blob
        Returns a blob by its whole name.
    buffers
        Names of the arrays of the tree that show basic arrays, by expression: ``node4-counts``.
    find_start
        Returns at which byte of the file a blob begins, where that is known.
    """

    schema: SchemaDocument
    name: str
    path: str
    allowed: AllowList = field(default_factory=AllowList)
    errors: Mapping[int, BaseException] = field(default_factory=dict)
    find_blob: Callable[[str], Blob | None] = lambda name: None
    buffers: Mapping[int, str] = field(default_factory=dict)
    find_start: Callable[[str], int | None] = lambda name: None

    def __post_init__(self) -> None:
        expressions = self.schema.expressions
        self._above = [-1] * len(expressions)
        self._roles = [""] * len(expressions)
        self._below: list[tuple[int, ...]] = []
        self._referrers: dict[int, list[int]] = {}
        self.verdicts: dict[int, Verdict] = {}
        for each in expressions:
            below = (*each.children, *(number for _, number in each.named))
            self._below.append(below)
            for number, role in zip(below, self._names(each), strict=True):
                self._above[number], self._roles[number] = each.number, role
            if each.kind in _NAMING and each.error is None:
                self.verdicts[each.number] = judge(each.value, self.allowed)
            target = self.target(each.number)
            if target is not None:
                self._referrers.setdefault(target, []).append(each.number)

    def _names(self, each: Expression) -> list[str]:
        if each.kind is ExpressionKind.CALL:
            known = parameter_names(canonical_name(each.value) if each.value else None)
            names = [known[at] if at < len(known) else f"[{at}]" for at in range(len(each.children))]
        else:
            names = [f"[{at}]" for at in range(len(each.children))]
        return [*names, *(name for name, _ in each.named)]

    # Structure

    def __len__(self) -> int:
        return len(self.schema.expressions)

    def expression(self, number: int) -> Expression:
        """Return an expression."""
        return self.schema.expressions[number]

    def above(self, number: int) -> int | None:
        """Return the expression that this one is a part of; None for the root."""
        return None if self._above[number] < 0 else self._above[number]

    def below(self, number: int) -> tuple[int, ...]:
        """Return the parts of an expression, in document order."""
        return self._below[number]

    def row(self, number: int) -> int:
        """Return which part of the one above it an expression is."""
        above = self.above(number)
        return 0 if above is None else self._below[above].index(number)

    def referrers(self, number: int) -> tuple[int, ...]:
        """Return the references that lead to an expression."""
        return tuple(self._referrers.get(number, ()))

    def target(self, number: int) -> int | None:
        """Return the expression that a reference leads to; None where it leads nowhere, or is none."""
        each = self.expression(number)
        if each.kind is not ExpressionKind.REF or not isinstance(each.value, int):
            return None
        return self.schema.by_id.get(each.value)

    def is_cycle(self, number: int) -> bool:
        """Tell whether a reference leads to an expression that it is itself a part of."""
        target, above = self.target(number), self.above(number)
        while above is not None and above != target:
            above = self.above(above)
        return target is not None and above == target

    def basic_array(self, number: int) -> int | None:
        """Return the basic array that an expression is, or gives its bytes to; None where it does neither."""
        at: int | None = number
        while at is not None:
            if self._canonical(at) == _FROMBUFFER:
                return at
            at = self.above(at) if self._is_of_bytes(at) else None
        return None

    def _is_of_bytes(self, number: int) -> bool:
        """Tell whether an expression gives bytes to the one above it: a blob, or one that is unpacked."""
        return self.expression(number).kind is ExpressionKind.READ or self._canonical(number) in DECOMPRESSORS

    def _canonical(self, number: int) -> str | None:
        """Return the function that an expression calls, as the table has it; None where it has not."""
        verdict = self.verdict(number) if self.expression(number).kind is ExpressionKind.CALL else None
        return None if verdict is None else verdict.canonical

    # Blobs

    def blob_name(self, number: int) -> str | None:
        """Return the whole name of the blob that an expression reads; None where it reads none."""
        each = self.expression(number)
        if each.kind is not ExpressionKind.READ or not isinstance(each.value, str):
            return None
        return each.value if each.is_absolute else f"{self.schema.prefix}{each.value}"

    def blob(self, number: int) -> Blob | None:
        """Return the blob that an expression reads, where the file has it."""
        name = self.blob_name(number)
        return None if name is None else self.find_blob(name)

    def codecs(self, number: int) -> tuple[str, ...]:
        """Return what undoes the packing of a blob, in the order of decoding."""
        found = []
        blob, above = self.blob(number), self.above(number)
        if blob is not None and blob.is_packed:
            found.append(f"{blob.method} (archive)")
        while above is not None and self._is_of_bytes(above):
            found.append(DECOMPRESSORS.get(self._canonical(above) or "", ""))
            above = self.above(above)
        return tuple(found)

    def stored(self, number: int) -> str:
        """Return where the bytes of a blob are, how many, and how they are packed; nothing for others."""
        name, blob = self.blob_name(number), self.blob(number)
        if name is None:
            return ""
        if blob is None:
            return "not in the file"
        return ", ".join([place_words(blob, self.find_start(name)), *self.codecs(number)])

    # Words

    def role(self, number: int) -> str:
        """Return what an expression is to the one above it: ``content``, ``[2]``; the array for the root."""
        return one_line(self._roles[number]) if number else one_line(self.name) or "''"

    def verdict(self, number: int) -> Verdict | None:
        """Return whether the function that an expression names is allowed; None where it names none."""
        return self.verdicts.get(number)

    def is_refused(self, number: int) -> bool:
        """Tell whether nothing is made of an expression because of the function that it names."""
        verdict = self.verdict(number)
        return verdict is not None and verdict.standing is Standing.REFUSED

    def error(self, number: int) -> BaseException | None:
        """Return why nothing can be made of an expression; None where something can."""
        return self.expression(number).error or self.errors.get(number)

    def words(self, number: int) -> str:
        """Return what an expression is, short: its function, name, value, or where it leads."""
        each = self.expression(number)
        match each.kind:
            case ExpressionKind.CALL | ExpressionKind.FUNCTION:
                return one_line(".".join(map(str, each.value or ())))
            case ExpressionKind.READ:
                return one_line(self.blob_name(number) or "")
            case ExpressionKind.REF:
                return self._target_words(number)
            case ExpressionKind.LIST | ExpressionKind.TUPLE | ExpressionKind.DICT | ExpressionKind.PAIRS:
                count = len(self.below(number))
                return f"{count_text(count)} item{'' if count == 1 else 's'}"
            case ExpressionKind.PYTHON:
                return "a pickle"
            case ExpressionKind.BROKEN:
                return "not an expression"
        return value_text(each.value)

    def short_words(self, number: int) -> str:
        """Return what an expression is, as its row tells it: without what goes without saying."""
        verdict = self.verdict(number)
        if verdict is not None and verdict.canonical is not None and not self.is_refused(number):
            array = self._array_words(number) if verdict.canonical == _FROMBUFFER else ""
            return f"{verdict.canonical} {array}".rstrip()
        if self.is_refused(number):
            return f"refused: {self.words(number)}"
        stored = self.stored(number)
        return f"{one_line(str(self.expression(number).value))}  {stored}" if stored else self.words(number)

    def _array_words(self, number: int) -> str:
        """Return type and length of a basic array, where they stand in it: ``int64 × 80``."""
        below = self.below(number)
        roles = dict(zip(map(self.role, below), below, strict=True))
        found = []
        for role in ("dtype", "count"):
            at = roles.get(role)
            at = at if at is None else self.target(at) or at
            if at is not None and self.expression(at).kind in (ExpressionKind.DTYPE, ExpressionKind.JSON):
                found.append(self.words(at).strip('"'))
        return " × ".join(found)

    def _target_words(self, number: int) -> str:
        value, target = self.expression(number).value, self.target(number)
        if target is None:
            return f"id {value_text(value)}, which is nowhere"
        is_reference = self.expression(target).kind is ExpressionKind.REF
        what = "a reference" if is_reference else self.short_words(target)
        back = ", a cycle" if self.is_cycle(number) else ""
        return f"id {value}: {what}{back}"

    def facts(self, number: int) -> dict[str, Any]:
        """Return all that is known of an expression, by name."""
        each, verdict, error = self.expression(number), self.verdict(number), self.error(number)
        found: dict[str, Any] = {"Expression": _KINDS[each.kind], "JSON pointer": each.pointer}
        if each.id is not None:
            found["Id"] = each.id
        if each.kind in _NAMING:
            found["Function"] = self.words(number)
        elif each.kind is not ExpressionKind.READ and each.value is not None:
            found["Value"] = self.words(number)
        if verdict is not None:
            found["Permission"] = verdict_words(verdict)
        found |= self._blob_facts(number)
        target = self.target(number)
        if target is not None:
            found["Points to"] = self.expression(target).pointer
        referrers = self.referrers(number)
        if referrers:
            found["Referred to by"] = [self.expression(each).pointer for each in referrers]
        if error is not None:
            found["Error"] = str(error)
            found["What to do"] = getattr(error, "advice", "")
        return {name: value for name, value in found.items() if value != ""}

    def _blob_facts(self, number: int) -> dict[str, Any]:
        name, blob = self.blob_name(number), self.blob(number)
        if name is None:
            return {}
        found: dict[str, Any] = {"Blob": name}
        if blob is None:
            return {**found, "Stored": "not in the file"}
        found["Stored"] = place_words(blob, self.find_start(name))
        found["Packed by the archive"] = "" if blob.method in ("stored", "file", "hdf5") else blob.method
        if blob.size != blob.stored:
            found["Size, unpacked"] = size_text(blob.size)
        codecs = self.codecs(number)
        found["Codecs"] = " → ".join(codecs) if codecs else "none: any part can be read alone"
        if blob.error is not None:
            found["Error"] = str(blob.error)
        return found

    def path_words(self, number: int) -> str:
        """Return the roles from the root to an expression: ``one > content > counts``."""
        parts = [self.role(number)]
        above = self.above(number)
        while above is not None:
            parts.append(self.role(above))
            above = self.above(above)
        return " > ".join(reversed(parts))


_KINDS = {
    ExpressionKind.CALL: "call of a function",
    ExpressionKind.READ: "bytes of a blob",
    ExpressionKind.LIST: "list",
    ExpressionKind.TUPLE: "tuple",
    ExpressionKind.DICT: "names and values",
    ExpressionKind.PAIRS: "names and values, in order",
    ExpressionKind.DTYPE: "type of numbers",
    ExpressionKind.FUNCTION: "function, as a value",
    ExpressionKind.JSON: "plain value",
    ExpressionKind.PYTHON: "pickle of Python",
    ExpressionKind.REF: "reference",
    ExpressionKind.BROKEN: "broken",
}


def verdict_words(verdict: Verdict) -> str:
    """Return whether a function is taken, and why not."""
    return f"{verdict.standing}: {verdict.why}" if verdict.why else str(verdict.standing)


def value_text(value: Any) -> str:
    """Return a plain value as JSON has it, on one line and cut."""
    import json

    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return one_line(text if len(text) <= _VALUE else f"{text[:_VALUE]}…")


def place_words(blob: Blob, start: int | None = None) -> str:
    """Return how many bytes a blob has as it is stored, and where: ``812 B at byte 4,096``.

    Parameters
    ----------
    start
        Where its bytes begin in the file, where its reference does not tell.
    """
    reference, size = blob.reference, size_text(blob.stored)
    if isinstance(reference, ByteRange):
        start = reference.offset
    if start is not None:
        return f"{size} at byte {count_text(start)}"
    if isinstance(reference, WholeFile):
        return f"{size}, a member" if reference.url.startswith("zip:") else f"{size}, a whole file"
    return f"{size} in the document" if isinstance(reference, Inline) else size
