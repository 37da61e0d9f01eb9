"""Random hierarchies for Hypothesis, written with zarr-python 3."""

from __future__ import annotations

import string
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

#: Types that every format holds.
COMMON_TYPES = ("|i1", "<i2", ">i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", ">f8")
#: Letters of names in every flavour: the draft of 2019 has no others, nor names that differ in case only.
_LETTERS = string.ascii_lowercase + string.digits + "_"
NAMES = st.text(_LETTERS, min_size=1, max_size=6).filter(
    lambda name: not name[0].isdigit() and name[0] != "_"
)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
NUMBERS = st.integers(-(2**31), 2**31 - 1) | st.floats(allow_nan=False, allow_infinity=False, width=32)
ATTRIBUTES = st.dictionaries(
    NAMES.filter(lambda name: name not in ("units", "dtype")),
    TEXTS | NUMBERS | st.lists(st.integers(-99, 99), min_size=2, max_size=4),
    max_size=3,
)


@dataclass(frozen=True)
class RandomArray:
    """One array as it is written: chunks that are only fill are left out of the store."""

    values: np.ndarray
    chunks: tuple[int, ...]
    fill: Any
    attributes: dict[str, Any]
    order: str
    compressed: bool
    sharded: bool


@dataclass(frozen=True)
class RandomTree:
    """Arrays by path, and attributes of groups by path (empty for the root)."""

    arrays: dict[str, RandomArray] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)


@st.composite
def arrays(draw: st.DrawFn) -> RandomArray:
    dtype = np.dtype(draw(st.sampled_from(COMMON_TYPES)))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=7))
    elements = hnp.from_dtype(dtype, allow_nan=False)
    values = draw(hnp.arrays(dtype, shape, elements=elements, fill=st.just(dtype.type(0))))
    chunks = tuple(draw(st.integers(1, size + 1)) for size in shape)
    fill = draw(elements)
    for _ in range(draw(st.integers(0, 2))):
        at = tuple(draw(st.integers(0, (size - 1) // side)) for size, side in zip(shape, chunks, strict=True))
        box = tuple(
            slice(number * side, (number + 1) * side) for number, side in zip(at, chunks, strict=True)
        )
        values[box] = fill
    attributes = draw(ATTRIBUTES)
    order = draw(st.sampled_from("CF"))
    return RandomArray(values, chunks, fill, attributes, order, draw(st.booleans()), draw(st.booleans()))


@st.composite
def trees(draw: st.DrawFn) -> RandomTree:
    tree = RandomTree(groups={"": draw(ATTRIBUTES)})
    for name in draw(st.lists(NAMES, unique=True, max_size=2)):
        tree.groups[name] = draw(ATTRIBUTES)
        if draw(st.booleans()):
            tree.groups[f"{name}/{draw(NAMES)}"] = draw(ATTRIBUTES)
    for name in draw(st.lists(NAMES, unique=True, min_size=1, max_size=3)):
        path = "/".join(filter(None, (draw(st.sampled_from(sorted(tree.groups))), name)))
        if path not in tree.groups:
            tree.arrays[path] = draw(arrays())
    return tree


def write_tree(tree: RandomTree, store: Path, version: int) -> None:
    """Write a tree with zarr-python 3."""
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.create_group(str(store), zarr_format=version, attributes=tree.groups[""])
        for path, attributes in tree.groups.items():
            if path:
                root.require_group(path).attrs.update(attributes)
        for path, array in tree.arrays.items():
            _write_array(root, path, array, version)


def _write_array(root: Any, path: str, array: RandomArray, version: int) -> None:
    options: dict[str, Any] = {"chunks": array.chunks}
    if version == 2:
        options["order"] = array.order
    elif array.sharded:
        options["shards"] = tuple(2 * side for side in array.chunks)
    if not array.compressed:
        options["compressors"] = None
    made = root.create_array(
        path,
        shape=array.values.shape,
        dtype=array.values.dtype,
        fill_value=array.fill,
        attributes=array.attributes,
        config={"write_empty_chunks": False},
        **options,
    )
    made[...] = array.values
