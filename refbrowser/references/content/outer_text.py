"""What stands in the text of a document outside of `refs`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from refbrowser.references.content.columns import RenderedUrls
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.references.text.json_text import JsonReader, Node, NodeKind

if TYPE_CHECKING:
    from refbrowser.references.content.content import ReferenceText


class OuterText:
    """What stands in the text of a document outside of `refs`, each part read when it is asked for.

    States of a document whose outer text is the same share it.
    """

    def __init__(self, version: int, data: bytes, mark: int, values: Mapping[str, str]) -> None:
        self.version, self.data, self.mark, self.values = version, data, mark, values
        self._rendered: tuple[tuple[str, ...], RenderedUrls] | None = None

    def is_of(self, document: ReferenceText) -> bool:
        """Return whether it is that of a document."""
        same = self.data is document.outer and self.values is document.values
        return same and (self.version, self.mark) == (document.version, document.mark)

    @cached_property
    def node(self) -> Node:
        """The text parsed; `refs` is an empty object in it."""
        reader = JsonReader(self.data)
        return reader.value(reader.space(self.mark))

    @cached_property
    def hole(self) -> int | None:
        """Where in the text the entries of `refs` belong; None where there is no such object."""
        if self.version == 0:
            return self.node.start + 1
        node = self.node.member("refs")
        return node.start + 1 if node is not None and node.kind is NodeKind.OBJECT else None

    @cached_property
    def templates(self) -> TemplateSet:
        """The templates, with the values that the user gave."""
        node = self.node.member("templates") if self.version == 1 else None
        texts = node.to_python() if node is not None and node.kind is NodeKind.OBJECT else {}
        return TemplateSet(texts, self.values)

    def rendered(self, urls: tuple[str, ...]) -> RenderedUrls:
        """Return URLs after rendering; those of the last call are known."""
        if self._rendered is None or self._rendered[0] is not urls:
            templates = self.templates if self.version == 1 else None
            self._rendered = urls, RenderedUrls.of(urls, templates)
        return self._rendered[1]

    @property
    def rule_nodes(self) -> list[Node]:
        """The rules."""
        node = self.node.member("gen") if self.version == 1 else None
        return node.items if node is not None else []

    @cached_property
    def rules(self) -> tuple[GenRule, ...]:
        """The gen rules."""
        return tuple(
            GenRule(node.to_python(), self.templates, index) for index, node in enumerate(self.rule_nodes)
        )
