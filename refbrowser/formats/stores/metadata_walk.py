"""Finding the metadata of a store: consolidated, or node by node; what lies in arrays is never listed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.flavour import ENTRY, find_flavour, flavour_of_entry
from refbrowser.formats.store_rules import RULES
from refbrowser.formats.stores.reader import Answers, BelowFolder, Names, StoreReader, is_safe_key
from refbrowser.formats.zarr.documents import CONSOLIDATED_V2
from refbrowser.formats.zarr.metadata_json import with_escapes
from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.multiscales.marks import may_name_levels
from refbrowser.model.nodes import Flavour
from refbrowser.references.text.json_text import has_too_many_values

#: Findings with one message that are told one by one; the rest is counted.
_TOLD = 50


@dataclass(slots=True)
class StoreContents:
    """What was found of a store.

    Attributes
    ----------
    folder
        The one leading folder that it lies in, with a ``/`` at its end; empty for none.
    metadata
        Metadata documents by key, parents first.
    parsed
        The objects that some of them were made of, by key; equal ones are one.
    unread
        Metadata keys that are there and could not be read.
    findings
        What was found to be wrong.
    is_consolidated
        Whether the root repeats all metadata; it stands alone in `metadata` all the same.
    has
        Tells whether something is stored under a key.
    """

    flavour: Flavour
    folder: str = ""
    metadata: dict[str, bytes] = field(default_factory=dict)
    unread: dict[str, RefbrowserError] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    is_consolidated: bool = False
    has: Callable[[str], bool] = lambda key: False
    parsed: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _objects: dict[bytes, Mapping[str, Any]] = field(default_factory=dict)
    _alike: dict[str, list[int]] = field(default_factory=dict)
    _size: int = 0
    _full: bool = False

    def add(self, key: str, answer: bytes | RefbrowserError, value: Mapping[str, Any] | None = None) -> bool:
        """Take note of a document; returns False once there is no room for more.

        Parameters
        ----------
        value
            The object that it was made of, where it has nothing odd in it.
        """
        if self._full:
            return False
        if isinstance(answer, RefbrowserError):
            self.unread[key] = answer
            return True
        self._size += len(answer)
        if len(self.metadata) >= LIMITS.store_documents or self._size > LIMITS.metadata_elsewhere:
            self._full = True
            self.warn(f"the store has more metadata than the limit: only {len(self.metadata)} documents", key)
            return False
        if value is None:
            self.metadata[key] = with_escapes(answer)
        else:
            self.metadata[key] = answer
            self.parsed[key] = self._objects.setdefault(answer, value)
        return True

    def value(self, key: str) -> Mapping[str, Any]:
        """Return the JSON object in a document; empty where it is none."""
        known = self.parsed.get(key)
        return parsed(self.metadata[key]) if known is None else known

    def warn(self, message: str, key: str | None = None, advice: str = "") -> None:
        """Note something that hides a part of the store."""
        alike = self._alike.setdefault(message, [])
        if len(alike) > _TOLD:
            last = self.findings[alike[-1]]
            self.findings[alike[-1]] = replace(last, count=last.count + 1)
            return
        alike.append(len(self.findings))
        place = Place(key=key)
        self.findings.append(
            Finding(
                severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place, advice=advice
            )
        )


def parsed(data: bytes | RefbrowserError | None) -> dict[str, Any]:
    """Return the JSON object in metadata; empty where it is none: who reads it in full tells why."""
    if not isinstance(data, bytes) or has_too_many_values(data):
        return {}
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


CONSOLIDATED_V3 = "consolidated_metadata"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_STRICT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"0" * 9)


def add_consolidated(contents: StoreContents, root: Answers, entry: dict[str, Any]) -> bool:
    """Add the documents that the metadata of the root repeats; returns whether it repeats any.

    They stand alone in `contents`: of two copies, an edit would leave one behind.

    Parameters
    ----------
    root
        The documents of the root.
    entry
        The object in its ``zarr.json``.
    """
    if contents.flavour == Flavour.ZARR_V3:
        return _add_v3(contents, root, entry)
    consolidated = parsed(root.get(CONSOLIDATED_V2))
    if "record_size" in consolidated:
        # Its chunks are named by tables: to a store all of them would be missing, and read as fill values.
        raise RefbrowserError(
            ErrorKind.FORMAT,
            "this is the parquet form of references, which is read from folders of this computer",
            Place(key=CONSOLIDATED_V2),
            "copy the folder, or export to refs-v1",
        )
    entries = consolidated.get("metadata")
    if not isinstance(entries, dict):
        if CONSOLIDATED_V2 in root:
            contents.warn(
                "the consolidated metadata cannot be read; each node was read instead", CONSOLIDATED_V2
            )
        return False
    single = {key: data for key, data in root.items() if key != CONSOLIDATED_V2 and key in entries}
    is_exact = not _has_long_number(root[CONSOLIDATED_V2])
    for key, value in entries.items():
        if not is_metadata_key(key) or not is_safe_key(key):
            contents.warn("an entry of the consolidated metadata is not the metadata of a node", key)
        elif not (
            contents.add(key, single[key]) if key in single else _add_value(contents, key, value, is_exact)
        ):
            break
    return True


def _add_v3(contents: StoreContents, root: Answers, entry: dict[str, Any]) -> bool:
    consolidated = entry.get(CONSOLIDATED_V3)
    entries: Any = consolidated.get("metadata") if isinstance(consolidated, dict) else None
    if not isinstance(entries, dict):
        return False
    is_exact = not _has_long_number(root[ENTRY])
    own = {name: value for name, value in entry.items() if name != CONSOLIDATED_V3}
    _add_value(contents, ENTRY, own, is_exact)
    for path, value in entries.items():
        key = f"{path}/{ENTRY}"
        if not is_safe_key(key):
            contents.warn("an entry of the consolidated metadata is not the path of a node", path)
            continue
        if isinstance(value, dict) and CONSOLIDATED_V3 in value:
            value = {name: inner for name, inner in value.items() if name != CONSOLIDATED_V3}
        if not _add_value(contents, key, value, is_exact):
            break
    return True


def _has_long_number(data: bytes | RefbrowserError) -> bool:
    """Whether a document may have a number of more digits than are kept."""
    return isinstance(data, bytes) and b"0" * (LIMITS.json_digits + 1) in data.translate(_DIGITS_ALIKE)


def _add_value(contents: StoreContents, key: str, value: Any, is_exact: bool) -> bool:
    """Add the text of a value, and with it the value where reading the text would give just that.

    Parameters
    ----------
    is_exact
        All of its integers are of few digits.
    """
    try:
        text = _STRICT.encode(value).encode()
    except RecursionError:
        return contents.add(
            key, RefbrowserError(ErrorKind.BUDGET, "values are nested too deep", Place(key=key))
        )
    except ValueError:
        # NaN, or half of a surrogate pair: who reads the text in full tells it.
        return contents.add(key, _ENCODER.encode(value).encode("utf-8", "surrogatepass"))
    is_plain = is_exact and isinstance(value, dict)
    is_flat = text.count(b"{") + text.count(b"[") <= LIMITS.json_nesting
    return contents.add(key, text, value if is_plain and is_flat else None)


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
        self._is_v3 = contents.flavour == Flavour.ZARR_V3
        self._full = False
        self._unlisted = False
        #: Paths that attributes name where nothing is listed, below the prefix of each folder.
        self._named: dict[str, list[str]] = {}

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
            self._contents.warn("the store has more names than the limit: nodes are left out", prefix)
        yield from names.folders

    def _attributes(self, prefix: str, documents: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the attributes of a group."""
        if not self._is_v3:
            return parsed(documents.get(prefix + ATTRIBUTES))
        found = parsed(documents.get(prefix + ENTRY)).get("attributes")
        return found if isinstance(found, dict) else {}

    def _listed(self, prefix: str, documents: Mapping[str, Any]) -> Iterator[str]:
        """Yield the names that a group of NCZarr lists, or an image has, where the store cannot be listed."""
        for name, member in _LISTS:
            document = parsed(documents.get(prefix + name))
            lists = document if member is None else document.get(member)
            if isinstance(lists, dict) and document:
                arrays = lists.get("arrays", lists.get("vars", []))
                names = [*_names(arrays), *_names(lists.get("groups", []))]
                yield from (each for each in dict.fromkeys(names) if is_safe_key(each) and "/" not in each)
                return
        paths = [*self._named.get(prefix, []), *_named_levels(self._attributes(prefix, documents))]
        safe = [path for path in paths if is_safe_key(path)]
        for path in safe:
            name, _, below = path.partition("/")
            self._named.setdefault(f"{prefix}{name}/", []).extend([below] if below else [])
        yield from dict.fromkeys(path.partition("/")[0] for path in safe)
        # What is named and not there has nothing below it; of an image all is named.
        is_known = safe or (prefix in self._named and not documents)
        if not is_known and not self._unlisted:
            self._unlisted = True
            advice = "Open an array by its own address, or consolidate the metadata of the store."
            self._contents.warn("the server does not list what is in a group", prefix or None, advice)


