"""Permissions given *always*: kept in a small file of the user's, bound to a document and its origins."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refbrowser.io.files.atomic import write_own
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.origins import Origin, scheme_of

Identity = FileIdentity | ObjectIdentity

_VERSION = 1
_MOST_DOCUMENTS = 1000


@dataclass(frozen=True, slots=True)
class Grant:
    """Origins that were allowed, those of them also at private addresses, and packages whose codecs decode.

    See `Access.allow` and `Access.lending`.
    """

    origins: frozenset[Origin]
    private: frozenset[Origin] = frozenset()
    lenders: frozenset[str] = frozenset()


NOTHING = Grant(frozenset())


def state_folder() -> Path:
    """Return the folder for what the program remembers between runs."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "refbrowser"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "refbrowser"
    return Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "refbrowser"


class Permissions:
    """The permissions on disk; several programs may use the same file.

    A permission holds for one document (path or URL) in the state in which it was given, and for the origins
    that were listed then: a document changed by others, or one that wants more, asks again. Edits saved by
    this program carry it on (`saved`).
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = Path(path) if path is not None else state_folder() / "permissions.json"
        self._lock = threading.Lock()

    def granted(self, document: str, identity: Identity, wanted: Collection[Origin]) -> Grant:
        """Return what is allowed for `document`; nothing unless it covers all that is wanted."""
        entry = self._read().get(document_name(document))
        if not isinstance(entry, dict) or entry.get("state") != _state(identity):
            return NOTHING
        try:
            # Files of older versions say nothing of packages.
            lenders = frozenset(str(name) for name in entry.get("lenders", ()))
            grant = Grant(_origins(entry["origins"]), _origins(entry["private"]), lenders)
        except (KeyError, TypeError, ValueError):
            return NOTHING
        covered = all(any(kept.covers(want) for kept in grant.origins) for want in wanted)
        return grant if covered else NOTHING

    def keep(self, document: str, identity: Identity, grant: Grant) -> None:
        """Remember what `document`, as it is, may read."""
        entry = {
            "state": _state(identity),
            "origins": [_fields(origin) for origin in sorted(grant.origins)],
            "private": [_fields(origin) for origin in sorted(grant.private)],
            "lenders": sorted(grant.lenders),
        }
        self._change(document_name(document), entry)

    def saved(self, document: str, before: Identity, after: Identity) -> None:
        """Carry the permission on after this program saved the document."""
        entry = self._read().get(document_name(document))
        if isinstance(entry, dict) and entry.get("state") == _state(before):
            self._change(document_name(document), {**entry, "state": _state(after)})

    def forget(self, document: str) -> None:
        """Take the permission back."""
        self._change(document_name(document), None)

    def _change(self, name: str, entry: dict[str, Any] | None) -> None:
        with self._lock:
            documents = self._read()
            documents.pop(name, None)
            if entry is not None:
                documents[name] = entry
            kept = dict(list(documents.items())[-_MOST_DOCUMENTS:])
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            text = json.dumps({"version": _VERSION, "documents": kept}, indent=1)
            write_own(self._path, [text.encode()], mode=0o600)

    def _read(self) -> dict[str, Any]:
        """Return what is kept: nothing where the file is missing or damaged, so that all is asked again."""
        try:
            content = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(content, dict) or content.get("version") != _VERSION:
            return {}
        documents = content.get("documents")
        return documents if isinstance(documents, dict) else {}


def document_name(document: str) -> str:
    """Return what a document is known by between runs: its path with links resolved, or its URL."""
    return os.path.realpath(document) if scheme_of(document) is None else document


def _state(identity: Identity) -> list[Any]:
    if isinstance(identity, FileIdentity):
        # Not where it lies on the disk: the path is the key, and some disks are numbered anew at each mount.
        return ["file", identity.size, identity.modified_ns]
    return ["object", identity.total, identity.etag, identity.modified]


def _fields(origin: Origin) -> list[Any]:
    return [origin.scheme, origin.host, origin.port, origin.folder]


def _origins(items: Any) -> frozenset[Origin]:
    return frozenset(_origin(item) for item in items)


def _origin(item: Any) -> Origin:
    match item:
        case [str(scheme), str(host), int() | None as port, str(folder)]:
            return Origin(scheme, host, port, folder)
    raise ValueError("not an origin")
