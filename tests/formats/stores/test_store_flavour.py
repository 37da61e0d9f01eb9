"""Which flavour a store is, by its keys and what they say."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.flavour import find_flavour
from refbrowser.formats.store_rules import EARLY_DRAFT, LATER_DRAFT, flavour_named
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
        ({"zarr.json": {"zarr_format": URI}}, LATER_DRAFT),
        ({"zarr.json": {"zarr_format": 3, "metadata_encoding": URI}}, LATER_DRAFT),
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
        ({"root.group.json": {}}, EARLY_DRAFT),
        ({"root.array.json": {}}, EARLY_DRAFT),
        ({"meta/a.array.json": {}}, EARLY_DRAFT),
        ({"meta/root/a.array.json": {}}, EARLY_DRAFT),
        ({"meta/root/a.array.json": {}, "data/root/": {}}, LATER_DRAFT),
        ({"meta/root.group.json": {}, "meta/b.array.json": {}, "data/root/": {}}, EARLY_DRAFT),
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
    assert flavour_named("zarr-v3-draft") is EARLY_DRAFT
    sent = pickle.loads(pickle.dumps(LATER_DRAFT))
    assert (sent, sent.label, sent.store_format) == (LATER_DRAFT, "Zarr v3 draft of 2020", "zarr-v3-draft")
    with pytest.raises(RefbrowserError) as caught:
        flavour_named("zarr")
    assert caught.value.kind is ErrorKind.USAGE
    assert "nczarr" in caught.value.advice
