"""What a reference document says, Version 0 or 1, and the text that says it. Immutable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError
from refbrowser.model.listing import StoreFacts
from refbrowser.references.document.columns import ReferenceView, RenderedUrls
from refbrowser.references.document.reader import DocumentSource, read_source
from refbrowser.references.document.refs import References
from refbrowser.references.document.table import TableBuilder
from refbrowser.references.document.writer import region_chunks
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.references.text.document_text import DocumentText, locate
from refbrowser.references.text.json_text import JsonReader, Node, NodeKind, pointer

if TYPE_CHECKING:
    from refbrowser.model.nodes import Flavour, Hierarchy
    from refbrowser.model.reference import Reference


#: URLs in which a name is looked for at most.
_MENTIONED = 10_000
#: What each member of the top level is.
_MEMBERS = {"templates": NodeKind.OBJECT, "gen": NodeKind.LIST, "refs": NodeKind.OBJECT}


def wrong_member(name: str, node: Node) -> RefbrowserError:
    """Return the error of a member of the top level that is of the wrong type."""
    message = f"{name} is {node.kind.value}, not {_MEMBERS[name].value}"
    return RefbrowserError(ErrorKind.SCHEMA, message, Place(pointer=pointer(name)))


def no_references(text: DocumentText | None = None) -> References:
    """Return references without any entry."""
    return References(TableBuilder().finish(text or DocumentText.of(b""), 0))


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The bytes of the packed file that a document was read from.

    Attributes
    ----------
    kind
        ``gzip`` or ``zstd``.
    """

    kind: Literal["gzip", "zstd"]
    data: bytes
    outer: bytes
    refs: References

    @classmethod
    def of(cls, kind: Literal["gzip", "zstd"], data: bytes, document: DocumentContent) -> Packed:
        """Return the packed file of a document that was just read."""
        return cls(kind, data, document.outer, document.refs)

    def is_of(self, document: DocumentContent) -> bool:
        """Return whether a document is still as it was read."""
        return document.outer is self.outer and document.refs is self.refs


@dataclass(frozen=True, slots=True)
class StoreOrigin:
    """The store that a document was made from.

    Attributes
    ----------
    root
        Its URL, or its path with links resolved, without a ``/`` at the end; all below it is the store's.
    flavour
        Whose rules its metadata follows.
    container
        ``folder``, ``zip`` or ``url``.
    folder
        The leading folder that its keys are below, with a ``/`` at its end; empty for none.
    left_out
        Beginnings of the keys of arrays whose chunks have no references: there is no room for their rules.
    is_consolidated
        Whether its root repeats all metadata in one document, which the references do not.
    facts
        What is learned of it while it is open.
    """

    root: str
    flavour: Flavour
    container: Literal["folder", "zip", "url"]
    folder: str = ""
    left_out: frozenset[str] = frozenset()
    is_consolidated: bool = False
    facts: StoreFacts = field(default_factory=StoreFacts, compare=False)


class Fact(NamedTuple):
    """Something that is told of a file: a text, a count, or how many bytes."""

    name: str
    value: int | str
    is_size: bool = False


