"""Another name for a template and for everything that uses it, as one edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import quoted
from refbrowser.references.document.content import DocumentContent
from refbrowser.references.edits.outer_edit import refused, rule_values
from refbrowser.references.edits.replace_urls import changed_urls
from refbrowser.references.edits.rule_edits import SetRule
from refbrowser.references.edits.template_edits import RenameTemplate
from refbrowser.references.templates.template_names import can_be_named, renamed_in

#: Fields of a gen rule that are jinja-str.
RULE_FIELDS = ("key", "url", "offset", "length")


@dataclass(frozen=True, slots=True)
class RenameTemplateAndUses:
    """Another name for a template, in its place, and wherever URLs of refs and gen rules name it.

    Names in a template are those of its arguments.
    """

    old: str
    new: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Rename template {self.old} to {self.new} with its uses"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if not can_be_named(self.new):
            raise refused(f"jinja cannot name a template {quoted(self.new)}")
        renamed = RenameTemplate(self.old, self.new).apply(document)
        renamed = self._in_rules(renamed)
        return renamed.with_refs(changed_urls(renamed.refs, lambda url: renamed_in(url, self.old, self.new)))

    def _in_rules(self, document: DocumentContent) -> DocumentContent:
        for index, fields in enumerate(rule_values(document)):
            changed = self._renamed_rule(index, fields)
            if changed is not fields:
                document = SetRule(index, changed).apply(document)
        return document

    def _renamed_rule(self, index: int, fields: Any) -> Any:
        if not isinstance(fields, Mapping):
            return fields
        dimensions = fields.get("dimensions")
        hidden = frozenset(dimensions) if isinstance(dimensions, Mapping) else frozenset()
        result: dict[str, Any] = dict(fields)
        if self.new in hidden:
            message = f"gen rule {index} has a dimension {quoted(self.new)}: a name cannot be both"
            raise refused(message, "Choose another name, or rename the dimension first.")
        for name in RULE_FIELDS:
            text = fields.get(name)
            if isinstance(text, str):
                result[name] = renamed_in(text, self.old, self.new, only_calls=self.old in hidden)
        return fields if result == dict(fields) else result
