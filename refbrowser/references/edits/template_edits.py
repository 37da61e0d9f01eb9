"""Edits of the templates of a document (see `references.edits`)."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.errors import quoted
from refbrowser.references.document.content import DocumentContent
from refbrowser.references.edits.outer_edit import refused, template_texts, with_member
from refbrowser.references.text.json_edit import dump


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
        templates = template_texts(document)
        if self.name in templates:
            raise refused(f"there is a template {quoted(self.name)} already")
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
        templates = template_texts(document)
        if self.name not in templates:
            raise refused(f"there is no template {quoted(self.name)}")
        del templates[self.name]
        return with_member(document, "templates", templates)


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
        templates = template_texts(document)
        if self.old not in templates:
            raise refused(f"there is no template {quoted(self.old)}")
        if self.new in templates:
            raise refused(f"there is a template {quoted(self.new)} already")
        node = document.node.member("templates")
        assert node is not None
        spans = [(member.start, member.key_stop) for member in node.members if member.key == self.old]
        outer = document.outer
        for start, stop in reversed(spans):
            outer = outer[:start] + dump(self.new, outer[start:stop]) + outer[stop:]
        return document.with_outer(outer)
