"""``refbrowser cdl`` and ``Dataset.cdl()``; the text that netcdf-c has for stores of its own."""

import json
import subprocess
from pathlib import Path

import pytest
from ncgen_read import needs_ncgen

import refbrowser
from refbrowser.cli import main
from refbrowser.io.cancel import Cancelled, CancelToken

FOLDER = Path(__file__).parent

REFS = {
    ".zgroup": {"zarr_format": 2},
    ".zattrs": {"title": "é \u202e\x9b", "table": {"k": 1}},
    "g/.zgroup": {"zarr_format": 2},
    "g/x/.zarray": {
        "zarr_format": 2,
        "shape": [3],
        "chunks": [3],
        "dtype": "<f4",
        "compressor": None,
        "filters": None,
        "fill_value": "NaN",
        "order": "C",
    },
    "g/x/.zattrs": {"_ARRAY_DIMENSIONS": ["x"], "units": "m"},
}
TEXT = (FOLDER / "document.cdl").read_text("utf-8")

#: What both ``ncgen`` and ``ncdump`` 4.9.0 can take as NCZarr: they end at scalars and strings.
STORED = FOLDER / "nczarr_store.cdl"


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "d.json"
    path.write_text(json.dumps({"version": 1, "refs": {key: json.dumps(REFS[key]) for key in REFS}}))
    return path


def test_the_command_writes_the_text(document, capfdbinary):
    assert main(["cdl", str(document)]) == 0
    assert capfdbinary.readouterr().out.decode() == TEXT


def test_the_text_as_json_with_notes(document, capsys):
    assert main(["cdl", str(document), "--json"]) == 0
    message = "netCDF has no type for the value; it is shown as JSON text"
    assert json.loads(capsys.readouterr().out) == {
        "cdl": TEXT,
        "notes": [{"path": "/", "attribute": "table", "message": message}],
    }


def test_a_document_that_is_not_there(tmp_path, capsys):
    assert main(["cdl", str(tmp_path / "nothing.json")]) == 6
    assert "error[E_IO]" in capsys.readouterr().err


def test_a_dataset_gives_its_text(document):
    with refbrowser.open(document) as dataset:
        assert dataset.cdl() == TEXT


def test_a_long_text_is_cut_between_lines(document):
    with refbrowser.open(document) as dataset:
        assert dataset.cdl(limit=len(TEXT)) == TEXT
        limit = len(TEXT) - 1
        lines = TEXT.splitlines(keepends=True)
        told = f"// cut here: there is more than {limit} characters\n"
        assert dataset.cdl(limit=limit) == "".join(lines[:-1]) + told
        assert dataset.cdl(limit=0) == "// cut here: there is more than 0 characters\n"


def test_making_the_text_can_be_cancelled(document):
    token = CancelToken()
    token.cancel()
    with refbrowser.open(document) as dataset, pytest.raises(Cancelled):
        dataset.cdl(token=token)


def test_what_breaks_the_grammar_is_a_problem_of_the_dataset(tmp_path, capsys):
    path = tmp_path / "d.json"
    attributes = json.dumps({"ok": 1, "b\nad": 1})
    path.write_text(json.dumps({".zgroup": '{"zarr_format": 2}', "g/.zgroup": "{}", "g/.zattrs": attributes}))
    assert main(["info", str(path)]) == 0
    told = "the name 'b\\nad' holds a control character (path '/g', attribute 'b\\nad')"
    assert capsys.readouterr().out.splitlines()[-1] == f"error[E_META]: {told}"


@needs_ncgen
def test_the_text_is_that_of_ncdump_for_nczarr_of_netcdf_c(tmp_path):
    url = f"file://{tmp_path}/store.zarr#mode=nczarr,file"
    made = subprocess.run(["ncgen", "-4", "-o", url, STORED], capture_output=True, check=False)
    dumped = subprocess.run(["ncdump", "-h", url], capture_output=True, text=True, check=False)
    if made.returncode or dumped.returncode:
        pytest.skip("this ncgen or ncdump has no NCZarr")
    with refbrowser.open(tmp_path / "store.zarr") as dataset:
        assert dataset.format == "nczarr"
        assert dataset.cdl() == dumped.stdout == STORED.read_text("utf-8")
