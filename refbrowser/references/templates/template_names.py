"""Where a jinja-str names a template, and the same text with another name in those places."""

from __future__ import annotations

from collections.abc import Collection

from refbrowser.errors import RefbrowserError
from refbrowser.references.templates.template import Template
from refbrowser.references.templates.template_syntax import DELIMITERS, Span, lex

#: Words that jinja takes for itself.
RESERVED = frozenset({
    "and", "block", "call", "do", "elif", "else", "endblock", "endcall", "endfilter", "endfor", "endif",
    "endmacro", "endraw", "endset", "endwith", "extends", "false", "False", "filter", "for", "from",
    "if", "import", "in", "include", "is", "macro", "none", "None", "not", "or", "print", "raw",
    "recursive", "set", "true", "True", "with", "without",
})  # fmt: skip


def can_be_named(name: str) -> bool:
    """Return whether a jinja-str can name a template that is called so."""
    return name.isidentifier() and name.isascii() and name not in RESERVED


def names_in(text: str, hidden: Collection[str] = ()) -> frozenset[str]:
    """Return the templates that a jinja-str uses; none where it cannot be parsed.

    Parameters
    ----------
    hidden
        Names that mean something else there (dimensions of the rule), unless they are called.
    """
    if "{" not in text:
        return frozenset()
    try:
        template = Template.parse(text)
    except RefbrowserError:
        return frozenset()
    return frozenset(name for name in template.names if name not in hidden) | frozenset(template.calls)


def uses_in(text: str, name: str, *, only_calls: bool = False) -> list[Span]:
    """Return where a jinja-str names a template; none where it cannot be parsed.

    Text outside of braces, texts in quotes, comments, filters, attributes, names of arguments and names that
    the text sets are no uses.

    Parameters
    ----------
    only_calls
        A plain name means something else there: a dimension, or an argument of the template around it.
    """
    if name not in text or not any(delimiter in text for delimiter in DELIMITERS):
        return []
    try:
        tokens = [token for token in lex(text) if token[2] != "whitespace"]
    except RefbrowserError:
        return []
    found: list[Span] = []
    is_set = False
    for number, (start, stop, kind, word) in enumerate(tokens):
        if is_set and kind == "block_end":
            # From here on the name has the value that the text gave it.
            return found
        if kind != "name" or word != name:
            continue
        before = tokens[number - 1][3] if number else ""
        if before == "set" and tokens[number - 2][2] == "block_begin":
            is_set = True
            continue
        after = tokens[number + 1][3] if number + 1 < len(tokens) else ""
        is_argument = after == "=" and before in ("(", ",")
        if before in ("|", ".") or is_argument or (only_calls and after != "("):
            continue
        found.append((start, stop))
    return found


def renamed_in(text: str, old: str, new: str, *, only_calls: bool = False) -> str:
    """Return a jinja-str that names `new` wherever it named the template `old`; see `uses_in`."""
    for start, stop in reversed(uses_in(text, old, only_calls=only_calls)):
        text = text[:start] + new + text[stop:]
    return text
