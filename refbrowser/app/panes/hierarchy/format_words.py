"""What a document is made of, in words: whose metadata, of which age, held by what; no Qt here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.widgets.plain_text import one_line
from refbrowser.formats.registry import title_of

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument


def takes_rules(document: OpenDocument) -> bool:
    """Tell whether templates and rules have a place: nobody wrote those of stores, streams, archives.

    Nor of those whose edits were saved as references beside them: what is in that file is another form.
    """
    return document.document is not None and not document.document.rules_are_made


def has_rules(document: OpenDocument) -> bool:
    """Tell whether templates and rules are shown: those of Version 1 that somebody wrote."""
    return takes_rules(document) and document.document is not None and document.document.version == 1


def short_format(document: OpenDocument) -> str:
    """Return the few words beside a document's name: ``V1``, or the flavour of a store."""
    state = document.document
    if state is None:
        return ""
    if state.derived is not None:
        return title_of(state.derived.format)
    return (
        state.store.flavour.label
        if state.store is not None and document.store.is_here
        else f"V{state.version}"
    )


def format_words(document: OpenDocument) -> str:
    """Return the flavour of the metadata and its age, and what holds it; nothing before it is known."""
    state, hierarchy = document.document, document.hierarchy
    if state is None or hierarchy is None:
        return ""
    age = f" ({one_line(hierarchy.age)})" if hierarchy.age else ""
    if state.store is not None and document.store.is_here:
        return f"{hierarchy.flavour.label}{age}, {_CONTAINERS[state.store.container]}"
    if state.derived is not None:
        return title_of(state.derived.format)
    form = "parquet form" if state.from_parquet else f"Version {state.version}"
    return f"{hierarchy.flavour.label}{age}, as references of {form}"


_CONTAINERS = {"folder": "store in a folder", "zip": "store in a zip file", "url": "store at a URL"}
