"""A comparison in words: rows that the command line, reports and the window share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from refbrowser.engine.comparing.differences import (
    ArrayComparison,
    ChunkComparison,
    ChunkState,
    ChunkValues,
    Comparison,
    Difference,
    DifferenceKind,
    Equality,
    Extreme,
    ValueComparison,
)
from refbrowser.references.edits.compare import Side
from refbrowser.references.text.typed_values import from_difference
from refbrowser.views.words import index_text
from refbrowser.words import counted

#: Characters before the place where two texts part.
LEAD = 24
#: What one difference of a kind is about.
_WHAT = {
    DifferenceKind.GROUP: "group",
    DifferenceKind.ARRAY: "array",
    DifferenceKind.ATTRIBUTE: "attribute",
    DifferenceKind.TEMPLATE: "template",
    DifferenceKind.MEMBER: "member",
    DifferenceKind.KEY: "key",
    DifferenceKind.RULE: "gen",
    DifferenceKind.DIMENSION: "dimension",
}
#: What equality is told by, the surest first.
_EQUAL = {
    Equality.SAME_BYTES: "the same bytes",
    Equality.SAME_REFERENCES: "the same references",
    Equality.ALL_VALUES: "the same values, all compared",
    Equality.SAMPLE: "the same values in a sample",
    Equality.IGNORED: "the same structure and metadata, references and values ignored",
}
#: Chunks with values that differ that are told one by one.
CHUNKS = 10
#: Names that say by themselves what they are.
_PLAIN = ("dimensions", "the order of the rules", "version", "renamed")


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One difference as it is shown.

    Attributes
    ----------
    what
        What differs: ``attribute units``, ``chunk shape``, ``references``.
    here, there
        Both texts whole, but for what they have in common at the beginning; empty where it is not.
    note
        What it means.
    """

    what: str
    side: Side
    here: str = ""
    there: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ComparedNode:
    """All that differs in one node, or in the documents (`path` is empty)."""

    path: str
    rows: tuple[ComparedRow, ...]


def nodes_of(comparison: Comparison) -> tuple[ComparedNode, ...]:
    """Return what differs, node by node, the documents first."""
    rows: dict[str, list[ComparedRow]] = {"": []}
    for each in comparison.differences:
        rows.setdefault(each.path, []).append(row_of(each))
    for array in comparison.arrays:
        found = [*reference_rows(array.chunks), *value_rows(array.values), *_untold(array)]
        if found:
            rows.setdefault(array.path, []).extend(found)
    return tuple(ComparedNode(path, tuple(found)) for path, found in rows.items() if found)


def _untold(array: ArrayComparison) -> Iterator[ComparedRow]:
    """Yield why nothing tells whether an array is the same, where its values were not read."""
    if array.values is None and array.verdict is Equality.NOT_COMPARED:
        yield ComparedRow("values", Side.BOTH, note=untold_words(array.chunks))


def untold_words(chunks: ChunkComparison) -> str:
    """Return why the references of an array do not tell whether it is the same."""
    if chunks.why:
        return f"not compared: {chunks.why}"
    if chunks.apart:
        return (
            f"not compared: {counted(chunks.apart, 'chunk')} in separate files; only their values "
            "can be compared"
        )
    return f"not compared: {counted(chunks.undecided, 'reference')} not decided"


def row_of(difference: Difference) -> ComparedRow:
    """Return a difference of structure, metadata or a document as it is shown."""
    word = _WHAT.get(difference.kind, "")
    name = difference.name
    what = name if name in _PLAIN or not word else f"{word} {name}".strip()
    here, there = difference.here, difference.there
    if difference.side is Side.BOTH:
        here, there = from_difference(here, there, LEAD)
    return ComparedRow(what, difference.side, here, there, difference.note)


def reference_rows(chunks: ChunkComparison) -> Iterator[ComparedRow]:
    """Yield how the references of an array differ: one row of counts, and examples."""
    if not (chunks.different or chunks.undecided):
        return
    yield ComparedRow("references", Side.BOTH, note=chunk_words(chunks))
    for each in chunks.examples:
        if not each.state.differs:
            continue
        here, there = from_difference(each.here, each.there, LEAD)
        name = each.key_here if each.here else each.key_there
        side = {ChunkState.ONLY_HERE: Side.HERE, ChunkState.ONLY_THERE: Side.THERE}.get(each.state, Side.BOTH)
        yield ComparedRow(name, side, here, there, each.state.words)


def chunk_words(chunks: ChunkComparison) -> str:
    """Return in words how many chunks are in which state."""
    if chunks.why:
        return f"not compared: {chunks.why}"
    counts = (
        (count, state)
        for state, count in chunks.counts.items()
        if count and state is not ChunkState.UNDECIDED
    )
    words = [f"{count:,} {state.words}" for count, state in counts]
    if chunks.undecided:
        words.append(f"{chunks.undecided:,} not decided ({chunks.checked:,} checked)")
    if chunks.faulty_here or chunks.faulty_there:
        words.append(f"that cannot be read: {chunks.faulty_here:,} here, {chunks.faulty_there:,} there")
    return ", ".join(words) or "no chunks"


