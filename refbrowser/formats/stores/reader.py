"""What a store is read through: objects by key, and names below a folder where it can be listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from refbrowser.errors import RefbrowserError

#: Bytes of each key, or why it could not be had; keys that the store does not have are left out.
Answers = Mapping[str, "bytes | RefbrowserError"]


@dataclass(frozen=True, slots=True)
class Names:
    """What stands right below a folder of a store.

    Attributes
    ----------
    folders
        Sorted.
    files
        Sorted.
    cut
        Whether there are more, which were not listed.
    """

    folders: Sequence[str] = ()
    files: Sequence[str] = field(default=())
    cut: bool = False


class StoreReader(Protocol):
    """A store as discovery sees it; keys are relative to its root and hold no ``..``."""

    def read(self, keys: Sequence[str]) -> Answers:
        """Return what is stored under keys, read together where that is faster."""
        ...

    def names(self, folder: str) -> Names | None:
        """Return the names right below a folder (``""``: the root, ``a/b/``), or None."""
        ...

    def has(self, key: str) -> bool:
        """Tell whether something is stored under a key; False where only reading it would tell."""
        ...


def is_safe_key(key: str) -> bool:
    """Return whether a key may be joined to the root of a store: it is text, and cannot lead out of it."""
    if "\\" in key or "\0" in key or not is_text(key):
        return False
    return all(part not in ("", ".", "..") for part in key.split("/"))


def is_text(name: str) -> bool:
    """Return whether a key or path can be written down: names on disk may be bytes that are no text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class BelowFolder:
    """A store as it is below one of its folders.

    Parameters
    ----------
    folder
        With a ``/`` at its end.
    """

    store: StoreReader
    folder: str

    def read(self, keys: Sequence[str]) -> Answers:
        """Return what is stored under keys."""
        answers = self.store.read([self.folder + key for key in keys])
        return {key[len(self.folder) :]: answer for key, answer in answers.items()}

    def names(self, folder: str) -> Names | None:
        """Return the names right below a folder."""
        return self.store.names(self.folder + folder)

    def has(self, key: str) -> bool:
        """Tell whether something is stored under a key."""
        return self.store.has(self.folder + key)
