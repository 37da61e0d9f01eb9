"""A reference document with part of its entries, or with URLs that hold from another folder."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.exporting.request import Loss
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Reference, WholeFile
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.document.document import Document, ReferenceDocument
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults

#: Entries that are made together.
PAGE = 4096
#: Bytes of text that are read together.
BLOCK = 1 << 20


@dataclass(slots=True)
class Rewriting:
    """What is to change.

    Attributes
    ----------
    base
        Stands before URLs that are relative; empty where they stay.
    keeps
        Tells which keys stay; all when None.
    rule_stays
        Tells whether a gen rule stays; None where some of its rows do: these become entries.
    metadata
        Metadata keys with another text.
    added
        Entries that are added at the end, rendered.
    skip_bad
        Leave out faulty entries and rules; else the first is raised.
    skipped
        Why entries were left out, filled while the document is rewritten.
    """

    base: str = ""
    keeps: Callable[[str], bool] | None = None
    rule_stays: Callable[[GenRule], bool | None] = lambda rule: True
    metadata: dict[str, bytes] = field(default_factory=dict)
    added: Iterator[tuple[str, Reference]] = field(default_factory=lambda: iter(()))
    skip_bad: bool = False
    skipped: list[RefbrowserError] = field(default_factory=list)

    def keeps_chunk(self, key: str) -> bool:
        """Tell whether a key stays."""
        return self.keeps is None or self.keeps(key)


def rewritten(document: Document, how: Rewriting, token: CancelToken) -> ReferenceDocument:
    """Return the document rewritten, of the same version.

    Raises
    ------
    RefbrowserError
        An entry is faulty.
    """
    writer = _Writer(document.written(), how, token)
    return ReferenceDocument.read(
        _joined(writer.portions()), name=document.name, values=document.templates.values
    )


#: Why an array is left out whose values are too many to stand in the document.
NO_ROOM = "its values do not fit into the document (inlined_members); it is left out"


class DocumentFullError(Exception):
    """Values do not fit into the document."""


@dataclass(slots=True)
class Remaking:
    """Gathers what changes in the document of a file, so that other software reads what it refers to.

    Attributes
    ----------
    losses
        What is left out, or reads otherwise.
    metadata
        Metadata keys with another text.
    references
        Entries that are added.
    gone
        Beginnings of the keys of arrays that are left out.
    remade
        Those of arrays whose chunks are made anew.
    room
        Bytes that may still be written into the document.
    """

    dataset: Dataset
    control: JobControl
    losses: list[Loss] = field(default_factory=list)
    metadata: dict[str, bytes] = field(default_factory=dict)
    references: list[tuple[str, Reference]] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    remade: set[str] = field(default_factory=set)
    room: int = field(default_factory=lambda: LIMITS.inlined_members)

    def keeps(self, key: str) -> bool:
        """Tell whether an entry stays: not of arrays that are left out, nor chunks that are made anew."""
        above, slash, name = key.rpartition("/")
        prefix = above + slash
        return prefix not in self.gone and (prefix not in self.remade or name.startswith(".z"))

    def leave_out(self, node: ArrayNode, what: str) -> None:
        """Leave an array out; `what` tells why."""
        self.gone.add(node.key_prefix)
        self.losses.append(Loss(node.path, what))

    def document(self) -> tuple[Document, list[Loss]]:
        """Return the document with all that changes, and what that loses.

        Raises
        ------
        RefbrowserError
            An entry is faulty.
        """
        how = Rewriting(keeps=self.keeps, metadata=self.metadata, added=iter(self.references))
        return rewritten(self.dataset.document, how, self.control.token), self.losses


def _joined(portions: Iterator[bytes]) -> Iterator[bytes]:
    """Yield text in blocks: it is read entry by entry where it comes so."""
    block: list[bytes] = []
    size = 0
    for portion in portions:
        block.append(portion)
        size += len(portion)
        if size > BLOCK:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


class _Writer:
    def __init__(self, document: ReferenceDocument, how: Rewriting, token: CancelToken) -> None:
        self.document = document
        self.how = how
        self.token = token
        # Within a jinja-str a brace of the folder's name must stay text.
        self.spread: list[GenRule] = []
        self.escaped_base = _as_template(how.base) if document.version == 1 else how.base

    def portions(self) -> Iterator[bytes]:
        """Yield the text."""
        if self.document.version == 1:
            outer = {"version": 1, **self.document.node.to_python()}
            for name in ("refs", *self.document.wrong_members):
                outer.pop(name, None)
            for name, _ in self.document.templates.faults:
                outer.get("templates", {}).pop(name, None)
            if "gen" in outer:
                outer["gen"] = list(self._rules())
            head = json.dumps(outer, indent=1)
            yield head[:-2].encode() + b',\n "refs": '
            yield from self._object()
            yield b"\n}\n"
        else:
            yield from self._object()
            yield b"\n"

    def _object(self) -> Iterator[bytes]:
        before = b"{\n"
        for key, raw in self._entries():
            yield before + json.dumps(key).encode() + b": " + raw
            before = b",\n"
        yield b"{}" if before == b"{\n" else b"\n}"

    def _entries(self) -> Iterator[tuple[str, bytes]]:
        refs, how = self.document.refs, self.how
        for start in range(0, len(refs), PAGE):
            self.token.check()
            slots = refs.slots(start, start + PAGE)
            for slot, key in zip(slots, refs.keys_of(slots), strict=True):
                if how.keeps is not None and not how.keeps(key):
                    continue
                if (raw := self._value(slot, key)) is not None:
                    yield key, raw
        for key, reference in chain(self._spread_rows(), how.added):
            yield key, _value_text(reference, how.base, self.document.version == 1)

    def _spread_rows(self) -> Iterator[tuple[str, Reference]]:
        """Yield the rows that stay of rules that do not; the last one of a key counts."""
        found: dict[str, Reference] = {}
        for rule in self.spread:
            if rule.count > LIMITS.write_out_question:
                raise RefbrowserError(
                    ErrorKind.BUDGET,
                    f"the rule has {rule.count} rows and is only partly selected",
                    Place(rule=rule.index),
                    "select all arrays of the rule",
                )
            for number in range(rule.count):
                if not number % PAGE:
                    self.token.check()
                row = rule.row(number)
                if row.key is not None and row.reference is not None and self.how.keeps_chunk(row.key):
                    found[row.key] = row.reference
        yield from found.items()

    def _value(self, slot: int, key: str) -> bytes | None:
        refs, how = self.document.refs, self.how
        if key in how.metadata:
            return json.dumps(how.metadata[key].decode("utf-8")).encode()
        try:
            reference = self.document.view.reference(slot)
        except RefbrowserError as error:
            if not how.skip_bad:
                raise
            how.skipped.append(error)
            return None
        raw = refs.value_text(slot)
        if refs.value(slot).kind in (ValueKind.TEXT, ValueKind.BASE64, ValueKind.OBJECT):
            return raw
        assert isinstance(reference, ByteRange | WholeFile)
        if not how.base or not is_relative(reference.url):
            return raw
        value = json.loads(raw)
        return json.dumps([self.escaped_base + value[0], *value[1:]]).encode()

    def _rules(self) -> Iterator[dict[str, Any]]:
        how = self.how
        for rule, node in zip(self.document.rules, self.document.rule_nodes, strict=True):
            faults = [finding for finding in find_faults(rule) if finding.severity is Severity.FAULT]
            if faults and not how.skip_bad:
                raise faults[0].error()
            if faults:
                how.skipped.append(faults[0].error())
                continue
            stays = how.rule_stays(rule)
            if not stays:
                if stays is None:
                    self.spread.append(rule)
                continue
            fields = node.to_python()
            if how.base and is_relative(rule_url(rule)):
                fields["url"] = self.escaped_base + fields["url"]
            yield fields


def rule_url(rule: GenRule) -> str:
    """Return a URL that a gen rule makes."""
    reference = rule.row(0).reference if rule.count else None
    if isinstance(reference, ByteRange | WholeFile):
        return reference.url
    return rule.static_origin()


def is_relative(url: str) -> bool:
    """Tell whether a URL means something else in another folder."""
    return scheme_of(url) is None and not os.path.isabs(os.path.expanduser(url))


def _as_template(text: str) -> str:
    """Return a jinja-str that renders to `text`."""
    return re.sub(r"\{(?=[{%#])", "{{ '{' }}", text)


def _value_text(reference: Reference, base: str, is_template: bool) -> bytes:
    if isinstance(reference, Inline):
        return json.dumps("base64:" + base64.b64encode(reference.data).decode("ascii")).encode()
    assert isinstance(reference, ByteRange | WholeFile)
    url = base + reference.url if base and is_relative(reference.url) else reference.url
    url = _as_template(url) if is_template else url
    numbers = [reference.offset, reference.length] if isinstance(reference, ByteRange) else []
    return json.dumps([url, *numbers]).encode()
