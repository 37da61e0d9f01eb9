"""Where the metadata of a node lies, its attributes, and how many of its chunks are stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.engine.node_metadata import (
    Origin,
    attributes_in,
    attributes_key,
    metadata_fault,
    metadata_keys,
    place_of,
    uses_v3,
    with_attributes,
)
from refbrowser.formats.references import hierarchy_of
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.views.attributes import stored_chunks

ARRAY: dict[str, Any] = {
    "zarr_format": 2, "shape": [4, 4], "chunks": [2, 2], "dtype": "<i2", "order": "C",
    "fill_value": 0, "compressor": None, "filters": None,
}  # fmt: skip
ARRAY_V3: dict[str, Any] = {
    "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"}, "attributes": {"a": 1},
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
}  # fmt: skip


def document(refs: dict[str, Any], gen: list[Any] | None = None) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps({"version": 1, "gen": gen or [], "refs": refs}).encode())


def inline(found: ReferenceDocument, key: str) -> Any:
    return json.loads(found.expansion.value(key) or b"null")


def test_places() -> None:
    rule = {"key": "r/.zattrs", "url": "x.json", "offset": "0", "length": "{{n}}", "dimensions": {"n": [3]}}
    refs = {
        "a/.zarray": json.dumps(ARRAY),
        "a/.zattrs": ["far.json"],
        "b/.zattrs": {"object": 1},
        "c/.zattrs": ["url", -1, 2],
        ".zmetadata": json.dumps({"metadata": {"d/.zattrs": {"x": 1}}}),
    }
    found = document(refs, [rule])
    places = {key: place_of(found, key) for key in ("a/.zarray", "a/.zattrs", "b/.zattrs", "c/.zattrs")}
    places |= {key: place_of(found, key) for key in ("d/.zattrs", "e/.zattrs", "r/.zattrs")}
    assert [place.origin for place in places.values()] == [
        Origin.INLINE, Origin.ELSEWHERE, Origin.INLINE, Origin.FAULTY,
        Origin.CONSOLIDATED, Origin.ABSENT, Origin.GENERATED,
    ]  # fmt: skip
    assert "far.json" in places["a/.zattrs"].note
    assert json.loads(places["b/.zattrs"].data or b"") == {"object": 1}
    assert json.loads(places["d/.zattrs"].data or b"") == {"x": 1}
    assert places["r/.zattrs"].rule == 0
    assert [place.can_edit for place in places.values()] == [True] * 6 + [False]


def test_keys_of_version_2() -> None:
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        "g/a/.zarray": json.dumps(ARRAY),
        ".zmetadata": '{"metadata": {}}',
    }
    found = document(refs)
    hierarchy = hierarchy_of(found)
    array, group = hierarchy.find("/g/a"), hierarchy.find("/g")
    assert metadata_keys(found, array) == ("g/a/.zarray", "g/a/.zattrs")  # type: ignore[arg-type]
    assert metadata_keys(found, group) == ("g/.zgroup", "g/.zattrs")  # type: ignore[arg-type]
    assert metadata_keys(found, hierarchy.root) == (".zgroup", ".zattrs", ".zmetadata")
    assert attributes_key(hierarchy.root) == ".zattrs"


def test_keys_of_version_3() -> None:
    found = document({"g/a/zarr.json": json.dumps(ARRAY_V3)})
    hierarchy = hierarchy_of(found)
    assert metadata_keys(found, hierarchy.find("/g/a")) == ("g/a/zarr.json",)  # type: ignore[arg-type]
    assert uses_v3(hierarchy.root), "a group without metadata is like its arrays"
    assert attributes_key(hierarchy.root) == "zarr.json"


def test_attributes_of_both_versions() -> None:
    assert with_attributes("a/.zattrs", {"x": 1}, {"y": 2}) == {"y": 2}
    assert with_attributes("a/zarr.json", ARRAY_V3, {"y": 2}) == {**ARRAY_V3, "attributes": {"y": 2}}
    assert attributes_in("a/zarr.json", ARRAY_V3) == {"a": 1}
    assert attributes_in("zarr.json", {"attributes": 5}) == {}


def test_consolidated_metadata_of_version_3_is_kept_in_step() -> None:
    below = dict(ARRAY_V3)
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    root = {**group, "consolidated_metadata": {"kind": "inline", "metadata": {"g": group, "g/a": below}}}
    refs = {
        "zarr.json": json.dumps(root),
        "g/zarr.json": json.dumps(group),
        "g/a/zarr.json": json.dumps(below),
    }
    found = document(refs)
    changed = {**below, "fill_value": 7}
    after = found.apply(SetMetadata("g/a/zarr.json", changed))
    assert inline(after, "zarr.json")["consolidated_metadata"]["metadata"] == {"g": group, "g/a": changed}
    assert inline(after, "g/zarr.json") == group
    whole = inline(found, "zarr.json")
    whole["consolidated_metadata"]["metadata"]["g/a"]["fill_value"] = 9
    assert inline(found.apply(SetMetadata("zarr.json", whole)), "g/a/zarr.json")["fill_value"] == 9


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("a/.zarray", ARRAY, ""),
        ("a/.zarray", {**ARRAY, "shape": "x"}, "shape"),
        ("a/.zarray", [], "object"),
        (".zgroup", {"zarr_format": 3}, "zarr_format"),
        ("zarr.json", ARRAY_V3, ""),
        ("zarr.json", {**ARRAY_V3, "node_type": "tree"}, "node_type"),
        ("a/.zattrs", {"x": 1}, ""),
    ],
)
def test_what_is_no_metadata(key: str, value: Any, part: str) -> None:
    fault = metadata_fault(key, value)
    assert (fault == "") is (part == "")
    assert part in fault


def test_stored_chunks_with_their_bytes() -> None:
    refs = {"a/.zarray": json.dumps(ARRAY), "a/0.0": ["u", 0, 8], "a/0.1": ["whole"], "a/1.0": "base64:AAEC"}
    node = hierarchy_of(document(refs)).find("/a")
    found = stored_chunks(node, lambda: None)  # type: ignore[arg-type]
    assert found is not None
    assert (found.stored, found.total) == (3, 4)
    assert (found.size, found.files, found.inline) == (8, 1, 1)


def test_metadata_that_is_inline_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.engine.metadata import described
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken
    from refbrowser.references.content.expansion import Expansion

    asked: list[str] = []
    reference = Expansion.metadata_reference

    def noted(self: Expansion, key: str) -> Any:
        asked.append(key)
        return reference(self, key)

    monkeypatch.setattr(Expansion, "metadata_reference", noted)
    found = document({".zgroup": {"zarr_format": 2}} | {f"v{n}/.zarray": ARRAY for n in range(9)})
    with Session() as session:
        hierarchy, elsewhere = described(found, Access.for_document("/x.json"), session, CancelToken(), {})
    assert len(hierarchy.root.arrays) == 9
    assert not elsewhere
    assert len(asked) == len(set(asked)) == 10
