"""Edits of a reference document: plain values, each giving another document.

An edit changes the text where it says so and nowhere else: order, spacing, unknown members and the spelling
of numbers stay. Undoing one is having kept the document before it, which shares all its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.content.consolidated import consolidated_edit
from refbrowser.references.content.content import DocumentContent, Edit, ReferenceText
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.refs import Patch, References, missing_key
from refbrowser.references.content.url_prefixes import replaced_urls, with_new_prefix
from refbrowser.references.edits.outer_edits import (
    AddTemplate,
    InsertRule,
    MoveRule,
    RemoveMember,
    RemoveRule,
    RemoveTemplate,
    RenameTemplate,
    SetMember,
    SetRule,
    SetRuleField,
    SetTemplate,
    refused,
    replaced_top,
    rule_values,
    top_members,
)
from refbrowser.references.text.json_edit import dump, rewrite
from refbrowser.references.text.json_text import JsonError, JsonReader, Node, NodeKind, parse

__all__ = [
    "AddTemplate",
    "Compound",
    "Edit",
    "InsertRule",
    "MoveRule",
    "RemoveMember",
    "RemoveReference",
    "RemoveRule",
    "RemoveTemplate",
    "RenameReference",
    "RenameTemplate",
    "ReplaceUrlPrefix",
    "SetMember",
    "SetMetadata",
    "SetReference",
    "SetRule",
    "SetRuleField",
    "SetTemplate",
    "SetVersion",
]


@dataclass(frozen=True, slots=True)
class SetVersion:
    """Make a Version 0 document Version 1, add the member `version` that is missing, or write all rows out.

    Version 0 is the expansion: templates and gen rules are gone, and with them members that it cannot hold.
    """

    version: int = 1

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Make it Version {self.version}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if self.version == 0:
            return document if document.version == 0 else _expanded(document.written())
        if self.version != 1:
            raise refused("there are only Version 0 and Version 1")
        if not isinstance(document, ReferenceText) or (
            document.version == 1 and not document.version_missing
        ):
            return document
        if document.version == 1:
            outer = replaced_top(document, {"version": 1, **top_members(document)})
            return replace(document, outer=outer, version_missing=False)
        return _wrapped(document)


def _expanded(document: ReferenceText) -> ReferenceText:
    """Return the expansion of a document as a Version 0 document."""
    from refbrowser.references.content.expansion import Expansion

    rows = Expansion(document).rows
    if rows > LIMITS.references:
        message = f"the document has {rows} rows, more than the limit of {LIMITS.references} (references)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    made = type(document).read(Expansion(document).to_version0(), name=document.name)
    # What is missing in a store is told by the store, in either version.
    return replace(made, origin=document.store, notes=document.notes)


def _wrapped(document: ReferenceText) -> ReferenceText:
    """Return a Version 0 document as the `refs` of a Version 1 document."""
    refs = document.refs
    # A line feed between them lets no two make a mark that neither holds.
    if document_renders("\n".join((*refs.table.urls, *urls_beside_table(refs)))):
        raise refused("a URL holds '{{', '{%' or '{#', which Version 1 would render")
    assert document.hole is not None
    head, tail = document.outer[: document.hole], document.outer[document.hole :]
    start = document.node.start
    outer = head[:start] + b'{"version": 1, "refs": ' + head[start:] + tail[:1] + b"}" + tail[1:]
    return replace(document, outer=outer, version=1)


def urls_beside_table(refs: References) -> list[str]:
    """Return the URLs that the table has not: of edited entries, and of those with numbers beyond 64 bits."""
    values = [refs.value(slot) for slot in refs.slots_beside_table()]
    return [value.url for value in values if value.kind in (None, ValueKind.LARGE)]


def document_renders(url: str) -> bool:
    """Return whether jinja would take text of a URL for more than text."""
    return any(mark in url for mark in ("{{", "{%", "{#"))


def with_refs_object(document: DocumentContent) -> DocumentContent:
    """Return the document with an object `refs`, empty where there was none."""
    if not isinstance(document, ReferenceText) or document.hole is not None:
        return document
    if document.node.member("refs") is not None:
        raise refused("the member refs is not an object", "Repair it in the text first.")
    outer = replaced_top(document, {**top_members(document), "refs": {}})
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
    old = _sample(refs.at_hand, value) if slot is None else refs.value_text(slot)
    if old is None:
        return dump(value)
    return rewrite(old, parse(old), value)


def _checked_value(value: Any) -> Any:
    try:
        dump(value)
    except (TypeError, ValueError) as error:
        raise refused(f"the value cannot be written as JSON: {quoted(error)}") from None
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
        document = with_refs_object(document)
        refs = document.refs
        if refs.is_left_at(self.key):
            raw = dump(_checked_value(self.value))
            return document.with_refs(refs.with_keys({self.key: Patch.of(self.key, dump(self.key), raw)}))
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
        refs = document.refs
        if refs.is_left_at(self.key):
            if not _is_left(document, self.key):
                raise missing_key(self.key)
            return document.with_refs(refs.with_keys({self.key: None}))
        slots = refs.all_slots(self.key)
        if not slots:
            raise missing_key(self.key)
        return document.with_refs(refs.without(slots))


def _is_left(document: DocumentContent, key: str) -> bool:
    """Return whether there is an entry of a chunk, where not all are read."""
    try:
        return document.left_reference(key) is not None
    except RefbrowserError:
        return True  # It cannot be read, and can be removed.


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
            raise refused(f"a reference {quoted(self.new)} exists already")
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
            raise refused("the prefix to replace is empty")
        slots = None
        if self.keys is None:
            document = self._in_outer(document)
        else:
            slots = [slot for key in self.keys if (slot := document.refs.find_slot(key)) is not None]
        return document.with_refs(replaced_urls(document.refs, self.old, self.new, slots))

    def _in_outer(self, document: DocumentContent) -> DocumentContent:
        if document.version == 0:
            return document
        for name, text in document.places.items():
            if text.startswith(self.old):
                document = SetTemplate(name, with_new_prefix(text, self.old, self.new)).apply(document)
        for index, fields in enumerate(rule_values(document)):
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
        data = document.view_at_hand.inline(slot)
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


def overriding_rule(document: DocumentContent, number: int, row: int) -> InsertRule:
    """Return the edit that adds a rule for the key of one row of rule `number`, with what it gives now.

    A URL that is the same for all rows keeps its text, templates included. Each dimension has the value of
    the row alone.

    Raises
    ------
    RefbrowserError
        The row has a fault, or its text cannot be written as it is.
    """
    rule = document.rules[number]
    found = rule.rows(row, row + 1)
    if found.faults:
        raise next(iter(found.faults.values()))
    key, url = found.keys[0], found.urls[0]
    if key is None or url is None:
        raise refused("this row has no key or URL")
    fields: dict[str, Any] = {"key": _literal(key), "url": _url_text(document, rule.url or "", url)}
    if found.offsets is not None and found.lengths is not None:
        fields["offset"], fields["length"] = str(found.offsets[0]), str(found.lengths[0])
    fields["dimensions"] = {
        name: [value] for name, value in zip(rule.space.names, rule.space.values(row), strict=True)
    }
    return InsertRule(len(document.rules), fields)


def _url_text(document: DocumentContent, text: str, url: str) -> str:
    try:
        if document.templates.render(text) == url:
            return text
    except RefbrowserError:
        # It names a dimension.
        pass
    return _literal(url)


def _literal(text: str) -> str:
    if any(mark in text for mark in ("{{", "{%", "{#")):
        raise refused("the key or URL of this row holds text that a gen rule would render")
    return text
