"""The grammar of templates: jinja2's parser, the check of what its tree may hold, and the names in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates.constant_lists import ConstantList, ListCut, find_lists

if TYPE_CHECKING:
    from jinja2 import Environment, nodes


Span = tuple[int, int]

#: A text with none of these is its own rendering.
DELIMITERS = ("{{", "{%", "{#")

_ARITHMETIC = {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow", "Neg", "Pos"}
_LOGIC = {"Not", "And", "Or", "Compare", "CondExpr", "If"}
_NESTING = frozenset({*_ARITHMETIC, *_LOGIC, "Concat", "Filter", "Getitem", "Call", "List", "Tuple", "Dict"})
_ALLOWED = _NESTING | {
    *("Output", "TemplateData", "Name", "Const", "Operand", "Keyword", "Pair", "Getattr", "Slice", "Assign")
}
#: What half of a surrogate pair is.
NO_CHARACTER = "half of a surrogate pair is not a character"
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_UNFINISHED = frozenset({".", "is", "not"})
_ADVICE = {
    "Test": "tests (is ...) are not known here; compare with == or use the filter default",
    "AssignBlock": "write {% set name = value %}",
}


def template_error(
    kind: ErrorKind, message: str, span: Span | None = None, advice: str = ""
) -> RefbrowserError:
    """Return an error at `span` (characters) of the text of a template."""
    return RefbrowserError(kind, message, Place(span=span), advice)


@dataclass(frozen=True, eq=False)
class Syntax:
    """The checked tree of one template text; positions in it are offsets of characters.

    Attributes
    ----------
    text
        The source.
    body
        jinja2's nodes; `lineno` of each is the offset of a token of it.
    stops
        Offset of each token to the offset where it ends; the items of a list of `lists` are one token.
    lists
        Offset of a list to its integers, which are not in the tree.
    """

    text: str
    body: tuple[nodes.Node, ...]
    stops: dict[int, int]
    lists: dict[int, ConstantList] = field(default_factory=dict)

    @cached_property
    def _starts(self) -> list[int]:
        return list(self.stops)

    def span(self, node: nodes.Node) -> Span:
        """Return where `node` stands in the text."""
        places = []
        pending = [node]
        while pending:
            item = pending.pop()
            if item.lineno is not None:
                places.append(item.lineno)
            pending.extend(item.iter_child_nodes())
        if not places:
            return (0, len(self.text))
        starts = self._starts
        first, last = (bisect_right(starts, place) - 1 for place in (min(places), max(places)))
        first, last = self._balanced(max(first, 0), max(last, 0))
        return (starts[first], self.stops[starts[last]])

    def _balanced(self, first: int, last: int) -> tuple[int, int]:
        """Take in the tokens that the tree does not keep: brackets, and the name after a dot or `is`."""
        starts = self._starts
        opened = missing = 0
        number = first
        while number <= last:
            token = self.text[starts[number] : self.stops[starts[number]]]
            opened += token in _OPENING
            if token in _CLOSING:
                missing += not opened
                opened -= opened > 0
            if number == last < len(starts) - 1 and (opened or token in _UNFINISHED or token.isspace()):
                last += 1
            number += 1
        while missing and first:
            first -= 1
            token = self.text[starts[first] : self.stops[starts[first]]]
            missing += (token in _CLOSING) - (token in _OPENING)
        return first, last

    @cached_property
    def names_set(self) -> tuple[str, ...]:
        """Names that ``{% set %}`` gives a value."""
        if "{%" not in self.text:
            return ()
        names = (getattr(node, "name", "") for node in self.walk() if getattr(node, "ctx", "") == "store")
        return tuple(dict.fromkeys(names))

    def walk(self) -> Iterator[nodes.Node]:
        """Yield every node, parents first."""
        for node, _ in _walk(self.body):
            yield node


def parse(text: str) -> Syntax:
    """Parse and check one jinja-str (References specification, Version 1).

    Raises
    ------
    RefbrowserError
        E_TEMPLATE for what is not grammar or not allowed, E_UNSAFE for attributes, E_BUDGET for a limit of
        safety section 3; `place.span` is the part of the text that is at fault.
    """
    cuts = _lists_of(text)
    if has_surrogates(text):
        raise template_error(ErrorKind.TEMPLATE, NO_CHARACTER, (0, len(text)))
    syntax = _parse_lists(text, cuts)
    for size, (node, depth) in enumerate(_walk(syntax.body), 1):
        if size > LIMITS.template_nodes:
            raise template_error(
                ErrorKind.BUDGET, f"the template has more than {LIMITS.template_nodes} nodes", (0, len(text))
            )
        if depth > LIMITS.template_nesting:
            raise _too_deep(syntax.span(node))
        _check_node(node, syntax)
    return syntax


def _parse_lists(text: str, cuts: list[ListCut]) -> Syntax:
    """Parse a text without the items of its long lists of integers."""
    body, stops = _parse_body(text, cuts)
    if cuts:
        from jinja2 import nodes

        lists = {node.lineno for node, _ in _walk(body) if isinstance(node, nodes.List)}
        known = [cut for cut in cuts if cut.start - 1 in lists]
        if len(known) < len(cuts):
            # Some are a subscript of several numbers.
            cuts = known
            _check_size(text, cuts)
            body, stops = _parse_body(text, cuts)
    return Syntax(text, body, stops, {cut.start - 1: cut.items for cut in cuts})


def _lists_of(text: str) -> list[ListCut]:
    """Return the lists of integers of a text; what only looks like one, as in quotes, is none."""
    if len(text) > LIMITS.template_source + LIMITS.template_list:
        raise _too_long(text)
    cuts = find_lists(text)
    _check_size(text, cuts)
    if cuts:
        cuts = _Positions(text, cuts).cuts_that_are_tokens()
        _check_size(text, cuts)
    return cuts


def _check_size(text: str, cuts: list[ListCut]) -> None:
    lists = sum(cut.stop - cut.start for cut in cuts)
    if lists > LIMITS.template_list:
        message = f"the lists of the template are longer than {LIMITS.template_list} bytes"
        raise template_error(ErrorKind.BUDGET, message, (0, len(text)))
    if text_size(text) - lists > LIMITS.template_source:
        raise _too_long(text)


def _too_long(text: str) -> RefbrowserError:
    message = f"the template is longer than {LIMITS.template_source} bytes"
    return template_error(ErrorKind.BUDGET, message, (0, len(text)))


def text_size(text: str) -> int:
    """Return the bytes of a text in UTF-8 (lone surrogates count too)."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def has_surrogates(text: str) -> bool:
    """Tell whether a text holds half of a surrogate pair."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def lex(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield (start, stop, kind, text) of the tokens of a template, white space among them.

    The items of a long list of integers are one token.

    Raises
    ------
    RefbrowserError
        Where the text stops to be tokens.
    """
    from jinja2 import TemplateSyntaxError

    try:
        tokens = _Positions(text, _lists_of(text))
        for start, kind, value in tokens:
            yield start, tokens.stops[start], kind, value
    except TemplateSyntaxError as error:
        raise template_error(ErrorKind.TEMPLATE, _plain(error.message or "not a template")) from None