def _holds_chunks(name: str) -> bool:
    """Whether a folder of an array may be one of its chunks (``c``, or a number)."""
    return name == "c" or name.isdecimal()


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


METADATA = "meta/"


def walk_apart(reader: StoreReader, contents: StoreContents, root: Answers) -> None:
    """Read every metadata document below ``meta/`` into `contents`, those of the root first.

    Parameters
    ----------
    root
        Documents that are known already.
    """
    for key, answer in root.items():
        contents.add(key, answer)
    level = [METADATA]
    for _depth in range(LIMITS.group_nesting):
        keys: list[str] = []
        below: list[str] = []
        for folder in level:
            names = reader.names(folder)
            if names is None:
                advice = "Open it where it can be listed: as a folder, a zip file or in an object store."
                contents.warn("the server does not list what is in the store", None, advice)
                return
            if names.cut:
                contents.warn("the store has more names than the limit: nodes are left out", folder)
            keys += [key for name in names.files if is_metadata_key(key := folder + name) and key not in root]
            below += [f"{folder}{name}/" for name in names.folders]
        for key, answer in reader.read(keys).items():
            if not contents.add(key, answer):
                return
        if not below:
            return
        level = below
    contents.warn(f"groups are nested more than {LIMITS.group_nesting} levels deep", level[0])


