"""What another place of a host, bucket or folder changes: how much, in which texts, with examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.io.access import Access
from refbrowser.io.origins import Origin
from refbrowser.references.edits.many_edits import RebaseUrls
from refbrowser.references.edits.moving import MoveUrls
from refbrowser.views.moving.prefix_tree import PrefixKind, PrefixNode

if TYPE_CHECKING:
    from refbrowser.references.document.content import Edit
    from refbrowser.references.document.document import Document

#: URLs that are shown before and after, and those of which the new place is tested.
EXAMPLES, TESTED = 3, 12
#: Texts of templates and rules that are listed.
_LISTED = 50


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text of the document that changes: what it is (``template u``), and its text before and after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class MovePreview:
    """What a move would do.

    Attributes
    ----------
    edit
        The one step of the history; None where nothing changes or it is refused.
    files, references
        How many move.
    texts
        Templates and gen rules whose text changes, the first of them.
    entries
        Distinct URLs of `refs` that are written anew.
    examples
        URLs before and after.
    already
        Files that lie at the new place in the document already: two places become one.
    asked
        New origins that need a permission before anything is read there.
    refusal
        Why it cannot be done, in one sentence; empty where it can.
    """

    edit: Edit | None = None
    files: int = 0
    references: int = 0
    texts: tuple[TextChange, ...] = ()
    entries: int = 0
    examples: tuple[tuple[str, str], ...] = ()
    already: int = 0
    asked: tuple[Origin, ...] = ()
    refusal: str = ""


def move_preview(
    document: Document,
    access: Access,
    roots: Sequence[PrefixNode],
    node: PrefixNode,
    new: str,
    template: str = "",
    pause: Callable[[], None] = lambda: None,
) -> MovePreview:
    """Return what moving a node of the tree would do; nothing is read.

    Parameters
    ----------
    roots, node
        The tree of the document, and the node of it that moves.
    new
        What URLs below the node begin with then.
    template
        Name of a template for `new`; empty for none.
    pause
        Called now and then; may raise to end the work.
    """
    if new == node.prefix and not template:
        return MovePreview()
    edit = edit_of(node, new, template)
    try:
        after = document.apply(edit)
        pause()
        changed = _texts_of(document, after)
    except RefbrowserError as error:
        return MovePreview(files=node.files, references=node.references, refusal=_sentence(error))
    moved = [(url, new + url[len(node.prefix) :]) for url in spread(node, EXAMPLES)]
    pause()
    there = {url for root in roots for url in root.urls()}
    already = sum(new + url[len(node.prefix) :] in there for url in node.urls()) if new != node.prefix else 0
    return MovePreview(
        edit=edit,
        files=node.files,
        references=node.references,
        texts=tuple(changed[:_LISTED]),
        entries=_entries(document, after),
        examples=tuple(moved),
        already=already,
        asked=tuple(_asked(access, [url for _, url in moved])),
    )


def edit_of(node: PrefixNode, new: str, template: str = "") -> Edit:
    """Return the edit that moves a node; names relative to the document have no beginning of their own."""
    if node.kind is PrefixKind.RELATIVE:
        return RebaseUrls(new)
    return MoveUrls(node.prefix, new, template)


def spread(node: PrefixNode, most: int) -> list[str]:
    """Return at most so many URLs of a node, the first and the last among them, the others spread evenly."""
    urls = list(node.urls())
    if len(urls) <= most:
        return urls
    return [urls[at] for at in np.linspace(0, len(urls) - 1, most).round().astype(int).tolist()]


def _sentence(error: RefbrowserError) -> str:
    return f"{error.message}. {error.advice}".rstrip() if error.advice else error.message


def _texts_of(before: Document, after: Document) -> list[TextChange]:
    """Return the templates and rules whose text differs."""
    texts = []
    for name, text in after.places.items():
        old = before.places.get(name, "")
        if old != text:
            is_place = before.rules_are_made
            texts.append(TextChange("place of the file" if is_place else f"template {name}", old, text))
    for old_rule, rule in zip(before.rules, after.rules, strict=True):
        if old_rule.url != rule.url:
            texts.append(TextChange(f"gen rule {rule.index}", old_rule.url or "", rule.url or ""))
    return texts


def _entries(before: Document, after: Document) -> int:
    """Return how many distinct URLs of `refs` have another text."""
    old, new = before.refs.table.urls, after.refs.table.urls
    edited = sum(
        before.refs.value(slot).url != after.refs.value(slot).url
        for slot in islice(before.refs.replaced, 10_000)
    )
    return sum(one != other for one, other in zip(old, new, strict=False)) + edited


def _asked(access: Access, urls: Sequence[str]) -> list[Origin]:
    """Return the origins of new places that are not allowed yet."""
    asked: dict[Origin, None] = {}
    for url in urls:
        try:
            location = access.locate(url)
        except RefbrowserError:
            continue
        if not access.permits(location):
            asked[location.origin] = None
    return list(asked)
