"""A store in a zip archive: its metadata, and the folders that its members' names make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.formats.stores.reader import Answers, Names
from refbrowser.io.access.access import chained_url
from refbrowser.io.archives.directory import ZipDirectory
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.archive_reading import read_members
from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import is_metadata_key

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.io.fetching.fetch import Fetcher

#: Folders of chunks that discovery looks at: ``data/root`` below a leading folder.
_TOPMOST = 3
#: What macOS puts beside the folder that it zips.
_OF_MACS = "__MACOSX/"


class ZipReader:
    """Reads a store through the directory of its archive.

    Parameters
    ----------
    directory
        Of the archive.
    """

    def __init__(
        self, directory: ZipDirectory, access: Access, fetcher: Fetcher, token: CancelToken | None = None
    ) -> None:
        self.directory = directory
        self._access = access
        self._fetcher = fetcher
        self._token = token or CancelToken()
        self._has_root = False
        self._known: dict[str, bytes | RefbrowserError] = {}

    def read(self, keys: Sequence[str]) -> Answers:
        """Return what is stored under keys.

        After the root, which may hold all metadata, the rest is read at once: of an archive on a server that
        takes as many requests as one level of groups.
        """
        if self._has_root and not self._known:
            self._known = self._read([*self._metadata_names(), *keys])
        found = self._read([key for key in keys if key not in self._known])
        found |= {key: self._known[key] for key in keys if key in self._known}
        self._has_root = self._has_root or bool(found)
        return found

    def _read(self, keys: Sequence[str]) -> dict[str, bytes | RefbrowserError]:
        return read_members(self.directory, keys, self._access, self._fetcher, self._token) if keys else {}

    def _metadata_names(self) -> list[str]:
        """Return the names of all metadata, as far as they are held at once."""
        names: list[str] = []
        size = 0
        for folder, (_, files) in self._tree.items():
            for name in files:
                row = self.directory.find(folder + name)
                if row is not None:
                    size += max(self.directory.size_of(row), self.directory.packed_size_of(row))
                if size > LIMITS.metadata_elsewhere:
                    return names
                names.append(folder + name)
        return names

    def names(self, folder: str) -> Names | None:
        """Return the folders right below a folder, and the metadata there: chunks are not asked for."""
        folders, files = self._tree.get(folder, (set(), []))
        return Names(sorted(folders), sorted(files), cut=self._is_cut)

    def has(self, key: str) -> bool:
        """Tell whether there is a member for a key."""
        return self.directory.find(key) is not None

    @cached_property
    def _tree(self) -> dict[str, tuple[set[str], list[str]]]:
        """Folders of each folder and metadata right below it; of chunks but the topmost folders."""
        tree: dict[str, tuple[set[str], list[str]]] = {"": (set(), [])}
        self._is_cut = False
        for name in self._names_of_nodes():
            if name.startswith(_OF_MACS):
                continue
            folder = name[: name.rfind("/") + 1]
            is_metadata = is_metadata_key(name) or is_metadata_key(name.partition("/")[2])
            shown = folder if is_metadata else _top(folder)
            if shown not in tree:
                _add_folder(tree, shown)
            if is_metadata:
                tree[shown][1].append(name[len(folder) :])
            if len(tree) > LIMITS.store_names:
                self._is_cut = True
                break
        return tree

    def _names_of_nodes(self) -> Iterator[str]:
        """Yield names: no metadata ends in a digit, and chunks of one folder come together."""
        for names in self.directory.names_but_chunks():
            self._token.check()
            yield from names

    def url_of(self, key: str) -> str:
        """Return the URL of what is stored under a key."""
        return chained_url(key, self.directory.url)


def _top(path: str) -> str:
    """Return the topmost folders of a path (``a/b/``), up to the first that is a number."""
    folders = path.split("/", _TOPMOST)[:-1]
    kept = takewhile(lambda folder: not folder.isdecimal(), folders)
    return "".join(f"{folder}/" for folder in kept)


def _add_folder(tree: dict[str, tuple[set[str], list[str]]], folder: str) -> None:
    """Add a folder and those above it."""
    below = ""
    while True:
        is_new = folder not in tree
        folders, _ = tree.setdefault(folder, (set(), []))
        if below:
            folders.add(below)
        if not is_new:
            return
        above, _, below = folder[:-1].rpartition("/")
        folder = f"{above}/" if above else ""
