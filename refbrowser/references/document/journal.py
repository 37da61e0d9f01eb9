"""What is done with a history as operations that can be kept as JSON, and a history made again from them.

The operations begin at the saved state: replayed on the same text they give the same states, so that undo and
redo work through them. An edit that no value tells is kept as what it changed in the whole text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.references.content.content import DocumentContent, Edit
from refbrowser.references.content.url_prefixes import PrefixScope, Runs, ScopeKind
from refbrowser.references.document import fold
from refbrowser.references.document.document import Document
from refbrowser.references.document.history import History, Revert, Step
from refbrowser.references.edits import edits, many_edits, node_edits, url_moves
from refbrowser.references.edits.edits import Compound
from refbrowser.references.edits.reference_changes import ChangeReferences, ReferenceChange
from refbrowser.references.edits.text_patch import TextPatch, patch_between

_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        edits.AddTemplate,
        edits.InsertRule,
        edits.MoveRule,
        edits.RemoveMember,
        edits.RemoveReference,
        edits.RemoveRule,
        edits.RemoveTemplate,
        edits.RenameReference,
        edits.RenameTemplate,
        edits.ReplaceUrlPrefix,
        edits.SetMember,
        edits.SetMetadata,
        edits.SetReference,
        edits.SetRule,
        edits.SetRuleField,
        edits.SetTemplate,
        edits.SetVersion,
        fold.FoldReferences,
        many_edits.CopyReferences,
        many_edits.RemoveReferences,
        many_edits.ReplacePrefixIn,
        many_edits.RebaseUrls,
        many_edits.RemoveRepeated,
        many_edits.RenameTemplateAndUses,
        many_edits.SetReferences,
        node_edits.DeleteNode,
        node_edits.RenameDimension,
        node_edits.RenameNode,
        url_moves.MoveUrls,
        ChangeReferences,
    )
}
#: What a field must be; a field that is not named may be any JSON value.
_TYPES: dict[str, Any] = {
    "name": str, "text": str, "old": str, "new": str, "key": str,
    "index": int, "to": int, "version": int, "fields": dict, "prefix": str,
    "template": str, "path": str,
}  # fmt: skip
#: Compounds in compounds that are read.
_NESTING = 16


def edit_to_json(edit: Edit) -> dict[str, Any]:
    """Return an edit as a value of JSON's types.

    Raises
    ------
    TypeError
        It is of a class that has no such form.
    """
    if isinstance(edit, Compound):
        return {"edit": "Compound", "title": edit.title, "edits": [edit_to_json(one) for one in edit.edits]}
    if isinstance(edit, TextPatch):
        data = base64.b64encode(edit.data).decode("ascii")
        return {
            "edit": "TextPatch", "title": edit.title, "start": edit.start, "stop": edit.stop, "data": data,
        }  # fmt: skip
    name = type(edit).__name__
    if _CLASSES.get(name) is not type(edit):
        raise TypeError(f"{name} has no form as JSON")
    values = {field.name: _plain(getattr(edit, field.name)) for field in fields(_CLASSES[name])}
    return {"edit": name, **values}


def edit_from_json(value: Any, depth: int = 0) -> Edit:
    """Return the edit that `edit_to_json` gave this value of.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: it is not one.
    """
    match value:
        case {"edit": "Compound", "title": str(title), "edits": list(parts)} if depth < _NESTING:
            return Compound(title, tuple(edit_from_json(part, depth + 1) for part in parts))
        case {
            "edit": "TextPatch",
            "title": str(title),
            "start": int(start),
            "stop": int(stop),
            "data": str(data),
        }:
            try:
                return TextPatch(title, start, stop, base64.b64decode(data, validate=True))
            except (binascii.Error, ValueError):
                raise _unreadable(value) from None
        case {"edit": str(name), **members} if name in _CLASSES:
            return _plain_edit(_CLASSES[name], dict(members))
    raise _unreadable(value)


def _plain_edit(kind: Any, members: dict[Any, Any]) -> Edit:
    for name, member in members.items():
        wanted = _TYPES.get(name)
        if wanted is not None and (not isinstance(member, wanted) or isinstance(member, bool)):
            raise _unreadable(members)
    keys = members.get("keys")
    if keys is not None:
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise _unreadable(members)
        members = {**members, "keys": tuple(keys)}
    for name, read in _READ.items():
        if name in members:
            members = {**members, name: read(members[name])}
    try:
        edit: Edit = kind(**members)
    except TypeError:
        raise _unreadable(members) from None
    return edit


def _runs(value: Any) -> Runs:
    match value:
        case list() if all(_is_pair(pair, int) for pair in value):
            return tuple((start, stop) for start, stop in value)
    raise _unreadable(value)


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    match value:
        case list() if all(_is_pair(pair, str) for pair in value):
            return tuple((old, new) for old, new in value)
    raise _unreadable(value)


def _values(value: Any) -> tuple[tuple[str, Any], ...]:
    match value:
        case list() if all(isinstance(each, list) and len(each) == 2 for each in value):
            if all(isinstance(key, str) for key, _ in value):
                return tuple((key, inner) for key, inner in value)
    raise _unreadable(value)


def _is_pair(value: Any, kind: type) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(member) is kind for member in value)


def _scope(value: Any) -> PrefixScope:
    match value:
        case {"kind": str(kind), "text": str(text), "number": int(number), "runs": runs, **more} if not more:
            if kind in list(ScopeKind) and not isinstance(number, bool):
                return PrefixScope(ScopeKind(kind), text, number, _runs(runs))
    raise _unreadable(value)


def _change(value: Any) -> ReferenceChange:
    try:
        return ReferenceChange.from_json(value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _unreadable(value) from None


#: Fields that are values of their own, and how they are read.
_READ: dict[str, Callable[[Any], Any]] = {
    "runs": _runs, "pairs": _pairs, "scope": _scope, "values": _values, "change": _change,
}  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, ReferenceChange):
        return value.as_json()
    if isinstance(value, PrefixScope):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _unreadable(value: Any) -> RefbrowserError:
    return RefbrowserError(ErrorKind.FORMAT, f"{quoted(str(value))} is not an edit")


class Kind(StrEnum):
    """What was done."""

    DO = "do"
    UNDO = "undo"
    REDO = "redo"
    REVERT = "revert"


@dataclass(frozen=True, slots=True)
class Passage:
    """The way from one state to another that is before the saved one, where no edit leads there."""

    before: DocumentContent
    after: DocumentContent
    title: str

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the state that it leads to."""
        return self.after


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that was done; `edit` belongs to `Kind.DO` alone."""

    kind: Kind
    edit: Edit | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of JSON's types.

        Raises
        ------
        TypeError
            The edit has no such form.
        """
        edit = self.edit
        if isinstance(edit, Passage):
            edit = patch_between(edit.before, edit.after, edit.title)
        return {"op": self.kind.value} if edit is None else {"op": self.kind.value, **edit_to_json(edit)}

    @classmethod
    def from_json(cls, value: Any) -> Operation:
        """Return the operation that `to_json` gave this value of.

        Raises
        ------
        RefbrowserError
            `E_FORMAT`: it is not one.
        """
        match value:
            case {"op": "do", **members}:
                return cls(Kind.DO, edit_from_json(dict(members)))
            case {"op": "undo" | "redo" | "revert" as kind}:
                return cls(Kind(kind))
        raise RefbrowserError(ErrorKind.FORMAT, f"{quoted(str(value))} is not an operation")


