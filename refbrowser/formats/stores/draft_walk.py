"""Walking the metadata of the v3 drafts: all of it stands below ``meta/``, away from the chunks."""

from __future__ import annotations

from refbrowser.formats.stores.contents import StoreContents
from refbrowser.formats.stores.reader import Answers, StoreReader
from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import is_metadata_key

METADATA = "meta/"


def walk_draft(reader: StoreReader, contents: StoreContents, root: Answers) -> None:
    """Read every metadata document into `contents`, those of the root first.

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
                contents.warn("the store has more names than are listed: nodes are left out", folder)
            keys += [key for name in names.files if is_metadata_key(key := folder + name) and key not in root]
            below += [f"{folder}{name}/" for name in names.folders]
        for key, answer in reader.read(keys).items():
            if not contents.add(key, answer):
                return
        if not below:
            return
        level = below
    contents.warn(f"groups are nested more than {LIMITS.group_nesting} levels deep", level[0])
