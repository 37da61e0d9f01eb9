"""What a reference document says, Version 0 or 1, and the text that says it. Immutable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.reference import Inline
from refbrowser.references.content.columns import ReferenceView, RenderedUrls
from refbrowser.references.content.deferred_tables import Deferred
from refbrowser.references.content.known_metadata import KnownMetadata
from refbrowser.references.content.origins import DocumentOrigin, StoreOrigin
from refbrowser.references.content.reader import DocumentSource, read_source
from refbrowser.references.content.refs import References, no_references
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.layouts import ChunkLayout, Generated
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.references.text.json_text import JsonReader, Node, NodeKind, pointer

if TYPE_CHECKING:
    from refbrowser.model.nodes import ArrayNode, GroupNode
    from refbrowser.model.reference import Reference
    from refbrowser.references.content.known_metadata import KnownMetadata
from refbrowser.references.content.origins import Fact, LaterReferences, UrlsLeft

#: URLs in which a name is looked for at most.
_MENTIONED = 10_000
#: Metadata that may tell of more nodes than the one beside it.
_OF_MANY = (".zmetadata", "zarr.json")
_Kind = TypeVar("_Kind")
_NOTHING: Set[str] = frozenset()
#: What each member of the top level is.
_MEMBERS = {"templates": NodeKind.OBJECT, "gen": NodeKind.LIST, "refs": NodeKind.OBJECT}


def wrong_member(name: str, node: Node) -> RefbrowserError:
    """Return the error of a member of the top level that is of the wrong type."""
    message = f"{name} is {node.kind.value}, not {_MEMBERS[name].value}"
    return RefbrowserError(ErrorKind.SCHEMA, message, Place(pointer=pointer(name)))


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
    def of(cls, kind: Literal["gzip", "zstd"], data: bytes, document: ReferenceText) -> Packed:
        """Return the packed file of a document that was just read."""
        return cls(kind, data, document.outer, document.refs)

    def is_of(self, document: ReferenceText) -> bool:
        """Return whether a document is still as it was read."""
        return document.outer is self.outer and document.refs is self.refs


@dataclass(frozen=True, eq=False, kw_only=True)
class DocumentContent(ABC):
    """What a document says, of either kind: references by key, and where they come from.

    Attributes
    ----------
    refs
        The entries that stand one by one, edits included.
    version
        0 or 1: of its text, or of that which would be made of it.
    name
        For messages.
    origin
        The store or file that it was made from; None of a text that somebody wrote. Rooms of formats look
        behind it (`made_from`), all others ask the document.
    known
        Its metadata, where that was known before its references; gone with the first edit.
    described
        Groups and arrays that its format described as nodes, by each key of the metadata that other software
        is given of them: none of it is read to learn of them, until somebody edits it (`as_described`).
    notes
        What was found to be wrong while it was opened, beside what it says itself.
    opened_with
        The options of opening that were said, by name: what opens it so again.
    later
        Its references where it has no `origin` and very many of them, which are read as arrays are touched.
    """

    refs: References
    version: int = 1
    name: str | None = None
    origin: DocumentOrigin | None = None
    known: KnownMetadata | None = None
    described: Mapping[str, GroupNode | ArrayNode] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    opened_with: Mapping[str, Any] = field(default_factory=dict)
    later: LaterReferences | None = None

    # What each kind has its own way

    @abstractmethod
    def written(self) -> ReferenceText:
        """Return the document as the text that other software reads: itself where it has one."""

    @property
    @abstractmethod
    def generated(self) -> Sequence[Generated]:
        """What makes references that are not stored."""

    @property
    @abstractmethod
    def edits_win(self) -> bool:
        """Whether an entry that was edited counts before what is made for its key."""

    @property
    @abstractmethod
    def templates(self) -> TemplateSet:
        """The templates, with the values that the user gave."""

    @property
    @abstractmethod
    def renders(self) -> TemplateSet | None:
        """What URLs of entries are rendered with; None where each stands for itself."""

    @property
    @abstractmethod
    def rules(self) -> tuple[GenRule, ...]:
        """The gen rules."""

    @property
    @abstractmethod
    def rule_nodes(self) -> list[Node]:
        """The rules in its text."""

    @property
    @abstractmethod
    def frame(self) -> object:
        """What it says beside its entries: two states are one where this and the entries are the same."""

    @property
    @abstractmethod
    def wrong_members(self) -> Mapping[str, Node]:
        """The members of the top level that are of the wrong type: nothing of what they hold is known."""

    @property
    @abstractmethod
    def findings(self) -> tuple[Finding, ...]:
        """Every fault and warning of the top level, templates and refs (those of rules: `GenRule.faults`)."""

    @abstractmethod
    def with_template_values(self, values: Mapping[str, str]) -> Self:
        """Return the document with other values given by the user for its templates; they are never saved."""

    @property
    def packed(self) -> Packed | None:
        """The file that it was read from, where that was packed."""
        return None

    @property
    def from_parquet(self) -> bool:
        """Whether it was read from the parquet form: its text was made from that."""
        return False

    # Where it comes from

    def made_from(self, kind: type[_Kind]) -> _Kind | None:
        """Return what it was made from where that is of a kind; for the rooms of a format alone."""
        return self.origin if isinstance(self.origin, kind) else None

    @property
    def store(self) -> StoreOrigin | None:
        """The store that it was made from, None for a document that was one."""
        return self.made_from(StoreOrigin)

    @property
    def format(self) -> str:
        """The name of its format, as ``info --json`` has it."""
        plain = "refs-parquet" if self.from_parquet else f"refs-v{self.version}"
        return plain if self.origin is None else self.origin.format

    @property
    def has_keys(self) -> bool:
        """Whether people know what it has by keys; of files of other formats they know nodes."""
        return self.origin is None or self.origin.has_keys

    def holds(self, path: str) -> bool:
        """Return whether a local path with links resolved is that of its store or file, or lies in it."""
        return self.origin is not None and (path == self.origin.path or self.origin.holds(path))

    def told(self) -> Sequence[Fact]:
        """Return what is told of the file that it was made from, beside path and format."""
        return () if self.origin is None else self.origin.told()

    @property
    def opens_again(self) -> Mapping[str, Any]:
        """The options of opening that give the same state again, whatever happens to its file meanwhile."""
        return self.opened_with if self.origin is None else self.origin.again(self.opened_with)

    def state(self, name: str) -> Mapping[str, Any] | None:
        """Return the options of opening that give another state of its file (`DocumentOrigin.state`)."""
        return None if self.origin is None else self.origin.state(name)

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return an array whose values the library of its format reads; None where there is none."""
        return None if self.origin is None else self.origin.by_library(node)

    @property
    def known_values(self) -> Mapping[str, Any]:
        """The values of small coordinates that were told when it was opened, whatever was edited since."""
        return {} if self.origin is None else self.origin.known_values()

    def reference_of_part(self, name: str) -> Reference | None:
        """Return where a part of its file lies that has a name and is no key; None where none is meant.

        Raises
        ------
        RefbrowserError
            There is no such part, or it cannot be read.
        """
        return None if self.origin is None else self.origin.reference_of(name)

    @property
    def own_text(self) -> ReferenceText | None:
        """The document where its text is one that somebody wrote; None where the text is made here."""
        return None

    @property
    def unread(self) -> list[Finding]:
        """What could not be read when it was made from other files: it has no entry in the document."""
        notes = () if self.has_keys and not self.from_parquet else self.noted()
        return [note for note in notes if note.severity is Severity.FAULT]

    def noted(self, paths: Collection[str] | None = None) -> tuple[Finding, ...]:
        """Return what was found to be wrong, beside what the document says itself.

        Of files that are read bit by bit, what concerns the paths is read for it.

        Parameters
        ----------
        paths
            Absolute: what its file says of others may be left out. None for all of it.
        """
        told = self.later if self.origin is None else self.origin
        return self.notes if told is None else (*self.notes, *told.noted(paths))

    # What it says

    @property
    def left(self) -> int:
        """How many references were not read yet: they are read as arrays are touched."""
        told = self.later if self.origin is None else self.origin
        return 0 if told is None or (self.is_edited and not self.refs.is_left) else told.left

    @property
    def is_unread(self) -> bool:
        """Whether very many references were not read yet: showing the document leaves them."""
        return self.left > LIMITS.references_described

    def ask_before_reading(self, before: Callable[[int], None]) -> None:
        """Have `before` called before references that were left are all read; it may raise."""
        if isinstance(self.refs.table, Deferred):
            self.refs.table.ask_first(lambda: before(self.left) if self.is_unread else None)

    def read_all(self) -> None:
        """Read the references that were left; nobody is asked.

        Raises
        ------
        RefbrowserError
            There are more than one document can hold, or they cannot be read.
        """
        if isinstance(self.refs.table, Deferred):
            self.refs.table.read()

    def urls_left(self) -> Sequence[UrlsLeft]:
        """Return what the URLs of the references begin with that were not read yet."""
        told = self.later if self.origin is None else self.origin
        return () if told is None else told.urls_left()

    @property
    def urls(self) -> RenderedUrls:
        """The distinct URLs of `refs` after rendering."""
        return RenderedUrls.of(self.refs.table.urls, self.renders)

    def left_reference(self, key: str) -> Reference | None:
        """Return what stands under a key while not all references were read; None where nothing does.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        if is_metadata_key(key) and self.known is not None:
            found = self.known.values.get(key)
            return None if found is None else Inline(found)
        view = self.view_at_hand if is_metadata_key(key) else self.edited_chunks
        slot = view.refs.find_slot(key)
        if slot is not None or is_metadata_key(key):
            return None if slot is None or key in self.refs.gone else view.reference(slot)
        told = self.later if self.origin is None else self.origin
        return None if told is None else told.left_reference(key)

    @cached_property
    def view(self) -> ReferenceView:
        """What the entries of `refs` stand for."""
        return ReferenceView(self.refs, self.urls, self.renders, self.place_of_key)

    @cached_property
    def view_at_hand(self) -> ReferenceView:
        """What the entries of metadata stand for: no others are read for it."""
        refs = self.refs.at_hand
        return self.view if refs is self.refs else ReferenceView.of(refs, self.renders, self.place_of_key)

    @cached_property
    def edited_chunks(self) -> ReferenceView:
        """What edits laid over keys of chunks that were not read."""
        return ReferenceView.of(self.refs.by_key, self.renders, self.place_of_key)

    def mentions(self, name: str) -> bool:
        """Return whether a template, a rule, or one of the first URLs ends in the name of a file."""
        texts = [*self.refs.table.urls[:_MENTIONED]]
        if self.version == 1:
            texts += [*map(str, self.templates.templates.values()), *(str(rule.url) for rule in self.rules)]
        return any(text == name or text.endswith((f"/{name}", f"}}{name}")) for text in texts)

    @cached_property
    def as_described(self) -> Mapping[str, GroupNode | ArrayNode]:
        """The nodes of `described` by path, but those whose metadata was edited since."""
        nodes = {node.path: node for node in self.described.values()}
        if self.known is not None or not nodes:
            return nodes
        keys = [key for key in self.refs.edited_odd_keys() if is_metadata_key(key)]
        if any(key.endswith(_OF_MANY) for key in keys):
            return {}
        if any(is_metadata_key(rule.key or "") for rule in self.rules):
            return {}
        for key in keys:
            nodes.pop(f"/{key.rpartition('/')[0]}", None)
        return nodes

    def templated(self) -> Iterator[tuple[str, Set[str]]]:
        """Yield each text that may use a template, and what means something else in it: names of dimensions.

        Fields of rules come first, as they are fewer.
        """
        if self.renders is None:
            return
        for rule in self.rules:
            hidden = {name for name, _ in rule.dimensions}
            for text in (rule.key, rule.url, rule.offset, rule.length):
                if text is not None and "{" in text:
                    yield text, hidden
        edited = (patch.value.url for patch in (*self.refs.replaced.values(), *self.refs.appended.values()))
        for text in chain(edited, self.refs.table.urls):
            if "{" in text:
                yield text, _NOTHING

    @property
    def layouts(self) -> tuple[ChunkLayout, ...]:
        """Arrays whose chunks have references made from their keys, by no rule that stands in a text."""
        return ()

    @property
    def places(self) -> Mapping[str, str]:
        """Texts that many URLs begin with, by name: templates, or the place of the store or file."""
        return {name: text for name, text in self.templates.templates.items() if isinstance(text, str)}

    def is_at_place(self, url: str) -> bool:
        """Tell whether a URL, as it stands in the entries, changes with the place of the store or file."""
        return False

    def with_place(self, name: str, text: str) -> Self | None:
        """Return the document with another place of the store or file; None where none is named so."""
        return None

    # Places

    @property
    def is_made(self) -> bool:
        """Whether its text was made here, from a store or other files: nobody knows the places in it."""
        return self.rules_are_made or self.from_parquet

    @property
    def rules_are_made(self) -> bool:
        """Whether it was made here of a store or another file: nobody wrote templates and rules."""
        return self.origin is not None

    def shown_url(self, url: str) -> str:
        """Return a URL as it is written; where nobody wrote it, what it leads to."""
        try:
            return self.renders.render(url) if self.rules_are_made and self.renders is not None else url
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
        if not self.has_keys:
            return Place(document=self.name, path=f"/{key.rpartition('/')[0]}")
        return Place(document=self.name, pointer=None if self.is_made else self.key_pointer(key), key=key)

    # Writing

    @property
    def is_edited(self) -> bool:
        """Whether entries of `refs` differ from what was read."""
        return self.refs.is_edited

    def to_chunks(self) -> Iterator[bytes]:
        """Yield the document's text."""
        return self.written().to_chunks()

    def to_bytes(self) -> bytes:
        """Return the document's text."""
        return b"".join(self.to_chunks())

    # Changing

    def with_refs(self, refs: References) -> Self:
        """Return the document with other references."""
        return replace(self, refs=refs, known=None)


