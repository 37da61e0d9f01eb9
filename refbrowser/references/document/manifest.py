"""What a store, a stream, an archive or any other file gave: metadata and references by key, as values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.metadata_keys import METADATA_NAMES
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.references.content.known_metadata import KnownMetadata
from refbrowser.references.content.made_text import (
    ROOT,
    NodeTexts,
    Spell,
    names_of_metadata,
    spelled_node,
    text_of,
)
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.refs import References
from refbrowser.references.content.unread_references import UnreadReferences
from refbrowser.references.content.url_prefixes import changed_urls
from refbrowser.references.content.value_table import DeferredTable, ValueTable, ValueTableBuilder
from refbrowser.references.document.document import Document, ReferenceDocument
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.layouts import ChunkLayout
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.references.text.json_text import Node

_NO_TEMPLATES = TemplateSet({}, {})
#: Before the place of an archive in the URL of a member of it.
_CHAINED = "::"


@dataclass(frozen=True, eq=False, kw_only=True)
class ManifestDocument(Document):
    """Metadata by key, references by key, and an overlay of edits; it has no text.

    Metadata is bytes that were found (a store's), or nodes of the model that the format described
    (`ManifestBuilder.add_node`). Of these Zarr v2 text is made, key by key, when somebody asks for it: the
    keys that are shown, ``cat .zarray``, what is saved as references. The hierarchy is made of the nodes
    themselves (`formats.references.hierarchy_of`); only a node whose metadata was edited is read from it.

    Attributes
    ----------
    place
        URL or absolute path of the store or file, without a ``/`` at its end: most URLs lie there or below.
    made
        Its layouts.
    """

    place: str
    made: tuple[ChunkLayout, ...] = ()

    @property
    def layouts(self) -> tuple[ChunkLayout, ...]:
        """Arrays whose chunks have references made from their keys."""
        return self.made

    @property
    def generated(self) -> tuple[ChunkLayout, ...]:
        """The layouts."""
        return self.made

    @property
    def edits_win(self) -> bool:
        """What was edited lies over all that was found."""
        return True

    @property
    def templates(self) -> TemplateSet:
        """None."""
        return _NO_TEMPLATES

    def with_template_values(self, values: Mapping[str, str]) -> Self:
        """Return the document: it has no templates."""
        return self

    @property
    def renders(self) -> None:
        """Nothing: each URL stands for itself."""
        return None

    @property
    def rules(self) -> tuple[GenRule, ...]:
        """None."""
        return ()

    @property
    def rule_nodes(self) -> list[Node]:
        """None."""
        return []

    @property
    def frame(self) -> object:
        """Its place and layouts."""
        return self.place, self.layouts

    @property
    def wrong_members(self) -> Mapping[str, Node]:
        """None."""
        return {}

    @property
    def places(self) -> Mapping[str, str]:
        """The place of the store or file."""
        return {ROOT: self.place}

    def is_at_place(self, url: str) -> bool:
        """Tell whether a URL is that of the store or file, or lies in it."""
        return (
            url == self.place or url.startswith(f"{self.place}/") or url.endswith(f"{_CHAINED}{self.place}")
        )

    @cached_property
    def _written(self) -> ReferenceDocument:
        text = text_of(self.place, self.layouts, self.refs)
        made = ReferenceDocument.read(text.chunks(), name=self.name)
        refs = replace(text.edited(self.refs), table=made.refs.table)
        origin, store, notes = self.origin, self.store, self.notes
        if text.left_out and store is not None:
            origin = replace(store, left_out=frozenset(text.left_out))
            notes += (_left_out(text.left_out),)
        return replace(
            made,
            refs=refs,
            origin=origin,
            known=self.known,
            described=self.described,
            notes=notes,
        )

    def written(self) -> ReferenceDocument:
        """Return the document as a text of Version 1 that other software reads."""
        return self._written

    def to_chunks(self) -> Iterator[bytes]:
        """Yield the document's text, which is made as it is asked for where nothing was edited."""
        if self.is_edited:
            return self.written().to_chunks()
        return text_of(self.place, self.layouts, self.refs).chunks()

    def to_plain_chunks(self, skip_bad: bool = False) -> Iterator[bytes]:
        """Yield a text without templates and rules, which is made as it is asked for where it can be."""
        refs = self.refs
        is_new = refs.appended or len(refs.removed) or any(refs.table.url[row] >= 0 for row in refs.replaced)
        if is_new:
            yield from super().to_plain_chunks(skip_bad)
        else:
            yield from text_of(self.place, self.layouts, refs, plain=True).chunks()

    def with_place(self, name: str, text: str) -> Self | None:
        """Return the document of the store or file at another place; None where something else is named."""
        if name != ROOT:
            return None

        def moved(url: str) -> str:
            if not self.is_at_place(url):
                return url
            at_end = url.endswith(f"{_CHAINED}{self.place}")
            return url[: -len(self.place)] + text if at_end else text + url[len(self.place) :]

        layouts = tuple(
            replace(each, head=moved(each.head), tail=each.tail and moved(each.tail)) for each in self.layouts
        )
        return replace(self, place=text, refs=changed_urls(self.refs, moved), made=layouts, known=None)


def _left_out(prefixes: list[str]) -> Finding:
    """Return the warning that the text has no references of the chunks of some arrays."""
    more = f" and {len(prefixes) - 1} others" if len(prefixes) > 1 else ""
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.META,
        message=f"the chunks of this array{more} have no references: the store has too many arrays",
        place=Place(key=prefixes[0].rstrip("/")),
        advice="Open an array, or its group, by its own path.",
    )


