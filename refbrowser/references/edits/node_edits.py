"""Edits of groups, arrays and dimensions by name (see `references.edits`): keys change, chunks stay put."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import quoted
from refbrowser.model.metadata_keys import METADATA_NAMES
from refbrowser.references.content.consolidated import (
    CONSOLIDATED,
    CONSOLIDATED_V3,
    NODE_V3,
    metadata_json,
)
from refbrowser.references.content.content import DocumentContent
from refbrowser.references.content.refs import Patch, References
from refbrowser.references.content.url_prefixes import entries_below
from refbrowser.references.edits.edits import SetMetadata, SetReference, metadata_value
from refbrowser.references.edits.outer_edits import RemoveRule, SetRuleField, refused, rule_values
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.layouts import Generated
from refbrowser.references.text.json_edit import dump

#: Keys that one edit renames at most: each becomes a text of its own.
MOST_RENAMED = 100_000
#: Attributes with the names of dimensions: of xarray, in the metadata of an array or beside it.
_DIMENSIONS = "_ARRAY_DIMENSIONS"
_NCZARR_ARRAY = "_nczarr_array"
#: What a group of NCZarr lists by name, in whichever of its documents.
_NCZARR_GROUP = "_nczarr_group"
_LISTS = ("arrays", "vars", "groups")
_GROUP_DOCUMENTS = (".zgroup", ".zattrs")


def name_fault(name: str) -> str:
    """Return why a group, array or dimension cannot have a name; nothing where it can."""
    if not name:
        return "it is empty"
    if "/" in name:
        return "it has a /"
    if not name.strip("."):
        return "it has nothing but dots"
    if name in METADATA_NAMES or name.startswith("__"):
        return "Zarr uses it itself"
    if not name.isprintable() or name != name.strip():
        return "it has white space at an end, or what cannot be printed"
    return ""


@dataclass(frozen=True, slots=True)
class RenameNode:
    """Another path for a group or array, with all keys below it; nothing else names it by that path.

    What repeats its metadata, or lists it by name (consolidated metadata, NCZarr), is changed, too.
    Attributes that name it are other edits.
    """

    old: str
    new: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Rename /{self.old} to /{self.new}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if not self.old or self.new.startswith(f"{self.old}/"):
            raise refused(f"{quoted(f'/{self.old}')} cannot be renamed to {quoted(f'/{self.new}')}")
        fault = name_fault(self.new.rpartition("/")[2])
        if fault:
            raise refused(f"the name {quoted(self.new)} cannot be used: {fault}")
        if self.new == self.old:
            return document
        if not _is_there(document, self.old):
            raise refused(f"there is nothing at {quoted(f'/{self.old}')}")
        if _is_there(document, self.new):
            raise refused(f"{quoted(f'/{self.new}')} already exists", "choose another name")
        document = _with_rules_below(document, self.old, self._rule_renamed)
        document = document.with_refs(self._renamed(document.refs))
        for key, value in _repeating(document, self.old, self.new):
            document = SetReference(key, metadata_value(document, key, value)).apply(document)
        return document

    def moved(self, key: str) -> str:
        """Return what a key below the old path is called then."""
        return self.new + key[len(self.old) :]

    def _renamed(self, refs: References) -> References:
        slots = entries_below(refs, self.old).tolist()
        if len(slots) > MOST_RENAMED:
            message = f"more than {MOST_RENAMED:,} references are not renamed in a document at once"
            raise refused(message, "of a repository `refbrowser commit --rename` does it")
        patches = {}
        for slot, key in zip(slots, refs.keys_of(slots), strict=True):
            new = self.moved(key)
            patches[slot] = Patch.of(new, dump(new, refs.key_text(slot)), refs.value_text(slot))
        rows = {slot: patch for slot, patch in patches.items() if slot >= 0}
        own = (patches.get(-2 - number, patch) for number, patch in enumerate(refs.appended.values()))
        appended = {patch.key: patch for patch in own}
        return References(refs.table, {**refs.replaced, **rows}, refs.removed, appended)

    def _rule_renamed(self, document: DocumentContent, index: int) -> DocumentContent:
        text = rule_values(document)[index]["key"]
        if not text.startswith(f"{self.old}/"):
            message = f"the key of gen rule {index} does not begin with {quoted(f'{self.old}/')}"
            raise refused(message, "change the rule itself")
        return SetRuleField(index, "key", self.moved(text)).apply(document)


@dataclass(frozen=True, slots=True)
class DeleteNode:
    """A group or array less, with all keys below it; the data that they refer to stays."""

    path: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Delete /{self.path}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if not self.path:
            raise refused("the root group cannot be deleted")
        if not _is_there(document, self.path):
            raise refused(f"there is nothing at {quoted(f'/{self.path}')}")
        document = _with_rules_below(document, self.path, lambda each, index: RemoveRule(index).apply(each))
        document = document.with_refs(document.refs.without(entries_below(document.refs, self.path)))
        for key, value in _repeating(document, self.path, None):
            document = SetReference(key, metadata_value(document, key, value)).apply(document)
        return document


@dataclass(frozen=True, slots=True)
class RenameDimension:
    """Another name for a dimension, in all arrays of a group and below it that have it."""

    path: str
    old: str
    new: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Rename dimension {self.old} to {self.new}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        fault = name_fault(self.new)
        if fault:
            raise refused(f"the name {quoted(self.new)} cannot be used: {fault}")
        found = False
        for key, value in _metadata_below(document, self.path):
            changed = self._changed(key, value)
            if changed != value:
                found = True
                document = SetMetadata(key, changed).apply(document)
        if not found:
            where = f"/{self.path}"
            raise refused(f"no array at {quoted(where)} or below it has a dimension {quoted(self.old)}")
        return document

    def _changed(self, key: str, value: Mapping[str, Any]) -> dict[str, Any]:
        attributes = value.get("attributes") if key.endswith(NODE_V3) else value
        inner = dict(attributes) if isinstance(attributes, dict) else {}
        if _NCZARR_ARRAY in inner or _NCZARR_ARRAY in value:
            raise refused("NCZarr declares dimensions in groups", "change its metadata itself")
        if _DIMENSIONS in inner:
            inner[_DIMENSIONS] = self._names(key, inner[_DIMENSIONS])
        if not key.endswith(NODE_V3):
            return inner
        changed = dict(value)
        if "dimension_names" in changed:
            changed["dimension_names"] = self._names(key, changed["dimension_names"])
        if "attributes" in changed:
            changed["attributes"] = inner
        return changed

    def _names(self, key: str, names: Any) -> Any:
        if not isinstance(names, list) or self.old not in names:
            return names
        if self.new in names:
            raise refused(f"{quoted(key)} has a dimension {quoted(self.new)} already")
        return [self.new if name == self.old else name for name in names]


def _is_there(document: DocumentContent, path: str) -> bool:
    """Tell whether a key is a path or below it; what rules may give counts."""
    refs = document.refs
    if refs.find_slot(path) is not None or len(entries_below(refs, path)):
        return True
    return any(_gives(each, path) for each in document.generated)


def _gives(rule: Generated, path: str) -> bool:
    """Tell whether a rule may give keys below a path; False is certain."""
    if not rule.may_give(f"{path}/"):
        return False
    folders = rule.directories()
    return folders is None or any(_is_below(each, path) for each in folders)


def _gives_alone(rule: GenRule, path: str) -> bool:
    """Tell whether all keys of a rule are below a path; True is certain."""
    folders = rule.directories()
    return rule.static_prefix.startswith(f"{path}/") or (
        bool(folders) and all(_is_below(each, path) for each in folders or ())
    )


def _is_below(folder: str, path: str) -> bool:
    return f"{folder}/".startswith(f"{path}/")


def _with_rules_below(
    document: DocumentContent, path: str, change: Callable[[DocumentContent, int], DocumentContent]
) -> DocumentContent:
    """Return a document in which each gen rule whose keys are all below a path was changed, the last first.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: a rule gives keys there and elsewhere.
    """
    if not any(_gives(each, path) for each in document.generated):
        return document
    document = document.written()
    for index in reversed(range(len(document.rules))):
        rule = document.rules[index]
        if not _gives(rule, path):
            continue
        if not _gives_alone(rule, path):
            message = f"gen rule {index} gives keys of {quoted(f'/{path}')} and others"
            raise refused(message, "change the rule itself")
        document = change(document, index)
    return document


def _repeating(document: DocumentContent, old: str, new: str | None) -> Iterator[tuple[str, Any]]:
    """Yield the key and the new value of each document that repeats metadata of a node, or lists its name."""
    parent = ""
    names = old.split("/")
    for depth in range(len(names)):
        parent = "".join(f"{name}/" for name in names[:depth])
        inner = old[len(parent) :]
        other = new[len(parent) :] if new is not None and new.startswith(parent) else None
        yield from _changed_at(document, f"{parent}{CONSOLIDATED}", (), inner, other)
        yield from _changed_at(document, f"{parent}{NODE_V3}", (CONSOLIDATED_V3,), inner, other)
    for name in _GROUP_DOCUMENTS:
        value = metadata_json(document, parent + name)
        listed = value.get(_NCZARR_GROUP) if isinstance(value, dict) else None
        if isinstance(listed, dict):
            own = None if new is None else new.rpartition("/")[2]
            yield parent + name, {**value, _NCZARR_GROUP: _listing(listed, names[-1], own)}


def _changed_at(
    document: DocumentContent, key: str, above: tuple[str, ...], old: str, new: str | None
) -> Iterator[tuple[str, Any]]:
    """Yield a consolidated document, where there is one, with the paths in it as they are then."""
    value = metadata_json(document, key)
    holder = value
    for name in above:
        holder = holder.get(name) if isinstance(holder, dict) else None
    metadata = holder.get("metadata") if isinstance(holder, dict) else None
    if not isinstance(metadata, dict) or not isinstance(holder, dict):
        return
    moved = {}
    for path, inner in metadata.items():
        is_of_node = path == old or path.startswith(f"{old}/")
        if not is_of_node:
            moved[path] = inner
        elif new is not None:
            moved[new + path[len(old) :]] = inner
    if list(moved) == list(metadata):
        return
    changed: dict[str, Any] = {**holder, "metadata": moved}
    yield key, {**value, above[0]: changed} if above else changed


def _listing(listed: Mapping[str, Any], old: str, new: str | None) -> dict[str, Any]:
    def renamed(names: list[Any]) -> list[Any]:
        found = (new if name == old else name for name in names)
        return [name for name in found if name is not None]

    return {
        name: renamed(value) if name in _LISTS and isinstance(value, list) else value
        for name, value in listed.items()
    }


def _metadata_below(document: DocumentContent, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the documents with attributes, or all metadata, of what is at a path or below it."""
    below = f"{path}/".removeprefix("/")
    for key in list(document.refs.metadata_slots):
        if key.startswith(below) and key.rpartition("/")[2] in (".zattrs", NODE_V3):
            value = metadata_json(document, key)
            if isinstance(value, dict):
                yield key, value
