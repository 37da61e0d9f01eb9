"""Edits as JSON values and back: what the journal keeps of them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.references.edits import edits, many_edits, repair_edits, template_renaming
from refbrowser.references.edits.edits import Compound, Edit
from refbrowser.references.edits.prefix_scope import PrefixScope, Runs, ScopeKind
from refbrowser.references.edits.text_patch import TextPatch

_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        edits.AddTemplate,
        edits.InsertRule,
        edits.MoveRule,
        edits.RemoveReference,
        edits.RemoveRule,
        edits.RemoveTemplate,
        edits.RenameReference,
        edits.RenameTemplate,
        edits.ReplaceUrlPrefix,
        edits.SetMetadata,
        edits.SetReference,
        edits.SetRule,
        edits.SetTemplate,
        edits.SetVersion,
        many_edits.CopyReferences,
        many_edits.RemoveReferences,
        many_edits.ReplacePrefixIn,
        repair_edits.RebaseUrls,
        repair_edits.RemoveRepeated,
        template_renaming.RenameTemplateAndUses,
    )
}
#: What a field must be; a field that is not named may be any JSON value.
_TYPES: dict[str, Any] = {
    "name": str, "text": str, "old": str, "new": str, "key": str,
    "index": int, "to": int, "version": int, "fields": dict, "prefix": str,
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


def _is_pair(value: Any, kind: type) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(member) is kind for member in value)


def _scope(value: Any) -> PrefixScope:
    match value:
        case {"kind": str(kind), "text": str(text), "number": int(number), "runs": runs, **more} if not more:
            if kind in list(ScopeKind) and not isinstance(number, bool):
                return PrefixScope(ScopeKind(kind), text, number, _runs(runs))
    raise _unreadable(value)


#: Fields that are values of their own, and how they are read.
_READ: dict[str, Callable[[Any], Any]] = {"runs": _runs, "pairs": _pairs, "scope": _scope}


def _plain(value: Any) -> Any:
    if isinstance(value, PrefixScope):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _unreadable(value: Any) -> RefbrowserError:
    return RefbrowserError(ErrorKind.FORMAT, f"{quoted(str(value))} is not an edit")