def _parse_body(text: str, cuts: list[ListCut]) -> tuple[tuple[nodes.Node, ...], dict[int, int]]:
    from jinja2 import TemplateSyntaxError
    from jinja2.lexer import TokenStream
    from jinja2.parser import Parser

    environment = _environment()
    tokens = _Positions(text, cuts)
    try:
        parser = Parser(environment, "")
        parser.stream = TokenStream(environment.lexer.wrap(iter(tokens)), None, None)
        return tuple(parser.parse().body), tokens.stops
    except TemplateSyntaxError as error:
        span = tokens.span_of(error.lineno)
        message = _plain(error.message or "not a template")
        raise template_error(ErrorKind.TEMPLATE, message, span) from None
    except RecursionError:
        raise _too_deep((0, len(text))) from None


class _Positions:
    """jinja2's tokens of a text with the offset in place of the line number.

    Each list of `cuts` is read as ``[0]``: what stands around it means the same, in quotes and comments too.
    """

    def __init__(self, text: str, cuts: list[ListCut]) -> None:
        self.text = text
        self.cuts = cuts
        self.stops: dict[int, int] = {}
        self._last = 0

    def cuts_that_are_tokens(self) -> list[ListCut]:
        """Return the cuts that stand in an expression, and those behind a place that is no grammar."""
        from jinja2 import TemplateSyntaxError

        reached = 0
        try:
            for start, _, _ in self._located():
                reached = start
        except TemplateSyntaxError:
            pass
        return [cut for cut in self.cuts if cut.start > reached or self.stops.get(cut.start) == cut.stop]

    def __iter__(self) -> Iterator[tuple[int, str, str]]:
        depth = prefixes = 0
        for start, kind, value in self._located():
            self._last = start
            position = self.stops[start]
            if kind == "operator":
                depth += (value in "([{") - (value in ")]}")
            prefix = (kind == "operator" and value in "+-") or (kind == "name" and value == "not")
            if kind != "whitespace":
                prefixes = prefixes + 1 if prefix else 0
            if max(depth, prefixes) > LIMITS.template_nesting:
                raise _too_deep((start, position))
            if kind == "integer" and len(value) > LIMITS.template_integer_bits * 2:
                raise template_error(ErrorKind.BUDGET, "the integer is too long", (start, position))
            yield start, kind, value

    def _located(self) -> Iterator[tuple[int, str, str]]:
        """Yield the tokens with their offsets, and keep where they end."""
        text = self._without_items()
        waiting = list(reversed(self.cuts))
        position = cut_away = 0
        for _, kind, value in _environment().lexer.tokeniter(text, None):
            found = text.find(value, position)
            start = position if found < 0 else found
            position = start + len(value)
            at = start + cut_away
            while waiting and waiting[-1].start < position + cut_away:
                cut = waiting.pop()
                cut_away += cut.stop - cut.start - 1
            self.stops[at] = position + cut_away
            yield at, kind, value

    def _without_items(self) -> str:
        parts = []
        position = 0
        for cut in self.cuts:
            parts.append(self.text[position : cut.start])
            position = cut.stop
        return "0".join([*parts, self.text[position:]])

    def span_of(self, place: int) -> Span:
        """Return the token at the offset `place`, or where the text stopped to make sense."""
        start = place if place in self.stops and place >= self._last else self._last
        if start == self._last and place != start:
            return (self.stops.get(start, 0), len(self.text)) if self._stopped() else self._token(start)
        return self._token(start)

    def _stopped(self) -> bool:
        return self.stops.get(self._last, 0) < len(self.text)

    def _token(self, start: int) -> Span:
        return (start, self.stops.get(start, len(self.text)))


