"""How two documents differ: versions, templates, gen rules, references; counted, with first examples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.references.content.chunk_codes import Group, join_key, pack, split_key
from refbrowser.references.content.content import DocumentContent, ReferenceText
from refbrowser.references.content.reference_values import Value, ValueKind
from refbrowser.references.content.refs import References
from refbrowser.references.content.table import ODD, grid_positions
from refbrowser.references.content.unread_references import changed_by_key
from refbrowser.references.edits.outer_edits import KNOWN_MEMBERS
from refbrowser.references.text.typed_values import from_difference

Codes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]
#: The grids of arrays by the group that their chunk keys are in: coordinates in front of each, and the shape.
Grids = Mapping[Group, Sequence[tuple[tuple[int, ...], tuple[int, ...]]]]

#: Examples of each kind of difference in each part.
EXAMPLES = 5
#: Characters of a value that an example keeps: from the beginning where both are shorter, else from shortly
#: before they differ.
SHOWN = 20_000
_LEAD = 200
#: Entries without a URL (text, large numbers) that are compared by their text.
TEXTS = 100_000
#: Keys that are compared one by one: those that are no chunk keys, and those that were edited.
SINGLE = 200_000


class Side(StrEnum):
    """Where something is that differs."""

    HERE = "here"
    THERE = "there"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Example:
    """One thing that differs: its name, and what it is in each document (empty where it is not)."""

    side: Side
    name: str
    here: str = ""
    there: str = ""


@dataclass(slots=True)
class Part:
    """The differences in one part of the documents.

    Attributes
    ----------
    only_here, only_there, different
        How many.
    skipped
        Entries that were not compared, because there are too many.
    """

    title: str
    only_here: int = 0
    only_there: int = 0
    different: int = 0
    skipped: int = 0
    examples: list[Example] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many differences there are."""
        return self.only_here + self.only_there + self.different

    def add(self, side: Side, number: int = 1) -> bool:
        """Count differences; tell whether another example of this kind is wanted."""
        if side is Side.HERE:
            self.only_here += number
        elif side is Side.THERE:
            self.only_there += number
        else:
            self.different += number
        return sum(example.side is side for example in self.examples) < EXAMPLES

    def note(self, side: Side, name: str, here: str = "", there: str = "") -> None:
        """Count one difference, and keep it as an example while there are few."""
        if self.add(side):
            self.examples.append(example_of(side, name, here, there))


def example_of(side: Side, name: str, here: str, there: str) -> Example:
    """Return an example whose texts have the place where they differ, also of long ones."""
    if max(len(here), len(there)) > SHOWN:
        pair = from_difference(here, there, _LEAD) if side is Side.BOTH else (here, there)
        here, there = (text if len(text) <= SHOWN else f"{text[:SHOWN]}…" for text in pair)
    return Example(side, name, here, there)


def compared(
    here: DocumentContent, there: DocumentContent, pause: Callable[[], None] = lambda: None
) -> tuple[Part, ...]:
    """Return how two documents differ, the parts that differ alone.

    Spacing and the order of keys do not count; of keys that are there more than once the last one does.

    Parameters
    ----------
    pause
        Called often; may raise to end the work.
    """
    here, there = here.written(), there.written()
    parts = (_top(here, there), _templates(here, there), _rules(here, there), _refs(here, there, pause))
    return tuple(part for part in parts if part.count or part.skipped)


def other_keys(
    here: DocumentContent, there: DocumentContent, grids: Grids, pause: Callable[[], None] = lambda: None
) -> Part:
    """Return how the keys differ that are neither metadata nor chunks of an array, as they are written.

    Parameters
    ----------
    grids
        The grids of all arrays: chunks in them are left out.
    pause
        Called often; may raise to end the work.
    """
    return _refs(here, there, pause, grids)


