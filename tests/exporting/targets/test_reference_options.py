"""Options of references: chunks that stand in the document, relative paths, templates of URLs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.targets.reference_options import ReferenceOptions


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "a.nc"
    path.parent.mkdir()
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 100)
        file.createVariable("time", "f8", ("time",))[:] = [1, 2, 3]
        file.createVariable("v", "f4", ("time", "x"))[:] = np.arange(300).reshape(3, 100)
    return path


def exported(source: Path, target: Path, form: str = "refs-v1", **options: Any) -> dict[str, Any]:
    target.parent.mkdir(exist_ok=True)
    with refbrowser.open(source) as dataset:
        refbrowser.export(dataset, target, format=form, force=True, options=ReferenceOptions(**options))
    text: dict[str, Any] = json.loads(target.read_bytes())
    return text


def test_small_chunks_stand_in_the_document(source: Path, tmp_path: Path) -> None:
    for form in ("refs-v1", "refs-v0"):
        for most, held in ((7, 0), (8, 3), (399, 3), (400, 6)):
            text = exported(source, tmp_path / "a.json", form, inline=most)
            refs = text.get("refs", text)
            chunks = {key: value for key, value in refs.items() if ".z" not in key}
            assert sum(isinstance(value, str) for value in chunks.values()) == held, (form, most)
            assert len(chunks) == 6
    # All that it needs is in it.
    shutil.rmtree(source.parent)
    with refbrowser.open(tmp_path / "a.json") as dataset:
        assert dataset["/time"][...].tolist() == [1, 2, 3]
        assert dataset["/v"][2, :3].tolist() == [200, 201, 202]


def test_a_document_and_its_file_are_moved_together(source: Path, tmp_path: Path) -> None:
    for form in ("refs-v1", "refs-v0"):
        text = exported(source, tmp_path / "data" / "b.json", form, relative=True)
        assert text.get("refs", text)["v/0.0"][0] == "a.nc"
        other = tmp_path / form
        shutil.copytree(source.parent, other)
        with refbrowser.open(other / "b.json") as dataset:
            assert dataset["/v"][1, :2].tolist() == [100, 101]
    text = exported(source, tmp_path / "out" / "b.json", relative=True)
    assert text["refs"]["v/0.0"][0] == "../data/a.nc"


def test_a_template_stands_for_where_files_lie(source: Path, tmp_path: Path) -> None:
    for name in ("u", "where"):
        text = exported(source, tmp_path / "c.json", url_template=f"{name}={tmp_path}")
        assert text["templates"] == {name: str(tmp_path)}
        assert text["refs"]["time/1"][0] == f"{{{{{name}}}}}/data/a.nc"
        with refbrowser.open(tmp_path / "c.json") as dataset:
            assert dataset["/time"][...].tolist() == [1, 2, 3]


def test_what_has_no_meaning_is_told(source: Path, tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("refs-v0", {"url_template": f"u={tmp_path}"}),
        ("refs-v1", {"url_template": "u=/elsewhere"}),
        ("refs-v1", {"url_template": "nothing"}),
        ("refs-v1", {"url_template": f"u={tmp_path}", "relative": True}),
        ("zarr-v3", {"relative": True}),
    ]
    for form, options in cases:
        with refbrowser.open(source) as dataset, pytest.raises(RefbrowserError) as caught:
            refbrowser.export(dataset, tmp_path / "d.json", format=form, options=ReferenceOptions(**options))
        assert caught.value.kind is ErrorKind.USAGE, (form, options)
        assert not (tmp_path / "d.json").exists()
    exported(source, tmp_path / "e.json")
    with (
        refbrowser.open(tmp_path / "e.json") as dataset,
        pytest.raises(RefbrowserError, match="data files"),
    ):
        refbrowser.export(
            dataset, tmp_path / "f.json", format="refs-v1", options=ReferenceOptions(relative=True)
        )


def test_full_paths_stand_for_relative_names_beside_them(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(range(4)))
    array = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1",
        "compressor": None, "filters": None, "fill_value": None, "order": "C",
    }  # fmt: skip
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array), "a/0": ["data.bin", 0, 4]}
    (tmp_path / "set.json").write_text(json.dumps(refs))
    with refbrowser.open(tmp_path / "set.json") as dataset:
        for absolute, expected in ((False, "data.bin"), (True, str(tmp_path / "data.bin"))):
            target = tmp_path / f"{absolute}.json"
            refbrowser.export(dataset, target, format="refs-v0", absolute=absolute)
            assert json.loads(target.read_text())["a/0"][0] == expected
