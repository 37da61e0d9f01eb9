"""One jinja-str, parsed once: its tree and the names that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from refbrowser.references.templates.template_syntax import DELIMITERS, Syntax, parse


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A jinja-str (References specification, Version 1), checked but not evaluated.

    Attributes
    ----------
    text
        As it stands in the document.
    syntax
        The tree; of a literal text too where jinja2 changes it (a line feed at the end is dropped).
    names
        Names that are read, in order of first use; not those that ``{% set %}`` gave a value before.
    required
        Those of `names` that have no value of their own by the filter `default`.
    calls
        Names that are called as templates.
    """

    text: str
    syntax: Syntax | None
    names: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> Template:
        """Parse a text; equal short texts share one result.

        Raises
        ------
        RefbrowserError
            E_TEMPLATE, E_UNSAFE or E_BUDGET (safety section 3); `place.span` says where in the text.
        """
        return _parse_short(text) if len(text) <= _SHORT else _parse(text)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names that are to be passed where it is a template of the document: texts, numbers or templates."""
        return tuple(dict.fromkeys((*self.names, *self.calls)))

    @property
    def needed(self) -> tuple[str, ...]:
        """Those of `parameters` without which it cannot be rendered."""
        return tuple(dict.fromkeys((*self.required, *self.calls)))

    @property
    def is_literal(self) -> bool:
        """Whether the text holds nothing to evaluate."""
        return not any(delimiter in self.text for delimiter in DELIMITERS)

    @property
    def static_prefix(self) -> str:
        """The text before the first expression."""
        if self.is_literal:
            return self.text
        return self.text[: min(at for at in map(self.text.find, DELIMITERS) if at >= 0)]


def _parse(text: str) -> Template:
    if not any(mark in text for mark in ("{", "\n", "\r")):
        # What holds for the characters of a template holds for a literal text as well; `parse` checks it.
        return Template(text, None if len(text) <= 4096 and text.isascii() else parse(text))
    syntax = parse(text)
    names, required, calls = _names(syntax)
    return Template(text, syntax, names, required, calls)


#: Trees are large: those of long texts are not kept for others.
_parse_short = lru_cache(maxsize=1024)(_parse)
_SHORT = 1024


def _names(syntax: Syntax) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    from jinja2 import nodes

    names: dict[str, None] = {}
    required: dict[str, None] = {}
    calls: dict[str, None] = {}
    not_names: set[int] = set()
    guarded: set[int] = set()
    written: set[str] = set()
    for node in syntax.walk():
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
            not_names.add(id(node.node))
            if node.node.name not in written:
                calls[node.node.name] = None
        elif isinstance(node, nodes.Filter) and node.name == "default":
            guarded.add(id(node.node))
        elif isinstance(node, nodes.Name) and id(node) not in not_names:
            if node.ctx == "store":
                written.add(node.name)
            elif node.name not in written:
                names[node.name] = None
                if id(node) not in guarded:
                    required[node.name] = None
    return tuple(names), tuple(required), tuple(calls)