def value_rows(values: ValueComparison | None) -> Iterator[ComparedRow]:
    """Yield how the values of an array differ, and what could not be compared."""
    if values is None:
        return
    if values.why:
        yield ComparedRow("values", Side.BOTH, note=f"not compared: {values.why}")
        return
    if values.different or values.has_stale:
        yield ComparedRow("values", Side.BOTH, note=value_words(values))
    if values.different:
        told = (
            ("largest difference", values.absolute, True),
            ("largest relative difference", values.relative, True),
            ("first difference", values.first, values.absolute is None),
        )
        for name, extreme, wanted in told:
            if extreme is not None and wanted:
                yield _extreme_row(name, extreme)
        yield from _chunk_rows(values)
    if values.unread_here or values.unread_there:
        counts = f"{values.unread_here:,} elements here, {values.unread_there:,} there"
        why = f": {values.errors[0]}" if values.errors else ""
        yield ComparedRow("values that cannot be read", Side.BOTH, note=f"{counts}{why}")


def value_words(values: ValueComparison) -> str:
    """Return in words how many elements differ, and of how many."""
    if values.why:
        return f"not compared: {values.why}"
    share = " in a sample" if values.is_sample else ""
    words = [f"{values.different:,} of {values.compared:,} elements differ{share}"]
    if values.is_decoded:
        words.append("physical values, as the sides pack them differently")
    if values.nan_here or values.nan_there:
        words.append(f"no number: {values.nan_here:,} here alone, {values.nan_there:,} there alone")
    if values.absent_here or values.absent_there:
        equal = f", of which {values.absent_equal:,} are equal" if values.absent_equal else ""
        words.append(
            f"in chunks that are not stored: {values.absent_here:,} here alone, "
            f"{values.absent_there:,} there alone{equal}"
        )
    if values.has_stale:
        counts = f"{values.stale_here:,} here, {values.stale_there:,} there"
        words.append(f"of files that differ from the lock: {counts}")
    return "; ".join(words)


def _chunk_rows(values: ValueComparison) -> Iterator[ComparedRow]:
    """Yield in how many chunks values differ, and of the first ones, by how much."""
    if values.chunks_different < 2:
        return
    more = " or more" if values.has_more_chunks else ""
    note = f"{values.chunks_different:,}{more}, those that differ most first"
    yield ComparedRow("chunks with values that differ", Side.BOTH, note=note)
    for each in values.chunks[:CHUNKS]:
        yield ComparedRow(f"chunk {index_text(each.coords)}", Side.BOTH, note=chunk_values_words(each))
    left = values.chunks_different - CHUNKS
    if left > 0:
        yield ComparedRow(f"and {left:,} more", Side.BOTH)


def chunk_values_words(chunk: ChunkValues) -> str:
    """Return in words how many values of a chunk differ, and by how much at most."""
    amount = f"by up to {chunk.amount:.6g} " if chunk.amount else ""
    return f"{counted(chunk.different, 'value')}, {amount}at {index_text(chunk.index)}"


def _extreme_row(name: str, extreme: Extreme) -> ComparedRow:
    amount = f"{extreme.amount:.6g} " if extreme.amount else ""
    note = f"{amount}at {index_text(extreme.index)}"
    return ComparedRow(name, Side.BOTH, extreme.here, extreme.there, note)


def summary_of(comparison: Comparison) -> str:
    """Return in one sentence whether both are equal and what tells so, or how much differs."""
    open_ends = _open_ends(comparison)
    if comparison.is_equal is None:
        return "; ".join(["Nothing differs in what was compared", *open_ends]) + "."
    if comparison.is_equal:
        found = comparison.verdicts
        told = [(verdict, found[verdict]) for verdict in _EQUAL if found.get(verdict)]
        if len(told) > 1:
            basis = ", ".join(f"{_EQUAL[verdict]} of {counted(count, 'array')}" for verdict, count in told)
        else:
            basis = _EQUAL[told[0][0]] if told else "the same structure and metadata"
        return "; ".join([f"Equal: {basis}", *open_ends]) + "."
    words = []
    if comparison.differences:
        words.append(counted(len(comparison.differences), "difference") + " of structure and metadata")
    if comparison.chunks_different:
        words.append(counted(comparison.chunks_different, "reference"))
    if comparison.values_different:
        words.append(counted(comparison.values_different, "value"))
    return "; ".join([f"They differ: {', '.join(words)}", *open_ends]) + "."


def _open_ends(comparison: Comparison) -> list[str]:
    """Return in words what was not compared."""
    unread = sum(1 for each in comparison.arrays if each.values is not None and not each.values.is_complete)
    unlooked = comparison.verdicts.get(Equality.NOT_COMPARED, 0) - unread
    found = []
    if comparison.undecided:
        found.append(f"{counted(comparison.undecided, 'reference')} not decided")
    if unread:
        found.append(f"{counted(unread, 'array')} could not be compared in values")
    if unlooked > 0:
        found.append(f"values of {counted(unlooked, 'array')} not compared")
    return found


def compared_of(arrays: Iterable[ArrayComparison]) -> str:
    """Return in words what of the arrays was compared."""
    found = list(arrays)
    references = sum(each.chunks.compared for each in found)
    read = [each.values for each in found if each.values is not None and each.values.compared]
    words = [f"{counted(len(found), 'array')} in both"]
    if references:
        words.append(f"{counted(references, 'reference')} compared")
    if read:
        share = " in a sample" if any(each.is_sample for each in read) else ""
        words.append(f"{counted(sum(each.compared for each in read), 'value')} compared{share}")
    return ", ".join(words)
