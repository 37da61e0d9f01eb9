"""The v3 core protocol draft of May 2019 for programs: ``refbrowser.zarr_draft``.

>>> from refbrowser import zarr_draft
>>> hierarchy = zarr_draft.DraftHierarchy(zarr_draft.MemoryStore())
>>> array = hierarchy.create_array("/ocean/temp", shape=(4, 6), data_type="<f8", chunk_shape=(2, 3))
>>> array[1:3, ::2] = 7
>>> hierarchy.children("/")
{'ocean': <NodeKind.IMPLIED: 'implied group'>}
"""

from refbrowser.wings.zarr_draft.protocol.draft_elements import DraftArray
from refbrowser.wings.zarr_draft.protocol.draft_stores import (
    FolderStore,
    Listing,
    ListingError,
    MemoryStore,
    Store,
    ZipStore,
)
from refbrowser.wings.zarr_draft.protocol.operations import DraftHierarchy
from refbrowser.wings.zarr_draft.reading.codecs import BASE as CODEC_BASE
from refbrowser.wings.zarr_draft.reading.draft_keys import NodeKind

__all__ = [
    "CODEC_BASE",
    "DraftArray",
    "DraftHierarchy",
    "FolderStore",
    "Listing",
    "ListingError",
    "MemoryStore",
    "NodeKind",
    "Store",
    "ZipStore",
]
