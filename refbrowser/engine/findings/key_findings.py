"""Keys, rules and templates against the arrays of a document: what is there and is of no use."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.findings.range_findings import TOLD
from refbrowser.errors import Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import (
    KEY_NO_CHUNK,
    NOT_DECIDED,
    RULE_NO_ARRAY,
    RULE_NO_CHUNK,
    SHUFFLE_NO_SIZE,
    TEMPLATE_UNUSED,
)
from refbrowser.formats.expansion_manifest import single_manifests
from refbrowser.model.listing import NO_CHUNK, OUTSIDE, STRAY_KINDS
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.nodes import ArrayNode, Flavour
from refbrowser.references.content.chunk_codes import (
    BITS,
    Group,
    group_of_chunks,
    join_key,
    pack,
    split_key,
    unpack_many,
)
from refbrowser.references.content.finding_places import Found, located, placed, positions_of
from refbrowser.references.rules.integer_expressions import (
    Affine,
    bounds,
    combine,
    count_below_zero,
    first_below_zero,
)
from refbrowser.references.rules.rule_keys import ChunkMatch, match_chunks
from refbrowser.references.rules.rule_search import SearchTime
from refbrowser.references.templates.syntax import uses_in
from refbrowser.references.text.json_text import NodeKind, pointer

if TYPE_CHECKING:
    from refbrowser.formats.expansion_manifest import ExpansionManifest
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.content.content import DocumentContent
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule

#: Keys that one edit of a finding takes away, at most.
_REMOVED = 100_000
#: Rows at each end of a rule that are looked at where arithmetic does not decide.
_END_ROWS = 4096


NO_ARRAY = "the rule gives keys of no array"
NO_CHUNKS = "the rule gives no chunk of its array"
_RULE_KINDS = {NO_ARRAY: RULE_NO_ARRAY, NO_CHUNKS: RULE_NO_CHUNK}


def key_findings(document: Document, hierarchy: Hierarchy, left: SearchTime) -> Iterator[Finding]:
    """Yield keys that are no chunks, rules for no array, and templates that nothing uses.

    Parameters
    ----------
    hierarchy
        Of the document. Without any array no key is judged: what the keys are for is not known.
    left
        The time that there is for URLs that may use a template.
    """
    if document.rules_are_made:
        return
    yield from _unused_templates(document, left)
    arrays = _Arrays(node for node in hierarchy.walk() if isinstance(node, ArrayNode))
    if arrays.manifests:
        yield from placed(document, list(_of_refs(document, arrays, left.cancelled)))
        of_rules: list[Finding] = []
        for rule in document.rules:
            if left.cancelled():
                break
            of_rules += _of_rule(rule, arrays)
        yield from located(document, of_rules)


def codec_findings(hierarchy: Hierarchy) -> Iterator[Finding]:
    """Yield codecs that other software takes for something else; netCDF's own are what NCZarr has."""
    is_netcdf = hierarchy.flavour == Flavour.NCZARR
    nodes = (node for node in hierarchy.walk() if isinstance(node, ArrayNode) and not is_netcdf)
    for node in nodes:
        for codec in node.codecs:
            is_shuffle = codec.name.rpartition(".")[2] == "shuffle"
            if is_shuffle and codec.configuration.get("elementsize") == 0:
                key = node.metadata_keys[0] if node.metadata_keys else None
                yield SHUFFLE_NO_SIZE.finding(
                    "the shuffle has elements of 0 bytes",
                    Place(key=key, path=node.path),
                    advice="it is read as one of the array's type; other software shuffles nothing then",
                )


