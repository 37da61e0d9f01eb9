"""Exported reference documents stand for the same bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numcodecs
import numpy as np
import pytest
from documents_made import DocumentMaker

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError


@pytest.fixture
def document(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    maker = DocumentMaker(folder)
    maker.group("ocean")
    values = np.arange(6 * 8, dtype="<i4").reshape(6, 8)
    maker.array("ocean/temp", values, (2, 4), compressors=numcodecs.Zlib(1))
    maker.array("ocean/salt", values * 2, (3, 8), compressors=None)
    maker.array("lat", np.arange(6.0), (6,), compressors=None)
    path = maker.write(missing=("ocean/temp/1.1",), inline=("lat/0",))
    text = json.loads(path.read_text())
    # Salt comes from a rule, behind a template.
    first = text["refs"].pop("ocean/salt/0.0")
    second = text["refs"].pop("ocean/salt/1.0")
    text["templates"] = {"u": "data.bin"}
    text["gen"] = [
        {
            "key": "ocean/salt/{{i}}.0",
            "url": "{{u}}",
            "offset": f"{{{{{first[1]} + i * {second[1] - first[1]}}}}}",
            "length": str(first[2]),
            "dimensions": {"i": {"stop": 2}},
        }
    ]
    text["note"] = "kept"
    path.write_text(json.dumps(text))
    return path


def values_of(path: Path, *allow: Path) -> dict[str, list]:
    with refbrowser.open(path, allow=[str(folder) for folder in allow]) as dataset:
        return {name: np.asarray(array[...]).tolist() for name, array in dataset.arrays.items()}


@pytest.mark.slow
@pytest.mark.parametrize("format", ["refs-v0", "refs-v1", "refs-parquet"])
def test_in_another_folder_the_urls_still_hold(document: Path, tmp_path: Path, format: str) -> None:
    target = tmp_path / "out.json"
    with refbrowser.open(document) as dataset:
        report = refbrowser.export(dataset, target, format=format)
    assert values_of(target, document.parent) == values_of(document)
    assert any("absolute" in loss.what for loss in report.losses)
    if format == "refs-parquet":
        return
    written = json.loads(target.read_text())
    if format == "refs-v1":
        assert written["note"] == "kept"
        assert written["gen"][0]["key"] == "ocean/salt/{{i}}.0", "a rule stays a rule"
    else:
        assert written["ocean/salt/1.0"][0] == str(document.parent / "data.bin")


def test_in_the_same_folder_version_1_is_byte_for_byte(document: Path) -> None:
    target = document.with_name("copy.json")
    with refbrowser.open(document) as dataset:
        report = refbrowser.export(dataset, target, format="refs-v1")
        assert not report.losses
        assert target.read_bytes() == document.read_bytes()
        refbrowser.export(dataset, target.with_name("zero.json"), format="refs-v0")
    zero = json.loads(target.with_name("zero.json").read_text())
    assert zero == refbrowser.expand(document)
    assert values_of(target.with_name("zero.json")) == values_of(document)


def test_version_0_becomes_version_1(document: Path, tmp_path: Path) -> None:
    zero = document.with_name("zero.json")
    with refbrowser.open(document) as dataset:
        refbrowser.export(dataset, zero, format="refs-v0")
    with refbrowser.open(zero) as dataset:
        refbrowser.export(dataset, document.with_name("one.json"), format="refs-v1")
    one = json.loads(document.with_name("one.json").read_text())
    assert one == {"version": 1, "refs": json.loads(zero.read_text())}


@pytest.mark.parametrize("format", ["refs-v0", "refs-v1"])
def test_chosen_arrays_and_selections(document: Path, tmp_path: Path, format: str) -> None:
    whole = values_of(document)
    target = tmp_path / "part.json"
    with refbrowser.open(document) as dataset:
        refbrowser.export(
            dataset, target, format=format, arrays={"/ocean/temp": np.s_[2:6, 4:], "/ocean/salt": ...}
        )
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.export(dataset, tmp_path / "x", format=format, arrays={"/ocean/temp": np.s_[1:3]})
        assert caught.value.kind is ErrorKind.USAGE
    found = values_of(target, document.parent)
    assert set(found) == {"/ocean/temp", "/ocean/salt"}
    assert found["/ocean/salt"] == whole["/ocean/salt"]
    assert found["/ocean/temp"] == [row[4:] for row in whole["/ocean/temp"][2:6]]
    keys = refbrowser.expand(target)
    assert "ocean/temp/0.0" not in keys, "the missing chunk stays missing"
    assert ".zgroup" in keys
    assert "ocean/.zgroup" in keys


@pytest.mark.parametrize("format", ["refs-v0", "refs-v1"])
def test_a_rule_of_several_arrays_gives_only_what_is_chosen(
    document: Path, tmp_path: Path, format: str
) -> None:
    whole = values_of(document)
    text = json.loads(document.read_text())
    rows = {key: value for key, value in text["refs"].items() if isinstance(value, list)}
    chunks = [(key, rows[key]) for key in ("ocean/temp/0.0", "ocean/temp/0.1", "ocean/temp/2.0")]
    names, numbers = [key for key, _ in chunks], [value for _, value in chunks]
    for key in names:
        del text["refs"][key]
    salt = text["gen"][0]
    choose = "{{%s if i == 0 else %s if i == 1 else %s}}"
    text["gen"].append(
        {
            "key": "ocean/" + choose % tuple(repr(key.removeprefix("ocean/")) for key in names),
            "url": "{{u}}",
            "offset": choose % tuple(value[1] for value in numbers),
            "length": choose % tuple(value[2] for value in numbers),
            "dimensions": {"i": [0, 1, 2]},
        }
    )
    salt["key"] = "ocean/{{ 'salt' if n == 0 else 'other' }}/{{i}}.0"
    salt["dimensions"] = {"n": [0, 1], **salt["dimensions"]}
    document.write_text(json.dumps(text))
    assert values_of(document) == whole
    with refbrowser.open(document) as dataset:
        refbrowser.export(
            dataset, tmp_path / "p", format=format, arrays={"ocean/temp": np.s_[:2], "ocean/salt": ...}
        )
    found = values_of(tmp_path / "p", document.parent)
    assert found == {"/ocean/temp": whole["/ocean/temp"][:2], "/ocean/salt": whole["/ocean/salt"]}
    assert not any(key.startswith("ocean/other") for key in refbrowser.expand(tmp_path / "p"))


def test_consolidated_metadata_follows_the_choice(document: Path, tmp_path: Path) -> None:
    text = json.loads(document.read_text())
    entries = {
        key: json.loads(value)
        for key, value in text["refs"].items()
        if key.rpartition("/")[2] in (".zgroup", ".zarray", ".zattrs")
    }
    text["refs"][".zmetadata"] = json.dumps({"zarr_consolidated_format": 1, "metadata": entries})
    document.write_text(json.dumps(text))
    with refbrowser.open(document) as dataset:
        refbrowser.export(dataset, tmp_path / "p.json", format="refs-v1", arrays={"ocean/temp": np.s_[:2]})
    with refbrowser.open(tmp_path / "p.json") as part:
        assert not part.hierarchy.findings
        consolidated = json.loads(part.read_key(".zmetadata"))["metadata"]
        assert consolidated["ocean/temp/.zarray"]["shape"] == [2, 8]
        assert not any(key.startswith(("lat", "ocean/salt")) for key in consolidated)


def test_faults_refuse_the_export_unless_they_may_be_left_out(document: Path, tmp_path: Path) -> None:
    text = json.loads(document.read_text())
    text["refs"]["ocean/temp/0.0"] = ["data.bin", -1, 5]
    text["gen"].append({"key": "x/{{j}}", "url": "{{nowhere}}", "dimensions": {"j": [1]}})
    document.write_text(json.dumps(text))
    with refbrowser.open(document) as dataset:
        for format in ("refs-v0", "refs-v1"):
            with pytest.raises(RefbrowserError):
                refbrowser.export(dataset, tmp_path / format, format=format)
            assert not (tmp_path / format).exists()
            report = refbrowser.export(dataset, tmp_path / format, format=format, skip_bad=True)
            assert len(report.skipped) == 2
            with refbrowser.open(tmp_path / format, allow=[str(document.parent)]) as written:
                assert written["ocean/salt"][...].tolist() == dataset["ocean/salt"][...].tolist()
                assert "ocean/temp/0.0" not in refbrowser.expand(written)


def test_the_target_is_never_overwritten_unasked(document: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("mine")
    with refbrowser.open(document) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.export(dataset, target, format="refs-v0")
        assert caught.value.kind is ErrorKind.IO
        assert target.read_text() == "mine"
        refbrowser.export(dataset, target, format="refs-v0", force=True)
    assert len(json.loads(target.read_text())) > 1


def test_a_folder_whose_name_looks_like_a_template(document: Path, tmp_path: Path) -> None:
    folder = tmp_path / "{{braces}} {% here %}"
    document.parent.rename(folder)
    moved = folder / document.name
    with refbrowser.open(moved) as dataset:
        refbrowser.export(dataset, tmp_path / "out.json", format="refs-v1")
    assert values_of(tmp_path / "out.json", folder) == values_of(moved)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["basin_mask", "cth", "eraint_uvz"])
@pytest.mark.parametrize("format", ["refs-v0", "refs-v1", "refs-parquet"])
def test_real_documents_keep_their_digests(shared_data: Path, tmp_path: Path, name: str, format: str) -> None:
    facts = json.loads((shared_data / "real" / "expected.json").read_text())[name]
    with refbrowser.open(shared_data / "real" / f"{name}.refs.json") as dataset:
        refbrowser.export(dataset, tmp_path / "out.json", format=format)
    with refbrowser.open(tmp_path / "out.json", allow=[str(shared_data / "real")]) as dataset:
        for path, array in dataset.arrays.items():
            values = np.asarray(array[...])
            little = values.astype(values.dtype.newbyteorder("<"))
            digest = hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()
            assert digest == facts[path.strip("/")]["sha256_of_C_order_little_endian_bytes"]
