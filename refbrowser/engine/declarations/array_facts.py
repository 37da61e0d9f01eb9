"""What is known of the arrays of a dataset, as declarations ask for it; and what they declare themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.references.content.made_text import plain_attribute
from refbrowser.references.declarations.declared_arrays import (
    ArrayFacts,
    Declarations,
    Deviation,
    is_codec,
    learned,
    plain_codec,
)

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Deviations that an error names.
_NAMED = 3


def facts_of(node: ArrayNode) -> ArrayFacts:
    """Return what is known of a sound array."""
    dtype, fill = node.dtype, node.fill_value
    plain = dtype is not None and not dtype.hasobject and dtype.names is None
    return ArrayFacts(
        path=node.path,
        dtype=dtype.str if dtype is not None and plain else node.type.name,
        dimensions=tuple(
            name or f"{node.name}_{axis}"
            for axis, name in enumerate(node.dimensions or (None,) * len(node.shape))
        ),
        shape=node.shape,
        chunks=_chunks(node),
        codecs=tuple(
            plain_codec(each.name, each.configuration) for each in node.codecs if is_codec(each.name)
        ),
        fill=plain_attribute(fill.tolist() if hasattr(fill, "tolist") else fill),
        attributes={name: plain_attribute(value) for name, value in node.attributes.items()},
    )


def _chunks(node: ArrayNode) -> tuple[int | None, ...]:
    if not node.has_grid:
        return node.shape
    sides = zip(node.grid.spelling, node.grid.largest, strict=True)
    # Edges are spelled where chunks are unequal.
    return tuple(side if isinstance(spelled, int) else None for spelled, side in sides)


def deviations_of(declared: Declarations, dataset: Dataset) -> Iterator[tuple[str, Deviation]]:
    """Yield where the arrays of a dataset are otherwise than declared, each with its path or name."""
    if not declared:
        return
    nodes = [node for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)]
    for name in declared.missing([node.path for node in nodes]):
        yield name, Deviation("array", "there", "missing")
    for node in nodes:
        if node.error is None:
            for deviation in declared.deviations(facts_of(node)):
                yield node.path, deviation


def check_declared(declared: Declarations, dataset: Dataset) -> None:
    """Raise where an array of a file is otherwise than declared.

    Raises
    ------
    RefbrowserError
        `E_META`, with all that is otherwise of the first arrays.
    """
    found = [f"{path}: {each.words}" for path, each in deviations_of(declared, dataset)]
    if found:
        more = f" (and {len(found) - _NAMED} more)" if len(found) > _NAMED else ""
        message = f"it is not as declared: {'; '.join(found[:_NAMED])}{more}"
        raise RefbrowserError(ErrorKind.META, message, Place(document=dataset.path))


def learned_declarations(dataset: Dataset) -> dict[str, Any]:
    """Return what the arrays of a dataset declare, as the member ``declares`` of a file has it.

    Dimensions that get longer may have any length: those that are unlimited, and the first ones of arrays of
    several.
    """
    nodes = [node for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode) and node.error is None]
    growing = {
        each.name
        for node in dataset.hierarchy.walk()
        if isinstance(node, GroupNode)
        for each in node.dimensions.values()
        if each.unlimited
    }
    growing |= {facts.dimensions[0] for facts in map(facts_of, nodes) if len(facts.dimensions) > 1}
    return learned(map(facts_of, nodes), growing)