#: Metadata that stands right below the root of a store.
ROOT_KEYS = tuple(dict.fromkeys((ENTRY, *(key for rules in RULES.values() for key in rules.root))))
#: That of flavours which are told apart by more than their roots.
_ROOTS_ALIKE = {".zattrs", *(key for rules in RULES.values() if rules.documents for key in rules.root)} - {
    ENTRY
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
    entry = parsed(root.get(ENTRY))
    if flavour is None:
        is_entry = isinstance(root.get(ENTRY), bytes)
        flavour = flavour_of_entry(entry) if is_entry else _flavour_of(reader, root)
    if flavour is None:
        return None
    contents = StoreContents(flavour, has=reader.has)
    own = {key: root[key] for key in RULES[flavour].root if key in root}
    if RULES[flavour].documents:
        walk_apart(reader, contents, own)
    else:
        contents.is_consolidated = add_consolidated(contents, own, entry)
        if not contents.is_consolidated:
            walk_tree(reader, contents, own)
    return contents if contents.metadata or contents.unread else None


def _is_page(answer: bytes | RefbrowserError) -> bool:
    """Whether a server answered with a page although there is no such object."""
    return isinstance(answer, bytes) and answer.lstrip()[:1] == b"<"


def _flavour_of(reader: StoreReader, root: Answers) -> Flavour | None:
    known: dict[str, bytes | RefbrowserError] = dict(root)
    if known.keys() <= _ROOTS_ALIKE:
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


def _named_levels(attributes: Mapping[str, Any]) -> list[str]:
    if not may_name_levels(attributes):
        return []
    from refbrowser.model.multiscales.conventions import named_paths

    return named_paths(attributes)
