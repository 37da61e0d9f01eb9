"""Datasets for tests of what notebooks and prompts show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.model.nodes import GroupNode, Hierarchy

#: Names and texts that try to be more than text.
HOSTILE = (
    "</style><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<svg onload=alert(1)>",
    "\u202egpj.exe\u2066",
    "\x1b[31mred\x07\r\n",
    "a\u2028b",
    "{{ 7 * 7 }} ${x}",
)


class Touched:
    """Nothing may be asked of it, but to end."""

    def close(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for")


def array_keys(
    path: str, shape: tuple[int, ...], chunks: tuple[int, ...], **attributes: Any
) -> dict[str, str]:
    """Return the metadata of an array of Zarr v2."""
    metadata = {
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i4",
        "compressor": {"id": "zlib", "level": 1}, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    return {f"{path}/.zarray": json.dumps(metadata), f"{path}/.zattrs": json.dumps(attributes)}


def small_set(**attributes: Any) -> Dataset:
    """Return a dataset of three arrays and two groups, which nothing can be read of."""
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        ".zattrs": json.dumps({"title": "A small set", **attributes}),
        **array_keys("x", (1000,), (1000,), units="m"),
        "g/.zgroup": '{"zarr_format": 2}',
        **array_keys("g/field", (12, 180, 360), (1, 90, 120), _ARRAY_DIMENSIONS=["time", "lat", "lon"]),
        **array_keys("g/long_name_of_an_array", (10**10, 10), (10, 10), _ARRAY_DIMENSIONS=["n", "m"]),
        "g/h/.zgroup": '{"zarr_format": 2}',
    }
    return without_session(refbrowser.open({"version": 1, "refs": refs}))


def without_session(dataset: Dataset, hierarchy: Hierarchy | None = None) -> Dataset:
    """Return a dataset whose session reads nothing, with another hierarchy where one is given."""
    dataset.close()
    session: Any = Touched()
    return Dataset(dataset.path, dataset.document, hierarchy or dataset.hierarchy, dataset.access, session)


class Counted(Mapping[str, Any]):
    """Very many children, all alike, that count how many of them were looked at."""

    def __init__(self, child: Any, count: int) -> None:
        self._child, self._count = child, count
        self.seen = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        for number in range(self._count):
            self.seen += 1
            yield f"a{number}"

    def __getitem__(self, name: str) -> Any:
        return self._child


def wide_set(arrays: int, groups: int) -> tuple[Dataset, Counted, Counted]:
    """Return a dataset with very many arrays at its root and in each of very many groups."""
    dataset = small_set()
    node = dataset.hierarchy.find("/g/field")
    many = Counted(node, arrays)
    children = Counted(GroupNode(path="/many", arrays=Counted(node, arrays)), groups)
    root = GroupNode(arrays=many, groups=children, attributes=Counted("text", arrays))
    return without_session(dataset, Hierarchy(root=root, format="refs-v1")), many, children