def _walk(roots: tuple[nodes.Node, ...]) -> Iterator[tuple[nodes.Node, int]]:
    pending: list[tuple[Any, int]] = [(node, 0) for node in reversed(roots)]
    while pending:
        node, depth = pending.pop()
        name = type(node).__name__
        depth += name in _NESTING
        yield node, depth
        children = list(node.iter_child_nodes())
        if name != "Assign":
            # What is assigned is read before its name is written.
            children.reverse()
        pending.extend((child, depth) for child in children)


def _check_node(node: nodes.Node, syntax: Syntax) -> None:
    from jinja2 import nodes

    name = type(node).__name__
    if isinstance(node, nodes.Getattr):
        if not _is_format(node):
            raise template_error(
                ErrorKind.UNSAFE,
                f"attributes are not allowed: {quoted(node.attr)}",
                syntax.span(node),
                "only '...'.format(...) of a text written in the template is supported",
            )
        return
    if name not in _ALLOWED:
        what = "statement" if isinstance(node, nodes.Stmt) else "expression"
        raise template_error(
            ErrorKind.TEMPLATE,
            f"{what} not allowed: {name.lower()}",
            syntax.span(node),
            _ADVICE.get(name, "statements are limited to if, else and set" if what == "statement" else ""),
        )
    if isinstance(node, nodes.Call):
        _check_call(node, syntax)
    elif isinstance(node, nodes.Filter):
        _check_arguments(node, syntax)
        if node.node is None:
            raise template_error(ErrorKind.TEMPLATE, "filter blocks are not allowed", syntax.span(node))
    elif isinstance(node, nodes.Assign) and not isinstance(node.target, nodes.Name):
        message = "set gives a value to one name"
        raise template_error(
            ErrorKind.TEMPLATE, message, syntax.span(node.target), "write {% set name = value %}"
        )
    elif isinstance(node, nodes.Tuple) and any(isinstance(item, nodes.Slice) for item in node.items):
        message = "a subscript is one value or one slice"
        raise template_error(ErrorKind.TEMPLATE, message, syntax.span(node))
    elif isinstance(node, nodes.Const) and type(node.value) is int and not is_allowed(node.value):
        check_integer(node.value, syntax.span(node))
    elif isinstance(node, nodes.Const) and isinstance(node.value, str) and has_surrogates(node.value):
        raise template_error(ErrorKind.TEMPLATE, NO_CHARACTER, syntax.span(node))