class DerivedOrigin(Protocol):
    """The file that a document was made from, where it tells more than references can say (ncstream)."""

    @property
    def path(self) -> str:
        """Its URL, or its path with links resolved."""
        ...

    @property
    def format(self) -> str:
        """The name of its format (`refbrowser.formats.registry.Format`)."""
        ...

    def completed(self, hierarchy: Hierarchy) -> Hierarchy:
        """Return the hierarchy that the document's metadata describes, with what only the file tells."""
        ...

    def facts(self) -> Sequence[Fact]:
        """Return what is told of the file beside its path and format."""
        ...

    def reference_of(self, name: str) -> Reference | None:
        """Return where a part of the file lies that has a name and is no key; None where none is meant.

        Raises
        ------
        RefbrowserError
            There is no such part, or it cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """The file that a document was made from, of which references say all (`DerivedOrigin`).

    Attributes
    ----------
    path
        Its URL, or its path with links resolved.
    format
        The name of its format.
    """

    path: str
    format: str

    def completed(self, hierarchy: Hierarchy) -> Hierarchy:
        """Return the hierarchy that the document's metadata describes."""
        return hierarchy

    def facts(self) -> Sequence[Fact]:
        """Return nothing: the hierarchy tells all."""
        return ()

    def reference_of(self, name: str) -> Reference | None:
        """Return None: nothing in it has a name but keys."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class KnownMetadata:
    """The bytes of the metadata that stands in a document, known before its text was made.

    Attributes
    ----------
    values
        By key, in document order.
    elsewhere
        Metadata keys that the document refers to elsewhere.
    parsed
        The objects that some of the values are, by key, where they were known before these.
    """

    values: Mapping[str, bytes]
    elsewhere: tuple[str, ...] = ()
    parsed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class DocumentContent:
    """A reference document as data: version, templates, gen rules, refs, and members it does not know.

    Attributes
    ----------
    version
        0 or 1.
    version_missing
        Version 1 without its member `version`: a fault that `SetVersion(1)` repairs.
    outer
        The text of the document without what stands between the brackets of `refs`.
    mark
        Bytes of its byte-order mark.
    refs
        The entries of `refs`; in Version 0 of the document itself.
    region
        Where `refs` stands in the text that was read.
    values
        Values that the user gave for templates; never saved.
    name
        For messages.
    packed
        The file, where it was packed.
    from_parquet
        Whether it was read from the parquet form: its text was made from that.
    store
        The store that it was made from, None for a document that was one.
    derived
        The file that it was made from, where that tells more than references can say.
    known
        Its metadata, where the text was made from that; gone with the first edit.
    notes
        What was found to be wrong while it was opened, beside what its text tells.
    """

    version: int
    outer: bytes
    refs: References
    region: tuple[int, int] = (0, 0)
    mark: int = 0
    version_missing: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    name: str | None = None
    packed: Packed | None = None
    from_parquet: bool = False
    store: StoreOrigin | None = None
    derived: DerivedOrigin | None = None
    known: KnownMetadata | None = None
    notes: tuple[Finding, ...] = ()

    # Reading

    @classmethod
    def read(
        cls, pieces: Iterable[bytes], *, name: str | None = None, values: Mapping[str, str] | None = None
    ) -> Self:
        """Read a document from the pieces of its text.

        Raises
        ------
        RefbrowserError
            E_JSON, E_ENCODING, E_SCHEMA or E_BUDGET, with line and column.
        """
        return cls.from_source(read_source(pieces, name=name), values)

    @classmethod
    def from_source(cls, source: DocumentSource, values: Mapping[str, str] | None = None) -> Self:
        """Return the document whose text was read."""
        result, found = source.result, source.found
        text = result.text
        if found.version == 0:
            refs, region = References(result.top), result.top_region
        elif result.refs is not None and result.refs_region is not None:
            refs, region = References(result.refs), result.refs_region
        else:
            refs, region = no_references(text), (text.size, text.size)
        outer = text.read(0, region[0]) + text.read(region[1], text.size)
        return cls(
            version=found.version,
            outer=outer,
            refs=refs,
            region=region,
            mark=result.mark,
            version_missing=found.version_missing,
            values=dict(values or {}),
            name=source.name,
        )

    @classmethod
    def of(cls, data: bytes, **options: Any) -> Self:
        """Read a document that is in memory; options are those of `read`."""
        return cls.read([data], **options)

    @classmethod
    def of_parts(
        cls,
        before: bytes,
        entries: bytes,
        *,
        templates: Mapping[str, str],
        gen: Sequence[Any],
        **fields: Any,
    ) -> Self:
        """Return the Version 1 document ``before + entries + "}}"``, whose text is known to be right.

        What stands before the entries is not parsed until that is asked for: its rules may be many.

        Parameters
        ----------
        before
            Ends with the opening bracket of `refs`, its last member.
        templates
            Those that stand in `before`.
        gen
            The rules that stand in `before`.
        fields
            Other fields of the document.
        """
        start = b'{"version":1,"refs":'
        blank = start.ljust(len(before) - 1) + b"{"
        read = cls.read([blank + entries + b"}}"], name=fields.get("name"), values=fields.get("values"))
        made = replace(read, outer=before + b"}}", **fields)
        made.__dict__["hole"] = len(before)
        made.__dict__["templates"] = TemplateSet(templates, made.values)
        made.__dict__["rule_values"] = gen
        return made

    # What it says

    @cached_property
    def node(self) -> Node:
        """The outer text parsed; `refs` is an empty object in it."""
        reader = JsonReader(self.outer)
        return reader.value(reader.space(self.mark))

    @cached_property
    def hole(self) -> int | None:
        """Where in `outer` the entries of `refs` belong; None where there is no such object."""
        if self.version == 0:
            return self.node.start + 1
        node = self.node.member("refs")
        return node.start + 1 if node is not None and node.kind is NodeKind.OBJECT else None

    @cached_property
    def wrong_members(self) -> dict[str, Node]:
        """The members of the top level that are of the wrong type: nothing of what they hold is known."""
        if self.version == 0 or self.known is not None:
            return {}
        found = {name: self.node.member(name) for name in _MEMBERS}
        return {
            name: node for name, node in found.items() if node is not None and node.kind is not _MEMBERS[name]
        }

    @cached_property
    def templates(self) -> TemplateSet:
        """The templates, with the values that the user gave."""
        return TemplateSet(self._template_texts(), self.values)

    def _template_texts(self) -> dict[str, Any]:
        node = self.node.member("templates") if self.version == 1 else None
        return node.to_python() if node is not None and node.kind is NodeKind.OBJECT else {}

    @property
    def rule_nodes(self) -> list[Node]:
        """The rules in the outer text."""
        node = self.node.member("gen") if self.version == 1 else None
        return node.items if node is not None else []

    @cached_property
    def rule_values(self) -> Sequence[Any]:
        """What the rules are in the outer text, as Python values."""
        return [node.to_python() for node in self.rule_nodes]

    @cached_property
    def rules(self) -> tuple[GenRule, ...]:
        """The gen rules."""
        return tuple(GenRule(value, self.templates, index) for index, value in enumerate(self.rule_values))

    @cached_property
    def urls(self) -> RenderedUrls:
        """The distinct URLs of `refs` after rendering."""
        return RenderedUrls.of(self.refs.table.urls, self.templates if self.version == 1 else None)

    @cached_property
    def view(self) -> ReferenceView:
        """What the entries of `refs` stand for."""
        return ReferenceView(
            self.refs, self.urls, self.templates if self.version == 1 else None, self.place_of_key
        )

    def mentions(self, name: str) -> bool:
        """Return whether a template, a rule, or one of the first URLs ends in the name of a file."""
        texts = [*self.refs.table.urls[:_MENTIONED]]
        if self.version == 1:
            texts += [*map(str, self.templates.templates.values()), *(str(rule.url) for rule in self.rules)]
        return any(text == name or text.endswith((f"/{name}", f"}}{name}")) for text in texts)

    # Places

    @property
    def is_made(self) -> bool:
        """Whether its text was made here, from a store or other files: nobody knows the places in it."""
        return self.store is not None or self.derived is not None or self.from_parquet

    @property
    def rules_are_made(self) -> bool:
        """Whether its templates and rules were made here, for a store or another file: nobody wrote them."""
        return self.store is not None or self.derived is not None

    def shown_url(self, url: str) -> str:
        """Return a URL as it is written; where nobody wrote it, what it leads to."""
        try:
            return self.templates.render(url) if self.rules_are_made else url
        except RefbrowserError:
            return url

    def key_pointer(self, key: str) -> str:
        """Return the JSON pointer of an entry of `refs`."""
        return pointer(key) if self.version == 0 else pointer("refs", key)

    def place_of_key(self, key: str) -> Place:
        """Return the place of an entry of `refs`, without line and column.

        Where the text was made here, the place is what the user has: a key of the store, or the node of
        another file that the entry is about.
        """
        if self.derived is not None:
            return Place(document=self.name, path=f"/{key.rpartition('/')[0]}")
        return Place(document=self.name, pointer=None if self.is_made else self.key_pointer(key), key=key)

    def locate(self, positions: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return line and column of bytes of the document as it is now."""
        return locate(self.to_chunks(), positions)

    # Writing

    @property
    def is_edited(self) -> bool:
        """Whether entries of `refs` differ from the text that was read."""
        return self.refs.is_edited

    def to_chunks(self) -> Iterator[bytes]:
        """Yield the document's text: what was read, changed only where it was edited."""
        if self.hole is None:
            yield self.outer
            return
        yield self.outer[: self.hole]
        yield from region_chunks(self.refs, self.region)
        yield self.outer[self.hole :]

    def to_bytes(self) -> bytes:
        """Return the document's text."""
        return b"".join(self.to_chunks())

    # Changing

    def with_outer(self, outer: bytes) -> Self:
        """Return the document with another outer text."""
        return replace(self, outer=outer, known=None)

    def with_refs(self, refs: References) -> Self:
        """Return the document with other references."""
        changed = replace(self, refs=refs, known=None)
        for name in ("node", "hole", "templates", "rule_values", "rules"):
            if name in self.__dict__:
                changed.__dict__[name] = self.__dict__[name]
        if refs.table is self.refs.table and "urls" in self.__dict__:
            changed.__dict__["urls"] = self.urls
        return changed

    def with_template_values(self, values: Mapping[str, str]) -> Self:
        """Return the document with other values given by the user for its templates."""
        return replace(self, values=dict(values))


class Edit(Protocol):
    """A change of a document."""

    @property
    def title(self) -> str:
        """What the history calls it."""
        ...

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        ...
