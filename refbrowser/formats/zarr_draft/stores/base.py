"""What a store can do: keys to values, and lists of keys where it can list (Store interface)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr_draft.names import is_key
from refbrowser.limits import LIMITS


@dataclass(frozen=True, slots=True)
class Listing:
    """What `Store.listdir` finds: keys, and prefixes that end in ``/``."""

    keys: frozenset[str]
    prefixes: frozenset[str]


class ListingError(RefbrowserError):
    """The store supports none of the list operations: what is in it must be known by other means."""

    def __init__(self) -> None:
        super().__init__(
            ErrorKind.USAGE, "the store cannot list its keys", advice="name the path of each node"
        )


class Store(ABC):
    """A mapping from keys to bytes.

    `get`, `set` and `delete` must be there. Of `list`, `listpre` and `listdir` each has what stands for it:
    `listdir` the keys of `listpre`, `listpre` those of `list`; a store without `list` cannot list.

    All operations may be called from any thread. They raise `RefbrowserError` where the storage fails.
    """

    @abstractmethod
    def get(self, key: str) -> bytes | None:
        """Return the value of a key, None where it is absent."""

    @abstractmethod
    def set(self, key: str, value: bytes) -> None:
        """Store a value; a key that is there is replaced.

        Raises
        ------
        RefbrowserError
            `E_UNSAFE`: the text is no key: other characters, or parts that are empty or only dots.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete a key; nothing happens where it is absent."""

    def list(self) -> frozenset[str]:
        """Return all keys.

        Raises
        ------
        ListingError
            The store cannot list.
        """
        raise ListingError

    def listpre(self, prefix: str) -> frozenset[str]:
        """Return all keys that begin with `prefix`: of ``a/b a/c/d e/f`` with ``a/`` the first two."""
        return frozenset(key for key in self.list() if key.startswith(prefix))

    def listdir(self, prefix: str) -> Listing:
        """Return what stands right below a prefix.

        Of ``a/b a/c a/d/e a/f/g`` with ``a/`` the keys ``a/b`` and ``a/c`` and the prefixes ``a/d/`` and
        ``a/f/``.
        """
        return split_listing(self.listpre(prefix), prefix)


def split_listing(keys: Iterable[str], prefix: str) -> Listing:
    """Return keys that begin with `prefix` as those right below it and the prefixes of the others."""
    here, further = set(), set()
    for key in keys:
        name, slash, _ = key[len(prefix) :].partition("/")
        if slash:
            further.add(f"{prefix}{name}/")
        else:
            here.add(key)
    return Listing(frozenset(here), frozenset(further))


def check_key(key: str) -> None:
    """Raise E_UNSAFE where `key` is no key: it is never joined to a path then."""
    if len(key) > LIMITS.key_length or not is_key(key):
        raise RefbrowserError(
            ErrorKind.UNSAFE,
            f"{quoted(key)} is not a key",
            advice="keys hold a-z A-Z 0-9 / . - _ and no part that is empty or only dots",
        )


def check_size(size: int, key: str, where: str) -> None:
    """Raise E_BUDGET where a value is larger than what is read whole."""
    if size > LIMITS.chunk_size:
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"the value has {size} bytes; only {LIMITS.chunk_size} are read whole",
            Place(key=key, url=where),
        )
