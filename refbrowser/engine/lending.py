"""Codecs of installed packages in a hierarchy: which its arrays want, and those that the user allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Want
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy, Node

if TYPE_CHECKING:
    from refbrowser.codecs.lenders import Lender


def with_lent_codecs(hierarchy: Hierarchy, allowed: Collection[str]) -> Hierarchy:
    """Return a hierarchy whose arrays are decoded by what is allowed: codecs, packages with all theirs."""
    if not allowed or not _may_want(hierarchy):
        return hierarchy
    keys: set[str | None] = set()
    root = _changed(hierarchy.root, allowed, keys)
    # What was said of an array that is readable now.
    findings = [
        each
        for each in hierarchy.findings
        if each.kind is not ErrorKind.BLOCKED or each.place.key not in keys
    ]
    return replace(hierarchy, root=root, findings=tuple(findings))


def packages_wanted(hierarchy: Hierarchy, allowed: Collection[str]) -> list[Want]:
    """Return the installed packages whose codecs arrays want, or have, for the sheet of permissions."""
    if not _may_want(hierarchy) and not allowed:
        return []
    counts: Counter[str] = Counter()
    open_ones: set[str] = set()
    for node in hierarchy.walk():
        if isinstance(node, ArrayNode) and (node.lenders or _is_blocked(node)):
            wanted = _wanted(node)
            packages = {lender.package for lender in wanted.values()}
            counts.update(packages)
            if not node.lenders:
                open_ones |= {
                    each.package for name, each in wanted.items() if not _allows(allowed, name, each)
                }
    return [
        Want(None, "package", count, None, package not in open_ones, package=package)
        for package, count in counts.items()
    ]


def _may_want(hierarchy: Hierarchy) -> bool:
    """Tell whether something wants a permission: most hierarchies need not be walked."""
    return any(each.kind is ErrorKind.BLOCKED for each in hierarchy.findings)


def _is_blocked(node: ArrayNode) -> bool:
    return node.unreadable is not None and node.unreadable.kind is ErrorKind.BLOCKED


def _wanted(node: ArrayNode) -> Mapping[str, Lender]:
    from refbrowser.codecs.lending import lenders_of

    return lenders_of(node)


def _allows(allowed: Collection[str], name: str, lender: Lender) -> bool:
    return name in allowed or lender.package in allowed


def _changed(node: Node, allowed: Collection[str], keys: set[str | None]) -> Node:
    if isinstance(node, ArrayNode):
        return _lent(node, allowed, keys)
    arrays = {name: _lent(each, allowed, keys) for name, each in node.arrays.items()}
    groups = {name: _changed(each, allowed, keys) for name, each in node.groups.items()}
    if all(arrays[name] is each for name, each in node.arrays.items()) and all(
        groups[name] is each for name, each in node.groups.items()
    ):
        return node
    return replace(node, arrays=arrays, groups={name: _group(each) for name, each in groups.items()})


def _group(node: Node) -> GroupNode:
    assert isinstance(node, GroupNode)
    return node


def _lent(node: ArrayNode, allowed: Collection[str], keys: set[str | None]) -> ArrayNode:
    if not _is_blocked(node):
        return node
    wanted = _wanted(node)
    if not wanted or not all(_allows(allowed, name, each) for name, each in wanted.items()):
        return node
    from refbrowser.codecs.pipeline import CodecPipeline

    lent = replace(node, unreadable=None, lenders={name: str(each) for name, each in wanted.items()})
    try:
        CodecPipeline.for_array(lent)
    except RefbrowserError as error:
        return replace(node, unreadable=error.at(node.unreadable.place) if node.unreadable else error)
    keys.add(None if node.unreadable is None else node.unreadable.place.key)
    return lent