def _top(here: ReferenceText, there: ReferenceText) -> Part:
    part = Part("Document")
    if here.version != there.version:
        part.note(Side.BOTH, "version", str(here.version), str(there.version))
    if 0 in (here.version, there.version):
        return part
    mine, theirs = (document.node.to_python() for document in (here, there))
    for name in dict.fromkeys((*mine, *theirs)):
        if name not in KNOWN_MEMBERS:
            _note_values(part, name, mine, theirs)
    return part


def _templates(here: DocumentContent, there: DocumentContent) -> Part:
    part = Part("Templates")
    mine, theirs = here.templates.templates, there.templates.templates
    for name in dict.fromkeys((*mine, *theirs)):
        _note_values(part, name, mine, theirs)
    return part


def _note_values(part: Part, name: str, here: Any, there: Any) -> None:
    if name not in there:
        part.note(Side.HERE, name, here=_text(here[name]))
    elif name not in here:
        part.note(Side.THERE, name, there=_text(there[name]))
    elif here[name] != there[name]:
        part.note(Side.BOTH, name, _text(here[name]), _text(there[name]))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _rules(here: DocumentContent, there: DocumentContent) -> Part:
    """Compare rules: those that are equal wherever they stand go together, the others by their number."""
    part = Part("Gen rules")
    mine, theirs = ([node.to_python() for node in document.rule_nodes] for document in (here, there))
    if mine == theirs:
        return part
    texts = [[json.dumps(fields, sort_keys=True) for fields in rules] for rules in (mine, theirs)]
    equal = set(texts[0]) & set(texts[1])
    left = [[number for number, text in enumerate(side) if text not in equal] for side in texts]
    both = sorted(set(left[0]) & set(left[1]))
    for number in both:
        changed = [
            name
            for name in dict.fromkeys((*_members(mine[number]), *_members(theirs[number])))
            if _members(mine[number]).get(name) != _members(theirs[number]).get(name)
        ]
        sides = [
            ", ".join(f"{name} {_text(_members(rules[number]).get(name, ''))}" for name in changed)
            for rules in (mine, theirs)
        ]
        part.note(Side.BOTH, f"rule {number}: {', '.join(changed)}", *sides)
    for number in sorted(set(left[0]) - set(both)):
        rows = f"{here.rules[number].count:,} rows"
        part.note(Side.HERE, f"rule {number}", f"{_members(mine[number]).get('key', '')} ({rows})")
    for number in sorted(set(left[1]) - set(both)):
        rows = f"{there.rules[number].count:,} rows"
        part.note(Side.THERE, f"rule {number}", there=f"{_members(theirs[number]).get('key', '')} ({rows})")
    if not part.count:
        part.note(Side.BOTH, "the order of the rules")
    return part


def _members(fields: Any) -> dict[str, Any]:
    return fields if isinstance(fields, dict) else {"rule": fields}


# References


def _refs(
    here: DocumentContent, there: DocumentContent, pause: Callable[[], None], grids: Grids | None = None
) -> Part:
    part = Part("References")
    single = _single_keys(here.refs, there.refs, part)
    for key in single:
        pause()
        if grids is None or not (is_metadata_key(key) or is_chunk(grids, key)):
            _compare_key(part, key, here.refs, there.refs)
    edited = _codes_of(single)
    texts = _Texts(here.refs, there.refs, part, pause)
    for group in _groups(here.refs, there.refs):
        pause()
        inside = () if grids is None else grids.get(group, ())
        for side, codes in _differing(group, texts, edited.get(group, _NO_CODES), inside):
            _note_rows(part, side, group, codes, texts)
    return part


def is_chunk(grids: Grids, key: str) -> bool:
    """Tell whether a key is that of a chunk in one of the grids."""
    parts = split_key(key)
    if parts is None:
        return False
    group, coords = parts
    return any(
        len(coords) == len(leading) + len(shape)
        and coords[: len(leading)] == leading
        and all(at < size for at, size in zip(coords[len(leading) :], shape, strict=True))
        for leading, shape in grids.get(group, ())
    )


_NO_CODES = np.zeros(0, np.uint64)