def unheld_name(path: str) -> Finding | None:
    """Return the warning that no key of Zarr can hold a path, which is not shown then; None where one can.

    Parameters
    ----------
    path
        Of a group or array.
    """
    parts = path.strip("/").split("/")
    named = path == "/" or not any(part in ("", ".", "..") or part in METADATA_NAMES for part in parts)
    if named and len(path) <= LIMITS.key_length and len(parts) <= LIMITS.group_nesting:
        return None
    message = f"{quoted(path)} has a name that cannot be a key; it is not shown"
    return Finding(severity=Severity.WARNING, kind=ErrorKind.FORMAT, message=message, place=Place(path=path))


@dataclass(slots=True)
class ManifestBuilder:
    """Gathers what a format found, in the order in which it is shown.

    Attributes
    ----------
    place
        URL or absolute path of the store or file.
    metadata
        The bytes of metadata documents by key.
    elsewhere
        Metadata keys that are referred to.
    parsed
        The objects that some of the metadata is, by key, where they were known before their bytes.
    spell
        Gives the metadata of a node under one of the names of Zarr v2; of a format whose words are others.
    nodes
        Groups and arrays that the format described, by each of their keys.
    """

    place: str
    metadata: dict[str, bytes] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)
    parsed: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    spell: Spell = spelled_node
    nodes: dict[str, GroupNode | ArrayNode] = field(default_factory=dict)
    layouts: list[ChunkLayout] = field(default_factory=list)
    _entries: ValueTableBuilder = field(default_factory=ValueTableBuilder)

    def add_metadata(self, documents: Mapping[str, bytes]) -> None:
        """Add metadata documents as they are stored."""
        self.metadata.update(documents)
        for key, data in documents.items():
            self._entries.add_bytes(key, data, ValueKind.TEXT)

    def add_node(self, node: GroupNode | ArrayNode) -> None:
        """Add a group or an array that the format describes; its text is made when it is asked for.

        Parameters
        ----------
        node
            With all that is known of it, but the manifest of `Chunks`, the paths of dimensions, and what is
            in a group: its keys are added in the order of nodes.
        """
        prefix = node.path.strip("/")
        for name in names_of_metadata(node):
            key = f"{prefix}/{name}".removeprefix("/")
            if key in self.nodes:
                # A group and an array of one path: both entries are shown, the later one counts.
                self._entries.add_bytes(key, self.spell(node, name), ValueKind.TEXT)
            else:
                self.add_described(key, node)

    def add_described(self, key: str, node: GroupNode | ArrayNode) -> None:
        """Add one key of a node alone, where keys are in another order than nodes; each is added once."""
        self.nodes[key] = node
        self._entries.add_made(key)

    def add_bytes(self, key: str, data: bytes) -> None:
        """Add a chunk whose bytes are known."""
        self._entries.add_bytes(key, data)

    def add_whole(self, key: str, url: str) -> None:
        """Add a key that stands for a whole object."""
        self._entries.add_reference(key, url)

    def add_range(self, key: str, offset: int, length: int, url: str | None = None) -> None:
        """Add a key that stands for a range of the file, or of what lies at `url`."""
        self._entries.add_reference(key, self.place if url is None else url, offset, length)

    def add_ranges(
        self,
        prefix: str,
        coords: npt.NDArray[np.int64],
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        encoding: ChunkKeyEncoding | None = None,
        urls: Sequence[str] | None = None,
        url: npt.NDArray[np.integer[Any]] | None = None,
    ) -> None:
        """Add the chunks of an array that are ranges of the file, or of others.

        Parameters
        ----------
        prefix
            What stands before the chunks' own keys: ``temp/``; empty for a root array.
        coords
            Of the chunks, shape (n, ndim).
        encoding
            How numbers stand in keys: as in Zarr v2 when None.
        urls, url
            The distinct URLs, and the position of each chunk's in them, shape (n,); the file when None.
        """
        named = (self.place,) if urls is None else urls
        at = np.zeros(len(coords), np.int32) if url is None else url
        self._entries.add_ranges(prefix, coords, named, at, offsets, lengths, encoding or ChunkKeyEncoding())

    def url_number(self, url: str) -> int:
        """Return the number that stands for a URL in `add_columns`."""
        return self._entries.url_number(url)

    def add_columns(
        self,
        prefix: str,
        coords: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        encoding: ChunkKeyEncoding,
    ) -> None:
        """Add the chunks of an array that are ranges of many files, as `ValueTableBuilder` does."""
        self._entries.add_columns(prefix, coords, numbers, offsets, lengths, encoding)

    def table(self) -> ValueTable:
        """Return the entries alone; the builder is at its end."""
        return self._entries.table(NodeTexts(self.nodes, self.spell))

    def document(
        self, *, name: str, later: Callable[[], Sequence[ValueTable] | None] | None = None, **fields: Any
    ) -> ManifestDocument:
        """Return the document of all that was gathered; the builder is at its end.

        Parameters
        ----------
        name
            For messages.
        later
            Adds entries, or gives further ones, when somebody first looks at any; what it raises is raised
            there.
        fields
            Other fields of the document.

        Raises
        ------
        RefbrowserError
            E_BUDGET: there are too many references.
        """
        known = KnownMetadata(self.metadata, tuple(self.elsewhere), self.parsed)

        def made() -> ValueTable:
            for each in (later() if later is not None else None) or ():
                self._entries.add_table(each)
            return self.table()

        refs = References(made()) if later is None else self._left(DeferredTable.of(made))
        return ManifestDocument(
            place=self.place,
            made=tuple(self.layouts),
            refs=refs,
            known=known,
            described=self.nodes,
            name=name,
            **fields,
        )

    def _left(self, table: DeferredTable) -> References:
        """Return references whose table is made later; where it begins with metadata alone, that is known."""
        if self._entries.count != len(self.metadata):
            return References(table)
        metadata = ValueTableBuilder()
        for key, data in self.metadata.items():
            metadata.add_bytes(key, data, ValueKind.TEXT)
        return UnreadReferences.of(table, References(metadata.table()))
