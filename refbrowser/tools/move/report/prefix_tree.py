"""The URLs of a document as a tree: hosts, buckets and folders, with how much lies in each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from refbrowser.io.access.access import Source, storage_url
from refbrowser.tools.move.report.health import Health

#: Scheme and authority of a URL, or what an absolute path begins with.
_ROOT = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^/]*/?|[A-Za-z]:[\\/]|/+")
#: Levels below a root that are told apart; what is deeper is one name.
_DEEPEST = 64
#: URLs after which it is asked whether the work is still wanted.
_PAUSE = 4096


class PrefixKind(StrEnum):
    """What a node of the tree is."""

    #: All names that begin at the folder of the document.
    RELATIVE = "relative"
    #: The beginning of absolute paths.
    LOCAL = "local"
    #: A host, with its scheme.
    HOST = "host"
    BUCKET = "bucket"
    FOLDER = "folder"
    FILE = "file"
    #: URLs that a gen rule makes, of which the beginning is known.
    RULE = "rule"


#: The health of a single file.
_ONE: dict[Health, Mapping[Health, int]] = {each: {each: 1} for each in Health}
#: Schemes whose authority is a bucket.
_BUCKETS = ("s3:", "gs:", "gcs:", "abfs:", "abfss:", "az:")


@dataclass(frozen=True, slots=True)
class PrefixNode:
    """A host, bucket, folder or file, with all that lies below it.

    Attributes
    ----------
    prefix
        What URLs below it begin with; of a file its URL. Empty of what all relative names begin with.
    name
        The part of it that the node above does not have; folders with a single one in them are one node.
    files
        Distinct URLs in it; a gen rule whose URLs are not listed counts as one.
    references
        How many references lead there.
    size
        Bytes that these need; None where that is not known of some.
    children
        Folders before files, each by name.
    health
        How many of the files are how.
    """

    prefix: str
    name: str
    kind: PrefixKind
    files: int
    references: int
    size: int | None
    children: tuple[PrefixNode, ...] = ()
    health: Mapping[Health, int] = field(default_factory=dict)

    def walk(self) -> Iterator[PrefixNode]:
        """Yield the node and all below it, parents first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def urls(self) -> Iterator[str]:
        """Yield the URLs of the files in it."""
        return (node.prefix for node in self.walk() if node.kind is PrefixKind.FILE)

    @property
    def is_one_place(self) -> bool:
        """Whether it has a beginning that a template can give: names relative to the document have none."""
        return self.kind is not PrefixKind.RELATIVE


@dataclass(slots=True)
class _Growing:
    """A node that is being gathered."""

    kind: PrefixKind
    prefix: str
    sources: list[Source] = field(default_factory=list)
    children: dict[tuple[str, bool], _Growing] = field(default_factory=dict)

    def child(self, name: str, kind: PrefixKind) -> _Growing:
        """Return the node of a name in it, made where it is not there."""
        key = name, kind in (PrefixKind.FILE, PrefixKind.RULE)
        found = self.children.get(key)
        if found is None:
            found = self.children[key] = _Growing(kind, self.prefix + name)
        return found


def prefix_tree(
    sources: Iterable[Source],
    pause: Callable[[], None] = lambda: None,
    health: Callable[[Source], Health] = lambda source: Health.UNKNOWN,
) -> tuple[PrefixNode, ...]:
    """Return the roots of the tree of URLs: the folder of the document first, then hosts by name.

    Parameters
    ----------
    sources
        Each distinct URL, and the beginnings of those that rules make (`engine.sources.sources_of`).
    pause
        Called now and then; may raise to end the work.
    health
        Tells what is known of a file (`health.health_judge`).
    """
    roots: dict[str, _Growing] = {}
    folders: dict[str, _Growing] = {}
    for number, source in enumerate(sources):
        if number % _PAUSE == 0:
            pause()
        url = storage_url(source.url)
        # Files lie together: their folder is looked for once.
        folder, slash, name = url.rpartition("/")
        node = None if "?" in url or not name else folders.get(folder + slash)
        if node is not None:
            _add_leaf(node, name, source)
            continue
        match = _ROOT.match(url)
        root = "" if match is None else match[0]
        node = roots.get(root)
        if node is None:
            node = roots[root] = _Growing(_kind_of_root(root), root)
        node = _add(node, url[len(root) :], source)
        if slash and node.prefix == folder + slash:
            folders[folder + slash] = node
    return tuple(_finished(roots[root], root, health) for root in sorted(roots))


