"""What documents are made from: stores, and files of other formats."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from refbrowser.model.listing import StoreFacts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from refbrowser.findings.finding import Finding
    from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode, Hierarchy
    from refbrowser.model.reference import Reference
    from refbrowser.model.values import ChunkManifest


class Fact(NamedTuple):
    """Something that is told of a file: a text, a count, or how many bytes."""

    name: str
    value: int | str
    is_size: bool = False


class UrlsLeft(NamedTuple):
    """What is known of the URLs of references that were not read: what they begin with.

    Attributes
    ----------
    beginning
        The URL itself where all of them have one (`is_url`).
    references
        How many they are at most.
    """

    beginning: str
    references: int
    is_url: bool = False


class DocumentOrigin(Protocol):
    """The store or file that a document was made from: what it tells beside keys and references."""

    @property
    def path(self) -> str:
        """Its URL, or its path with links resolved."""
        ...

    @property
    def format(self) -> str:
        """The name of its format, as ``info --json`` has it."""
        ...

    @property
    def flavour(self) -> Flavour:
        """Whose rules the metadata of the document follows."""
        ...

    @property
    def has_keys(self) -> bool:
        """Whether it is known by keys itself, as stores are; of other files nodes are known."""
        ...

    def holds(self, path: str) -> bool:
        """Return whether a local path with links resolved lies in it."""
        ...

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, GroupNode | ArrayNode]) -> Hierarchy:
        """Return the hierarchy of the document with what only the file tells.

        Parameters
        ----------
        hierarchy
            Of nodes that were described, and of those that were read from metadata.
        described
            The nodes that were described and not edited (`DocumentContent.as_described`), by path.
        """
        ...

    def manifest_of(self, prefix: str, whole: ChunkManifest) -> ChunkManifest:
        """Return what tells of the chunks of an array of the document as it was opened.

        Parameters
        ----------
        prefix
            What stands before the keys of its chunks.
        whole
            Tells of them by the references of all arrays, which may not have been read yet.
        """
        ...

    @property
    def left(self) -> int:
        """How many references were not read yet: they are read as arrays are touched."""
        ...

    def urls_left(self) -> Sequence[UrlsLeft]:
        """Return what the URLs of the references begin with that were not read yet; none is read for it."""
        ...

    @property
    def lacking(self) -> Sequence[str]:
        """URLs of files that may not be read: once they may, the document is opened again, and tells more."""
        ...

    def left_reference(self, key: str) -> Reference | None:
        """Return the reference of one chunk while not all were read; None where there is none.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        ...

    def noted(self, paths: Collection[str] | None) -> Sequence[Finding]:
        """Return what is wrong with what it tells of groups and arrays, beside the notes of the document.

        What was not read yet is read for it.

        Parameters
        ----------
        paths
            Absolute: those that may concern one of them, or what is below it; None for all.
        """
        ...

    def told(self) -> Sequence[Fact]:
        """Return what is told of it beside its path and format."""
        ...

    def again(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that open the same state of it again, where `said` opened this one."""
        ...

    def state(self, name: str) -> Mapping[str, Any] | None:
        """Return the options that open another state of it, by its name; None where it has no such states.

        Raises
        ------
        RefbrowserError
            E_USAGE: it has states, and none of that name.
        """
        ...

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return an array whose values the format's own library reads; None where there is none."""
        ...

    def known_values(self) -> Mapping[str, NDArray[Any]]:
        """Return the values of small coordinates that were told when it was opened, by path."""
        ...

    def reference_of(self, name: str) -> Reference | None:
        """Return where a part of it lies that has a name and is no key; None where none is meant.

        Raises
        ------
        RefbrowserError
            There is no such part, or it cannot be read.
        """
        ...


class LaterReferences(Protocol):
    """References of a document that are read as arrays are touched; see `DocumentOrigin`."""

    @property
    def left(self) -> int:
        """How many references were not read yet."""
        ...

    def urls_left(self) -> Sequence[UrlsLeft]:
        """Return what the URLs of the references begin with that were not read yet; none is read for it."""
        ...

    def left_reference(self, key: str) -> Reference | None:
        """Return the reference of one chunk while not all were read; None where there is none.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        ...

    def manifest_of(self, prefix: str, whole: ChunkManifest) -> ChunkManifest:
        """Return what tells of the chunks of an array of the document as it was opened."""
        ...

    def noted(self, paths: Collection[str] | None) -> Sequence[Finding]:
        """Return what was found to be wrong with them so far."""
        ...


class PlainAnswers:
    """What an origin answers where its format has nothing else to say: references say all."""

    __slots__ = ()

    @property
    def flavour(self) -> Flavour:
        """Zarr v2, in whose words nodes are told."""
        from refbrowser.model.nodes import Flavour

        return Flavour.ZARR_V2

    @property
    def has_keys(self) -> bool:
        """False: it is a file of another format."""
        return False

    def holds(self, path: str) -> bool:
        """Return False: it is one file."""
        return False

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, GroupNode | ArrayNode]) -> Hierarchy:
        """Return the hierarchy."""
        return hierarchy

    def manifest_of(self, prefix: str, whole: ChunkManifest) -> ChunkManifest:
        """Return what tells of all: the references are at hand."""
        return whole

    @property
    def left(self) -> int:
        """None: the references are at hand."""
        return 0

    def urls_left(self) -> Sequence[UrlsLeft]:
        """Return nothing: the references are at hand."""
        return ()

    @property
    def lacking(self) -> Sequence[str]:
        """None: all that it is made of was read."""
        return ()

    def left_reference(self, key: str) -> Reference | None:
        """Return None: the references are at hand."""
        return None

    def noted(self, paths: Collection[str] | None) -> Sequence[Finding]:
        """Return nothing: all was noted when it was opened."""
        return ()

    def told(self) -> Sequence[Fact]:
        """Return nothing: the hierarchy tells all."""
        return ()

    def again(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that were said: it has no states with names."""
        return said

    def state(self, name: str) -> Mapping[str, Any] | None:
        """Return None: it has no states with names."""
        return None

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return None: it is read here alone."""
        return None

    def known_values(self) -> Mapping[str, NDArray[Any]]:
        """Return nothing: values are read when they are asked for."""
        return {}

    def reference_of(self, name: str) -> Reference | None:
        """Return None: nothing in it has a name but keys."""
        return None


@dataclass(frozen=True, slots=True)
class FileOrigin(PlainAnswers):
    """The file that a document was made from, of which references say all (`DocumentOrigin`).

    Attributes
    ----------
    path
        Its URL, or its path with links resolved.
    format
        The name of its format.
    """

    path: str
    format: str


@dataclass(frozen=True, slots=True)
class StoreOrigin:
    """The store that a document was made from (`DocumentOrigin`).

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

    @property
    def path(self) -> str:
        """Its root."""
        return self.root

    @property
    def format(self) -> str:
        """The name of its flavour as a format."""
        return self.flavour.store_format

    @property
    def has_keys(self) -> bool:
        """True: keys are all that it has."""
        return True

    def holds(self, path: str) -> bool:
        """Return whether a local path is its root, or lies below it."""
        root = os.path.realpath(self.root)
        return path == root or path.startswith(root + os.sep)

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, GroupNode | ArrayNode]) -> Hierarchy:
        """Return the hierarchy: its metadata tells all."""
        return hierarchy

    def manifest_of(self, prefix: str, whole: ChunkManifest) -> ChunkManifest:
        """Return what tells of all: the references are at hand."""
        return whole

    @property
    def left(self) -> int:
        """None: the references are at hand."""
        return 0

    def urls_left(self) -> Sequence[UrlsLeft]:
        """Return nothing: the references are at hand."""
        return ()

    @property
    def lacking(self) -> Sequence[str]:
        """None: all that it is made of was read."""
        return ()

    def left_reference(self, key: str) -> Reference | None:
        """Return None: the references are at hand."""
        return None

    def noted(self, paths: Collection[str] | None) -> Sequence[Finding]:
        """Return nothing: all was noted when it was opened."""
        return ()

    def told(self) -> Sequence[Fact]:
        """Return nothing: it has no more than keys."""
        return ()

    def again(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that were said: it has no states with names."""
        return said

    def state(self, name: str) -> Mapping[str, Any] | None:
        """Return None: it has no states with names."""
        return None

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return None: it is read here alone."""
        return None

    def known_values(self) -> Mapping[str, NDArray[Any]]:
        """Return nothing: values are read when they are asked for."""
        return {}

    def reference_of(self, name: str) -> Reference | None:
        """Return None: nothing in it has a name but keys."""
        return None