class _Arrays:
    """The arrays of a document by the beginning of their keys."""

    def __init__(self, nodes: Iterable[ArrayNode]) -> None:
        self.manifests: dict[str, list[ExpansionManifest]] = {}
        #: Folders of arrays of which no chunk is known.
        self._unknown: set[str] = set()
        for node in nodes:
            found = [] if not node.has_manifest else list(single_manifests(node.manifest))
            if not found:
                self._unknown.add(f"{node.path}/".lstrip("/"))
            for manifest in found:
                self.manifests.setdefault(manifest.prefix, []).append(manifest)
        self._numbers = {prefix: number for number, prefix in enumerate(self.manifests)}
        self._sorted, self._sorted_unknown = sorted(self.manifests), sorted(self._unknown)

    def is_unknown(self, text: str) -> bool:
        """Tell whether keys that begin so may be of an array of which nothing is known."""
        return any(folder in self._unknown for folder in _folders(text)) or any(
            _beginning_with(text, self._sorted_unknown)
        )

    def above(self, folder: str) -> list[ExpansionManifest]:
        """Return the manifests of the innermost array that keys in a folder (``a/``) may be chunks of."""
        return next((self.manifests[each] for each in _folders(folder) if each in self.manifests), [])

    def near(self, text: str) -> list[ExpansionManifest]:
        """Return the manifests of the arrays that keys which begin with a text may be chunks of."""
        inner = self.above(text[: text.rfind("/") + 1])
        prefixes = sorted(_beginning_with(text, self._sorted), key=self._numbers.__getitem__)
        below = (manifest for prefix in prefixes for manifest in self.manifests[prefix])
        return [*inner, *(manifest for manifest in below if manifest not in inner)]


def _folders(text: str) -> Iterator[str]:
    """Yield the folders that a text begins with, the inner first: ``a/b/``, ``a/``, empty for the root."""
    end = text.rfind("/") + 1
    while end:
        yield text[:end]
        end = text.rfind("/", 0, end - 1) + 1
    yield ""


def _beginning_with(text: str, rising: list[str]) -> Iterator[str]:
    """Yield the texts of a sorted list that begin with a text."""
    later = (rising[at] for at in range(bisect_left(rising, text), len(rising)))
    return takewhile(lambda each: each.startswith(text), later)


# Entries of refs


def _of_refs(document: Document, arrays: _Arrays, cancelled: Callable[[], bool]) -> Iterator[Found]:
    positions = positions_of(document)
    for prefix, owners in arrays.manifests.items():
        is_scalar = not all(each.grid_shape for each in owners)
        slot = document.refs.find_slot(prefix) if is_scalar else None
        if slot is not None:
            from refbrowser.references.edits.edits import RenameReference

            # VirtualiZarr writes it so.
            meant = prefix + owners[0].encoding.encode(())
            is_free = document.refs.find_slot(meant) is None
            yield Found.of(
                KEY_NO_CHUNK,
                "the key is not a chunk: the array has no dimensions, and reads as its fill value",
                document.key_pointer(prefix),
                positions.entry(slot),
                f"its chunk is {quoted(meant)}",
                key=prefix,
                fix=RenameReference(prefix, meant) if is_free else None,
            )
    for group, codes in chunk_codes(document).items():
        if cancelled():
            return
        owners = arrays.above(group[0])
        if not owners or arrays.is_unknown(group[0]):
            continue
        outside, others = _strays(group, codes, owners)
        for reason, found in ((OUTSIDE, outside), (NO_CHUNK, others)):
            for number, code in enumerate(found[: TOLD + 1].tolist()):
                key = join_key(group, code)
                slot = document.refs.find_slot(key)
                if slot is None:
                    continue
                message, those = reason, found[number : number + 1]
                if number == TOLD:
                    message = f"{reason}; so are {len(found) - TOLD - 1} more below {quoted(group[0])}"
                    those = found[number:]
                yield Found.of(
                    STRAY_KINDS[reason],
                    message,
                    document.key_pointer(key),
                    positions.entry(slot),
                    key=key,
                    fix=_removal(document, group, those),
                    count=len(those),
                )


def _removal(document: Document, group: Group, codes: np.ndarray[Any, np.dtype[np.uint64]]) -> Any:
    """Return the edit that takes keys away, which are no chunks."""
    from refbrowser.references.edits.edits import RemoveReference
    from refbrowser.references.edits.many_edits import RemoveReferences, runs_of

    refs = document.refs
    if len(codes) == 1:
        return RemoveReference(join_key(group, int(codes[0])))
    slots = (refs.find_slot(join_key(group, code)) for code in codes[:_REMOVED].tolist())
    places = np.sort(np.array([refs.position(slot) for slot in slots if slot is not None], np.int64))
    return RemoveReferences(runs_of(places))