def _kind_of_root(root: str) -> PrefixKind:
    if not root:
        return PrefixKind.RELATIVE
    if "://" not in root or root.startswith("file:"):
        return PrefixKind.LOCAL
    return PrefixKind.BUCKET if root.startswith(_BUCKETS) else PrefixKind.HOST


def _add(node: _Growing, rest: str, source: Source) -> _Growing:
    """Put a source below a root; `rest` is what follows the root in its URL. Return the node it is put in."""
    # What follows a question mark is no path.
    path, mark, query = rest.partition("?")
    folders, slash, name = path.rpartition("/")
    if slash:
        parts = folders.split("/")
        for part in parts[:_DEEPEST]:
            node = node.child(f"{part}/", PrefixKind.FOLDER)
        name = "".join(f"{part}/" for part in parts[_DEEPEST:]) + name
    _add_leaf(node, name + mark + query, source)
    return node


def _add_leaf(node: _Growing, name: str, source: Source) -> None:
    if name or source.is_pattern:
        node = node.child(name, PrefixKind.RULE if source.is_pattern else PrefixKind.FILE)
    node.sources.append(source)


def _finished(node: _Growing, name: str, health: Callable[[Source], Health]) -> PrefixNode:
    while not node.sources and len(node.children) == 1 and node.kind is not PrefixKind.RELATIVE:
        ((below, is_leaf),) = node.children
        if is_leaf:
            break
        kind = node.kind
        node = node.children[below, is_leaf]
        node.kind, name = kind, name + below
    if not node.children and len(node.sources) == 1:
        (source,) = node.sources
        how = _ONE[health(source)]
        return PrefixNode(node.prefix, name, node.kind, 1, source.count, source.size, health=how)
    order = sorted(node.children, key=lambda key: (key[1], key[0]))
    children = tuple(_finished(node.children[key], key[0], health) for key in order)
    sizes = [*(each.size for each in children), *(source.size for source in node.sources)]
    # An entry that was edited is a source of its own, of the same file.
    own = node.sources if node.kind is PrefixKind.RULE else node.sources[:1]
    found = Counter(map(health, own))
    for each in children:
        for one, count in each.health.items():
            found[one] += count
    return PrefixNode(
        prefix=node.prefix,
        name=name,
        kind=node.kind,
        files=sum(each.files for each in children) + len(own),
        references=sum(each.references for each in children) + sum(each.count for each in node.sources),
        size=None if None in sizes else sum(size or 0 for size in sizes),
        children=children,
        health=found,
    )


def node_at(roots: Iterable[PrefixNode], prefix: str) -> PrefixNode | None:
    """Return the node of a prefix, or one of all files whose URLs begin so; None where there are none.

    ``.`` is the folder of the document.
    """
    leaves: list[PrefixNode] = []
    for root in roots:
        for node in root.walk():
            if prefix == "." if node.kind is PrefixKind.RELATIVE else node.prefix == prefix:
                return node
            if node.kind in (PrefixKind.FILE, PrefixKind.RULE) and node.prefix.startswith(prefix):
                leaves.append(node)
    if not leaves or not prefix:
        return None
    sizes = [leaf.size for leaf in leaves]
    return PrefixNode(
        prefix=prefix,
        name=prefix,
        kind=PrefixKind.FOLDER,
        files=sum(leaf.files for leaf in leaves),
        references=sum(leaf.references for leaf in leaves),
        size=None if None in sizes else sum(size or 0 for size in sizes),
        children=tuple(leaves),
    )
