"""What is to become of a snapshot: a change for each group or array, moves, and other beginnings of URLs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.reference import Reference
from refbrowser.references.merging.merged_members import ABSENT, member_at, same_meaning
from refbrowser.references.text.json_text import has_too_many_values
from refbrowser.words import counted

Coords = tuple[int, ...]
Metadata = Mapping[str, Any]
#: What locations begin with that name a container.
_NAMED = "vcc://"
#: Characters of a value that a line shows.
_SHOWN = 60


def metadata_in(path: str, data: bytes) -> Metadata:
    """Return the metadata of a node as it is stored.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: it is no object.
    """
    try:
        if has_too_many_values(data):
            raise ValueError
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RefbrowserError(ErrorKind.FORMAT, "the metadata cannot be read", Place(path=f"/{path}"))
    return found


@dataclass(frozen=True, slots=True)
class NodeChange:
    """What becomes of one group or array.

    Attributes
    ----------
    path
        After all moves, without ``/`` at its ends.
    before, after
        Its metadata; None of what is new, or deleted.
    chunks
        New references by coordinates; None takes a chunk away.
    """

    path: str
    before: Metadata | None
    after: Metadata | None
    chunks: Mapping[Coords, Reference | None] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.chunks and same_meaning(self.before, self.after)

    @property
    def shown(self) -> str:
        """The path as users have it."""
        return f"/{self.path}"

    def lines(self) -> Iterator[str]:
        """Yield what changes, a line for each member of the metadata, and one of the chunks."""
        if self.after is None:
            yield "deleted"
            return
        if self.before is None:
            yield f"new {self.after.get('node_type', 'node')}"
        else:
            yield from _member_lines(self.before, self.after)
        yield from self._chunk_lines()

    def _chunk_lines(self) -> Iterator[str]:
        gone = sum(value is None for value in self.chunks.values())
        if len(self.chunks) > gone:
            yield f"{counted(len(self.chunks) - gone, 'chunk')} set"
        if gone:
            yield f"{counted(gone, 'chunk')} removed"


def _member_lines(before: Metadata, after: Metadata) -> Iterator[str]:
    """Yield what is another member; attributes each by its own name."""
    for above in ((), ("attributes",)):
        one, other = (member_at(each, above) for each in (before, after))
        one, other = ({} if each is ABSENT or each is None else each for each in (one, other))
        for name in dict.fromkeys((*one, *other)):
            old, new = one.get(name, ABSENT), other.get(name, ABSENT)
            if same_meaning(old, new) or (not above and name == "attributes"):
                continue
            what = f"attribute {name}" if above else str(name)
            if old is ABSENT:
                yield f"{what}: {_text(new)} (new)"
            elif new is ABSENT:
                yield f"{what}: removed (was {_text(old)})"
            else:
                yield f"{what}: {_text(old)} -> {_text(new)}"


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True, slots=True)
class Prefix:
    """Another beginning for the URLs that virtual chunks lie at."""

    old: str
    new: str

    @property
    def container(self) -> str:
        """The name of the virtual chunk container that is meant (``vcc://NAME``); empty for URLs."""
        return self.old.removeprefix(_NAMED).rstrip("/") if self.old.startswith(_NAMED) else ""

    @property
    def words(self) -> str:
        """What it changes."""
        if self.container:
            return f"vcc://{self.container} lies at {self.new}, for all snapshots"
        return f"URLs that begin with {self.old} begin with {self.new}"


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What is to become of a snapshot.

    Attributes
    ----------
    moves
        Old and new paths, made one after the other, before all else.
    nodes
        Each path once.
    prefixes
        Applied to all chunks that the branch has by then.
    """

    nodes: Sequence[NodeChange] = ()
    moves: Sequence[tuple[str, str]] = ()
    prefixes: Sequence[Prefix] = ()

    @property
    def urls(self) -> list[Prefix]:
        """Those prefixes with which URLs themselves begin, which are other references then."""
        return [each for each in self.prefixes if not each.container]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.moves and not self.prefixes and all(each.is_empty for each in self.nodes)

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what changes: where, and what."""
        for old, new in self.moves:
            yield f"/{old}", f"renamed to /{new}"
        gone = {each.path for each in self.nodes if each.after is None}
        for each in self.nodes:
            # What is in a group goes with it.
            if each.path in gone and any(above in gone for above in _above(each.path)):
                continue
            for line in each.lines():
                yield each.shown, line
        for prefix in self.prefixes:
            yield "/", prefix.words

    def to_json(self) -> list[dict[str, Any]]:
        """Return what changes as JSON: a path and what changes there, in words."""
        return [{"path": path, "change": change} for path, change in self.lines()]

    def checked(self) -> ChangeSet:
        """Return it.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: it has too many chunks; `E_USAGE`: a path is changed twice.
        """
        if sum(len(each.chunks) for each in self.nodes) > LIMITS.references:
            message = f"more than {LIMITS.references} chunks change (references)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        for path, count in Counter(each.path for each in self.nodes).items():
            if count > 1:
                raise RefbrowserError(ErrorKind.USAGE, "it is changed twice", Place(path=f"/{path}"))
        return self


def _above(path: str) -> Iterator[str]:
    """Yield the groups that a node is in, but the root."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def moved_path(path: str, moves: Sequence[tuple[str, str]]) -> str:
    """Return where a node lies after moves of it, or of groups that it is in."""
    for old, new in moves:
        if path == old or path.startswith(f"{old}/"):
            path = new + path[len(old) :]
    return path
