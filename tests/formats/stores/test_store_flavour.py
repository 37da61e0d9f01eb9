"""Which flavour a store is, by its keys and what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.flavour import find_flavour
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.nodes import Flavour

ARRAY = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i4"}
URI = "https://purl.org/zarr/spec/protocol/core/3.0"
NCZARR_GROUP = {"_nczarr_group": {"dimensions": {}, "arrays": [], "groups": []}}


def flavour_of(documents: dict[str, Any]) -> Flavour | None:
    texts = {key: json.dumps(value).encode() for key, value in documents.items()}
    return find_flavour(texts, texts.__getitem__)


@pytest.mark.parametrize(
    ("documents", "wanted"),
    [
        ({"zarr.json": {"zarr_format": 3, "node_type": "group"}}, Flavour.ZARR_V3),
        ({"a/zarr.json": {"zarr_format": 3, "node_type": "array"}}, Flavour.ZARR_V3),
        ({"zarr.json": {"zarr_format": URI}}, Flavour.DRAFT_2020),
        ({"zarr.json": {"zarr_format": 3, "metadata_encoding": URI}}, Flavour.DRAFT_2020),
        ({"zarr.json": {"zarr_format": 3}, ".zgroup": {"zarr_format": 2}}, Flavour.ZARR_V3),
        ({".zgroup": {"zarr_format": 2}}, Flavour.ZARR_V2),
        ({".zmetadata": {"metadata": {}}}, Flavour.ZARR_V2),
        ({"a/.zarray": ARRAY}, Flavour.ZARR_V2),
        ({".zgroup": {}, ".zattrs": {"note": "_nczarr_group"}}, Flavour.ZARR_V2),
        ({".zgroup": {}, ".zattrs": NCZARR_GROUP}, Flavour.NCZARR),
        ({".zgroup": {"_NCZARR_GROUP": {}}}, Flavour.NCZARR),
        ({".zgroup": {}, "a/.zarray": ARRAY | {"_nczarr_array": {}}}, Flavour.NCZARR),
        ({".zmetadata": {"metadata": {".zattrs": NCZARR_GROUP}}}, Flavour.NCZARR),
        ({".zgroup": {}, ".nczarr": {}}, Flavour.NCZARR),
        ({".nczgroup": {}}, Flavour.NCZARR),
        ({"root.group.json": {}}, Flavour.DRAFT_2019),
        ({"root.array.json": {}}, Flavour.DRAFT_2019),
        ({"meta/a.array.json": {}}, Flavour.DRAFT_2019),
        ({"meta/root/a.array.json": {}}, Flavour.DRAFT_2019),
        ({"meta/root/a.array.json": {}, "data/root/": {}}, Flavour.DRAFT_2020),
        ({"meta/root.group.json": {}, "meta/b.array.json": {}, "data/root/": {}}, Flavour.DRAFT_2019),
        ({}, None),
        ({"a/0.0": {}, "readme.json": {}}, None),
    ],
)
def test_flavour_of_keys(documents: dict[str, Any], wanted: Flavour | None) -> None:
    assert flavour_of(documents) == wanted


def test_broken_documents_tell_nothing_and_hide_nothing() -> None:
    def value(key: str) -> bytes:
        if key == ".zattrs":
            raise RefbrowserError(ErrorKind.IO, "no")
        return b"{"

    assert find_flavour(["zarr.json"], value) == Flavour.ZARR_V3
    assert find_flavour([".zattrs", ".zgroup"], value) == Flavour.ZARR_V2


def test_deep_nesting_does_no_harm() -> None:
    assert find_flavour(["zarr.json"], lambda key: b"[" * 200_000) == Flavour.ZARR_V3


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        (".zarray", True),
        ("a/b/.zattrs", True),
        ("a/zarr.json", True),
        ("a/.nczvar", True),
        ("root.group.json", True),
        ("a/root.group.json", False),
        ("meta/a/b.array.json", True),
        ("meta/root/a.array", True),
        ("meta/a.array", False),
        ("meta/a", False),
        ("data/a.array.json", False),
        ("a/0.0", False),
        ("zarr.json/0", False),
    ],
)
def test_metadata_keys(key: str, wanted: bool) -> None:
    assert is_metadata_key(key) is wanted


def test_flavours_by_name() -> None:
    assert Flavour.named("zarr-v3-draft") is Flavour.DRAFT_2019
    with pytest.raises(RefbrowserError) as caught:
        Flavour.named("zarr")
    assert caught.value.kind is ErrorKind.USAGE
    assert "nczarr" in caught.value.advice
