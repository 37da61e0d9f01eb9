"""The expressions of an Awkward 0 file as a graph: nodes, verdicts, and the arrays they made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from refbrowser.io.archives.entries import LOCAL_HEADER
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.views.hierarchy import is_buffer
from refbrowser.views.words import one_line
from refbrowser.wings.awkward0.files.container import ZipContainer
from refbrowser.wings.awkward0.layouts.functions import (
    DECOMPRESSORS,
    AllowList,
    ExpressionKind,
    Standing,
    canonical_name,
    judge,
)
from refbrowser.wings.awkward0.layouts.layouts import ChunkedLayout, RecordLayout
from refbrowser.wings.awkward0.reading.arrays import blob_finder
from refbrowser.wings.awkward0.reading.buffers import buffer_arrays
from refbrowser.wings.awkward0.reading.naming import schema_name
from refbrowser.wings.awkward0.rows.layout_values import LayoutValues
from refbrowser.words import count_text, counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.model.nodes import Hierarchy, Node
    from refbrowser.wings.awkward0.files.container import Blob, Container
    from refbrowser.wings.awkward0.layouts.functions import Expression, SchemaDocument, Verdict
    from refbrowser.wings.awkward0.layouts.layouts import Layout
    from refbrowser.wings.awkward0.reading.arrays import Awkward0Array
    from refbrowser.wings.awkward0.reading.opening import Awkward0Origin


_CONTENT = "content"
_MASKED = ("maskedwhen",)
_METHODS = {
    "fromcounts": ("counts", _CONTENT),
    "fromoffsets": ("offsets", _CONTENT),
    "fromparents": ("parents", _CONTENT, "length"),
    "fromuniques": ("uniques", _CONTENT),
    "fromlocalindex": ("index", _CONTENT, "validate"),
    "fromiter": ("iterable",),
    "fromregular": ("regular",),
    "fromfolding": (_CONTENT, "size"),
    "fromjagged": ("jagged",),
    "frompairs": ("pairs", "rowstart"),
    "fromview": ("view", "base"),
    "fromrec": ("recarray",),
    "fromtags": ("tags", "contents"),
    "fromcontent": (_CONTENT, *_MASKED),
    "fromboolmask": ("mask", _CONTENT, *_MASKED, "lsborder"),
    "fromnumpy": ("array",),
    "fromstr": ("text",),
    "from_ptetaphim": ("pt", "eta", "phi", "mass"),
}
_LISTS = ("starts", "stops", _CONTENT)
_NAMES = {
    "frombuffer": ("buffer", "dtype", "count", "offset"),
    "json2type": ("type", "whitelist"),
    "topython": ("pickle",),
    "JaggedArray": _LISTS,
    "ByteJaggedArray": (*_LISTS, "dtype"),
    "ByteJaggedArray.fromcounts": ("counts", _CONTENT, "dtype"),
    "ByteIndexedArray": ("index", _CONTENT, "dtype"),
    "Table": ("columns",),
    "UnionArray": ("tags", "index", "contents"),
    "MaskedArray": ("mask", _CONTENT, *_MASKED),
    "BitMaskedArray": ("mask", _CONTENT, *_MASKED, "lsborder"),
    "BitMaskedArray.fromcontent": (_CONTENT, *_MASKED, "lsborder"),
    "IndexedMaskedArray": ("mask", _CONTENT, *_MASKED),
    "IndexedArray": ("index", _CONTENT),
    "SparseArray": ("length", "index", _CONTENT, "default"),
    "ChunkedArray": ("chunks", "chunksizes"),
    "AppendableArray": ("chunkshape", "dtype", "chunks"),
    "ObjectArray": (_CONTENT, "generator", "args", "kwargs"),
    "StringArray": (*_LISTS, "encoding"),
    "VirtualArray": ("generator", "args", "kwargs", "cache", "persistentkey", "type", "nbytes"),
    "TVector2Array.from_cartesian": ("x", "y"),
    "TVector3Array.from_cartesian": ("x", "y", "z"),
    "TLorentzVectorArray.from_cartesian": ("x", "y", "z", "t"),
}


def parameter_names(function: str | None) -> tuple[str, ...]:
    """Return the names of the positional arguments of a function, by its canonical name; none if unknown."""
    if function is None:
        return ()
    if function.endswith(".decompress"):
        return ("data",)
    found = _NAMES.get(function)
    if found is None:
        kind, _, method = function.partition(".")
        found = _METHODS.get(method, ())
        return (*found, "encoding") if kind == "StringArray" else found
    return found


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
                return counted_spaced(count, "item")
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
            return f"id {value_text(value)}, which does not exist"
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


def graph_of(origin: Awkward0Origin, array: Awkward0Array) -> ExpressionGraph:
    """Return the expressions of an array.

    Raises
    ------
    RefbrowserError
        Its schema cannot be read.
    """
    schema = array.schema
    if schema is None:
        assert array.error is not None
        raise array.error
    built = {} if array.built is None else array.built.by_number
    errors: dict[int, BaseException] = {
        number: error
        for number, layout in built.items()
        if (error := getattr(layout, "error", None)) is not None
    }
    if array.built is None and array.error is not None:
        errors[0] = array.error
    find_blob = blob_finder(origin.container, schema_name(array.member, schema.prefix))

    def find_start(name: str) -> int | None:
        blob = find_blob(name)
        return None if blob is None else _start(origin.container, blob.name)

    allowed = AllowList.of_texts(origin.options.allow_functions)
    made = [] if array.layout is None else buffer_arrays(array.layout)
    buffers = {each.layout.number: each.name for each in made}
    return ExpressionGraph(schema, array.name, array.path, allowed, errors, find_blob, buffers, find_start)


def _start(container: Container, name: str) -> int | None:
    """Return where the data of a member of an archive begin; None where only its local header can tell."""
    if not isinstance(container, ZipContainer):
        return None
    directory = container.directory
    row = directory.find(name)
    if row is None or directory.error(row) is not None:
        return None
    known = container.access.memory.archives.data_start(directory.url, row)
    member = directory.member(row)
    if known is not None:
        return known
    start = member.start + LOCAL_HEADER + len(member.raw_name)
    # Nothing fits in between: the header has no extra fields.
    return start if start + member.compressed == member.stop else None


def number_of_node(graph: ExpressionGraph, node: Node) -> int | None:
    """Return the expression that makes a node; None where the node is none of the graph's."""
    if node.path == graph.path:
        return 0
    if not node.path.startswith(f"{graph.path}/"):
        return None
    if isinstance(node, GroupNode):
        return None
    if is_buffer(node):
        return next((number for number, name in graph.buffers.items() if name == node.name), None)
    if node.nested is None or not isinstance(node.nested, LayoutValues):
        return None
    return _number_of_values(node.nested)


