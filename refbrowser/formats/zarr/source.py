"""What a hierarchy is built from: metadata keys with their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.values import ChunkManifest


class MetadataSource(Protocol):
    """The Zarr metadata of a dataset, by key.

    A key ends in ``.zgroup``, ``.zarray``, ``.zattrs``, ``.zmetadata`` or ``zarr.json``.
    """

    def metadata_keys(self) -> Iterable[str]:
        """Return the metadata keys, in document order, each once."""
        ...

    def value(self, key: str) -> bytes:
        """Return the bytes of a metadata key.

        Raises
        ------
        RefbrowserError
            The entry is faulty, or its bytes are elsewhere and were not read yet (`BLOCKED`).
        """
        ...


@runtime_checkable
class ParsedSource(Protocol):
    """A source that knows what is in some of its documents: they are not parsed again."""

    def parsed(self, key: str) -> Mapping[str, Any] | None:
        """Return the object under a metadata key, which has nothing odd in it; None where it is not known."""
        ...


#: Makes the manifest of an array from the prefix of its keys (``temp/``, empty for a root array), its grid
#: and the encoding of its chunk keys.
ManifestMaker = Callable[[str, RegularChunkGrid, ChunkKeyEncoding], ChunkManifest]
