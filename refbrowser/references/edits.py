"""Edits of a reference document: plain values, each giving another document.

An edit changes the text where it says so and nowhere else: order, spacing, unknown members and the spelling
of numbers stay. Undoing one is having kept the document before it, which shares all its columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.references.content import DocumentContent
from refbrowser.references.json_edit import dump, rewrite
from refbrowser.references.json_text import JsonError, JsonReader, Node, NodeKind, parse
from refbrowser.references.metadata_edit import consolidated_edit
from refbrowser.references.refs import Patch, References, missing_key
from refbrowser.references.replace_urls import replaced_urls, with_new_prefix


class Edit(Protocol):
    """A change of a document."""

    @property
    def title(self) -> str:
        """What the history calls it."""
        ...

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        ...


def _refused(message: str, advice: str = "") -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


# The outer text


def _top(document: DocumentContent) -> dict[str, Any]:
    """Return the members of the top level as Python values; `refs` is empty in it."""
    value: dict[str, Any] = document.node.to_python()
    return value


def _with_member(document: DocumentContent, name: str, value: Any) -> DocumentContent:
    """Return the document with another value of one member of the top level."""
    if document.version == 0:
        raise _refused("a Version 0 document has neither templates nor rules", "Make it Version 1 first.")
    node = document.node.member(name)
    outer = document.outer
    if node is not None:
        text = rewrite(outer, node, value)
        return document.with_outer(outer[: node.start] + text + outer[node.stop :])
    top = _top(document)
    order = {key: inner for key, inner in top.items() if key != "refs"}
    order[name] = value
    if "refs" in top:
        order["refs"] = top["refs"]
    return document.with_outer(_replace_top(document, order))


def _replace_top(document: DocumentContent, value: Mapping[str, Any]) -> bytes:
    node = document.node
    return document.outer[: node.start] + rewrite(document.outer, node, value) + document.outer[node.stop :]


def _templates(document: DocumentContent) -> dict[str, Any]:
    if document.version == 0:
        raise _refused("a Version 0 document has no templates", "Make it Version 1 first.")
    return dict(document.templates.templates)


@dataclass(frozen=True, slots=True)
class SetTemplate:
    """Another text for a template that is there."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change template {self.name}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        templates = _templates(document)
        if self.name not in templates:
            raise _refused(f"there is no template {quoted(self.name)}")
        return _with_member(document, "templates", {**templates, self.name: self.text})


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
        templates = _templates(document)
        if self.name in templates:
            raise _refused(f"there is a template {quoted(self.name)} already")
        return _with_member(document, "templates", {**templates, self.name: self.text})


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
        templates = _templates(document)
        if self.name not in templates:
            raise _refused(f"there is no template {quoted(self.name)}")
        del templates[self.name]
        return _with_member(document, "templates", templates)


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
        templates = _templates(document)
        if self.old not in templates:
            raise _refused(f"there is no template {quoted(self.old)}")
        if self.new in templates:
            raise _refused(f"there is a template {quoted(self.new)} already")
        node = document.node.member("templates")
        assert node is not None
        spans = [(member.start, member.key_stop) for member in node.members if member.key == self.old]
        outer = document.outer
        for start, stop in reversed(spans):
            outer = outer[:start] + dump(self.new, outer[start:stop]) + outer[stop:]
        return document.with_outer(outer)


def _rules(document: DocumentContent) -> list[Any]:
    return [node.to_python() for node in document.rule_nodes]


def _check_rule(document: DocumentContent, index: int) -> None:
    if not 0 <= index < len(document.rule_nodes):
        raise _refused(f"there is no gen rule {index}")


def _with_rules(document: DocumentContent, texts: Sequence[bytes], order: Sequence[int]) -> DocumentContent:
    """Return the document whose rules are those numbered `order` (-1 takes the next of `texts`)."""
    node = document.node.member("gen")
    outer = document.outer
    if node is None or node.kind is not NodeKind.LIST or not node.items:
        return _with_member(document, "gen", [parse(text).to_python() for text in texts])
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
            raise _refused(f"there is no place {self.index} among the gen rules")
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
        rules = _rules(document)
        del rules[self.index]
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


@dataclass(frozen=True, slots=True)
class SetVersion:
    """Make a Version 0 document Version 1, or add the member `version` that is missing."""

    version: int = 1

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Make it Version {self.version}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if self.version != 1:
            raise _refused("only Version 1 can be set", "Save as Version 0 writes the expansion.")
        if document.version == 1 and not document.version_missing:
            return document
        if document.version == 1:
            outer = _replace_top(document, {"version": 1, **_top(document)})
            return replace(document, outer=outer, version_missing=False)
        return _wrapped(document)


def _wrapped(document: DocumentContent) -> DocumentContent:
    """Return a Version 0 document as the `refs` of a Version 1 document."""
    urls = document.refs.table.urls
    if any(document_renders(url) for url in urls):
        raise _refused("a URL holds '{{', '{%' or '{#', which Version 1 would render")
    assert document.hole is not None
    head, tail = document.outer[: document.hole], document.outer[document.hole :]
    start = document.node.start
    outer = head[:start] + b'{"version": 1, "refs": ' + head[start:] + tail[:1] + b"}" + tail[1:]
    return replace(document, outer=outer, version=1)


def document_renders(url: str) -> bool:
    """Return whether jinja would take text of a URL for more than text."""
    return any(mark in url for mark in ("{{", "{%", "{#"))


# Entries of refs


