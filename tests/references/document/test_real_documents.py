"""Every file of the real reference sets opens, or gives the error that it should."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.references import hierarchy_of, open_references
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.references.rules.rule_faults import find_faults

#: File, version, entries of refs, rows of each rule, arrays, warnings of the document.
OPENED = [
    ("references/cmip6_two_templates.json", 1, 1527, [], 11, 0),
    ("references/cru_gen_rule.json", 1, 19, [2], 6, 0),
    ("references/gdal_v0_min.json", 0, 5, [], 1, 4),
    ("references/hrrr_grib_combined.json", 1, 56, [], 15, 0),
    ("references/its_live_catalog.json", 1, 36, [], 9, 2),
    ("references/pangeo_forge_http.json", 1, 412, [], 5, 0),
    ("references/wrf_combined.parq", 0, 43, [], 11, 0),
    ("real/basin_mask.refs.json", 1, 14, [], 4, 0),
    ("real/crm.refs.json", 1, 17, [], 5, 0),
    ("real/cth.refs.json", 1, 89, [], 30, 0),
    ("real/eraint_uvz.refs.json", 1, 20, [6, 6, 6], 7, 0),
]

#: File, kind, line, column.
REFUSED = [("references/gdal_v1_min_trailing_comma.json", ErrorKind.JSON, 10, 1)]


@pytest.mark.parametrize(("name", "version", "refs", "gen", "arrays", "warnings"), OPENED)
def test_opens(
    shared_data: Path, name: str, version: int, refs: int, gen: list[int], arrays: int, warnings: int
) -> None:
    if name.endswith(".parq"):
        pytest.importorskip("pyarrow")
    document = open_references(shared_data / name)
    assert document.version == version
    assert document.expansion.refs_rows == refs
    assert document.expansion.gen_rows == gen
    assert [finding.severity for finding in document.findings] == [Severity.WARNING] * warnings
    assert not [finding for rule in document.rules for finding in find_faults(rule)]
    nodes = [node for node in hierarchy_of(document).walk() if isinstance(node, ArrayNode)]
    assert len(nodes) == arrays
    assert not [node.error for node in nodes if node.error]


@pytest.mark.parametrize(("name", "kind", "line", "column"), REFUSED)
def test_is_refused(shared_data: Path, name: str, kind: ErrorKind, line: int, column: int) -> None:
    with pytest.raises(RefbrowserError) as caught:
        open_references(shared_data / name)
    assert caught.value.kind is kind
    assert (caught.value.place.line, caught.value.place.column) == (line, column)


def test_every_file_is_in_the_tables(shared_data: Path) -> None:
    known = {name for name, *_ in (*OPENED, *REFUSED)}
    files = [*shared_data.glob("references/*.json"), *shared_data.glob("references/*.parq")]
    files += shared_data.glob("real/*.refs.json")
    assert {path.relative_to(shared_data).as_posix() for path in files} == known


@pytest.mark.parametrize("name", [name for name, *_ in OPENED if name.endswith(".json")])
def test_is_lossless_and_says_what_json_says(shared_data: Path, name: str) -> None:
    data = (shared_data / name).read_bytes()
    document = open_references(shared_data / name)
    assert document.to_bytes() == data
    found: dict[str, Any] = json.loads(data)
    refs = found["refs"] if document.version == 1 else found
    assert document.refs.keys(0, len(document.refs)) == list(refs)
    for key, value in refs.items():
        slot = document.refs.find_slot(key)
        assert slot is not None
        assert json.loads(document.refs.value_text(slot)) == value


@pytest.mark.parametrize("name", [name for name, *_ in OPENED if name.endswith(".json")])
def test_means_what_fsspec_reads(shared_data: Path, name: str) -> None:
    from fsspec.implementations.reference import ReferenceFileSystem

    path = shared_data / name
    found = ReferenceFileSystem(
        json.loads(path.read_bytes()),
        simple_templates=False,
        remote_protocol="file",
        skip_instance_cache=True,
    ).references
    expansion = open_references(path).expansion
    assert {expansion.item(row)[0] for row in range(expansion.rows)} == set(found)
    for key, value in found.items():
        assert meaning(expansion.reference(key)) == as_bytes(value)


def meaning(reference: object) -> object:
    if isinstance(reference, ByteRange):
        return [reference.url, reference.offset, reference.length]
    if isinstance(reference, WholeFile):
        return [reference.url]
    assert isinstance(reference, Inline)
    return loose(reference.data)


def as_bytes(value: Any) -> object:
    if isinstance(value, list):
        return value
    data = value if isinstance(value, bytes) else value.encode()
    if data.startswith(b"base64:"):
        import base64

        data = base64.b64decode(data[7:])
    return loose(data)


def loose(data: bytes) -> object:
    """Return metadata as values: an object of the document keeps its own spacing here, not in the peer."""
    try:
        return json.loads(data)
    except ValueError:
        return data
