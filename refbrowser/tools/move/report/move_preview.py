"""What another place of a host, bucket or folder changes: how much, in which texts, with examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.access.access import Access, Source, Want
from refbrowser.model.report import Report, first_of
from refbrowser.references.edits.many_edits import RebaseUrls
from refbrowser.references.edits.url_moves import MoveUrls
from refbrowser.tools.move.report.prefix_tree import PrefixKind, PrefixNode, node_at
from refbrowser.views.words import one_line
from refbrowser.words import counted, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.engine.findings.file_probes import Probed
    from refbrowser.references.document.document import Document

#: URLs that are shown before and after.
EXAMPLES = 3
#: Texts of templates and rules that are listed.
_LISTED = 50
#: Files of which it is told what permission they need.
_ASKED = 1_000


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text of the document that changes: what it is (``template u``), and its text before and after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, repr=False)
class MovePreview(Report):
    """What a move would do.

    Attributes
    ----------
    edit, after
        The one step of the history, and the document then; None where nothing changes or it is refused.
    files, references
        How many move.
    texts
        Templates and gen rules whose text changes, the first of them.
    templates, rules
        How many of these there are in all; the place of a file counts as a template.
    entries
        Distinct URLs of `refs` that are written anew.
    examples
        URLs before and after.
    wants
        What must be allowed before anything is read at the new places.
    warnings
        What should be looked at first.
    refusal
        Why it cannot be done, in one sentence; empty where it can.
    tested
        What was found at new places, of some files, where it was looked.
    target
        Where the document was written; None where it was not.
    """

    edit: MoveUrls | RebaseUrls | None = None
    after: Document | None = None
    files: int = 0
    references: int = 0
    texts: tuple[TextChange, ...] = ()
    templates: int = 0
    rules: int = 0
    entries: int = 0
    examples: tuple[tuple[str, str], ...] = ()
    wants: tuple[Want, ...] = ()
    warnings: tuple[Finding, ...] = ()
    refusal: str = ""
    tested: tuple[Probed, ...] = ()
    target: str | None = None

    @property
    def is_good(self) -> bool:
        """Whether no file that was tested is absent or differs."""
        return all(each.verdict.is_good for each in self.tested)

    def lines(self) -> Iterator[str]:
        """Yield how many files move, examples, and what should be looked at first."""
        if self.refusal:
            yield f"cannot be moved: {self.refusal}"
            return
        yield f"{counted(self.files, 'file')} in {counted(self.references, 'reference')} move"
        yield from first_of([f"{before} -> {after}" for before, after in self.examples])
        yield from first_of([f"{each.verdict}: {each.probe.after} ({each.words})" for each in self.tested])
        yield from first_of([f"warning: {each.message}" for each in self.warnings])
        if self.target is not None:
            yield f"written: {self.target}"


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
    if template and not node.is_one_place:
        return MovePreview(refusal=_NO_BEGINNING)
    edit = edit_of(node, new, template)
    try:
        after: Document = document.apply(edit)
        pause()
        templates, rules = _templates_of(document, after), _rules_of(document, after)
    except RefbrowserError as error:
        return MovePreview(files=node.files, references=node.references, refusal=_sentence(error))
    moved = [(url, edit.moved(url)) for url in spread(node, EXAMPLES)]
    pause()
    wants = tuple(want for want in access.wanted(_sources_after(node, edit)) if not want.allowed)
    pause()
    return MovePreview(
        edit=edit,
        after=after,
        files=node.files,
        references=node.references,
        texts=tuple([*templates, *rules][:_LISTED]),
        templates=len(templates),
        rules=len(rules),
        entries=_entries(document, after),
        examples=tuple(moved),
        wants=wants,
        warnings=tuple(_warnings(access, roots, node, edit, wants)),
    )


def preview_of(
    document: Document,
    access: Access,
    roots: Sequence[PrefixNode],
    old: str,
    new: str,
    template: str = "",
    pause: Callable[[], None] = lambda: None,
) -> MovePreview:
    """Return what moving the URLs that begin in some way would do.

    Parameters
    ----------
    old
        The beginning, as the tree has it.
    roots, new, template, pause
        As `move_preview` has them.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: no URL begins so, nothing changes, or it cannot be done.
    """
    node, place = node_at(roots, old), Place(document=document.name)
    if node is None:
        message = f"no URL of the document begins with {quoted(old)}"
        raise RefbrowserError(
            ErrorKind.USAGE, message, place, "refbrowser move DOC lists what they begin with"
        )
    preview = move_preview(document, access, roots, node, new, template, pause)
    if preview.refusal:
        message = preview.refusal[0].lower() + preview.refusal[1:].rstrip(".")
        raise RefbrowserError(ErrorKind.USAGE, message, place)
    if preview.after is None:
        raise RefbrowserError(ErrorKind.USAGE, "OLD and NEW are the same", place)
    return preview


_NO_BEGINNING = (
    "Names relative to the document have no common prefix for a template. Make them absolute first."
)


def edit_of(node: PrefixNode, new: str, template: str = "") -> MoveUrls | RebaseUrls:
    """Return the edit that moves a node; names relative to the document have no beginning of their own."""
    if node.kind is PrefixKind.RELATIVE:
        return RebaseUrls(new if new.endswith("/") else f"{new}/")
    return MoveUrls(node.prefix, new, template, is_whole=node.kind is PrefixKind.FILE)


def spread(node: PrefixNode, most: int) -> list[str]:
    """Return at most so many URLs of a node, the first and the last among them, the others spread evenly.

    Where there are none, what the URLs of its rules begin with.
    """
    urls = list(node.urls()) or [each.prefix for each in node.walk() if each.kind is PrefixKind.RULE]
    if len(urls) <= most:
        return urls
    return [urls[at] for at in np.linspace(0, len(urls) - 1, most).round().astype(int).tolist()]


def summary_of(preview: MovePreview) -> str:
    """Return in one line how much moves, and where that is written."""
    counts = (
        (preview.templates, "template", "templates"),
        (preview.rules, "gen rule", "gen rules"),
        (preview.entries, "URL in refs", "URLs in refs"),
    )
    parts = [part for part in (_counted(*each) for each in counts) if part]
    texts = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    written = f"; {texts} {plural(sum(count for count, *_ in counts), 'is', 'are')} rewritten"
    files = _counted(preview.files, "file", "files") or "no file"
    references = _counted(preview.references, "reference", "references") or "no reference"
    return f"{files}, {references}{written if texts else ''}"


def _counted(count: int, one: str, many: str) -> str:
    return counted_spaced(count, one, many) if count else ""


def _sources_after(node: PrefixNode, edit: MoveUrls | RebaseUrls) -> Iterator[Source]:
    """Yield the new places of some of the files, and of what rules make."""
    leaves = (each for each in node.walk() if each.kind in (PrefixKind.FILE, PrefixKind.RULE))
    for each in islice(leaves, _ASKED):
        is_pattern = each.kind is PrefixKind.RULE
        yield Source(edit.moved(each.prefix), each.references, each.size, is_pattern)


def _warnings(
    access: Access,
    roots: Sequence[PrefixNode],
    node: PrefixNode,
    edit: MoveUrls | RebaseUrls,
    wants: Sequence[Want],
) -> Iterator[Finding]:
    """Yield what should be looked at before it is done."""

    def warning(kind: ErrorKind, message: str, url: str) -> Finding:
        return Finding(severity=Severity.WARNING, kind=kind, message=message, place=Place(url=url))

    before = spread(node, EXAMPLES)
    if isinstance(edit, MoveUrls) and edit.old.endswith("/") and edit.new and not edit.new.endswith("/"):
        example = edit.moved(before[0]) if before else edit.new
        message = f"It does not end in /: the rest of a name follows directly, as in {one_line(example)}"
        yield warning(ErrorKind.USAGE, message, edit.new)
    both = _places_that_become_one(roots, node, edit)
    if both:
        files = counted_spaced(both, "file comes", "files come")
        message = f"{files} to a place that the document uses already: two become one"
        yield warning(ErrorKind.META, message, node.prefix)
    for url in before:
        after = edit.moved(url)
        try:
            # What a rule's URLs begin with may end in a folder.
            access.locate(f"{after}x" if after.endswith("/") else after)
        except RefbrowserError as error:
            yield warning(error.kind, f"{quoted(after)} cannot be read: {error.message}", after)
            break
    origins = dict.fromkeys(f"{want.pattern}…" if want.origin is None else str(want.origin) for want in wants)
    if origins:
        listed = ", ".join(map(one_line, islice(origins, 3))) + (" …" if len(origins) > 3 else "")
        yield warning(
            ErrorKind.BLOCKED, f"Reading there needs your permission: {listed}", next(iter(origins))
        )


def _places_that_become_one(
    roots: Sequence[PrefixNode], node: PrefixNode, edit: MoveUrls | RebaseUrls
) -> int:
    """Return how many files come to a place that another file has, which stays there."""
    moving = set(node.urls())
    there = {url for root in roots for url in root.urls()} - moving
    return 0 if not there else sum(edit.moved(url) in there for url in moving)


def _sentence(error: RefbrowserError) -> str:
    words = error.message[:1].upper() + error.message[1:]
    return f"{words}. {error.advice}" if error.advice else words


def _templates_of(before: Document, after: Document) -> list[TextChange]:
    """Return the templates whose text differs, or the places of what was made of files."""
    texts = []
    for name, text in after.places.items():
        old = before.places.get(name, "")
        if old != text:
            is_place = before.rules_are_made
            texts.append(TextChange("place of the file" if is_place else f"template {name}", old, text))
    return texts


def _rules_of(before: Document, after: Document) -> list[TextChange]:
    """Return the gen rules whose URL is written in another way."""
    pairs = zip(before.rules, after.rules, strict=True)
    return [
        TextChange(f"gen rule {rule.index}", old.url or "", rule.url or "")
        for old, rule in pairs
        if old.url != rule.url
    ]


def _entries(before: Document, after: Document) -> int:
    """Return how many distinct URLs of `refs` have another text."""
    old, new = before.refs.table.urls, after.refs.table.urls
    edited = sum(
        before.refs.value(slot).url != after.refs.value(slot).url
        for slot in islice(before.refs.replaced, 10_000)
    )
    return sum(one != other for one, other in zip(old, new, strict=False)) + edited