def is_allowed(value: int) -> bool:
    """Whether an integer has no more bits than a template may make."""
    return value.bit_length() <= LIMITS.template_integer_bits


def check_integer(value: int, span: Span | None = None) -> int:
    """Return `value`, or raise E_BUDGET when it has more bits than a template may make."""
    if not is_allowed(value):
        message = f"the integer has more than {LIMITS.template_integer_bits} bits"
        raise template_error(ErrorKind.BUDGET, message, span)
    return value


def _check_call(node: nodes.Call, syntax: Syntax) -> None:
    from jinja2 import nodes

    _check_arguments(node, syntax)
    if isinstance(node.node, nodes.Name):
        if node.args:
            raise template_error(
                ErrorKind.TEMPLATE,
                f"template {quoted(node.node.name)} is called with a positional argument",
                syntax.span(node),
                "templates are called with keyword arguments: f(c='text')",
            )
    elif not isinstance(node.node, nodes.Getattr):
        raise template_error(
            ErrorKind.UNSAFE, "only the document's templates can be called", syntax.span(node)
        )


def _check_arguments(node: Any, syntax: Syntax) -> None:
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        raise template_error(ErrorKind.TEMPLATE, "arguments with * are not allowed", syntax.span(node))
    names = [item.key for item in node.kwargs]
    for name in names:
        if names.count(name) > 1:
            message = f"argument {quoted(name)} is given twice"
            raise template_error(ErrorKind.TEMPLATE, message, syntax.span(node))


def _is_format(node: nodes.Getattr) -> bool:
    from jinja2 import nodes

    return node.attr == "format" and isinstance(node.node, nodes.Const) and isinstance(node.node.value, str)


def _too_deep(span: Span) -> RefbrowserError:
    return template_error(
        ErrorKind.BUDGET, f"brackets or operators nest deeper than {LIMITS.template_nesting}", span
    )


def _plain(message: str) -> str:
    return quoted(message.rstrip("."), 240)[1:-1]


@cache
def _environment() -> Environment:
    from jinja2 import Environment

    # Only its lexer and parser are used: nothing is ever compiled or rendered by jinja2.
    return Environment(autoescape=False)


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
