"""Each damage is found, in its number and place, and nothing is invented on sound sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged_sets import CHUNKS, DAMAGES, FILES, Damage, sound

import refbrowser
from refbrowser.engine.audit.audit_result import AuditResult
from refbrowser.engine.findings.collected_findings import collect
from refbrowser.findings.kinds import KINDS, kind_of


def audited(path: Path, level: str = "full", **more: Any) -> AuditResult:
    return refbrowser.audit(path, level=level, **more)


def test_sound_sets_have_no_findings(tmp_path: Path) -> None:
    made = sound(tmp_path)
    result = audited(made.write())
    assert result.groups == []
    assert (result.urls, result.chunks) == (FILES, 2 * FILES * CHUNKS)
    assert result.is_complete
    assert result.exit_code(["warning"]) == 0


@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_is_found(name: str, tmp_path: Path) -> None:
    damage: Damage = DAMAGES[name]
    made = sound(tmp_path)
    damage.make(made)
    path = made.write()
    result = audited(path, damage.level)
    counts = result.counts()
    assert counts.get(damage.code) == damage.count, counts
    assert set(counts) <= {damage.code} | damage.also, counts
    groups = [group for group in result.groups if group.code == damage.code]
    assert all(group.is_fault is damage.is_fault for group in groups)
    assert result.exit_code() == (2 if damage.is_fault else 0)
    assert result.exit_code([damage.code]) == 2
    if damage.marked is not None:
        found = {
            (path, tuple(coords))
            for path in result.marks.paths
            for coords in result.marks.of(path).get(damage.code, np.zeros((0, 0), int)).tolist()
        }
        assert found == set(damage.marked)
    if damage.level == "set":
        assert [kind_of(each).code for each in result.findings] == [
            kind.code for kind in map(kind_of, result.findings) if kind in KINDS.values()
        ]
        with refbrowser.open(path) as dataset:
            window = collect(dataset.document, dataset.hierarchy, access=dataset.access)
        # The window tells the same.
        assert {each.message for each in window.items} == {each.message for each in result.findings}


@pytest.mark.parametrize("name", [name for name, each in DAMAGES.items() if each.level == "full"])
def test_what_only_reading_tells_is_not_found_without(name: str, tmp_path: Path) -> None:
    made = sound(tmp_path)
    DAMAGES[name].make(made)
    assert audited(made.write(), "stat").groups == []


FIXED = (
    "keys outside of the grid",
    "a key that is no chunk",
    "a rule for no array",
    "a rule of no chunks",
    "a template that nothing uses",
    "a range cut at its end",
    "a range cut at its beginning",
)


@pytest.mark.parametrize("name", FIXED)
def test_fix_all_of_a_kind_is_one_edit_that_repairs(name: str, tmp_path: Path) -> None:
    made = sound(tmp_path)
    before = made.copy()
    DAMAGES[name].make(made)
    with refbrowser.open(made.write()) as dataset:
        result = refbrowser.audit(dataset)
        (group,) = result.groups
        edit = group.fix(dataset.document)
        repaired = dataset.with_document(dataset.document.apply(edit))
        assert refbrowser.audit(repaired).groups == []
        expanded = refbrowser.expand(repaired.document)
    assert expanded == refbrowser.expand({"version": 1, "refs": before.refs})


def test_what_is_undecodable_for_its_length_is_told_once(tmp_path: Path) -> None:
    made = sound(tmp_path)
    DAMAGES["a range cut at its end"].make(made)
    DAMAGES["a compressed range cut at its end"].make(made)
    counts = audited(made.write()).counts()
    # Of the compressed one the length was a guess: what reading tells is told as well.
    assert counts == {"range-off-by-one": 2, "undecodable": 1}


def test_a_range_that_is_there_twice_is_not_told_as_an_overlap_too(tmp_path: Path) -> None:
    made = sound(tmp_path)
    made.refs["packed/3.1"] = made.refs["packed/3.0"]
    # Something overlaps besides: else nothing is held against what reaches furthest.
    made.refs["packed/5.1"][2] += 9
    result = audited(made.write(), "set")
    assert result.counts() == {"range-repeated": 1, "range-overlap": 1}
    (twice,) = (group.findings[0] for group in result.groups if group.code == "range-repeated")
    # The later of both is told, and held against the other.
    assert (twice.place.key, twice.message) == ("packed/3.1", "the range is also that of 'packed/3.0'")
    assert result.marks.of("/packed")["range-repeated"].tolist() == [[3, 1]]
    assert result.marks.of("/packed")["range-overlap"].tolist() == [[5, 2]]


def test_neighbours_of_other_files_and_arrays_are_not_held_against_each_other(tmp_path: Path) -> None:
    made = sound(tmp_path)
    # Padded to even offsets, as TIFF has it: gaps of one byte are usual there.
    at = 64
    for chunk in range(CHUNKS):
        for file in range(FILES):
            length = 101 + 2 * chunk
            made.refs[f"packed/{file}.{chunk}"] = ["padded.bin", at, length]
            at += length + 1
    assert audited(made.write(), "set").groups == []


def test_few_chunks_among_many_are_not_called_missing(tmp_path: Path) -> None:
    made = sound(tmp_path)
    for file in range(FILES):
        for chunk in range(1, CHUNKS):
            del made.refs[f"raw/{file}.{chunk}"]
    assert audited(made.write(), "set").groups == []


def test_arrays_of_any_size_are_decided_by_algebra(tmp_path: Path) -> None:
    made = sound(tmp_path)
    del made.refs["raw/.zattrs"]
    many = 10**12
    document = {
        "version": 1,
        "refs": {".zgroup": made.refs[".zgroup"], "raw/.zarray": _huge(many)},
        "gen": [
            {
                "key": "raw/{{t}}",
                "url": "s3://b/x",
                "offset": "{{400 * t}}",
                "length": "400",
                "dimensions": {"t": {"stop": many}},
            }
        ],
    }
    assert _codes(document) == {}
    document["gen"][0]["length"] = "399"
    assert _codes(document) == {"length-undecodable": many}
    document["gen"][0] |= {"length": "400", "offset": "{{399 * t}}"}
    assert _codes(document) == {"not-decided": 1}


def _huge(many: int) -> str:
    from damaged_sets import zarray

    return zarray([many * 100], [100])


def _codes(document: dict[str, Any]) -> dict[str, int]:
    import json

    from refbrowser.engine.findings.dataset_findings import dataset_findings
    from refbrowser.formats.references import hierarchy_of
    from refbrowser.references.document.document import ReferenceDocument

    read = ReferenceDocument.of(json.dumps(document).encode())
    found = dataset_findings(read, hierarchy_of(read)).all
    return {kind_of(each).code: each.count for each in found}


def test_real_sets_have_what_is_really_odd_about_them(shared_data: Path) -> None:
    found = {}
    for path in sorted((shared_data / "references").iterdir()):
        if path.suffix in (".json", ".parq") and "trailing" not in path.name:
            result = refbrowser.audit(path)
            found[path.name] = result.counts(), result.faults
    assert all(faults == 0 for _, faults in found.values()), found
    assert {name for name, (counts, _) in found.items() if set(counts) - {"object-value", "metadata"}} <= {
        # Two arrays of one message; 36 chunks that were never written.
        "hrrr_grib_combined.json",
        "pangeo_forge_http.json",
    }
