"""Edits of the gen rules of a document (see `references.edits`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refbrowser.references.document.content import DocumentContent
from refbrowser.references.edits.outer_edit import refused, with_member
from refbrowser.references.text.json_edit import dump, rewrite
from refbrowser.references.text.json_text import NodeKind, parse


def _check_rule(document: DocumentContent, index: int) -> None:
    if not 0 <= index < len(document.rule_nodes):
        raise refused(f"there is no gen rule {index}")


def _with_rules(document: DocumentContent, texts: Sequence[bytes], order: Sequence[int]) -> DocumentContent:
    """Return the document whose rules are those numbered `order` (-1 takes the next of `texts`)."""
    node = document.node.member("gen")
    outer = document.outer
    if node is None or node.kind is not NodeKind.LIST or not node.items:
        return with_member(document, "gen", [parse(text).to_python() for text in texts])
    items = node.items
    new = iter(texts)
    head = outer[node.start + 1 : items[0].start]
    between = outer[items[0].stop : items[1].start] if len(items) > 1 else b"," + (head or b" ")
    tail = outer[items[-1].stop : node.stop - 1]
    parts = [next(new) if number < 0 else outer[items[number].start : items[number].stop] for number in order]
    inside = head + between.join(parts) + tail if parts else b""
    return document.with_outer(outer[: node.start] + b"[" + inside + b"]" + outer[node.stop :])


def _rule_text(document: DocumentContent, fields: Mapping[str, Any]) -> bytes:
    """Return the text of a new rule, spaced as the rules that are there."""
    nodes = document.rule_nodes
    if nodes:
        return rewrite(document.outer, nodes[-1], dict(fields))
    return dump(dict(fields))


@dataclass(frozen=True, slots=True)
class SetRule:
    """Other fields for a gen rule; all its members are given, unknown ones too."""

    index: int
    fields: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change gen rule {self.index}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        _check_rule(document, self.index)
        node = document.rule_nodes[self.index]
        outer = document.outer
        text = rewrite(outer, node, dict(self.fields))
        return document.with_outer(outer[: node.start] + text + outer[node.stop :])


@dataclass(frozen=True, slots=True)
class InsertRule:
    """A gen rule more, so that its number is `index`."""

    index: int
    fields: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Add gen rule {self.index}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        order = list(range(len(document.rule_nodes)))
        if not 0 <= self.index <= len(order):
            raise refused(f"there is no place {self.index} among the gen rules")
        order.insert(self.index, -1)
        return _with_rules(document, [_rule_text(document, self.fields)], order)


@dataclass(frozen=True, slots=True)
class RemoveRule:
    """A gen rule less."""

    index: int

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Remove gen rule {self.index}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        _check_rule(document, self.index)
        order = [number for number in range(len(document.rule_nodes)) if number != self.index]
        return _with_rules(document, [], order)


@dataclass(frozen=True, slots=True)
class MoveRule:
    """A gen rule to another place, so that its number is `to`."""

    index: int
    to: int

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Move gen rule {self.index} to {self.to}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        _check_rule(document, self.index)
        _check_rule(document, self.to)
        order = list(range(len(document.rule_nodes)))
        order.insert(self.to, order.pop(self.index))
        return _with_rules(document, [], order)
