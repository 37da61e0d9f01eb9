"""Where schemas and blobs lie: an archive, an HDF5 file, a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from refbrowser.errors import Finding, RefbrowserError
from refbrowser.io.archives.entries import PACKED
from refbrowser.model.reference import Reference


@dataclass(frozen=True, slots=True)
class Blob:
    """Named bytes of a container.

    Attributes
    ----------
    name
        Whole name in the container (``one-1.raw``, ``group/1``).
    reference
        Where its bytes are, already free of the container's compression where `is_packed` is False.
    size
        Bytes, unpacked; as the container announces them.
    stored
        Bytes as they are stored.
    method
        How the container stores them: ``stored``, ``deflate``, ``bz2``, ``lzma``, ``hdf5``, ``file``.
    error
        Why it cannot be read.
    """

    name: str
    reference: Reference
    size: int
    stored: int
    method: str = "stored"
    error: RefbrowserError | None = None

    @property
    def is_packed(self) -> bool:
        """Whether its bytes must be unpacked as a whole."""
        return self.method in PACKED


class Container(Protocol):
    """The blobs of one file or folder; its names were read, its bytes were not."""

    @property
    def url(self) -> str:
        """URL or absolute path."""
        ...

    @property
    def kind(self) -> str:
        """``zip``, ``hdf5`` or ``folder``."""
        ...

    @property
    def findings(self) -> Sequence[Finding]:
        """What is wrong with it: a damaged directory, names twice."""
        ...

    def names(self) -> Iterable[str]:
        """Return the names of all blobs, in the order of the container."""
        ...

    def find(self, name: str) -> Blob | None:
        """Return a blob, or None where there is none of that name."""
        ...

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        """Return whole small blobs (schemas), at most `most` bytes each; absent ones are left out."""
        ...