def _with_refs_object(document: DocumentContent) -> DocumentContent:
    """Return the document with an object `refs`, empty where there was none."""
    if document.hole is not None:
        return document
    if document.node.member("refs") is not None:
        raise _refused("the member refs is not an object", "Repair it in the text first.")
    outer = _replace_top(document, {**_top(document), "refs": {}})
    return document.with_outer(outer)


def _sample(refs: References, value: Any) -> bytes | None:
    """Return the text of a value of the same kind that is there already, to space the new one alike."""
    if not isinstance(value, list | tuple) or not len(refs.table):
        return None
    column = refs.table.url
    for row in (len(column) - 1, 0, *(int(at) for at in (column >= 0).nonzero()[0][:1])):
        if column[row] >= 0:
            return refs.table.value_text(row)
    return None


def value_text(refs: References, slot: int | None, value: Any) -> bytes:
    """Return the JSON text of a value of refs: what is there changed, or spaced as what is there."""
    old = _sample(refs, value) if slot is None else refs.value_text(slot)
    if old is None:
        return dump(value)
    return rewrite(old, parse(old), value)


def _checked_value(value: Any) -> Any:
    try:
        dump(value)
    except (TypeError, ValueError) as error:
        raise _refused(f"the value cannot be written as JSON: {quoted(error)}") from None
    return value


@dataclass(frozen=True, slots=True)
class SetReference:
    """A value for a key: text, [url], or [url, offset, length]; the key is added where it is not there."""

    key: str
    value: Any

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change {self.key}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        document = _with_refs_object(document)
        refs = document.refs
        slot = refs.find_slot(self.key)
        raw = value_text(refs, slot, _checked_value(self.value))
        if slot is None:
            return document.with_refs(refs.with_appended(Patch.of(self.key, dump(self.key), raw)))
        if raw == refs.value_text(slot):
            return document
        return document.with_refs(refs.with_patch(slot, Patch.of(self.key, refs.key_text(slot), raw)))


@dataclass(frozen=True, slots=True)
class RemoveReference:
    """A key less, however often it is there."""

    key: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Remove {self.key}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        slots = document.refs.all_slots(self.key)
        if not slots:
            raise missing_key(self.key)
        return document.with_refs(document.refs.without(slots))


@dataclass(frozen=True, slots=True)
class RenameReference:
    """Another key for an entry, in its place, however often it is there."""

    old: str
    new: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Rename {self.old} to {self.new}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        refs = document.refs
        slots = refs.all_slots(self.old)
        if not slots:
            raise missing_key(self.old)
        if self.old == self.new:
            return document
        if refs.find_slot(self.new) is not None:
            raise _refused(f"there is a reference {quoted(self.new)} already")
        for slot in slots:
            text = dump(self.new, refs.key_text(slot))
            refs = refs.with_patch(slot, Patch.of(self.new, text, refs.value_text(slot)))
        return document.with_refs(refs)


@dataclass(frozen=True, slots=True)
class ReplaceUrlPrefix:
    """Another beginning for every URL that begins with `old`: one rule over the table of URLs.

    Without `keys` the URLs of templates and gen rules change too, where their text begins so.
    """

    old: str
    new: str
    keys: Sequence[str] | None = None

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Replace {self.old} by {self.new}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if not self.old:
            raise _refused("the prefix to replace is empty")
        refs = document.refs
        if self.keys is None:
            document = self._in_outer(document)
            slots = None
        else:
            slots = [slot for key in self.keys if (slot := refs.find_slot(key)) is not None]
        return document.with_refs(replaced_urls(refs, self.old, self.new, slots))

    def _in_outer(self, document: DocumentContent) -> DocumentContent:
        if document.version == 0:
            return document
        templates = _templates(document)
        changed = {name: with_new_prefix(text, self.old, self.new) for name, text in templates.items()}
        if changed != templates:
            document = _with_member(document, "templates", changed)
        for index, fields in enumerate(_rules(document)):
            if isinstance(fields, dict) and isinstance(fields.get("url"), str):
                url = with_new_prefix(fields["url"], self.old, self.new)
                if url != fields["url"]:
                    document = SetRule(index, {**fields, "url": url}).apply(document)
        return document


@dataclass(frozen=True, slots=True)
class SetMetadata:
    """Another JSON value for a metadata key, there and in the consolidated metadata in one step."""

    key: str
    json: Any

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Change {self.key}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        value = metadata_value(document, self.key, self.json)
        changed = SetReference(self.key, value).apply(document)
        for key, json in consolidated_edit(changed, self.key, self.json):
            changed = SetReference(key, metadata_value(changed, key, json)).apply(changed)
        return changed


def metadata_value(document: DocumentContent, key: str, json: Any) -> Any:
    """Return the value of refs for a metadata document: its text changed where `json` differs.

    An entry that is an object stays one.
    """
    refs = document.refs
    slot = refs.find_slot(key)
    if slot is None:
        return dump(json).decode("ascii")
    node: Node = JsonReader(refs.value_text(slot)).value(0)
    if node.kind is NodeKind.OBJECT:
        return json
    try:
        data = document.view.inline(slot)
        return rewrite(data, parse(data), json).decode("utf-8")
    except (RefbrowserError, JsonError, AssertionError):
        return dump(json).decode("ascii")


@dataclass(frozen=True, slots=True)
class Compound:
    """Several edits as one step."""

    title: str
    edits: tuple[Edit, ...] = field(default=())

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        for edit in self.edits:
            document = edit.apply(document)
        return document
