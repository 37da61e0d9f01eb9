"""Every fault and warning of a document but those of its rules, each with pointer, line and column.

Among them keys that some file systems cannot tell apart, and keys that are file and folder at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import (
    BYTE_ORDER_MARK,
    CONSOLIDATED_DIFFERS,
    KEY_IS_FOLDER,
    KEY_REPEATED,
    MEMBER_REPEATED,
    MEMBER_UNKNOWN,
    NAMES_ALIKE,
    NOT_FINITE,
    TEMPLATE_FAULTY,
    VERSION_MISSING,
)
from refbrowser.references.content.chunk_codes import BITS, Group, join_key, pack, split_key, unpack_many
from refbrowser.references.content.consolidated import MetadataWarning, metadata_findings
from refbrowser.references.content.content import DocumentContent, ReferenceText
from refbrowser.references.content.expansion_faults import faulty_templates, wrong_members
from refbrowser.references.content.finding_places import (
    AnyPositions,
    Found,
    found_error,
    placed,
    positions_of,
)
from refbrowser.references.content.refs import References
from refbrowser.references.content.table import ReferenceTable
from refbrowser.references.text.json_text import Member, Node, NodeKind, pointer


def folded(text: str) -> str:
    """Return the form that is equal for texts which differ only in case or normalisation."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def equal_keys(refs: References) -> Iterator[tuple[str, str]]:
    """Yield keys that differ from an earlier one only in case or normalisation, with that earlier one."""
    seen: dict[str, str] = {}
    for key, _ in refs.odd_keys():
        earlier = seen.setdefault(folded(key), key)
        if earlier != key:
            yield key, earlier
    groups: dict[Group, Group] = {}
    for group in _groups(refs):
        earlier_group = groups.setdefault((folded(group[0]), group[1]), group)
        if earlier_group != group:
            yield from _equal_chunks(refs, group, earlier_group)


def _groups(refs: References) -> list[Group]:
    found = dict.fromkeys(refs.table.groups[1:])
    for patch in (*refs.replaced.values(), *refs.appended.values()):
        parts = split_key(patch.key)
        if parts is not None and pack(parts[1]) is not None:
            found[parts[0]] = None
    return list(found)


def _equal_chunks(refs: References, group: Group, earlier: Group) -> Iterator[tuple[str, str]]:
    both = [refs.table.rows_of(one) for one in (group, earlier)]
    if both[0] is None or both[1] is None:
        return
    codes = [rows.codes(refs.table.code) for rows in both if rows is not None]
    for code in np.intersect1d(codes[0], codes[1]).tolist():
        key, other = join_key(group, code), join_key(earlier, code)
        if refs.find_slot(key) is not None and refs.find_slot(other) is not None:
            yield key, other


def files_that_are_folders(refs: References) -> Iterator[str]:
    """Yield keys below which other keys stand."""
    folders: dict[str, None] = {}
    groups = _groups(refs)
    for group in groups:
        _note_folders(group[0], folders)
    odd = dict(refs.odd_keys())
    for key in odd:
        _note_folders(key[: key.rfind("/") + 1], folders)
    for folder in folders:
        if folder in odd or (split_key(folder) is not None and refs.find_slot(folder) is not None):
            yield folder
    for group in groups:
        if group[1] == "/":
            yield from _shorter_chunks(refs, group)


def _note_folders(path: str, folders: dict[str, None]) -> None:
    """Note the folder that `path` (ending in ``/``) is, and those above it."""
    while path:
        path = path[:-1]
        if path in folders:
            return
        folders[path] = None
        path = path[: path.rfind("/") + 1]


def _shorter_chunks(refs: References, group: Group) -> Iterator[str]:
    """Yield chunk keys ``a/0`` of a group that has ``a/0/1`` too."""
    rows = refs.table.rows_of(group)
    if rows is None:
        return
    codes = rows.codes(refs.table.code)
    # They rise, and the number of coordinates stands on top.
    if not len(codes) or codes[0] >> np.uint64(BITS) == codes[-1] >> np.uint64(BITS):
        return
    # Not `np.unique`, which imports masked arrays: each command that looks for findings would load them.
    sizes = np.flatnonzero(np.bincount((codes >> np.uint64(BITS)).astype(np.intp))).tolist()
    for longer in sizes:
        columns = unpack_many(codes[codes >> np.uint64(BITS) == longer], int(longer))
        for shorter in sizes:
            if shorter >= longer:
                break
            heads = np.unique(np.stack(columns[: int(shorter)], axis=1), axis=0)
            for coords in heads.tolist():
                key = group[0] + "/".join(map(str, coords))
                if refs.find_slot(key) is not None:
                    yield key


