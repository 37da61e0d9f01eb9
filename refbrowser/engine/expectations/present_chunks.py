"""Which chunks of an array have a reference, as a set that is met with what is expected."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.engine.findings.key_findings import chunk_codes
from refbrowser.formats.expansion_manifest import ExpansionManifest, single_manifests
from refbrowser.formats.store_manifest import StoreManifest
from refbrowser.model.listing import flat_index
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.content.chunk_codes import BITS, group_of_chunks, unpack_many
from refbrowser.references.expectations.chunk_sets import ChunkBlock, ChunkSet, UndecidedSetError
from refbrowser.references.expectations.rule_blocks import rule_blocks
from refbrowser.references.rules.gen import GenRule

if TYPE_CHECKING:
    from refbrowser.model.values import ChunkManifest

Ints = npt.NDArray[np.int64]

#: Grids of so many chunks are looked at chunk by chunk; of larger ones rules are not expanded.
LOOKED = 1 << 22
#: No number of a chunk is larger.
_LARGEST = 1 << 62


def present_chunks(node: ArrayNode) -> ChunkSet:
    """Return the chunks of an array that have a reference.

    Raises
    ------
    UndecidedSetError
        That is not known: the store cannot be listed, or a rule of too many rows is no affine one.
    """
    manifests = [*single_manifests(node.manifest)]
    if len(manifests) == 1:
        return chunks_of(manifests[0])
    grid = node.manifest.grid_shape
    if prod(grid) > LOOKED:
        raise UndecidedSetError
    return _looked_at(node.manifest, grid)


def chunks_of(manifest: ExpansionManifest) -> ChunkSet:
    """Return the chunks of a grid that a document has keys of; raises as `present_chunks`."""
    grid = manifest.grid_shape
    if isinstance(manifest, StoreManifest) and manifest.listed is None:
        raise UndecidedSetError
    if prod(grid) <= LOOKED:
        return _looked_at(manifest, grid)
    if prod(grid) > _LARGEST:
        raise UndecidedSetError
    if isinstance(manifest, StoreManifest) and manifest.listed is not None:
        listed = manifest.listed
        if not listed.missing:
            return ChunkSet.whole(grid)
        if listed.bits is None:
            raise UndecidedSetError
        return ChunkSet(grid, numbers=listed.rows(0, listed.total))
    return ChunkSet.of(grid, _blocks(manifest), _written(manifest))


def _looked_at(manifest: ChunkManifest, grid: tuple[int, ...]) -> ChunkSet:
    kinds = manifest.kinds().reshape(-1)
    if (kinds == ReferenceKind.FAULTY).any() and manifest.stored() is None:
        # A rule that is faulty, or no affine one, may give any of them.
        raise UndecidedSetError
    there = kinds != ReferenceKind.MISSING
    return ChunkSet.whole(grid) if there.all() else ChunkSet(grid, numbers=np.flatnonzero(there))


def _blocks(manifest: ExpansionManifest) -> Iterator[ChunkBlock]:
    ndim = len(manifest.grid_shape)
    for _, rule in manifest.expansion.rules_of(manifest.prefix):
        if isinstance(rule, GenRule):
            yield from rule_blocks(rule, manifest.prefix, ndim, manifest.encoding)
        else:
            coords = np.zeros((1, ndim), np.int64)
            if (rule.chunk_kinds(manifest.prefix, coords, manifest.encoding) != ReferenceKind.MISSING).any():
                yield ChunkBlock(tuple(map(range, manifest.grid_shape)))


def _written(manifest: ExpansionManifest) -> Ints:
    """Return the numbers of the chunks that stand in references one by one, in any order."""
    grid = manifest.grid_shape
    group = group_of_chunks(manifest.prefix, len(grid), manifest.encoding)
    if group is None:
        raise UndecidedSetError
    codes = chunk_codes(manifest.expansion.document).get(group[0])
    if codes is None:
        return np.zeros(0, np.int64)
    leading = len(group[1])
    codes = codes[codes >> np.uint64(BITS) == leading + len(grid)]
    columns = unpack_many(codes, leading + len(grid))
    inside = np.ones(len(codes), bool)
    for column, wanted in zip(columns[:leading], group[1], strict=True):
        inside &= column == wanted
    coords = np.stack(columns[leading:], axis=1)
    inside &= (coords < np.array(grid, np.int64)).all(axis=1)
    return flat_index(coords[inside], grid)
