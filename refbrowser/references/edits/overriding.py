"""Overriding one key that a gen rule gives: by a rule of one row at the end, since the last one counts."""

from __future__ import annotations

from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import InsertRule
from refbrowser.references.edits.outer_edit import refused


def overriding_rule(document: ReferenceDocument, number: int, row: int) -> InsertRule:
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


def _url_text(document: ReferenceDocument, text: str, url: str) -> str:
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