#: Findings listed one by one; the last one tells how many more there are.
MOST = 10_000

_KNOWN_TOP = frozenset({"version", "templates", "gen", "refs"})
_KNOWN_RULE = frozenset({"key", "url", "offset", "length", "dimensions"})
_KNOWN_RANGE = frozenset({"start", "stop", "step"})


def document_findings(document: DocumentContent) -> tuple[Finding, ...]:
    """Return the findings of the top level, the templates and refs, in that order."""
    found: list[Found] = []
    more = 0
    for item in _all(document):
        if len(found) < MOST:
            found.append(item)
        else:
            more += item.count
    findings = placed(document, found)
    if more:
        findings[-1] = replace(findings[-1], count=findings[-1].count + more)
    return (*document.noted(), *findings)


def _all(document: DocumentContent) -> Iterator[Found]:
    positions = positions_of(document)
    if isinstance(document, ReferenceText):
        yield from _top(document)
    yield from wrong_members(document, positions)
    if isinstance(document, ReferenceText) and document.version == 1 and not document.is_made:
        yield from _odd(document, positions)
    yield from faulty_templates(document, positions)
    yield from _entries(document, positions)
    if not document.has_keys:
        # It has no keys and no JSON.
        yield from _alike_nodes(document, positions)
        return
    for key, other in equal_keys(document.refs):
        message = f"the key differs from {quoted(other)} only in case or in the form of its characters"
        yield _about_key(document, positions, key, message, NAMES_ALIKE)
    for key in files_that_are_folders(document.refs):
        message = "the key is a file and, for other keys, a folder"
        yield _about_key(document, positions, key, message, KEY_IS_FOLDER)
    faults, warnings = metadata_findings(document)
    for key, kind, message in faults:
        found = _about_key(document, positions, key, message, None)
        yield replace(found, severity=Severity.FAULT, kind=kind)
    for warning in warnings:
        what = None if warning.counts is None else CONSOLIDATED_DIFFERS
        found = _about_key(document, positions, warning.key, warning.message, what)
        yield replace(found, kind=ErrorKind.META, fix=_consolidation(warning))


def _alike_nodes(document: DocumentContent, positions: AnyPositions) -> Iterator[Found]:
    """Yield nodes whose names some file systems cannot tell apart, each once."""
    told: set[str] = set()
    for key, other in equal_keys(document.refs):
        path, like = key.rpartition("/")[0], other.rpartition("/")[0]
        if path not in told:
            told.add(path)
            message = (
                f"the name differs from {quoted(f'/{like}')} only in case or in the form of its characters"
            )
            yield _about_key(document, positions, key, message, NAMES_ALIKE)


def _consolidation(warning: MetadataWarning) -> Any:
    """Return the edit that repeats in the consolidated metadata what counts, where that is missing."""
    if warning.counts is None:
        return None
    from refbrowser.references.edits.edits import Compound, SetMetadata

    title = f"Take {warning.counts} over into the consolidated metadata"
    return Compound(title, (SetMetadata(warning.counts, warning.json),))


def _about_key(
    document: DocumentContent, positions: AnyPositions, key: str, message: str, what: FindingKind | None
) -> Found:
    slot = document.refs.find_slot(key)
    position = None if slot is None else positions.entry(slot)
    where = document.key_pointer(key)
    return Found(Severity.WARNING, ErrorKind.REF, message, where, position, key=key, what=what)


def _top(document: ReferenceText) -> Iterator[Found]:
    if document.mark:
        message = "the document begins with a byte-order mark"
        yield Found.of(BYTE_ORDER_MARK, message, "", 0)
    if document.version_missing:
        from refbrowser.references.edits.edits import SetVersion

        message, advice = "the version is missing", 'Add "version": 1.'
        yield Found.of(VERSION_MISSING, message, "", document.node.start, advice, fix=SetVersion(1))


def _odd(document: ReferenceText, positions: AnyPositions) -> Iterator[Found]:
    """Yield what is odd about members, whatever they hold: doubled, unknown, not JSON."""
    for parts, node in _walk(document.node, ()):
        where = positions.outer(node.start)
        if node.kind is NodeKind.OBJECT:
            for member, message, kind in _odd_members(parts, node):
                at = positions.outer(member.start)
                yield Found.of(kind, message, pointer(*parts, member.key), at, rule=_rule_of(parts))
        elif node.kind is NodeKind.NOT_FINITE:
            message = "NaN and Infinity are not JSON"
            yield Found.of(NOT_FINITE, message, pointer(*parts), where)


