"""Edits that repair: entries that never count, and relative URLs when the document changes its folder."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from refbrowser.errors import RefbrowserError, quoted
from refbrowser.references.document.content import DocumentContent
from refbrowser.references.document.refs import Patch, References, missing_key
from refbrowser.references.document.values import ValueKind
from refbrowser.references.edits.outer_edit import refused, rule_values
from refbrowser.references.edits.rule_edits import SetRule
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.text.json_edit import rewrite
from refbrowser.references.text.json_text import parse

#: Rows at either end of a rule that tell whether its URLs are relative, where its text does not.
ROWS_SEEN = 500
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!\\)|[A-Za-z]:\\")
#: A text that begins with this may still become a scheme, as what follows tells.
_SCHEME_BEGINS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*\Z|\Z")
_JINJA = ("{{", "{%", "{#")


def is_relative(url: str) -> bool:
    """Tell whether a URL, after rendering, is a path that begins at the folder of its document."""
    return bool(url) and _SCHEME.match(url) is None and not url.startswith(("/", "\\"))


@dataclass(frozen=True, slots=True)
class RemoveRepeated:
    """The last entry of a key that is there more than once: it is the one that counts; the others go."""

    key: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Remove repeated {self.key}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        slots = document.refs.all_slots(self.key)
        if not slots:
            raise missing_key(self.key)
        if len(slots) == 1:
            return document
        return document.with_refs(document.refs.without(slots[:-1]))


@dataclass(frozen=True, slots=True)
class RebaseUrls:
    """Relative URLs that mean the same from another folder: `prefix`, ending in ``/``, comes before each.

    URLs with templates in them get the prefix in their own text; templates stay as they are.
    """

    prefix: str

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"Begin relative URLs with {self.prefix}"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        if any(mark in self.prefix for mark in _JINJA):
            raise refused(f"the folder {quoted(self.prefix)} holds characters that templates would render")
        # Values that the user gave are never saved: what the text itself says counts.
        plain = document.with_template_values({})
        document = document.with_refs(self._rebased(plain))
        for rule in plain.rules:
            if is_rule_relative(rule):
                fields = rule_values(document)[rule.index]
                url = self.prefix + fields["url"]
                document = SetRule(rule.index, {**fields, "url": url}).apply(document)
        return document

    def joined(self, url: str) -> str:
        """Return the text of a relative URL with the prefix before it."""
        if any(mark in url for mark in _JINJA):
            return self.prefix + url
        if _SCHEME.match(self.prefix):
            return urljoin(self.prefix, url)
        return posixpath.normpath(self.prefix + url) + ("/" if url.endswith("/") else "")

    def _rebased(self, document: DocumentContent) -> References:
        refs = document.refs
        table = refs.table
        relative = _relative_urls(document)
        if relative:
            urls = tuple(
                self.joined(url) if number in relative else url for number, url in enumerate(table.urls)
            )
            refs = replace(refs, table=replace(table, urls=urls, written=table.written or table))
        for slot in _single_slots(document.refs):
            url = rendered_url(document, slot)
            if url is not None and is_relative(url):
                raw = refs.value_text(slot)
                node = parse(raw)
                value = node.to_python()
                value[0] = self.joined(value[0])
                patch = Patch.of(refs.key_of(slot), refs.key_text(slot), rewrite(raw, node, value))
                refs = refs.with_patch(slot, patch)
        return refs


def relative_urls(document: DocumentContent) -> Iterator[str]:
    """Yield the relative URLs of a document: each of `refs` once, and the first of each gen rule."""
    for number in sorted(_relative_urls(document)):
        yield document.urls.texts[number]
    for slot in _single_slots(document.refs):
        url = rendered_url(document, slot)
        if url is not None and is_relative(url):
            yield url
    for rule in document.rules:
        if is_rule_relative(rule):
            yield next((url for url in rule.rows(0, ROWS_SEEN).urls if url is not None), rule.url or "")


def rendered_url(document: DocumentContent, slot: int) -> str | None:
    """Return the URL of an entry after rendering; None where it has none, or a fault."""
    value = document.refs.value(slot)
    if value.kind not in (None, ValueKind.LARGE) or not value.url:
        return None
    if document.version == 0:
        return value.url
    try:
        return document.templates.render(value.url)
    except RefbrowserError:
        return None


def is_rule_relative(rule: GenRule) -> bool:
    """Tell whether the URLs of a gen rule are relative: by their text, else by the rows at its ends.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: some rows are relative, others are not.
    """
    if not rule.count or rule.url is None:
        return False
    static = rule.static_origin()
    if _SCHEME.match(static):
        return False
    if not _SCHEME_BEGINS.match(static):
        return is_relative(static)
    rows = (rule.rows(0, ROWS_SEEN), rule.rows(max(0, rule.count - ROWS_SEEN), rule.count))
    found = {is_relative(url) for page in rows for url in page.urls if url is not None}
    if len(found) > 1:
        message = f"some URLs of gen rule {rule.index} are relative, others are not"
        raise refused(message, "Change the rule first, or keep the URLs as they are written.")
    return found == {True}


def _relative_urls(document: DocumentContent) -> frozenset[int]:
    """Return the numbers of the table's URLs that are relative."""
    urls = document.urls
    return frozenset(
        number for number, url in enumerate(urls.texts) if number not in urls.faults and is_relative(url)
    )


def _single_slots(refs: References) -> list[int]:
    """Return the entries whose URL is not in the table: of the overlay, and with numbers beyond 64 bits."""
    large = (refs.table.url == ValueKind.LARGE).nonzero()[0].tolist()
    single = [row for row in large if row not in refs.replaced and refs.stands(row)]
    return [*single, *refs.replaced, *(-2 - number for number in range(len(refs.appended)))]


def prefix_between(old: str, new: str) -> str:
    """Return what relative URLs of folder (or base URL) `old` begin with when seen from folder `new`.

    Empty where nothing changes.
    """
    if _SCHEME.match(old) and not re.match(r"[A-Za-z]:\\", old):
        return old if old.endswith("/") else old.rpartition("/")[0] + "/"
    old, new = os.path.realpath(old), os.path.realpath(new)
    if old == new:
        return ""
    try:
        relative = os.path.relpath(old, new)
    except ValueError:
        relative = old  # Another drive.
    return relative.replace(os.sep, "/").rstrip("/") + "/"