class OuterText:
    """What stands in the text of a document outside of `refs`, each part read when it is asked for.

    States of a document whose outer text is the same share it.
    """

    def __init__(self, version: int, data: bytes, mark: int, values: Mapping[str, str]) -> None:
        self.version, self.data, self.mark, self.values = version, data, mark, values
        self._rendered: tuple[tuple[str, ...], RenderedUrls] | None = None

    def is_of(self, document: ReferenceText) -> bool:
        """Return whether it is that of a document."""
        same = self.data is document.outer and self.values is document.values
        return same and (self.version, self.mark) == (document.version, document.mark)

    @cached_property
    def node(self) -> Node:
        """The text parsed; `refs` is an empty object in it."""
        reader = JsonReader(self.data)
        return reader.value(reader.space(self.mark))

    @cached_property
    def hole(self) -> int | None:
        """Where in the text the entries of `refs` belong; None where there is no such object."""
        if self.version == 0:
            return self.node.start + 1
        node = self.node.member("refs")
        return node.start + 1 if node is not None and node.kind is NodeKind.OBJECT else None

    @cached_property
    def templates(self) -> TemplateSet:
        """The templates, with the values that the user gave."""
        node = self.node.member("templates") if self.version == 1 else None
        texts = node.to_python() if node is not None and node.kind is NodeKind.OBJECT else {}
        return TemplateSet(texts, self.values)

    def rendered(self, urls: tuple[str, ...]) -> RenderedUrls:
        """Return URLs after rendering; those of the last call are known."""
        if self._rendered is None or self._rendered[0] is not urls:
            templates = self.templates if self.version == 1 else None
            self._rendered = urls, RenderedUrls.of(urls, templates)
        return self._rendered[1]

    @property
    def rule_nodes(self) -> list[Node]:
        """The rules."""
        node = self.node.member("gen") if self.version == 1 else None
        return node.items if node is not None else []

    @cached_property
    def rules(self) -> tuple[GenRule, ...]:
        """The gen rules."""
        return tuple(
            GenRule(node.to_python(), self.templates, index) for index, node in enumerate(self.rule_nodes)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ReferenceText(DocumentContent):
    """A reference document as its text has it: templates, gen rules, refs, and members it does not know.

    Attributes
    ----------
    outer
        The text of the document without what stands between the brackets of `refs`.
    version_missing
        Version 1 without its member `version`: a fault that `SetVersion(1)` repairs.
    mark
        Bytes of its byte-order mark.
    region
        Where `refs` stands in the text that was read; None where that is read later, and is nothing but refs.
    said
        What the outer text says.
    values
        Values that the user gave for templates; never saved.
    packed
        The file, where it was packed.
    from_parquet
        Whether it was read from the parquet form: its text was made from that.
    """

    outer: bytes
    region: tuple[int, int] | None = (0, 0)
    mark: int = 0
    version_missing: bool = False
    said: OuterText | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    packed: Packed | None = None
    from_parquet: bool = False

    # Reading

    @classmethod
    def read(
        cls, portions: Iterable[bytes], *, name: str | None = None, values: Mapping[str, str] | None = None
    ) -> Self:
        """Read a document from the portions of its text.

        Raises
        ------
        RefbrowserError
            E_JSON, E_ENCODING, E_SCHEMA or E_BUDGET, with line and column.
        """
        return cls.from_source(read_source(portions, name=name), values)

    @classmethod
    def from_source(cls, source: DocumentSource, values: Mapping[str, str] | None = None) -> Self:
        """Return the document whose text was read."""
        result, found, text = source.result, source.found, source.result.text
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

    # What it says

    @cached_property
    def _said(self) -> OuterText:
        if self.said is not None and self.said.is_of(self):
            return self.said
        return OuterText(self.version, self.outer, self.mark, self.values)

    @property
    def span(self) -> tuple[int, int]:
        """Where `refs` stands in the text that was read."""
        if self.region is not None:
            return self.region
        hole = self.hole or 0
        return hole, self.refs.text_table.text.size - (len(self.outer) - hole)

    def written(self) -> Self:
        """Return the document: it is a text."""
        return self

    @property
    def own_text(self) -> ReferenceText | None:
        """The document where its text is one that somebody wrote; None where the text is made here."""
        return None if self.is_made or self.is_unread else self

    @property
    def generated(self) -> tuple[GenRule, ...]:
        """The gen rules."""
        return self.rules

    @property
    def edits_win(self) -> bool:
        """Gen rules count before every entry (References specification, Version 1)."""
        return False

    @property
    def frame(self) -> object:
        """The outer text."""
        return self.outer

    @property
    def node(self) -> Node:
        """The outer text parsed; `refs` is an empty object in it."""
        return self._said.node

    @property
    def hole(self) -> int | None:
        """Where in `outer` the entries of `refs` belong; None where there is no such object."""
        return self._said.hole

    @cached_property
    def wrong_members(self) -> dict[str, Node]:
        """The members of the top level that are of the wrong type: nothing of what they hold is known."""
        if self.version == 0 or self.known is not None:
            return {}
        found = {name: self.node.member(name) for name in _MEMBERS}
        held = {name: node for name, node in found.items() if node is not None}
        return {name: node for name, node in held.items() if node.kind is not _MEMBERS[name]}

    @property
    def templates(self) -> TemplateSet:
        """The templates, with the values that the user gave."""
        return self._said.templates

    @property
    def renders(self) -> TemplateSet | None:
        """The templates; None in Version 0, where each URL stands for itself."""
        return self.templates if self.version == 1 else None

    @property
    def urls(self) -> RenderedUrls:
        """The distinct URLs of `refs` after rendering."""
        return self._said.rendered(self.refs.table.urls)

    @property
    def rule_nodes(self) -> list[Node]:
        """The rules in the outer text."""
        return self._said.rule_nodes

    @property
    def rules(self) -> tuple[GenRule, ...]:
        """The gen rules."""
        return self._said.rules

    # Writing

    def to_chunks(self) -> Iterator[bytes]:
        """Yield the document's text: what was read, changed only where it was edited."""
        if self.hole is None:
            yield self.outer
            return
        yield self.outer[: self.hole]
        from refbrowser.references.content.writer import region_chunks  # What is only read is not written.

        yield from region_chunks(self.refs, self.span)
        yield self.outer[self.hole :]

    # Changing

    def with_template_values(self, values: Mapping[str, str]) -> Self:
        """Return the document with other values given by the user for its templates."""
        return replace(self, values=dict(values))

    def with_outer(self, outer: bytes) -> Self:
        """Return the document with another outer text."""
        return replace(self, outer=outer, known=None)

    def with_refs(self, refs: References) -> Self:
        """Return the document with other references."""
        return replace(self, refs=refs, known=None, said=self._said)


class Edit(Protocol):
    """A change of a document."""

    @property
    def title(self) -> str:
        """What the history calls it."""
        ...

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the changed document."""
        ...