class Recorder:
    """Follows a history, and tells what was done since the saved state as operations.

    Attributes
    ----------
    saved
        The state that they begin at.
    operations
        In the order in which they are to be replayed; only ever appended to.
    """

    def __init__(self, history: History) -> None:
        self.saved = history.saved
        self.operations: list[Operation] = []
        self._states: list[Document] = [history.saved]
        self._edits: list[Edit] = []
        self._at = 0
        self._position = history.position
        saved = next(
            (number for number, state in enumerate(history.states) if _same(state, self.saved)), None
        )
        if saved is not None and saved <= history.position:
            for step in history.steps[saved:]:
                self._do(step.edit, step.document)
            for _ in range(len(history.steps) - history.position):
                self._move(-1)
        elif not _same(history.document, self.saved):
            self._pass_to(history.document, "Edits before the saved state")

    def belongs_to(self, history: History) -> bool:
        """Tell whether the saved state is still the one that the operations begin at."""
        return _same(history.saved, self.saved)

    def follow(self, history: History) -> None:
        """Record an edit, or undo or redo of any number of steps; nothing where nothing was done."""
        document, start = history.document, self._position
        self._position = history.position
        moved = history.position - start
        if not moved and _same(document, self._states[self._at]):
            return
        if moved > 0:
            for step in history.steps[start : history.position]:
                self._forward(step)
        elif not all(self._go_to(state, -1) for state in self._way_back(history, start)):
            self._pass_to(document, "Go back before the saved state")

    @staticmethod
    def _way_back(history: History, start: int) -> list[Document]:
        """Return the states that undo goes through from `start`; the one of now where it did not move."""
        if history.position >= start:
            return [history.document]
        states = history.states[history.position : min(start, len(history.steps) + 1)]
        return [*reversed(states)] or [history.document]

    def _forward(self, step: Step) -> None:
        if not self._is_next(step.edit):
            self._do(step.edit, step.document)
        elif not self._go_to(step.document, 1):
            self._pass_to(step.document, "Go back before the saved state")

    def _is_next(self, edit: Edit) -> bool:
        return self._at < len(self._edits) and self._edits[self._at] is edit

    def _go_to(self, document: Document, first: int) -> bool:
        """Undo or redo where one of them leads to `document`."""
        for step in (first, -first):
            target = self._at + step
            if 0 <= target < len(self._states) and _same(self._states[target], document):
                self._move(step)
                return True
        return False

    def _move(self, step: int) -> None:
        self._at += step
        self.operations.append(Operation(Kind.REDO if step > 0 else Kind.UNDO))

    def _pass_to(self, document: Document, title: str) -> None:
        self._do(Passage(self._states[self._at], document, title), document)

    def _do(self, edit: Edit, document: Document) -> None:
        del self._states[self._at + 1 :], self._edits[self._at :]
        self._states.append(document)
        self._edits.append(edit)
        self._at += 1
        is_revert = isinstance(edit, Revert) and _same(document, self.saved)
        self.operations.append(Operation(Kind.REVERT) if is_revert else Operation(Kind.DO, edit))


def _same(one: DocumentContent, other: DocumentContent) -> bool:
    """Return whether two documents are one state, whatever values are given for their templates."""
    return one is other or (one.refs is other.refs and one.frame == other.frame)


def replayed(document: Document, operations: Iterable[Operation]) -> tuple[History, RefbrowserError | None]:
    """Return the history that operations make of the saved document, up to the first that cannot be done."""
    history = History(document)
    for operation in operations:
        try:
            _replay(history, operation)
        except RefbrowserError as error:
            return history, error
    return history, None


def _replay(history: History, operation: Operation) -> None:
    if operation.kind is Kind.UNDO:
        history.undo()
    elif operation.kind is Kind.REDO:
        history.redo()
    elif operation.kind is Kind.REVERT:
        history.apply(Revert(history.saved))
    elif operation.edit is not None:
        history.apply(operation.edit)
