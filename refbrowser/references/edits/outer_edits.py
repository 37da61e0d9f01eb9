"""Edits of gen rules and templates (see `references.edits`): the text outside `refs` changed by members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.references.content.content import DocumentContent, ReferenceText
from refbrowser.references.text.json_edit import dump, rewrite
from refbrowser.references.text.json_text import NodeKind, parse

#: The members of the top level that the specification knows.
KNOWN_MEMBERS = ("version", "templates", "gen", "refs")


def refused(message: str, advice: str = "") -> RefbrowserError:
    """Return the error of an edit that cannot be made."""
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


def top_members(document: ReferenceText) -> dict[str, Any]:
    """Return the members of the top level as Python values; `refs` is empty in it."""
    value: dict[str, Any] = document.node.to_python()
    return value


def with_member(document: ReferenceText, name: str, value: Any) -> ReferenceText:
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


def replaced_top(document: ReferenceText, value: Mapping[str, Any]) -> bytes:
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


def _check_rule(document: DocumentContent, index: int) -> None:
    if not 0 <= index < len(document.rule_nodes):
        raise refused(f"there is no gen rule {index}")


def _with_rules(document: ReferenceText, texts: Sequence[bytes], order: Sequence[int]) -> ReferenceText:
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


def _rule_text(document: ReferenceText, fields: Mapping[str, Any]) -> bytes:
    """Return the text of a new rule, spaced as the rules that are there."""
    nodes = document.rule_nodes
    if nodes:
        return rewrite(document.outer, nodes[-1], dict(fields))
    return dump(dict(fields))


def with_new_rules(document: ReferenceText, rules: Sequence[Mapping[str, Any]]) -> ReferenceText:
    """Return the document with rules before those that it has, which still win where both give a key."""
    order = [-1] * len(rules) + list(range(len(document.rule_nodes)))
    return _with_rules(document, [_rule_text(document, fields) for fields in rules], order)


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
        document = document.written()
        _check_rule(document, self.index)
        node = document.rule_nodes[self.index]
        outer = document.outer
        text = rewrite(outer, node, dict(self.fields))
        return document.with_outer(outer[: node.start] + text + outer[node.stop :])


@dataclass(frozen=True, slots=True)
class SetRuleField:
    """Another text for one field of a gen rule, whatever its other fields are by then."""

    index: int
    name: str
    text: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change {self.name} of gen rule {self.index}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        _check_rule(document, self.index)
        fields = rule_values(document)[self.index]
        return SetRule(self.index, {**fields, self.name: self.text}).apply(document)


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
        document = document.written()
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
        document = document.written()
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
        document = document.written()
        _check_rule(document, self.index)
        _check_rule(document, self.to)
        order = list(range(len(document.rule_nodes)))
        order.insert(self.to, order.pop(self.index))
        return _with_rules(document, [], order)


@dataclass(frozen=True, slots=True)
class SetTemplate:
    """Another text for a template that is there; or another place of an opened store or file."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change template {self.name}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        moved = document.with_place(self.name, self.text)
        if moved is not None:
            return moved
        document = document.written()
        templates = template_texts(document)
        if self.name not in templates:
            raise refused(f"there is no template {quoted(self.name)}")
        return with_member(document, "templates", {**templates, self.name: self.text})


@dataclass(frozen=True, slots=True)
class AddTemplate:
    """A template more, at the end."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Add template {self.name}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        document = document.written()
        templates = template_texts(document)
        if self.name in templates:
            raise refused(f"a template {quoted(self.name)} exists already")
        return with_member(document, "templates", {**templates, self.name: self.text})


@dataclass(frozen=True, slots=True)
class RemoveTemplate:
    """A template less."""

    name: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Remove template {self.name}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        document = document.written()
        templates = template_texts(document)
        if self.name not in templates:
            raise refused(f"there is no template {quoted(self.name)}")
        del templates[self.name]
        return with_member(document, "templates", templates)


@dataclass(frozen=True, slots=True)
class SetMember:
    """Another value of a member of the top level that the specification does not know, there or not."""

    name: str
    value: Any

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change member {self.name}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        _check_member(self.name)
        return with_member(document.written(), self.name, self.value)


@dataclass(frozen=True, slots=True)
class RemoveMember:
    """A member of the top level less that the specification does not know."""

    name: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Remove member {self.name}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        _check_member(self.name)
        text = document.written()
        members = top_members(text)
        if self.name not in members:
            raise refused(f"there is no member {quoted(self.name)}")
        del members[self.name]
        return text.with_outer(replaced_top(text, members))


def _check_member(name: str) -> None:
    if name in KNOWN_MEMBERS:
        raise refused(f"the member {quoted(name)} is edited elsewhere")


@dataclass(frozen=True, slots=True)
class RenameTemplate:
    """Another name for a template, in its place; what uses it is not changed."""

    old: str
    new: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Rename template {self.old} to {self.new}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        document = document.written()
        templates = template_texts(document)
        if self.old not in templates:
            raise refused(f"there is no template {quoted(self.old)}")
        if self.new in templates:
            raise refused(f"a template {quoted(self.new)} exists already")
        node = document.node.member("templates")
        assert node is not None
        spans = [(member.start, member.key_stop) for member in node.members if member.key == self.old]
        outer = document.outer
        for start, stop in reversed(spans):
            outer = outer[:start] + dump(self.new, outer[start:stop]) + outer[stop:]
        return document.with_outer(outer)