def _number_of_values(values: LayoutValues) -> int | None:
    """Return the expression that makes the values of a field: what its records have under that name."""
    layout: Layout | None = values.layout
    for name in values.fields:
        while layout is not None and not isinstance(layout, RecordLayout):
            if isinstance(layout, ChunkedLayout):
                layout = next(iter(layout.chunks), None)
            else:
                layout = getattr(layout, "content", None)
        layout = None if layout is None else dict(layout.fields).get(name)
    return None if layout is None else layout.number


def node_of_expression(graph: ExpressionGraph, hierarchy: Hierarchy, number: int) -> ArrayNode | None:
    """Return the array that shows what an expression makes, or gives its bytes to; None where none does."""
    whole = hierarchy.find(graph.path)
    parts = _group_at(hierarchy, graph.path)
    basic = graph.basic_array(number)
    name = "" if basic is None else graph.buffers.get(basic, "")
    if parts is not None and name in parts.arrays:
        return parts.arrays[name]
    if number != 0 and basic is None and parts is not None:
        return next((each for each in _below(parts) if number_of_node(graph, each) == number), None)
    return whole if isinstance(whole, ArrayNode) and 0 in (number, basic) else None


def _below(group: GroupNode) -> list[ArrayNode]:
    found = [array for array in group.arrays.values() if not is_buffer(array)]
    for child in group.groups.values():
        found += _below(child)
    return found


def _group_at(hierarchy: Hierarchy, path: str) -> GroupNode | None:
    """Return the group at a path, also where there is an array of the same path."""
    group = hierarchy.root if isinstance(hierarchy.root, GroupNode) else None
    for part in filter(None, path.split("/")):
        group = None if group is None else group.groups.get(part)
    return group
