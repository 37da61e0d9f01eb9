"""Finding the metadata of a store: consolidated, or node by node; what lies in an array is never listed."""

from __future__ import annotations

from refbrowser.errors import RefbrowserError
from refbrowser.formats.stores.consolidated import add_consolidated
from refbrowser.formats.stores.contents import StoreContents
from refbrowser.formats.stores.draft_walk import METADATA, walk_draft
from refbrowser.formats.stores.flavour import ENTRY, find_flavour
from refbrowser.formats.stores.reader import Answers, BelowFolder, Names, StoreReader
from refbrowser.formats.stores.tree_walk import walk_tree
from refbrowser.model.metadata_keys import DRAFT_ROOTS, is_metadata_key
from refbrowser.model.nodes import Flavour

#: Metadata that stands right below the root of a store.
_V2_ROOT = (".zmetadata", ".zgroup", ".zarray", ".zattrs", ".nczarr", ".nczgroup", ".nczattrs", ".nczattr")
_DRAFT_ROOT = (*sorted(DRAFT_ROOTS), "meta/root.group.json", "meta/root.array.json")
ROOT_KEYS = (ENTRY, *_V2_ROOT, *_DRAFT_ROOT)
_OF_ROOT = {
    Flavour.ZARR_V2: _V2_ROOT,
    Flavour.NCZARR: _V2_ROOT,
    Flavour.ZARR_V3: (ENTRY,),
    Flavour.DRAFT_2019: _DRAFT_ROOT,
    Flavour.DRAFT_2020: (ENTRY, *_DRAFT_ROOT),
}
_NODES = (ENTRY, ".zarray", ".zgroup", ".zattrs")
#: Folders that are looked into where no metadata stands at the root.
_TRIED = 100
_LATER_DATA = "data/root/"


def read_store(reader: StoreReader, flavour: Flavour | None = None) -> StoreContents | None:
    """Return the metadata of a store, or None where there is none.

    Parameters
    ----------
    flavour
        Whose rules it follows; found out when None.

    Raises
    ------
    RefbrowserError
        Nothing could be read to find out whether there is a store.
    """
    contents = _read_here(reader, flavour)
    if contents is not None:
        return contents
    names = reader.names("")
    if names is None or len(names.folders) != 1:
        return None
    folder = f"{names.folders[0]}/"
    contents = _read_here(BelowFolder(reader, folder), flavour)
    if contents is not None:
        contents.folder = folder
    return contents


def _read_here(reader: StoreReader, flavour: Flavour | None) -> StoreContents | None:
    root = {key: answer for key, answer in reader.read(ROOT_KEYS).items() if not _is_page(answer)}
    if root and all(isinstance(answer, RefbrowserError) for answer in root.values()):
        raise next(answer for answer in root.values() if isinstance(answer, RefbrowserError))
    if flavour is None:
        flavour = _flavour_of(reader, root)
    if flavour is None:
        return None
    contents = StoreContents(flavour, has=reader.has)
    own = {key: root[key] for key in _OF_ROOT[flavour] if key in root}
    if flavour in (Flavour.DRAFT_2019, Flavour.DRAFT_2020):
        walk_draft(reader, contents, own)
    else:
        contents.is_consolidated = add_consolidated(contents, own)
        if not contents.is_consolidated:
            walk_tree(reader, contents, own)
    return contents if contents.metadata or contents.unread else None


def _is_page(answer: bytes | RefbrowserError) -> bool:
    """Whether a server answered with a page although there is no such object."""
    return isinstance(answer, bytes) and answer.lstrip()[:1] == b"<"


def _flavour_of(reader: StoreReader, root: Answers) -> Flavour | None:
    known: dict[str, bytes | RefbrowserError] = dict(root)
    if all(key in (".zattrs", *_DRAFT_ROOT) for key in known):
        # Drafts are told apart by more than their roots, and a root may be implied.
        known |= _implied(reader, reader.names("") or Names())

    def value(key: str) -> bytes:
        answer = known[key]
        if isinstance(answer, RefbrowserError):
            raise answer
        return answer

    # A server may refuse what it does not have: such keys tell only where nothing else does.
    readable = [key for key, answer in known.items() if isinstance(answer, bytes)]
    return find_flavour(readable, value) or find_flavour(known, value)


def _implied(reader: StoreReader, names: Names) -> Answers:
    """Return keys that tell the flavour of a store without metadata at its root; of folders, empty ones."""
    if "meta" in names.folders:
        below = reader.names(METADATA) or Names()
        if not any(name in below.files for name in _NODES):
            found = [METADATA + name for name in below.files if is_metadata_key(METADATA + name)]
            found += [f"{METADATA}{name}/" for name in below.folders]
            data = reader.names("data/") if "data" in names.folders else None
            return dict.fromkeys([*found, *([_LATER_DATA] if data and "root" in data.folders else [])], b"")
    if len(names.folders) < 2:
        return {}
    return reader.read([f"{folder}/{name}" for folder in names.folders[:_TRIED] for name in _NODES])