def chunk_codes(document: DocumentContent) -> dict[Group, np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    """Return the packed coordinates of all chunk keys of refs, by group."""
    refs, table = document.refs, document.refs.table
    gone = np.concatenate([refs.removed, np.array([*refs.replaced], np.int64)])
    found = {}
    for group in table.groups[1:]:
        rows = table.rows_of(group)
        if rows is not None:
            codes = rows.codes(table.code)
            found[group] = codes[~np.isin(rows.rows(), gone)] if len(gone) else codes
    more: dict[Group, list[int]] = {}
    for patch in (*refs.replaced.values(), *refs.appended.values()):
        parts = split_key(patch.key)
        code = None if parts is None else pack(parts[1])
        if parts is not None and code is not None:
            more.setdefault(parts[0], []).append(code)
    for group, some in more.items():
        column = np.array(some, np.uint64)
        found[group] = np.concatenate([found[group], column]) if group in found else column
    return found


def _strays(
    group: Group, codes: np.ndarray[tuple[int], np.dtype[np.uint64]], owners: list[ExpansionManifest]
) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    """Return the codes of a group that are outside of the grid of its array, and those that are no chunks."""
    is_chunk = np.zeros(len(codes), bool)
    is_outside = np.zeros(len(codes), bool)
    for manifest in owners:
        grid = manifest.grid_shape
        if not grid:
            if manifest.prefix + manifest.encoding.encode(()) == f"{group[0]}0":
                is_chunk |= codes == np.uint64(pack((0,)) or 0)
            continue
        expected = group_of_chunks(manifest.prefix, len(grid), manifest.encoding)
        # Keys that are not written so that their coordinates can be packed are in no group.
        if expected is None or expected[0] != group:
            continue
        size = len(expected[1]) + len(grid)
        fits = (codes >> np.uint64(BITS)) == size
        columns = unpack_many(codes, size)
        for column, number in zip(columns, expected[1], strict=False):
            fits &= column == number
        inside = fits.copy()
        for column, length in zip(columns[len(expected[1]) :], grid, strict=True):
            inside &= column < length
        is_chunk |= inside
        is_outside |= fits & ~inside
    return codes[is_outside & ~is_chunk], codes[~is_outside & ~is_chunk]


# Rules


def _of_rule(rule: GenRule, arrays: _Arrays) -> Iterator[Finding]:
    if not rule.count or rule.fields["key"].faults or is_metadata_key(rule.key or ""):
        return
    static = rule.static_prefix
    if arrays.is_unknown(static):
        return
    near = arrays.near(static)
    if not near:
        yield _about_rule(rule, NO_ARRAY, 0, rule.count)
        return
    pattern = rule.pattern
    matches = [] if pattern is None else [
        match_chunks(pattern, each.prefix, len(each.grid_shape), each.encoding) for each in near
    ]  # fmt: skip
    if not matches or None in matches:
        yield from _of_rows(rule, near)
    elif not any(matches):
        is_inside = any(static.startswith(each.prefix) for each in near)
        yield _about_rule(rule, NO_CHUNKS if is_inside else NO_ARRAY, 0, rule.count)
    else:
        for match, manifest in zip(matches, near, strict=True):
            if isinstance(match, ChunkMatch):
                yield from _of_match(rule, match, manifest)


def _of_match(rule: GenRule, match: ChunkMatch, manifest: ExpansionManifest) -> Iterator[Finding]:
    """Compare the coordinates that a rule gives with the grid of its array."""
    grid = manifest.grid_shape
    for axis, value in match.constants:
        if value >= grid[axis]:
            yield _about_rule(rule, OUTSIDE, 0, rule.count)
            return
    for expression, axis in match.equations:
        reach = bounds(expression, rule.space)
        if reach is not None and reach[1] < grid[axis]:
            continue
        if not isinstance(expression, Affine):
            yield from _of_rows(rule, [manifest])
            return
        rest = combine("-", Affine(grid[axis] - 1), expression)
        assert isinstance(rest, Affine)
        first = first_below_zero(rest, rule.space)
        if first is not None:
            yield _about_rule(rule, OUTSIDE, first, count_below_zero(rest, rule.space) or 1)
            return


def _of_rows(rule: GenRule, near: list[ExpansionManifest]) -> Iterator[Finding]:
    """Look at the rows at both ends of a rule."""
    ends = [range(min(_END_ROWS, rule.count))]
    if rule.count > _END_ROWS:
        ends.append(range(max(_END_ROWS, rule.count - _END_ROWS), rule.count))
    outside: list[int] = []
    strays: list[int] = []
    good = 0
    for rows in ends:
        for row, key in zip(rows, rule.rows(rows.start, rows.stop).keys, strict=True):
            if key is None or is_metadata_key(key):
                good += 1
                continue
            is_chunk = _is_chunk(key, near)
            good += is_chunk is True
            if is_chunk is False:
                outside.append(row)
            elif is_chunk is None:
                strays.append(row)
    checked = sum(map(len, ends))
    if outside:
        yield _about_rule(rule, OUTSIDE, outside[0], len(outside))
    if strays and not good and not outside and checked == rule.count:
        yield _about_rule(rule, NO_ARRAY, 0, rule.count)
    elif checked < rule.count and not outside:
        message = f"whether all keys of the rule are chunks of arrays is not decided ({checked} rows checked)"
        place = Place(rule=rule.index, field="key", pointer=f"/gen/{rule.index}/key")
        yield NOT_DECIDED.finding(message, place)


def _is_chunk(key: str, near: list[ExpansionManifest]) -> bool | None:
    """Tell whether a key is a chunk within the grid of an array, or outside of it; None where it is none."""
    found: bool | None = None
    for manifest in near:
        if not key.startswith(manifest.prefix):
            continue
        grid = manifest.grid_shape
        coords = manifest.encoding.decode(key[len(manifest.prefix) :], len(grid))
        if coords is not None and all(at < length for at, length in zip(coords, grid, strict=True)):
            return True
        found = False if coords is not None else found
    return found


def _about_rule(rule: GenRule, message: str, row: int, count: int) -> Finding:
    from refbrowser.references.edits.outer_edits import RemoveRule

    place = Place(rule=rule.index, field="key", row=row, pointer=f"/gen/{rule.index}/key")
    fix = RemoveRule(rule.index) if message in (NO_ARRAY, NO_CHUNKS) else None
    try:
        key = rule.row(row).key
    except RefbrowserError:
        key = None
    shown = message if key is None else f"{message}: {quoted(key)}"
    kind = _RULE_KINDS.get(message, STRAY_KINDS[OUTSIDE])
    return kind.finding(shown, place, count=count, fix=fix)


# Templates


def _unused_templates(document: Document, left: SearchTime) -> Iterator[Finding]:
    """Yield the templates that neither a URL of refs nor a rule uses."""
    node = document.written().node.member("templates") if document.version == 1 else None
    if node is None or node.kind is not NodeKind.OBJECT:
        return
    faulty = {name for name, _ in document.templates.faults}
    unused = [member.key for member in node.members if member.key not in faulty]
    words = {name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in unused}
    checked = 0
    for text, _ in document.templated():
        if not words or left.is_over:
            break
        checked += 1
        for name in [name for name, word in words.items() if word.search(text) and uses_in(text, name)]:
            del words[name]
    if not words:
        return
    from refbrowser.references.edits.outer_edits import RemoveTemplate

    is_decided = not left.is_over
    message = "the template {} is not used"
    if not is_decided:
        message = f"whether the template {{}} is used is not decided ({checked} texts checked)"
    positions = positions_of(document)
    found = [
        Found.of(
            TEMPLATE_UNUSED if is_decided else NOT_DECIDED,
            message.format(quoted(member.key)),
            pointer("templates", member.key),
            positions.outer(member.start),
            fix=RemoveTemplate(member.key) if is_decided else None,
        )
        for member in node.members
        if member.key in words
    ]
    yield from placed(document, found)