def _walk(node: Node, parts: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    pending = [(parts, node)]
    while pending:
        parts, node = pending.pop()
        yield parts, node
        inner = [((*parts, member.key), member.value) for member in node.members]
        inner += [((*parts, number), item) for number, item in enumerate(node.items)]
        pending.extend(reversed(inner))


def _rule_of(parts: tuple[str | int, ...]) -> int | None:
    return parts[1] if len(parts) > 1 and parts[0] == "gen" and isinstance(parts[1], int) else None


def _odd_members(parts: tuple[str | int, ...], node: Node) -> Iterator[tuple[Member, str, FindingKind]]:
    known = None
    if not parts:
        known = _KNOWN_TOP
    elif len(parts) == 2 and parts[0] == "gen":
        known = _KNOWN_RULE
    elif len(parts) == 4 and parts[0] == "gen" and parts[2] == "dimensions":
        known = _KNOWN_RANGE
    seen: set[str] = set()
    for member in node.members:
        if member.key in seen:
            message = f"the member {quoted(member.key)} occurs more than once: the last one wins"
            yield member, message, MEMBER_REPEATED
        elif known is not None and member.key not in known:
            message = f"the member {quoted(member.key)} is not in the specification: it is kept"
            yield member, message, MEMBER_UNKNOWN
        seen.add(member.key)


def _entries(document: DocumentContent, positions: AnyPositions) -> Iterator[Found]:
    """Yield what is wrong with entries; the last one stands for all that follow, where these are many."""
    refs = document.refs
    table = refs.table
    repeated = _repeated(refs)
    is_odd = np.zeros(len(table), bool)
    is_odd[table.flagged] = True
    if document.urls.faults:
        is_odd |= np.isin(table.url, list(document.urls.faults))
    is_odd[[row for row in (*refs.replaced, *repeated) if row >= 0]] = True
    is_odd[refs.removed] = False
    slots = [*np.flatnonzero(is_odd).tolist(), *(-2 - number for number in range(len(refs.appended)))]
    told = 0
    for number, slot in enumerate(slots):
        for item in _entry(document, positions, slot, repeated.get(slot)):
            told += 1
            if told > MOST:
                yield replace(item, count=item.count + len(slots) - 1 - number)
                return
            yield item


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A key that occurs `times`; `keys` is how many keys this one stands for."""

    times: int
    keys: int = 1


def _repeated(refs: References) -> dict[int, _Repeated]:
    """Return keys that occur more than once by their second slot; the last may stand for more."""
    found: dict[int, _Repeated] = {}
    seen: set[int] = set()
    duplicates = refs.table.duplicates
    for number, row in enumerate(duplicates.tolist()):
        if row in seen:
            continue
        slots = refs.all_slots(refs.key_of(row))
        seen.update(slots)
        if len(slots) < 2:
            continue
        found[slots[1]] = _Repeated(len(slots))
        if len(found) > MOST:
            found[slots[1]] = _Repeated(len(slots), _count_keys(refs.table, duplicates[number:]))
            break
    return found


def _count_keys(table: ReferenceTable, rows: npt.NDArray[np.int64]) -> int:
    """Return how many different keys rows have."""
    groups, codes = table.group.of(rows), table.code[rows]
    order = np.lexsort((codes, groups))
    differs = (np.diff(groups[order]) != 0) | (np.diff(codes[order]) != 0)
    return 1 + int(np.count_nonzero(differs))


def _entry(
    document: DocumentContent, positions: AnyPositions, slot: int, repeated: _Repeated | None
) -> Iterator[Found]:
    refs = document.refs
    key = refs.key_of(slot)
    where = document.key_pointer(key)
    if repeated is not None:
        times = "more than once" if repeated.times == 2 else f"{repeated.times:,} times"
        message = f"the key {quoted(key)} occurs {times}: the last one wins"
        from refbrowser.references.edits.many_edits import RemoveRepeated

        yield Found.of(
            KEY_REPEATED, message, where, positions.entry(slot), key=key, fix=RemoveRepeated(key),
            count=repeated.keys,
        )  # fmt: skip
    value = refs.value(slot)
    for issue in value.issues:
        # How bytes are spelled in a text that was made here is odd to nobody.
        if document.is_made and issue.severity is Severity.WARNING:
            continue
        yield Found(
            issue.severity, issue.kind, issue.message, where + issue.below, positions.issue(slot, issue),
            issue.advice, key, what=issue.what,
        )  # fmt: skip
    if value.fault is None and value.url:
        try:
            document.view.reference(slot)
        except RefbrowserError as error:
            yield found_error(error, f"{where}/0", positions.entry(slot), TEMPLATE_FAULTY, key)