def _single_keys(here: References, there: References, part: Part, most: int = SINGLE) -> list[str]:
    """Return the keys that are compared one by one, in document order."""
    keys: dict[str, None] = {}
    for refs in (here, there):
        keys.update((key, None) for key, _slot in refs.odd_keys())
        touched = [*refs.removed.tolist(), *refs.replaced]
        keys.update(dict.fromkeys(refs.table.keys(touched)) if touched else {})
        keys.update((patch.key, None) for patch in (*refs.replaced.values(), *refs.appended.values()))
    found = list(keys)
    part.skipped += max(0, len(found) - most)
    return found[:most]


def _codes_of(keys: list[str]) -> dict[Group, Codes]:
    """Return the codes of the chunk keys among `keys`, by group."""
    found: dict[Group, list[int]] = {}
    for key in keys:
        parts = split_key(key)
        code = None if parts is None else pack(parts[1])
        if parts is not None and code is not None:
            found.setdefault(parts[0], []).append(code)
    return {group: np.array(codes, np.uint64) for group, codes in found.items()}


def _compare_key(part: Part, key: str, here: References, there: References) -> None:
    slots = here.find_slot(key), there.find_slot(key)
    mine, theirs = (
        None if slot is None else refs.value(slot) for refs, slot in zip((here, there), slots, strict=True)
    )
    if mine is not None and theirs is not None:
        if _meaning(mine) != _meaning(theirs) or (
            mine.kind is ValueKind.FAULT and here.value_text(slots[0]) != there.value_text(slots[1])  # type: ignore[arg-type]
        ):
            part.note(Side.BOTH, key, _value_text(here, slots[0]), _value_text(there, slots[1]))
    elif mine is not None:
        part.note(Side.HERE, key, here=_value_text(here, slots[0]))
    elif theirs is not None:
        part.note(Side.THERE, key, there=_value_text(there, slots[1]))


def _meaning(value: Value) -> tuple[Any, ...]:
    return value.kind, value.url, value.offset, value.length, value.text


def _value_text(refs: References, slot: int | None) -> str:
    if slot is None:
        return ""
    value = refs.value(slot)
    if value.kind is ValueKind.FAULT:
        return f"cannot be read: {refs.value_text(slot).decode('utf-8', 'replace')}"
    if value.kind is None or value.kind is ValueKind.LARGE:
        items = [value.url] if value.length is None else [value.url, value.offset, value.length]
        return json.dumps(items, ensure_ascii=False)
    return value.text


@dataclass(slots=True)
class _Texts:
    """Both tables, and comparing rows of theirs by text, up to a bound."""

    here: References
    there: References
    part: Part
    pause: Callable[[], None]
    left: int = TEXTS
    _numbers: Rows | None = None

    @property
    def numbers(self) -> Rows:
        """What each URL of here is numbered there; -9 is the number of none."""
        if self._numbers is None:
            places = {url: number for number, url in enumerate(self.there.table.urls)}
            found = [places.get(url, -9) for url in self.here.table.urls]
            self._numbers = np.array(found or [-9], np.int64)
        return self._numbers

    def different(self, mine: Rows, theirs: Rows) -> Iterator[int]:
        """Yield the positions at which rows without a URL, of the same kind, have another text."""
        for at, (row, other) in enumerate(zip(mine.tolist(), theirs.tolist(), strict=True)):
            if not self.left:
                self.part.skipped += len(mine) - at
                return
            self.left -= 1
            self.pause()
            if self.here.table.value_text(row) != self.there.table.value_text(other):
                yield at


