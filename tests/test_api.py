"""``import refbrowser``: open, arrays that index like numpy, expand, export."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import fsspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError


@pytest.fixture
def document(tmp_path: Path) -> Path:
    values = np.arange(24, dtype="<i4").reshape(4, 6)
    (tmp_path / "data.bin").write_bytes(values.tobytes())
    zarray = {
        "zarr_format": 2,
        "shape": [4, 6],
        "chunks": [1, 6],
        "dtype": "<i4",
        "compressor": None,
        "filters": None,
        "fill_value": -1,
        "order": "C",
    }
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        ".zattrs": '{"title": "ü"}',
        "g/.zgroup": '{"zarr_format": 2}',
        "g/a/.zarray": json.dumps(zarray),
        "g/a/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"}),
    }
    gen = [
        {
            "key": "g/a/{{i}}.0",
            "url": "{{u}}",
            "offset": "{{i * 24}}",
            "length": "24",
            "dimensions": {"i": {"stop": 3}},
        }
    ]
    path = tmp_path / "d.json"
    path.write_text(json.dumps({"version": 1, "templates": {"u": "data.bin"}, "gen": gen, "refs": refs}))
    return path


def test_import_is_light() -> None:
    heavy = ("numpy", "zarr", "jinja2", "PySide6")
    code = f"import refbrowser, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_that_of_the_package() -> None:
    assert refbrowser.__version__ == version("refbrowser")
    with pytest.raises(AttributeError):
        refbrowser.nothing  # noqa: B018


def test_arrays_index_like_numpy(document: Path) -> None:
    values = np.arange(24, dtype="<i4").reshape(4, 6)
    values[3] = -1
    with refbrowser.open(document) as dataset:
        array = dataset["/g/a"]
        assert dataset["g/a"].path == dataset["g"]["a"].path == "/g/a"
        assert list(dataset) == ["g"]
        assert "/g" in dataset
        assert "/h" not in dataset
        assert array.shape == (4, 6)
        assert (array.ndim, len(array), array.chunks, array.fill_value) == (2, 4, (1, 6), -1)
        assert array.dimensions == ("y", "x")
        assert array.attrs["units"] == "m"
        assert dataset.attrs["title"] == "ü"
        for index in [..., 0, -1, np.s_[1:3], np.s_[::-1, ::2], np.s_[2, 3], np.s_[..., -1], np.s_[4:], ()]:
            np.testing.assert_array_equal(array[index], values[index])
            assert type(array[index]) is type(values[index])
        np.testing.assert_array_equal(np.asarray(array), values)
        for index in [4, (0, 0, 0), "x", [0, 4], 1.5, True]:
            with pytest.raises(refbrowser.RefbrowserError) as caught:
                array[index]
            assert caught.value.kind is ErrorKind.USAGE
        with pytest.raises(KeyError, match="there is no group or array '/h'"):
            dataset["/h"]


@pytest.mark.slow
@given(st.data())
def test_any_index_of_a_real_array(data) -> None:
    path = Path(__file__).parents[2] / "shared" / "data" / "real" / "eraint_uvz.refs.json"
    if not path.exists():
        pytest.skip("the real files are not beside the checkout")
    bound = st.none() | st.integers(-500, 500)
    index = tuple(
        data.draw(
            st.integers(-size, size - 1) | st.builds(slice, bound, bound, st.integers(-9, 9).filter(bool))
        )
        for size in (2, 3, 241, 480)
    )
    np.testing.assert_array_equal(_era(path)[index], _era_values(path)[index])


_opened: dict = {}


def _era(path: Path):
    if "dataset" not in _opened:
        _opened["dataset"] = refbrowser.open(path)
        _opened["values"] = _opened["dataset"]["/z"][...]
    return _opened["dataset"]["/z"]


def _era_values(path: Path) -> np.ndarray:
    _era(path)
    return _opened["values"]


def test_arrays_iterate_and_end_like_numpy(document: Path) -> None:
    with refbrowser.open(document) as dataset:
        array = dataset["/g/a"]
        np.testing.assert_array_equal(list(array), array[...])
        for index in (4, (0, 6), (0, 0, 0), True, slice(None, None, 0)):
            with pytest.raises(IndexError) as caught:
                array[index]
            assert isinstance(caught.value, refbrowser.RefbrowserError)
            assert str(caught.value) == caught.value.message


def test_templates_given_by_the_user(document: Path) -> None:
    document.with_name("data.bin").rename(document.with_name("moved.bin"))
    with refbrowser.open(document, templates={"u": "moved.bin"}) as dataset:
        assert dataset["g/a"][1].tolist() == list(range(6, 12))
    assert refbrowser.expand(document, templates={"u": "m"})["g/a/2.0"] == ["m", 48, 24]


def test_permission_is_needed_and_given(document: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    moved = document.rename(folder / "d.json")
    text = json.loads(moved.read_text())
    text["templates"]["u"] = "../data.bin"
    moved.write_text(json.dumps(text))
    with refbrowser.open(moved) as dataset:
        with pytest.raises(refbrowser.RefbrowserError) as caught:
            dataset["g/a"][0]
        assert caught.value.kind is ErrorKind.BLOCKED
        assert caught.value.place.key == "g/a/0.0"
        assert dataset["g/a"][3].tolist() == [-1] * 6, "a missing chunk needs no permission"
    with refbrowser.open(moved, allow=[str(tmp_path)]) as dataset:
        assert dataset["g/a"][0].tolist() == list(range(6))


def test_metadata_that_lies_elsewhere(document: Path, tmp_path: Path) -> None:
    text = json.loads(document.read_text())
    (tmp_path / "zarray.json").write_text(text["refs"].pop("g/a/.zarray"))
    text["refs"]["g/a/.zarray"] = ["zarray.json"]
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    near, far = tmp_path / "near.json", folder / "far.json"
    near.write_text(json.dumps(text))
    text["templates"]["u"] = "../data.bin"
    text["refs"]["g/a/.zarray"] = ["../zarray.json"]
    far.write_text(json.dumps(text))
    with refbrowser.open(near) as dataset:
        assert dataset["g/a"][1].tolist() == list(range(6, 12))
        requests = dataset.session.fetcher.counters.requests
        edited = dataset.with_document(dataset.document)
        assert edited["g/a"].shape == (4, 6)
        assert dataset.session.fetcher.counters.requests == requests, "an edit does not read it again"
    with refbrowser.open(far) as dataset:
        assert dataset["g/a"].node.error.kind is ErrorKind.BLOCKED
        assert dataset["g/a"].node.error.__notes__ == [
            f"allow it with --allow {tmp_path}, in Python with allow=['{tmp_path}']"
        ]
        assert dataset.session.fetcher.counters.requests == 0
    with refbrowser.open(far, allow=[str(tmp_path)]) as dataset:
        assert dataset["g/a"][1].tolist() == list(range(6, 12))
    (tmp_path / "zarray.json").unlink()
    with refbrowser.open(near) as dataset:
        assert dataset["g/a"].node.error.kind is ErrorKind.IO


def test_a_chunk_that_fails_names_itself(document: Path) -> None:
    document.with_name("data.bin").write_bytes(bytes(30))
    with refbrowser.open(document) as dataset:
        with pytest.raises(refbrowser.RefbrowserError) as caught:
            dataset["g/a"][...]
        place = caught.value.place
        assert (place.key, place.start, place.stop) == ("g/a/1.0", 24, 48)
        assert place.url.endswith("data.bin")
        assert caught.value.kind is ErrorKind.RANGE
        assert caught.value.message == "the object has 30 bytes, the range ends at 48"
        assert dataset["g/a"][0].tolist() == [0] * 6


def expanded_by_fsspec(text: dict) -> dict:
    # Made empty first: it would open the object stores that the document names.
    filesystem = fsspec.filesystem("reference", fo={}, simple_templates=False, skip_instance_cache=True)
    filesystem._process_references(json.loads(json.dumps(text)))
    return dict(filesystem.references)


def test_expand_equals_fsspec(document: Path) -> None:
    text = json.loads(document.read_text())
    assert refbrowser.expand(document) == expanded_by_fsspec(text)
    assert refbrowser.expand(text) == expanded_by_fsspec(text)
    with refbrowser.open(document) as dataset:
        assert refbrowser.expand(dataset) == refbrowser.expand(dataset.document) == expanded_by_fsspec(text)
    assert list(refbrowser.expand(document)) == list(expanded_by_fsspec(text))


@pytest.mark.parametrize(
    "name", ["cru_gen_rule", "cmip6_two_templates", "pangeo_forge_http", "hrrr_grib_combined"]
)
def test_expand_of_real_documents_equals_fsspec(shared_data: Path, name: str) -> None:
    path = shared_data / "references" / f"{name}.json"
    assert refbrowser.expand(path) == expanded_by_fsspec(json.loads(path.read_text()))


@pytest.mark.parametrize("name", ["eraint_uvz", "basin_mask", "cth", "crm"])
def test_expand_of_our_documents_equals_fsspec(shared_data: Path, name: str) -> None:
    path = shared_data / "real" / f"{name}.refs.json"
    assert refbrowser.expand(path) == expanded_by_fsspec(json.loads(path.read_text()))


def test_expand_refuses_faults_and_sizes(document: Path) -> None:
    text = json.loads(document.read_text())
    text["refs"]["bad"] = ["x", 1]
    with pytest.raises(refbrowser.RefbrowserError):
        refbrowser.expand(text)
    assert "bad" not in refbrowser.expand(text, skip_bad=True)
    del text["refs"]["bad"]
    text["gen"][0]["dimensions"]["i"]["stop"] = 10**12
    with pytest.raises(refbrowser.RefbrowserError) as caught:
        refbrowser.expand(text)
    assert caught.value.kind is ErrorKind.BUDGET


def test_a_rule_of_any_length_reads(document: Path) -> None:
    text = json.loads(document.read_text())
    text["gen"][0]["dimensions"]["i"]["stop"] = 10**12
    document.write_text(json.dumps(text))
    with refbrowser.open(document) as dataset:
        assert dataset["g/a"][1].tolist() == list(range(6, 12))
        assert dataset.document.expansion.rows == 10**12 + 5


def test_opening_what_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1, 2")
    with pytest.raises(refbrowser.RefbrowserError):
        refbrowser.open(tmp_path / "x.json")
    with pytest.raises(refbrowser.RefbrowserError) as caught:
        refbrowser.open(tmp_path / "absent.json")
    assert caught.value.kind is ErrorKind.IO


def test_an_object_stands_for_its_json_text(shared_data: Path) -> None:
    path = shared_data / "references" / "gdal_v0_min.json"
    ours, theirs = refbrowser.expand(path), expanded_by_fsspec(json.loads(path.read_text()))
    assert ours.keys() == theirs.keys()
    # fsspec prints objects anew, in a spacing that depends on which JSON library is installed.
    texts = [key for key, value in ours.items() if isinstance(value, str)]
    assert {key: json.loads(ours[key]) for key in texts} == {key: json.loads(theirs[key]) for key in texts}
    assert {key: ours[key] for key in ours if key not in texts} == {
        key: theirs[key] for key in theirs if key not in texts
    }


def test_advice_is_in_the_words_of_python() -> None:
    for advice, expected in (
        (
            "finished work is kept: --resume continues from here",
            "finished work is kept: resume=True continues from here",
        ),
        ("read it all the same (--yes)", "read it all the same (yes=True)"),
        ("leave the array out: --leave-out-var /a/b", "leave the array out: leave_out_var='/a/b'"),
        ("for example --new-dim x=list:1,2", "for example new_dim='x=list:1,2'"),
        ("leave them out, or give another --new-dim", "leave them out, or give another new_dim"),
        ("accept it (refbrowser lock DOC --update URL)", "accept it (refbrowser lock DOC --update URL)"),
    ):
        error = RefbrowserError(ErrorKind.IO, "it failed", advice=advice)
        assert (error.advice, error.__notes__) == (advice, [expected])
