"""What has no path is opened, and errors and options are those that programs know from elsewhere."""

from __future__ import annotations

import inspect
import io
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.origins import option_texts

VALUES = np.arange(6, dtype="<i4")


def _references(url: str) -> dict[str, Any]:
    zarray = {
        "zarr_format": 2, "shape": [6], "chunks": [6], "dtype": "<i4",
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    return {
        "version": 1,
        "refs": {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(zarray), "a/0": [url, 0, 24]},
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    path.write_bytes(VALUES.tobytes())
    return path


def test_references_in_a_dictionary_read_what_is_allowed(data: Path) -> None:
    references = _references(str(data))
    with refbrowser.open(references, allow=[str(data.parent)]) as dataset:
        np.testing.assert_array_equal(dataset.array("a")[...], VALUES)
        again = pickle.loads(pickle.dumps(dataset.array("a")))
    np.testing.assert_array_equal(again[2:], VALUES[2:])
    again.dataset.close()
    with refbrowser.open(references) as dataset, pytest.raises(PermissionError) as caught:
        dataset.array("a")[...]
    assert isinstance(caught.value, RefbrowserError)
    assert caught.value.kind is ErrorKind.BLOCKED
    with pytest.raises(RefbrowserError, match="JSON"):
        refbrowser.open({"refs": {"a": object()}})


def test_a_file_object_is_opened_by_its_path_or_as_a_copy(data: Path, tmp_path: Path) -> None:
    document = tmp_path / "d.json"
    document.write_text(json.dumps(_references("data.bin")))
    with open(document, "rb") as stream, refbrowser.open(stream) as dataset:
        assert dataset.path == str(document)
        np.testing.assert_array_equal(dataset.array("a")[...], VALUES)
    held = io.BytesIO(json.dumps(_references(str(data))).encode())
    held.seek(3)
    with refbrowser.open(held, allow=[str(tmp_path)]) as dataset:
        np.testing.assert_array_equal(dataset.array("a")[...], VALUES)
        folder = os.path.dirname(dataset.path)
        assert os.path.isdir(folder)
    del dataset
    assert not os.path.isdir(folder)
    with pytest.raises(RefbrowserError, match="gives text"):
        refbrowser.open(io.StringIO("{}"))  # type: ignore[arg-type]


def test_a_copy_of_data_tells_why_no_other_process_opens_it(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("scipy.io")
    held = io.BytesIO()
    with netcdf.netcdf_file(held, "w") as made:
        made.createDimension("x", 6)
        made.createVariable("v", "i4", ("x",))[:] = VALUES
        made.flush()
        content = held.getvalue()
    with refbrowser.open(io.BytesIO(content)) as dataset:
        np.testing.assert_array_equal(dataset.array("v")[[1, 5]], VALUES[[1, 5]])
        with pytest.raises(RefbrowserError, match="file object"):
            pickle.dumps(dataset)


def test_a_tilde_is_the_home_unless_something_is_called_so(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d.json").write_text(json.dumps(_references("data.bin")))
    monkeypatch.setenv("HOME", str(tmp_path))
    with refbrowser.open("~/d.json") as dataset:
        assert dataset.array("a")[3] == 3


def test_errors_are_those_of_python_too_and_are_pickled(data: Path, tmp_path: Path) -> None:
    for name in ("missing", "missing.json", "missing.nc"):
        with pytest.raises(FileNotFoundError) as caught:
            refbrowser.open(tmp_path / name)
        assert isinstance(caught.value, AbsentError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.advice) == (
        type(caught.value),
        str(caught.value),
        caught.value.advice,
    )
    (tmp_path / "d.json").write_text(json.dumps(_references("data.bin")))
    with refbrowser.open(tmp_path / "d.json") as dataset:
        with pytest.raises(KeyError) as absent:
            dataset["b"]
        assert str(pickle.loads(pickle.dumps(absent.value))) == str(absent.value)
        with pytest.raises(FileExistsError):
            refbrowser.export(dataset, tmp_path / "d.json", format="refs-v1")
    noted = RefbrowserError(ErrorKind.IO, "m", Place(url="u"), "use --force")
    assert pickle.loads(pickle.dumps(noted)).__notes__ == noted.__notes__


def test_storage_options_as_fsspec_spells_them() -> None:
    assert option_texts(
        {"anon": False, "client_kwargs": {"region_name": "eu-1"}}, ["s3://b/x.json", "d.nc"]
    ) == (
        "s3://b:anonymous=false",
        "s3://b:region=eu-1",
    )
    by_origin = {"s3://b": {"profile": "work"}}
    assert option_texts(by_origin, []) == ("s3://b:profile=work",)
    nested = {"remote_protocol": "s3", "remote_options": {"anon": True}}
    assert option_texts(nested, ["d.json", "s3://c"]) == ("s3://c:anonymous=true",)
    for wrong, named, told in (
        ({"anon": True}, ["d.json"], "no origin"),
        ({"secret": "x"}, ["s3://b"], "secret"),
        ({"anno": True}, ["s3://b"], "not a storage option"),
        ({"s3://b": 1}, [], "by name"),
    ):
        with pytest.raises(RefbrowserError, match=told):
            option_texts(wrong, named)


def test_storage_options_reach_the_places_that_were_named(tmp_path: Path, data: Path) -> None:
    (tmp_path / "d.json").write_text(json.dumps(_references("data.bin")))
    with refbrowser.open(
        tmp_path / "d.json",
        allow=["s3://bucket"],
        storage_options={"anon": False, "endpoint_url": "http://e"},
    ) as dataset:
        settings = {str(origin): each for origin, each in dataset.access.settings.items()}
    assert (settings["s3://bucket"].anonymous, settings["s3://bucket"].endpoint) == (False, "http://e")


@pytest.mark.parametrize("name", sorted(refbrowser.__all__))
def test_every_option_has_a_name(name: str) -> None:
    each = getattr(refbrowser, name)
    # Other packages have options of opening.
    if inspect.isfunction(each) and name not in ("open", "make", "combine"):
        unnamed = [
            one.annotation
            for one in inspect.signature(each).parameters.values()
            if one.kind is inspect.Parameter.VAR_KEYWORD and not one.annotation.startswith("Unpack[")
        ]
        assert not unnamed


def test_combine_names_every_field_of_a_combination() -> None:
    fields = refbrowser.Combination.__dataclass_fields__.keys()
    # Declared properties are a file for programs: `declares`.
    lacking = fields - inspect.signature(refbrowser.combine).parameters.keys()
    assert lacking == {"extends", "settings", "declared"}
