"""What somebody asks for in words, as changes of a snapshot: attributes, names, what is deleted, prefixes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refbrowser.engine.attribute_edits import AttributeChange
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.references.text.typed_values import typed_or_text
from refbrowser.wings.icechunk.changing.change_set import ChangeSet, Metadata, NodeChange, Prefix, moved_path
from refbrowser.wings.icechunk.changing.request import CommitRequest
from refbrowser.wings.icechunk.changing.snapshot_tree import SnapshotTree


def asked_changes(tree: SnapshotTree, request: CommitRequest) -> ChangeSet:
    """Return what is asked for; no manifest is read.

    What is renamed can be named as it was or as it is then called.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it cannot be understood, or there is no such group, array, attribute or dimension.
    """
    dimensions: list[tuple[str, str, str]] = []
    for text in request.rename:
        old, new = _pair(text, "--rename OLD=NEW")
        path, colon, name = old.rpartition(":")
        if colon:
            dimensions.append((_path(path), name, new))
        else:
            tree = tree.moved(_path(old), _path(new))
    after: dict[str, Metadata | None] = {}
    for path, name, new in dimensions:
        _rename_dimension(tree, _now(tree, path), name, new, after)
    for text in request.set_attr:
        where, value = _pair(text, "--set-attr [VAR]:NAME=VALUE")
        path, colon, name = where.rpartition(":")
        if not colon or not name:
            raise _unclear(text, "--set-attr [VAR]:NAME=VALUE")
        path = _now(tree, path)
        metadata = _metadata(tree, path, after)
        after[path] = {**metadata, "attributes": _with_attribute(metadata, name, value)}
    for text in request.delete:
        path = _now(tree, text)
        tree.node(path)
        if not path:
            raise RefbrowserError(ErrorKind.USAGE, "the root group cannot be deleted")
        for node in tree.below(path):
            after[node.path] = None
    prefixes = [Prefix(*_pair(text, "--move-prefix OLD=NEW")) for text in request.move_prefix]
    nodes = [NodeChange(path, tree.node(path).metadata, made) for path, made in after.items()]
    return ChangeSet([each for each in nodes if not each.is_empty], tree.moves, prefixes).checked()


def _pair(text: str, form: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old:
        raise _unclear(text, form)
    return old, new


def _unclear(text: str, form: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not of the form {form}")


def _path(text: str) -> str:
    return text.strip("/")


def _now(tree: SnapshotTree, text: str) -> str:
    """Return what a path is called after all renames."""
    path = _path(text)
    return path if path in tree.nodes else moved_path(path, tree.moves)


def _metadata(tree: SnapshotTree, path: str, after: Mapping[str, Metadata | None]) -> Metadata:
    found = after[path] if path in after else tree.node(path).metadata
    assert found is not None  # What is deleted comes last.
    return found


def _with_attribute(metadata: Metadata, name: str, text: str) -> dict[str, Any]:
    """Return attributes with another value; an empty text takes the attribute away."""
    attributes = dict(metadata.get("attributes") or {})
    if not text:
        if name not in attributes:
            raise RefbrowserError(ErrorKind.USAGE, f"there is no attribute {quoted(name)}")
        return AttributeChange.removed(name).applied(attributes)
    value = typed_or_text(text)
    change = AttributeChange.of_value if name in attributes else AttributeChange.added
    return change(name, value).applied(attributes)


def _rename_dimension(
    tree: SnapshotTree, path: str, old: str, new: str, after: dict[str, Metadata | None]
) -> None:
    """Take note of arrays at a path, or below it, whose dimension has another name."""
    if not new:
        raise RefbrowserError(ErrorKind.USAGE, f"the new name of dimension {quoted(old)} is empty")
    tree.node(path)
    found = False
    for node in tree.below(path):
        metadata = _metadata(tree, node.path, after)
        names = metadata.get("dimension_names") or []
        if old not in names:
            continue
        if new in names:
            message = f"/{node.path} has a dimension {quoted(new)} already"
            raise RefbrowserError(ErrorKind.USAGE, message)
        found = True
        after[node.path] = {
            **metadata,
            "dimension_names": [new if each == old else each for each in names],
        }
    if not found:
        message = f"no array at /{path} or below it has a dimension {quoted(old)}"
        raise RefbrowserError(ErrorKind.USAGE, message)
