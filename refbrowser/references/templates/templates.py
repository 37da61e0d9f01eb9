"""The templates of a document: parsed once, rendered for the URLs in `refs`, tried out in the editor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import is_not
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates.constant_lists import find_lists
from refbrowser.references.templates.evaluate import Scope, compile_template
from refbrowser.references.templates.expressions import UndefinedNameError
from refbrowser.references.templates.syntax import DELIMITERS, Template, template_error, text_size

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: A name alone between plain texts.
_ONE_NAME = re.compile(rf"([^{{\r\n]*)\{{\{{ *({_NAME.pattern}) *\}}\}}([^{{\r\n]*)")
#: Characters of a text that is within the limits however they are encoded.
_SHORT = LIMITS.template_string // 4

__all__ = ["Template", "TemplateSet"]


@dataclass(frozen=True)
class TemplateSet:
    """Names to jinja-str in document order, with the values that the user gave instead (never saved).

    A template is literal (plain text, used by its name), or function-like: it sees the keyword arguments that
    it is called with and nothing else, neither dimensions nor other templates (References specification,
    Version 1: "the variables are to be passed in").

    Parameters
    ----------
    templates
        Texts as they stand in the document; a value that is not text is a fault.
    values
        Texts given by the user; they win over those of the document, and may add names.
    """

    templates: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def texts(self) -> dict[str, Any]:
        """Name to the text in force."""
        return {**self.templates, **self.values}

    @cached_property
    def faults(self) -> list[tuple[str, RefbrowserError]]:
        """Every faulty template: its name and error (`place.pointer`, and `place.span` within its text)."""
        return list(self.scope.faults.items())

    @cached_property
    def scope(self) -> Scope:
        """What the names mean where these templates are used."""
        parsed: dict[str, Template] = {}
        faults: dict[str, RefbrowserError] = {}
        size = lists = 0
        for number, (name, text) in enumerate(self.texts.items()):
            try:
                if number >= LIMITS.templates_per_document:
                    message = f"the document has more than {LIMITS.templates_per_document} templates"
                    raise template_error(ErrorKind.BUDGET, message)
                if isinstance(text, str) and any(delimiter in text for delimiter in DELIMITERS):
                    in_lists = sum(cut.stop - cut.start for cut in find_lists(text))
                    size, lists = size + text_size(text) - in_lists, lists + in_lists
                    if size > LIMITS.templates_source:
                        message = f"the document has more than {LIMITS.templates_source} bytes of templates"
                        raise template_error(ErrorKind.BUDGET, message)
                    if lists > LIMITS.template_lists:
                        message = f"templates have more than {LIMITS.template_lists} bytes of lists"
                        raise template_error(ErrorKind.BUDGET, message)
                parsed[name] = _parse_template(name, text)
            except RefbrowserError as error:
                place = replace(error.place, pointer=f"/templates/{_escaped(name)}")
                faults[name] = RefbrowserError(error.kind, error.message, place, error.advice)
        return Scope({}, parsed, faults)

    @cached_property
    def _literal(self) -> dict[str, str]:
        """Texts of the templates that hold nothing to evaluate, by name."""
        return {
            name: template.text
            for name, template in self.scope.templates.items()
            if template.is_literal and "\n" not in template.text
        }

    def with_values(self, values: Mapping[str, str]) -> TemplateSet:
        """Return the same templates with other values given by the user."""
        return TemplateSet(self.templates, dict(values))

    def renders(self, texts: Sequence[str]) -> bool:
        """Return whether one of many texts may be more, or less, than itself once it is rendered."""
        if max(map(len, texts), default=0) > LIMITS.url_length:
            return True
        return not _stands_for_itself("".join(texts))

    def render(self, text: str) -> str:
        """Return the URL that a jinja-str in `refs` stands for.

        Raises
        ------
        RefbrowserError
            E_TEMPLATE, E_UNSAFE or E_BUDGET with `place.span` in `text`.
        """
        if _stands_for_itself(text) and len(text) <= LIMITS.url_length:
            return text
        return self._joined(text) or compile_template(Template.parse(text), self.scope).render()

    def render_simple(self, texts: Sequence[str]) -> list[str] | None:
        """Return what jinja-str stand for, each plain or begun by a literal template; None for any others."""
        known = self._beginnings.get
        found = [
            text if (put_in := known(text[: (stop := text.find("}}") + 2)])) is None else put_in + text[stop:]
            for text in texts
        ]
        begun = sum(map(is_not, found, texts))
        whole = "".join(texts)
        if whole.count("{") != 2 * begun or "\n" in whole or "\r" in whole:
            return None
        return found if max(map(len, found), default=0) <= min(_SHORT, LIMITS.url_length) else None

    @cached_property
    def _beginnings(self) -> dict[str, str]:
        return {f"{{{{{name}}}}}": text for name, text in self._literal.items() if _NAME.fullmatch(name)}

    def _joined(self, text: str) -> str | None:
        """Return a text with the one literal template in it put in; None where it is not that simple."""
        match = _ONE_NAME.fullmatch(text)
        put_in = None if match is None else self._literal.get(match[2])
        if match is None or put_in is None:
            return None
        joined = match[1] + put_in + match[3]
        return joined if len(joined) <= _SHORT else None

    def try_out(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return what template `name` gives for `arguments`; errors have their span in its text.

        An argument that the template calls is the name of another template.

        Raises
        ------
        RefbrowserError
            E_TEMPLATE, E_UNSAFE or E_BUDGET.
        """
        if name in self.scope.faults:
            raise self.scope.faults[name]
        if name not in self.scope.templates:
            raise template_error(ErrorKind.TEMPLATE, f"there is no template {quoted(name)}")
        template = self.scope.templates[name]
        if template.is_literal:
            return template.text
        templates = self.scope.templates
        passed = {key: templates[arguments[key]] for key in template.calls if arguments.get(key) in templates}
        values = {key: value for key, value in arguments.items() if key not in passed}
        scope = Scope({key: slot for slot, key in enumerate(values)}, passed)
        return compile_template(template, scope).render(tuple(values.values()))


def _stands_for_itself(text: str) -> bool:
    """Whether a text of any length is what it is rendered to."""
    return "{" not in text and "\n" not in text and "\r" not in text


def _parse_template(name: str, text: Any) -> Template:
    if not isinstance(text, str):
        raise RefbrowserError(ErrorKind.SCHEMA, f"template {quoted(name)} is not text", Place())
    template = Template.parse(text)
    if template.syntax is not None:
        # What it calls is to be passed, as a template; whether it is shows where this one is used.
        slots = {key: slot for slot, key in enumerate(template.names) if key not in template.calls}
        for error in compile_template(template, Scope(slots)).errors:
            if not isinstance(error, UndefinedNameError):
                raise error
    return template


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
