"""How a document that was made here names files: in full, relative to its folder, without templates."""

from __future__ import annotations

import os
from collections.abc import Iterator

from refbrowser.exporting.rewritten_document import is_relative, rule_url
from refbrowser.io.origins import in_object_store, scheme_of
from refbrowser.references.content.made_text import is_plain_url
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import ReplaceUrlPrefix
from refbrowser.references.edits.outer_edits import SetTemplate


def urls_of(document: Document) -> Iterator[str]:
    """Yield the URLs of references, and how those of rules and layouts begin."""
    yield from document.urls.texts
    yield from (rule_url(rule) for rule in document.rules)
    yield from (layout.head for layout in document.layouts)


def folder_of(target: str) -> str:
    """Return the folder of a local document, with links resolved; empty for one in an object store."""
    return "" if in_object_store(target) else os.path.dirname(os.path.realpath(target))


def lies_beside(document: Document, target: str) -> bool:
    """Tell whether all files of a document lie in the folder of `target`, or below it."""
    folder = folder_of(target).rstrip(os.sep) + os.sep
    names = False
    for url in urls_of(document):
        rest = url.removeprefix(folder)
        if rest == url or scheme_of(url) is not None or not is_relative(rest) or "::" in rest:
            return False
        names = True
    return names and len(folder) > 1


def named_beside(document: Document, target: str) -> Document:
    """Return a document that `lies_beside` its files, with their names relative to its folder."""
    folder = folder_of(target)
    document = document.apply(ReplaceUrlPrefix(folder + os.sep, ""))
    if document.renders is None:
        return document
    for name, text in document.places.items():
        if text.rstrip(os.sep) == folder:
            document = document.apply(SetTemplate(name, "."))
    return document


def can_be_plain(document: Document) -> bool:
    """Tell whether each URL means the same to readers that render templates and to those that do not."""
    return all(map(is_plain_url, urls_of(document)))
