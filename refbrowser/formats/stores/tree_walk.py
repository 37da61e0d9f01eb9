"""Walking the nodes of Zarr v2, v3 and NCZarr: a level at a time, never into an array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refbrowser.formats.stores.contents import StoreContents, parsed
from refbrowser.formats.stores.flavour import ENTRY
from refbrowser.formats.stores.reader import Answers, StoreReader, is_safe_key
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import Flavour

ARRAY, GROUP, ATTRIBUTES = ".zarray", ".zgroup", ".zattrs"
#: What may stand beside the document of an array and of a group; the objects are those of NCZarr 4.8.0.
_BESIDE_ARRAY = (ATTRIBUTES,)
_BESIDE_GROUP = (GROUP, ATTRIBUTES)
_OBJECTS_OF_ARRAYS = (".nczarray", ".nczvar", ".nczattrs", ".nczattr")
_OBJECTS_OF_GROUPS = (".nczgroup", ".nczattrs", ".nczattr")
#: Where NCZarr lists what is in a group: the document, and the member of it.
_LISTS = (
    (ATTRIBUTES, "_nczarr_group"),
    (GROUP, "_nczarr_group"),
    (ATTRIBUTES, "_NCZARR_GROUP"),
    (GROUP, "_NCZARR_GROUP"),
    (".nczgroup", None),
)


def walk_tree(reader: StoreReader, contents: StoreContents, root: Answers) -> None:
    """Read the metadata of every node into `contents`, parents first.

    Parameters
    ----------
    root
        The metadata of the root, which is known already.
    """
    walk = _Walk(reader, contents, {key: data for key, data in root.items() if key.startswith(".nczarr")})
    level = walk.enter([""], root)
    for _depth in range(LIMITS.group_nesting):
        if not level:
            return
        level = walk.enter(level, {})
    if level:
        contents.warn(f"groups are nested more than {LIMITS.group_nesting} levels deep", level[0])


class _Walk:
    def __init__(self, reader: StoreReader, contents: StoreContents, objects: Answers) -> None:
        self._reader = reader
        self._contents = contents
        self._has_objects = bool(objects)
        self._is_v3 = contents.flavour is Flavour.ZARR_V3
        self._full = False
        self._unlisted = False

    def enter(self, prefixes: Sequence[str], known: Answers) -> list[str]:
        """Read the documents of nodes by the prefixes of their keys; return the prefixes right below."""
        own = ENTRY if self._is_v3 else ARRAY
        first = self._read([prefix + own for prefix in prefixes], known)
        is_array = {prefix: self._is_array(first.get(prefix + own)) for prefix in prefixes}
        more = [prefix + name for prefix in prefixes for name in self._beside(is_array[prefix])]
        answers = {**first, **self._read(more, known)}
        below: list[str] = []
        for prefix in prefixes:
            documents = self._documents(prefix, (own, *self._beside(is_array[prefix])), answers)
            self._full = self._full or not all(self._contents.add(*item) for item in documents.items())
            if self._full:
                return []
            if not is_array[prefix]:
                broken = self._is_broken(first.get(prefix + own))
                names = self._children(prefix, documents)
                below.extend(f"{prefix}{name}/" for name in names if not (broken and _holds_chunks(name)))
        return below

    def _read(self, keys: Sequence[str], known: Answers) -> Answers:
        asked = [key for key in keys if key not in known]
        found = dict(self._reader.read(asked)) if asked else {}
        return found | {key: known[key] for key in keys if key in known}

    def _documents(self, prefix: str, names: Sequence[str], answers: Answers) -> dict[str, Any]:
        keys = [prefix + name for name in names]
        return {key: answers[key] for key in keys if key in answers}

    def _is_array(self, answer: Any) -> bool:
        if answer is None:
            return False
        return not self._is_v3 or parsed(answer).get("node_type") == "array"

    def _is_broken(self, answer: Any) -> bool:
        """Whether a node may be an array although its document does not say so: its chunks are not listed."""
        return self._is_v3 and answer is not None and parsed(answer).get("node_type") != "group"

    def _beside(self, is_array: bool) -> tuple[str, ...]:
        if self._is_v3:
            return ()
        objects = _OBJECTS_OF_ARRAYS if is_array else _OBJECTS_OF_GROUPS
        return (_BESIDE_ARRAY if is_array else _BESIDE_GROUP) + (objects if self._has_objects else ())

    def _children(self, prefix: str, documents: Mapping[str, Any]) -> Iterator[str]:
        names = self._reader.names(prefix)
        if names is None:
            yield from self._listed(prefix, documents)
            return
        if names.cut:
            self._contents.warn("the store has more names than are listed: nodes are left out", prefix)
        yield from names.folders

    def _listed(self, prefix: str, documents: Mapping[str, Any]) -> Iterator[str]:
        """Yield the names that a group of NCZarr lists, where the store itself cannot be listed."""
        for name, member in _LISTS:
            document = parsed(documents.get(prefix + name))
            lists = document if member is None else document.get(member)
            if isinstance(lists, dict) and document:
                arrays = lists.get("arrays", lists.get("vars", []))
                names = [*_names(arrays), *_names(lists.get("groups", []))]
                yield from (each for each in dict.fromkeys(names) if is_safe_key(each) and "/" not in each)
                return
        if not self._unlisted:
            self._unlisted = True
            advice = "Open an array by its own address, or consolidate the metadata of the store."
            self._contents.warn("the server does not list what is in a group", prefix or None, advice)


def _holds_chunks(name: str) -> bool:
    """Whether a folder of an array may be one of its chunks (``c``, or a number)."""
    return name == "c" or name.isdecimal()


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
