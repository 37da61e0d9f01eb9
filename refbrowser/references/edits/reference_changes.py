"""One change of many references: of URL, offset and length, as each of them has these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from refbrowser.errors import quoted
from refbrowser.references.content.content import DocumentContent
from refbrowser.references.content.refs import Patch, References
from refbrowser.references.content.url_prefixes import Runs, entries_of
from refbrowser.references.edits.outer_edits import refused
from refbrowser.references.text.json_edit import rewrite
from refbrowser.references.text.json_text import parse
from refbrowser.words import counted

#: References that one edit changes at most.
MOST_CHANGED = 100_000


@dataclass(frozen=True, slots=True)
class SetText:
    """Another URL for all."""

    text: str

    def of(self, _url: str) -> str:
        """Return what becomes of a URL."""
        return self.text


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Another text wherever `old` stands in a URL."""

    old: str
    new: str

    def of(self, url: str) -> str:
        """Return what becomes of a URL."""
        return url.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class SetNumber:
    """The same number for all; a whole file becomes a range."""

    number: int

    def of(self, _number: int | None) -> int | None:
        """Return what becomes of an offset or a length."""
        return self.number


@dataclass(frozen=True, slots=True)
class AddNumber:
    """A number more, or less."""

    number: int

    def of(self, number: int | None) -> int | None:
        """Return what becomes of an offset or a length; whole files have none."""
        return None if number is None else number + self.number


@dataclass(frozen=True, slots=True)
class WholeFiles:
    """Whole files in the place of ranges."""

    def of(self, _number: int | None) -> int | None:
        """Return no length."""
        return None


@dataclass(frozen=True, slots=True)
class ReferenceChange:
    """What becomes of a reference with a URL; None: that stays."""

    url: SetText | ReplaceText | None = None
    offset: SetNumber | AddNumber | None = None
    length: SetNumber | AddNumber | WholeFiles | None = None

    def as_json(self) -> dict[str, list[Any]]:
        """Return it as a value of JSON's types: the kind of each change, and what it is made of."""
        changes = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: [type(change).__name__, *astuple(change)]
            for name, change in changes.items()
            if change is not None
        }

    @classmethod
    def from_json(cls, value: Mapping[str, list[Any]]) -> ReferenceChange:
        """Return the change that `as_json` gave this value of.

        Raises
        ------
        KeyError, TypeError, ValueError
            It is none.
        """
        changes = {}
        for name, (kind, *parts) in value.items():
            wanted = str if name == "url" else int
            if any(type(part) is not wanted for part in parts):
                raise ValueError(kind)
            changes[name] = _KINDS[name][kind](*parts)
        return cls(**changes)

    def changed(self, value: Any) -> Any:
        """Return what becomes of a value of `refs`; the same where it has no URL.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: an offset or a length would be below 0, or is no number, or one would be there alone.
        """
        if not isinstance(value, list) or len(value) not in (1, 3) or not isinstance(value[0], str):
            return value
        url = value[0] if self.url is None else self.url.of(value[0])
        if not url:
            raise refused("a URL would be empty")
        offset, length = value[1:] if len(value) == 3 else (None, None)
        offset = _number("offset", offset, self.offset)
        length = _number("length", length, self.length)
        if isinstance(self.length, WholeFiles):
            return [url]
        if (offset is None) != (length is None):
            missing = "length" if length is None else "offset"
            raise refused(f"a whole file cannot become a range without {missing}: set both")
        return [url] if offset is None else [url, offset, length]


#: What may become of each, by name.
_KINDS: dict[str, dict[str, Any]] = {
    name: {kind.__name__: kind for kind in kinds}
    for name, kinds in {
        "url": (SetText, ReplaceText),
        "offset": (SetNumber, AddNumber),
        "length": (SetNumber, AddNumber, WholeFiles),
    }.items()
}


def _number(name: str, number: Any, change: SetNumber | AddNumber | WholeFiles | None) -> Any:
    if change is None:
        return number
    if isinstance(change, AddNumber) and number is not None and type(number) is not int:
        raise refused(f"{name} {quoted(str(number))} is no number to add to")
    found = change.of(number)
    if found is not None and found < 0:
        raise refused(f"{name} {found} would be below 0")
    return found


@dataclass(frozen=True, slots=True)
class ChangeReferences:
    """One change of the entries of `refs` at some positions; those that are inline stay."""

    runs: Runs
    change: ReferenceChange

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change {counted(sum(stop - start for start, stop in self.runs), 'reference')}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        refs = document.refs
        count = sum(stop - start for start, stop in self.runs)
        if not count or any(not 0 <= start < stop <= len(refs) for start, stop in self.runs):
            raise refused("these references do not exist")
        if count > MOST_CHANGED:
            raise refused(f"more than {MOST_CHANGED:,} references are not changed at once")
        replaced, appended = dict(refs.replaced), dict(refs.appended)
        for slot in entries_of(refs, self.runs).tolist():
            patch = self._patch(refs, slot)
            if patch is None:
                continue
            if slot < 0:
                appended[patch.key] = patch
            else:
                replaced[slot] = patch
        return document.with_refs(References(refs.table, replaced, refs.removed, appended))

    def _patch(self, refs: References, slot: int) -> Patch | None:
        """Return the entry of a slot as it is then; None where it stays."""
        raw = refs.value_text(slot)
        node = parse(raw)
        before = node.to_python()
        after = self.change.changed(before)
        if after == before:
            return None
        return Patch.of(refs.key_of(slot), refs.key_text(slot), rewrite(raw, node, after))


def values_at(document: DocumentContent, runs: Sequence[tuple[int, int]], most: int) -> list[tuple[str, Any]]:
    """Return key and value of the first entries at some positions, at most so many."""
    refs = document.refs
    slots = [slot for start, stop in runs for slot in refs.slots(start, min(stop, start + most))][:most]
    return [(refs.key_of(slot), parse(refs.value_text(slot)).to_python()) for slot in slots]
