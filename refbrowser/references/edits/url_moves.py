"""Moving what URLs begin with, wherever that stands: in templates, gen rules, entries of refs.

A prefix here is the beginning of URLs as they are after rendering. What changes in the text is found from it,
and proved: each text that changes is rendered again, and gives the moved URL or the move is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from refbrowser.errors import RefbrowserError, quoted
from refbrowser.references.content.content import DocumentContent
from refbrowser.references.content.url_prefixes import changed_urls
from refbrowser.references.edits.edits import ReplaceUrlPrefix, document_renders
from refbrowser.references.edits.outer_edits import AddTemplate, SetRule, SetTemplate, refused, rule_values
from refbrowser.references.edits.row_moves import MOST_ROWS, url_of_some_rows
from refbrowser.references.edits.url_texts import LEADING, url_tokens
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.syntax import can_be_named, names_in

#: Rows at either end of a gen rule of which the URLs are compared before and after.
ROWS_PROVED = 200
_NO_NAMES: Collection[str] = frozenset()
#: What URLs of members of archives begin with, and what stands before the URL of the archive.
_MEMBER, _LINK = "zip://", "::"


def behind_link(url: str) -> int:
    """Return where in a URL, or its text, that of the file begins: behind the member of an archive."""
    at = url.find(_LINK) if url.startswith(_MEMBER) else -1
    return 0 if at < 0 else at + len(_LINK)


@dataclass(frozen=True, slots=True)
class MoveUrls:
    """Another beginning for every URL that begins with `old` after rendering.

    Parameters
    ----------
    old, new
        What URLs begin with, before and after; `new` may be empty where absolute names become relative ones.
    template
        Name of a template that is added for `new`: URLs begin with it then. Empty where there is to be none.
    is_whole
        Whether `old` is the URL of one file: longer URLs that begin so stay.

    Of members of archives (``zip://MEMBER::ARCHIVE``) it is the URL of the archive that counts.
    """

    old: str
    new: str
    template: str = ""
    is_whole: bool = False

    @property
    def title(self) -> str:
        """What the history calls it."""
        if self.template:
            return f"Make {self.old} template {self.template}"
        return f"Move {self.old} to {self.new or 'the folder of the document'}"

    def is_meant(self, url: str) -> bool:
        """Tell whether a URL moves, as it is after rendering."""
        place = url[behind_link(url) :]
        return place == self.old if self.is_whole else place.startswith(self.old)

    def moved(self, url: str) -> str:
        """Return what a URL is after the move; one that is not moved is the same."""
        if not self.is_meant(url):
            return url
        at = behind_link(url)
        return url[:at] + self.new + url[at + len(self.old) :]

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the texts of the document cannot say it.
        """
        if not self.old:
            raise refused("the URL prefix to move is empty")
        if document.rules_are_made:
            return self._moved_place(document)
        if self.template:
            self._check_template(document)
        elif document_renders(self.new) and document.version == 1:
            raise refused(f"{quoted(self.new)} holds text that a template would render")
        return Moved(document, self).document()

    def _moved_place(self, document: DocumentContent) -> DocumentContent:
        """Return a document that was made of a store or file, whose URLs stand for themselves."""
        if self.template:
            raise refused("a store or data file has no templates", "Export it as a reference document first.")
        inside = [each for each in document.layouts if each.place.startswith(self.old)]
        whole = any(place.startswith(self.old) for place in document.places.values())
        if inside and not whole:
            message = "the keys of a store fix the places of its chunks"
            raise refused(message, "Move the store as a whole.")
        return ReplaceUrlPrefix(self.old, self.new).apply(document)

    def _check_template(self, document: DocumentContent) -> None:
        if document.version == 0:
            raise refused("a Version 0 document has no templates", "Make it Version 1 first.")
        if not can_be_named(self.template):
            raise refused(f"Jinja does not allow the template name {quoted(self.template)}")
        if self.template in document.templates.texts:
            raise refused(f"a template {quoted(self.template)} exists already")
        if document_renders(self.new):
            raise refused(f"{quoted(self.new)} holds text that a template would render")
        hiding = [rule.index for rule in document.rules if self.template in dict(rule.dimensions)]
        if hiding:
            message = f"gen rule {hiding[0]} has a dimension {quoted(self.template)}"
            raise refused(message, "Choose another name.")


def without_common_end(old: str, new: str) -> tuple[str, str]:
    """Return two beginnings without what both end in; something of the first stays."""
    end = 0
    while end < min(len(old) - 1, len(new)) and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[: len(old) - end], new[: len(new) - end]


@dataclass(eq=False)
class Moved:
    """What a move changes in a document, text by text.

    Attributes
    ----------
    given
        The document.
    """

    given: DocumentContent
    move: MoveUrls
    _spelled: dict[str, str] = field(default_factory=dict)
    _moving: dict[int, bool] = field(default_factory=dict)

    @cached_property
    def before(self) -> DocumentContent:
        """The document as its text says it: values that the user gave for templates are never saved."""
        return self.given.with_template_values({}) if self.given.templates.values else self.given

    @cached_property
    def _known(self) -> dict[str, str]:
        """What texts of URLs in `refs` give, where they give something."""
        urls, found = self.before.refs.table.urls, self.before.urls
        if not found.faults:
            return dict(zip(urls, found.texts, strict=True))
        pairs = enumerate(zip(urls, found.texts, strict=True))
        return {text: url for number, (text, url) in pairs if number not in found.faults}

    @cached_property
    def templates(self) -> dict[str, str]:
        """The templates that change, and their texts then: those whose every use begins a URL that moves."""
        if self.before.version == 0 or self.move.template or "{" in self.move.old:
            return {}
        # What both end in stands behind the template as often as in it: the slash after a folder.
        old, new = without_common_end(self.move.old, self.move.new)
        places = self.before.places
        leading = {name for name, text in places.items() if text.startswith(old)}
        used: set[str] = set()
        for text, hidden, is_moved in self._texts():
            if not leading:
                break
            at = behind_link(text)
            if at:
                leading -= names_in(text[:at], hidden)
                text = text[at:]
            match = LEADING.match(text) if is_moved else None
            if match is None or match[1] in hidden:
                leading -= names_in(text, hidden)
            else:
                used.add(match[1])
                leading -= names_in(match[0], hidden) - {match[1]}
                leading -= names_in(text[match.end() :], hidden)
        leading &= used | {name for name, text in places.items() if self.move.is_meant(text)}
        return {name: new + places[name][len(old) :] for name in places if name in leading}

    def _texts(self) -> Iterator[tuple[str, Collection[str], bool]]:
        """Yield each text that may use templates.

        With it come the names that mean something else in it, and whether it gives a URL that moves.
        """
        for rule in self.before.rules:
            hidden = dict(rule.dimensions).keys()
            yield rule.url or "", hidden, self._rule_moves(rule)
            for text in (rule.key, rule.offset, rule.length):
                yield text or "", hidden, False
        refs = self.before.refs
        edited = (patch.value.url for patch in (*refs.replaced.values(), *refs.appended.values()))
        for url in (*refs.table.urls, *(url for url in edited if url)):
            if "{" in url:
                yield url, _NO_NAMES, self._begins(url)

    def document(self) -> DocumentContent:
        """Return the changed document.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the texts cannot say it.
        """
        document = self.given
        for name, text in self.templates.items():
            document = SetTemplate(name, text).apply(document)
        if self.move.template:
            document = AddTemplate(self.move.template, self.move.new).apply(document)
        for rule in self.before.rules:
            url = self.rule_url(rule)
            if url is not None:
                fields = rule_values(document)[rule.index]
                document = SetRule(rule.index, {**fields, "url": url}).apply(document)
        changed = document.with_refs(changed_urls(document.refs, self.url))
        self._prove_rules(changed)
        return changed

    # Entries of refs

    def url(self, text: str) -> str:
        """Return the text of a URL in `refs` after the move; one that is not moved is the same."""
        at = behind_link(text)
        if not self._begins(text) or _leads(text[at:]) in self.templates:
            return text
        if text not in self._spelled:
            url = self._rendered(text)
            if bool(at) != bool(behind_link(url)):
                raise refused(f"the URL {quoted(text)} cannot be written this way", "Change it by hand.")
            self._spelled[text] = text[:at] + self._moved_text(text[at:], url[behind_link(url) :])
        return self._spelled[text]

    def _begins(self, text: str) -> bool:
        try:
            return self.move.is_meant(self._rendered(text))
        except RefbrowserError:
            return False  # A faulty entry says nothing that could be moved.

    def _rendered(self, text: str) -> str:
        if self.before.renders is None or "{" not in text:
            return text
        if text not in self._known:
            self._known[text] = self.before.renders.render(text)
        return self._known[text]

    @property
    def _head(self) -> str:
        """What moved URLs begin with, as it is written."""
        return f"{{{{{self.move.template}}}}}" if self.move.template else self.move.new

    def _moved_text(self, text: str, url: str) -> str:
        rest = url[len(self.move.old) :]
        if self.before.version == 0:
            return self.move.new + rest
        cut = self._cut(text)
        if cut is not None:
            found = self._head + cut
            if self._gives(found, self.move.new + rest):
                return found
        found = self._head + rest
        if not self._gives(found, self.move.new + rest):
            raise refused(f"the URL {quoted(text)} cannot be written this way", "Change it by hand.")
        return found

    def _gives(self, text: str, url: str) -> bool:
        """Tell whether a text gives a URL; one that begins with the new template is looked at without it."""
        renders = self.before.renders
        if renders is None or "{" not in text:
            return text == url
        rest = text.removeprefix(self._head)
        if self.move.template and rest != text and "{" not in rest:
            return self.move.new + rest == url
        values = {self.move.template: self.move.new} if self.move.template else {}
        try:
            return renders.with_values(values).render(text) == url
        except RefbrowserError:
            return False

    def _cut(self, text: str) -> str | None:
        """Return what of the text of a URL stays, behind what is moved; None where that is unclear."""
        left = self.move.old
        for token in url_tokens(text):
            try:
                shown = token.text if token.is_plain else self._rendered(token.text)
            except RefbrowserError:
                return None  # It names a dimension.
            if len(shown) < len(left):
                if not left.startswith(shown):
                    return None
                left = left[len(shown) :]
                continue
            if not shown.startswith(left):
                return None
            inside = shown[len(left) :]
            behind = text[token.start + len(token.text) :]
            if not token.is_plain and document_renders(inside):
                return None
            return inside + behind
        return None

    # Gen rules

    def rule_url(self, rule: GenRule) -> str | None:
        """Return the text of the URL of a gen rule after the move; None where it stays.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: only some of its rows begin so, or its text cannot say it.
        """
        text = rule.url or ""
        if self.parts(rule):
            if self.move.template:
                message = f"some URLs of gen rule {rule.index} begin this way, depending on its dimensions"
                raise refused(message, "Move them without a template, or what all of its URLs begin with.")
            return url_of_some_rows(rule, self.move.moved)
        if not self._rule_moves(rule):
            return None
        at = behind_link(text)
        if _leads(text[at:]) in self.templates:
            return None
        cut = self._cut(text[at:])
        if cut is None:
            message = f"the URL of gen rule {rule.index} cannot be written this way"
            raise refused(message, "Change the rule by hand.")
        return text[:at] + self._head + cut

    def _rule_moves(self, rule: GenRule) -> bool:
        """Tell whether all URLs of a rule move: what they begin with is the same for all rows."""
        if rule.index not in self._moving:
            static = self._static(rule)
            if self.move.is_whole:
                moves = static == self.move.old and all(map(self.move.is_meant, self._urls_of(rule)))
            else:
                moves = static.startswith(self.move.old)
            self._moving[rule.index] = moves
        return self._moving[rule.index]

    def parts(self, rule: GenRule) -> bool:
        """Tell whether only some URLs of a rule move; of very many rows both ends are looked at."""
        if self._rule_moves(rule) or not self.move.old.startswith(self._static(rule)):
            return False
        every = rule.count <= MOST_ROWS
        urls = rule.rows(0, rule.count).urls if every else self._urls_of(rule)
        return any(url is not None and self.move.is_meant(url) for url in urls)

    def _static(self, rule: GenRule) -> str:
        """Return what the URLs of a rule begin with; of members, the archive that is the same for all."""
        text = rule.url or ""
        at = behind_link(text)
        if not at:
            return rule.static_origin()
        try:
            return self._rendered(text[at:])
        except RefbrowserError:
            return ""  # It depends on a dimension.

    def _prove_rules(self, after: DocumentContent) -> None:
        """Raise where the URLs of a rule are not those that the move gives."""
        plain = after.with_template_values({})
        for rule in self.before.rules:
            wanted = [self.move.moved(url) for url in self._urls_of(rule)]
            if wanted != list(self._urls_of(plain.rules[rule.index])):
                message = f"the URL of gen rule {rule.index} cannot be written this way"
                raise refused(message, "Change the rule by hand.")

    @staticmethod
    def _urls_of(rule: GenRule) -> Iterator[str]:
        """Yield the URLs of the first and last rows of a rule."""
        first = rule.rows(0, ROWS_PROVED)
        last = rule.rows(max(ROWS_PROVED, rule.count - ROWS_PROVED), rule.count)
        for page in (first, last):
            yield from (url or "" for url in page.urls)


def _leads(text: str) -> str:
    """Return the name of the template that a text begins with; empty where it begins with none."""
    match = LEADING.match(text)
    return "" if match is None else match[1]