def changed_keys(
    here: References,
    there: References,
    most: int,
    pause: Callable[[], None] = lambda: None,
    grids: Grids | None = None,
) -> list[str] | None:
    """Return the keys whose value is another one, or that are on one side alone; None where more than `most`.

    Values of text are told apart by how they are written: some of the keys may mean the same. Nothing is
    passed over.

    Parameters
    ----------
    grids
        The grids of all arrays: chunks in them, and metadata, are left out. None where nothing is.
    """
    by_key = changed_by_key(here, there) if grids is None else None
    if by_key is not None:
        return by_key if len(by_key) <= most else None
    part = Part("References")
    texts = _Texts(here, there, part, pause, left=LIMITS.references)
    single = _single_keys(here, there, part, LIMITS.references)
    edited = _codes_of(single)
    found = [
        key
        for key in single
        if _value_text(here, here.find_slot(key)) != _value_text(there, there.find_slot(key))
        and (grids is None or not (is_metadata_key(key) or is_chunk(grids, key)))
    ]
    for group in _groups(here, there):
        pause()
        inside = () if grids is None else grids.get(group, ())
        for _, codes in _differing(group, texts, edited.get(group, _NO_CODES), inside):
            if len(found) + len(codes) > most:
                return None
            found += [join_key(group, code) for code in codes.tolist()]
    return found if len(found) <= most else None


def _groups(here: References, there: References) -> list[Group]:
    return list(dict.fromkeys((*here.table.groups[ODD + 1 :], *there.table.groups[ODD + 1 :])))


def _differing(
    group: Group,
    texts: _Texts,
    edited: Codes,
    grids: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
) -> Iterator[tuple[Side, Codes]]:
    """Yield which chunk keys of one array differ, by columns, those in `grids` aside."""
    codes, rows = _outside(grids, *_standing(texts.here, group, edited))
    other_codes, other_rows = _outside(grids, *_standing(texts.there, group, edited))
    both = np.isin(codes, other_codes, assume_unique=True)
    back = np.isin(other_codes, codes, assume_unique=True)
    yield Side.HERE, codes[~both]
    yield Side.THERE, other_codes[~back]
    mine, theirs = rows[both], other_rows[back]
    if not len(mine):
        return
    here, there = texts.here.table, texts.there.table
    url, other_url = here.url[mine].astype(np.int64), there.url[theirs].astype(np.int64)
    has_url = url >= 0
    same_url = np.where(has_url, texts.numbers[np.where(has_url, url, 0)], url) == other_url
    same = (
        same_url & (here.offset[mine] == there.offset[theirs]) & (here.length[mine] == there.length[theirs])
    )
    changed = ~same & (has_url | ~same_url)
    by_text = np.flatnonzero(~has_url & same_url)
    if len(by_text):
        changed[by_text[list(texts.different(mine[by_text], theirs[by_text]))]] = True
    yield Side.BOTH, codes[both][changed]


def _standing(refs: References, group: Group, edited: Codes) -> tuple[Codes, Rows]:
    """Return codes (rising, each once) and rows of the entries of a group that count and were not edited."""
    found = refs.table.rows_of(group)
    if found is None:
        return _NO_CODES, np.zeros(0, np.int64)
    codes, rows = found.codes(refs.table.code), found.rows()
    last = np.append(codes[1:] != codes[:-1], True) if len(codes) else np.zeros(0, bool)
    if len(edited):
        last &= ~np.isin(codes, edited)
    return codes[last], rows[last]


def _outside(
    grids: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], codes: Codes, rows: Rows
) -> tuple[Codes, Rows]:
    """Return the entries that lie in none of some grids."""
    for leading, shape in grids:
        inside = grid_positions(codes, leading, shape)[1]
        if inside is None:
            return _NO_CODES, np.zeros(0, np.int64)
        codes, rows = codes[~inside], rows[~inside]
    return codes, rows


def _note_rows(part: Part, side: Side, group: Group, codes: Codes, texts: _Texts) -> None:
    number = len(codes)
    if not number:
        return
    wanted = EXAMPLES - sum(example.side is side for example in part.examples)
    part.add(side, number)
    for code in codes[: max(0, wanted)].tolist():
        key = join_key(group, code)
        values = (_value_text(refs, refs.find_slot(key)) for refs in (texts.here, texts.there))
        part.examples.append(example_of(side, key, *values))
