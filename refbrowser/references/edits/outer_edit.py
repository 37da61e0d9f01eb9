"""Changing the text of a document outside of `refs`, member by member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.document.content import DocumentContent
from refbrowser.references.text.json_edit import rewrite


def refused(message: str, advice: str = "") -> RefbrowserError:
    """Return the error of an edit that cannot be made."""
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


def top_members(document: DocumentContent) -> dict[str, Any]:
    """Return the members of the top level as Python values; `refs` is empty in it."""
    value: dict[str, Any] = document.node.to_python()
    return value


def with_member(document: DocumentContent, name: str, value: Any) -> DocumentContent:
    """Return the document with another value of one member of the top level."""
    if document.version == 0:
        raise refused("a Version 0 document has neither templates nor rules", "Make it Version 1 first.")
    node = document.node.member(name)
    outer = document.outer
    if node is not None:
        text = rewrite(outer, node, value)
        return document.with_outer(outer[: node.start] + text + outer[node.stop :])
    top = top_members(document)
    order = {key: inner for key, inner in top.items() if key != "refs"}
    order[name] = value
    if "refs" in top:
        order["refs"] = top["refs"]
    return document.with_outer(replaced_top(document, order))


def replaced_top(document: DocumentContent, value: Mapping[str, Any]) -> bytes:
    """Return the outer text with other members of the top level."""
    node = document.node
    return document.outer[: node.start] + rewrite(document.outer, node, value) + document.outer[node.stop :]


def template_texts(document: DocumentContent) -> dict[str, Any]:
    """Return the texts of the templates as they stand in the document."""
    if document.version == 0:
        raise refused("a Version 0 document has no templates", "Make it Version 1 first.")
    return dict(document.templates.templates)


def rule_values(document: DocumentContent) -> list[Any]:
    """Return the gen rules as Python values."""
    return [node.to_python() for node in document.rule_nodes]
