"""What a target has already: its arrays, and the names of all blobs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.awkward0.arrays import blob_finder
from refbrowser.formats.awkward0.container import Container
from refbrowser.formats.awkward0.expressions import ExpressionKind
from refbrowser.formats.awkward0.finding_arrays import FoundSchema, find_schemas
from refbrowser.formats.awkward0.opening import open_container
from refbrowser.io.access import Access
from refbrowser.io.atomic import identity_on_disk
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.io.identity import FileIdentity


@dataclass(frozen=True, slots=True)
class Existing:
    """What a target has.

    Attributes
    ----------
    names
        Of all blobs, those of other things in it too.
    arrays
        For the name of each array the blobs that it is made of.
    identity
        Of the file when it was looked at; None of a folder.
    """

    names: frozenset[str] = frozenset()
    arrays: Mapping[str, frozenset[str]] = field(default_factory=dict)
    identity: FileIdentity | None = None

    def removed(self, arrays: list[str]) -> frozenset[str]:
        """Return the blobs of some arrays that no other array has.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such array.
        """
        for name in arrays:
            if name not in self.arrays:
                known = ", ".join(quoted(each) for each in sorted(self.arrays)[:10])
                raise RefbrowserError(
                    ErrorKind.USAGE, f"the target has no array {quoted(name)}", advice=f"it has {known}"
                )
        kept = [blobs for name, blobs in self.arrays.items() if name not in arrays]
        gone = frozenset().union(*(self.arrays[name] for name in arrays))
        return gone - frozenset().union(*kept)


def existing_in(target: str, fetcher: Fetcher, token: CancelToken) -> Existing:
    """Return what a target has; nothing where it is not there yet.

    Raises
    ------
    RefbrowserError
        It cannot be read, so nothing can be added to it.
    """
    if not os.path.lexists(target):
        return Existing()
    identity = None if os.path.isdir(target) else identity_on_disk(target)
    container = open_container(target, Access.for_document(os.path.abspath(target)), fetcher, token)
    if container.findings and container.kind == "zip":
        raise RefbrowserError(
            ErrorKind.FORMAT,
            f"nothing is added to a damaged archive: {container.findings[0].message}",
            Place(path=target),
            "export it anew instead",
        )
    found = find_schemas(container, token)
    arrays = {each.name.array: _blobs(container, each) for each in found.schemas if each.schema is not None}
    return Existing(frozenset(container.names()), arrays, identity)


def _blobs(container: Container, found: FoundSchema) -> frozenset[str]:
    assert found.schema is not None
    find = blob_finder(container, found.name)
    names = {found.member}
    for expression in found.schema.expressions:
        if expression.kind is ExpressionKind.READ:
            name = expression.value if expression.is_absolute else found.schema.prefix + expression.value
            blob = find(name)
            if blob is not None:
                names.add(blob.name)
    return frozenset(names)
